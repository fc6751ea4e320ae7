/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - every number of the connection manager that bounds what a peer can make us keep or
 * do, and the defaults of what we say in our own messages. Nothing else here.
 */
#ifndef ROCE_CM_LIMITS_H
#define ROCE_CM_LIMITS_H

enum {
	/* Connections (in any state) of one engine; further REQs are answered by REJ 3. */
	ROCE_CM_MAX_CONNS = 16384,
	/* Undecided REQs of one listener: default for a backlog of 0 or less, and the most. */
	ROCE_CM_BACKLOG_DEFAULT = 128,
	ROCE_CM_BACKLOG_MAX = 1024,
	/* Ids that were destroyed a moment ago; the oldest makes room for a new one. */
	ROCE_CM_TIMEWAIT_SLOTS = 1024,

	/*
	 * What our REQ announces (IBTA volume 1, 12.7.4, 12.7.5, 12.7.26: 4.096 us * 2^value). A
	 * dead target is noticed after 1 + 7 times 0.54 s. The peer that answers gets the same time
	 * to wait for our RTU.
	 */
	ROCE_CM_RESPONSE_TIMEOUT = 17,
	ROCE_CM_MAX_RETRIES = 7,
	/* 0.54 s: long against a software responder's hiccups, short against a lost packet. */
	ROCE_CM_ACK_TIMEOUT = 17,
	/* What an MRA of ours asks for: 4.3 s, renewed by each repetition of the REQ. */
	ROCE_CM_SERVICE_TIMEOUT = 20,
	/* DREQ: how often, at our own response timeout, before the connection counts as gone. */
	ROCE_CM_DREQ_RETRIES = 3,
	ROCE_CM_TARGET_ACK_DELAY = 15,

	/* Exponents that we believe when a peer announces them: 16.8 ms to 8.6 s; for MRA 69 s. */
	ROCE_CM_TIMEOUT_MIN = 12,
	ROCE_CM_TIMEOUT_MAX = 21,
	ROCE_CM_SERVICE_TIMEOUT_MAX = 24,
	/*
	 * Our REP is repeated after 1.1 s at the latest: a peer's longer time is how long it may
	 * take, and a REP too many does no harm.
	 */
	ROCE_CM_REP_TIMEOUT_MAX = 18,
	/* TIMEWAIT lasts twice the ACK timeout, at most this exponent's time (2.1 s). */
	ROCE_CM_TIMEWAIT_MAX = 19,
};

#endif /* ROCE_CM_LIMITS_H */
