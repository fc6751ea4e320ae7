/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admin queues on RDMA: one queue pair each, that we own. A slot is a receive buffer and the
 * request that grows from it: posted -> (fetching data) -> with the control plane -> responding ->
 * posted again. Data buffers are registered for one command and bounded all together.
 *
 * End: when the connection has ended, or DREP does not come within a bound, the queue is reaped at
 * the end of a loop's round, never inside one of its own callbacks.
 */
#include "target/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/cmpriv.h"
#include "target/log.h"

enum {
	READS_AT_A_TIME = 4, /* our RDMA READs in flight, at most what the host offers */
	SEND_WRS = 2 * TGT_ADMIN_SLOTS, /* a slot has a WRITE and a SEND, or a READ */
	CQ_ENTRIES = TGT_ADMIN_SLOTS + SEND_WRS,
	DISCONNECT_TIMEOUT_MS = 2000,
	SLOT_CAPSULE_BYTES = (TGT_ADMIN_CAPSULE_BYTES + 63) / 64 * 64,
	SLOT_WIRE_BYTES = SLOT_CAPSULE_BYTES + 64, /* capsule and response */
};

enum wr_kind {
	WR_RECV,
	WR_READ,
	WR_SEND,
	WR_KINDS
};

struct slot {
	struct tgt_req req;
	struct tgt_xfer xfer;
	uint8_t *capsule; /* in adminq.wire */
	uint8_t *cqe; /* in adminq.wire */
	uint8_t *buf; /* data of one command */
	struct ibv_mr *buf_mr;
};

struct adminq {
	struct tgt_queue queue;
	struct tgt_conn conn;
	struct util_list link;
	struct tgt_server *server;
	struct tgt_device *device;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	uint8_t *wire;
	struct ibv_mr *wire_mr;
	bool is_ended; /* nothing more will come: reap it */
	uint64_t reap_at_ms; /* ended by ourselves: wait for DREP until then */
	struct slot slots[TGT_ADMIN_SLOTS];
};

static struct slot *slot_of(struct tgt_req *req)
{
	return util_container_of(req, struct slot, req);
}

static struct adminq *queue_of(struct tgt_queue *queue)
{
	return util_container_of(queue, struct adminq, queue);
}

static uint64_t wr_id(const struct adminq *q, const struct slot *slot, enum wr_kind kind)
{
	return (uint64_t)(slot - q->slots) * WR_KINDS + kind;
}

static void q_disconnect(struct tgt_queue *queue)
{
	struct adminq *q = queue_of(queue);

	if (q->reap_at_ms != UINT64_MAX || q->is_ended)
		return;
	q->reap_at_ms = queue->tgt->now_ms + DISCONNECT_TIMEOUT_MS;
	/* A connection that never came to be has nobody to tell: it ends at the time-out. */
	(void)rdma_disconnect(q->id);
	tgt_queue_closing(queue);
}

static void buf_free(struct adminq *q, struct slot *slot)
{
	if (!slot->buf)
		return;
	ibv_dereg_mr(slot->buf_mr);
	free(slot->buf);
	q->server->admin_data_bytes -= slot->xfer.bytes;
	slot->buf = NULL;
}

static int buf_alloc(struct adminq *q, struct slot *slot)
{
	if (slot->xfer.bytes > TGT_ADMIN_DATA_BUDGET_BYTES - q->server->admin_data_bytes)
		return -ENOMEM;
	slot->buf = calloc(1, slot->xfer.bytes);
	if (!slot->buf)
		return -ENOMEM;
	slot->buf_mr =
		ibv_reg_mr(q->device->pd, slot->buf, slot->xfer.bytes, IBV_ACCESS_LOCAL_WRITE);
	if (!slot->buf_mr) {
		free(slot->buf);
		slot->buf = NULL;
		return -ENOMEM;
	}
	q->server->admin_data_bytes += slot->xfer.bytes;
	return 0;
}

static int post_recv(struct adminq *q, struct slot *slot)
{
	struct ibv_sge sge = {.addr = (uintptr_t)slot->capsule,
			      .length = SLOT_CAPSULE_BYTES,
			      .lkey = q->wire_mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id(q, slot, WR_RECV), .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return -ibv_post_recv(q->id->qp, &wr, &bad);
}

static void slot_recycle(struct adminq *q, struct slot *slot)
{
	buf_free(q, slot);
	if (!q->queue.is_closing && post_recv(q, slot))
		q_disconnect(&q->queue);
}

/* ---- what the control plane asks for ------------------------------------------------------ */

static void q_respond(struct tgt_req *req, const uint8_t cqe[TGT_CQE_BYTES], bool success)
{
	struct slot *slot = slot_of(req);
	struct adminq *q = queue_of(req->queue);
	struct ibv_sge data = {.addr = (uintptr_t)slot->buf, .length = slot->xfer.bytes};
	struct ibv_sge response = {.addr = (uintptr_t)slot->cqe,
				   .length = TGT_CQE_BYTES,
				   .lkey = q->wire_mr->lkey};
	struct ibv_send_wr send = {.wr_id = wr_id(q, slot, WR_SEND),
				   .sg_list = &response,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr write = {.wr_id = wr_id(q, slot, WR_SEND),
				    .next = &send,
				    .sg_list = &data,
				    .num_sge = 1,
				    .opcode = IBV_WR_RDMA_WRITE};
	struct ibv_send_wr *bad;
	bool has_data = success && slot->xfer.dir == TGT_DIR_TO_HOST;

	memcpy(slot->cqe, cqe, TGT_CQE_BYTES);
	if (slot->xfer.invalidate) {
		send.opcode = IBV_WR_SEND_WITH_INV;
		send.invalidate_rkey = slot->xfer.key;
	}
	if (has_data) {
		data.lkey = slot->buf_mr->lkey;
		write.wr.rdma.remote_addr = slot->xfer.addr;
		write.wr.rdma.rkey = slot->xfer.key;
	}
	if (ibv_post_send(q->id->qp, has_data ? &write : &send, &bad))
		q_disconnect(&q->queue);
}

static void q_drop(struct tgt_req *req)
{
	slot_recycle(queue_of(req->queue), slot_of(req));
}

static int q_bind(struct tgt_queue *queue, struct tgt_subsys *subsys, uint16_t sq_entries)
{
	(void)queue;
	(void)subsys;
	(void)sq_entries;
	return 0;
}

/* The control plane sees every command. */
static bool q_was_active(struct tgt_queue *queue)
{
	(void)queue;
	return false;
}

static const struct tgt_queue_ops adminq_ops = {
	.respond = q_respond,
	.drop = q_drop,
	.bind = q_bind,
	.disconnect = q_disconnect,
	.was_active = q_was_active,
};

/* ---- capsules ----------------------------------------------------------------------------- */

static int fetch(struct adminq *q, struct slot *slot)
{
	struct ibv_sge sge = {.addr = (uintptr_t)slot->buf,
			      .length = slot->xfer.bytes,
			      .lkey = slot->buf_mr->lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id(q, slot, WR_READ),
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_READ,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = slot->xfer.addr;
	wr.wr.rdma.rkey = slot->xfer.key;
	return -ibv_post_send(q->id->qp, &wr, &bad);
}

static void on_capsule(struct adminq *q, struct slot *slot, uint32_t bytes)
{
	struct tgt_req *req = &slot->req;
	tgt_status_t status;

	if (bytes < TGT_SQE_BYTES) {
		tgt_log("admin queue of %s: a capsule of %u bytes, disconnecting",
			q->queue.peer_addr, bytes);
		q_disconnect(&q->queue);
		return;
	}
	memset(req, 0, sizeof(*req));
	req->queue = &q->queue;
	tgt_cmd_parse(&req->cmd, slot->capsule);
	status = tgt_xfer_plan(&req->cmd, bytes - TGT_SQE_BYTES, q->queue.tgt->limits.max_io_bytes,
			       &slot->xfer);
	if (status) {
		tgt_complete(req, status);
		return;
	}
	if (slot->xfer.dir != TGT_DIR_NONE) {
		req->data_bytes = slot->xfer.bytes;
		if (slot->xfer.in_capsule) {
			req->data = slot->capsule + TGT_SQE_BYTES + slot->xfer.capsule_offset;
		} else if (buf_alloc(q, slot)) {
			tgt_complete(req, TGT_SC(GENERIC, INTERNAL));
			return;
		} else {
			req->data = slot->buf;
			if (slot->xfer.dir == TGT_DIR_FROM_HOST) {
				if (fetch(q, slot))
					q_disconnect(&q->queue);
				return;
			}
		}
	}
	tgt_exec(req);
}

static void on_completion(struct adminq *q, const struct ibv_wc *wc)
{
	struct slot *slot = &q->slots[wc->wr_id / WR_KINDS];

	if (q->queue.is_closing)
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		tgt_log("admin queue of %s: %s, disconnecting", q->queue.peer_addr,
			ibv_wc_status_str(wc->status));
		q_disconnect(&q->queue);
		return;
	}
	switch ((enum wr_kind)(wc->wr_id % WR_KINDS)) {
	case WR_RECV:
		on_capsule(q, slot, wc->byte_len);
		break;
	case WR_READ:
		tgt_exec(&slot->req);
		break;
	case WR_SEND:
		slot_recycle(q, slot);
		break;
	case WR_KINDS:
		break;
	}
}

static void drain(struct adminq *q)
{
	struct ibv_wc wc[16];
	int n, i;

	do {
		n = ibv_poll_cq(q->cq, 16, wc);
		for (i = 0; i < n; i++)
			on_completion(q, &wc[i]);
	} while (n > 0 && !q->queue.is_closing);
}

void tgt_adminq_poll(struct tgt_device *device)
{
	struct ibv_cq *cq;
	struct adminq *q;
	void *context;

	while (!ibv_get_cq_event(device->channel, &cq, &context)) {
		q = context;
		ibv_ack_cq_events(cq, 1);
		/* Armed first, so that what comes while we drain wakes us again. */
		if (ibv_req_notify_cq(cq, 0))
			q_disconnect(&q->queue);
		drain(q);
	}
}

/* ---- connection --------------------------------------------------------------------------- */

static void on_established(struct tgt_conn *conn)
{
	(void)conn; /* the first capsule says the same, and may come first */
}

static void on_disconnected(struct tgt_conn *conn)
{
	struct adminq *q = util_container_of(conn, struct adminq, conn);

	/* Answer the host's DREQ; harmless when it was ours. */
	if (q->reap_at_ms == UINT64_MAX)
		(void)rdma_disconnect(q->id);
	q->is_ended = true;
	tgt_queue_closing(&q->queue);
}

static void adminq_free(struct adminq *q)
{
	struct slot *slot;

	if (q->id->qp)
		rdma_destroy_qp(q->id);
	for (slot = q->slots; slot < q->slots + TGT_ADMIN_SLOTS; slot++)
		buf_free(q, slot);
	if (q->cq)
		ibv_destroy_cq(q->cq);
	if (q->wire_mr)
		ibv_dereg_mr(q->wire_mr);
	free(q->wire);
	free(q);
}

static int slots_init(struct adminq *q)
{
	int i;

	q->wire =
		aligned_alloc(4096, (size_t)TGT_ADMIN_SLOTS * SLOT_WIRE_BYTES / 4096 * 4096 + 4096);
	if (!q->wire)
		return -ENOMEM;
	q->wire_mr = ibv_reg_mr(q->device->pd, q->wire, (size_t)TGT_ADMIN_SLOTS * SLOT_WIRE_BYTES,
				IBV_ACCESS_LOCAL_WRITE);
	if (!q->wire_mr)
		return -errno;
	for (i = 0; i < TGT_ADMIN_SLOTS; i++) {
		q->slots[i].capsule = q->wire + (size_t)i * SLOT_WIRE_BYTES;
		q->slots[i].cqe = q->slots[i].capsule + SLOT_CAPSULE_BYTES;
	}
	return 0;
}

static int qp_init(struct adminq *q)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .qp_context = q};
	int i;

	q->cq = ibv_create_cq(q->device->verbs, CQ_ENTRIES, q, q->device->channel, 0);
	if (!q->cq)
		return -errno;
	if (ibv_req_notify_cq(q->cq, 0))
		return -EIO;
	attr.send_cq = attr.recv_cq = q->cq;
	attr.cap.max_send_wr = SEND_WRS;
	attr.cap.max_recv_wr = TGT_ADMIN_SLOTS;
	attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
	if (rdma_create_qp(q->id, q->device->pd, &attr))
		return -errno;
	/* All of them before the accept leaves: a host may send as soon as it sees that. */
	for (i = 0; i < TGT_ADMIN_SLOTS; i++)
		if (post_recv(q, &q->slots[i]))
			return -EIO;
	return 0;
}

static int accept_conn(struct adminq *q, uint8_t reads)
{
	uint8_t record[TGT_CM_ACCEPT_BYTES];
	struct rdma_conn_param answer = {.private_data = record,
					 .private_data_len = sizeof(record),
					 .flow_control = 1,
					 .rnr_retry_count = 7};

	tgt_cm_accept_fill(record, q->queue.max_entries);
	answer.initiator_depth = util_min(reads, (uint8_t)READS_AT_A_TIME);
	return rdma_accept(q->id, &answer) ? -errno : 0;
}

int tgt_adminq_accept(struct tgt_server *server, struct tgt_device *device, struct rdma_cm_id *id,
		      struct tgt_port *port, const struct tgt_cm_request *request, uint8_t reads)
{
	struct adminq *q = calloc(1, sizeof(*q));
	int rc;

	if (!q)
		return -ENOMEM;
	q->server = server;
	q->device = device;
	q->id = id;
	q->reap_at_ms = UINT64_MAX;
	q->conn.established = on_established;
	q->conn.disconnected = on_disconnected;
	q->queue.ops = &adminq_ops;
	q->queue.port = port;
	q->queue.max_entries = tgt_cm_entries(request);
	tgt_addr_format(rdma_get_local_addr(id), q->queue.local_addr);
	tgt_addr_format(rdma_get_peer_addr(id), q->queue.peer_addr);
	rc = tgt_device_verbs(device, id->verbs);
	if (rc)
		goto err_free;
	rc = slots_init(q);
	if (!rc)
		rc = qp_init(q);
	if (rc)
		goto err_free;
	rc = tgt_queue_init(&q->queue, &server->tgt);
	if (rc)
		goto err_free;
	id->context = &q->conn;
	rc = accept_conn(q, reads);
	if (rc)
		goto err_queue;
	util_list_add_tail(&server->admin_queues, &q->link);
	return 0;

err_queue:
	tgt_queue_gone(&q->queue);
	id->context = NULL;
err_free:
	adminq_free(q);
	return rc;
}

void tgt_adminq_reap(struct tgt_server *server)
{
	struct adminq *q, *next;

	util_list_for_each_safe(&server->admin_queues, q, next, link) {
		struct rdma_cm_id *id = q->id;

		if (!q->is_ended && server->tgt.now_ms < q->reap_at_ms)
			continue;
		util_list_del(&q->link);
		tgt_queue_gone(&q->queue);
		adminq_free(q);
		rdma_destroy_id(id);
	}
}

uint64_t tgt_adminq_next_reap(const struct tgt_server *server)
{
	uint64_t next = UINT64_MAX;
	struct adminq *q;

	util_list_for_each(&server->admin_queues, q, link)
		if (q->is_ended)
			next = 0;
		else if (q->reap_at_ms < next)
			next = q->reap_at_ms;
	return next;
}

void tgt_adminq_close_all(struct tgt_server *server, bool now)
{
	struct adminq *q;

	util_list_for_each(&server->admin_queues, q, link) {
		q_disconnect(&q->queue);
		q->is_ended |= now;
	}
}
