/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes with one RC queue pair each over sr_lo, connected by hand: numbers and GIDs cross a
 * socket pair. A test case is two functions, one for each side; a failed CHECK ends its process,
 * and the case fails. Everything is bounded by a timer.
 */
#ifndef VERBS_PAIR_H
#define VERBS_PAIR_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                                \
	do {                                                                       \
		if (!(cond)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

#define VERBS_BUF_BYTES (2u << 20)

/* What a case may choose; zeros are the defaults. */
struct verbs_opts {
	bool use_events; /* make a completion channel */
	int access; /* of the memory region; 0: everything */
	uint8_t timeout; /* local ACK timeout code; 0: 17 (0.5 s); a peer may wait for its CPU */
	uint8_t retry_cnt; /* 0: 7 */
	bool no_rnr_retry;
	enum ibv_mtu mtu; /* 0: the port's active MTU */
};

/* One side. peer_* is what the other side told. */
struct verbs_side {
	int sock; /* to the other side */
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf; /* VERBS_BUF_BYTES */
	uint64_t peer_addr;
	uint32_t peer_rkey;
};

typedef void (*verbs_side_fn)(struct verbs_side *side);

/* Runs a case; true when both sides came to their end. */
bool verbs_pair_run(verbs_side_fn first, verbs_side_fn second, const struct verbs_opts *opts);

/* Waits until the other side is at the same place. */
void verbs_barrier(struct verbs_side *side);

void verbs_post_recv(struct verbs_side *side, uint64_t wr_id, size_t offset, uint32_t len);
/* Of the own buffer's [offset, offset + len), to the same place at the peer where it has one. */
void verbs_post_send(struct verbs_side *side, enum ibv_wr_opcode opcode, size_t offset,
		     uint32_t len);
/* Polls for one completion, at most ten seconds. */
void verbs_wait(struct verbs_side *side, struct ibv_wc *wc);
/* The same, which must be a success. */
void verbs_wait_good(struct verbs_side *side, struct ibv_wc *wc);

/* Bytes that depend on their place and on seed. */
void verbs_fill(uint8_t *buf, size_t len, uint8_t seed);
bool verbs_is_filled(const uint8_t *buf, size_t len, uint8_t seed);

/* CPU time of this process. */
uint64_t verbs_cpu_ms(void);

#endif
