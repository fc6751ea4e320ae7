/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requester, sending side: turns the send ring into request packets, within the window, READ limit
 * and fences (IBTA 9.7.2, 10.8.3.3). Owns next, next_pkt, nxt and max. What comes back is the
 * completer's.
 */
#include "roce/proto/rc_priv.h"

static bool is_send_or_write(const struct roce_swqe *wqe)
{
	return wqe->opcode != IBV_WR_RDMA_READ && wqe->opcode != IBV_WR_LOCAL_INV;
}

static bool is_read_outstanding(const struct roce_requester *req)
{
	for (uint32_t i = req->done; i != req->next; i++)
		if (roce_swqe_at(req, i)->opcode == IBV_WR_RDMA_READ)
			return true;
	return false;
}

static uint32_t in_flight(const struct roce_requester *req)
{
	return (uint32_t)roce_psn_diff(req->nxt, req->una);
}

static uint32_t read_slot(const struct roce_requester *req, uint32_t i)
{
	return (req->first_read + i) % ROCE_MAX_RD_ATOM;
}

/*
 * A READ is asked for in pieces that fit the window, since the responses have to fit our socket
 * buffer; but not in tiny ones. A piece that was asked for before keeps its end. 0: not now.
 */
static uint32_t read_request_pkts(const struct roce_requester *req, const struct roce_swqe *wqe)
{
	uint32_t room = req->window - in_flight(req), left = wqe->num_pkts - req->next_pkt;
	bool is_idle = !in_flight(req);

	if (req->reads_sent < req->num_reads) {
		roce_psn end = req->read_ends[read_slot(req, req->reads_sent)];

		left = (uint32_t)roce_psn_diff(end, req->nxt);
		return left <= room || is_idle ? left : 0;
	}
	if (req->num_reads >= req->max_rd_atomic)
		return 0;
	if (room > ROCE_RC_READ_CHUNK_MAX)
		room = ROCE_RC_READ_CHUNK_MAX;
	if (left <= room)
		return left;
	return room >= req->window / 4 || is_idle ? room : 0;
}

/* IBTA 10.8.3.3: a fenced request waits for all READs before it. */
static bool may_start(const struct roce_requester *req, const struct roce_swqe *wqe)
{
	if (wqe->opcode == IBV_WR_LOCAL_INV)
		return req->done == req->next; /* nothing may use the key any more */
	return !wqe->is_fenced || !is_read_outstanding(req);
}

bool roce_requester_has_output(const struct roce_rc *rc)
{
	const struct roce_requester *req = &rc->req;
	const struct roce_swqe *wqe = roce_swqe_at(req, req->next);

	if (rc->state != ROCE_RC_RTS || req->next == req->posted || req->rnr_until_ns)
		return false;
	if (wqe->status != IBV_WC_SUCCESS)
		return false; /* fails when it is the oldest */
	if (!wqe->is_started && !may_start(req, wqe))
		return false;
	if (wqe->opcode == IBV_WR_LOCAL_INV)
		return true;
	if (in_flight(req) >= req->window)
		return false;
	return wqe->opcode != IBV_WR_RDMA_READ || !req->max_rd_atomic ||
	       read_request_pkts(req, wqe);
}

/* Gives request next its PSNs and resolves its memory. */
static enum ibv_wc_status start(struct roce_rc *rc, struct roce_swqe *wqe)
{
	struct roce_requester *req = &rc->req;
	bool is_read = wqe->opcode == IBV_WR_RDMA_READ;

	if (is_read && !req->max_rd_atomic)
		return IBV_WC_LOC_QP_OP_ERR;
	if (!wqe->is_inline && !roce_rc_map_sges(rc, roce_swqe_sges(req, req->next), wqe->num_sge,
						 is_read ? IBV_ACCESS_LOCAL_WRITE : 0))
		return IBV_WC_LOC_PROT_ERR;
	wqe->first_psn = req->nxt;
	wqe->is_started = true;
	req->next_pkt = 0;
	req->cursor = (struct roce_sge_cursor){0};
	return IBV_WC_SUCCESS;
}

static void invalidate_local(struct roce_rc *rc, uint32_t key)
{
	rc->req.next++;
	if (rc->cfg.ops->invalidate(rc->cfg.owner, key, false))
		roce_requester_fail(rc, IBV_WC_LOC_ACCESS_ERR);
	else
		roce_rc_send_done(rc, IBV_WC_SUCCESS);
}

static uint8_t request_opcode(const struct roce_swqe *wqe, bool is_first, bool is_last)
{
	static const uint8_t first_or_middle[2][2] = {
		{ROCE_RC_SEND_MIDDLE, ROCE_RC_SEND_FIRST},
		{ROCE_RC_WRITE_MIDDLE, ROCE_RC_WRITE_FIRST},
	};
	bool is_write =
		wqe->opcode == IBV_WR_RDMA_WRITE || wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	if (!is_last)
		return first_or_middle[is_write][is_first];
	switch (wqe->opcode) {
	case IBV_WR_RDMA_WRITE:
		return is_first ? ROCE_RC_WRITE_ONLY : ROCE_RC_WRITE_LAST;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return is_first ? ROCE_RC_WRITE_ONLY_IMM : ROCE_RC_WRITE_LAST_IMM;
	case IBV_WR_SEND_WITH_IMM:
		return is_first ? ROCE_RC_SEND_ONLY_IMM : ROCE_RC_SEND_LAST_IMM;
	case IBV_WR_SEND_WITH_INV:
		return is_first ? ROCE_RC_SEND_ONLY_INV : ROCE_RC_SEND_LAST_INV;
	default:
		return is_first ? ROCE_RC_SEND_ONLY : ROCE_RC_SEND_LAST;
	}
}

/*
 * Asked for at the end of a message, often enough to keep the window open, and when the window is
 * full. A request nobody waits for needs none if another follows that will ask.
 */
static bool wants_ack(const struct roce_requester *req, const struct roce_swqe *wqe, bool is_last)
{
	const struct roce_swqe *after = roce_swqe_at(req, req->next + 1);

	if (in_flight(req) + 1 >= req->window)
		return true;
	if (req->since_ack_req + 1 >= ROCE_RC_ACK_EVERY ||
	    (req->since_ack_req + 1) * 2 >= req->window)
		return true;
	if (!is_last)
		return false;
	return wqe->is_signaled || req->next + 1 == req->posted || !is_send_or_write(after) ||
	       after->is_fenced || after->status != IBV_WC_SUCCESS;
}

/* Books psns PSNs as sent, and request next as sent if that was its rest. */
static void account_sent(struct roce_rc *rc, const struct roce_swqe *wqe, uint32_t psns,
			 bool is_acked, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;

	roce_retrans_sent(rc, req->nxt, is_acked, now_ns);
	req->since_ack_req = is_acked ? 0 : req->since_ack_req + 1;
	req->nxt = roce_psn_add(req->nxt, psns);
	if (roce_psn_diff(req->nxt, req->max) > 0)
		req->max = req->nxt;
	req->next_pkt += psns;
	if (req->next_pkt == wqe->num_pkts) {
		req->next++;
		req->next_pkt = 0;
		req->cursor = (struct roce_sge_cursor){0};
	}
}

static void emit_read(struct roce_rc *rc, const struct roce_swqe *wqe, struct roce_tx *tx,
		      uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;
	uint32_t n = read_request_pkts(req, wqe), at = req->next_pkt * rc->mtu;
	struct roce_pkt hdr = roce_rc_pkt(rc, ROCE_RC_READ_REQUEST, req->nxt, 0);

	hdr.ack_req = true;
	hdr.va = wqe->remote_addr + at;
	hdr.rkey = wqe->rkey;
	hdr.dma_len = req->next_pkt + n == wqe->num_pkts ? wqe->bytes - at : n * rc->mtu;
	roce_tx_end(tx, roce_tx_begin(tx, &hdr));
	if (req->reads_sent == req->num_reads)
		req->read_ends[read_slot(req, req->num_reads++)] = roce_psn_add(req->nxt, n);
	req->reads_sent++;
	account_sent(rc, wqe, n, true, now_ns);
}

static void emit_data(struct roce_rc *rc, const struct roce_swqe *wqe, struct roce_tx *tx,
		      uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;
	const struct ibv_sge *sges = roce_swqe_sges(req, req->next);
	bool is_last = req->next_pkt + 1 == wqe->num_pkts;
	uint32_t left = is_last ? wqe->bytes - req->next_pkt * rc->mtu : rc->mtu;
	struct roce_pkt hdr =
		roce_rc_pkt(rc, request_opcode(wqe, !req->next_pkt, is_last), req->nxt, left);
	struct roce_tx_pkt *pkt;

	hdr.ack_req = wants_ack(req, wqe, is_last);
	hdr.solicited = is_last && wqe->is_solicited;
	hdr.va = wqe->remote_addr;
	hdr.rkey = wqe->rkey;
	hdr.dma_len = wqe->bytes;
	hdr.imm_be = wqe->imm_be;
	hdr.inv_rkey = wqe->rkey;
	pkt = roce_tx_begin(tx, &hdr);
	while (left) {
		uint32_t len = left;
		const uint8_t *data = roce_sge_take(&req->cursor, sges, &len);

		roce_tx_add(tx, pkt, data, len);
		left -= len;
	}
	roce_tx_end(tx, pkt);
	account_sent(rc, wqe, 1, hdr.ack_req, now_ns);
}

uint32_t roce_requester_output(struct roce_rc *rc, struct roce_tx *tx, uint32_t turn,
			       uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;
	uint32_t sent = 0;

	while (sent < turn && roce_requester_has_output(rc)) {
		struct roce_swqe *wqe = roce_swqe_at(req, req->next);

		if (!roce_tx_has_room(tx, wqe->num_sge))
			break;
		if (wqe->opcode == IBV_WR_LOCAL_INV) {
			invalidate_local(rc, wqe->rkey);
			continue;
		}
		if (!wqe->is_started) {
			wqe->status = (uint8_t)start(rc, wqe);
			if (wqe->status != IBV_WC_SUCCESS) {
				if (req->done == req->next)
					roce_requester_fail(rc, wqe->status);
				break;
			}
		}
		if (wqe->opcode == IBV_WR_RDMA_READ)
			emit_read(rc, wqe, tx, now_ns);
		else
			emit_data(rc, wqe, tx, now_ns);
		sent++;
	}
	return sent;
}

void roce_requester_rewind(struct roce_rc *rc)
{
	struct roce_requester *req = &rc->req;
	const struct roce_swqe *wqe = roce_swqe_at(req, req->done);

	req->nxt = req->una;
	req->next = req->done;
	req->next_pkt = 0;
	req->reads_sent = 0;
	req->since_ack_req = 0;
	req->cursor = (struct roce_sge_cursor){0};
	if (req->done == req->posted || !wqe->is_started)
		return;
	req->next_pkt = roce_psn_make(req->una.v - wqe->first_psn.v).v;
	roce_sge_seek(&req->cursor, roce_swqe_sges(req, req->done), req->next_pkt * rc->mtu);
}

void roce_requester_fail(struct roce_rc *rc, enum ibv_wc_status status)
{
	roce_rc_send_done(rc, status);
	roce_rc_break(rc, status);
}
