/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmnet.h - two connection managers on a virtual network with a virtual clock. Packets take
 * LATENCY; a test decides by a script or by chance what is lost, doubled or late.
 */
#ifndef TESTS_CMNET_H
#define TESTS_CMNET_H

#include "roce/cm/fsm.h"

#define MS(n)	(UINT64_C(1000000) * (n))
#define SECS(n) MS(1000 * UINT64_C(n))

enum {
	CMNET_NODES = 2,
	CMNET_CONNS = 64,
	CMNET_EVENTS = 256,
	CMNET_PACKETS = 4096,
};

struct cmnet;

/* A conn and what its owner heard of it. */
struct cmnet_conn {
	struct roce_cm_conn conn; /* first */
	bool is_used;
	unsigned int heard[ROCE_CM_EVENTS]; /* how often */
	int status; /* of the last event */
	uint8_t private_data[ROCE_CM_REP_PRIVATE]; /* of the last message */
	uint64_t answer_at; /* passive: when to decide, ROCE_CM_NEVER: not by itself */
};

struct cmnet_node {
	struct cmnet *net;
	struct roce_cm cm;
	struct roce_cm_path path; /* to the other node */
	struct roce_cm_listener listener;
	struct cmnet_conn conns[CMNET_CONNS];
	unsigned int sent[0x20]; /* by attribute id */
	uint16_t last_rej;
	/* how it answers requests */
	uint64_t answer_after; /* ROCE_CM_NEVER: the test does */
	uint16_t rejects_with; /* 0: accepts */
	bool is_full; /* incoming() has no memory */
	uint32_t next_qpn;
};

struct cmnet {
	struct cmnet_node nodes[CMNET_NODES];
	uint64_t now;
	struct cmnet_packet {
		uint64_t at;
		unsigned int to;
		uint8_t mad[ROCE_CM_MAD_BYTES];
	} packets[CMNET_PACKETS];
	unsigned int num_packets;
	/* loses the next n messages of a kind that node `from` sends */
	struct {
		unsigned int from;
		uint16_t attr_id;
		unsigned int n;
	} lose[4];
	bool is_cut; /* everything is lost */
	/* by chance, in percent */
	uint32_t seed;
	unsigned int loss, dup, late;
};

enum {
	CMNET_A,
	CMNET_B
};
extern const uint64_t CMNET_SERVICE;

/* B listens and accepts at once, A is silent. Free with free(). */
struct cmnet *cmnet_new(uint32_t seed);
/* The node forgets everything, as after a crash. */
void cmnet_reboot(struct cmnet *net, unsigned int node, uint64_t random);
struct cmnet_conn *cmnet_connect(struct cmnet *net, unsigned int from, uint32_t qpn);
void cmnet_accept(struct cmnet_node *node, struct cmnet_conn *c);
void cmnet_disconnect(struct cmnet_node *node, struct cmnet_conn *c);
void cmnet_detach(struct cmnet_node *node, struct cmnet_conn *c);
void cmnet_lose(struct cmnet *net, unsigned int from, uint16_t attr_id, unsigned int n);
void cmnet_run(struct cmnet *net, uint64_t duration);
/* The i-th conn in use of a node, NULL if there are not so many. */
struct cmnet_conn *cmnet_nth(struct cmnet_node *node, unsigned int i);
uint32_t cmnet_random(struct cmnet *net);

#endif
