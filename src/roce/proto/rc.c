/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RC endpoint: states, posting, flushing, and the two doors of the engine, input and output. What a
 * packet means is in the role's file (see rc_priv.h).
 */
#include "roce/proto/rc.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "roce/proto/rc_priv.h"

/* Requests that can be posted, and what completes them. */
static const struct {
	bool is_supported;
	enum ibv_wc_opcode done_as;
} send_ops[] = {
	[IBV_WR_RDMA_WRITE] = {true, IBV_WC_RDMA_WRITE},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {true, IBV_WC_RDMA_WRITE},
	[IBV_WR_SEND] = {true, IBV_WC_SEND},
	[IBV_WR_SEND_WITH_IMM] = {true, IBV_WC_SEND},
	[IBV_WR_SEND_WITH_INV] = {true, IBV_WC_SEND},
	[IBV_WR_RDMA_READ] = {true, IBV_WC_RDMA_READ},
	[IBV_WR_LOCAL_INV] = {true, IBV_WC_LOCAL_INV},
};

#define NUM_SEND_OPS (sizeof(send_ops) / sizeof(send_ops[0]))

/* --- life ---------------------------------------------------------------------------------- */

static uint32_t sge_slots(const struct roce_rc_cfg *cfg)
{
	return cfg->max_send_sge ? cfg->max_send_sge : 1;
}

size_t roce_rc_mem_bytes(const struct roce_rc_cfg *cfg)
{
	size_t ring = roce_ring_size(cfg->max_send_wr);

	return ring * (sizeof(struct roce_swqe) + sge_slots(cfg) * sizeof(struct ibv_sge) +
		       cfg->max_inline);
}

void roce_rc_init(struct roce_rc *rc, const struct roce_rc_cfg *cfg, void *mem)
{
	struct roce_requester *req = &rc->req;
	uint32_t ring = roce_ring_size(cfg->max_send_wr);

	assert(cfg->max_send_sge <= ROCE_MAX_SGE && cfg->rq->max_sge <= ROCE_MAX_SGE);
	memset(rc, 0, sizeof(*rc));
	rc->cfg = *cfg;
	req->mask = ring - 1;
	req->max_sge = sge_slots(cfg);
	req->wqes = mem;
	req->sges = (struct ibv_sge *)(req->wqes + ring);
	req->inline_data = (uint8_t *)(req->sges + (size_t)ring * req->max_sge);
}

void roce_rc_reset(struct roce_rc *rc)
{
	struct roce_rc_cfg cfg = rc->cfg;

	if (!cfg.is_rq_shared)
		cfg.rq->head = cfg.rq->tail;
	roce_rc_init(rc, &cfg, rc->req.wqes);
}

int roce_rc_to_init(struct roce_rc *rc)
{
	if (rc->state != ROCE_RC_RESET)
		return -EINVAL;
	rc->state = ROCE_RC_INIT;
	return 0;
}

int roce_rc_to_rtr(struct roce_rc *rc, const struct roce_rc_rtr *attr)
{
	if (rc->state != ROCE_RC_INIT || attr->max_dest_rd_atomic > ROCE_MAX_RD_ATOM)
		return -EINVAL;
	if (attr->mtu < 256 || attr->mtu > 4096 || attr->mtu & (attr->mtu - 1))
		return -EINVAL;
	rc->mtu = attr->mtu;
	rc->dest_qpn = attr->dest_qpn;
	rc->pkey = attr->pkey;
	rc->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	rc->min_rnr_timer = attr->min_rnr_timer & ROCE_AETH_VALUE_MASK;
	rc->access = attr->access;
	rc->resp.epsn = roce_psn_make(attr->rq_psn);
	rc->state = ROCE_RC_RTR;
	return 0;
}

int roce_rc_to_rts(struct roce_rc *rc, const struct roce_rc_rts *attr)
{
	struct roce_requester *req = &rc->req;

	if (rc->state != ROCE_RC_RTR || attr->max_rd_atomic > ROCE_MAX_RD_ATOM)
		return -EINVAL;
	req->una = req->nxt = req->max = req->recover = roce_psn_make(attr->sq_psn);
	req->window_max = ROCE_RC_WINDOW_MAX;
	if (attr->window && attr->window < ROCE_RC_WINDOW_MAX)
		req->window_max = attr->window;
	req->window = ROCE_RC_WINDOW_START;
	if (req->window > req->window_max)
		req->window = req->window_max;
	req->timeout_ns = roce_ack_timeout_ns(attr->timeout);
	req->retry_cnt = attr->retry_cnt;
	req->rnr_retry = req->rnr_left = attr->rnr_retry;
	req->max_rd_atomic = attr->max_rd_atomic;
	rc->state = ROCE_RC_RTS;
	return 0;
}

void roce_rc_set_access(struct roce_rc *rc, int access)
{
	rc->access = access;
}

void roce_rc_set_min_rnr_timer(struct roce_rc *rc, uint8_t code)
{
	rc->min_rnr_timer = code & ROCE_AETH_VALUE_MASK;
}

/* --- completing ---------------------------------------------------------------------------- */

void roce_rc_send_done(struct roce_rc *rc, enum ibv_wc_status status)
{
	struct roce_requester *req = &rc->req;
	const struct roce_swqe *wqe = roce_swqe_at(req, req->done);
	struct roce_send_done done = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = send_ops[wqe->opcode].done_as,
		.byte_len = wqe->opcode == IBV_WR_RDMA_READ ? wqe->bytes : 0,
	};
	bool is_told = wqe->is_signaled || status != IBV_WC_SUCCESS;

	req->done++;
	req->read_cursor = (struct roce_sge_cursor){0};
	if (is_told)
		rc->cfg.ops->send_done(rc->cfg.owner, &done);
}

static void flush_recv(struct roce_rc *rc, uint64_t wr_id)
{
	struct roce_recv_done done = {.wr_id = wr_id, .status = IBV_WC_WR_FLUSH_ERR};

	rc->cfg.ops->recv_done(rc->cfg.owner, &done);
}

static void flush_send_queue(struct roce_rc *rc)
{
	while (rc->req.done != rc->req.posted)
		roce_rc_send_done(rc, IBV_WC_WR_FLUSH_ERR);
	rc->req.next = rc->req.posted;
}

static void flush_recv_queue(struct roce_rc *rc)
{
	struct roce_rq *rq = rc->cfg.rq;

	if (rc->resp.has_rwqe) {
		rc->resp.has_rwqe = false;
		flush_recv(rc, rc->resp.rwqe.wr_id);
	}
	while (!rc->cfg.is_rq_shared && !roce_rq_is_empty(rq))
		flush_recv(rc, rq->wqes[rq->head++ & rq->mask].wr_id);
}

/* Ops may post while this runs; what they post is flushed by the same loops. */
static void flush_queues(struct roce_rc *rc)
{
	if (rc->is_flushing)
		return;
	rc->is_flushing = true;
	do {
		flush_send_queue(rc);
		flush_recv_queue(rc);
	} while (rc->req.done != rc->req.posted);
	rc->is_flushing = false;
}

void roce_rc_break(struct roce_rc *rc, enum ibv_wc_status reason)
{
	if (rc->state == ROCE_RC_ERR)
		return;
	rc->state = ROCE_RC_ERR;
	rc->resp.message = 0;
	roce_retrans_stop(rc);
	flush_queues(rc);
	rc->cfg.ops->error(rc->cfg.owner, reason);
}

void roce_rc_flush(struct roce_rc *rc)
{
	rc->state = ROCE_RC_ERR;
	rc->resp.message = 0;
	rc->resp.num_reads = 0;
	rc->resp.num_dup_reads = 0;
	rc->resp.answer_pending = false;
	roce_retrans_stop(rc);
	flush_queues(rc);
}

/* --- posting ------------------------------------------------------------------------------- */

/* Bytes of an SGE list; beyond the longest message: -EINVAL. */
static int64_t sum_sges(const struct ibv_sge *sges, int num)
{
	uint64_t bytes = 0;

	for (int i = 0; i < num; i++)
		bytes += sges[i].length;
	return bytes <= ROCE_MAX_MSG_BYTES ? (int64_t)bytes : -EINVAL;
}

/* Copies the data to the request's slot and makes that its one SGE. */
static void copy_inline(struct roce_requester *req, uint32_t index, uint32_t max_inline,
			const struct ibv_send_wr *wr)
{
	uint8_t *to = req->inline_data + (size_t)(index & req->mask) * max_inline;
	struct ibv_sge *sge = roce_swqe_sges(req, index);

	*sge = (struct ibv_sge){.addr = (uintptr_t)to};
	for (int i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length)
			memcpy(to + sge->length, (void *)(uintptr_t)wr->sg_list[i].addr,
			       wr->sg_list[i].length);
		sge->length += wr->sg_list[i].length;
	}
}

static int check_send(const struct roce_rc *rc, const struct ibv_send_wr *wr, int64_t bytes)
{
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;

	if (rc->state != ROCE_RC_RTS && rc->state != ROCE_RC_ERR)
		return -EINVAL;
	if ((unsigned int)wr->opcode >= NUM_SEND_OPS || !send_ops[wr->opcode].is_supported)
		return -EOPNOTSUPP;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rc->cfg.max_send_sge || bytes < 0)
		return -EINVAL;
	if (is_inline && (bytes > rc->cfg.max_inline || wr->opcode == IBV_WR_RDMA_READ))
		return -EINVAL;
	if (rc->req.posted - rc->req.done >= rc->cfg.max_send_wr)
		return -ENOMEM;
	return 0;
}

int roce_rc_post_send(struct roce_rc *rc, const struct ibv_send_wr *wr)
{
	struct roce_requester *req = &rc->req;
	struct roce_swqe *wqe = roce_swqe_at(req, req->posted);
	bool is_local = wr->opcode == IBV_WR_LOCAL_INV;
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;
	int64_t bytes = is_local ? 0 : sum_sges(wr->sg_list, wr->num_sge);
	int err = check_send(rc, wr, bytes);

	if (err)
		return err;
	*wqe = (struct roce_swqe){
		.wr_id = wr->wr_id,
		.opcode = (uint8_t)wr->opcode,
		.bytes = (uint32_t)bytes,
		.num_pkts = is_local || !rc->mtu ? 0 : roce_rc_num_pkts(rc, (uint32_t)bytes),
		.num_sge = (uint8_t)(is_local	 ? 0
				     : is_inline ? 1
						 : wr->num_sge),
		.is_signaled = rc->cfg.sq_sig_all || wr->send_flags & IBV_SEND_SIGNALED,
		.is_solicited = wr->send_flags & IBV_SEND_SOLICITED,
		.is_fenced = wr->send_flags & IBV_SEND_FENCE,
		.is_inline = is_inline,
		.imm_be = wr->imm_data,
		.remote_addr = wr->wr.rdma.remote_addr,
		.rkey = wr->wr.rdma.rkey,
	};
	if (is_local || wr->opcode == IBV_WR_SEND_WITH_INV)
		wqe->rkey = wr->invalidate_rkey;
	if (is_inline)
		copy_inline(req, req->posted, rc->cfg.max_inline, wr);
	else if (wqe->num_sge)
		memcpy(roce_swqe_sges(req, req->posted), wr->sg_list,
		       wqe->num_sge * sizeof(struct ibv_sge));
	req->posted++;
	if (rc->state == ROCE_RC_ERR)
		flush_queues(rc);
	return 0;
}

int roce_rc_post_recv(struct roce_rc *rc, const struct ibv_recv_wr *wr)
{
	int err = rc->state == ROCE_RC_RESET ? -EINVAL : roce_rq_post(rc->cfg.rq, wr);

	if (!err && rc->state == ROCE_RC_ERR)
		flush_queues(rc);
	return err;
}

bool roce_rc_map_sges(struct roce_rc *rc, struct ibv_sge *sges, uint32_t num_sge, int access)
{
	for (uint32_t i = 0; i < num_sge; i++) {
		void *p;

		if (!sges[i].length)
			continue;
		p = rc->cfg.ops->map(rc->cfg.owner, sges[i].lkey, sges[i].addr, sges[i].length,
				     access);
		if (!p)
			return false;
		sges[i].addr = (uintptr_t)p;
	}
	return true;
}

/* --- input and output ---------------------------------------------------------------------- */

void roce_rc_input(struct roce_rc *rc, const struct roce_pkt *pkt, uint64_t now_ns)
{
	uint32_t flags = roce_ops[pkt->opcode].flags;
	bool is_request = flags & ROCE_OP_REQUEST;

	if (!flags || roce_hdr_is_ud(pkt->opcode)) {
		rc->counters.drop_opcode++;
		return;
	}
	if (rc->state != ROCE_RC_RTS && !(rc->state == ROCE_RC_RTR && is_request)) {
		rc->counters.drop_state++;
		return;
	}
	if ((pkt->pkey ^ rc->pkey) & 0x7fff) { /* top bit: membership, IBTA 10.9.1 */
		rc->counters.drop_pkey++;
		return;
	}
	rc->counters.rx_pkts++;
	rc->counters.rx_bytes += pkt->payload_len;
	if (!is_request) {
		roce_completer_input(rc, pkt, now_ns);
		return;
	}
	if (!rc->resp.saw_packet) {
		rc->resp.saw_packet = true;
		rc->cfg.ops->first_packet(rc->cfg.owner);
	}
	roce_responder_input(rc, pkt);
}

bool roce_rc_has_output(const struct roce_rc *rc)
{
	return roce_answer_has_output(rc) || roce_requester_has_output(rc);
}

bool roce_rc_output(struct roce_rc *rc, struct roce_tx *tx, uint64_t now_ns)
{
	uint32_t first = tx->num_pkts, sent;

	do {
		sent = roce_answer_output(rc, tx, ROCE_RC_TURN);
		sent += roce_requester_output(rc, tx, ROCE_RC_TURN, now_ns);
	} while (sent);
	for (uint32_t i = first; i < tx->num_pkts; i++)
		rc->counters.tx_bytes +=
			tx->pkts[i].len - tx->pkts[i].hdr_len - tx->pkts[i].tail_len;
	rc->counters.tx_pkts += tx->num_pkts - first;
	return roce_rc_has_output(rc);
}
