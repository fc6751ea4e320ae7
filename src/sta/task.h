/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one task type of the STA API (struct doca_sta_producer_task_send), whose kind says what it
 * does. A pool per kind; the callbacks are the pool's owner's.
 */
#ifndef STA_TASK_H
#define STA_TASK_H

#include <doca_sta_handle.h>
#include <doca_sta_task.h>

#include "core/task.h"
#include "sta/msg.h"
#include "sta/sqe.h"
#include "util/list.h"

struct sta_req;
struct sta_task;

struct sta_task_cbs {
	doca_sta_task_completion_cb_t completion;
	doca_sta_task_completion_cb_t error;
};

/* What a kind of task does when it is submitted; returns like core_task_ops.submit. */
struct sta_task_kind {
	doca_error_t (*submit)(struct sta_task *task);
};

/*
 * Owner: the context's thread; between submit and completion whoever has its message.
 * Which of the fields count depends on the kind.
 */
struct sta_task {
	struct doca_task base;
	struct sta_task_cbs cbs;
	const struct sta_task_kind *kind;
	struct sta_msg msg;
	struct sta_task *next;
	doca_error_t result;
	struct doca_sta_qp_handle *qp;
	struct sta_req *req;
	uint64_t token; /* of the command that req had when the task was made */
	struct sta_cqe cqe;
	bool is_with_data; /* RDMA write before the response */
	bool is_last; /* ends its request */
	/* What it removes: one of the two, NULL once that is gone. */
	struct doca_sta_ns_handle *ns;
	struct doca_sta_be_q_handle *beq;
	struct util_list of_object; /* in the tasks of ns or beq; in no list without */
};

/* A set_conf: INVALID_VALUE for a NULL callback, BAD_STATE unless IDLE. Creates the pool once. */
doca_error_t sta_task_set_conf(struct doca_ctx *ctx, doca_sta_task_completion_cb_t completion,
			       doca_sta_task_completion_cb_t error, uint32_t max_tasks,
			       struct sta_task_cbs *cbs, struct core_task_pool **pool);

/* BAD_STATE when there was no set_conf or the context is not running, NO_MEMORY. */
doca_error_t sta_task_alloc(struct core_task_pool *pool, const struct sta_task_cbs *cbs,
			    const struct sta_task_kind *kind, union doca_data user_data,
			    struct sta_task **task);

static inline struct doca_sta_producer_task_send *sta_task_public(struct sta_task *task)
{
	return (struct doca_sta_producer_task_send *)task;
}

/*
 * Tasks that remove an object, on the control thread: each that is made goes into the object's list
 * and learns there that the object is gone, whoever has removed it.
 */
void sta_task_refer(struct sta_task *task, struct util_list *tasks);
void sta_task_end_refs(struct util_list *tasks);

/* On the context's thread, in progress(): ends the task with task->result. */
void sta_task_finish(struct sta_task *task);

#endif
