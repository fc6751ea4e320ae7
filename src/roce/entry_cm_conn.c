/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_cm_conn.c - rdma_* that make and end connections: what a program's parameters become in a
 * REQ or REP, and which way its QP goes meanwhile.
 */
#include "roce/entry_cm.h"

#include <string.h>

#include "roce/cm_id.h"

enum {
	RC_SRQ = 1,
	MAX_RETRY = 7
};

/* RDMA_MAX_RESP_RES and _INIT_DEPTH mean "as much as there is"; more than that we do not have. */
static uint8_t depth_of(uint8_t asked)
{
	return asked < ROCE_MAX_RD_ATOM ? asked : ROCE_MAX_RD_ATOM;
}

static uint8_t retry_of(uint8_t asked)
{
	return asked < MAX_RETRY ? asked : MAX_RETRY;
}

static bool has_valid_private(const struct rdma_conn_param *param, size_t max)
{
	return param->private_data_len <= max && (!param->private_data_len || param->private_data);
}

static uint32_t qpn_of(const struct rdma_cm_id *id, const struct rdma_conn_param *param)
{
	return id->qp ? id->qp->qp_num : param->qp_num;
}

static uint8_t srq_of(const struct rdma_cm_id *id, const struct rdma_conn_param *param)
{
	return id->qp ? id->qp->srq != NULL : param->srq == RC_SRQ;
}

/* --- active -------------------------------------------------------------------------------- */

static void put_addr(uint8_t raw[16], const struct sockaddr *sa)
{
	union ibv_gid gid = {0};

	(void)roce_gid_from_sockaddr(sa, &gid);
	memcpy(raw, gid.raw, sizeof(gid.raw));
}

static void fill_private(const struct roce_id *rid, const struct rdma_conn_param *param,
			 struct roce_cm_req *req)
{
	const struct rdma_addr *addr = &rid->id->route.addr;
	struct roce_cm_ip_hdr ip = {
		.version = addr->dst_addr.sa_family == AF_INET ? 4 : 6,
		.src_port = be16toh(rdma_get_src_port(rid->id)),
	};

	put_addr(ip.src, &addr->src_addr);
	put_addr(ip.dst, &addr->dst_addr);
	roce_cm_ip_hdr_encode(&ip, req->private_data);
	if (param->private_data_len)
		memcpy(req->private_data + ROCE_CM_IP_HDR, param->private_data,
		       param->private_data_len);
}

static int connect_locked(struct roce_id *rid, const struct rdma_conn_param *param)
{
	struct roce_cm_path path;
	struct roce_cm_req req = {
		.service_id = (uint64_t)rid->id->ps << 16 | be16toh(rdma_get_dst_port(rid->id)),
		.qpn = qpn_of(rid->id, param),
		.responder_resources = depth_of(param->responder_resources),
		.initiator_depth = depth_of(param->initiator_depth),
		.remote_timeout = ROCE_CM_RESPONSE_TIMEOUT,
		.local_timeout = ROCE_CM_RESPONSE_TIMEOUT,
		.flow_control = param->flow_control & 1,
		.retry_count = retry_of(param->retry_count),
		.rnr_retry_count = retry_of(param->rnr_retry_count),
		.max_cm_retries = ROCE_CM_MAX_RETRIES,
		.srq = srq_of(rid->id, param),
		.pkey = ROCE_PKEY,
		.flow_label = roce_random32() & 0xfffff,
		.traffic_class = rid->tos,
		.hop_limit = 64,
		.ack_timeout = rid->ack_timeout ? rid->ack_timeout : ROCE_CM_ACK_TIMEOUT,
	};
	int err;

	roce_id_path_locked(rid, &path);
	rid->psn = roce_random_psn();
	req.starting_psn = rid->psn;
	req.mtu = path.mtu;
	fill_private(rid, param, &req);
	err = roce_cm_connect(roce_cm_engine_locked(), &rid->conn, &path, &req, roce_now_ns());
	if (!err)
		rid->state = ROCE_ID_CONNECTION;
	return err;
}

ROCE_EXPORT int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct rdma_conn_param defaults = {
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.flow_control = 1,
		.retry_count = MAX_RETRY,
		.rnr_retry_count = MAX_RETRY,
	};
	struct roce_id *rid = roce_id_lock_soft(id);
	int err = -EINVAL;

	if (!rid)
		return CM_FORWARD(rdma_connect, id, param);
	if (!param)
		param = &defaults;
	/* An id whose attempt was refused may try again. */
	if ((rid->state == ROCE_ID_ROUTE_RESOLVED ||
	     (rid->state == ROCE_ID_CONNECTION && !rid->conn.passive)) &&
	    has_valid_private(param, ROCE_CM_REQ_CONSUMER))
		err = connect_locked(rid, param);
	roce_cm_unlock();
	return roce_cm_return(err ? err : roce_event_complete(id));
}

ROCE_EXPORT int rdma_establish(struct rdma_cm_id *id)
{
	struct roce_id *rid;

	if (!id || id->qp)
		return roce_cm_return(-EINVAL);
	rid = roce_id_lock_soft(id);
	if (!rid)
		return CM_FORWARD(rdma_establish, id);
	return roce_cm_unlock_return(roce_cm_ready(roce_cm_engine_locked(), &rid->conn));
}

/* --- passive ------------------------------------------------------------------------------- */

static int accept_locked(struct roce_id *rid, const struct rdma_conn_param *param)
{
	struct roce_cm_rep rep = {
		.qpn = qpn_of(rid->id, param),
		.starting_psn = rid->psn,
		.responder_resources = depth_of(param->responder_resources),
		.initiator_depth = depth_of(param->initiator_depth),
		.target_ack_delay = ROCE_CM_TARGET_ACK_DELAY,
		.flow_control = param->flow_control & 1,
		.rnr_retry_count = retry_of(param->rnr_retry_count),
		.srq = srq_of(rid->id, param),
	};
	int err;

	if (rid->conn.state != ROCE_CM_REQ_RCVD)
		return -EINVAL;
	if (param->private_data_len)
		memcpy(rep.private_data, param->private_data, param->private_data_len);
	/* The peer may send as soon as it has the REP. */
	roce_cm_prepare_accept(&rid->conn, &rep);
	err = roce_id_qp_to_rts_locked(rid);
	if (err) {
		roce_id_qp_to_error_locked(rid);
		(void)roce_cm_reject(roce_cm_engine_locked(), &rid->conn, ROCE_CM_REJ_NO_QP, NULL,
				     0);
		return err;
	}
	return roce_cm_accept(roce_cm_engine_locked(), &rid->conn, &rep, roce_now_ns());
}

ROCE_EXPORT int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct roce_id *rid = roce_id_lock_soft(id);
	struct rdma_conn_param as_requested;
	int err = -EINVAL;

	if (!rid)
		return CM_FORWARD(rdma_accept, id, param);
	if (!param) {
		as_requested = (struct rdma_conn_param){
			.responder_resources = rid->req_responder_resources,
			.initiator_depth = rid->req_initiator_depth,
			.flow_control = 1,
			.rnr_retry_count = MAX_RETRY,
		};
		param = &as_requested;
	}
	if (has_valid_private(param, ROCE_CM_REP_PRIVATE))
		err = accept_locked(rid, param);
	roce_cm_unlock();
	return roce_cm_return(err ? err : roce_event_complete(id));
}

ROCE_EXPORT int rdma_reject(struct rdma_cm_id *id, const void *private_data,
			    uint8_t private_data_len)
{
	struct roce_id *rid = roce_id_lock_soft(id);

	if (!rid)
		return CM_FORWARD(rdma_reject, id, private_data, private_data_len);
	return roce_cm_unlock_return(roce_cm_reject(roce_cm_engine_locked(), &rid->conn,
						    ROCE_CM_REJ_CONSUMER, private_data,
						    private_data ? private_data_len : 0));
}

ROCE_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
				uint8_t private_data_len)
{
	struct roce_id *rid = roce_id_lock_soft(id);

	if (!rid)
		return CM_FORWARD(rdma_reject_ece, id, private_data, private_data_len);
	/* 35: the vendor options of the request are not supported. */
	return roce_cm_unlock_return(roce_cm_reject(roce_cm_engine_locked(), &rid->conn,
						    ROCE_CM_REJ_VENDOR_OPTION, private_data,
						    private_data ? private_data_len : 0));
}

ROCE_EXPORT int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	struct roce_id *rid = roce_id_lock_soft(id);

	if (!rid)
		return CM_FORWARD(rdma_notify, id, event);
	if (event == IBV_EVENT_COMM_EST)
		roce_cm_comm_established(roce_cm_engine_locked(), &rid->conn);
	return roce_cm_unlock_return(event == IBV_EVENT_COMM_EST ? 0 : -EINVAL);
}

/* --- the end ------------------------------------------------------------------------------- */

ROCE_EXPORT int rdma_disconnect(struct rdma_cm_id *id)
{
	struct roce_id *rid = roce_id_lock_soft(id);
	bool is_over;
	int err;

	if (!rid)
		return CM_FORWARD(rdma_disconnect, id);
	/* The peer was first: only the QP is left to end. */
	is_over = rid->conn.state == ROCE_CM_TIMEWAIT || rid->conn.state == ROCE_CM_DREQ_SENT ||
		  (rid->conn.state == ROCE_CM_IDLE && rid->conn.attached);
	if (is_over)
		err = 0;
	else
		err = roce_cm_disconnect(roce_cm_engine_locked(), &rid->conn, roce_now_ns());
	if (!err)
		roce_id_qp_to_error_locked(rid);
	roce_cm_unlock();
	return roce_cm_return(err || is_over ? err : roce_event_complete(id));
}
