/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the driver: the controller object and what its files call of one another.
 *   drv.c        bring-up and shutdown
 *   drv_admin.c  the synchronous admin command and Identify
 *   drv_event.c  asynchronous events
 *   drv_queue.c  rings: layout, submit, poll, create, destroy
 */
#ifndef NV_DRV_PRIV_H
#define NV_DRV_PRIV_H

#include "nvme/drv.h"
#include "nvme/limits.h"
#include "util/compiler.h"
#include "util/time.h"

struct nv_ctrl {
	struct nv_bar bar;
	struct nv_mem mem;
	uint64_t cap;
	uint32_t ready_timeout_ms; /* CAP.TO, or CRTO where the controller has it */
	uint32_t admin_timeout_ms;
	bool dead; /* no answer can be trusted any more */

	struct nv_queue admin;
	uint16_t next_cid;
	bool is_watching; /* an Asynchronous Event Request is out */
	bool has_event; /* and was answered with this */
	uint32_t event;
	void *page; /* NV_PAGE_SIZE bytes for the data of the one admin command */
	uint64_t page_phys;

	struct nv_queue *queues[NV_MAX_IO_QUEUES + 1]; /* by qid; [0] unused */
	struct nv_ctrl_info info;
};

/* Give way while polling: spins for the first rounds, then sleeps up to a millisecond. */
void nv_relax(unsigned int round);

/* Memory and doorbells for @queue, whose qid and entries are set. -ENOMEM, -ENODEV. */
int nv_queue_init(struct nv_queue *queue, struct nv_ctrl *ctrl);
void nv_queue_fini(struct nv_queue *queue);

/* Not given to any other command. */
#define NV_EVENT_CID 0xfffeu

/* Is @cqe the answer to the event request? Then it is noted. */
bool nv_ctrl_note_event(struct nv_ctrl *ctrl, const struct nv_cqe *cqe);

/* Fills info from Identify Controller and grants queues. */
int nv_ctrl_read_info(struct nv_ctrl *ctrl, const struct nv_ctrl_opts *opts, struct nv_err *err);

#endif
