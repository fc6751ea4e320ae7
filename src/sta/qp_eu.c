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

static bool has_room(const struct sta_eu *eu, const struct doca_sta_qp_handle *qp)
{
	return eu->num_held < STA_MAX_IOS_PER_EU - (qp->is_connected ? STA_CONNECT_IOS_PER_EU : 0);
}

static bool is_its_turn(const struct sta_eu *eu, const struct doca_sta_qp_handle *qp)
{
	return has_room(eu, qp) && !(qp->is_connected && eu->held_up);
}

static bool can_run(const struct doca_sta_qp_handle *qp)
{
	return qp->state == STA_QP_LIVE && qp->free_reqs && qp->pending;
}

static void hold_up(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	if (qp->is_held_up)
		return;
	qp->is_held_up = true;
	if (!eu->held_up)
		eu->held_up_tail = &eu->held_up;
	if (qp->is_connected) {
		qp->next_held_up = NULL;
		*eu->held_up_tail = qp;
		eu->held_up_tail = &qp->next_held_up;
		return;
	}
	qp->next_held_up = eu->held_up;
	eu->held_up = qp;
	if (!qp->next_held_up)
		eu->held_up_tail = &qp->next_held_up;
}

static void unlink_held_up(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	struct doca_sta_qp_handle **p = &eu->held_up;

	if (!qp->is_held_up)
		return;
	while (*p != qp)
		p = &(*p)->next_held_up;
	*p = qp->next_held_up;
	if (!*p)
		eu->held_up_tail = p;
	qp->is_held_up = false;
}

static void run_next(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	struct sta_rx *rx = qp->pending;

	qp->pending = rx->next;
	if (!qp->pending)
		qp->pending_tail = &qp->pending;
	run(eu, qp, rx);
}

void sta_qp_run_pending(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	while (can_run(qp)) {
		if (!is_its_turn(eu, qp)) {
			hold_up(eu, qp);
			return;
		}
		run_next(eu, qp);
	}
}

unsigned int sta_qp_admit(struct sta_eu *eu)
{
	struct doca_sta_qp_handle *qp;
	unsigned int n = 0;

	while ((qp = eu->held_up) && has_room(eu, qp)) {
		unlink_held_up(eu, qp);
		if (!can_run(qp))
			continue;
		run_next(eu, qp);
		n++;
		if (can_run(qp))
			hold_up(eu, qp);
	}
	return n;
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
	rx->next = NULL;
	*qp->pending_tail = rx;
	qp->pending_tail = &rx->next;
	sta_qp_run_pending(eu, qp);
}

static void drop_waiting(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	sta_pool_forget(&eu->pool, &qp->slots);
	for (uint32_t i = 0; i < qp->depth; i++) {
		struct sta_req *req = &qp->reqs[i];

		if (req->state == STA_REQ_WAIT_SLOT)
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
	unlink_held_up(eu, qp);
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
		sta_pool_leave(&eu->pool, &qp->slots);
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
	sta_pool_join(&((struct sta_eu *)owner)->pool, &qp->slots);
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

/* The application destroyed a QP with open callbacks: what they held goes back. */
void sta_qp_on_reap(void *owner, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *qp = util_container_of(msg, struct doca_sta_qp_handle, reap_msg);
	struct sta_eu *eu = owner;

	for (uint32_t i = 0; i < qp->depth; i++) {
		struct sta_slot *slot = qp->reqs[i].wait.slot;

		if (slot)
			sta_pool_put(&eu->pool, slot);
		qp->reqs[i].wait.slot = NULL;
		eu->num_held -= qp->reqs[i].is_counted;
		qp->reqs[i].is_counted = false;
	}
	sta_io_post(qp->io, &qp->reaped_msg);
}
