/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A RAM disk as an NVMe controller in the same process: any number of queue pairs over one piece of
 * memory, each run by the EU that owns it. It can be told to hold what it has, or to fail it.
 */
#ifndef TESTS_INTEGRATION_RAMDISK_H
#define TESTS_INTEGRATION_RAMDISK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_sta_be.h>

enum {
	RAMDISK_BLOCK = 512,
	RAMDISK_RING = 64,
};

struct ramdisk_sqe {
	uint8_t opcode, flags;
	uint16_t cid;
	uint32_t nsid, cdw2, cdw3;
	uint64_t mptr, prp1, prp2;
	uint32_t cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
};

struct ramdisk_cqe {
	uint32_t dw0, dw1;
	uint16_t sqhd, sqid, cid, status;
};

/* Shared by the queues: the atomics, which any thread may set. */
struct ramdisk {
	uint32_t blocks;
	atomic_bool is_held; /* completes nothing */
	_Atomic uint16_t failure; /* NVMe status of every read and write; 0: none */
	uint8_t *data;
};

/* Everything but num_fetched is the EU's, from ramdisk_open() to the end of the queue's task. */
struct ramdisk_queue {
	struct ramdisk_sqe sq[RAMDISK_RING];
	struct ramdisk_cqe cq[RAMDISK_RING];
	uint32_t doorbells[2];
	uint32_t head, cq_tail;
	uint16_t phase;
	atomic_uint num_fetched; /* commands that it holds */
	struct ramdisk *disk;
	struct doca_mmap *maps[3];
};

doca_error_t ramdisk_init(struct ramdisk *disk, uint32_t blocks);
void ramdisk_fini(struct ramdisk *disk);

/* A queue pair of @disk, given to @be; @disk NULL: nobody serves it. */
doca_error_t ramdisk_open(struct ramdisk *disk, struct doca_dev *dev, struct doca_sta_be_handle *be,
			  struct ramdisk_queue **queue, struct doca_sta_be_q_handle **handle);
/* After the back-end queue has gone. */
doca_error_t ramdisk_close(struct ramdisk_queue *queue);

#endif
