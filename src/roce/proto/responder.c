/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responder, receiving side: request packets in PSN order, memory written, receive requests
 * completed (IBTA 9.7.4). Answers are noted here and leave through answer.c.
 */
#include "roce/proto/rc_priv.h"

#include <string.h>

static void recv_done(struct roce_rc *rc, const struct roce_recv_done *done)
{
	rc->resp.has_rwqe = false;
	rc->cfg.ops->recv_done(rc->cfg.owner, done);
}

/* The receive request fails because of us or of the peer: it is told, the peer is refused. */
static void fail_recv(struct roce_rc *rc, enum ibv_wc_status status, enum roce_nak code)
{
	struct roce_recv_done done = {.wr_id = rc->resp.rwqe.wr_id, .status = status};

	recv_done(rc, &done);
	roce_answer_refuse(rc, code, rc->resp.epsn);
}

/* Takes a receive request; false: there is none, and the peer is told to wait. */
static bool take_rwqe(struct roce_rc *rc)
{
	struct roce_responder *resp = &rc->resp;

	resp->has_rwqe = roce_rq_pop(rc->cfg.rq, &resp->rwqe, resp->sges);
	if (resp->has_rwqe)
		return true;
	rc->counters.tx_rnr++;
	resp->nak_sent = true;
	roce_answer_set(rc, ROCE_AETH_RNR | rc->min_rnr_timer, resp->epsn);
	return false;
}

/* The packet is done: move on, acknowledge if asked. */
static void advance(struct roce_rc *rc, const struct roce_pkt *pkt, uint32_t psns)
{
	rc->resp.epsn = roce_psn_add(rc->resp.epsn, psns);
	if (pkt->ack_req)
		roce_answer_set(rc, ROCE_AETH_ACK | ROCE_AETH_NO_CREDIT_LIMIT, pkt->psn);
}

static void end_message(struct roce_rc *rc)
{
	rc->resp.message = 0;
	rc->resp.msn = roce_psn_add(rc->resp.msn, 1);
	rc->counters.rx_msgs++;
}

/* IBTA 9.7.4.1.6: all packets but the last are full, the last of several is not empty. */
static bool has_right_length(const struct roce_rc *rc, const struct roce_pkt *pkt, uint32_t flags)
{
	if (!(flags & ROCE_OP_END))
		return pkt->payload_len == rc->mtu;
	if (!(flags & ROCE_OP_START) && !pkt->payload_len)
		return false;
	return pkt->payload_len <= rc->mtu;
}

/* What the completion of a received message says besides its length. */
static struct roce_recv_done describe(const struct roce_rc *rc, const struct roce_pkt *pkt,
				      enum ibv_wc_opcode opcode, uint32_t bytes)
{
	uint32_t flags = roce_ops[pkt->opcode].flags;
	struct roce_recv_done done = {
		.wr_id = rc->resp.rwqe.wr_id,
		.status = IBV_WC_SUCCESS,
		.opcode = opcode,
		.byte_len = bytes,
		.solicited = pkt->solicited,
	};

	if (flags & ROCE_OP_IMM) {
		done.wc_flags = IBV_WC_WITH_IMM;
		done.imm_data = pkt->imm_be;
	} else if (flags & ROCE_OP_IETH) {
		done.wc_flags = IBV_WC_WITH_INV;
		done.invalidated_rkey = pkt->inv_rkey;
	}
	return done;
}

static void input_send(struct roce_rc *rc, const struct roce_pkt *pkt, uint32_t flags)
{
	struct roce_responder *resp = &rc->resp;
	struct roce_recv_done done;

	if (flags & ROCE_OP_START) {
		if (!take_rwqe(rc))
			return;
		resp->cursor = (struct roce_sge_cursor){0};
		if (!roce_rc_map_sges(rc, resp->sges, resp->rwqe.num_sge, IBV_ACCESS_LOCAL_WRITE)) {
			fail_recv(rc, IBV_WC_LOC_PROT_ERR, ROCE_NAK_REMOTE_OPERATION);
			return;
		}
		resp->message = ROCE_OP_SEND;
	}
	if (pkt->payload_len > resp->rwqe.bytes - resp->cursor.pos) {
		fail_recv(rc, IBV_WC_LOC_LEN_ERR, ROCE_NAK_INVALID_REQUEST);
		return;
	}
	roce_sge_scatter(&resp->cursor, resp->sges, pkt->payload, pkt->payload_len);
	if (flags & ROCE_OP_IETH && rc->cfg.ops->invalidate(rc->cfg.owner, pkt->inv_rkey, true)) {
		fail_recv(rc, IBV_WC_REM_INV_REQ_ERR, ROCE_NAK_REMOTE_OPERATION);
		return;
	}
	advance(rc, pkt, 1);
	if (!(flags & ROCE_OP_END))
		return;
	end_message(rc);
	done = describe(rc, pkt, IBV_WC_RECV, resp->cursor.pos);
	recv_done(rc, &done);
}

/* Resolves memory of the peer's choosing; false: refused. */
static bool map_remote(struct roce_rc *rc, const struct roce_pkt *pkt, int access, uint8_t **ptr)
{
	*ptr = NULL;
	if (!(rc->access & access))
		return false;
	if (!pkt->dma_len) /* IBTA 9.7.4.1.5: then the key is not looked at */
		return true;
	*ptr = rc->cfg.ops->map(rc->cfg.owner, pkt->rkey, pkt->va, pkt->dma_len, access);
	return *ptr != NULL;
}

static bool start_write(struct roce_rc *rc, const struct roce_pkt *pkt)
{
	struct roce_responder *resp = &rc->resp;

	if (pkt->dma_len > ROCE_MAX_MSG_BYTES) {
		roce_answer_refuse(rc, ROCE_NAK_INVALID_REQUEST, resp->epsn);
		return false;
	}
	if (!map_remote(rc, pkt, IBV_ACCESS_REMOTE_WRITE, &resp->write_ptr)) {
		roce_answer_refuse(rc, ROCE_NAK_REMOTE_ACCESS, resp->epsn);
		return false;
	}
	resp->message = ROCE_OP_WRITE;
	resp->write_va = pkt->va;
	resp->write_rkey = pkt->rkey;
	resp->write_left = resp->write_bytes = pkt->dma_len;
	resp->write_epoch = *rc->cfg.mr_epoch;
	return true;
}

/* A region may have gone since the message began. */
static bool remap_write(struct roce_rc *rc)
{
	struct roce_responder *resp = &rc->resp;

	if (resp->write_epoch == *rc->cfg.mr_epoch || !resp->write_left)
		return true;
	resp->write_epoch = *rc->cfg.mr_epoch;
	resp->write_ptr = rc->cfg.ops->map(rc->cfg.owner, resp->write_rkey, resp->write_va,
					   resp->write_left, IBV_ACCESS_REMOTE_WRITE);
	return resp->write_ptr != NULL;
}

static void input_write(struct roce_rc *rc, const struct roce_pkt *pkt, uint32_t flags)
{
	struct roce_responder *resp = &rc->resp;
	uint32_t len = pkt->payload_len;
	struct roce_recv_done done;

	/* IBTA 9.7.4.1.6: the packets carry what the RETH announced, neither more nor less. */
	if (flags & ROCE_OP_START && !start_write(rc, pkt))
		return;
	if (len > resp->write_left || (flags & ROCE_OP_END && len != resp->write_left)) {
		roce_answer_refuse(rc, ROCE_NAK_INVALID_REQUEST, resp->epsn);
		return;
	}
	if (!remap_write(rc)) {
		roce_answer_refuse(rc, ROCE_NAK_REMOTE_ACCESS, resp->epsn);
		return;
	}
	if (flags & ROCE_OP_IMM && !take_rwqe(rc)) {
		if (flags & ROCE_OP_START)
			resp->message = 0; /* ONLY: comes again as a whole */
		return;
	}
	if (len) {
		memcpy(resp->write_ptr, pkt->payload, len);
		resp->write_ptr += len;
	}
	resp->write_va += len;
	resp->write_left -= len;
	advance(rc, pkt, 1);
	if (!(flags & ROCE_OP_END))
		return;
	end_message(rc);
	if (flags & ROCE_OP_IMM) {
		done = describe(rc, pkt, IBV_WC_RECV_RDMA_WITH_IMM, resp->write_bytes);
		recv_done(rc, &done);
	}
}

static void input_read(struct roce_rc *rc, const struct roce_pkt *pkt)
{
	struct roce_responder *resp = &rc->resp;
	uint8_t *ptr;

	if (resp->num_reads - resp->num_dup_reads >= rc->max_dest_rd_atomic ||
	    pkt->dma_len > ROCE_MAX_MSG_BYTES) {
		roce_answer_refuse(rc, ROCE_NAK_INVALID_REQUEST, resp->epsn);
		return;
	}
	if (!map_remote(rc, pkt, IBV_ACCESS_REMOTE_READ, &ptr)) {
		roce_answer_refuse(rc, ROCE_NAK_REMOTE_ACCESS, resp->epsn);
		return;
	}
	(void)roce_answer_read(rc, pkt, ptr, false); /* has room: the limit above is smaller */
	resp->epsn = roce_psn_add(resp->epsn, roce_rc_num_pkts(rc, pkt->dma_len));
	end_message(rc);
}

/*
 * A request that was done already: acknowledged again, with the latest PSN (IBTA 9.7.5.1.4). A READ
 * is served again; it may ask for a later part of what it asked for first.
 */
static void input_duplicate(struct roce_rc *rc, const struct roce_pkt *pkt, uint32_t flags)
{
	struct roce_responder *resp = &rc->resp;
	uint8_t *ptr;

	rc->counters.duplicates++;
	if (!(flags & ROCE_OP_READ)) {
		roce_answer_set(rc, ROCE_AETH_ACK | ROCE_AETH_NO_CREDIT_LIMIT,
				roce_psn_sub(resp->epsn, 1));
		return;
	}
	if (pkt->dma_len > ROCE_MAX_MSG_BYTES || !rc->max_dest_rd_atomic ||
	    roce_psn_diff(roce_psn_add(pkt->psn, roce_rc_num_pkts(rc, pkt->dma_len)), resp->epsn) >
		    0 ||
	    !map_remote(rc, pkt, IBV_ACCESS_REMOTE_READ, &ptr) ||
	    !roce_answer_read(rc, pkt, ptr, true))
		rc->counters.dup_reads_dropped++;
}

/*
 * A gap is answered once. PSNs that begin again from lower down say that the peer went back and
 * lost the missing packet again: that is a new gap.
 */
static void input_early(struct roce_rc *rc, const struct roce_pkt *pkt)
{
	struct roce_responder *resp = &rc->resp;
	bool is_new =
		!resp->nak_sent || (resp->has_gap && roce_psn_diff(pkt->psn, resp->gap_psn) <= 0);

	rc->counters.out_of_sequence++;
	if (is_new) {
		rc->counters.tx_nak[ROCE_NAK_SEQUENCE]++;
		roce_answer_set(rc, ROCE_AETH_NAK | ROCE_NAK_SEQUENCE, resp->epsn);
	}
	resp->has_gap = is_new || resp->has_gap;
	resp->nak_sent = true;
	resp->gap_psn = pkt->psn;
}

/* IBTA 9.7.4.1.2: a message begins when none is in progress, and goes on as what it began. */
static bool is_in_order(const struct roce_responder *resp, uint32_t flags)
{
	if (flags & ROCE_OP_START)
		return !resp->message;
	return resp->message && flags & resp->message;
}

void roce_responder_input(struct roce_rc *rc, const struct roce_pkt *pkt)
{
	struct roce_responder *resp = &rc->resp;
	uint32_t flags = roce_ops[pkt->opcode].flags;
	int32_t ahead = roce_psn_diff(pkt->psn, resp->epsn);

	if (ahead > 0) {
		input_early(rc, pkt);
		return;
	}
	if (ahead < 0) {
		input_duplicate(rc, pkt, flags);
		return;
	}
	resp->nak_sent = false;
	resp->has_gap = false;
	if (!is_in_order(resp, flags) || flags & ROCE_OP_ATOMIC ||
	    !has_right_length(rc, pkt, flags)) {
		roce_answer_refuse(rc, ROCE_NAK_INVALID_REQUEST, resp->epsn);
		return;
	}
	if (flags & ROCE_OP_SEND)
		input_send(rc, pkt, flags);
	else if (flags & ROCE_OP_WRITE)
		input_write(rc, pkt, flags);
	else
		input_read(rc, pkt);
}
