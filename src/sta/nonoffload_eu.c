/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The non-offload path on the EU: a command goes up to the application with a payload buffer of
 * its own, and tasks of the application come back. Payloads of up to a page come from slots that
 * I/O cannot take, so a Connect never waits behind I/O.
 */
#include "sta/eu.h"

#include <string.h>

#include "sta/io.h"
#include "sta/log.h"
#include "sta/nonoffload.h"

/* To the application, or back to it. */
static void open_request(struct sta_req *req)
{
	req->state = STA_REQ_APP;
	req->qp->num_app++;
}

/* Its data is here. */
static void say_connect(const struct sta_eu *eu, const struct sta_req *req)
{
	struct sta_connect conn;

	if (doca_priv_log_is_on(DOCA_LOG_LEVEL_DEBUG) && sta_capsule_is_connect(&req->sqe, &conn))
		sta_log_connect(eu, req);
}

static void deliver(struct sta_eu *eu, struct sta_req *req)
{
	sta_count(&eu->stats.non_offloaded, 1);
	open_request(req);
	req->msg.fn = sta_io_on_deliver;
	sta_io_post(req->qp->io, &req->msg);
}

void sta_nonoff_start(struct sta_eu *eu, struct sta_req *req)
{
	uint32_t bytes = req->cap.sgl.bytes;

	if (bytes == 0) {
		deliver(eu, req);
		return;
	}
	if (bytes > STA_MAX_IO_BYTES) {
		sta_count(&eu->stats.invalid_capsules, 1);
		sta_req_answer(eu, req, STA_SC_DNR(INVALID_FIELD));
		return;
	}
	req->state = STA_REQ_WAIT_SLOT;
	if (sta_pool_get(&eu->pool, &req->qp->slots, bytes, true, &req->wait))
		sta_nonoff_granted(eu, req);
}

void sta_nonoff_granted(struct sta_eu *eu, struct sta_req *req)
{
	const struct sta_sgl *sgl = &req->cap.sgl;
	uint8_t *payload = req->wait.slot->data;

	if (req->rx) {
		/* The payload lives until the response has left, the receive must not. */
		memcpy(payload, req->rx->data + sgl->addr, sgl->bytes);
		sta_xfer_post_rx(eu, req->rx);
		req->rx = NULL;
	} else {
		/* Other hosts' data was here; the application may fill less than it sends. */
		memset(payload, 0, sgl->bytes);
	}
	if (!sgl->is_keyed)
		say_connect(eu, req);
	deliver(eu, req);
}

static struct sta_req *take_back(struct sta_eu *eu, struct sta_task *task)
{
	struct sta_req *req = task->req;

	atomic_fetch_sub_explicit(&eu->num_tasks, 1, memory_order_relaxed);
	req->task = task;
	req->qp->num_app--;
	return req;
}

void sta_nonoff_on_send(void *owner, struct sta_msg *msg)
{
	struct sta_task *task = util_container_of(msg, struct sta_task, msg);
	struct sta_req *req = take_back(owner, task);
	struct sta_connect conn;
	uint32_t bytes = 0;

	req->result = (struct sta_result){
		.status = (sta_status_t)(le16toh(task->cqe.status) >> 1),
		.dw0 = le32toh(task->cqe.dw0),
		.dw1 = le32toh(task->cqe.dw1),
	};
	if (task->is_with_data && req->wait.slot && req->cap.dir == STA_DATA_TO_HOST)
		bytes = req->cap.sgl.bytes;
	if (sta_capsule_is_connect(&req->sqe, &conn)) {
		req->qp->is_connected |= req->result.status == 0;
		if (doca_priv_log_is_on(DOCA_LOG_LEVEL_DEBUG))
			sta_log_connected(owner, req);
	}
	sta_req_respond(owner, req, bytes);
}

void sta_nonoff_on_read(void *owner, struct sta_msg *msg)
{
	struct sta_task *task = util_container_of(msg, struct sta_task, msg);
	struct sta_req *req = take_back(owner, task);

	if (req->qp->state == STA_QP_FAILED || !req->cap.sgl.is_keyed || !req->wait.slot) {
		sta_nonoff_fetched(owner, req);
		return;
	}
	req->state = STA_REQ_FETCH;
	sta_xfer_read(owner, req, req->cap.sgl.bytes);
}

static void finish_task(struct sta_req *req)
{
	struct sta_task *task = req->task;

	req->task = NULL;
	task->result = req->qp->state == STA_QP_FAILED ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
	task->msg.fn = sta_io_on_task_done;
	sta_io_post(req->qp->io, &task->msg);
}

/* The application still owes the response, also when the read failed. */
void sta_nonoff_fetched(struct sta_eu *eu, struct sta_req *req)
{
	if (req->qp->state != STA_QP_FAILED)
		say_connect(eu, req);
	open_request(req);
	finish_task(req);
}

void sta_nonoff_responded(struct sta_eu *eu, struct sta_req *req)
{
	(void)eu;
	finish_task(req);
}
