/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State changes and queries of queue pairs. A change is checked as a whole, then done; one that
 * fails leaves the QP as it was.
 */
#include <errno.h>

#include "roce/lane.h"
#include "roce/progress.h"
#include "roce/qp.h"
#include "roce/qp_state.h"

/* Attributes that modify remembers for query, in groups of the transition that brings them. */
static void remember(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask)
{
	if (mask & IBV_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & IBV_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IBV_QP_AV)
		to->ah_attr = from->ah_attr;
	if (mask & IBV_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IBV_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IBV_QP_RQ_PSN)
		to->rq_psn = from->rq_psn & ROCE_PSN_MASK;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IBV_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IBV_QP_SQ_PSN)
		to->sq_psn = from->sq_psn & ROCE_PSN_MASK;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
}

/* Finds our and the peer's address in the address vector. */
static int resolve_path(struct roce_qp *qp, const struct ibv_global_route *grh)
{
	const struct roce_device *dev = qp->lane->dev;
	union roce_addr local;

	if (grh->sgid_index >= dev->num_gids)
		return -EINVAL;
	if (dev->gids[grh->sgid_index].bind_error)
		return dev->gids[grh->sgid_index].bind_error;
	local = dev->gids[grh->sgid_index].addr;
	roce_gid_to_addr(&grh->dgid, dev->ifindex, &qp->peer);
	if (local.sa.sa_family != qp->peer.sa.sa_family)
		return -EINVAL;
	/* The port is at the same place in both families. */
	local.in.sin_port = qp->peer.in.sin_port = htons(ROCE_UDP_PORT);
	qp->gid_index = grh->sgid_index;
	qp->rx_from = qp->peer;
	qp->rx_ip_id = 0;
	qp->rx_starts_at_0 = false;
	roce_icrc_flow_sockaddr(&qp->tx_flow, &local.sa, &qp->peer.sa);
	roce_icrc_flow_sockaddr(&qp->rx_flow, &qp->peer.sa, &local.sa);
	return 0;
}

static int to_rtr(struct roce_qp *qp, const struct ibv_qp_attr *attr)
{
	const struct roce_rc_rtr rtr = {
		.dest_qpn = attr->dest_qp_num,
		.rq_psn = attr->rq_psn,
		.mtu = 128u << attr->path_mtu,
		.pkey = ROCE_PKEY,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
		.min_rnr_timer = attr->min_rnr_timer,
		.access = (int)attr->qp_access_flags,
	};
	int rc = resolve_path(qp, &attr->ah_attr.grh);

	if (rc == 0)
		rc = roce_rc_to_rtr(&qp->rc, &rtr);
	if (rc == 0)
		roce_lane_connect_qp(qp->lane, qp);
	return rc;
}

static int to_rts(struct roce_qp *qp, const struct ibv_qp_attr *attr)
{
	const struct roce_rc_rts rts = {
		.sq_psn = attr->sq_psn,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.max_rd_atomic = attr->max_rd_atomic,
		.window = roce_lane_window(qp->lane, qp->gid_index, 128u << attr->path_mtu),
	};

	return roce_rc_to_rts(&qp->rc, &rts);
}

/* The engine's part. attr holds all attributes, old and new. */
static int move_engine(struct roce_qp *qp, enum ibv_qp_state to, const struct ibv_qp_attr *attr)
{
	enum ibv_qp_state from = qp->ibqp.state;

	switch (to) {
	case IBV_QPS_RESET:
		roce_lane_disconnect_qp(qp->lane, qp);
		roce_rc_reset(&qp->rc);
		return 0;
	case IBV_QPS_ERR:
		roce_rc_flush(&qp->rc);
		return 0;
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET ? roce_rc_to_init(&qp->rc) : 0;
	case IBV_QPS_RTR:
		return to_rtr(qp, attr);
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR ? to_rts(qp, attr) : 0;
	default:
		return -EINVAL;
	}
}

static int modify_locked(struct roce_qp *qp, const struct ibv_qp_attr *attr, int mask,
			 enum ibv_mtu active_mtu)
{
	enum ibv_qp_state from = qp->ibqp.state;
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	struct ibv_qp_attr all = qp->attr;
	int rc;

	if ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != from)
		return -EINVAL;
	rc = roce_qp_state_check(from, to, mask);
	if (rc)
		return rc;
	rc = roce_qp_attr_check(attr, mask, active_mtu);
	if (rc)
		return rc;
	remember(&all, attr, mask);
	rc = move_engine(qp, to, &all);
	if (rc)
		return rc;
	if (to == IBV_QPS_RESET)
		all = (struct ibv_qp_attr){0};
	if (to == IBV_QPS_RTR || to == IBV_QPS_RTS) {
		roce_rc_set_access(&qp->rc, (int)all.qp_access_flags);
		roce_rc_set_min_rnr_timer(&qp->rc, all.min_rnr_timer);
	}
	qp->attr = all;
	qp->attr.qp_state = to;
	qp->ibqp.state = to;
	return 0;
}

int roce_qp_modify(struct ibv_qp *ibqp, const struct ibv_qp_attr *attr, int mask)
{
	struct roce_qp *qp = roce_qp(ibqp);
	struct roce_lane *lane = qp->lane;
	enum ibv_mtu active_mtu = IBV_MTU_4096;
	int rc;

	if (mask & IBV_QP_PATH_MTU)
		active_mtu = roce_device_link(lane->dev).active_mtu;
	pthread_mutex_lock(&lane->lock);
	rc = modify_locked(qp, attr, mask, active_mtu);
	if (rc == 0)
		roce_lane_touch(lane, qp);
	pthread_mutex_unlock(&lane->lock);
	roce_progress_nudge(lane);
	return rc;
}

int roce_qp_query(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr)
{
	struct roce_qp *qp = roce_qp(ibqp);

	(void)mask; /* what was not asked for may be filled too (ibv_query_qp(3)) */
	pthread_mutex_lock(&qp->lane->lock);
	*attr = qp->attr;
	/* Where it is now, as it advances with what the peer sends. */
	if (qp->ibqp.state == IBV_QPS_RTR || qp->ibqp.state == IBV_QPS_RTS)
		attr->rq_psn = qp->rc.resp.epsn.v;
	attr->qp_state = attr->cur_qp_state = qp->ibqp.state;
	attr->cap = qp->init.cap;
	attr->path_mig_state = IBV_MIG_MIGRATED;
	*init_attr = qp->init;
	pthread_mutex_unlock(&qp->lane->lock);
	return 0;
}
