/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requester, receiving side: ACKs, NAKs and READ responses (IBTA 9.7.5, 9.7.6). Moves una, stores
 * READ data, completes send requests in order. What to send again and when is retrans.c's.
 */
#include "roce/proto/rc_priv.h"

static uint32_t wqe_left(const struct roce_requester *req, const struct roce_swqe *wqe)
{
	return wqe->num_pkts - roce_psn_make(req->una.v - wqe->first_psn.v).v;
}

static void pop_reads(struct roce_requester *req)
{
	while (req->num_reads && roce_psn_diff(req->una, req->read_ends[req->first_read]) >= 0) {
		req->first_read = (req->first_read + 1) % ROCE_MAX_RD_ATOM;
		req->num_reads--;
		req->reads_sent -= req->reads_sent > 0;
	}
}

/* n PSNs of the oldest request are acknowledged. */
static void take_psns(struct roce_rc *rc, uint32_t n, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;
	bool is_all = n == wqe_left(req, roce_swqe_at(req, req->done));

	req->una = roce_psn_add(req->una, n);
	pop_reads(req);
	roce_retrans_progress(rc, n, now_ns);
	if (is_all) {
		rc->counters.tx_msgs++;
		roce_rc_send_done(rc, IBV_WC_SUCCESS);
	}
	/* Acknowledged before it was sent again. */
	if (roce_psn_diff(req->una, req->nxt) > 0)
		roce_requester_rewind(rc);
}

/*
 * Everything before end is acknowledged. False when a READ is in the way: an acknowledgement beyond
 * a READ says that its responses were sent, so they are lost (IBTA 9.7.5.1.1).
 */
static bool ack_up_to(struct roce_rc *rc, roce_psn end, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;

	while (roce_psn_diff(end, req->una) > 0) {
		struct roce_swqe *wqe = roce_swqe_at(req, req->done);
		uint32_t n = (uint32_t)roce_psn_diff(end, req->una), left;

		if (wqe->opcode == IBV_WR_RDMA_READ)
			return false;
		left = wqe_left(req, wqe);
		take_psns(rc, n < left ? n : left, now_ns);
	}
	return true;
}

/* A request that could not be sent was waiting to be the oldest. */
static void fail_unsent(struct roce_rc *rc)
{
	struct roce_requester *req = &rc->req;
	uint8_t status;

	if (rc->state != ROCE_RC_RTS || req->done != req->next || req->done == req->posted)
		return;
	status = roce_swqe_at(req, req->done)->status;
	if (status != IBV_WC_SUCCESS)
		roce_requester_fail(rc, status);
}

static void input_nak(struct roce_rc *rc, const struct roce_pkt *pkt, uint64_t now_ns)
{
	static const enum ibv_wc_status status[ROCE_NAK_KINDS] = {
		[ROCE_NAK_INVALID_REQUEST] = IBV_WC_REM_INV_REQ_ERR,
		[ROCE_NAK_REMOTE_ACCESS] = IBV_WC_REM_ACCESS_ERR,
		[ROCE_NAK_REMOTE_OPERATION] = IBV_WC_REM_OP_ERR,
		[ROCE_NAK_INVALID_RD_REQUEST] = IBV_WC_REM_INV_RD_REQ_ERR,
	};
	unsigned int code = pkt->syndrome & ROCE_AETH_VALUE_MASK;

	if (code >= ROCE_NAK_KINDS) {
		rc->counters.bad_responses++;
		return;
	}
	rc->counters.rx_nak[code]++;
	(void)ack_up_to(rc, pkt->psn, now_ns);
	if (code == ROCE_NAK_SEQUENCE)
		roce_retrans_loss(rc, now_ns);
	else
		roce_requester_fail(rc, status[code]);
}

static void input_ack(struct roce_rc *rc, const struct roce_pkt *pkt, uint64_t now_ns)
{
	switch (pkt->syndrome & ROCE_AETH_KIND_MASK) {
	case ROCE_AETH_ACK:
		if (!ack_up_to(rc, roce_psn_add(pkt->psn, 1), now_ns))
			roce_retrans_gap(rc, pkt->psn, now_ns);
		break;
	case ROCE_AETH_RNR:
		rc->counters.rx_rnr++;
		if (ack_up_to(rc, pkt->psn, now_ns))
			roce_retrans_rnr(rc, pkt->syndrome & ROCE_AETH_VALUE_MASK, now_ns);
		else
			roce_retrans_gap(rc, pkt->psn, now_ns);
		break;
	case ROCE_AETH_NAK:
		input_nak(rc, pkt, now_ns);
		break;
	default:
		rc->counters.bad_responses++;
	}
}

/*
 * FIRST, MIDDLE, LAST and ONLY are not told apart: after a READ was asked for again, the rest of
 * the first answer may still be under way and is as good. PSN and length say all.
 */
static void input_read_response(struct roce_rc *rc, const struct roce_pkt *pkt, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;
	const struct roce_swqe *wqe;
	const struct ibv_sge *sges;
	uint32_t at, len;

	if (!ack_up_to(rc, pkt->psn, now_ns)) {
		roce_retrans_gap(rc, pkt->psn, now_ns);
		return;
	}
	wqe = roce_swqe_at(req, req->done);
	if (wqe->opcode != IBV_WR_RDMA_READ) {
		rc->counters.bad_responses++;
		return;
	}
	at = (wqe->num_pkts - wqe_left(req, wqe)) * rc->mtu;
	len = wqe->bytes - at < rc->mtu ? wqe->bytes - at : rc->mtu;
	if (pkt->payload_len != len) {
		rc->counters.bad_responses++;
		return;
	}
	sges = roce_swqe_sges(req, req->done);
	if (req->read_cursor.pos != at)
		roce_sge_seek(&req->read_cursor, sges, at);
	roce_sge_scatter(&req->read_cursor, sges, pkt->payload, len);
	take_psns(rc, 1, now_ns);
}

void roce_completer_input(struct roce_rc *rc, const struct roce_pkt *pkt, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;

	if (roce_psn_diff(pkt->psn, req->una) < 0) {
		rc->counters.dup_acks++;
		return;
	}
	if (roce_psn_diff(pkt->psn, req->max) >= 0) {
		rc->counters.ghost_acks++;
		return;
	}
	if (pkt->opcode == ROCE_RC_ACK)
		input_ack(rc, pkt, now_ns);
	else if (roce_ops[pkt->opcode].flags & ROCE_OP_READ)
		input_read_response(rc, pkt, now_ns);
	else
		rc->counters.bad_responses++;
	fail_unsent(rc);
}
