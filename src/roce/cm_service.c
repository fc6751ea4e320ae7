/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_service.c - the process's connection manager: one engine, one lock, tied to the devices below
 * (hooks) and to ids and their events above (ops). What an engine event means for a QP and for the
 * program stands here.
 */
#include "roce/cm_id.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "roce/qp.h"

#define CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static struct {
	pthread_mutex_t lock;
	bool is_ready;
	uint64_t announced; /* the deadline that the background thread sleeps to */
	struct roce_cm cm;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER, .announced = ROCE_CM_NEVER};

static_assert(ROCE_CM_MAD_BYTES == ROCE_MAD_BYTES, "MAD size");

static void send_mad(void *arg, const struct roce_cm_path *path, const uint8_t *mad)
{
	struct roce_device *dev = path->port;
	union ibv_gid gid;
	union roce_addr peer;

	(void)arg;
	memcpy(gid.raw, path->remote_gid, sizeof(gid.raw));
	roce_gid_to_addr(&gid, dev->ifindex, &peer);
	/* Not sent is the same as lost: repetition and time-out are the engine's business. */
	(void)roce_device_send_mad(dev, path->gid_index, &peer.sa, mad);
}

/* --- incoming requests --------------------------------------------------------------------- */

static void set_addr(struct sockaddr_storage *to, const uint8_t raw[16], uint32_t scope_id,
		     uint16_t port)
{
	union ibv_gid gid;
	union roce_addr addr;

	memcpy(gid.raw, raw, sizeof(gid.raw));
	roce_gid_to_addr(&gid, scope_id, &addr);
	if (addr.sa.sa_family == AF_INET)
		addr.in.sin_port = htobe16(port);
	else
		addr.in6.sin6_port = htobe16(port);
	memcpy(to, &addr, sizeof(addr));
}

static uint16_t incoming(void *arg, struct roce_cm_listener *listener,
			 const struct roce_cm_path *path, const struct roce_cm_req *req,
			 struct roce_cm_conn **ret_conn)
{
	struct roce_id *parent = CONTAINER(listener, struct roce_id, listener);
	struct roce_device *dev = path->port;
	struct roce_cm_ip_hdr ip;
	struct roce_id *child;
	struct rdma_addr *addr;

	(void)arg;
	if (roce_cm_ip_hdr_decode(req->private_data, &ip))
		return ROCE_CM_REJ_UNSUPPORTED;
	child = roce_id_new_locked(parent->channel, NULL, parent->id->context, parent->id->ps);
	if (!child)
		return ROCE_CM_REJ_NO_RESOURCES;
	if (roce_id_set_device_locked(child, dev, path->gid_index)) {
		roce_id_free_locked(child);
		return ROCE_CM_REJ_NO_RESOURCES;
	}
	addr = &child->id->route.addr;
	set_addr(&addr->src_storage, ip.dst, dev->ifindex, (uint16_t)req->service_id);
	set_addr(&addr->dst_storage, ip.src, dev->ifindex, ip.src_port);
	memcpy(addr->addr.ibaddr.dgid.raw, path->remote_gid, sizeof(path->remote_gid));
	child->state = ROCE_ID_CONNECTION;
	child->tos = parent->tos;
	*ret_conn = &child->conn;
	return 0;
}

static void on_req(struct roce_id *rid, const struct roce_cm_req *req)
{
	struct roce_id *parent = CONTAINER(rid->conn.listener, struct roce_id, listener);
	/* Swapped on purpose: the program reads them as its own roles. */
	struct rdma_cm_event ev = {
		.id = rid->id,
		.listen_id = parent->id,
		.event = RDMA_CM_EVENT_CONNECT_REQUEST,
		.param.conn =
			{
				.responder_resources = req->initiator_depth,
				.initiator_depth = req->responder_resources,
				.flow_control = req->flow_control,
				.retry_count = req->retry_count,
				.rnr_retry_count = req->rnr_retry_count,
				.srq = req->srq,
				.qp_num = req->qpn,
			},
	};

	rid->psn = roce_random_psn();
	rid->conn.qp.rq_psn = rid->psn;
	rid->req_initiator_depth = req->responder_resources;
	rid->req_responder_resources = req->initiator_depth;
	rid->conn.qp.max_rd_atomic = req->responder_resources;
	rid->conn.qp.max_dest_rd_atomic = req->initiator_depth;
	if (roce_event_post_locked(parent, &ev, req->private_data + ROCE_CM_IP_HDR,
				   ROCE_CM_REQ_CONSUMER)) {
		(void)roce_cm_reject(&service.cm, &rid->conn, ROCE_CM_REJ_NO_RESOURCES, NULL, 0);
		roce_id_free_locked(rid);
	}
}

/* --- the other events ---------------------------------------------------------------------- */

static void on_rep(struct roce_id *rid, const struct roce_cm_rep *rep)
{
	struct rdma_cm_event ev = {
		.id = rid->id,
		.event = RDMA_CM_EVENT_CONNECT_RESPONSE,
		.param.conn =
			{
				.responder_resources = rep->initiator_depth,
				.initiator_depth = rep->responder_resources,
				.flow_control = rep->flow_control,
				.rnr_retry_count = rep->rnr_retry_count,
				.srq = rep->srq,
				.qp_num = rep->qpn,
			},
	};
	int err;

	/* Without a QP of ours the program brings up its own and calls rdma_establish(). */
	if (rid->id->qp) {
		err = roce_id_qp_to_rts_locked(rid);
		if (!err)
			err = roce_cm_ready(&service.cm, &rid->conn);
		if (err) {
			(void)roce_cm_reject(&service.cm, &rid->conn, ROCE_CM_REJ_NO_QP, NULL, 0);
			roce_id_qp_to_error_locked(rid);
			(void)roce_event_post_simple_locked(rid, RDMA_CM_EVENT_CONNECT_ERROR, err);
			return;
		}
		ev.event = RDMA_CM_EVENT_ESTABLISHED;
	}
	(void)roce_event_post_locked(rid, &ev, rep->private_data, ROCE_CM_REP_PRIVATE);
}

static void on_rejected(struct roce_id *rid, int reason, const struct roce_cm_msg *msg)
{
	struct rdma_cm_event ev = {
		.id = rid->id,
		.event = RDMA_CM_EVENT_REJECTED,
		.status = reason,
	};

	roce_id_qp_to_error_locked(rid);
	(void)roce_event_post_locked(rid, &ev, msg ? msg->body.rej.private_data : NULL,
				     msg ? ROCE_CM_REJ_PRIVATE : 0);
}

static void on_event(void *arg, struct roce_cm_conn *conn, const struct roce_cm_event *event)
{
	struct roce_id *rid = CONTAINER(conn, struct roce_id, conn);

	(void)arg;
	switch (event->type) {
	case ROCE_CM_EV_REQ:
		on_req(rid, &event->msg->body.req);
		break;
	case ROCE_CM_EV_REP:
		on_rep(rid, &event->msg->body.rep);
		break;
	case ROCE_CM_EV_ESTABLISHED:
		/* The active side hears of it with the REP's data, see on_rep(). */
		if (conn->passive)
			(void)roce_event_post_simple_locked(rid, RDMA_CM_EVENT_ESTABLISHED, 0);
		break;
	case ROCE_CM_EV_REJECTED:
		on_rejected(rid, event->status, event->msg);
		break;
	case ROCE_CM_EV_UNREACHABLE:
		roce_id_qp_to_error_locked(rid);
		(void)roce_event_post_simple_locked(rid, RDMA_CM_EVENT_UNREACHABLE, event->status);
		break;
	case ROCE_CM_EV_DISCONNECTED:
		(void)roce_event_post_simple_locked(rid, RDMA_CM_EVENT_DISCONNECTED, 0);
		break;
	case ROCE_CM_EV_TIMEWAIT_EXIT:
		(void)roce_event_post_simple_locked(rid, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
		break;
	case ROCE_CM_EVENTS:
		break;
	}
}

static const struct roce_cm_ops ops = {
	.send = send_mad,
	.incoming = incoming,
	.event = on_event,
};

/* --- queue pairs --------------------------------------------------------------------------- */

static uint8_t capped_depth(uint8_t depth)
{
	return depth < ROCE_MAX_RD_ATOM ? depth : ROCE_MAX_RD_ATOM;
}

static void attr_to_rtr(const struct roce_id *rid, struct ibv_qp_attr *attr)
{
	const struct roce_cm_qp *qp = &rid->conn.qp;

	attr->path_mtu = (enum ibv_mtu)qp->mtu;
	attr->dest_qp_num = qp->remote_qpn;
	attr->rq_psn = qp->rq_psn;
	attr->max_dest_rd_atomic = capped_depth(qp->max_dest_rd_atomic);
	attr->min_rnr_timer = 12; /* 0.64 ms; 0 would mean 655 ms (IBTA volume 1, table 46) */
	attr->ah_attr.is_global = 1;
	attr->ah_attr.port_num = 1;
	memcpy(attr->ah_attr.grh.dgid.raw, qp->remote_gid, sizeof(qp->remote_gid));
	attr->ah_attr.grh.sgid_index = (uint8_t)rid->gid_index;
	attr->ah_attr.grh.flow_label = qp->flow_label;
	attr->ah_attr.grh.hop_limit = qp->hop_limit ? qp->hop_limit : 64;
	attr->ah_attr.grh.traffic_class = rid->tos ? rid->tos : qp->traffic_class;
}

static void attr_to_rts(const struct roce_id *rid, struct ibv_qp_attr *attr)
{
	const struct roce_cm_qp *qp = &rid->conn.qp;

	/* A peer's generous time-out only delays our repetition of a lost packet. */
	attr->timeout =
		qp->ack_timeout < ROCE_CM_ACK_TIMEOUT ? qp->ack_timeout : ROCE_CM_ACK_TIMEOUT;
	if (rid->ack_timeout)
		attr->timeout = rid->ack_timeout;
	attr->retry_cnt = qp->retry_count;
	attr->rnr_retry = qp->rnr_retry_count;
	attr->sq_psn = qp->sq_psn;
	attr->max_rd_atomic = capped_depth(qp->max_rd_atomic);
}

int roce_id_qp_attr(const struct roce_id *rid, struct ibv_qp_attr *attr, int *mask)
{
	enum ibv_qp_state state = attr->qp_state;

	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	switch (state) {
	case IBV_QPS_INIT:
		attr->port_num = 1;
		attr->qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
		*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
		return 0;
	case IBV_QPS_RTR:
		attr_to_rtr(rid, attr);
		*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		return 0;
	case IBV_QPS_RTS:
		attr_to_rts(rid, attr);
		*mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
		return 0;
	default:
		return -EINVAL;
	}
}

int roce_id_qp_to_rts_locked(struct roce_id *rid)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_RTR, IBV_QPS_RTS};
	struct ibv_qp_attr attr;
	int mask, err;

	if (!rid->id->qp)
		return 0;
	for (unsigned int i = 0; i < 2; i++) {
		attr.qp_state = way[i];
		err = roce_id_qp_attr(rid, &attr, &mask);
		if (!err)
			err = roce_qp_modify(rid->id->qp, &attr, mask);
		if (err)
			return err;
	}
	return 0;
}

void roce_id_qp_to_error_locked(struct roce_id *rid)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (rid->id->qp)
		(void)roce_qp_modify(rid->id->qp, &attr, IBV_QP_STATE);
}

/* --- device hooks, on the background thread ------------------------------------------------ */

static void hook_mad(const struct roce_mad_path *from, const uint8_t mad[ROCE_MAD_BYTES],
		     uint64_t now_ns)
{
	struct roce_device *dev = from->dev;
	struct roce_cm_path path = {
		.port = dev,
		.gid_index = from->gid_index,
		.mtu = (uint8_t)roce_device_link(dev).active_mtu,
		.ca_guid = be64toh(dev->guid),
	};
	union ibv_gid gid;

	/* The answer may be for nobody's id that would hold the device; closed since: lost. */
	if (!roce_device_get_open(dev))
		return;
	if (from->gid_index < dev->num_gids && !roce_gid_from_sockaddr(&from->peer.sa, &gid)) {
		memcpy(path.local_gid, dev->gids[from->gid_index].gid.raw, sizeof(path.local_gid));
		memcpy(path.remote_gid, gid.raw, sizeof(path.remote_gid));
		roce_cm_lock();
		roce_cm_recv(&service.cm, &path, mad, ROCE_MAD_BYTES, now_ns);
		roce_cm_unlock();
	}
	roce_device_put(dev);
}

static uint64_t hook_next_deadline(void)
{
	uint64_t deadline;

	roce_cm_lock();
	deadline = roce_cm_next_deadline(&service.cm);
	service.announced = deadline;
	roce_cm_unlock();
	return deadline;
}

static void hook_timer(uint64_t now_ns)
{
	roce_cm_lock();
	roce_cm_expire(&service.cm, now_ns);
	roce_cm_unlock();
}

static void hook_comm_est(struct roce_device *dev, uint32_t qpn)
{
	struct roce_cm_conn *conn;

	roce_cm_lock();
	conn = roce_cm_by_qpn(&service.cm, dev, qpn);
	if (conn)
		roce_cm_comm_established(&service.cm, conn);
	roce_cm_unlock();
}

/* The program learns it from its completions, and decides when to disconnect. */
static void hook_qp_error(struct roce_device *dev, uint32_t qpn)
{
	(void)dev;
	(void)qpn;
}

static const struct roce_cm_hooks hooks = {
	.mad_input = hook_mad,
	.next_deadline = hook_next_deadline,
	.timer = hook_timer,
	.comm_est = hook_comm_est,
	.qp_error = hook_qp_error,
};

/* --- the lock ------------------------------------------------------------------------------ */

void roce_cm_lock(void)
{
	pthread_mutex_lock(&service.lock);
	if (!service.is_ready) {
		roce_cm_init(&service.cm, &ops, NULL,
			     (uint64_t)roce_random32() << 32 | roce_random32());
		roce_set_cm_hooks(&hooks);
		service.is_ready = true;
	}
}

void roce_cm_unlock(void)
{
	uint64_t deadline = roce_cm_next_deadline(&service.cm);
	bool is_sooner = deadline < service.announced;

	if (is_sooner)
		service.announced = deadline;
	pthread_mutex_unlock(&service.lock);
	if (is_sooner)
		roce_kick();
}

struct roce_cm *roce_cm_engine_locked(void)
{
	return &service.cm;
}

void roce_cm_wait_locked(pthread_cond_t *cond)
{
	pthread_cond_wait(cond, &service.lock);
}
