/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress engine as core's own files see it. Libraries above core do not need it: they wake
 * their context (ctx.h) and are called back.
 */
#ifndef CORE_PE_H
#define CORE_PE_H

#include <doca_pe.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/list.h"

/*
 * Owner: the application thread that progresses it.
 * Shared: armed, and the event fd (any thread that wakes a context).
 *
 * No wake-up is lost: a waker stores ctx->pending, then reads armed; request_notification() stores
 * armed, then reads every ctx->pending; all four sequentially consistent, so at least one of the
 * two sees the other. Whoever changes armed from true to false writes the fd.
 */
struct doca_pe {
	struct util_list ctxs; /* struct doca_ctx.node; its order is the round-robin order */
	size_t num_ctxs;
	struct doca_ctx *visiting; /* its ops->progress() is on the stack */
	int event_fd;
	enum doca_pe_event_mode mode;
	bool is_in_progress; /* doca_pe_progress() is on the stack */
	atomic_bool armed;
};

/* From wakers: make the fd readable if armed. */
void core_pe_notify(struct doca_pe *pe);

/* The undoing of doca_pe_connect_ctx(), when the context ends. */
void core_pe_disconnect(struct doca_pe *pe, struct doca_ctx *ctx);

#endif /* CORE_PE_H */
