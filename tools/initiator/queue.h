/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a queue: what open.c builds, command.c uses and both may fail. Not for users of
 * the library.
 */
#ifndef TOOLS_INITIATOR_QUEUE_H
#define TOOLS_INITIATOR_QUEUE_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include "ini.h"

/* Receive buffers are larger than a completion, so that a response too long is told as such. */
#define INI_RESPONSE_BYTES 64

struct ini_slot {
	bool is_busy;
	struct ibv_mr *own_mr; /* KEYED_INV: a key for this one command */
	uint32_t rkey; /* key the command offered, 0: none */
};

/*
 * Owner: the thread that uses the queue; nothing is shared.
 * Life: ini_open to ini_close. Verbs objects are made in the order of the fields.
 */
struct ini_queue {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp;
	struct ibv_cq *cq;
	uint8_t *memory; /* commands, responses, data: see ini_layout */
	struct ibv_mr *mr;
	struct ini_slot *slots;

	bool is_connected; /* from ESTABLISHED to DISCONNECTED or the first failed work request */
	bool is_armed; /* a completion event was asked for and has not come */
	bool is_raw; /* raw messages were sent: responses may have any command id */
	struct ini_error death; /* why the connection ended */

	unsigned int outstanding;
	unsigned int sq_used; /* send work requests not known to be done */
	unsigned int sq_capacity;
	unsigned int sq_unsignaled; /* of them, since the last one that will report */
	unsigned int cq_events; /* to be acknowledged */

	/* Copies of the parameters. */
	char subnqn[NVME_NQN_LENGTH];
	char hostnqn[NVME_NQN_LENGTH];
	uint8_t hostid[16];
	uint16_t qid;
	uint16_t cntlid;
	uint16_t entries;
	uint32_t kato_ms;
	uint32_t slot_bytes;
	int timeout_ms;
	unsigned int spin_us;

	uint16_t crqsize;
	char description[128];
};

/* Parts of ini_queue.memory. */
struct ini_sqe *ini_slot_sqe(const struct ini_queue *queue, uint16_t tag);
uint8_t *ini_response(const struct ini_queue *queue, unsigned int index);
size_t ini_memory_bytes(const struct ini_queue *queue);

/* Fill *error (may be NULL) and return @err, a -errno. */
int ini_fail(struct ini_error *error, int err, const char *step, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The connection is over: keep the first reason, and report it. */
int ini_die(struct ini_queue *queue, struct ini_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Post the receive buffer @index. 0 or -errno. */
int ini_post_response(struct ini_queue *queue, unsigned int index);

/* Take CM events that are pending. Notes the end of the connection; waits for nothing. */
void ini_take_cm_events(struct ini_queue *queue);

/* The steps of ini_open that are the connection manager's, and its events. 0 or -errno. */
int ini_cm_open(struct ini_queue *queue, struct ini_error *error);
int ini_resolve(struct ini_queue *queue, const struct ini_params *params, uint64_t deadline_ns,
		struct ini_error *error);
int ini_cm_connect(struct ini_queue *queue, const struct ini_params *params, uint64_t deadline_ns,
		   struct ini_error *error);
/* The next CM event, for the caller to acknowledge, or -ETIMEDOUT. */
int ini_next_event(struct ini_queue *queue, uint64_t deadline_ns, struct rdma_cm_event **event);

/* A deadline so many milliseconds from now; those that are left of one, at least 0. */
uint64_t ini_deadline_ns(int ms);
int ini_left_ms(uint64_t deadline_ns);

#endif
