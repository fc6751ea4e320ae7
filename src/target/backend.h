/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of a backend: for its own files.
 *   backend.c   the disk, and what hosts are told of it
 *   beq.c       its queue pairs, given to DOCA STA and taken back
 *   recover.c   when its controller has to be brought up anew, or is gone
 */
#ifndef TGT_BACKEND_H
#define TGT_BACKEND_H

#include <doca_mmap.h>
#include <doca_softsta.h>

#include "target/server.h"

struct tgt_recovery;

struct tgt_be_queue {
	struct tgt_backend *be;
	struct nv_queue *nv;
	struct nv_soft_companion companion;
	struct doca_softsta_queue_ops ops;
	bool is_attached;
	struct doca_mmap *sq, *cq, *sq_doorbell, *cq_doorbell;
	struct doca_sta_be_q_handle *sta; /* NULL once the destroy task is done */
};

struct tgt_backend {
	struct tgt_server *server;
	struct tgt_disk disk;
	struct doca_sta_be_handle *sta;
	struct tgt_be_queue queues[TGT_MAX_EUS];
	size_t n_queues;
	struct tgt_recovery *recovery;
};

/** tgt_beq_wanted() - queue pairs for this disk: one for each execution unit, if it has as many. */
uint16_t tgt_beq_wanted(const struct tgt_backend *be);

/** tgt_beq_create() - queue pairs at the controller. 0 or a negative errno with @why. */
int tgt_beq_create(struct tgt_backend *be, struct nv_ctrl *ctrl, struct nv_err *why);

/** tgt_beq_give() - give what tgt_beq_create() made to DOCA STA. */
doca_error_t tgt_beq_give(struct tgt_backend *be);

/** tgt_beq_halted() - tell DOCA STA that the controller has stopped. */
void tgt_beq_halted(struct tgt_backend *be);

/** tgt_beq_ask_back() - begin to take all queues from DOCA STA; tgt_recovery_queue_gone() follows.
 */
doca_error_t tgt_beq_ask_back(struct tgt_backend *be);

/** tgt_beq_are_gone() - has DOCA STA let go of all queues? */
bool tgt_beq_are_gone(const struct tgt_backend *be);

/** tgt_beq_forget() - free what was made for queues here; the queue pairs are the controller's. */
void tgt_beq_forget(struct tgt_backend *be);

/* recover.c */
int tgt_recovery_init(struct tgt_backend *be);
/** tgt_recovery_fini() - wait for what runs, and free what hosts do not see at the moment. */
void tgt_recovery_fini(struct tgt_backend *be);
/** tgt_recovery_watch() - listen to what the kernel says of a drive that was just opened. */
void tgt_recovery_watch(struct tgt_backend *be);
/** tgt_recovery_queue_gone() - one more queue is DOCA STA's no more. */
void tgt_recovery_queue_gone(struct tgt_backend *be);

#endif
