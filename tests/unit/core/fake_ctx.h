/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library of one context and one task type, as small as can be: tasks are completed when the test
 * says so, events are a counter that any thread may raise.
 */
#ifndef FAKE_CTX_H
#define FAKE_CTX_H

#include <stdatomic.h>

#include "core/ctx.h"
#include "core/task.h"

struct fake_task {
	struct doca_task base;
	int value;
};

#define FAKE_MAX_TRANSITIONS 16

struct fake_ctx {
	struct doca_ctx base;
	struct core_task_pool *tasks;
	/* What the functions of the library answer. */
	doca_error_t start_result;
	doca_error_t stop_result;
	doca_error_t submit_result;
	/* What the next progress() does. */
	doca_error_t started_result; /* IN_PROGRESS: not yet */
	bool may_stop; /* says stopped() once in STOPPING */
	bool may_fail;
	struct fake_task *to_complete;
	doca_error_t complete_status;
	/* What was seen. */
	atomic_uint events; /* raised by fake_raise(), taken one at a time */
	unsigned int events_seen;
	unsigned int visits;
	unsigned int flushes;
	unsigned int submits;
	uint32_t submit_flags;
	unsigned int releases;
	unsigned int completions;
	bool free_in_callback;
	unsigned int num_transitions;
	struct {
		enum doca_ctx_states from;
		enum doca_ctx_states to;
	} transitions[FAKE_MAX_TRANSITIONS];
	bool destroy_when_idle;
	bool is_destroyed;
};

static bool fake_progress(struct doca_ctx *ctx)
{
	struct fake_ctx *f = (struct fake_ctx *)ctx;
	struct fake_task *task = f->to_complete;

	f->visits++;
	if (ctx->state == DOCA_CTX_STATE_STARTING && f->started_result != DOCA_ERROR_IN_PROGRESS) {
		doca_priv_ctx_started(ctx, f->started_result);
		return true;
	}
	if (task) {
		f->to_complete = NULL;
		doca_priv_task_complete(&task->base, f->complete_status);
		return true;
	}
	if (ctx->state == DOCA_CTX_STATE_STOPPING && f->may_stop) {
		f->may_stop = false;
		doca_priv_ctx_stopped(ctx);
		return true;
	}
	if (f->may_fail) {
		f->may_fail = false;
		doca_priv_ctx_failed(ctx);
		return true;
	}
	if (atomic_load(&f->events)) {
		atomic_fetch_sub(&f->events, 1);
		f->events_seen++;
		return true;
	}
	return false;
}

static doca_error_t fake_start(struct doca_ctx *ctx)
{
	return ((struct fake_ctx *)ctx)->start_result;
}

static doca_error_t fake_stop(struct doca_ctx *ctx)
{
	return ((struct fake_ctx *)ctx)->stop_result;
}

static void fake_flush(struct doca_ctx *ctx)
{
	((struct fake_ctx *)ctx)->flushes++;
}

static const struct core_ctx_ops fake_ctx_ops = {
	.start = fake_start,
	.stop = fake_stop,
	.progress = fake_progress,
	.flush = fake_flush,
};

static doca_error_t fake_task_check(const struct doca_task *task)
{
	return ((const struct fake_task *)task)->value < 0 ? DOCA_ERROR_INVALID_VALUE
							   : DOCA_SUCCESS;
}

static doca_error_t fake_task_submit(struct doca_task *task, uint32_t flags)
{
	struct fake_ctx *f = (struct fake_ctx *)task->ctx;

	f->submits++;
	f->submit_flags = flags;
	return f->submit_result;
}

static void fake_task_complete(struct doca_task *task)
{
	struct fake_ctx *f = (struct fake_ctx *)task->ctx;

	f->completions++;
	if (f->free_in_callback)
		doca_task_free(task);
}

static void fake_task_release(struct doca_task *task)
{
	((struct fake_ctx *)task->ctx)->releases++;
}

static const struct core_task_ops fake_task_ops = {
	.check = fake_task_check,
	.submit = fake_task_submit,
	.complete = fake_task_complete,
	.release = fake_task_release,
};

static void fake_state_cb(const union doca_data user_data, struct doca_ctx *ctx,
			  enum doca_ctx_states from, enum doca_ctx_states to)
{
	struct fake_ctx *f = (struct fake_ctx *)ctx;

	assert_ptr_equal(user_data.ptr, f);
	assert_int_equal(ctx->state, to);
	assert_true(f->num_transitions < FAKE_MAX_TRANSITIONS);
	f->transitions[f->num_transitions].from = from;
	f->transitions[f->num_transitions++].to = to;
	if (f->destroy_when_idle && to == DOCA_CTX_STATE_IDLE) {
		assert_int_equal(doca_priv_ctx_fini(ctx), DOCA_SUCCESS);
		f->is_destroyed = true;
	}
}

/* Any thread. */
static inline void fake_raise(struct fake_ctx *f)
{
	atomic_fetch_add(&f->events, 1);
	doca_priv_ctx_wake(&f->base);
}

/* Synchronous in start and stop, unless the test changes the results. */
static inline void fake_init(struct fake_ctx *f, struct doca_pe *pe, uint32_t max_tasks)
{
	memset(f, 0, sizeof(*f));
	doca_priv_ctx_init(&f->base, &fake_ctx_ops);
	f->started_result = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_ctx_set_user_data(&f->base, (union doca_data){.ptr = f}),
			 DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_state_changed_cb(&f->base, fake_state_cb), DOCA_SUCCESS);
	assert_int_equal(doca_priv_task_pool_create(&f->base, &fake_task_ops,
						    sizeof(struct fake_task), max_tasks, &f->tasks),
			 DOCA_SUCCESS);
	if (pe)
		assert_int_equal(doca_pe_connect_ctx(pe, &f->base), DOCA_SUCCESS);
}

static inline void fake_fini(struct fake_ctx *f)
{
	if (!f->is_destroyed)
		assert_int_equal(doca_priv_ctx_fini(&f->base), DOCA_SUCCESS);
	doca_priv_task_pool_destroy(f->tasks);
}

static inline enum doca_ctx_states fake_state(const struct fake_ctx *f)
{
	enum doca_ctx_states state;

	assert_int_equal(doca_ctx_get_state(&f->base, &state), DOCA_SUCCESS);
	return state;
}

#endif /* FAKE_CTX_H */
