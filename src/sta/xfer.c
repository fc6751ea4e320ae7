/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work requests. What a round of the EU wants to post is chained per QP and posted at its end,
 * receives before sends: a response never leaves before the receives that it gives credit for.
 * A transfer is one work request with one SGE, since a staging slot is contiguous.
 */
#include "sta/eu.h"

static void mark_dirty(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	if (qp->is_dirty)
		return;
	qp->is_dirty = true;
	qp->next_dirty = eu->dirty;
	eu->dirty = qp;
}

void sta_xfer_init_rx(struct sta_rx *rx, struct doca_sta_qp_handle *qp)
{
	rx->wr.qp = qp;
	rx->wr.kind = STA_WR_RECV;
	rx->sge[0] = (struct ibv_sge){(uintptr_t)rx->sqe, STA_SQE_BYTES, qp->mr->lkey};
	rx->sge[1] = (struct ibv_sge){(uintptr_t)rx->data, STA_ICD_BYTES, qp->mr->lkey};
	rx->recv.wr_id = (uintptr_t)&rx->wr;
	rx->recv.sg_list = rx->sge;
	rx->recv.num_sge = 2;
}

void sta_xfer_init_req(struct sta_req *req, struct doca_sta_qp_handle *qp)
{
	req->qp = qp;
	req->read = (struct sta_wr){qp, STA_WR_READ};
	req->write = (struct sta_wr){qp, STA_WR_WRITE};
	req->send = (struct sta_wr){qp, STA_WR_SEND};
	req->data_wr.sg_list = &req->data_sge;
	req->data_wr.num_sge = 1;
	req->rsp_sge = (struct ibv_sge){(uintptr_t)req->rsp, STA_CQE_BYTES, qp->mr->lkey};
	req->rsp_wr.wr_id = (uintptr_t)&req->send;
	req->rsp_wr.sg_list = &req->rsp_sge;
	req->rsp_wr.num_sge = 1;
	req->rsp_wr.send_flags = IBV_SEND_SIGNALED;
}

void sta_xfer_post_rx(struct sta_eu *eu, struct sta_rx *rx)
{
	struct doca_sta_qp_handle *qp = rx->wr.qp;

	if (qp->state == STA_QP_FAILED)
		return;
	rx->recv.next = NULL;
	*qp->rx_chain_tail = &rx->recv;
	qp->rx_chain_tail = &rx->recv.next;
	qp->num_posted_rx++;
	mark_dirty(eu, qp);
}

/* Appends the chain from @first to @last, one of whose members is signalled. */
static void append_tx(struct sta_eu *eu, struct doca_sta_qp_handle *qp, struct ibv_send_wr *first,
		      struct ibv_send_wr *last)
{
	last->next = NULL;
	*qp->tx_chain_tail = first;
	qp->tx_chain_tail = &last->next;
	qp->num_posted_tx++;
	mark_dirty(eu, qp);
}

static void set_data(struct sta_req *req, enum ibv_wr_opcode opcode, uint32_t bytes)
{
	struct sta_slot *slot = req->wait.slot;
	struct ibv_send_wr *wr = &req->data_wr;

	req->data_sge = (struct ibv_sge){(uintptr_t)slot->data, bytes,
					 slot->region->mr[req->qp->vdev]->lkey};
	wr->opcode = opcode;
	wr->wr.rdma.remote_addr = req->cap.sgl.addr;
	wr->wr.rdma.rkey = req->cap.sgl.key;
}

void sta_xfer_read(struct sta_eu *eu, struct sta_req *req, uint32_t bytes)
{
	struct ibv_send_wr *wr = &req->data_wr;

	set_data(req, IBV_WR_RDMA_READ, bytes);
	wr->wr_id = (uintptr_t)&req->read;
	wr->send_flags = IBV_SEND_SIGNALED;
	sta_count(&eu->stats.bytes_from_host, bytes);
	append_tx(eu, req->qp, wr, wr);
}

void sta_xfer_respond(struct sta_eu *eu, struct sta_req *req, uint32_t data_bytes)
{
	struct ibv_send_wr *data = &req->data_wr;
	struct ibv_send_wr *rsp = &req->rsp_wr;

	if (req->cap.sgl.is_invalidate) {
		rsp->opcode = IBV_WR_SEND_WITH_INV;
		rsp->invalidate_rkey = req->cap.sgl.key;
	} else {
		rsp->opcode = IBV_WR_SEND;
	}
	sta_count(&eu->stats.responses, 1);
	if (!data_bytes) {
		append_tx(eu, req->qp, rsp, rsp);
		return;
	}
	set_data(req, IBV_WR_RDMA_WRITE, data_bytes);
	data->wr_id = (uintptr_t)&req->write;
	data->send_flags = 0;
	data->next = rsp;
	sta_count(&eu->stats.bytes_to_host, data_bytes);
	append_tx(eu, req->qp, data, rsp);
}

static void read_done(struct sta_eu *eu, struct sta_req *req)
{
	req->qp->num_posted_tx--;
	sta_req_fetched(eu, req);
}

static void send_done(struct sta_eu *eu, struct sta_req *req)
{
	req->qp->num_posted_tx--;
	sta_req_responded(eu, req);
}

/* Ends work requests that never reached the device. The QP has failed. */
static void abandon_tx(struct sta_eu *eu, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *next;
	struct sta_wr *id;

	for (; wr; wr = next) {
		next = wr->next;
		id = (struct sta_wr *)(uintptr_t)wr->wr_id;
		if (id->kind == STA_WR_READ)
			read_done(eu, util_container_of(id, struct sta_req, read));
		else if (id->kind == STA_WR_SEND)
			send_done(eu, util_container_of(id, struct sta_req, send));
	}
}

static void abandon_rx(struct doca_sta_qp_handle *qp, struct ibv_recv_wr *wr)
{
	for (; wr; wr = wr->next)
		qp->num_posted_rx--;
}

static void flush_qp(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	struct ibv_recv_wr *rx = qp->rx_chain, *bad_rx = NULL;
	struct ibv_send_wr *tx, *bad_tx = NULL;

	qp->rx_chain = NULL;
	qp->rx_chain_tail = &qp->rx_chain;
	if (qp->state == STA_QP_FAILED) {
		abandon_rx(qp, rx);
	} else if (rx && ibv_post_recv(qp->qp, rx, &bad_rx)) {
		abandon_rx(qp, bad_rx);
		sta_qp_fail(eu, qp, STA_WR_RECV, IBV_WC_GENERAL_ERR, 0);
	}
	tx = qp->tx_chain;
	qp->tx_chain = NULL;
	qp->tx_chain_tail = &qp->tx_chain;
	if (qp->state == STA_QP_FAILED) {
		abandon_tx(eu, tx);
	} else if (tx && ibv_post_send(qp->qp, tx, &bad_tx)) {
		sta_qp_fail(eu, qp, STA_WR_SEND, IBV_WC_GENERAL_ERR, 0);
		abandon_tx(eu, bad_tx);
	}
}

void sta_xfer_flush(struct sta_eu *eu)
{
	struct doca_sta_qp_handle *qp;

	while (eu->dirty) {
		qp = eu->dirty;
		eu->dirty = qp->next_dirty;
		flush_qp(eu, qp);
		qp->is_dirty = false;
	}
}

static void handle_wc(struct sta_eu *eu, const struct ibv_wc *wc)
{
	struct sta_wr *id = (struct sta_wr *)(uintptr_t)wc->wr_id;
	struct doca_sta_qp_handle *qp = id->qp;

	if (wc->status != IBV_WC_SUCCESS)
		sta_qp_fail(eu, qp, id->kind, wc->status, wc->vendor_err);
	switch (id->kind) {
	case STA_WR_RECV:
		qp->num_posted_rx--;
		if (wc->status == IBV_WC_SUCCESS)
			sta_qp_received(eu, util_container_of(id, struct sta_rx, wr), wc->byte_len);
		break;
	case STA_WR_READ:
		read_done(eu, util_container_of(id, struct sta_req, read));
		break;
	case STA_WR_WRITE:
		break; /* its SEND comes, too */
	case STA_WR_SEND:
		send_done(eu, util_container_of(id, struct sta_req, send));
		break;
	}
}

void sta_xfer_forget(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	qp->rx_chain = NULL;
	qp->rx_chain_tail = &qp->rx_chain;
	qp->num_posted_rx = 0;
	qp->tx_chain = NULL;
	qp->tx_chain_tail = &qp->tx_chain;
	for (uint32_t i = 0; i < qp->depth && qp->num_posted_tx; i++) {
		struct sta_req *req = &qp->reqs[i];

		if (req->state == STA_REQ_FETCH)
			read_done(eu, req);
		else if (req->state == STA_REQ_RESPOND)
			send_done(eu, req);
	}
}

unsigned int sta_xfer_poll(struct sta_eu *eu)
{
	struct ibv_wc wc[STA_POLL_BATCH];
	struct sta_cq *cq, *next;
	unsigned int total = 0;
	int n;

	for (cq = eu->cqs; cq; cq = next) {
		next = cq->next;
		n = ibv_poll_cq(cq->cq, STA_POLL_BATCH, wc);
		for (int i = 0; i < n; i++)
			handle_wc(eu, &wc[i]);
		if (n > 0)
			total += (unsigned int)n;
		else if (n < 0)
			sta_eu_lose_cq(eu, cq);
	}
	return total;
}
