/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue (one RDMA connection) and a request on it, as command handlers see them.
 *
 * Life of a queue: a transport calls tgt_queue_init() when it accepts a connection; a successful
 * Connect gives it a controller; tgt_queue_closing() reports that the connection is ending, from
 * then on nothing is answered on it; tgt_queue_gone() that its RDMA resources do not exist any
 * more, after which the transport frees the memory.
 *
 * Life of a request: the transport parses a capsule, fetches data from the host if the command
 * has some, and calls tgt_exec(). The request belongs to the control plane until ops->respond()
 * gives it back with a response, which may be within tgt_exec() or much later (asynchronous
 * events, parked Connects), or until ops->drop() gives it back without one.
 */
#ifndef TGT_QUEUE_H
#define TGT_QUEUE_H

#include "target/target.h"

struct tgt_req {
	struct tgt_queue *queue;
	struct tgt_cmd cmd;
	/* As many bytes as the command's descriptor says, zeroed when they go to the host. */
	uint8_t *data;
	uint32_t data_bytes;
	uint64_t result; /* dwords 0 and 1 of the response */
};

struct tgt_queue_ops {
	/** respond() - send data (success and direction to the host only), then the response. */
	void (*respond)(struct tgt_req *req, const uint8_t cqe[TGT_CQE_BYTES], bool success);
	/** drop() - the connection or the controller ends: take the request back unanswered. */
	void (*drop)(struct tgt_req *req);
	/**
	 * bind() - a Connect is about to succeed: give the data path what it needs to know.
	 * Return: 0 or a negative errno, then the Connect fails.
	 */
	int (*bind)(struct tgt_queue *queue, struct tgt_subsys *subsys, uint16_t sq_entries);
	/**
	 * disconnect() - end the connection. tgt_queue_gone() follows, never before this returns.
	 */
	void (*disconnect)(struct tgt_queue *queue);
	/**
	 * was_active() - has the host sent anything that the control plane does not see, since the
	 * last call? Asked when a keep-alive time is over, not for each command.
	 */
	bool (*was_active)(struct tgt_queue *queue);
};

struct tgt_queue {
	const struct tgt_queue_ops *ops;
	struct tgt *tgt;
	struct tgt_port *port;
	/* Where the host reached us: replaces a wildcard in the discovery log. */
	char local_addr[TGT_ADDR_TEXT];
	char peer_addr[TGT_ADDR_TEXT];
	/* From the connection's private data. */
	uint16_t qid; /* Connect has to name the same */
	uint16_t max_entries; /* receives that are posted; Connect may ask for no more */
	struct tgt_ctrlr *ctrlr; /* NULL until Connect has succeeded */
	uint16_t sq_entries; /* a count, from Connect */
	uint16_t sq_head;
	bool no_sq_flow; /* the host does not want SQHD */
	bool close_after_response; /* the host sent Disconnect */
	bool is_closing;
	/* Until Connect has succeeded: when to give up, and the Connect that waits, if one does. */
	uint64_t deadline_ms;
	struct tgt_req *parked;
};

/**
 * tgt_queue_init() - a new connection, waiting for its Connect.
 * The caller has set ops, port, addresses, qid and max_entries.
 *
 * Return: 0, or -ENOSPC when too many connections wait already.
 */
int tgt_queue_init(struct tgt_queue *queue, struct tgt *tgt);

/** tgt_queue_closing() - see above. Harmless when called again. */
void tgt_queue_closing(struct tgt_queue *queue);

/** tgt_queue_gone() - see above; implies closing. */
void tgt_queue_gone(struct tgt_queue *queue);

/** tgt_exec() - run a command whose data from the host is in req->data. */
void tgt_exec(struct tgt_req *req);

/** tgt_complete() - answer @req with @status and req->result. */
void tgt_complete(struct tgt_req *req, tgt_status_t status);

/** tgt_abandon() - give @req back unanswered; its entry of the submission queue is free again. */
void tgt_abandon(struct tgt_req *req);

/**
 * tgt_expect_data() - the descriptor's length has to be what the command needs.
 *
 * Return: TGT_SUCCESS or Data SGL Length Invalid with DNR. Identify Controller does not announce
 * that a longer one is allowed (SGLS bit 18).
 */
tgt_status_t tgt_expect_data(const struct tgt_req *req, uint32_t bytes);

/** tgt_tick() - let pass what has passed: Connect and keep-alive time-outs, parked Connects. */
void tgt_tick(struct tgt *tgt);

/** tgt_next_deadline() - when tgt_tick() has something to do next, UINT64_MAX for never. */
uint64_t tgt_next_deadline(const struct tgt *tgt);

#endif
