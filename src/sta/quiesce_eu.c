/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QP whose STA IO context stops: what its host has in flight is answered first, for a bounded
 * time. The EU then tells the control path, which disconnects and drains.
 */
#include "sta/eu.h"

#include "sta/io.h"
#include "sta/log.h"

/* Requests that the host waits for; @is_at_backend: is one of them not in our hands? */
static uint32_t count_owed(const struct doca_sta_qp_handle *qp, bool *is_at_backend)
{
	uint32_t num = qp->is_held_up; /* and those that wait for their turn */

	*is_at_backend = false;
	for (uint32_t i = 0; i < qp->depth && qp->num_busy; i++) {
		const struct sta_req *req = &qp->reqs[i];

		/* A late command was answered; its buffers are what is left. The application
		 * answers no more. */
		if (req->state == STA_REQ_FREE || req->state == STA_REQ_APP ||
		    (req->state == STA_REQ_EXECUTE && req->is_late))
			continue;
		num++;
		*is_at_backend |= req->state == STA_REQ_EXECUTE;
	}
	return num;
}

static bool is_over(const struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	uint64_t since_ns = eu->now_ns - qp->quiesce_ns;
	bool is_at_backend;
	uint32_t num_owed;

	/* Nobody is there to be answered: not yet, or no more. */
	if (qp->state != STA_QP_LIVE || since_ns >= STA_QUIESCE_NS)
		return true;
	qp->is_refusing = since_ns >= STA_QUIESCE_TAKE_NS;
	num_owed = count_owed(qp, &is_at_backend);
	if (num_owed != qp->num_owed || is_at_backend)
		qp->moved_ns = eu->now_ns;
	qp->num_owed = num_owed;
	if (num_owed)
		return eu->now_ns - qp->moved_ns >= STA_QUIESCE_STALL_NS;
	return qp->is_refusing || eu->now_ns - qp->moved_ns >= STA_QUIESCE_QUIET_NS;
}

void sta_qp_check_quiescing(struct sta_eu *eu)
{
	struct doca_sta_qp_handle **p = &eu->quiescing;
	struct doca_sta_qp_handle *qp;

	while ((qp = *p)) {
		if (!is_over(eu, qp)) {
			p = &qp->next_quiescing;
			continue;
		}
		*p = qp->next_quiescing;
		sta_debug("qp", "qp %u: quiet, %u answers are still owed, eu %u", qp->qpn,
			  qp->num_owed, eu->idx);
		sta_io_post(qp->io, &qp->quiesced_msg);
	}
}

void sta_qp_stop_quiescing(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	struct doca_sta_qp_handle **p = &eu->quiescing;

	while (*p && *p != qp)
		p = &(*p)->next_quiescing;
	if (*p)
		*p = qp->next_quiescing;
}

void sta_qp_on_quiesce(void *owner, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *qp =
		util_container_of(msg, struct doca_sta_qp_handle, quiesce_msg);
	struct sta_eu *eu = owner;

	qp->quiesce_ns = eu->now_ns;
	qp->moved_ns = eu->now_ns;
	qp->next_quiescing = eu->quiescing;
	eu->quiescing = qp;
}
