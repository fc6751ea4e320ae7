/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pairs: creation and destruction, and the engine's questions and reports turned into memory
 * regions, completions and events. State changes are in qp_modify.c.
 */
#include "roce/qp.h"

#include <errno.h>
#include <stdlib.h>

#include "roce/lane.h"
#include "roce/mr.h"
#include "roce/ops.h"
#include "roce/progress.h"

/* --- what the engine asks, lane lock held --------------------------------------------------- */

static void *on_map(void *owner, uint32_t key, uint64_t va, uint32_t len, int access)
{
	const struct roce_qp *qp = owner;

	return roce_mr_map(qp->lane->dev->mrs, qp->ibqp.pd, key, va, len, access);
}

static int on_invalidate(void *owner, uint32_t key, bool is_remote)
{
	const struct roce_qp *qp = owner;
	int rc = roce_mr_invalidate(qp->lane->dev->mrs, qp->ibqp.pd, key);

	(void)is_remote; /* the same rights are needed either way */
	if (rc == 0)
		qp->lane->mr_epoch++;
	return rc;
}

static void on_send_done(void *owner, const struct roce_send_done *done)
{
	const struct roce_qp *qp = owner;
	const struct ibv_wc wc = {
		.wr_id = done->wr_id,
		.status = done->status,
		.opcode = done->opcode,
		.byte_len = done->byte_len,
		.qp_num = qp->ibqp.qp_num,
	};

	roce_cq_push(roce_cq(qp->ibqp.send_cq), &wc, false);
}

static void on_recv_done(void *owner, const struct roce_recv_done *done)
{
	const struct roce_qp *qp = owner;
	struct ibv_wc wc = {
		.wr_id = done->wr_id,
		.status = done->status,
		.opcode = done->opcode,
		.byte_len = done->byte_len,
		.qp_num = qp->ibqp.qp_num,
		.src_qp = qp->attr.dest_qp_num,
		.wc_flags = done->wc_flags,
	};

	if (done->wc_flags & IBV_WC_WITH_INV)
		wc.invalidated_rkey = done->invalidated_rkey;
	else
		wc.imm_data = done->imm_data;
	roce_cq_push(roce_cq(qp->ibqp.recv_cq), &wc, done->solicited);
}

static void post_event(struct roce_qp *qp, enum ibv_event_type type)
{
	roce_async_post(qp->ibqp.context,
			&(struct ibv_async_event){.element.qp = &qp->ibqp, .event_type = type});
}

static void on_first_packet(void *owner)
{
	struct roce_qp *qp = owner;

	/* A program in RTS waits for nothing; the CM may still wait for an RTU that was lost. */
	if (qp->ibqp.state == IBV_QPS_RTR)
		post_event(qp, IBV_EVENT_COMM_EST);
	roce_progress_comm_est(qp->lane->dev, qp->ibqp.qp_num);
}

static void on_error(void *owner, enum ibv_wc_status reason)
{
	struct roce_qp *qp = owner;

	qp->ibqp.state = IBV_QPS_ERR;
	qp->attr.qp_state = IBV_QPS_ERR;
	/* Only what no completion tells is an event (IBTA 11.6.3.2). */
	if (reason == IBV_WC_REM_ACCESS_ERR)
		post_event(qp, IBV_EVENT_QP_ACCESS_ERR);
	else if (reason == IBV_WC_REM_INV_REQ_ERR)
		post_event(qp, IBV_EVENT_QP_REQ_ERR);
	else if (reason == IBV_WC_REM_OP_ERR)
		post_event(qp, IBV_EVENT_QP_FATAL);
	roce_progress_qp_error(qp->lane->dev, qp->ibqp.qp_num);
}

static const struct roce_rc_ops engine_ops = {
	.map = on_map,
	.invalidate = on_invalidate,
	.send_done = on_send_done,
	.recv_done = on_recv_done,
	.first_packet = on_first_packet,
	.error = on_error,
};

/* --- life ---------------------------------------------------------------------------------- */

bool roce_qp_is_soft(const struct ibv_qp *qp)
{
	return qp && roce_device_from_context(qp->context);
}

static int check_init_attr(const struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	const struct ibv_qp_cap *cap = &attr->cap;

	if (attr->qp_type != IBV_QPT_RC || attr->srq)
		return -EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq ||
	    roce_device_from_context(attr->send_cq->context) !=
		    roce_device_from_context(pd->context) ||
	    roce_device_from_context(attr->recv_cq->context) !=
		    roce_device_from_context(pd->context))
		return -EINVAL;
	if (cap->max_send_wr > ROCE_MAX_QP_WR || cap->max_recv_wr > ROCE_MAX_QP_WR ||
	    cap->max_send_sge > ROCE_MAX_SGE || cap->max_recv_sge > ROCE_MAX_SGE ||
	    cap->max_inline_data > ROCE_MAX_INLINE)
		return -EINVAL;
	return 0;
}

/* A queue of 0 is allowed by the verbs; a ring has room for one at least. */
static uint32_t at_least_one(uint32_t n)
{
	return n ? n : 1;
}

static int init_engine(struct roce_qp *qp, const struct ibv_qp_init_attr *attr)
{
	const struct roce_rc_cfg cfg = {
		.ops = &engine_ops,
		.owner = qp,
		.mr_epoch = &qp->lane->mr_epoch,
		.rq = &qp->rq,
		.sq_sig_all = attr->sq_sig_all,
		.max_send_wr = at_least_one(attr->cap.max_send_wr),
		.max_send_sge = at_least_one(attr->cap.max_send_sge),
		.max_inline = attr->cap.max_inline_data,
	};
	uint32_t recv_wr = at_least_one(attr->cap.max_recv_wr);
	uint32_t recv_sge = at_least_one(attr->cap.max_recv_sge);
	size_t rc_bytes = (roce_rc_mem_bytes(&cfg) + 15) & ~(size_t)15;

	qp->mem = malloc(rc_bytes + roce_rq_mem_bytes(recv_wr, recv_sge));
	if (!qp->mem)
		return -ENOMEM;
	roce_rq_init(&qp->rq, (char *)qp->mem + rc_bytes, recv_wr, recv_sge);
	roce_rc_init(&qp->rc, &cfg, qp->mem);
	return 0;
}

static void fill_ibqp(struct roce_qp *qp, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	qp->init = *attr;
	qp->ibqp.context = pd->context;
	qp->ibqp.qp_context = attr->qp_context;
	qp->ibqp.pd = pd;
	qp->ibqp.send_cq = attr->send_cq;
	qp->ibqp.recv_cq = attr->recv_cq;
	qp->ibqp.state = IBV_QPS_RESET;
	qp->ibqp.qp_type = attr->qp_type;
	pthread_mutex_init(&qp->ibqp.mutex, NULL);
	pthread_cond_init(&qp->ibqp.cond, NULL);
	qp->lane = roce_device_from_context(pd->context)->lane;
}

static void count_users(struct roce_qp *qp, int change)
{
	atomic_fetch_add(&roce_pd(qp->ibqp.pd)->users, (unsigned int)change);
	atomic_fetch_add(&roce_cq(qp->ibqp.send_cq)->users, (unsigned int)change);
	atomic_fetch_add(&roce_cq(qp->ibqp.recv_cq)->users, (unsigned int)change);
}

static void free_qp(struct roce_qp *qp)
{
	pthread_mutex_destroy(&qp->ibqp.mutex);
	pthread_cond_destroy(&qp->ibqp.cond);
	free(qp->mem);
	free(qp);
}

int roce_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, struct ibv_qp **out)
{
	struct roce_qp *qp;
	int rc = check_init_attr(pd, attr);

	if (rc)
		return rc;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	fill_ibqp(qp, pd, attr);
	rc = init_engine(qp, attr);
	if (rc)
		goto err_free;
	rc = roce_device_get(qp->lane->dev);
	if (rc)
		goto err_free;
	pthread_mutex_lock(&qp->lane->lock);
	rc = roce_lane_add_qp(qp->lane, qp);
	pthread_mutex_unlock(&qp->lane->lock);
	if (rc)
		goto err_put_device;
	qp->ibqp.handle = qp->ibqp.qp_num;
	count_users(qp, 1);
	*out = &qp->ibqp;
	return 0;

err_put_device:
	roce_device_put(qp->lane->dev);
err_free:
	free_qp(qp);
	return rc;
}

int roce_qp_destroy(struct ibv_qp *ibqp)
{
	struct roce_qp *qp = roce_qp(ibqp);
	struct roce_device *dev = qp->lane->dev;

	pthread_mutex_lock(&qp->lane->lock);
	roce_lane_remove_qp(qp->lane, qp);
	pthread_mutex_unlock(&qp->lane->lock);
	/* From here on nothing adds completions or events. */
	roce_cq_purge(roce_cq(ibqp->send_cq), ibqp->qp_num);
	roce_cq_purge(roce_cq(ibqp->recv_cq), ibqp->qp_num);
	roce_async_forget_qp(qp);
	count_users(qp, -1);
	roce_device_put(dev);
	free_qp(qp);
	return 0;
}
