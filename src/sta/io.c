/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STA IO context: life cycle, and the disconnect task.
 */
#include "sta/io.h"

#include <stdlib.h>

#include "sta/log.h"

static struct doca_sta_io *from_ctx(struct doca_ctx *ctx)
{
	return util_container_of(ctx, struct doca_sta_io, ctx);
}

static doca_error_t ctx_start(struct doca_ctx *ctx)
{
	struct doca_sta_io *io = from_ctx(ctx);

	/* A queue's first command, Connect, is the application's. The EUs are there: STA does not
	 * stop while it has IO contexts. */
	if (!io->non_offload_cb)
		return DOCA_ERROR_INVALID_VALUE;
	io->is_stopped = false;
	sta_debug("io", "sta io %p: started", (void *)io);
	return DOCA_SUCCESS;
}

static doca_error_t ctx_stop(struct doca_ctx *ctx)
{
	struct doca_sta_io *io = from_ctx(ctx);

	sta_debug("io", "sta io %p: stopping, %u qps are left", (void *)io, io->num_qps);
	sta_qp_destroy_all(io);
	io->is_stopped = io->num_qps == 0;
	return io->is_stopped ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

static bool ctx_progress(struct doca_ctx *ctx)
{
	struct doca_sta_io *io = from_ctx(ctx);

	if (sta_inbox_run_one(&io->inbox, io))
		return true;
	if (ctx->state != DOCA_CTX_STATE_STOPPING || io->num_qps || io->is_stopped)
		return false;
	io->is_stopped = true;
	sta_debug("io", "sta io %p: its qps are gone", (void *)io);
	doca_priv_ctx_stopped(ctx);
	return true;
}

static void ctx_flush(struct doca_ctx *ctx)
{
	/* Every task starts when it is submitted. */
	(void)ctx;
}

static const struct core_ctx_ops ctx_ops = {
	.start = ctx_start,
	.stop = ctx_stop,
	.progress = ctx_progress,
	.flush = ctx_flush,
};

/* One more IO context, for which the STA context stays. */
static doca_error_t enter(struct doca_sta *sta)
{
	doca_error_t err = DOCA_SUCCESS;

	pthread_mutex_lock(&sta->lock);
	/* Open a moment before it is RUNNING, and closed before it ceases to be. */
	if (!sta->is_open || !sta_is_running(sta))
		err = DOCA_ERROR_BAD_STATE;
	else if (atomic_load(&sta->num_io) >= sta->max_io)
		err = DOCA_ERROR_NO_MEMORY;
	else
		atomic_fetch_add(&sta->num_io, 1);
	pthread_mutex_unlock(&sta->lock);
	return err;
}

doca_error_t doca_sta_io_create(struct doca_sta *sta, struct doca_sta_io **ret)
{
	struct doca_sta_io *io;
	doca_error_t err;

	if (!sta || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	err = enter(sta);
	if (err != DOCA_SUCCESS)
		return err;
	io = calloc(1, sizeof(*io));
	if (!io) {
		atomic_fetch_sub(&sta->num_io, 1);
		return DOCA_ERROR_NO_MEMORY;
	}
	doca_priv_ctx_init(&io->ctx, &ctx_ops);
	io->sta = sta;
	sta_debug("io", "sta io %p: created", (void *)io);
	*ret = io;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_destroy(struct doca_sta_io *io)
{
	doca_error_t err;

	if (!io)
		return DOCA_ERROR_INVALID_VALUE;
	if (core_ctx_is_idle(&io->ctx))
		sta_inbox_settle(&io->inbox);
	err = doca_priv_ctx_fini(&io->ctx);
	if (err != DOCA_SUCCESS)
		return err;
	doca_priv_task_pool_destroy(io->disconnect_pool);
	doca_priv_task_pool_destroy(io->send_pool);
	doca_priv_task_pool_destroy(io->read_pool);
	atomic_fetch_sub(&io->sta->num_io, 1);
	sta_debug("io", "sta io %p: destroyed", (void *)io);
	free(io);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_sta_io_as_ctx(struct doca_sta_io *io)
{
	return io ? &io->ctx : NULL;
}

static void on_disconnected_already(void *owner, struct sta_msg *msg)
{
	(void)owner;
	sta_task_finish(util_container_of(msg, struct sta_task, msg));
}

static doca_error_t submit_disconnect(struct sta_task *task)
{
	struct doca_sta_qp_handle *qp = task->qp;

	task->result = DOCA_SUCCESS;
	if (qp->is_gone || !qp->qp) {
		/* Nothing to wait for; but never complete inside submit. */
		task->msg.fn = on_disconnected_already;
		sta_io_post(qp->io, &task->msg);
		return DOCA_SUCCESS;
	}
	task->next = qp->disconnects;
	qp->disconnects = task;
	sta_qp_start_drain(qp);
	return DOCA_SUCCESS;
}

static const struct sta_task_kind disconnect_kind = {submit_disconnect};

doca_error_t doca_sta_io_task_disconnect_set_conf(struct doca_sta_io *io,
						  doca_sta_task_completion_cb_t task_completion_cb,
						  doca_sta_task_completion_cb_t task_error_cb)
{
	if (!io)
		return DOCA_ERROR_INVALID_VALUE;
	return sta_task_set_conf(&io->ctx, task_completion_cb, task_error_cb, STA_MAX_QPS,
				 &io->disconnect_cbs, &io->disconnect_pool);
}

doca_error_t doca_sta_io_task_disconnect_alloc_init(struct doca_sta_io *io,
						    union doca_data user_data,
						    struct doca_sta_qp_handle *qp,
						    struct doca_sta_producer_task_send **ret)
{
	struct sta_task *task;
	doca_error_t err;

	if (!io || !ret || !sta_io_has_qp(io, qp))
		return DOCA_ERROR_INVALID_VALUE;
	err = sta_task_alloc(io->disconnect_pool, &io->disconnect_cbs, &disconnect_kind, user_data,
			     &task);
	if (err != DOCA_SUCCESS)
		return err;
	sta_qp_hold_task(qp, task);
	*ret = sta_task_public(task);
	return DOCA_SUCCESS;
}
