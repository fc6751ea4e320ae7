/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsm.h - the connection manager engine: who is connected to whom, over CM messages.
 *
 * Pure code: no socket, no clock, no lock, no allocation, no random numbers. The owner gives time
 * (`now`, nanoseconds of a monotonic clock) and memory (a struct roce_cm_conn or _listener, usually
 * embedded in an object of its own), hands in what arrived with roce_cm_recv(), calls
 * roce_cm_expire() when roce_cm_next_deadline() has come, and gets messages to send and events
 * through struct roce_cm_ops.
 *
 *   active:   IDLE -connect-> REQ_SENT -REP-> REP_RCVD -ready-> ESTABLISHED
 *   passive:  IDLE -REQ-> REQ_RCVD -accept-> REP_SENT -RTU or first data-> ESTABLISHED
 *   both:     ESTABLISHED -disconnect-> DREQ_SENT -DREP-> TIMEWAIT -time-> IDLE
 *             ESTABLISHED -DREQ (answered by DREP at once)-> TIMEWAIT
 *   failure:  REJ, no answer, stale: -> IDLE, or TIMEWAIT when a QP may have been in use
 *
 * Owner: whoever holds the engine's lock (the engine has none; all calls are serialised).
 *
 * Life: a conn is the engine's from connect/incoming until roce_cm_detach(); not freed before.
 *
 * Re-entrance: an op may call back into the engine for the conn it is about, even detach it, but
 * not call roce_cm_recv() or roce_cm_expire(); ops are the last thing that a handler does with a
 * conn.
 */
#ifndef ROCE_CM_FSM_H
#define ROCE_CM_FSM_H

#include <stdbool.h>
#include <sys/queue.h>

#include "roce/cm/limits.h"
#include "roce/cm/msg.h"

#define ROCE_CM_NEVER UINT64_MAX

enum roce_cm_state {
	ROCE_CM_IDLE,
	ROCE_CM_REQ_SENT,
	ROCE_CM_REQ_RCVD,
	ROCE_CM_REP_SENT,
	ROCE_CM_REP_RCVD,
	ROCE_CM_ESTABLISHED,
	ROCE_CM_DREQ_SENT,
	ROCE_CM_TIMEWAIT,
	ROCE_CM_STATES
};

const char *roce_cm_state_name(enum roce_cm_state state);

enum roce_cm_event_type {
	ROCE_CM_EV_REQ, /* passive: decide with accept, reject; msg->body.req */
	ROCE_CM_EV_REP, /* active: bring the QP to RTS, then ready, or reject; msg->body.rep */
	ROCE_CM_EV_ESTABLISHED, /* passive: RTU, or data. active: after ready */
	ROCE_CM_EV_REJECTED, /* status: reason of a REJ; msg->body.rej, or NULL: found stale */
	ROCE_CM_EV_UNREACHABLE, /* status: -ETIMEDOUT; no answer to REQ, or to REP */
	ROCE_CM_EV_DISCONNECTED,
	ROCE_CM_EV_TIMEWAIT_EXIT,
	ROCE_CM_EVENTS
};

struct roce_cm_event {
	enum roce_cm_event_type type;
	int status;
	const struct roce_cm_msg *msg; /* as said above, else NULL; gone when the op returns */
};

/* Where a peer is reached from. `port` is the owner's: which device; compared, never followed. */
struct roce_cm_path {
	void *port;
	unsigned int gid_index; /* the owner's: which row of the port's table local_gid is */
	uint8_t local_gid[16];
	uint8_t remote_gid[16];
	uint8_t mtu; /* enum ibv_mtu: the port's active MTU, in roce_cm_recv() and connect */
	uint8_t traffic_class;
	uint64_t ca_guid; /* the port's own */
};

/* What the QP needs to know, negotiated; complete with EV_REP, or after accept. */
struct roce_cm_qp {
	uint32_t remote_qpn;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint8_t mtu;
	uint8_t ack_timeout;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t max_rd_atomic; /* what we may ask the peer for */
	uint8_t max_dest_rd_atomic; /* what the peer may ask us for */
	uint8_t remote_gid[16];
	uint32_t flow_label;
	uint8_t traffic_class;
	uint8_t hop_limit;
};

struct roce_cm_listener {
	/* the owner's, before roce_cm_listen() */
	uint64_t service_id;
	bool any_address; /* else only REQs that arrived at local_gid */
	uint8_t local_gid[16];
	int backlog;
	/* the engine's */
	unsigned int pending; /* REQs that nobody has decided on yet */
	LIST_ENTRY(roce_cm_listener) entry;
};

struct roce_cm_conn {
	enum roce_cm_state state;
	bool passive;
	uint32_t local_id;
	uint32_t remote_id;
	uint64_t remote_guid;
	uint32_t local_qpn;
	struct roce_cm_path path;
	struct roce_cm_qp qp;
	struct roce_cm_listener *listener; /* while undecided */

	uint64_t tid;
	uint64_t deadline; /* ROCE_CM_NEVER: no timer */
	uint64_t timeout_ns; /* between two repetitions of `tx` */
	unsigned int tries; /* repetitions left */
	uint8_t rep_timeout; /* passive: exponent and count from the REQ, for our REP */
	uint8_t rep_retries;
	bool attached;
	uint8_t tx[ROCE_CM_MAD_BYTES]; /* the message that is repeated: REQ, REP, RTU or DREQ */
	LIST_ENTRY(roce_cm_conn) by_id;
	TAILQ_ENTRY(roce_cm_conn) by_time;
};

struct roce_cm_ops {
	/* Sends 256 bytes from path->local_gid to QP1 of path->remote_gid. May lose them. */
	void (*send)(void *arg, const struct roce_cm_path *path, const uint8_t *mad);
	/*
	 * A valid REQ for `listener`: gives a zeroed conn for it, for which EV_REQ follows at once,
	 * and 0, or the reason to refuse it with.
	 */
	uint16_t (*incoming)(void *arg, struct roce_cm_listener *listener,
			     const struct roce_cm_path *path, const struct roce_cm_req *req,
			     struct roce_cm_conn **ret_conn);
	void (*event)(void *arg, struct roce_cm_conn *conn, const struct roce_cm_event *event);
};

struct roce_cm_counters {
	uint64_t rx, tx;
	uint64_t bad_mad, unsupported;
	uint64_t duplicates, unknown_id, wrong_state;
	uint64_t repeats, timeouts;
	uint64_t rej_sent, rej_received, stale;
};

/* A destroyed id, kept so that late messages for it get the right answer. */
struct roce_cm_ghost {
	uint32_t remote_id;
	uint64_t remote_guid;
	uint8_t remote_gid[16];
	uint64_t until;
};

enum {
	ROCE_CM_BUCKETS = 1024
};

struct roce_cm {
	const struct roce_cm_ops *ops;
	void *arg;
	uint32_t next_id;
	uint32_t tid_high;
	unsigned int conns;
	LIST_HEAD(, roce_cm_listener) listeners;
	LIST_HEAD(, roce_cm_conn) buckets[ROCE_CM_BUCKETS];
	TAILQ_HEAD(roce_cm_timers, roce_cm_conn) timers; /* by deadline, soonest first */
	struct roce_cm_ghost ghosts[ROCE_CM_TIMEWAIT_SLOTS];
	unsigned int next_ghost;
	struct roce_cm_counters counters;
};

/* `random`: where communication ids and transaction ids start. */
void roce_cm_init(struct roce_cm *cm, const struct roce_cm_ops *ops, void *arg, uint64_t random);

/* -EADDRINUSE: another listener has the service id at an overlapping address. */
int roce_cm_listen(struct roce_cm *cm, struct roce_cm_listener *listener);
/* Undecided REQs stay with their conns; new ones get REJ 8. */
void roce_cm_unlisten(struct roce_cm *cm, struct roce_cm_listener *listener);

/*
 * Sends a REQ. `req` as it goes out but for local_id, ca_guid and the GIDs; qp fields that the
 * peer cannot change are taken from it. conn: zeroed, or IDLE after an earlier attempt.
 * -EISCONN: not idle. -ENOMEM: ROCE_CM_MAX_CONNS.
 */
int roce_cm_connect(struct roce_cm *cm, struct roce_cm_conn *conn, const struct roce_cm_path *path,
		    const struct roce_cm_req *req, uint64_t now);

/* Sends a REP, `rep` as it goes out but for the ids and ca_guid. -EINVAL: not in REQ_RCVD. */
int roce_cm_accept(struct roce_cm *cm, struct roce_cm_conn *conn, const struct roce_cm_rep *rep,
		   uint64_t now);

/* What accept will make of conn->qp, so that the QP can be RTS before the REP leaves. */
void roce_cm_prepare_accept(struct roce_cm_conn *conn, const struct roce_cm_rep *rep);

/* REQ_RCVD, REP_RCVD: sends a REJ; conn is IDLE then. bytes <= 148. -EINVAL: another state. */
int roce_cm_reject(struct roce_cm *cm, struct roce_cm_conn *conn, uint16_t reason,
		   const void *private_data, size_t bytes);

/* REP_RCVD: sends the RTU, raises EV_ESTABLISHED. -EINVAL: another state. */
int roce_cm_ready(struct roce_cm *cm, struct roce_cm_conn *conn);

/* The connection of a local QP, NULL if there is none (any more). */
struct roce_cm_conn *roce_cm_by_qpn(struct roce_cm *cm, const void *port, uint32_t qpn);

/* Data arrived on the QP: as good as an RTU in REP_SENT (12.9.7.2), nothing elsewhere. */
void roce_cm_comm_established(struct roce_cm *cm, struct roce_cm_conn *conn);

/*
 * ESTABLISHED, REP_SENT, REP_RCVD: sends DREQ; EV_DISCONNECTED follows with the answer or when none
 * comes. -EINVAL: another state (also when the peer was first: nothing is left to do).
 */
int roce_cm_disconnect(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t now);

/*
 * Takes conn out of the engine, in any state; the peer is told (REJ or DREQ, once) if it may still
 * believe in the connection. No event follows. Harmless when conn is not attached.
 */
void roce_cm_detach(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t now);

/* A datagram for QP1: `path` from our end (local: where it arrived, remote: where it came from). */
void roce_cm_recv(struct roce_cm *cm, const struct roce_cm_path *path, const uint8_t *mad,
		  size_t bytes, uint64_t now);

/* When roce_cm_expire() wants to be called; ROCE_CM_NEVER if nothing waits. */
uint64_t roce_cm_next_deadline(const struct roce_cm *cm);
void roce_cm_expire(struct roce_cm *cm, uint64_t now);

/* 4.096 us * 2^exponent (five bits), in nanoseconds. */
uint64_t roce_cm_timeout_ns(uint8_t exponent);

#endif /* ROCE_CM_FSM_H */
