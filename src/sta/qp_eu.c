/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QP on its EU: capsules that arrive, the hold-up until the connection is established, failure
 * and draining. A failed QP stays parked with its memory until the application disconnects or
 * destroys it; only then the EU reports it drained, and touches it no more.
 */
#include "sta/eu.h"

#include "sta/io.h"
#include "sta/log.h"

static void run(struct sta_eu *eu, struct doca_sta_qp_handle *qp, struct sta_rx *rx)
{
	struct sta_connect conn;

	if (!qp->is_connected && sta_capsule_is_connect(rx->sqe, &conn)) {
		qp->qid = conn.qid;
		qp->is_flow_control_off = conn.is_flow_control_off;
	}
	sta_req_start(eu, qp, rx);
}

void sta_qp_run_pending(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	struct sta_rx *rx;

	while (qp->state == STA_QP_LIVE && qp->free_reqs && qp->pending) {
		rx = qp->pending;
		qp->pending = rx->next;
		if (!qp->pending)
			qp->pending_tail = &qp->pending;
		run(eu, qp, rx);
	}
}

void sta_qp_received(struct sta_eu *eu, struct sta_rx *rx, uint32_t bytes)
{
	struct doca_sta_qp_handle *qp = rx->wr.qp;

	if (qp->state == STA_QP_FAILED || qp->is_refusing)
		return;
	qp->moved_ns = eu->now_ns;
	/* NVMe over Fabrics 1.1, 2.1: a capsule is never shorter than its command. There is no
	 * command to answer, so the connection ends. */
	if (bytes < STA_SQE_BYTES) {
		sta_count(&eu->stats.short_capsules, 1);
		sta_qp_fail(eu, qp, STA_WR_RECV, IBV_WC_LOC_LEN_ERR, 0);
		return;
	}
	rx->bytes = bytes;
	if (qp->state == STA_QP_LIVE && qp->free_reqs && !qp->pending) {
		run(eu, qp, rx);
		return;
	}
	rx->next = NULL;
	*qp->pending_tail = rx;
	qp->pending_tail = &rx->next;
}

static void drop_waiting(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	for (uint32_t i = 0; i < qp->depth; i++) {
		struct sta_req *req = &qp->reqs[i];

		if (req->state != STA_REQ_WAIT_SLOT)
			continue;
		sta_pool_cancel(&eu->pool, &req->wait);
		sta_req_drop(eu, req);
	}
}

static const char *wr_name(enum sta_wr_kind kind)
{
	switch (kind) {
	case STA_WR_RECV:
		return "receive";
	case STA_WR_READ:
		return "read";
	case STA_WR_WRITE:
		return "write";
	case STA_WR_SEND:
		return "send";
	}
	__builtin_unreachable();
}

void sta_qp_fail(struct sta_eu *eu, struct doca_sta_qp_handle *qp, enum sta_wr_kind kind,
		 enum ibv_wc_status status, uint32_t vendor)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (qp->state == STA_QP_FAILED)
		return;
	qp->state = STA_QP_FAILED;
	qp->pending = NULL;
	qp->pending_tail = &qp->pending;
	/* Everything posted comes back flushed; in error already it does so by itself. */
	(void)ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE);
	sta_debug("qp", "qp %u: in error: a %s ended with status %u, vendor error 0x%x, eu %u",
		  qp->qpn, wr_name(kind), status, vendor, eu->idx);
	/* A flush is how a connection ends that somebody closed: no error. */
	if (status != IBV_WC_WR_FLUSH_ERR && !qp->is_drain_wanted) {
		sta_count(&eu->stats.transport_errors, 1);
		qp->error_kind = kind;
		qp->error_status = status;
		qp->error_vendor = vendor;
		sta_io_post(qp->io, &qp->error_msg);
	}
	drop_waiting(eu, qp);
}

static bool is_drained(const struct doca_sta_qp_handle *qp)
{
	return !qp->num_posted_rx && !qp->num_posted_tx && qp->num_busy == qp->num_app;
}

void sta_qp_report_drained(struct sta_eu *eu)
{
	struct doca_sta_qp_handle **p = &eu->draining;
	struct doca_sta_qp_handle *qp;

	while ((qp = *p)) {
		if (!is_drained(qp)) {
			p = &qp->next_draining;
			continue;
		}
		*p = qp->next_draining;
		sta_debug("qp", "qp %u: drained, eu %u", qp->qpn, eu->idx);
		sta_io_post(qp->io, &qp->drained_msg);
	}
}

void sta_qp_on_established(void *owner, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *qp =
		util_container_of(msg, struct doca_sta_qp_handle, established_msg);

	if (qp->state != STA_QP_ACCEPTED)
		return;
	qp->state = STA_QP_LIVE;
	sta_debug("qp", "qp %u: live on eu %u", qp->qpn, qp->eu->idx);
	sta_eu_check_cq(owner, qp);
	sta_qp_run_pending(owner, qp);
}

void sta_qp_on_drain(void *owner, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *qp =
		util_container_of(msg, struct doca_sta_qp_handle, drain_msg);

	struct sta_eu *eu = owner;

	qp->is_drain_wanted = true;
	sta_qp_stop_quiescing(eu, qp);
	sta_qp_fail(eu, qp, STA_WR_RECV, IBV_WC_WR_FLUSH_ERR, 0);
	sta_eu_check_cq(eu, qp);
	qp->next_draining = eu->draining;
	eu->draining = qp;
}

/* The application destroyed a QP with open callbacks: their staging slots go back. */
void sta_qp_on_reap(void *owner, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *qp = util_container_of(msg, struct doca_sta_qp_handle, reap_msg);
	struct sta_eu *eu = owner;

	for (uint32_t i = 0; i < qp->depth; i++) {
		struct sta_slot *slot = qp->reqs[i].wait.slot;

		if (slot)
			sta_pool_put(&eu->pool, slot);
		qp->reqs[i].wait.slot = NULL;
	}
	sta_io_post(qp->io, &qp->reaped_msg);
}
