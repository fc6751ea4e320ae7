/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_cm_qp.c - rdma_* that make and destroy the QP of an id, with the completion queues that the
 * program did not bring.
 */
#include "roce/entry_cm.h"

#include <string.h>

#include "roce/cm_id.h"
#include "roce/qp.h"

/* --- completion queues of the id ----------------------------------------------------------- */

static int create_cq(struct rdma_cm_id *id, uint32_t entries, struct ibv_comp_channel **channel,
		     struct ibv_cq **cq)
{
	int err;

	*channel = ibv_create_comp_channel(id->verbs);
	if (!*channel)
		return -errno;
	*cq = ibv_create_cq(id->verbs, entries ? (int)entries : 1, id, *channel, 0);
	if (*cq)
		return 0;
	err = -errno;
	ibv_destroy_comp_channel(*channel);
	*channel = NULL;
	return err;
}

static void destroy_cq(struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
	if (*cq)
		(void)ibv_destroy_cq(*cq);
	*cq = NULL;
	if (*channel)
		(void)ibv_destroy_comp_channel(*channel);
	*channel = NULL;
}

static void destroy_cqs(struct rdma_cm_id *id)
{
	destroy_cq(&id->send_cq_channel, &id->send_cq);
	destroy_cq(&id->recv_cq_channel, &id->recv_cq);
}

static int create_missing_cqs(struct rdma_cm_id *id, struct ibv_qp_init_attr *attr)
{
	int err;

	if (!attr->send_cq) {
		err = create_cq(id, attr->cap.max_send_wr, &id->send_cq_channel, &id->send_cq);
		if (err)
			return err;
		attr->send_cq = id->send_cq;
	}
	if (!attr->recv_cq) {
		err = create_cq(id, attr->cap.max_recv_wr, &id->recv_cq_channel, &id->recv_cq);
		if (err) {
			destroy_cqs(id);
			return err;
		}
		attr->recv_cq = id->recv_cq;
	}
	return 0;
}

/* --- QP ------------------------------------------------------------------------------------ */

static int to_init(const struct roce_id *rid, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask, err;

	err = roce_id_qp_attr(rid, &attr, &mask);
	return err ? err : roce_qp_modify(qp, &attr, mask);
}

/* Works on what does not change while the program is in this call, so without the lock. */
static int create_qp(struct roce_id *rid, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct rdma_cm_id *id = rid->id;
	struct ibv_qp *qp;
	int err;

	if (!id->verbs || id->qp)
		return -EINVAL;
	if (!pd)
		pd = id->pd;
	if (pd->context != id->verbs)
		return -EINVAL;
	err = create_missing_cqs(id, attr);
	if (err)
		return err;
	err = roce_qp_create(pd, attr, &qp);
	if (err)
		goto err_destroy_cqs;
	err = to_init(rid, qp);
	if (err)
		goto err_destroy_qp;
	id->qp = qp;
	id->pd = pd;
	return 0;

err_destroy_qp:
	(void)roce_qp_destroy(qp);
err_destroy_cqs:
	destroy_cqs(id);
	return err;
}

ROCE_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr)
{
	struct roce_id *rid;

	if (!id || !attr)
		return roce_cm_return(-EINVAL);
	rid = roce_id_lock_soft(id);
	if (!rid)
		return CM_FORWARD(rdma_create_qp, id, pd, attr);
	roce_cm_unlock();
	return roce_cm_return(create_qp(rid, pd, attr));
}

ROCE_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr plain;
	struct roce_id *rid;
	int err;

	if (!id || !attr)
		return roce_cm_return(-EINVAL);
	rid = roce_id_lock_soft(id);
	if (!rid)
		return CM_FORWARD(rdma_create_qp_ex, id, attr);
	roce_cm_unlock();
	if (attr->comp_mask & ~(uint32_t)IBV_QP_INIT_ATTR_PD)
		return roce_cm_return(-EOPNOTSUPP);
	plain = (struct ibv_qp_init_attr){
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
	};
	err = create_qp(rid, attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL, &plain);
	if (!err) {
		attr->cap = plain.cap;
		attr->send_cq = plain.send_cq;
		attr->recv_cq = plain.recv_cq;
	}
	return roce_cm_return(err);
}

ROCE_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct roce_id *rid = roce_id_lock_soft(id);
	struct ibv_qp *qp;

	if (!rid) {
		if (ROCE_NEXT(rdma_destroy_qp))
			ROCE_NEXT(rdma_destroy_qp)(id);
		return;
	}
	/* The background thread may be about to modify it: take it away first. */
	qp = id->qp;
	id->qp = NULL;
	roce_cm_unlock();
	if (qp)
		(void)roce_qp_destroy(qp);
	destroy_cqs(id);
}

ROCE_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	struct roce_id *rid;

	if (!id || !attr || !mask)
		return roce_cm_return(-EINVAL);
	rid = roce_id_lock_soft(id);
	if (!rid)
		return CM_FORWARD(rdma_init_qp_attr, id, attr, mask);
	return roce_cm_unlock_return(roce_id_qp_attr(rid, attr, mask));
}

/* --- what soft devices do not have --------------------------------------------------------- */

ROCE_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
				struct ibv_srq_init_attr *attr)
{
	if (!roce_id_lock_soft(id))
		return CM_FORWARD(rdma_create_srq, id, pd, attr);
	return roce_cm_unlock_return(-EOPNOTSUPP);
}

ROCE_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	if (!roce_id_lock_soft(id))
		return CM_FORWARD(rdma_create_srq_ex, id, attr);
	return roce_cm_unlock_return(-EOPNOTSUPP);
}

ROCE_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (roce_id_lock_soft(id))
		roce_cm_unlock();
	else if (ROCE_NEXT(rdma_destroy_srq))
		ROCE_NEXT(rdma_destroy_srq)(id);
}

ROCE_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	if (!roce_id_lock_soft(id))
		return CM_FORWARD(rdma_join_multicast, id, addr, context);
	return roce_cm_unlock_return(-EOPNOTSUPP);
}

ROCE_EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id,
				       struct rdma_cm_join_mc_attr_ex *mc_join_attr, void *context)
{
	if (!roce_id_lock_soft(id))
		return CM_FORWARD(rdma_join_multicast_ex, id, mc_join_attr, context);
	return roce_cm_unlock_return(-EOPNOTSUPP);
}

ROCE_EXPORT int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	if (!roce_id_lock_soft(id))
		return CM_FORWARD(rdma_leave_multicast, id, addr);
	return roce_cm_unlock_return(-EOPNOTSUPP);
}

ROCE_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!roce_id_lock_soft(id))
		return CM_FORWARD(rdma_set_local_ece, id, ece);
	return roce_cm_unlock_return(-EOPNOTSUPP);
}

ROCE_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!roce_id_lock_soft(id))
		return CM_FORWARD(rdma_get_remote_ece, id, ece);
	return roce_cm_unlock_return(-EOPNOTSUPP);
}
