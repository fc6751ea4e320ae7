/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress engine: visits its contexts in turn and owns the event fd. States of contexts are in
 * ctx.c, tasks in task.c.
 */
#include "core/pe.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/ctx.h"
#include "core/ctx_state.h"

doca_error_t doca_pe_create(struct doca_pe **pe)
{
	struct doca_pe *p;

	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	p = calloc(1, sizeof(*p));
	if (!p)
		return DOCA_ERROR_NO_MEMORY;
	p->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (p->event_fd < 0) {
		free(p);
		return DOCA_ERROR_NO_MEMORY;
	}
	util_list_init(&p->ctxs);
	*pe = p;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_destroy(struct doca_pe *pe)
{
	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	if (!util_list_is_empty(&pe->ctxs) || pe->is_in_progress)
		return DOCA_ERROR_IN_USE;
	close(pe->event_fd);
	free(pe);
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (!pe || !ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->pe)
		return DOCA_ERROR_NOT_PERMITTED;
	if (!core_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	ctx->pe = pe;
	util_list_add_tail(&pe->ctxs, &ctx->node);
	pe->num_ctxs++;
	return DOCA_SUCCESS;
}

void core_pe_disconnect(struct doca_pe *pe, struct doca_ctx *ctx)
{
	util_list_del(&ctx->node);
	pe->num_ctxs--;
	ctx->pe = NULL;
}

/* In event mode only contexts that somebody woke are visited, unless the application wants all. */
static bool pe_should_visit(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (core_ctx_is_idle(ctx))
		return false;
	return pe->mode == DOCA_PE_EVENT_MODE_PROGRESS_ALL || !atomic_load(&pe->armed) ||
	       atomic_load(&ctx->pending);
}

/* True when something was done; the context may be gone then. */
static bool pe_visit(struct doca_pe *pe, struct doca_ctx *ctx)
{
	bool did_work;

	/*
	 * Clear before looking: a wake during progress() sets it again. The exchange pairs with
	 * the store in doca_priv_ctx_wake(), so that what was pushed before it is found now.
	 */
	if (atomic_load(&ctx->pending))
		atomic_exchange(&ctx->pending, false);
	pe->visiting = ctx;
	did_work = ctx->ops->progress(ctx);
	pe->visiting = NULL;
	/* There may be more where that came from: arming now must wake at once. */
	if (did_work)
		atomic_store(&ctx->pending, true);
	return core_ctx_settle(ctx) || did_work;
}

uint8_t doca_pe_progress(struct doca_pe *pe)
{
	bool did_work = false;

	if (!pe || pe->is_in_progress)
		return 0;
	pe->is_in_progress = true;
	for (size_t n = pe->num_ctxs; n && !did_work && !util_list_is_empty(&pe->ctxs); n--) {
		struct doca_ctx *ctx = util_list_first(&pe->ctxs, struct doca_ctx, node);

		/* To the tail: the next call begins with the next context. */
		util_list_del(&ctx->node);
		util_list_add_tail(&pe->ctxs, &ctx->node);
		if (pe_should_visit(pe, ctx))
			did_work = pe_visit(pe, ctx);
	}
	pe->is_in_progress = false;
	return did_work;
}

doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks)
{
	struct doca_ctx *ctx;
	size_t sum = 0;

	if (!pe || !num_inflight_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	util_list_for_each(&pe->ctxs, ctx, node)
		sum += ctx->num_inflight;
	*num_inflight_tasks = sum;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode)
{
	if (!pe || (event_mode != DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE &&
		    event_mode != DOCA_PE_EVENT_MODE_PROGRESS_ALL))
		return DOCA_ERROR_INVALID_VALUE;
	pe->mode = event_mode;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
					     doca_notification_handle_t *handle)
{
	if (!pe || !handle)
		return DOCA_ERROR_INVALID_VALUE;
	*handle = pe->event_fd;
	return DOCA_SUCCESS;
}

void core_pe_notify(struct doca_pe *pe)
{
	uint64_t one = 1;

	/* A counter that is full is readable as well, so EAGAIN is good. */
	if (atomic_exchange(&pe->armed, false))
		(void)!write(pe->event_fd, &one, sizeof(one));
}

static doca_error_t pe_drain_event_fd(struct doca_pe *pe)
{
	uint64_t count;

	if (read(pe->event_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return DOCA_ERROR_OPERATING_SYSTEM;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_request_notification(struct doca_pe *pe)
{
	struct doca_ctx *ctx;
	doca_error_t result;

	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	result = pe_drain_event_fd(pe);
	if (result != DOCA_SUCCESS)
		return result;
	atomic_store(&pe->armed, true);
	util_list_for_each(&pe->ctxs, ctx, node) {
		if (!core_ctx_is_idle(ctx) && atomic_load(&ctx->pending)) {
			core_pe_notify(pe);
			break;
		}
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle)
{
	/* The engine has one handle only: which one is meant is known. */
	(void)handle;
	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	atomic_store(&pe->armed, false);
	return pe_drain_event_fd(pe);
}
