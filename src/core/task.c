/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Task pools and the life of a task between application and library.
 */
#include "core/task.h"

#include <stdlib.h>
#include <string.h>

#include "core/ctx.h"

/* Owner: the context's thread. Life: made and destroyed by the library that has the task type. */
struct core_task_pool {
	struct doca_ctx *ctx;
	const struct core_task_ops *ops;
	size_t task_bytes;
	uint32_t max_tasks;
	uint32_t num_made;
	struct util_list free; /* struct doca_task.node */
};

doca_error_t doca_priv_task_pool_create(struct doca_ctx *ctx, const struct core_task_ops *ops,
					size_t task_bytes, uint32_t max_tasks,
					struct core_task_pool **pool)
{
	struct core_task_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return DOCA_ERROR_NO_MEMORY;
	p->ctx = ctx;
	p->ops = ops;
	p->task_bytes = task_bytes;
	p->max_tasks = max_tasks;
	util_list_init(&p->free);
	*pool = p;
	return DOCA_SUCCESS;
}

void doca_priv_task_pool_destroy(struct core_task_pool *pool)
{
	struct doca_task *task;

	if (!pool)
		return;
	while ((task = util_list_pop(&pool->free, struct doca_task, node)))
		free(task);
	free(pool);
}

static struct doca_task *task_take(struct core_task_pool *pool)
{
	struct doca_task *task = util_list_pop(&pool->free, struct doca_task, node);

	if (task || pool->num_made == pool->max_tasks)
		return task;
	task = malloc(pool->task_bytes);
	if (task)
		pool->num_made++;
	return task;
}

doca_error_t doca_priv_task_alloc(struct core_task_pool *pool, union doca_data user_data,
				  struct doca_task **task)
{
	struct doca_task *t;

	if (!core_ctx_is_running(pool->ctx))
		return DOCA_ERROR_BAD_STATE;
	t = task_take(pool);
	if (!t)
		return DOCA_ERROR_NO_MEMORY;
	memset(t, 0, pool->task_bytes);
	t->pool = pool;
	t->ctx = pool->ctx;
	t->user_data = user_data;
	t->state = CORE_TASK_READY;
	util_list_init(&t->node);
	pool->ctx->num_tasks++;
	*task = t;
	return DOCA_SUCCESS;
}

void doca_task_free(struct doca_task *task)
{
	struct doca_ctx *ctx;

	if (!task || task->state != CORE_TASK_READY)
		return;
	ctx = task->ctx;
	task->pool->ops->release(task);
	task->state = CORE_TASK_FREE;
	util_list_add_head(&task->pool->free, &task->node);
	/* The last one may be what STOPPING waits for. */
	if (--ctx->num_tasks == 0 && ctx->state == DOCA_CTX_STATE_STOPPING)
		doca_priv_ctx_wake(ctx);
}

doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	struct doca_ctx *ctx = task->ctx;
	doca_error_t result;

	if (task->state != CORE_TASK_READY || !core_ctx_is_running(ctx))
		return DOCA_ERROR_BAD_STATE;
	task->state = CORE_TASK_INFLIGHT;
	ctx->num_inflight++;
	result = task->pool->ops->submit(task, flags);
	if (result != DOCA_SUCCESS) {
		task->state = CORE_TASK_READY;
		ctx->num_inflight--;
	}
	return result;
}

doca_error_t doca_task_submit(struct doca_task *task)
{
	return doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

doca_error_t doca_task_try_submit(struct doca_task *task)
{
	doca_error_t result;

	if (!task || task->state != CORE_TASK_READY)
		return DOCA_ERROR_INVALID_VALUE;
	result = task->pool->ops->check(task);
	if (result != DOCA_SUCCESS)
		return result;
	return doca_task_submit(task);
}

void doca_priv_task_complete(struct doca_task *task, doca_error_t status)
{
	task->status = status;
	task->state = CORE_TASK_READY;
	task->ctx->num_inflight--;
	task->pool->ops->complete(task);
}

doca_error_t doca_task_get_status(const struct doca_task *task)
{
	return task->status;
}

void doca_task_set_user_data(struct doca_task *task, union doca_data user_data)
{
	task->user_data = user_data;
}

union doca_data doca_task_get_user_data(const struct doca_task *task)
{
	return task->user_data;
}

struct doca_ctx *doca_task_get_ctx(const struct doca_task *task)
{
	return task->ctx;
}
