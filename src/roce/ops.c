/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data path as programs call it, and the rest of the function table. A list of requests takes
 * the lane's lock once; what it makes ready leaves before the lock does.
 */
#include "roce/ops.h"

#include <errno.h>
#include <string.h>

#include "roce/lane.h"
#include "roce/progress.h"
#include "roce/qp.h"
#include "roce/query.h"

int roce_op_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct roce_qp *qp = roce_qp(ibqp);
	struct roce_lane *lane = qp->lane;
	int rc = 0;

	pthread_mutex_lock(&lane->lock);
	for (; wr && rc == 0; wr = wr->next) {
		rc = roce_rc_post_send(&qp->rc, wr);
		if (rc)
			*bad_wr = wr;
	}
	roce_lane_touch(lane, qp);
	roce_lane_flush(lane, roce_now_ns());
	pthread_mutex_unlock(&lane->lock);
	roce_progress_nudge(lane);
	return -rc;
}

static int op_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct roce_qp *qp = roce_qp(ibqp);
	int rc = 0;

	pthread_mutex_lock(&qp->lane->lock);
	for (; wr && rc == 0; wr = wr->next) {
		rc = roce_rc_post_recv(&qp->rc, wr);
		if (rc)
			*bad_wr = wr;
	}
	pthread_mutex_unlock(&qp->lane->lock);
	return -rc;
}

/*
 * A full hand of completions is given out without driving the lane: there may be more, and the more
 * there are, the fewer system calls. It counts as polling all the same.
 */
static int op_poll_cq(struct ibv_cq *ibcq, int max, struct ibv_wc *wc)
{
	struct roce_cq *cq = roce_cq(ibcq);
	int count;

	if (max < 0)
		return -EINVAL;
	atomic_fetch_add_explicit(&cq->lane->polls, 1, memory_order_relaxed);
	count = roce_cq_pop(cq, max, wc);
	if (count < max) {
		roce_lane_poll(cq->lane);
		count += roce_cq_pop(cq, max - count, wc + count);
	}
	return count;
}

static int op_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	roce_cq_arm(roce_cq(cq), solicited_only);
	return 0;
}

static int op_query_port(struct ibv_context *ctx, uint8_t port_num, struct ibv_port_attr *attr,
			 size_t attr_len)
{
	struct ibv_port_attr full;
	int rc = roce_query_port(roce_device_from_context(ctx), port_num, &full);

	if (rc)
		return -rc;
	/* A program built against older headers has a shorter structure. */
	memcpy(attr, &full, attr_len < sizeof(full) ? attr_len : sizeof(full));
	return 0;
}

static int op_query_device_ex(struct ibv_context *ctx,
			      const struct ibv_query_device_ex_input *input,
			      struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ibv_device_attr_ex full = {.phys_port_cnt_ex = 1};

	if (input && input->comp_mask)
		return EINVAL;
	if (attr_size < sizeof(full.orig_attr))
		return EINVAL;
	roce_query_device(roce_device_from_context(ctx), &full.orig_attr);
	full.device_cap_flags_ex = full.orig_attr.device_cap_flags;
	memset(attr, 0, attr_size);
	memcpy(attr, &full, attr_size < sizeof(full) ? attr_size : sizeof(full));
	return 0;
}

static struct ibv_qp *op_create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr_ex)
{
	/* The extended structure begins with the plain one. */
	struct ibv_qp_init_attr *attr = (struct ibv_qp_init_attr *)attr_ex;
	struct ibv_qp *qp;
	int rc;

	(void)ctx;
	if ((attr_ex->comp_mask & ~(uint32_t)IBV_QP_INIT_ATTR_CREATE_FLAGS) !=
		    IBV_QP_INIT_ATTR_PD ||
	    ((attr_ex->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr_ex->create_flags)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	rc = roce_qp_create(attr_ex->pd, attr, &qp);
	if (rc) {
		errno = -rc;
		return NULL;
	}
	return qp;
}

/* --- what there is not --------------------------------------------------------------------- */

static struct ibv_mw *no_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	(void)pd;
	(void)type;
	errno = EOPNOTSUPP;
	return NULL;
}

static int no_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	(void)qp;
	(void)mw;
	(void)bind;
	return EOPNOTSUPP;
}

static int no_dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	return EOPNOTSUPP;
}

static int no_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			    struct ibv_recv_wr **bad_wr)
{
	(void)srq;
	*bad_wr = wr;
	return EOPNOTSUPP;
}

void roce_ops_fill(struct verbs_context *vctx)
{
	struct ibv_context_ops *ops = &vctx->context.ops;

	/* These are called without a look at the pointer. */
	ops->post_send = roce_op_post_send;
	ops->post_recv = op_post_recv;
	ops->poll_cq = op_poll_cq;
	ops->req_notify_cq = op_req_notify_cq;
	ops->alloc_mw = no_alloc_mw;
	ops->bind_mw = no_bind_mw;
	ops->dealloc_mw = no_dealloc_mw;
	ops->post_srq_recv = no_post_srq_recv;
	/* For those that are NULL here, <infiniband/verbs.h> itself says EOPNOTSUPP. */
	vctx->query_port = op_query_port;
	vctx->query_device_ex = op_query_device_ex;
	vctx->create_qp_ex = op_create_qp_ex;
}
