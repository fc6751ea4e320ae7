/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - what a peer's messages do: one function a message, each looks at the state of the conn
 * it is for. A message that fits no state is counted and has no effect (IBTA volume 1, 12.9).
 */
#include <errno.h>
#include <string.h>

#include <infiniband/umad_cm.h>
#include <infiniband/verbs.h>

#include "roce/cm/fsm_internal.h"

struct input {
	struct roce_cm *cm;
	const struct roce_cm_path *path;
	const struct roce_cm_msg *msg;
	uint64_t now;
};

/* The peer lost this connection (or never had it): tell the owner what that means in its state. */
static void lose(const struct input *in, struct roce_cm_conn *conn, int reason)
{
	switch (conn->state) {
	case ROCE_CM_REQ_SENT:
	case ROCE_CM_REQ_RCVD:
	case ROCE_CM_REP_SENT:
	case ROCE_CM_REP_RCVD:
		roce_cm_go_idle(in->cm, conn);
		roce_cm_raise(in->cm, conn, ROCE_CM_EV_REJECTED, reason,
			      in->msg->hdr.attr_id == UMAD_CM_ATTR_REJ ? in->msg : NULL);
		break;
	case ROCE_CM_ESTABLISHED:
	case ROCE_CM_DREQ_SENT:
		roce_cm_go_timewait(in->cm, conn, in->now);
		roce_cm_raise(in->cm, conn, ROCE_CM_EV_DISCONNECTED, 0, NULL);
		break;
	case ROCE_CM_IDLE:
	case ROCE_CM_TIMEWAIT:
	case ROCE_CM_STATES:
		in->cm->counters.wrong_state++;
		break;
	}
}

/* --- REQ ----------------------------------------------------------------------------------- */

static void refuse(const struct input *in, uint32_t remote_id, enum roce_cm_about about,
		   uint16_t reason)
{
	struct roce_cm_msg rej = {
		.hdr = {.attr_id = UMAD_CM_ATTR_REJ, .tid = in->msg->hdr.tid},
		.body.rej = {.remote_id = remote_id, .about = (uint8_t)about, .reason = reason},
	};

	in->cm->counters.rej_sent++;
	roce_cm_send_msg(in->cm, in->path, &rej);
}

static bool same_peer(const struct roce_cm_conn *conn, const struct roce_cm_path *path,
		      uint64_t guid)
{
	return conn->path.port == path->port && conn->remote_guid == guid &&
	       !memcmp(conn->path.remote_gid, path->remote_gid, sizeof(path->remote_gid));
}

/* The conn that an earlier copy of this REQ made. */
static struct roce_cm_conn *find_duplicate(const struct input *in, const struct roce_cm_req *req)
{
	struct roce_cm_conn *conn;

	for (unsigned int i = 0; i < ROCE_CM_BUCKETS; i++) {
		LIST_FOREACH(conn, &in->cm->buckets[i], by_id)
		{
			if (conn->passive && conn->state != ROCE_CM_IDLE &&
			    conn->remote_id == req->local_id &&
			    same_peer(conn, in->path, req->ca_guid))
				return conn;
		}
	}
	return NULL;
}

/* A live conn to the same QP of the same peer: only one of them can be real. */
static struct roce_cm_conn *find_stale(const struct input *in, uint32_t qpn, uint64_t guid,
				       const struct roce_cm_conn *self)
{
	struct roce_cm_conn *conn;

	for (unsigned int i = 0; i < ROCE_CM_BUCKETS; i++) {
		LIST_FOREACH(conn, &in->cm->buckets[i], by_id)
		{
			if (conn != self && conn->state > ROCE_CM_REQ_SENT &&
			    conn->state < ROCE_CM_TIMEWAIT && conn->qp.remote_qpn == qpn &&
			    same_peer(conn, in->path, guid))
				return conn;
		}
	}
	return NULL;
}

static void send_mra(const struct input *in, const struct roce_cm_conn *conn,
		     enum roce_cm_about about)
{
	struct roce_cm_msg mra = {
		.hdr = {.attr_id = UMAD_CM_ATTR_MRA, .tid = conn->tid},
		.body.mra =
			{
				.local_id = conn->local_id,
				.remote_id = conn->remote_id,
				.about = (uint8_t)about,
				.service_timeout = ROCE_CM_SERVICE_TIMEOUT,
			},
	};

	roce_cm_send_msg(in->cm, in->path, &mra);
}

static void repeated_req(const struct input *in, struct roce_cm_conn *conn)
{
	in->cm->counters.duplicates++;
	switch (conn->state) {
	case ROCE_CM_REQ_RCVD:
		send_mra(in, conn, ROCE_CM_ABOUT_REQ);
		break;
	case ROCE_CM_REP_SENT:
		roce_cm_resend(in->cm, conn);
		break;
	case ROCE_CM_TIMEWAIT:
		refuse(in, conn->remote_id, ROCE_CM_ABOUT_REQ, ROCE_CM_REJ_STALE);
		break;
	default:
		break;
	}
}

static struct roce_cm_listener *find_listener(const struct input *in, uint64_t service_id)
{
	struct roce_cm_listener *l;

	LIST_FOREACH(l, &in->cm->listeners, entry)
	{
		if (l->service_id == service_id &&
		    (l->any_address ||
		     !memcmp(l->local_gid, in->path->local_gid, sizeof(l->local_gid))))
			return l;
	}
	return NULL;
}

/* What must be refused whoever listens; 0 when nothing. */
static uint16_t reason_to_refuse(const struct input *in, const struct roce_cm_req *req)
{
	if (req->transport != 0)
		return ROCE_CM_REJ_INVALID_TRANSPORT;
	/* The peer will send packets of its MTU: a smaller one of ours cannot be told (12.6.5). */
	if (req->mtu < IBV_MTU_256 || req->mtu > in->path->mtu)
		return ROCE_CM_REJ_INVALID_MTU;
	return 0;
}

static void fill_passive(const struct input *in, struct roce_cm_conn *conn,
			 const struct roce_cm_req *req)
{
	conn->passive = true;
	conn->path = *in->path;
	conn->remote_id = req->local_id;
	conn->remote_guid = req->ca_guid;
	conn->tid = in->msg->hdr.tid;
	conn->rep_timeout = req->local_timeout < ROCE_CM_REP_TIMEOUT_MAX ? req->local_timeout
									 : ROCE_CM_REP_TIMEOUT_MAX;
	conn->rep_retries = req->max_cm_retries;
	conn->qp = (struct roce_cm_qp){
		.remote_qpn = req->qpn,
		.sq_psn = req->starting_psn,
		.mtu = req->mtu,
		.ack_timeout = req->ack_timeout,
		.retry_count = req->retry_count,
		.rnr_retry_count = req->rnr_retry_count,
		.flow_label = req->flow_label,
		.traffic_class = req->traffic_class,
		.hop_limit = req->hop_limit,
	};
	memcpy(conn->qp.remote_gid, in->path->remote_gid, sizeof(conn->qp.remote_gid));
}

/* A REQ that has a listener and nothing against it. Returns the reason to refuse it all the same.
 */
static uint16_t take_req(const struct input *in, struct roce_cm_listener *l,
			 const struct roce_cm_req *req)
{
	struct roce_cm *cm = in->cm;
	struct roce_cm_conn *conn = NULL;
	uint16_t reason;

	if (l->pending >= (unsigned int)l->backlog || cm->conns >= ROCE_CM_MAX_CONNS)
		return ROCE_CM_REJ_NO_RESOURCES;
	reason = cm->ops->incoming(cm->arg, l, in->path, req, &conn);
	if (reason)
		return reason;
	(void)roce_cm_attach(cm, conn); /* fails on the limit only, checked above */
	fill_passive(in, conn, req);
	conn->listener = l;
	l->pending++;
	conn->state = ROCE_CM_REQ_RCVD;
	roce_cm_raise(cm, conn, ROCE_CM_EV_REQ, 0, in->msg);
	return 0;
}

static void on_req(const struct input *in)
{
	const struct roce_cm_req *req = &in->msg->body.req;
	struct roce_cm_conn *old = find_duplicate(in, req);
	struct roce_cm_listener *l;
	uint16_t reason;

	if (old) {
		repeated_req(in, old);
		return;
	}
	old = find_stale(in, req->qpn, req->ca_guid, NULL);
	if (old || roce_cm_find_ghost(in->cm, in->path, req, in->now)) {
		in->cm->counters.stale++;
		refuse(in, req->local_id, ROCE_CM_ABOUT_REQ, ROCE_CM_REJ_STALE);
		/* 12.9.8.3.1: the peer would not use this QP anew if it still knew the old conn. */
		if (old)
			lose(in, old, ROCE_CM_REJ_STALE);
		return;
	}
	l = find_listener(in, req->service_id);
	reason = l ? reason_to_refuse(in, req) : ROCE_CM_REJ_INVALID_SERVICE_ID;
	if (!reason)
		reason = take_req(in, l, req);
	if (reason)
		refuse(in, req->local_id, ROCE_CM_ABOUT_REQ, reason);
}

/* --- the answers --------------------------------------------------------------------------- */

static void on_mra(const struct input *in)
{
	const struct roce_cm_mra *mra = &in->msg->body.mra;
	struct roce_cm_conn *conn = roce_cm_find(in->cm, in->path, mra->remote_id, mra->local_id);
	uint8_t exponent = mra->service_timeout;

	if (!conn) {
		in->cm->counters.unknown_id++;
		return;
	}
	if (!(conn->state == ROCE_CM_REQ_SENT && mra->about == ROCE_CM_ABOUT_REQ) &&
	    !(conn->state == ROCE_CM_REP_SENT && mra->about == ROCE_CM_ABOUT_REP)) {
		in->cm->counters.wrong_state++;
		return;
	}
	if (exponent > ROCE_CM_SERVICE_TIMEOUT_MAX)
		exponent = ROCE_CM_SERVICE_TIMEOUT_MAX;
	roce_cm_set_timer(in->cm, conn, in->now + conn->timeout_ns + roce_cm_timeout_ns(exponent));
}

static void fill_active(struct roce_cm_conn *conn, const struct roce_cm_rep *rep)
{
	conn->remote_id = rep->local_id;
	conn->remote_guid = rep->ca_guid;
	conn->qp.remote_qpn = rep->qpn;
	conn->qp.sq_psn = rep->starting_psn;
	conn->qp.rnr_retry_count = rep->rnr_retry_count;
	conn->qp.max_rd_atomic = rep->responder_resources;
	conn->qp.max_dest_rd_atomic = rep->initiator_depth;
}

static void on_rep(const struct input *in)
{
	const struct roce_cm_rep *rep = &in->msg->body.rep;
	struct roce_cm_conn *conn = roce_cm_find(in->cm, in->path, rep->remote_id, rep->local_id);
	struct roce_cm_conn *old;

	if (!conn) {
		in->cm->counters.unknown_id++;
		refuse(in, rep->local_id, ROCE_CM_ABOUT_REP, ROCE_CM_REJ_INVALID_COMM_ID);
		return;
	}
	if (!conn->passive && conn->state == ROCE_CM_ESTABLISHED) {
		in->cm->counters.duplicates++;
		roce_cm_resend(in->cm, conn);
		return;
	}
	if (conn->state != ROCE_CM_REQ_SENT) {
		in->cm->counters.wrong_state++;
		return;
	}
	roce_cm_set_timer(in->cm, conn, ROCE_CM_NEVER);
	fill_active(conn, rep);
	conn->state = ROCE_CM_REP_RCVD;
	old = find_stale(in, rep->qpn, rep->ca_guid, conn);
	if (old) {
		in->cm->counters.stale++;
		lose(in, old, ROCE_CM_REJ_STALE);
	}
	roce_cm_raise(in->cm, conn, ROCE_CM_EV_REP, 0, in->msg);
}

static void on_rtu(const struct input *in)
{
	const struct roce_cm_ids *rtu = &in->msg->body.rtu;
	struct roce_cm_conn *conn = roce_cm_find(in->cm, in->path, rtu->remote_id, rtu->local_id);

	if (!conn)
		in->cm->counters.unknown_id++;
	else if (conn->state == ROCE_CM_REP_SENT)
		roce_cm_comm_established(in->cm, conn);
	else
		in->cm->counters.duplicates++;
}

/*
 * A peer that timed out before it had an answer does not know our id (12.6.7.2): it names its own
 * and, in the additional information, its GUID.
 */
static struct roce_cm_conn *find_rejected(const struct input *in, const struct roce_cm_rej *rej)
{
	struct roce_cm_req named = {.local_id = rej->local_id};

	if (rej->remote_id)
		return roce_cm_find(in->cm, in->path, rej->remote_id, rej->local_id);
	if (rej->reason != ROCE_CM_REJ_TIMEOUT)
		return NULL;
	for (int i = 0; i < 8; i++)
		named.ca_guid = named.ca_guid << 8 | rej->ari[i];
	return find_duplicate(in, &named);
}

static void on_rej(const struct input *in)
{
	const struct roce_cm_rej *rej = &in->msg->body.rej;
	struct roce_cm_conn *conn = find_rejected(in, rej);

	in->cm->counters.rej_received++;
	if (conn)
		lose(in, conn, rej->reason);
	else
		in->cm->counters.unknown_id++;
}

/* --- the end ------------------------------------------------------------------------------- */

static void send_drep(const struct input *in, const struct roce_cm_dreq *dreq)
{
	struct roce_cm_msg drep = {
		.hdr = {.attr_id = UMAD_CM_ATTR_DREP, .tid = in->msg->hdr.tid},
		.body.drep = {.local_id = dreq->remote_id, .remote_id = dreq->local_id},
	};

	roce_cm_send_msg(in->cm, in->path, &drep);
}

static void on_dreq(const struct input *in)
{
	const struct roce_cm_dreq *dreq = &in->msg->body.dreq;
	struct roce_cm_conn *conn = roce_cm_find(in->cm, in->path, dreq->remote_id, dreq->local_id);

	/* An id that we do not know is disconnected for sure: say so, or the peer waits for it. */
	if (!conn) {
		in->cm->counters.unknown_id++;
		send_drep(in, dreq);
		return;
	}
	switch (conn->state) {
	case ROCE_CM_REP_SENT:
	case ROCE_CM_REP_RCVD:
	case ROCE_CM_ESTABLISHED:
	case ROCE_CM_DREQ_SENT:
		if (dreq->remote_qpn != conn->local_qpn) {
			in->cm->counters.wrong_state++;
			break;
		}
		send_drep(in, dreq);
		roce_cm_go_timewait(in->cm, conn, in->now);
		roce_cm_raise(in->cm, conn, ROCE_CM_EV_DISCONNECTED, 0, NULL);
		break;
	case ROCE_CM_TIMEWAIT:
		in->cm->counters.duplicates++;
		send_drep(in, dreq);
		break;
	default:
		in->cm->counters.wrong_state++;
		break;
	}
}

static void on_drep(const struct input *in)
{
	const struct roce_cm_ids *drep = &in->msg->body.drep;
	struct roce_cm_conn *conn = roce_cm_find(in->cm, in->path, drep->remote_id, drep->local_id);

	if (!conn) {
		in->cm->counters.unknown_id++;
	} else if (conn->state == ROCE_CM_DREQ_SENT) {
		roce_cm_go_timewait(in->cm, conn, in->now);
		roce_cm_raise(in->cm, conn, ROCE_CM_EV_DISCONNECTED, 0, NULL);
	} else {
		in->cm->counters.duplicates++;
	}
}

static const struct {
	uint16_t attr_id;
	void (*handle)(const struct input *in);
} handlers[] = {
	{UMAD_CM_ATTR_REQ, on_req},   {UMAD_CM_ATTR_MRA, on_mra}, {UMAD_CM_ATTR_REJ, on_rej},
	{UMAD_CM_ATTR_REP, on_rep},   {UMAD_CM_ATTR_RTU, on_rtu}, {UMAD_CM_ATTR_DREQ, on_dreq},
	{UMAD_CM_ATTR_DREP, on_drep},
};

void roce_cm_recv(struct roce_cm *cm, const struct roce_cm_path *path, const uint8_t *mad,
		  size_t bytes, uint64_t now)
{
	struct roce_cm_msg msg;
	struct input in = {.cm = cm, .path = path, .msg = &msg, .now = now};
	int err;

	cm->counters.rx++;
	err = roce_cm_decode(mad, bytes, &msg);
	if (err == -EOPNOTSUPP)
		cm->counters.unsupported++;
	else if (err)
		cm->counters.bad_mad++;
	if (err)
		return;
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		if (handlers[i].attr_id == msg.hdr.attr_id)
			handlers[i].handle(&in);
	}
}
