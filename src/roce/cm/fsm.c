/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsm.c - the engine's book-keeping (ids, listeners, timers, ghosts) and everything that its owner
 * or the clock starts. What peers start is in input.c.
 *
 * A conn has one timer. In the states that wait for an answer it repeats conn->tx; in TIMEWAIT it
 * ends the state; elsewhere it is off.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include <infiniband/umad_cm.h>

#include "roce/cm/fsm_internal.h"

static const char *const state_names[ROCE_CM_STATES] = {
	[ROCE_CM_IDLE] = "idle",
	[ROCE_CM_REQ_SENT] = "req-sent",
	[ROCE_CM_REQ_RCVD] = "req-received",
	[ROCE_CM_REP_SENT] = "rep-sent",
	[ROCE_CM_REP_RCVD] = "rep-received",
	[ROCE_CM_ESTABLISHED] = "established",
	[ROCE_CM_DREQ_SENT] = "dreq-sent",
	[ROCE_CM_TIMEWAIT] = "timewait",
};

const char *roce_cm_state_name(enum roce_cm_state state)
{
	return state < ROCE_CM_STATES ? state_names[state] : "?";
}

uint64_t roce_cm_timeout_ns(uint8_t exponent)
{
	return 4096ull << (exponent & 31);
}

/* A peer's exponent, kept within what makes sense here. */
static uint64_t bounded_timeout_ns(uint8_t exponent)
{
	if (exponent < ROCE_CM_TIMEOUT_MIN)
		exponent = ROCE_CM_TIMEOUT_MIN;
	if (exponent > ROCE_CM_TIMEOUT_MAX)
		exponent = ROCE_CM_TIMEOUT_MAX;
	return roce_cm_timeout_ns(exponent);
}

/* --- book-keeping -------------------------------------------------------------------------- */

void roce_cm_init(struct roce_cm *cm, const struct roce_cm_ops *ops, void *arg, uint64_t random)
{
	memset(cm, 0, sizeof(*cm));
	cm->ops = ops;
	cm->arg = arg;
	cm->next_id = (uint32_t)random;
	cm->tid_high = (uint32_t)(random >> 32);
	LIST_INIT(&cm->listeners);
	for (unsigned int i = 0; i < ROCE_CM_BUCKETS; i++)
		LIST_INIT(&cm->buckets[i]);
	TAILQ_INIT(&cm->timers);
}

static struct roce_cm_conn *find_id(struct roce_cm *cm, uint32_t local_id)
{
	struct roce_cm_conn *conn;

	LIST_FOREACH(conn, &cm->buckets[local_id % ROCE_CM_BUCKETS], by_id)
	{
		if (conn->local_id == local_id)
			return conn;
	}
	return NULL;
}

struct roce_cm_conn *roce_cm_find(struct roce_cm *cm, const struct roce_cm_path *path,
				  uint32_t local_id, uint32_t remote_id)
{
	struct roce_cm_conn *conn = find_id(cm, local_id);

	if (!conn || conn->state == ROCE_CM_IDLE || conn->path.port != path->port)
		return NULL;
	if (memcmp(conn->path.remote_gid, path->remote_gid, sizeof(path->remote_gid)))
		return NULL;
	/* An active conn learns the peer's id from the REP only. */
	if (remote_id && conn->state != ROCE_CM_REQ_SENT && conn->remote_id != remote_id)
		return NULL;
	return conn;
}

struct roce_cm_conn *roce_cm_by_qpn(struct roce_cm *cm, const void *port, uint32_t qpn)
{
	struct roce_cm_conn *conn;

	for (unsigned int i = 0; i < ROCE_CM_BUCKETS; i++) {
		LIST_FOREACH(conn, &cm->buckets[i], by_id)
		{
			if (conn->local_qpn == qpn && conn->path.port == port &&
			    conn->state != ROCE_CM_IDLE && conn->state != ROCE_CM_TIMEWAIT)
				return conn;
		}
	}
	return NULL;
}

int roce_cm_attach(struct roce_cm *cm, struct roce_cm_conn *conn)
{
	if (conn->attached) {
		LIST_REMOVE(conn, by_id);
	} else {
		if (cm->conns >= ROCE_CM_MAX_CONNS)
			return -ENOMEM;
		cm->conns++;
		conn->attached = true;
		conn->deadline = ROCE_CM_NEVER;
	}
	do {
		conn->local_id = cm->next_id++;
	} while (!conn->local_id || find_id(cm, conn->local_id));
	LIST_INSERT_HEAD(&cm->buckets[conn->local_id % ROCE_CM_BUCKETS], conn, by_id);
	return 0;
}

/* The list is short (what waits for an answer, and TIMEWAIT), and new deadlines are late ones. */
void roce_cm_set_timer(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t deadline)
{
	struct roce_cm_conn *at;

	if (conn->deadline != ROCE_CM_NEVER)
		TAILQ_REMOVE(&cm->timers, conn, by_time);
	conn->deadline = deadline;
	if (deadline == ROCE_CM_NEVER)
		return;
	TAILQ_FOREACH_REVERSE(at, &cm->timers, roce_cm_timers, by_time)
	{
		if (at->deadline <= deadline) {
			TAILQ_INSERT_AFTER(&cm->timers, at, conn, by_time);
			return;
		}
	}
	TAILQ_INSERT_HEAD(&cm->timers, conn, by_time);
}

uint64_t roce_cm_next_deadline(const struct roce_cm *cm)
{
	const struct roce_cm_conn *first = TAILQ_FIRST(&cm->timers);

	return first ? first->deadline : ROCE_CM_NEVER;
}

const struct roce_cm_ghost *roce_cm_find_ghost(const struct roce_cm *cm,
					       const struct roce_cm_path *path,
					       const struct roce_cm_req *req, uint64_t now)
{
	for (unsigned int i = 0; i < ROCE_CM_TIMEWAIT_SLOTS; i++) {
		const struct roce_cm_ghost *g = &cm->ghosts[i];

		if (g->until > now && g->remote_id == req->local_id &&
		    g->remote_guid == req->ca_guid &&
		    !memcmp(g->remote_gid, path->remote_gid, sizeof(g->remote_gid)))
			return g;
	}
	return NULL;
}

static uint64_t timewait_ns(const struct roce_cm_conn *conn)
{
	uint64_t max = roce_cm_timeout_ns(ROCE_CM_TIMEWAIT_MAX);
	uint64_t ns = 2 * bounded_timeout_ns(conn->qp.ack_timeout);

	return ns < max ? ns : max;
}

/* Only a REQ can bring a dead id back to life, so only passive conns need a ghost. */
static void leave_ghost(struct roce_cm *cm, const struct roce_cm_conn *conn, uint64_t now)
{
	struct roce_cm_ghost *g = &cm->ghosts[cm->next_ghost];

	if (!conn->passive)
		return;
	cm->next_ghost = (cm->next_ghost + 1) % ROCE_CM_TIMEWAIT_SLOTS;
	*g = (struct roce_cm_ghost){
		.remote_id = conn->remote_id,
		.remote_guid = conn->remote_guid,
		.until = now + timewait_ns(conn),
	};
	memcpy(g->remote_gid, conn->path.remote_gid, sizeof(g->remote_gid));
}

void roce_cm_decided(struct roce_cm_conn *conn)
{
	if (conn->listener)
		conn->listener->pending--;
	conn->listener = NULL;
}

void roce_cm_go_idle(struct roce_cm *cm, struct roce_cm_conn *conn)
{
	roce_cm_decided(conn);
	roce_cm_set_timer(cm, conn, ROCE_CM_NEVER);
	conn->state = ROCE_CM_IDLE;
}

void roce_cm_go_timewait(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t now)
{
	conn->state = ROCE_CM_TIMEWAIT;
	roce_cm_set_timer(cm, conn, now + timewait_ns(conn));
}

void roce_cm_raise(struct roce_cm *cm, struct roce_cm_conn *conn, enum roce_cm_event_type type,
		   int status, const struct roce_cm_msg *msg)
{
	struct roce_cm_event event = {.type = type, .status = status, .msg = msg};

	cm->ops->event(cm->arg, conn, &event);
}

/* --- sending ------------------------------------------------------------------------------- */

static void send_mad(struct roce_cm *cm, const struct roce_cm_path *path, const uint8_t *mad)
{
	cm->counters.tx++;
	cm->ops->send(cm->arg, path, mad);
}

void roce_cm_send_msg(struct roce_cm *cm, const struct roce_cm_path *path,
		      const struct roce_cm_msg *msg)
{
	uint8_t mad[ROCE_CM_MAD_BYTES];

	roce_cm_encode(msg, mad);
	send_mad(cm, path, mad);
}

void roce_cm_resend(struct roce_cm *cm, struct roce_cm_conn *conn)
{
	cm->counters.repeats++;
	send_mad(cm, &conn->path, conn->tx);
}

/* Sends a message that is kept for repetition, and starts the timer unless it needs no answer. */
static void send_kept(struct roce_cm *cm, struct roce_cm_conn *conn, const struct roce_cm_msg *msg,
		      uint64_t deadline)
{
	roce_cm_encode(msg, conn->tx);
	roce_cm_set_timer(cm, conn, deadline);
	send_mad(cm, &conn->path, conn->tx);
}

static enum roce_cm_about rejected_message(const struct roce_cm_conn *conn)
{
	switch (conn->state) {
	case ROCE_CM_REQ_RCVD:
		return ROCE_CM_ABOUT_REQ;
	case ROCE_CM_REP_RCVD:
		return ROCE_CM_ABOUT_REP;
	default:
		return ROCE_CM_ABOUT_NONE;
	}
}

void roce_cm_send_rej(struct roce_cm *cm, const struct roce_cm_conn *conn, uint16_t reason,
		      const void *private_data, size_t bytes)
{
	struct roce_cm_msg msg = {
		.hdr = {.attr_id = UMAD_CM_ATTR_REJ, .tid = conn->tid},
		.body.rej =
			{
				.local_id = conn->local_id,
				.remote_id = conn->remote_id,
				.about = (uint8_t)rejected_message(conn),
				.reason = reason,
			},
	};
	struct roce_cm_rej *rej = &msg.body.rej;

	/* 12.6.7.2: a peer that got no answer is named by our GUID, since it has no id yet. */
	if (reason == ROCE_CM_REJ_TIMEOUT) {
		rej->ari_bytes = 8;
		for (int i = 0; i < 8; i++)
			rej->ari[i] = (uint8_t)(conn->path.ca_guid >> (56 - 8 * i));
	}
	if (bytes)
		memcpy(rej->private_data, private_data, bytes);
	cm->counters.rej_sent++;
	roce_cm_send_msg(cm, &conn->path, &msg);
}

/* --- what the owner starts ----------------------------------------------------------------- */

static bool overlaps(const struct roce_cm_listener *a, const struct roce_cm_listener *b)
{
	return a->service_id == b->service_id &&
	       (a->any_address || b->any_address ||
		!memcmp(a->local_gid, b->local_gid, sizeof(a->local_gid)));
}

int roce_cm_listen(struct roce_cm *cm, struct roce_cm_listener *listener)
{
	const struct roce_cm_listener *other;

	LIST_FOREACH(other, &cm->listeners, entry)
	{
		if (overlaps(listener, other))
			return -EADDRINUSE;
	}
	if (listener->backlog <= 0)
		listener->backlog = ROCE_CM_BACKLOG_DEFAULT;
	if (listener->backlog > ROCE_CM_BACKLOG_MAX)
		listener->backlog = ROCE_CM_BACKLOG_MAX;
	listener->pending = 0;
	LIST_INSERT_HEAD(&cm->listeners, listener, entry);
	return 0;
}

void roce_cm_unlisten(struct roce_cm *cm, struct roce_cm_listener *listener)
{
	struct roce_cm_conn *conn;

	LIST_REMOVE(listener, entry);
	for (unsigned int i = 0; i < ROCE_CM_BUCKETS; i++) {
		LIST_FOREACH(conn, &cm->buckets[i], by_id)
		{
			if (conn->listener == listener)
				conn->listener = NULL;
		}
	}
}

int roce_cm_connect(struct roce_cm *cm, struct roce_cm_conn *conn, const struct roce_cm_path *path,
		    const struct roce_cm_req *req, uint64_t now)
{
	struct roce_cm_msg msg = {.hdr.attr_id = UMAD_CM_ATTR_REQ, .body.req = *req};
	int err;

	if (conn->state != ROCE_CM_IDLE)
		return -EISCONN;
	err = roce_cm_attach(cm, conn);
	if (err)
		return err;
	conn->passive = false;
	conn->path = *path;
	conn->remote_id = 0;
	conn->remote_guid = 0;
	conn->local_qpn = req->qpn;
	conn->tid = (uint64_t)cm->tid_high << 32 | conn->local_id;
	conn->qp = (struct roce_cm_qp){
		.rq_psn = req->starting_psn,
		.mtu = req->mtu,
		.ack_timeout = req->ack_timeout,
		.retry_count = req->retry_count,
		.flow_label = req->flow_label,
		.traffic_class = req->traffic_class,
		.hop_limit = req->hop_limit,
	};
	memcpy(conn->qp.remote_gid, path->remote_gid, sizeof(conn->qp.remote_gid));

	msg.hdr.tid = conn->tid;
	msg.body.req.local_id = conn->local_id;
	msg.body.req.ca_guid = path->ca_guid;
	msg.body.req.local_lid = 0xffff;
	msg.body.req.remote_lid = 0xffff;
	memcpy(msg.body.req.local_gid, path->local_gid, sizeof(path->local_gid));
	memcpy(msg.body.req.remote_gid, path->remote_gid, sizeof(path->remote_gid));

	conn->state = ROCE_CM_REQ_SENT;
	conn->timeout_ns = bounded_timeout_ns(req->remote_timeout);
	conn->tries = req->max_cm_retries;
	send_kept(cm, conn, &msg, now + conn->timeout_ns);
	return 0;
}

void roce_cm_prepare_accept(struct roce_cm_conn *conn, const struct roce_cm_rep *rep)
{
	conn->local_qpn = rep->qpn;
	conn->qp.rq_psn = rep->starting_psn;
	conn->qp.max_rd_atomic = rep->initiator_depth;
	conn->qp.max_dest_rd_atomic = rep->responder_resources;
}

int roce_cm_accept(struct roce_cm *cm, struct roce_cm_conn *conn, const struct roce_cm_rep *rep,
		   uint64_t now)
{
	struct roce_cm_msg msg = {
		.hdr = {.attr_id = UMAD_CM_ATTR_REP, .tid = conn->tid},
		.body.rep = *rep,
	};

	if (conn->state != ROCE_CM_REQ_RCVD)
		return -EINVAL;
	roce_cm_prepare_accept(conn, rep);
	roce_cm_decided(conn);
	msg.body.rep.local_id = conn->local_id;
	msg.body.rep.remote_id = conn->remote_id;
	msg.body.rep.ca_guid = conn->path.ca_guid;

	conn->state = ROCE_CM_REP_SENT;
	conn->timeout_ns = bounded_timeout_ns(conn->rep_timeout);
	conn->tries = conn->rep_retries;
	send_kept(cm, conn, &msg, now + conn->timeout_ns);
	return 0;
}

int roce_cm_reject(struct roce_cm *cm, struct roce_cm_conn *conn, uint16_t reason,
		   const void *private_data, size_t bytes)
{
	if (conn->state != ROCE_CM_REQ_RCVD && conn->state != ROCE_CM_REP_RCVD)
		return -EINVAL;
	if (bytes > ROCE_CM_REJ_PRIVATE)
		return -EINVAL;
	roce_cm_send_rej(cm, conn, reason, private_data, bytes);
	roce_cm_go_idle(cm, conn);
	return 0;
}

int roce_cm_ready(struct roce_cm *cm, struct roce_cm_conn *conn)
{
	struct roce_cm_msg msg = {
		.hdr = {.attr_id = UMAD_CM_ATTR_RTU, .tid = conn->tid},
		.body.rtu = {.local_id = conn->local_id, .remote_id = conn->remote_id},
	};

	if (conn->state != ROCE_CM_REP_RCVD)
		return -EINVAL;
	conn->state = ROCE_CM_ESTABLISHED;
	send_kept(cm, conn, &msg, ROCE_CM_NEVER);
	roce_cm_raise(cm, conn, ROCE_CM_EV_ESTABLISHED, 0, NULL);
	return 0;
}

void roce_cm_comm_established(struct roce_cm *cm, struct roce_cm_conn *conn)
{
	if (conn->state != ROCE_CM_REP_SENT)
		return;
	roce_cm_set_timer(cm, conn, ROCE_CM_NEVER);
	conn->state = ROCE_CM_ESTABLISHED;
	roce_cm_raise(cm, conn, ROCE_CM_EV_ESTABLISHED, 0, NULL);
}

static void send_dreq(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t deadline)
{
	struct roce_cm_msg msg = {
		.hdr =
			{
				.attr_id = UMAD_CM_ATTR_DREQ,
				.tid = (uint64_t)cm->tid_high << 32 | conn->local_id,
			},
		.body.dreq =
			{
				.local_id = conn->local_id,
				.remote_id = conn->remote_id,
				.remote_qpn = conn->qp.remote_qpn,
			},
	};

	send_kept(cm, conn, &msg, deadline);
}

int roce_cm_disconnect(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t now)
{
	if (conn->state != ROCE_CM_ESTABLISHED && conn->state != ROCE_CM_REP_SENT &&
	    conn->state != ROCE_CM_REP_RCVD)
		return -EINVAL;
	conn->state = ROCE_CM_DREQ_SENT;
	conn->timeout_ns = roce_cm_timeout_ns(ROCE_CM_RESPONSE_TIMEOUT);
	conn->tries = ROCE_CM_DREQ_RETRIES;
	send_dreq(cm, conn, now + conn->timeout_ns);
	return 0;
}

void roce_cm_detach(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t now)
{
	if (!conn->attached)
		return;
	switch (conn->state) {
	case ROCE_CM_REQ_SENT:
		roce_cm_send_rej(cm, conn, ROCE_CM_REJ_TIMEOUT, NULL, 0);
		break;
	case ROCE_CM_REQ_RCVD:
	case ROCE_CM_REP_RCVD:
		roce_cm_send_rej(cm, conn, ROCE_CM_REJ_CONSUMER, NULL, 0);
		break;
	case ROCE_CM_REP_SENT:
		roce_cm_send_rej(cm, conn, ROCE_CM_REJ_CONSUMER, NULL, 0);
		leave_ghost(cm, conn, now);
		break;
	case ROCE_CM_ESTABLISHED:
		send_dreq(cm, conn, ROCE_CM_NEVER);
		leave_ghost(cm, conn, now);
		break;
	case ROCE_CM_DREQ_SENT:
	case ROCE_CM_TIMEWAIT:
		leave_ghost(cm, conn, now);
		break;
	case ROCE_CM_IDLE:
	case ROCE_CM_STATES:
		break;
	}
	roce_cm_go_idle(cm, conn);
	LIST_REMOVE(conn, by_id);
	conn->attached = false;
	cm->conns--;
}

/* --- what the clock starts ----------------------------------------------------------------- */

static void give_up(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t now)
{
	cm->counters.timeouts++;
	if (conn->state == ROCE_CM_DREQ_SENT) {
		roce_cm_go_timewait(cm, conn, now);
		roce_cm_raise(cm, conn, ROCE_CM_EV_DISCONNECTED, 0, NULL);
		return;
	}
	roce_cm_send_rej(cm, conn, ROCE_CM_REJ_TIMEOUT, NULL, 0);
	roce_cm_go_idle(cm, conn);
	roce_cm_raise(cm, conn, ROCE_CM_EV_UNREACHABLE, -ETIMEDOUT, NULL);
}

static void expire_conn(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t now)
{
	switch (conn->state) {
	case ROCE_CM_REQ_SENT:
	case ROCE_CM_REP_SENT:
	case ROCE_CM_DREQ_SENT:
		if (!conn->tries) {
			give_up(cm, conn, now);
			break;
		}
		conn->tries--;
		roce_cm_set_timer(cm, conn, now + conn->timeout_ns);
		roce_cm_resend(cm, conn);
		break;
	case ROCE_CM_TIMEWAIT:
		roce_cm_go_idle(cm, conn);
		roce_cm_raise(cm, conn, ROCE_CM_EV_TIMEWAIT_EXIT, 0, NULL);
		break;
	case ROCE_CM_IDLE:
	case ROCE_CM_REQ_RCVD:
	case ROCE_CM_REP_RCVD:
	case ROCE_CM_ESTABLISHED:
	case ROCE_CM_STATES:
		roce_cm_set_timer(cm, conn, ROCE_CM_NEVER);
		break;
	}
}

void roce_cm_expire(struct roce_cm *cm, uint64_t now)
{
	struct roce_cm_conn *first;

	while ((first = TAILQ_FIRST(&cm->timers)) && first->deadline <= now)
		expire_conn(cm, first, now);
}
