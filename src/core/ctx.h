/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For libraries that implement contexts. An object embeds struct doca_ctx as its first member and
 * gives core a table of functions; core owns the state machine, calls the application's state
 * callback, counts tasks, and serves the context from its progress engine (pe.c).
 *
 *   IDLE --start--> STARTING --started()--> RUNNING --stop--> STOPPING --stopped()--> IDLE
 *     |               |                       ^
 *     |               +---------stop----------|--------> STOPPING
 *     +--start, synchronous-------------------+
 *
 * Everything runs on the thread that owns the progress engine, except doca_priv_ctx_wake(), which
 * is how another thread (an EU) says that progress() would find something: push the event to a
 * ring, then wake.
 */
#ifndef CORE_CTX_H
#define CORE_CTX_H

#include <doca_ctx.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/export.h"
#include "util/list.h"

struct doca_pe;
struct doca_task;

/* All set. Called on the progress engine's thread, never while another of them runs. */
struct core_ctx_ops {
	/*
	 * From doca_ctx_start(), in IDLE and connected to a progress engine. DOCA_SUCCESS: is
	 * RUNNING. DOCA_ERROR_IN_PROGRESS: is STARTING until doca_priv_ctx_started(). Anything
	 * else: stays IDLE, nothing is left behind.
	 */
	doca_error_t (*start)(struct doca_ctx *ctx);
	/*
	 * From doca_ctx_stop(), in STARTING or RUNNING. Begin to flush what is in flight.
	 * DOCA_SUCCESS: the library's part has ended already. DOCA_ERROR_IN_PROGRESS: it ends with
	 * doca_priv_ctx_stopped(). Either way IDLE waits until the last task is freed. Anything
	 * else: the state does not change.
	 */
	doca_error_t (*stop)(struct doca_ctx *ctx);
	/*
	 * From doca_pe_progress(), in every state but IDLE. Handle one event or completion (or a
	 * few that belong together) and say whether there was one. The context must not be freed
	 * in it.
	 */
	bool (*progress)(struct doca_ctx *ctx);
	/* From doca_ctx_flush_tasks(): push out tasks that were submitted without the flush flag.
	 */
	void (*flush)(struct doca_ctx *ctx);
};

/*
 * Owner: the thread of the progress engine. Life: embedded, between doca_priv_ctx_init() and
 * doca_priv_ctx_fini().
 */
struct doca_ctx {
	const struct core_ctx_ops *ops;
	struct doca_pe *pe; /* set once, until fini */
	struct util_list node; /* in pe->ctxs */
	/* Shared: the owner changes it, any thread may look. */
	_Atomic enum doca_ctx_states state;
	bool lib_stopped; /* in STOPPING: the library's part has ended */
	size_t num_tasks; /* allocated */
	size_t num_inflight; /* submitted and not completed */
	union doca_data user_data;
	doca_ctx_state_changed_callback_t state_cb;
	/* Shared: set by wakers, cleared by the owner when progress() found nothing. */
	atomic_bool pending;
};

/* The context is IDLE, not connected. ops is a constant table. */
CORE_EXPORT void doca_priv_ctx_init(struct doca_ctx *ctx, const struct core_ctx_ops *ops);

/*
 * Disconnects from the progress engine. DOCA_ERROR_BAD_STATE (nothing done) unless IDLE. No other
 * thread may wake the context any more.
 */
CORE_EXPORT doca_error_t doca_priv_ctx_fini(struct doca_ctx *ctx);

/*
 * In STARTING, from progress(): the start ended. DOCA_SUCCESS: now RUNNING. An error: now IDLE, the
 * library has undone its start. Calls the state callback.
 */
CORE_EXPORT void doca_priv_ctx_started(struct doca_ctx *ctx, doca_error_t result);

/*
 * In STOPPING, from progress(): nothing of the library is in flight any more. IDLE is reached, and
 * the state callback called, by this or a later doca_pe_progress(): when all tasks are freed.
 */
CORE_EXPORT void doca_priv_ctx_stopped(struct doca_ctx *ctx);

/*
 * In RUNNING, from progress(): a fault ended the context; the same as if the application had called
 * doca_ctx_stop(), but ops->stop is not called. Now STOPPING.
 */
CORE_EXPORT void doca_priv_ctx_failed(struct doca_ctx *ctx);

/*
 * Any thread, also the owner: progress() has something to do. Never blocks; writes to the progress
 * engine's event fd only if the application armed it and nobody has written since. Ordering: what
 * was stored before is seen by the progress() that follows.
 */
CORE_EXPORT void doca_priv_ctx_wake(struct doca_ctx *ctx);

static inline bool core_ctx_is_idle(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_IDLE;
}

static inline bool core_ctx_is_running(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_RUNNING;
}

#endif /* CORE_CTX_H */
