/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks of STA and STA IO contexts: pools, and dispatch by kind.
 */
#include "sta/task.h"

#include <doca_ctx.h>

#include "core/ctx.h"
#include "sta/io.h"

static struct sta_task *from_base(struct doca_task *base)
{
	return util_container_of(base, struct sta_task, base);
}

static doca_error_t check(const struct doca_task *base)
{
	/* Everything was checked when the task was allocated, and it has no setters. */
	(void)base;
	return DOCA_SUCCESS;
}

static doca_error_t submit(struct doca_task *base, uint32_t flags)
{
	struct sta_task *task = from_base(base);

	(void)flags;
	return task->kind->submit(task);
}

static void complete(struct doca_task *base)
{
	struct sta_task *task = from_base(base);
	union doca_data user_data = base->user_data;

	if (base->status == DOCA_SUCCESS)
		task->cbs.completion(sta_task_public(task), user_data);
	else
		task->cbs.error(sta_task_public(task), user_data);
}

static void release(struct doca_task *base)
{
	struct sta_task *task = from_base(base);

	if (task->qp)
		sta_qp_release_task(task->qp);
	util_list_del(&task->of_object);
}

static const struct core_task_ops task_ops = {
	.check = check,
	.submit = submit,
	.complete = complete,
	.release = release,
};

doca_error_t sta_task_set_conf(struct doca_ctx *ctx, doca_sta_task_completion_cb_t completion,
			       doca_sta_task_completion_cb_t error, uint32_t max_tasks,
			       struct sta_task_cbs *cbs, struct core_task_pool **pool)
{
	doca_error_t err;

	if (!completion || !error)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	if (!*pool) {
		err = doca_priv_task_pool_create(ctx, &task_ops, sizeof(struct sta_task), max_tasks,
						 pool);
		if (err != DOCA_SUCCESS)
			return err;
	}
	cbs->completion = completion;
	cbs->error = error;
	return DOCA_SUCCESS;
}

doca_error_t sta_task_alloc(struct core_task_pool *pool, const struct sta_task_cbs *cbs,
			    const struct sta_task_kind *kind, union doca_data user_data,
			    struct sta_task **task)
{
	struct doca_task *base;
	doca_error_t err;

	if (!pool)
		return DOCA_ERROR_BAD_STATE;
	err = doca_priv_task_alloc(pool, user_data, &base);
	if (err != DOCA_SUCCESS)
		return err;
	*task = from_base(base);
	(*task)->cbs = *cbs;
	(*task)->kind = kind;
	util_list_init(&(*task)->of_object);
	return DOCA_SUCCESS;
}

void sta_task_refer(struct sta_task *task, struct util_list *tasks)
{
	util_list_add_tail(tasks, &task->of_object);
}

void sta_task_end_refs(struct util_list *tasks)
{
	struct sta_task *task;

	while ((task = util_list_pop(tasks, struct sta_task, of_object))) {
		task->ns = NULL;
		task->beq = NULL;
	}
}

void sta_task_finish(struct sta_task *task)
{
	doca_priv_task_complete(&task->base, task->result);
}

struct doca_task *doca_sta_producer_send_task_as_task(struct doca_sta_producer_task_send *task)
{
	return task ? &((struct sta_task *)task)->base : NULL;
}
