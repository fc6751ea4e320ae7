/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sta/nonoffload.h"
#include "util/byteorder.h"

static struct engine_qp *qp_of(struct ibv_qp *qp)
{
	return util_container_of(qp, struct engine_qp, qp);
}

static void push_wc(struct engine_qp *qp, uint64_t wr_id, enum ibv_wc_status status, uint32_t bytes)
{
	struct engine_cq *cq = qp->cq;

	assert_true(cq->tail - cq->head < ENGINE_MAX_WCS);
	cq->wcs[cq->tail++ % ENGINE_MAX_WCS] = (struct ibv_wc){
		.wr_id = wr_id, .status = status, .byte_len = bytes, .qp_num = qp->qp.qp_num};
}

/* ---- the verbs device ---- */

static int fake_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct engine_qp *qp = qp_of(ibqp);

	for (; wr; wr = wr->next) {
		*bad = wr;
		assert_false(qp->is_error);
		if (qp->recvs_left == 0)
			return ENOMEM;
		qp->recvs_left -= qp->recvs_left > 0;
		assert_true(qp->num_recvs < ENGINE_DEPTH);
		qp->recvs[qp->num_recvs++] = wr;
	}
	return 0;
}

static int fake_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct engine_qp *qp = qp_of(ibqp);

	for (; wr; wr = wr->next) {
		struct engine_tx *tx = &qp->tx[qp->num_tx];

		*bad = wr;
		assert_false(qp->is_error);
		if (qp->sends_left == 0)
			return ENOMEM;
		qp->sends_left -= qp->sends_left > 0;
		assert_true(qp->num_tx < ENGINE_MAX_SENT);
		assert_int_equal(wr->num_sge, 1);
		*tx = (struct engine_tx){.wr = *wr, .sge = wr->sg_list[0]};
		qp->num_tx++;
		/* a write and a send for each request are what the send queue has room for */
		assert_true(qp->num_tx - qp->num_done <= 2 * ENGINE_DEPTH);
	}
	return 0;
}

static int fake_poll_cq(struct ibv_cq *ibcq, int max, struct ibv_wc *wcs)
{
	struct engine_cq *cq = util_container_of(ibcq, struct engine_cq, cq);
	int n = 0;

	if (cq->is_broken)
		return -1;
	while (n < max && cq->head != cq->tail)
		wcs[n++] = cq->wcs[cq->head++ % ENGINE_MAX_WCS];
	return n;
}

/* The library's call ends here: a definition in the program comes first. */
int ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	assert_int_equal(mask, IBV_QP_STATE);
	assert_int_equal(attr->qp_state, IBV_QPS_ERR);
	engine_flush(qp_of(ibqp));
	return 0;
}

void engine_flush(struct engine_qp *qp)
{
	qp->is_error = true;
	for (unsigned int i = 0; i < qp->num_recvs; i++)
		push_wc(qp, qp->recvs[i]->wr_id, IBV_WC_WR_FLUSH_ERR, 0);
	qp->num_recvs = 0;
	for (; qp->num_done < qp->num_tx; qp->num_done++)
		push_wc(qp, qp->tx[qp->num_done].wr.wr_id, IBV_WC_WR_FLUSH_ERR, 0);
}

static void note_answer(struct engine_qp *qp, const struct engine_tx *tx)
{
	unsigned int n = qp->num_answers++;

	assert_int_equal(tx->sge.length, STA_CQE_BYTES);
	memcpy(&qp->answers[n], (void *)(uintptr_t)tx->sge.addr, STA_CQE_BYTES);
	qp->invalidated[n] = tx->wr.opcode == IBV_WR_SEND_WITH_INV ? tx->wr.invalidate_rkey : 0;
}

void engine_deliver(struct engine_qp *qp)
{
	for (; qp->num_done < qp->num_tx; qp->num_done++) {
		struct engine_tx *tx = &qp->tx[qp->num_done];
		void *local = (void *)(uintptr_t)tx->sge.addr;
		void *remote = (void *)(uintptr_t)tx->wr.wr.rdma.remote_addr;

		if (tx->wr.opcode == IBV_WR_RDMA_READ)
			memcpy(local, remote, tx->sge.length);
		else if (tx->wr.opcode == IBV_WR_RDMA_WRITE)
			memcpy(remote, local, tx->sge.length);
		else
			note_answer(qp, tx);
		if (tx->wr.send_flags & IBV_SEND_SIGNALED)
			push_wc(qp, tx->wr.wr_id, IBV_WC_SUCCESS, 0);
	}
}

bool engine_send(struct engine_qp *qp, const struct sta_sqe *sqe, const void *data, uint32_t bytes)
{
	struct ibv_recv_wr *wr;

	if (!qp->num_recvs)
		return false;
	wr = qp->recvs[0];
	memmove(&qp->recvs[0], &qp->recvs[1], --qp->num_recvs * sizeof(qp->recvs[0]));
	assert_int_equal(wr->num_sge, 2);
	assert_true(bytes <= wr->sg_list[1].length);
	memcpy((void *)(uintptr_t)wr->sg_list[0].addr, sqe, STA_SQE_BYTES);
	if (bytes)
		memcpy((void *)(uintptr_t)wr->sg_list[1].addr, data, bytes);
	push_wc(qp, wr->wr_id, IBV_WC_SUCCESS, STA_SQE_BYTES + bytes);
	return true;
}

/* ---- control, as far as the engine needs it ---- */

static void on_drained(void *io, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *h =
		util_container_of(msg, struct doca_sta_qp_handle, drained_msg);

	(void)io;
	qp_of(h->qp)->num_drained++;
}

static void on_quiesced(void *io, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *h =
		util_container_of(msg, struct doca_sta_qp_handle, quiesced_msg);

	(void)io;
	qp_of(h->qp)->num_quiesced++;
}

static void on_error(void *io, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *h = util_container_of(msg, struct doca_sta_qp_handle, error_msg);

	(void)io;
	qp_of(h->qp)->num_errors++;
}

static void on_offered(struct doca_sta_qp_handle *qp, union doca_data user_data, const uint8_t *sqe,
		       uint8_t *payload, uint32_t payload_bytes, bool is_valid,
		       union doca_data token)
{
	struct engine *e = user_data.ptr;

	(void)qp;
	assert_non_null(sqe);
	e->num_offered++;
	e->token = token;
	e->payload = payload;
	e->payload_bytes = payload_bytes;
	e->is_payload_valid = is_valid;
}

static void on_event(const struct doca_sta_event_cqe_notify *event, union doca_data user_data)
{
	struct engine *e = user_data.ptr;

	e->num_events++;
	memcpy(&e->event, event, sizeof(*event));
}

void engine_add_slots(struct engine *e, unsigned int eu, enum sta_slot_class class, uint32_t num)
{
	struct sta_region *r;

	assert_int_equal(sta_region_create(&sta_mem_default, class, num, &r), DOCA_SUCCESS);
	r->mr[0] = &e->mr;
	e->regions[e->num_regions++] = r;
	sta_pool_add(&e->eus[eu].eu.pool, r);
}

static void init_eu(struct engine *e, unsigned int i)
{
	struct sta_eu *eu = &e->eus[i].eu;
	struct engine_cq *cq = &e->cqs[i];

	*eu = (struct sta_eu){.sta = &e->sta, .idx = i, .epoll_fd = -1, .wake_fd = -1};
	sta_pool_init(&eu->pool);
	cq->cq.context = &e->verbs;
	cq->sta.cq = &cq->cq;
	eu->cqs = &cq->sta;
}

static void init_ns(struct engine *e)
{
	size_t bytes = (sizeof(*e->ns) + 63) & ~(size_t)63;

	e->ns = aligned_alloc(64, bytes);
	assert_non_null(e->ns);
	*e->ns = (struct doca_sta_ns_handle){.subsys = &e->subsys,
					     .be = &e->be,
					     .fe_nsid = 1,
					     .be_nsid = 7,
					     .block_bytes = ENGINE_BLOCK};
	atomic_store(&e->subsys.ns[0], e->ns);
}

static void on_eu_error(const struct doca_sta_event_eu_err *event, union doca_data user_data)
{
	struct engine *e = user_data.ptr;
	bool is_fatal = true;

	e->num_eu_errors++;
	assert_int_equal(doca_sta_event_eu_err_is_fatal_error(event, &is_fatal), DOCA_SUCCESS);
	assert_false(is_fatal);
	assert_int_equal(doca_sta_event_eu_err_get_eu_handle(event, &e->faulty), DOCA_SUCCESS);
}

int engine_setup(void **state)
{
	struct engine *e = aligned_alloc(64, (sizeof(*e) + 63) & ~(size_t)63);

	if (!e)
		return -1;
	memset(e, 0, sizeof(*e));
	e->verbs.ops.post_send = fake_post_send;
	e->verbs.ops.post_recv = fake_post_recv;
	e->verbs.ops.poll_cq = fake_poll_cq;
	e->sta.eus = e->eus;
	e->sta.num_eus = ENGINE_EUS;
	e->sta.be_timeout_ns = STA_BE_TIMEOUT_NS;
	e->sta.event_cbs.cqe_notify = on_event;
	e->sta.event_cbs.cqe_notify_data.ptr = e;
	e->sta.event_cbs.eu_err = on_eu_error;
	e->sta.event_cbs.eu_err_data.ptr = e;
	e->io.sta = &e->sta;
	e->io.non_offload_cb = on_offered;
	e->io.non_offload_data.ptr = e;
	e->be.sta = &e->sta;
	e->subsys.sta = &e->sta;
	util_list_init(&e->be.queues);
	for (unsigned int i = 0; i < ENGINE_EUS; i++)
		init_eu(e, i);
	init_ns(e);
	*state = e;
	return 0;
}

static void free_qp(struct engine_qp *qp)
{
	sta_mem_default.free(qp->sta->mem);
	free(qp->sta->rxs);
	free(qp->sta->reqs);
	free(qp->sta);
	free(qp);
}

int engine_teardown(void **state)
{
	struct engine *e = *state;

	while (e->num_qps)
		free_qp(e->qps[--e->num_qps]);
	while (e->num_regions)
		sta_region_destroy(e->regions[--e->num_regions]);
	free(e->ns);
	free(e);
	return 0;
}

/* As qp.c does it, on the stand-in. */
static void init_requests(struct doca_sta_qp_handle *h)
{
	uint8_t *pages = h->mem;
	struct sta_sqe *sqes = (void *)(pages + (size_t)h->depth * STA_ICD_BYTES);
	struct sta_cqe *rsps = (void *)(sqes + h->depth);

	for (uint32_t i = 0; i < h->depth; i++) {
		h->rxs[i].data = pages + (size_t)i * STA_ICD_BYTES;
		h->rxs[i].data_phys = (uintptr_t)h->rxs[i].data;
		h->rxs[i].sqe = &sqes[i];
		sta_xfer_init_rx(&h->rxs[i], h);
		h->reqs[i].rsp = &rsps[i];
		sta_xfer_init_req(&h->reqs[i], h);
		h->reqs[i].next = h->free_reqs;
		h->free_reqs = &h->reqs[i];
	}
}

struct engine_qp *engine_add_qp(struct engine *e, unsigned int eu)
{
	struct engine_qp *qp = calloc(1, sizeof(*qp));
	struct doca_sta_qp_handle *h = aligned_alloc(64, (sizeof(*h) + 63) & ~(size_t)63);
	struct ibv_recv_wr *bad;
	uint64_t phys;

	assert_non_null(qp);
	assert_non_null(h);
	assert_true(e->num_qps < ENGINE_MAX_QPS);
	e->qps[e->num_qps++] = qp;
	*h = (struct doca_sta_qp_handle){
		.io = &e->io, .eu = &e->eus[eu].eu, .depth = ENGINE_DEPTH, .num_refs = 1};
	qp->qp.context = &e->verbs;
	qp->sends_left = -1;
	qp->recvs_left = -1;
	qp->sta = h;
	qp->cq = &e->cqs[eu];
	h->qp = &qp->qp;
	h->cq = &qp->cq->sta;
	h->next_of_eu = h->eu->qps;
	h->eu->qps = h;
	h->mr = &qp->mr;
	h->mem = sta_mem_default.zmalloc((size_t)ENGINE_DEPTH *
						 (STA_ICD_BYTES + STA_SQE_BYTES + STA_CQE_BYTES),
					 STA_PAGE_BYTES, &phys);
	h->rxs = calloc(ENGINE_DEPTH, sizeof(*h->rxs));
	h->reqs = calloc(ENGINE_DEPTH, sizeof(*h->reqs));
	assert_true(h->mem && h->rxs && h->reqs);
	h->established_msg.fn = sta_qp_on_established;
	h->quiesce_msg.fn = sta_qp_on_quiesce;
	h->quiesced_msg.fn = on_quiesced;
	h->drain_msg.fn = sta_qp_on_drain;
	h->reap_msg.fn = sta_qp_on_reap;
	h->drained_msg.fn = on_drained;
	h->error_msg.fn = on_error;
	h->pending_tail = &h->pending;
	h->rx_chain_tail = &h->rx_chain;
	h->tx_chain_tail = &h->tx_chain;
	h->is_connected = true;
	h->num_posted_rx = ENGINE_DEPTH;
	atomic_store(&h->sq_size, ENGINE_DEPTH);
	atomic_store(&h->subsys, &e->subsys);
	init_requests(h);
	for (uint32_t i = 0; i < ENGINE_DEPTH; i++)
		assert_int_equal(fake_post_recv(h->qp, &h->rxs[i].recv, &bad), 0);
	h->next = e->io.qps;
	e->io.qps = h;
	sta_eu_post(h->eu, &h->established_msg);
	return qp;
}

/* ---- back-end queues ---- */

static void nothing(void *arg)
{
	(void)arg;
}

static unsigned int poll_nothing(void *arg)
{
	(void)arg;
	return 0;
}

static const struct doca_softsta_queue_ops no_companion = {nothing, poll_nothing};

static void on_timeout(void *sta, struct sta_msg *msg)
{
	struct engine_beq *q = util_container_of(msg, struct engine_beq, h.timeout_msg);

	(void)sta;
	q->num_timeouts++;
	atomic_store(&q->h.is_timeout_posted, false);
}

static void on_closed(void *sta, struct sta_msg *msg)
{
	(void)sta;
	util_container_of(msg, struct engine_beq, h.closed_msg)->num_closed++;
}

void engine_add_beq(struct engine *e, struct engine_beq *q, unsigned int eu)
{
	struct sta_nvq_mem mem = {q->sq, q->cq, &q->doorbells[0], &q->doorbells[1], ENGINE_RING};

	memset(q, 0, sizeof(*q));
	q->phase = 1;
	assert_int_equal(sta_nvq_init(&q->h.q, &mem), 0);
	q->h.be = &e->be;
	q->h.eu = &e->eus[eu].eu;
	q->h.companion = (struct core_companion){&no_companion, -1, NULL};
	q->h.wait_tail = &q->h.wait;
	q->h.add_msg.fn = sta_beq_on_add;
	q->h.close_msg.fn = sta_beq_on_close;
	q->h.halt_msg.fn = sta_beq_on_halt;
	q->h.closed_msg.fn = on_closed;
	q->h.timeout_msg.fn = on_timeout;
	sta_eu_post(q->h.eu, &q->h.add_msg);
	for (unsigned int i = 0; i < ENGINE_EUS; i++)
		atomic_store(&e->be.route[i], &q->h);
}

void engine_close_beq(struct engine_beq *q)
{
	for (unsigned int i = 0; i < ENGINE_EUS; i++)
		atomic_store(&q->h.be->route[i], NULL);
	sta_eu_post(q->h.eu, &q->h.close_msg);
}

void engine_free_beq(struct engine_beq *q)
{
	sta_nvq_fini(&q->h.q);
}

bool engine_be_fetch(struct engine_beq *q, struct sta_sqe *sqe)
{
	if (q->head == q->doorbells[0])
		return false;
	*sqe = q->sq[q->head];
	q->head = (q->head + 1) % ENGINE_RING;
	return true;
}

void engine_be_complete(struct engine_beq *q, const struct sta_sqe *sqe, uint16_t status,
			uint32_t dw0)
{
	q->cq[q->cq_tail] = (struct sta_cqe){
		.dw0 = htole32(dw0),
		.cid = sqe->cid,
		.status = htole16((uint16_t)(status << 1 | q->phase)),
	};
	q->cq_tail = (q->cq_tail + 1) % ENGINE_RING;
	if (!q->cq_tail)
		q->phase ^= 1;
}

/* ---- time and commands ---- */

void engine_round(struct engine *e, unsigned int eu)
{
	(void)sta_eu_run(&e->eus[eu].eu);
}

void engine_run(struct engine *e)
{
	bool is_busy = true;

	/* An idle round grants and posts what the one before gave back: quiet is two of them. */
	for (unsigned int quiet = 0; quiet < 2; quiet = is_busy ? 0 : quiet + 1) {
		is_busy = false;
		for (unsigned int i = 0; i < ENGINE_EUS; i++)
			is_busy |= sta_eu_run(&e->eus[i].eu) != 0;
		while (sta_inbox_run_one(&e->io.inbox, &e->io))
			is_busy = true;
		while (sta_inbox_run_one(&e->sta.inbox, &e->sta))
			is_busy = true;
	}
}

void engine_set_time(struct engine *e, uint64_t now_ns)
{
	for (unsigned int i = 0; i < ENGINE_EUS; i++)
		e->eus[i].eu.now_ns = now_ns;
}

struct sta_sqe engine_io_sqe(uint8_t opcode, uint16_t cid, uint16_t num_blocks)
{
	struct sta_sqe sqe = {
		.opcode = opcode,
		.flags = STA_SQE_PSDT_SGL,
		.cid = htole16(cid),
		.nsid = htole32(1),
		.cdw12 = htole32(num_blocks ? num_blocks - 1u : 0),
	};

	engine_set_keyed(&sqe, NULL, 0, 0, false);
	return sqe;
}

void engine_set_keyed(struct sta_sqe *sqe, const void *addr, uint32_t bytes, uint32_t key,
		      bool is_invalidate)
{
	uint8_t *d = sqe->sgl;

	util_put_le64(d, (uintptr_t)addr);
	d[8] = (uint8_t)bytes;
	d[9] = (uint8_t)(bytes >> 8);
	d[10] = (uint8_t)(bytes >> 16);
	util_put_le32(d + 11, key);
	d[15] = STA_SGL_KEYED_DATA_BLOCK << 4 |
		(is_invalidate ? STA_SGL_INVALIDATE_KEY : STA_SGL_ADDRESS);
}

void engine_set_in_capsule(struct sta_sqe *sqe, uint32_t offset, uint32_t bytes)
{
	uint8_t *d = sqe->sgl;

	memset(d, 0, 16);
	util_put_le64(d, offset);
	util_put_le32(d + 8, bytes);
	d[15] = STA_SGL_DATA_BLOCK << 4 | STA_SGL_OFFSET;
}

/* ---- with a disk -------------------------------------------------------------------------- */

struct engine_beq engine_disk;

int engine_disk_setup(void **state)
{
	struct engine *e;

	if (engine_setup(state))
		return -1;
	e = *state;
	engine_add_beq(e, &engine_disk, 0);
	for (unsigned int i = 0; i < ENGINE_EUS; i++) {
		engine_add_slots(e, i, STA_SLOT_SMALL, 8);
		engine_add_slots(e, i, STA_SLOT_PAGE, 2);
	}
	return 0;
}

int engine_disk_teardown(void **state)
{
	engine_free_beq(&engine_disk);
	return engine_teardown(state);
}

void engine_finish(struct engine *e, struct engine_qp *qp)
{
	engine_run(e);
	engine_deliver(qp);
	engine_run(e);
}

struct sta_sqe engine_run_to_disk(struct engine *e, struct engine_qp *qp)
{
	struct sta_sqe sqe;

	engine_finish(e, qp);
	assert_true(engine_be_fetch(&engine_disk, &sqe));
	return sqe;
}

uint16_t engine_answer_status(const struct engine_qp *qp)
{
	assert_true(qp->num_answers > 0);
	return le16toh(qp->answers[qp->num_answers - 1].status) >> 1;
}

void engine_assert_at_rest(const struct engine *e, const struct engine_qp *qp)
{
	assert_int_equal(qp->sta->num_busy, 0);
	assert_int_equal(qp->sta->num_posted_tx, 0);
	assert_int_equal(qp->sta->num_posted_rx, qp->is_error ? 0 : ENGINE_DEPTH);
	assert_int_equal(qp->num_recvs, qp->is_error ? 0 : ENGINE_DEPTH);
	assert_int_equal(e->eus[0].eu.pool.classes[STA_SLOT_SMALL].num_free, 8);
	assert_int_equal(e->eus[0].eu.pool.classes[STA_SLOT_PAGE].num_free, 2);
	for (unsigned int i = 0; i < ENGINE_EUS; i++)
		assert_int_equal(e->ns->eu[i].num_inflight, 0);
}
