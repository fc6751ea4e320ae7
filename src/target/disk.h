/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One disk, as far as it is NVMe: the controller that the driver has brought up, and where that
 * came from. A drive is reached through VFIO; everything else is a store behind a soft controller.
 * Nobody above sees a difference but that a soft queue needs its companion.
 */
#ifndef TGT_DISK_H
#define TGT_DISK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "nvme/drv.h"
#include "nvme/soft/soft.h"
#include "target/config.h"

struct nv_drive;
struct nv_store;
struct nv_vfio;

/* What disks share: one memory, and one IOMMU address space for drives. */
struct tgt_disks {
	struct nv_pool *pool;
	struct nv_vfio *vfio;
	pthread_mutex_t vfio_lock; /* disks are restarted on threads of their own */
	struct nv_soft_mem *soft_mem;
	struct nv_mem mem; /* the pool's, for everything that a controller reads or writes */
};

struct tgt_disk {
	struct tgt_disks *disks;
	const struct tgt_bdev_conf *conf;
	struct nv_soft *soft; /* either this */
	struct nv_store
		*fault; /* in soft, if its engines have one that fails on demand (layer.h) */
	struct nv_drive *drive; /* or that */
	struct nv_ctrl *ctrl;
	struct nv_ctrl_info info; /* as it was at the start, also when ctrl is gone */
	struct nv_ns_info *ns; /* the active ones, likewise */
	size_t n_ns;
	bool is_watched; /* tgt_disk_check() may find something */
	char note[NV_ERR_MAX]; /* how the store does its I/O, for the log; "" if nothing to say */
};

/** tgt_disks_init() - 0 or -ENOMEM, with nothing left. */
int tgt_disks_init(struct tgt_disks *disks);

/** tgt_disks_fini() - all disks are closed, and nobody uses their memory. */
void tgt_disks_fini(struct tgt_disks *disks);

/**
 * tgt_disk_open() - bring the controller of @conf up
 * @index: of the bdev, for the serial number of a soft controller
 * @io_queues: I/O queue pairs that will be asked for
 *
 * Return: 0, or a negative errno with the cause in @why; @disk is to be closed in either case.
 */
int tgt_disk_open(struct tgt_disk *disk, struct tgt_disks *disks, const struct tgt_bdev_conf *conf,
		  size_t index, uint16_t io_queues, struct nv_err *why);

/** tgt_disk_close() - shut the controller down, flush the store; also what is half open. */
void tgt_disk_close(struct tgt_disk *disk);

/**
 * tgt_disk_halt() - make sure that the controller touches no memory any more
 *
 * Return: true when that is so; a soft controller goes on, and may use memory until its queues are
 * deleted.
 */
bool tgt_disk_halt(struct tgt_disk *disk);

/**
 * tgt_disk_restart() - bring the controller up anew: a drive is closed and opened again, a soft
 * controller keeps its store
 * @fresh: the disk as it is then; on failure what is left of it is to be closed. @disk keeps info
 *   and ns alone, in either case
 *
 * May take as long as controllers may (CAP.TO, admin time-outs): on a thread of its own.
 *
 * Return: as tgt_disk_open().
 */
int tgt_disk_restart(struct tgt_disk *disk, struct tgt_disk *fresh, uint16_t io_queues,
		     struct nv_err *why);

/**
 * tgt_disk_check() - has a namespace changed, come or gone since the last call? Then ns is read
 * anew. Costs next to nothing if not; only where is_watched.
 *
 * Return: 1 if so, 0 if not; a negative errno with the cause in @why: is_watched is false then.
 */
int tgt_disk_check(struct tgt_disk *disk, struct nv_err *why);

/** tgt_disk_shut() - as tgt_disk_close(), but info and ns stay. */
void tgt_disk_shut(struct tgt_disk *disk);

/**
 * tgt_disk_ns() - a namespace that can be served: blocks of 512 to 4096 bytes, without metadata.
 *
 * Return: 0, or a negative errno with the cause in @why.
 */
int tgt_disk_ns(const struct tgt_disk *disk, uint32_t be_nsid, const struct nv_ns_info **ns,
		struct nv_err *why);

#endif
