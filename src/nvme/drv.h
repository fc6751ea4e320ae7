/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe driver: brings a controller up, talks to its admin queue and creates I/O queue pairs whose
 * memory and doorbells are handed to somebody else (libdoca_sta). It sees registers through bar.h
 * and memory through mem.h, nothing else of the device.
 *
 * Everything here is synchronous and bounded in time: register waits by CAP.TO, admin commands by
 * nv_ctrl_opts.admin_timeout_ms. After a time-out or a fatal controller status the controller is
 * dead: every further command returns -EIO; only nv_ctrl_destroy() is left.
 *
 * Threads: one thread at a time for a controller and its queues' creation and destruction. A
 * created queue belongs to the thread that rings it.
 */
#ifndef NV_DRV_H
#define NV_DRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvme/bar.h"
#include "nvme/err.h"
#include "nvme/mem.h"
#include "nvme/spec.h"

struct nv_ctrl;

struct nv_ctrl_opts {
	uint16_t io_queues; /* I/O queue pairs to ask for; 0 = as many as possible */
	uint16_t admin_entries; /* 0 = default */
	uint32_t admin_timeout_ms; /* 0 = default */
};

/* What Identify Controller, CAP and Set Features said; valid until nv_ctrl_destroy(). */
struct nv_ctrl_info {
	char serial[21]; /* blanks at the end removed */
	char model[41];
	char firmware[9];
	char subnqn[224];
	uint32_t version; /* VS register */
	uint16_t cntlid;
	uint16_t max_io_queues; /* pairs the controller granted */
	uint16_t max_entries; /* CAP.MQES + 1 rounded down to a power of two, at most 32768 */
	uint32_t mdts_bytes; /* largest data transfer of a command, 0 = no limit */
	uint32_t nn; /* highest namespace id */
	bool volatile_write_cache;
	uint16_t oncs; /* NVME_CTRL_ONCS_* */
	uint16_t awun; /* 0's based, blocks */
	uint16_t awupf;
	struct nvme_id_ctrl id; /* the whole of it */
};

/* One namespace: Identify Namespace and its identification descriptors. */
struct nv_ns_info {
	uint32_t nsid;
	uint32_t block_bytes; /* of the format in use */
	uint64_t nsze; /* blocks */
	uint16_t metadata_bytes;
	bool write_protected;
	uint8_t nguid[16]; /* all zero = not given; the same for the two below */
	uint8_t eui64[8];
	uint8_t uuid[16];
	struct nvme_id_ns id; /* the whole of it, with all LBA formats */
};

/*
 * Reset and enable the controller behind @bar, create the admin queue in memory of @mem, read
 * Identify Controller and set the number of queues. @bar and @mem are copied; what they point to
 * must outlive the controller. @opts may be NULL.
 *
 * 0, or with the cause in @err: -ENODEV (registers read all ones), -EPROTO (the controller cannot
 * do what we need: page size, command set, queue size), -ETIMEDOUT (CAP.TO ran out), -EIO (fatal
 * status, or a command failed), -ENOMEM.
 */
int nv_ctrl_create(const struct nv_bar *bar, const struct nv_mem *mem,
		   const struct nv_ctrl_opts *opts, struct nv_ctrl **ret, struct nv_err *err);

/*
 * Delete what queues are left, notify the controller of a normal shutdown and wait for it
 * (bounded), disable it, free its memory. NULL is fine. Queue objects of this controller are gone
 * afterwards.
 */
void nv_ctrl_destroy(struct nv_ctrl *ctrl);

/*
 * Stop the controller as it is, without a word about queues or shutdown: when this returns 0 or
 * -ENODEV it touches no memory any more. It is dead then, and so it is after -ETIMEDOUT, when
 * nothing is known of its DMA. Bounded by CAP.TO.
 */
int nv_ctrl_halt(struct nv_ctrl *ctrl);

const struct nv_ctrl_info *nv_ctrl_info(const struct nv_ctrl *ctrl);

/*
 * Send @cmd on the admin queue and wait. Cid and data pointer are filled in here; opcode, nsid and
 * the rest are the caller's, little-endian. Up to 4096 bytes of @data (NULL if @data_bytes is 0)
 * are copied in or out as the opcode's direction bits say.
 *
 * 0 when a completion came: *@ret_status is its NVMe status (0 = success) and *@ret_dw0, if not
 * NULL, its dword 0. -EINVAL: @data_bytes too large. -ETIMEDOUT, -EIO: see the top of this file.
 */
int nv_ctrl_admin(struct nv_ctrl *ctrl, const struct nv_sqe *cmd, void *data, size_t data_bytes,
		  uint16_t *ret_status, uint32_t *ret_dw0);

/*
 * Identify @cns of @nsid into @buf (4096 bytes). 0, -EIO on a failing NVMe status, or what
 * nv_ctrl_admin() returns.
 */
int nv_ctrl_identify(struct nv_ctrl *ctrl, uint8_t cns, uint32_t nsid, void *buf);

/* Active namespace ids above @after into @ids. Returns how many (at most @max), or -errno. */
int nv_ctrl_active_ns(struct nv_ctrl *ctrl, uint32_t after, uint32_t *ids, size_t max);

/* -ENOENT: the namespace is not active. Otherwise as nv_ctrl_identify(). */
int nv_ctrl_ns_info(struct nv_ctrl *ctrl, uint32_t nsid, struct nv_ns_info *ret);

/*
 * Ask the controller to say when a namespace changes its size or other attributes.
 * -EOPNOTSUPP: it cannot. Otherwise as nv_ctrl_admin(); -EIO also on a failing NVMe status.
 */
int nv_ctrl_watch_ns(struct nv_ctrl *ctrl);

/*
 * Namespaces that changed since the last call into @ids, which has room for @max; -1 (all ones)
 * alone means any of them. Costs a look at memory while nothing has changed, so it may be called
 * often, by the thread that owns the controller. Returns how many, or -errno as
 * nv_ctrl_watch_ns().
 */
int nv_ctrl_changed_ns(struct nv_ctrl *ctrl, uint32_t *ids, size_t max);

/*
 * An I/O queue pair. Both rings have @entries entries. The fields are for reading: this is what
 * doca_sta_be_add_queue() wants as memory maps.
 */
struct nv_queue {
	struct nv_ctrl *ctrl;
	uint16_t qid;
	uint16_t entries;
	struct nv_sqe *sq;
	struct nv_cqe *cq;
	uint64_t sq_phys;
	uint64_t cq_phys;
	volatile uint32_t *sq_tail_doorbell;
	volatile uint32_t *cq_head_doorbell;
	uint32_t sq_tail_offset; /* of the doorbells in the BAR */
	uint32_t cq_head_offset;

	/* Position of nv_queue_submit() and nv_queue_poll(); nobody else's business. */
	uint16_t sq_tail;
	uint16_t sq_head;
	uint16_t cq_head;
	uint8_t phase;
};

/*
 * Create an I/O queue pair of @entries entries, rounded down to a power of two and to what the
 * controller can do. -EINVAL: fewer than 2 entries. -ENOSPC: no queue left. -EIO, -ETIMEDOUT,
 * -ENOMEM.
 */
int nv_queue_create(struct nv_ctrl *ctrl, uint16_t entries, struct nv_queue **ret,
		    struct nv_err *err);

/* Delete the pair at the controller and free its memory. Nobody may use the rings any more. */
void nv_queue_destroy(struct nv_queue *queue);

/*
 * Drive a queue from here instead of handing it away: put a copy of @sqe into the ring and ring
 * its doorbell. -EAGAIN: the ring is full.
 */
int nv_queue_submit(struct nv_queue *queue, const struct nv_sqe *sqe);

/* Take one completion into *@ret. False if there is none. */
bool nv_queue_poll(struct nv_queue *queue, struct nv_cqe *ret);

/* The status of a completion without its phase tag: 0 or NV_SC() with flags. */
static inline uint16_t nv_cqe_status(const struct nv_cqe *cqe)
{
	return le16toh(cqe->status) >> NV_CQE_STATUS_SHIFT;
}

#endif
