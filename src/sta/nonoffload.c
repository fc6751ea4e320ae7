/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The non-offload path on the application's thread: the callback for each command, and the tasks
 * that fetch its data and answer it. A token is open until a send or write-and-send task for it was
 * submitted. Requests serve one command after another and applications may keep tasks, so a token
 * is more than its request: none comes twice in the life of a context.
 */
#include "sta/nonoffload.h"

#include <assert.h>
#include <string.h>

#include "sta/io.h"

#define MAX_TASKS (4 * STA_MAX_IOS_PER_EU)

/* A token: the number of its callback, and in the low bits the index of its request. */
#define TOKEN_INDEX_BITS 16
static_assert(STA_MAX_QUEUE_DEPTH <= 1 << TOKEN_INDEX_BITS, "a request's index fits into a token");

doca_error_t doca_sta_io_non_offload_register_cb(struct doca_sta_io *io,
						 doca_sta_io_non_offload_cb_t non_offload_cb,
						 union doca_data user_data)
{
	if (!io || !non_offload_cb)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_idle(&io->ctx))
		return DOCA_ERROR_BAD_STATE;
	io->non_offload_cb = non_offload_cb;
	io->non_offload_data = user_data;
	return DOCA_SUCCESS;
}

void sta_io_on_deliver(void *owner, struct sta_msg *msg)
{
	struct sta_req *req = util_container_of(msg, struct sta_req, msg);
	struct doca_sta_qp_handle *qp = req->qp;
	struct doca_sta_io *io = owner;
	const struct sta_sgl *sgl = &req->cap.sgl;

	qp->num_tokens++;
	/* The application has let go of the QP: what came late ends with it. */
	if (qp->is_draining || qp->is_destroyed)
		return;
	req->token = ++io->num_offered << TOKEN_INDEX_BITS | (uint64_t)(req - qp->reqs);
	io->non_offload_cb(qp, io->non_offload_data, (const uint8_t *)&req->sqe,
			   req->wait.slot ? req->wait.slot->data : NULL, sgl->bytes,
			   !sgl->is_keyed || sgl->bytes == 0, (union doca_data){.u64 = req->token});
}

void sta_io_on_task_done(void *owner, struct sta_msg *msg)
{
	struct sta_task *task = util_container_of(msg, struct sta_task, msg);
	struct doca_sta_qp_handle *qp = task->qp;

	(void)owner;
	task->req->has_task = false;
	if (task->is_last)
		qp->num_tokens--;
	/* The callback may destroy the QP. */
	sta_task_finish(task);
}

/* A number and nothing else: what goes with a task is ordered by the mailbox. */
static bool take_room(struct sta_eu *eu)
{
	if (atomic_fetch_add_explicit(&eu->num_tasks, 1, memory_order_relaxed) <
	    STA_MAX_TASKS_AT_EU)
		return true;
	atomic_fetch_sub_explicit(&eu->num_tasks, 1, memory_order_relaxed);
	return false;
}

static doca_error_t submit_with(struct sta_task *task, void (*fn)(void *eu, struct sta_msg *msg))
{
	struct doca_sta_qp_handle *qp = task->qp;
	struct sta_req *req = task->req;

	/* Answered, it may be another command's by now. */
	if (req->token != task->token || req->has_task)
		return DOCA_ERROR_BAD_STATE;
	/* Who knows the QP no more is not asked. */
	if (!qp->is_gone && !take_room(qp->eu))
		return DOCA_ERROR_AGAIN;
	req->has_task = true;
	if (task->is_last)
		req->token = 0;
	if (!qp->is_gone) {
		task->msg.fn = fn;
		sta_eu_post(qp->eu, &task->msg);
		return DOCA_SUCCESS;
	}
	/* The EU knows the QP no more. What the request holds goes back when it is destroyed. */
	qp->has_leftovers = true;
	task->result = DOCA_ERROR_IO_FAILED;
	task->msg.fn = sta_io_on_task_done;
	sta_io_post(qp->io, &task->msg);
	return DOCA_SUCCESS;
}

static doca_error_t submit_send(struct sta_task *task)
{
	return submit_with(task, sta_nonoff_on_send);
}

static doca_error_t submit_read(struct sta_task *task)
{
	return submit_with(task, sta_nonoff_on_read);
}

static const struct sta_task_kind send_kind = {submit_send};
static const struct sta_task_kind read_kind = {submit_read};

/* The request of a token, or NULL when it is none of the QP's open ones. */
static struct sta_req *req_of_token(struct doca_sta_qp_handle *qp, union doca_data token)
{
	uint64_t index = token.u64 & ((1 << TOKEN_INDEX_BITS) - 1);

	if (!token.u64 || !qp->reqs || index >= qp->depth)
		return NULL;
	return qp->reqs[index].token == token.u64 ? &qp->reqs[index] : NULL;
}

static doca_error_t alloc_send(struct doca_sta_io *io, union doca_data user_data,
			       struct doca_sta_qp_handle *qp, const uint8_t *completion,
			       union doca_data token, bool is_with_data,
			       struct doca_sta_producer_task_send **ret)
{
	struct sta_task *task;
	struct sta_req *req;
	doca_error_t err;

	if (!io || !ret || !completion || !sta_io_has_qp(io, qp))
		return DOCA_ERROR_INVALID_VALUE;
	req = req_of_token(qp, token);
	if (!req)
		return DOCA_ERROR_INVALID_VALUE;
	err = sta_task_alloc(io->send_pool, &io->send_cbs, &send_kind, user_data, &task);
	if (err != DOCA_SUCCESS)
		return err;
	sta_qp_hold_task(qp, task);
	task->req = req;
	task->token = req->token;
	task->is_last = true;
	task->is_with_data = is_with_data;
	memcpy(&task->cqe, completion, sizeof(task->cqe));
	*ret = sta_task_public(task);
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_task_non_offload_rdma_write_send_alloc_init(
	struct doca_sta_io *io, union doca_data user_data, struct doca_sta_qp_handle *qp,
	doca_sta_nvmef_completion_t completion, union doca_data non_offload_user_data,
	struct doca_sta_producer_task_send **ret)
{
	return alloc_send(io, user_data, qp, completion, non_offload_user_data, true, ret);
}

doca_error_t doca_sta_io_task_non_offload_rdma_send_alloc_init(
	struct doca_sta_io *io, union doca_data user_data, struct doca_sta_qp_handle *qp,
	doca_sta_nvmef_completion_t completion, union doca_data non_offload_user_data,
	struct doca_sta_producer_task_send **ret)
{
	return alloc_send(io, user_data, qp, completion, non_offload_user_data, false, ret);
}

doca_error_t doca_sta_io_task_non_offload_rdma_read_alloc_init(
	struct doca_sta_io *io, union doca_data user_data, struct doca_sta_qp_handle *qp,
	union doca_data non_offload_user_data, struct doca_sta_producer_task_send **ret)
{
	struct sta_task *task;
	struct sta_req *req;
	doca_error_t err;

	if (!io || !ret || !sta_io_has_qp(io, qp))
		return DOCA_ERROR_INVALID_VALUE;
	req = req_of_token(qp, non_offload_user_data);
	if (!req)
		return DOCA_ERROR_INVALID_VALUE;
	err = sta_task_alloc(io->read_pool, &io->read_cbs, &read_kind, user_data, &task);
	if (err != DOCA_SUCCESS)
		return err;
	sta_qp_hold_task(qp, task);
	task->req = req;
	task->token = req->token;
	*ret = sta_task_public(task);
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_task_non_offload_set_rdma_write_send_conf(
	struct doca_sta_io *io, doca_sta_task_completion_cb_t task_completion_cb,
	doca_sta_task_completion_cb_t task_error_cb)
{
	if (!io)
		return DOCA_ERROR_INVALID_VALUE;
	return sta_task_set_conf(&io->ctx, task_completion_cb, task_error_cb, MAX_TASKS,
				 &io->send_cbs, &io->send_pool);
}

doca_error_t doca_sta_io_task_non_offload_set_rdma_read_conf(
	struct doca_sta_io *io, doca_sta_task_completion_cb_t task_completion_cb,
	doca_sta_task_completion_cb_t task_error_cb)
{
	if (!io)
		return DOCA_ERROR_INVALID_VALUE;
	return sta_task_set_conf(&io->ctx, task_completion_cb, task_error_cb, MAX_TASKS,
				 &io->read_cbs, &io->read_pool);
}
