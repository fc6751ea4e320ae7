/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a batch of tasks between application and library. To the counts of a context a batch
 * is as many tasks as it has.
 */
#include <stdlib.h>

#include "core/ctx.h"
#include "core/limits.h"
#include "core/task.h"

doca_error_t doca_priv_task_batch_alloc(struct doca_ctx *ctx, const struct core_task_batch_ops *ops,
					size_t batch_bytes, uint16_t num_tasks,
					union doca_data user_data, struct doca_task_batch **batch)
{
	struct doca_task_batch *b;

	if (!num_tasks || num_tasks > CORE_MAX_BATCH_TASKS)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_running(ctx))
		return DOCA_ERROR_BAD_STATE;
	b = calloc(1, batch_bytes);
	if (!b)
		return DOCA_ERROR_NO_MEMORY;
	b->ops = ops;
	b->ctx = ctx;
	b->user_data = user_data;
	b->state = CORE_TASK_READY;
	b->num_tasks = num_tasks;
	ctx->num_tasks += num_tasks;
	*batch = b;
	return DOCA_SUCCESS;
}

void doca_task_batch_free(struct doca_task_batch *task_batch)
{
	struct doca_ctx *ctx;

	if (!task_batch || task_batch->state != CORE_TASK_READY)
		return;
	ctx = task_batch->ctx;
	task_batch->ops->release(task_batch);
	ctx->num_tasks -= task_batch->num_tasks;
	free(task_batch);
	/* The last one may be what STOPPING waits for. */
	if (!ctx->num_tasks && ctx->state == DOCA_CTX_STATE_STOPPING)
		doca_priv_ctx_wake(ctx);
}

doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch)
{
	struct doca_ctx *ctx = task_batch->ctx;
	doca_error_t result;

	if (task_batch->state != CORE_TASK_READY || !core_ctx_is_running(ctx))
		return DOCA_ERROR_BAD_STATE;
	task_batch->state = CORE_TASK_INFLIGHT;
	ctx->num_inflight += task_batch->num_tasks;
	result = task_batch->ops->submit(task_batch);
	if (result != DOCA_SUCCESS) {
		task_batch->state = CORE_TASK_READY;
		ctx->num_inflight -= task_batch->num_tasks;
	}
	return result;
}

doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch)
{
	doca_error_t result;

	if (!task_batch || task_batch->state != CORE_TASK_READY)
		return DOCA_ERROR_INVALID_VALUE;
	result = task_batch->ops->check(task_batch);
	if (result != DOCA_SUCCESS)
		return result;
	return doca_task_batch_submit(task_batch);
}

void doca_priv_task_batch_complete(struct doca_task_batch *batch, doca_error_t status)
{
	batch->status = status;
	batch->state = CORE_TASK_READY;
	batch->ctx->num_inflight -= batch->num_tasks;
	batch->ops->complete(batch);
}

doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch)
{
	return task_batch->status;
}

void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data)
{
	task_batch->user_data = user_data;
}

union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch)
{
	return task_batch->user_data;
}

struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch)
{
	return task_batch->ctx;
}

union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch)
{
	return task_batch->ctx->user_data;
}

uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch)
{
	return task_batch->num_tasks;
}
