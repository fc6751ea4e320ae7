/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request machine: one function per event of a command's life. docs/design/sta.md draws it.
 *
 *   FREE -> [WAIT_SLOT] -> [FETCH] -> EXECUTE -> RESPOND -> FREE	offloaded
 *   FREE -> [WAIT_SLOT] -> APP -> [FETCH -> APP] -> RESPOND -> FREE	non-offloaded
 *
 * A request that the back-end holds beyond its time is answered and goes on being held: its
 * buffers are the controller's until the command comes back.
 */
#include "sta/eu.h"

#include "sta/event.h"
#include "sta/log.h"
#include "sta/ns.h"

/* About to be answered, or dropped: it counts no more for its namespace and its EU. */
static void uncount(struct sta_eu *eu, struct sta_req *req)
{
	eu->num_held -= req->is_counted;
	req->is_counted = false;
	if (!req->ns)
		return;
	req->ns->eu[eu->idx].num_inflight--;
	req->ns = NULL;
}

/* Neither posted nor at a back-end: back to the QP. */
static void recycle(struct sta_eu *eu, struct sta_req *req)
{
	struct doca_sta_qp_handle *qp = req->qp;

	uncount(eu, req);
	if (req->wait.slot)
		sta_pool_put(&eu->pool, req->wait.slot);
	req->wait.slot = NULL;
	if (req->rx)
		sta_xfer_post_rx(eu, req->rx);
	req->rx = NULL;
	req->state = STA_REQ_FREE;
	req->next = qp->free_reqs;
	qp->free_reqs = req;
	qp->num_busy--;
	sta_qp_run_pending(eu, qp);
}

void sta_req_respond(struct sta_eu *eu, struct sta_req *req, uint32_t data_bytes)
{
	struct doca_sta_qp_handle *qp = req->qp;
	struct sta_cqe *rsp = req->rsp;
	uint32_t sq_size = atomic_load_explicit(&qp->sq_size, memory_order_relaxed);

	uncount(eu, req);
	if (qp->state == STA_QP_FAILED) {
		sta_req_drop(eu, req);
		return;
	}
	if (doca_priv_log_is_on(DOCA_LOG_LEVEL_TRACE))
		sta_log_command(eu, req, "");
	/* The receive goes back before the response lets the host send again. */
	if (req->rx && !req->is_at_backend) {
		sta_xfer_post_rx(eu, req->rx);
		req->rx = NULL;
	}
	qp->sqhd = qp->sqhd + 1 < sq_size ? qp->sqhd + 1 : 0;
	rsp->dw0 = htole32(req->result.dw0);
	rsp->dw1 = htole32(req->result.dw1);
	rsp->sqhd = htole16(qp->is_flow_control_off ? 0xffff : (uint16_t)qp->sqhd);
	rsp->sqid = htole16(qp->qid);
	rsp->cid = req->sqe.cid;
	rsp->status = htole16((uint16_t)(req->result.status << 1));
	req->state = STA_REQ_RESPOND;
	sta_xfer_respond(eu, req, data_bytes);
}

void sta_req_answer(struct sta_eu *eu, struct sta_req *req, sta_status_t status)
{
	req->result = (struct sta_result){.status = status};
	sta_req_respond(eu, req, 0);
}

static void reject(struct sta_eu *eu, struct sta_req *req, sta_status_t status)
{
	sta_count(&eu->stats.invalid_capsules, 1);
	req->result = (struct sta_result){.status = status};
	sta_event_cqe_notify(eu, req, DOCA_STA_CQE_NOTIF_NVME_OF_VALIDATION_ERR);
	sta_req_answer(eu, req, status);
}

static void at_other_eu(void *owner, struct sta_msg *msg)
{
	sta_beq_execute(owner, util_container_of(msg, struct sta_req, msg));
}

static void execute(struct sta_eu *eu, struct sta_req *req)
{
	struct doca_sta_be_q_handle *beq = sta_ns_route(req->ns, eu->idx);

	if (!beq) {
		/* The back-end has no queue now; it may get one. */
		sta_req_answer(eu, req, STA_SC_NO_PATH);
		return;
	}
	req->state = STA_REQ_EXECUTE;
	req->is_at_backend = true;
	req->beq = beq;
	if (beq->eu == eu) {
		sta_beq_execute(eu, req);
		return;
	}
	sta_count(&eu->stats.crossed, 1);
	req->msg.fn = at_other_eu;
	sta_eu_post(beq->eu, &req->msg);
}

static void start_io(struct sta_eu *eu, struct sta_req *req)
{
	struct doca_sta_subs_handle *subsys =
		atomic_load_explicit(&req->qp->subsys, memory_order_acquire);
	sta_status_t status;

	req->ns = sta_subsys_find_ns(subsys, le32toh(req->sqe.nsid));
	if (!req->ns) {
		req->cap.err_byte = offsetof(struct sta_sqe, nsid);
		reject(eu, req, STA_SC_DNR(INVALID_NS));
		return;
	}
	req->ns->eu[eu->idx].num_inflight++;
	status = sta_capsule_check_io(&req->sqe, req->ns->block_bytes, STA_MAX_IO_BYTES, &req->cap);
	if (status) {
		reject(eu, req, status);
		return;
	}
	if (req->cap.data_bytes == 0 || !req->cap.sgl.is_keyed) {
		execute(eu, req);
		return;
	}
	req->state = STA_REQ_WAIT_SLOT;
	if (sta_pool_get(&eu->pool, &req->qp->slots, req->cap.data_bytes, false, &req->wait))
		sta_req_granted(eu, req);
}

void sta_req_start(struct sta_eu *eu, struct doca_sta_qp_handle *qp, struct sta_rx *rx)
{
	struct sta_req *req = qp->free_reqs;
	sta_status_t status;

	qp->free_reqs = req->next;
	qp->num_busy++;
	req->is_counted = true;
	eu->num_held++;
	sta_count(&eu->stats.capsules, 1);
	req->is_late = false;
	req->task = NULL;
	req->sqe = *rx->sqe;
	status = sta_capsule_parse(&req->sqe, STA_ICD_BYTES, rx->bytes - STA_SQE_BYTES, &req->cap);
	/* Before Connect is answered nothing is offloaded. */
	if (!qp->is_connected)
		req->cap.kind = STA_CMD_NON_OFFLOAD;
	if (status || req->cap.sgl.is_keyed || req->cap.sgl.bytes == 0)
		sta_xfer_post_rx(eu, rx);
	else
		req->rx = rx;
	if (status)
		reject(eu, req, status);
	else if (req->cap.kind == STA_CMD_NON_OFFLOAD)
		sta_nonoff_start(eu, req);
	else
		start_io(eu, req);
}

void sta_req_granted(struct sta_eu *eu, struct sta_req *req)
{
	if (req->cap.kind == STA_CMD_NON_OFFLOAD) {
		sta_nonoff_granted(eu, req);
		return;
	}
	if (req->cap.dir == STA_DATA_TO_HOST) {
		execute(eu, req);
		return;
	}
	req->state = STA_REQ_FETCH;
	sta_xfer_read(eu, req, req->cap.data_bytes);
}

void sta_req_fetched(struct sta_eu *eu, struct sta_req *req)
{
	if (req->task)
		sta_nonoff_fetched(eu, req);
	else if (req->qp->state == STA_QP_FAILED)
		sta_req_drop(eu, req);
	else
		execute(eu, req);
}

void sta_req_executed(struct sta_eu *eu, struct sta_req *req)
{
	bool is_read = req->cap.dir == STA_DATA_TO_HOST;

	req->is_at_backend = false;
	if (req->is_late) {
		sta_count(&eu->stats.late_returns, 1);
		sta_debug("be", "qp %u: cid %u is back from the back-end, late", req->qp->qpn,
			  le16toh(req->sqe.cid));
		if (req->state != STA_REQ_RESPOND)
			recycle(eu, req);
		return;
	}
	req->result = req->from_be;
	sta_ns_count(req->ns, eu->idx, &req->cap, req->sqe.opcode, req->result.status);
	if (req->result.status) {
		sta_count(&eu->stats.backend_errors, 1);
		sta_event_cqe_notify(eu, req, DOCA_STA_CQE_NOTIF_NVME_COMP_ERR);
	}
	sta_req_respond(eu, req, is_read && !req->result.status ? req->cap.data_bytes : 0);
}

void sta_req_timed_out(struct sta_eu *eu, struct sta_req *req)
{
	sta_count(&eu->stats.backend_timeouts, 1);
	req->is_late = true;
	if (req->qp->state == STA_QP_FAILED) {
		uncount(eu, req);
		return;
	}
	sta_req_answer(eu, req, STA_SC(INTERNAL));
}

void sta_req_responded(struct sta_eu *eu, struct sta_req *req)
{
	if (req->task)
		sta_nonoff_responded(eu, req);
	if (req->is_at_backend)
		req->state = STA_REQ_EXECUTE;
	else
		recycle(eu, req);
}

void sta_req_drop(struct sta_eu *eu, struct sta_req *req)
{
	sta_count(&eu->stats.dropped, 1);
	if (doca_priv_log_is_on(DOCA_LOG_LEVEL_TRACE))
		sta_log_command(eu, req, ", dropped: the connection has failed");
	if (req->task)
		sta_nonoff_responded(eu, req);
	if (!req->is_at_backend)
		recycle(eu, req);
}
