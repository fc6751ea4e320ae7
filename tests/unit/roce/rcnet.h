/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two RC endpoints on a virtual network with a virtual clock: packets are lost, doubled, held back
 * or damaged by chance (seeded) or by script. Every packet passes the ICRC and the parser.
 */
#ifndef TESTS_UNIT_ROCE_RCNET_H
#define TESTS_UNIT_ROCE_RCNET_H

#include <stdbool.h>
#include <stdint.h>

#include "roce/proto/rc.h"

#define NET_HEAP_BYTES (8u << 20) /* memory region of a node */
#define NET_KEY	       0x1234u /* its key, local and remote */
#define NET_HEAP_VA    0x700000000000ull /* its address as keys and SGEs name it */
#define NET_MAX_WR     256
#define NET_MAX_SGE    8
#define NET_MAX_INLINE 256
#define NET_MAX_DONE   4096

struct net;

struct net_node {
	struct net *net;
	struct roce_rc rc;
	struct roce_rq rq;
	void *rc_mem, *rq_mem;
	uint8_t *heap;
	uint32_t mr_epoch;
	int refuse_access; /* map() refuses these IBV_ACCESS_* */
	uint32_t refuse_key;
	uint32_t valid_inv_key; /* invalidate() takes this one only */
	unsigned int num_invalidated;
	struct roce_send_done sends[NET_MAX_DONE];
	struct roce_recv_done recvs[NET_MAX_DONE];
	unsigned int num_sends, num_recvs, num_first, num_errors;
	enum ibv_wc_status error;
	uint64_t line_ns; /* until when what it sent occupies the wire */
	void (*on_recv)(struct net_node *node); /* may post; NULL for nothing */
};

struct net_attr {
	uint32_t mtu;
	uint32_t psn[2]; /* where each node's requests start */
	uint8_t timeout, retry_cnt, rnr_retry, rnr_timer;
	uint8_t rd_atomic;
	uint32_t window;
	bool sig_all;
	/* Chances of 1000 for each packet. */
	uint32_t drop, dup, reorder, corrupt;
	uint64_t seed;
};

/* mtu 1024, timeout 14 (67 ms), retries 7, RNR for ever, code 12, 4 READs, no loss. */
extern const struct net_attr net_defaults;

/* Says what becomes of a packet to node `to`: false drops it. */
typedef bool net_filter(struct net *net, int to, const struct roce_pkt *pkt);

struct net_datagram;

struct net {
	struct net_attr attr;
	struct net_node node[2];
	uint64_t now_ns;
	uint64_t rng;
	struct net_datagram *in_flight; /* by arrival time */
	net_filter *filter;
	uint64_t num_sent, num_lost;
	unsigned int script[8]; /* for filters */
};

void net_init(struct net *net, const struct net_attr *attr);
void net_fini(struct net *net);

/* Runs until nothing is under way and no timer is set, or until max_ms have passed: then false. */
bool net_run(struct net *net, uint64_t max_ms);

/* n + 1 pseudo random values from 0. */
uint32_t net_random(struct net *net, uint32_t n);

/* Posts with one SGE at offset of the node's heap; remote offset for WRITE and READ. */
int net_post(struct net_node *node, enum ibv_wr_opcode opcode, uint64_t wr_id, uint32_t local,
	     uint32_t len, uint32_t remote, unsigned int flags);
int net_post_recv(struct net_node *node, uint64_t wr_id, uint32_t local, uint32_t len);

/* Fills len bytes of the heap with a pattern of the seed; checks for it. */
void net_fill(struct net_node *node, uint32_t at, uint32_t len, uint32_t seed);
bool net_is_filled(const struct net_node *node, uint32_t at, uint32_t len, uint32_t seed);

#endif
