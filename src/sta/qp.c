/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections on the control path: from a rdma_cm_id to a QP that an EU serves, and back. All on
 * the thread of the STA IO context; the EU is told by messages.
 *
 *   alloc -> accept -> (established) -> (quiesce) -> drain -> gone -> freed
 *
 * The rdma_cm_id is ours from accept on, whatever the result. A QP is freed when the application
 * has destroyed it, the EU has reported it gone, and no task refers to it.
 */
#include "sta/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "core/dev.h"
#include "sta/log.h"
#include "sta/status.h"

/* NVMe RDMA transport 1.0, figures 5 and 6: accept and reject private data. */
#define NVME_RDMA_CM_NO_RSC	 0x06
#define NVME_RDMA_CRQSIZE_OFFSET 2

static void on_quiesced(void *owner, struct sta_msg *msg);
static void on_drained(void *owner, struct sta_msg *msg);
static void on_reaped(void *owner, struct sta_msg *msg);

void sta_qp_get(struct doca_sta_qp_handle *qp)
{
	atomic_fetch_add(&qp->num_refs, 1);
}

void sta_qp_put(struct doca_sta_qp_handle *qp)
{
	if (atomic_fetch_sub(&qp->num_refs, 1) == 1)
		free(qp);
}

bool sta_io_has_qp(const struct doca_sta_io *io, const struct doca_sta_qp_handle *qp)
{
	for (const struct doca_sta_qp_handle *q = io->qps; q; q = q->next) {
		if (q == qp)
			return !q->is_destroyed;
	}
	return false;
}

doca_error_t doca_sta_io_qp_alloc(struct doca_sta_io *io, const struct doca_dev *dev,
				  struct doca_sta_qp_handle **ret)
{
	struct doca_sta_qp_handle *qp;

	if (!io || !dev || !ret || !sta_has_dev(io->sta, dev))
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_running(&io->ctx))
		return DOCA_ERROR_BAD_STATE;
	if (atomic_fetch_add(&io->sta->num_qps, 1) >= STA_MAX_QPS)
		goto err_uncount;
	qp = aligned_alloc(64, (sizeof(*qp) + 63) & ~(size_t)63);
	if (!qp)
		goto err_uncount;
	*qp = (struct doca_sta_qp_handle){.io = io, .index = io->next_index++};
	atomic_init(&qp->num_refs, 1);
	qp->established_msg.fn = sta_qp_on_established;
	qp->quiesce_msg.fn = sta_qp_on_quiesce;
	qp->drain_msg.fn = sta_qp_on_drain;
	qp->reap_msg.fn = sta_qp_on_reap;
	qp->quiesced_msg.fn = on_quiesced;
	qp->drained_msg.fn = on_drained;
	qp->reaped_msg.fn = on_reaped;
	qp->error_msg.fn = sta_io_on_qp_error;
	qp->pending_tail = &qp->pending;
	qp->rx_chain_tail = &qp->rx_chain;
	qp->tx_chain_tail = &qp->tx_chain;
	qp->next = io->qps;
	io->qps = qp;
	io->num_qps++;
	sta_debug("qp", "sta io %p: qp handle %p allocated", (void *)io, (void *)qp);
	*ret = qp;
	return DOCA_SUCCESS;

err_uncount:
	atomic_fetch_sub(&io->sta->num_qps, 1);
	return DOCA_ERROR_NO_MEMORY;
}

/* Receive pages first, then commands, then responses. */
static size_t mem_bytes(uint32_t depth)
{
	return (size_t)depth * (STA_ICD_BYTES + STA_SQE_BYTES + STA_CQE_BYTES);
}

static void free_memory(struct doca_sta_qp_handle *qp)
{
	if (qp->mr)
		(void)ibv_dereg_mr(qp->mr);
	if (qp->mem)
		qp->io->sta->mem.free(qp->mem);
	free(qp->rxs);
	free(qp->reqs);
	qp->mr = NULL;
	qp->mem = NULL;
	qp->rxs = NULL;
	qp->reqs = NULL;
	qp->free_reqs = NULL;
}

static doca_error_t init_rxs(struct doca_sta_qp_handle *qp)
{
	uint8_t *pages = qp->mem;
	struct sta_sqe *sqes = (void *)(pages + (size_t)qp->depth * STA_ICD_BYTES);
	struct sta_cqe *rsps = (void *)(sqes + qp->depth);

	for (uint32_t i = 0; i < qp->depth; i++) {
		struct sta_rx *rx = &qp->rxs[i];
		struct sta_req *req = &qp->reqs[i];

		rx->data = pages + (size_t)i * STA_ICD_BYTES;
		rx->data_phys = qp->io->sta->mem.vtophys(rx->data, STA_ICD_BYTES);
		if (rx->data_phys == DOCA_STA_VTOPHYS_ERROR)
			return DOCA_ERROR_DRIVER;
		rx->sqe = &sqes[i];
		sta_xfer_init_rx(rx, qp);
		req->rsp = &rsps[i];
		sta_xfer_init_req(req, qp);
		req->next = qp->free_reqs;
		qp->free_reqs = req;
	}
	return DOCA_SUCCESS;
}

static doca_error_t alloc_memory(struct doca_sta_qp_handle *qp, struct ibv_pd *pd)
{
	doca_error_t err = DOCA_ERROR_NO_MEMORY;
	uint64_t phys;

	qp->rxs = calloc(qp->depth, sizeof(*qp->rxs));
	qp->reqs = calloc(qp->depth, sizeof(*qp->reqs));
	qp->mem = qp->io->sta->mem.zmalloc(mem_bytes(qp->depth), STA_PAGE_BYTES, &phys);
	if (qp->rxs && qp->reqs && qp->mem)
		qp->mr = ibv_reg_mr(pd, qp->mem, mem_bytes(qp->depth), IBV_ACCESS_LOCAL_WRITE);
	if (qp->mr)
		err = init_rxs(qp);
	if (err != DOCA_SUCCESS)
		free_memory(qp);
	return err;
}

static struct sta_eu *least_loaded_eu(struct doca_sta *sta)
{
	struct sta_eu *eu = &sta->eus[0].eu;

	for (uint32_t i = 1; i < sta->num_eus; i++) {
		if (sta->eus[i].eu.num_qps < eu->num_qps)
			eu = &sta->eus[i].eu;
	}
	return eu;
}

/* A completion for each receive, each send, and each write that fails. */
static uint32_t cq_entries(uint32_t depth)
{
	return 3 * depth;
}

/* Device, EU and completion queue for @qp; its depth bounded by the device. */
static doca_error_t place(struct doca_sta_qp_handle *qp, struct ibv_context *verbs,
			  struct sta_vdev **ret)
{
	struct doca_sta *sta = qp->io->sta;
	struct sta_vdev *vdev;
	doca_error_t err;

	pthread_mutex_lock(&sta->lock);
	err = sta_vdev_get(sta, verbs, &vdev);
	if (err != DOCA_SUCCESS)
		goto out;
	qp->vdev = vdev->idx;
	qp->eu = least_loaded_eu(sta);
	if (qp->eu->num_qps == STA_MAX_QPS_PER_EU) {
		err = DOCA_ERROR_NO_MEMORY;
		goto out;
	}
	if (qp->depth > vdev->max_wr / 2)
		qp->depth = vdev->max_wr / 2;
	err = sta_vdev_take_cq(vdev, qp->eu, cq_entries(qp->depth), &qp->cq);
	if (err != DOCA_SUCCESS)
		goto out;
	err = sta_vdev_add_memory(sta, vdev, qp->eu);
	if (err != DOCA_SUCCESS) {
		qp->cq->room += cq_entries(qp->depth);
		goto out;
	}
	qp->eu->num_qps++;
	*ret = vdev;
out:
	pthread_mutex_unlock(&sta->lock);
	return err;
}

/* From here on other threads find it, and read its number. */
static void show(struct doca_sta_qp_handle *qp)
{
	struct doca_sta *sta = qp->io->sta;

	pthread_mutex_lock(&sta->lock);
	qp->next_of_eu = qp->eu->qps;
	qp->eu->qps = qp;
	pthread_mutex_unlock(&sta->lock);
}

static void unplace(struct doca_sta_qp_handle *qp)
{
	struct doca_sta *sta = qp->io->sta;
	struct doca_sta_qp_handle **p;

	pthread_mutex_lock(&sta->lock);
	for (p = &qp->eu->qps; *p && *p != qp; p = &(*p)->next_of_eu)
		;
	if (*p)
		*p = qp->next_of_eu;
	qp->eu->num_qps--;
	qp->cq->room += cq_entries(qp->depth);
	pthread_mutex_unlock(&sta->lock);
}

static doca_error_t create_qp(struct doca_sta_qp_handle *qp, struct rdma_cm_id *id,
			      struct ibv_pd *pd)
{
	struct ibv_qp_init_attr attr = {
		.qp_context = qp,
		.send_cq = qp->cq->cq,
		.recv_cq = qp->cq->cq,
		.cap = {.max_send_wr = 2 * qp->depth, /* a write and a send for each request */
			.max_recv_wr = qp->depth,
			.max_send_sge = 1,
			.max_recv_sge = 2},
		.qp_type = IBV_QPT_RC,
	};

	if (rdma_create_qp(id, pd, &attr))
		return sta_error_from_device(errno);
	qp->qp = id->qp;
	qp->qpn = id->qp->qp_num;
	qp->port_id = id->port_num;
	return DOCA_SUCCESS;
}

/* The whole receive queue is there before the peer can send (it would meet RNR). */
static doca_error_t post_all_rx(struct doca_sta_qp_handle *qp)
{
	struct ibv_recv_wr *bad = NULL;
	int err;

	for (uint32_t i = 0; i < qp->depth; i++)
		qp->rxs[i].recv.next = i + 1 < qp->depth ? &qp->rxs[i + 1].recv : NULL;
	err = ibv_post_recv(qp->qp, &qp->rxs[0].recv, &bad);
	/* After a failure, too, what was posted comes back flushed. */
	for (struct ibv_recv_wr *wr = &qp->rxs[0].recv; wr && !(err && wr == bad); wr = wr->next)
		qp->num_posted_rx++;
	return err ? sta_error_from_device(err) : DOCA_SUCCESS;
}

static void bind_subsystem(struct doca_sta_qp_handle *qp, struct doca_sta_subs_handle *subsys)
{
	sta_debug("qp", "qp %u: belongs to subsystem %s", qp->qpn, subsys->nqn);
	atomic_fetch_add(&subsys->num_qps, 1);
	atomic_store_explicit(&qp->subsys, subsys, memory_order_release);
}

static doca_error_t accept_id(struct rdma_cm_id *id, const void *priv_data, uint32_t priv_size)
{
	/* The maxima stand for what the request offered, bounded by the device (rdma_accept(3)).
	 * RNR retry 7 is without end: the host may be slow to post receives for responses. */
	struct rdma_conn_param param = {
		.private_data = priv_data,
		.private_data_len = (uint8_t)priv_size,
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.flow_control = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	return rdma_accept(id, &param) ? sta_error_from_device(errno) : DOCA_SUCCESS;
}

/* The application says in its accept record how many commands it lets the host have. */
static uint32_t depth_of(const void *priv_data, uint32_t priv_size)
{
	uint16_t crqsize = 0;

	if (priv_data && priv_size >= NVME_RDMA_CRQSIZE_OFFSET + sizeof(crqsize))
		memcpy(&crqsize, (const uint8_t *)priv_data + NVME_RDMA_CRQSIZE_OFFSET,
		       sizeof(crqsize));
	crqsize = le16toh(crqsize);
	if (crqsize < STA_MIN_QUEUE_DEPTH || crqsize > STA_MAX_QUEUE_DEPTH)
		return STA_MAX_QUEUE_DEPTH;
	return crqsize;
}

static doca_error_t check_accept(struct doca_sta_io *io, struct doca_sta_qp_handle *qp,
				 const struct doca_dev *dev, const struct rdma_cm_id *id,
				 const struct doca_sta_subs_handle *subsys)
{
	if (!io || !dev || !id->verbs || !sta_io_has_qp(io, qp) || !sta_has_dev(io->sta, dev))
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_running(&io->ctx) || qp->id)
		return DOCA_ERROR_BAD_STATE;
	if (subsys && subsys->sta != io->sta)
		return DOCA_ERROR_INVALID_VALUE;
	if (subsys && atomic_load(&qp->subsys))
		return DOCA_ERROR_ALREADY_EXIST;
	/* librdmacm opened the device for itself; it is the same if it has the same name. */
	if (strcmp(ibv_get_device_name(id->verbs->device), doca_priv_dev_get_name(dev)) != 0)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

static void reject(struct rdma_cm_id *id)
{
	const uint16_t rej[2] = {htole16(0), htole16(NVME_RDMA_CM_NO_RSC)};

	(void)rdma_reject(id, rej, sizeof(rej));
}

/* On failure with qp->qp set the peer may know the QP and the EU may have met it: drain it. */
static doca_error_t bring_up(struct doca_sta_qp_handle *qp, const void *priv_data,
			     uint32_t priv_size)
{
	struct sta_vdev *vdev;
	doca_error_t err;

	qp->depth = depth_of(priv_data, priv_size);
	err = place(qp, qp->id->verbs, &vdev);
	if (err != DOCA_SUCCESS)
		return err;
	atomic_store(&qp->sq_size, qp->depth);
	err = alloc_memory(qp, vdev->pd);
	if (err != DOCA_SUCCESS)
		goto err_unplace;
	err = create_qp(qp, qp->id, vdev->pd);
	if (err != DOCA_SUCCESS)
		goto err_free_memory;
	show(qp);
	err = post_all_rx(qp);
	if (err != DOCA_SUCCESS)
		return err;
	return accept_id(qp->id, priv_data, priv_size);

err_free_memory:
	free_memory(qp);
err_unplace:
	unplace(qp);
	return err;
}

doca_error_t doca_sta_io_qp_accept(struct doca_sta_io *io, struct doca_sta_qp_handle *qp,
				   const struct doca_dev *dev, struct rdma_cm_id *id,
				   const void *priv_data, uint32_t priv_size,
				   struct doca_sta_subs_handle *subsys)
{
	doca_error_t err;

	if (!id)
		return DOCA_ERROR_INVALID_VALUE;
	err = priv_size > UINT8_MAX || (priv_size && !priv_data)
		      ? DOCA_ERROR_INVALID_VALUE
		      : check_accept(io, qp, dev, id, subsys);
	if (err != DOCA_SUCCESS)
		goto err_destroy_id;
	qp->id = id;
	err = bring_up(qp, priv_data, priv_size);
	if (err == DOCA_SUCCESS) {
		sta_debug("qp", "qp %u: accepted on device %s port %u, depth %u, eu %u, handle %p",
			  qp->qpn, doca_priv_dev_get_name(dev), qp->port_id, qp->depth, qp->eu->idx,
			  (void *)qp);
		/* In time: nothing needs it before the application has answered Connect. */
		if (subsys)
			bind_subsystem(qp, subsys);
		return DOCA_SUCCESS;
	}
	sta_debug("qp", "sta io %p: accept fails: %s", (void *)io, doca_error_get_name(err));
	if (qp->qp) {
		reject(id);
		sta_qp_start_drain(qp);
		return err;
	}
	qp->id = NULL;
err_destroy_id:
	reject(id);
	(void)rdma_destroy_id(id);
	return err;
}

doca_error_t doca_sta_io_qp_connect(struct doca_sta_io *io, const struct doca_dev *dev,
				    struct rdma_cm_id *id, const void *priv_data,
				    uint32_t priv_size, struct doca_sta_subs_handle *subsys,
				    struct doca_sta_qp_handle **ret)
{
	struct doca_sta_qp_handle *qp;
	doca_error_t err;

	if (!id)
		return DOCA_ERROR_INVALID_VALUE;
	err = ret ? doca_sta_io_qp_alloc(io, dev, &qp) : DOCA_ERROR_INVALID_VALUE;
	if (err != DOCA_SUCCESS) {
		reject(id);
		(void)rdma_destroy_id(id);
		return err;
	}
	err = doca_sta_io_qp_accept(io, qp, dev, id, priv_data, priv_size, subsys);
	if (err != DOCA_SUCCESS) {
		(void)doca_sta_io_qp_destroy(io, qp);
		return err;
	}
	*ret = qp;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_qp_connect_established(struct doca_sta_io *io,
						struct doca_sta_qp_handle *qp)
{
	if (!io || !sta_io_has_qp(io, qp))
		return DOCA_ERROR_INVALID_VALUE;
	if (!qp->qp || qp->is_draining)
		return DOCA_ERROR_BAD_STATE;
	if (!qp->is_established) {
		sta_debug("qp", "qp %u: established", qp->qpn);
		sta_eu_post(qp->eu, &qp->established_msg);
	}
	qp->is_established = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_qp_connect_set_sq_size(struct doca_sta_io *io,
						struct doca_sta_qp_handle *qp, uint16_t sq_size)
{
	if (!io || !sta_io_has_qp(io, qp) || sq_size < STA_MIN_QUEUE_DEPTH ||
	    sq_size > STA_MAX_QUEUE_DEPTH)
		return DOCA_ERROR_INVALID_VALUE;
	atomic_store(&qp->sq_size, sq_size);
	sta_debug("qp", "qp %u: sq size %u", qp->qpn, sq_size);
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_qp_add_subsystem(struct doca_sta_io *io,
					  struct doca_sta_subs_handle *subsys,
					  struct doca_sta_qp_handle *qp)
{
	if (!io || !subsys || subsys->sta != io->sta || !sta_io_has_qp(io, qp))
		return DOCA_ERROR_INVALID_VALUE;
	if (atomic_load(&qp->subsys))
		return DOCA_ERROR_ALREADY_EXIST;
	bind_subsystem(qp, subsys);
	return DOCA_SUCCESS;
}

void sta_qp_start_drain(struct doca_sta_qp_handle *qp)
{
	if (qp->is_draining)
		return;
	qp->is_draining = true;
	sta_debug("qp", "qp %u: disconnecting, draining", qp->qpn);
	/* Fails when the connection never came to be, or is broken: drained all the same. */
	(void)rdma_disconnect(qp->id);
	sta_eu_post(qp->eu, &qp->drain_msg);
}

static void start_quiesce(struct doca_sta_qp_handle *qp)
{
	if (qp->is_quiescing || qp->is_draining)
		return;
	qp->is_quiescing = true;
	sta_debug("qp", "qp %u: quiescing", qp->qpn);
	sta_eu_post(qp->eu, &qp->quiesce_msg);
}

static void on_quiesced(void *owner, struct sta_msg *msg)
{
	(void)owner;
	sta_qp_start_drain(util_container_of(msg, struct doca_sta_qp_handle, quiesced_msg));
}

static void unlink_from_io(struct doca_sta_qp_handle *qp)
{
	struct doca_sta_qp_handle **p;

	for (p = &qp->io->qps; *p != qp; p = &(*p)->next)
		;
	*p = qp->next;
	qp->io->num_qps--;
}

void sta_qp_hold_task(struct doca_sta_qp_handle *qp, struct sta_task *task)
{
	task->qp = qp;
	qp->num_tasks++;
}

void sta_qp_release_task(struct doca_sta_qp_handle *qp)
{
	qp->num_tasks--;
	sta_qp_free_if_unused(qp);
}

/* The EU is done with it. Its id goes at once: it may have events that the application hears. */
static void close_connection(struct doca_sta_qp_handle *qp)
{
	if (!qp->id)
		return;
	rdma_destroy_qp(qp->id);
	(void)rdma_destroy_id(qp->id);
	qp->id = NULL;
}

void sta_qp_free_if_unused(struct doca_sta_qp_handle *qp)
{
	struct doca_sta_subs_handle *subsys = atomic_load(&qp->subsys);
	struct doca_sta_io *io = qp->io;

	if (!qp->is_destroyed || (qp->qp && !qp->is_gone) || qp->is_reaping)
		return;
	close_connection(qp);
	if (qp->num_tasks)
		return;
	if (qp->num_tokens || qp->has_leftovers) {
		qp->is_reaping = true;
		sta_eu_post(qp->eu, &qp->reap_msg);
		return;
	}
	if (qp->qp) {
		free_memory(qp);
		unplace(qp);
	}
	if (subsys)
		atomic_fetch_sub(&subsys->num_qps, 1);
	unlink_from_io(qp);
	sta_debug("qp", "qp %u: freed, handle %p", qp->qpn, (void *)qp);
	atomic_fetch_sub(&io->sta->num_qps, 1);
	sta_qp_put(qp);
	/* A context that waits for its last QP looks again. */
	doca_priv_ctx_wake(&io->ctx);
}

static void on_drained(void *owner, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *qp =
		util_container_of(msg, struct doca_sta_qp_handle, drained_msg);
	struct sta_task *task;

	(void)owner;
	qp->is_gone = true;
	sta_debug("qp", "qp %u: gone, %u tasks, %u open commands", qp->qpn, qp->num_tasks,
		  qp->num_tokens);
	/* The callbacks may destroy the QP. */
	qp->num_tasks++;
	while ((task = qp->disconnects)) {
		qp->disconnects = task->next;
		sta_task_finish(task);
	}
	qp->num_tasks--;
	sta_qp_free_if_unused(qp);
}

static void on_reaped(void *owner, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *qp =
		util_container_of(msg, struct doca_sta_qp_handle, reaped_msg);

	(void)owner;
	qp->num_tokens = 0;
	qp->has_leftovers = false;
	qp->is_reaping = false;
	sta_qp_free_if_unused(qp);
}

static void destroy(struct doca_sta_qp_handle *qp, bool is_in_order)
{
	qp->is_destroyed = true;
	if (qp->qp && is_in_order)
		start_quiesce(qp);
	else if (qp->qp)
		sta_qp_start_drain(qp);
	sta_qp_free_if_unused(qp);
}

doca_error_t doca_sta_io_qp_destroy(struct doca_sta_io *io, struct doca_sta_qp_handle *qp)
{
	if (!io || !sta_io_has_qp(io, qp))
		return DOCA_ERROR_INVALID_VALUE;
	destroy(qp, false);
	return DOCA_SUCCESS;
}

void sta_qp_destroy_all(struct doca_sta_io *io)
{
	struct doca_sta_qp_handle *qp, *next;

	for (qp = io->qps; qp; qp = next) {
		next = qp->next;
		if (!qp->is_destroyed)
			destroy(qp, true);
	}
}

doca_error_t doca_sta_io_qp_get_id(struct doca_sta_qp_handle *qp, uint32_t *qp_id)
{
	if (!qp || !qp_id)
		return DOCA_ERROR_INVALID_VALUE;
	if (!qp->qp)
		return DOCA_ERROR_BAD_STATE;
	*qp_id = qp->qpn;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_qp_get_port_id(struct doca_sta_qp_handle *qp, uint16_t *port_id)
{
	if (!qp || !port_id)
		return DOCA_ERROR_INVALID_VALUE;
	*port_id = qp->port_id;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_qp_get_group_id(struct doca_sta_qp_handle *qp, uint16_t *group_id)
{
	if (!qp || !group_id)
		return DOCA_ERROR_INVALID_VALUE;
	/* The completion group is the EU. */
	*group_id = (uint16_t)(qp->eu ? qp->eu->idx : 0);
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_qp_get_index_in_group(struct doca_sta_qp_handle *qp, uint16_t *qp_idx)
{
	if (!qp || !qp_idx)
		return DOCA_ERROR_INVALID_VALUE;
	*qp_idx = qp->index;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_qp_set_user_data(struct doca_sta_io *io, struct doca_sta_qp_handle *qp,
					  union doca_data user_data)
{
	if (!io || !sta_io_has_qp(io, qp))
		return DOCA_ERROR_INVALID_VALUE;
	qp->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_io_qp_get_user_data(const struct doca_sta_qp_handle *qp,
					  union doca_data *user_data)
{
	if (!qp || !user_data)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = qp->user_data;
	return DOCA_SUCCESS;
}
