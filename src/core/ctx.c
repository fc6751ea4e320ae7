/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state machine that all contexts share. Who visits contexts, and when, is pe.c.
 */
#include "core/ctx.h"

#include <string.h>

#include "core/ctx_state.h"
#include "core/log.h"
#include "core/pe.h"

static const char *const ctx_state_names[] = {
	[DOCA_CTX_STATE_IDLE] = "idle",
	[DOCA_CTX_STATE_STARTING] = "starting",
	[DOCA_CTX_STATE_RUNNING] = "running",
	[DOCA_CTX_STATE_STOPPING] = "stopping",
};

/* Last thing that is done with the context: the callback may destroy it when it is IDLE. */
static void ctx_enter(struct doca_ctx *ctx, enum doca_ctx_states next)
{
	enum doca_ctx_states previous = ctx->state;

	ctx->state = next;
	doca_priv_log(DOCA_LOG_LEVEL_TRACE, "core.ctx", "context %p: %s -> %s", (void *)ctx,
		      ctx_state_names[previous], ctx_state_names[next]);
	if (ctx->state_cb)
		ctx->state_cb(ctx->user_data, ctx, previous, next);
}

void doca_priv_ctx_init(struct doca_ctx *ctx, const struct core_ctx_ops *ops)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->ops = ops;
	ctx->state = DOCA_CTX_STATE_IDLE;
	atomic_init(&ctx->pending, false);
	util_list_init(&ctx->node);
}

doca_error_t doca_priv_ctx_fini(struct doca_ctx *ctx)
{
	if (!core_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	if (ctx->pe) {
		if (ctx->pe->visiting == ctx)
			return DOCA_ERROR_BAD_STATE;
		core_pe_disconnect(ctx->pe, ctx);
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	doca_error_t result;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	if (!ctx->pe)
		return DOCA_ERROR_NOT_CONNECTED;
	ctx->lib_stopped = false;
	result = ctx->ops->start(ctx);
	if (result == DOCA_SUCCESS) {
		ctx_enter(ctx, DOCA_CTX_STATE_RUNNING);
	} else if (result == DOCA_ERROR_IN_PROGRESS) {
		/* Whatever woke us already, in IDLE, is not lost: pending stands. */
		ctx_enter(ctx, DOCA_CTX_STATE_STARTING);
	}
	return result;
}

void doca_priv_ctx_started(struct doca_ctx *ctx, doca_error_t result)
{
	if (ctx->state != DOCA_CTX_STATE_STARTING)
		return;
	ctx_enter(ctx, result == DOCA_SUCCESS ? DOCA_CTX_STATE_RUNNING : DOCA_CTX_STATE_IDLE);
}

bool core_ctx_settle(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_STOPPING || !ctx->lib_stopped || ctx->num_tasks)
		return false;
	ctx_enter(ctx, DOCA_CTX_STATE_IDLE);
	return true;
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	doca_error_t result;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (core_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	if (ctx->state == DOCA_CTX_STATE_STOPPING)
		return DOCA_ERROR_IN_PROGRESS;
	result = ctx->ops->stop(ctx);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		return result;
	ctx->lib_stopped = result == DOCA_SUCCESS;
	if (ctx->lib_stopped && !ctx->num_tasks) {
		ctx_enter(ctx, DOCA_CTX_STATE_IDLE);
		return DOCA_SUCCESS;
	}
	ctx_enter(ctx, DOCA_CTX_STATE_STOPPING);
	return DOCA_ERROR_IN_PROGRESS;
}

void doca_priv_ctx_stopped(struct doca_ctx *ctx)
{
	ctx->lib_stopped = true;
}

void doca_priv_ctx_failed(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return;
	ctx->lib_stopped = false;
	ctx_enter(ctx, DOCA_CTX_STATE_STOPPING);
}

void doca_priv_ctx_wake(struct doca_ctx *ctx)
{
	struct doca_pe *pe = ctx->pe;

	/* Sequentially consistent both: see struct doca_pe. */
	atomic_store(&ctx->pending, true);
	if (pe && atomic_load(&pe->armed))
		core_pe_notify(pe);
}

void doca_ctx_flush_tasks(struct doca_ctx *ctx)
{
	if (ctx && !core_ctx_is_idle(ctx))
		ctx->ops->flush(ctx);
}

doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks)
{
	if (!ctx || !num_inflight_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	*num_inflight_tasks = ctx->num_inflight;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data)
{
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	ctx->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data)
{
	if (!ctx || !user_data)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = ctx->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
					   doca_ctx_state_changed_callback_t cb)
{
	if (!ctx || !cb)
		return DOCA_ERROR_INVALID_VALUE;
	ctx->state_cb = cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state)
{
	if (!ctx || !state)
		return DOCA_ERROR_INVALID_VALUE;
	*state = ctx->state;
	return DOCA_SUCCESS;
}

/* Contexts here are driven by threads of the host. */
static doca_error_t ctx_set_foreign_datapath(const struct doca_ctx *ctx, const void *processor)
{
	if (!ctx || !processor)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
	return ctx_set_foreign_datapath(ctx, gpu_dev);
}

doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev)
{
	return ctx_set_foreign_datapath(ctx, dpa_dev);
}

doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector)
{
	/* No context here has one completion queue that a vector could be chosen for. */
	(void)comp_vector;
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	return DOCA_ERROR_NOT_SUPPORTED;
}
