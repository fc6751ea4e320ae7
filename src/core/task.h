/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For libraries that implement tasks. A task type embeds struct doca_task as its first member and
 * comes from a pool that belongs to a context. Submitting, completing and freeing happen on the
 * thread of the context's progress engine; a task that another thread works on comes back to
 * progress() by a ring.
 *
 *   FREE --alloc--> READY --submit--> INFLIGHT --complete()--> READY (callback runs) --free--> FREE
 */
#ifndef CORE_TASK_H
#define CORE_TASK_H

#include <doca_pe.h>
#include <stdint.h>

#include "core/export.h"
#include "util/list.h"

struct core_task_pool;

enum core_task_state {
	CORE_TASK_FREE, /* in its pool */
	CORE_TASK_READY, /* the application's */
	CORE_TASK_INFLIGHT, /* the library's */
};

/* All set. */
struct core_task_ops {
	/* doca_task_try_submit(): are the task's values good? Nothing is checked otherwise. */
	doca_error_t (*check)(const struct doca_task *task);
	/*
	 * Take over the task; flags of enum doca_task_submit_flag. On an error the application
	 * keeps it (DOCA_ERROR_AGAIN: no room now). Must not complete it before returning.
	 */
	doca_error_t (*submit)(struct doca_task *task, uint32_t flags);
	/* Call the application's completion or error callback by task->status. */
	void (*complete)(struct doca_task *task);
	/* The application frees it: let go of what it refers to. */
	void (*release)(struct doca_task *task);
};

/* Owner: the progress engine's thread; while INFLIGHT the fields here are not touched. */
struct doca_task {
	struct core_task_pool *pool;
	struct doca_ctx *ctx;
	union doca_data user_data;
	doca_error_t status; /* of the last completion */
	enum core_task_state state;
	struct util_list node; /* free list of the pool */
};

/*
 * A pool of at most max_tasks tasks of task_bytes each (memory is taken on first use and kept).
 * DOCA_ERROR_NO_MEMORY. Destroy (NULL is fine) when every task is free: with the context IDLE.
 */
CORE_EXPORT doca_error_t doca_priv_task_pool_create(struct doca_ctx *ctx,
						    const struct core_task_ops *ops,
						    size_t task_bytes, uint32_t max_tasks,
						    struct core_task_pool **pool);
CORE_EXPORT void doca_priv_task_pool_destroy(struct core_task_pool *pool);

/*
 * A READY task; the bytes behind struct doca_task are zero. DOCA_ERROR_BAD_STATE when the context
 * is not RUNNING, DOCA_ERROR_NO_MEMORY when all are taken.
 */
CORE_EXPORT doca_error_t doca_priv_task_alloc(struct core_task_pool *pool,
					      union doca_data user_data, struct doca_task **task);

/*
 * From progress(): the task has ended with status. Calls ops->complete; the application may free or
 * submit the task in it, so it must not be touched afterwards.
 */
CORE_EXPORT void doca_priv_task_complete(struct doca_task *task, doca_error_t status);

/*
 * Batches. A batch is submitted, completed and freed as one; what its tasks are is the library's
 * affair, which embeds struct doca_task_batch as the first member of a batch type. The states are
 * those of a task. All set.
 */
struct core_task_batch_ops {
	/* doca_task_batch_try_submit(): are the values of all its tasks good? */
	doca_error_t (*check)(const struct doca_task_batch *batch);
	/* Take over all of it, or nothing: see core_task_ops.submit. */
	doca_error_t (*submit)(struct doca_task_batch *batch);
	/* Call the application's completion or error callback by batch->status. */
	void (*complete)(struct doca_task_batch *batch);
	/* The application frees it: let go of what it refers to. The memory is core's. */
	void (*release)(struct doca_task_batch *batch);
};

/* Owner: the progress engine's thread; while INFLIGHT the fields here are not touched. */
struct doca_task_batch {
	const struct core_task_batch_ops *ops;
	struct doca_ctx *ctx;
	union doca_data user_data;
	doca_error_t status; /* of the last completion */
	enum core_task_state state;
	uint16_t num_tasks;
};

/*
 * A READY batch of batch_bytes; the bytes behind struct doca_task_batch are zero.
 * DOCA_ERROR_INVALID_VALUE when num_tasks is not from 1 to CORE_MAX_BATCH_TASKS, BAD_STATE when the
 * context is not RUNNING, NO_MEMORY.
 */
CORE_EXPORT doca_error_t doca_priv_task_batch_alloc(struct doca_ctx *ctx,
						    const struct core_task_batch_ops *ops,
						    size_t batch_bytes, uint16_t num_tasks,
						    union doca_data user_data,
						    struct doca_task_batch **batch);

/*
 * From progress(): all tasks of the batch have ended; status is the first failure, or DOCA_SUCCESS.
 * Calls ops->complete; the batch must not be touched afterwards.
 */
CORE_EXPORT void doca_priv_task_batch_complete(struct doca_task_batch *batch, doca_error_t status);

#endif /* CORE_TASK_H */
