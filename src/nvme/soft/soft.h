/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Soft NVMe controller: an NVMe 1.4 controller in this process, seen through bar.h like any other.
 *
 * Life: nv_soft_mem_create -> nv_soft_create -> nv_soft_add_ns ... -> nv_soft_bar, and
 * nv_ctrl_create() on that bar (drv.h) -> nv_queue_create -> nv_soft_companion for its qid.
 * Down in the opposite order: queues, nv_ctrl, nv_soft, nv_soft_mem.
 *
 * Threads: registers and the admin queue belong to one thread; commands run inside write32(). An
 * I/O queue belongs to the one thread that calls its companion's functions. Queues share nothing
 * that needs a lock. Deleting a queue waits for its I/O; its thread must have let go of it.
 */
#ifndef NV_SOFT_H
#define NV_SOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvme/bar.h"
#include "nvme/err.h"
#include "nvme/mem.h"
#include "nvme/soft/store.h"

struct nv_soft;
struct nv_soft_mem;

/*
 * The memory that soft controllers may touch. Bus address = virtual address; an address outside of
 * every registered range is answered with Data Transfer Error instead of a crash. One object may
 * serve any number of controllers. Registering is safe from any thread at any time; a range that is
 * unregistered must not be named by a command that is still running.
 */
struct nv_soft_mem_conf {
	bool trust_all; /* every address is taken as it is: for memory nobody can tell us of */
};

int nv_soft_mem_create(const struct nv_soft_mem_conf *conf, struct nv_soft_mem **ret);
void nv_soft_mem_destroy(struct nv_soft_mem *mem);

/* -EINVAL: empty or wrapping range. -ENOSPC: NV_SOFT_MAX_REGIONS ranges are known already. */
int nv_soft_mem_register(struct nv_soft_mem *mem, const void *addr, size_t bytes);

/* @addr as it was registered. -ENOENT: it was not. */
int nv_soft_mem_unregister(struct nv_soft_mem *mem, const void *addr);

/* An allocator for nv_ctrl_create() (and doca_sta_mem_allocator_register()) that registers what it
 * hands out. Thread-safe. */
void nv_soft_mem_allocator(struct nv_soft_mem *mem, struct nv_mem *ret);

struct nv_soft_conf {
	struct nv_soft_mem *mem; /* must outlive the controller */
	const char *serial; /* 1..20 printable ASCII characters; the same after a restart */
	const char *model; /* NULL = "softsta" */
	const char *subnqn; /* NULL = made from the serial number */
	uint16_t cntlid;
	uint16_t max_io_queues; /* 0 = NV_MAX_IO_QUEUES */
	uint16_t max_entries; /* power of two; 0 = NV_SOFT_MAX_ENTRIES */
};

/* -EINVAL with the cause in @err, -ENOMEM. */
int nv_soft_create(const struct nv_soft_conf *conf, struct nv_soft **ret, struct nv_err *err);

/* Stops all queues (waits for their I/O), closes all stores. NULL is fine. */
void nv_soft_destroy(struct nv_soft *soft);

struct nv_soft_ns_conf {
	uint32_t nsid; /* 1..NV_SOFT_MAX_NS */
	/* Identifiers, big-endian as Identify carries them. Zero ones are made from the serial
	 * number and the nsid, so that they are never zero and the same after a restart. */
	uint8_t nguid[16];
	uint8_t eui64[8];
	uint8_t uuid[16];
};

/*
 * Attach @store as a namespace. The controller owns @store when this returns 0. Only while the
 * controller has no I/O queue: -EBUSY. -EEXIST: the nsid is in use. -EINVAL.
 */
int nv_soft_add_ns(struct nv_soft *soft, const struct nv_soft_ns_conf *conf, struct nv_store *store,
		   struct nv_err *err);

/*
 * Ask the stores of all namespaces how large they are now. A namespace whose size in whole blocks
 * has changed has the new one at once, and the driver gets a Namespace Attribute Changed notice if
 * it asked for that. A store that is empty, or cannot say, changes nothing. Call it now and then,
 * on the thread of the registers; queues may run. Returns how many namespaces changed.
 */
unsigned int nv_soft_check_sizes(struct nv_soft *soft);

/* The register seam of this controller for nv_ctrl_create(). */
void nv_soft_bar(struct nv_soft *soft, struct nv_bar *ret);

/*
 * What the thread that drives I/O queue @qid must call, since a store to a doorbell of this
 * controller is not seen by itself. The functions are those of
 * doca_softsta_queue_ops.
 */
struct nv_soft_companion {
	/*
	 * Call after a store to the SQ tail doorbell (once for many commands) or the CQ head
	 * doorbell: takes all new commands, starts their I/O; commands of a fast store are
	 * completed when it returns.
	 */
	void (*doorbell)(void *arg);

	/*
	 * Call while commands are outstanding: posts completions of finished I/O, returns how many.
	 */
	unsigned int (*poll)(void *arg);

	/*
	 * For epoll, level-triggered: readable when poll() would find work. Always a valid fd,
	 * owned by the queue. A sleeper must take EINTR as a reason to look, too.
	 */
	int fd;

	void *arg;
};

/* Valid until the queue is deleted or the controller reset. -ENOENT: no such I/O queue pair. */
int nv_soft_companion(struct nv_soft *soft, uint16_t qid, struct nv_soft_companion *ret);

struct nv_soft_stats {
	uint64_t read_commands;
	uint64_t write_commands;
	uint64_t read_bytes;
	uint64_t written_bytes;
	uint64_t flushes;
	uint64_t errors; /* commands that ended with a status other than success */
	uint64_t media_errors;
	uint64_t bad_addresses; /* PRPs outside of the registered memory */
};

/* Sum over all queues since creation. Safe from any thread. */
void nv_soft_get_stats(const struct nv_soft *soft, struct nv_soft_stats *ret);

#endif
