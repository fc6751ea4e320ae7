/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RC endpoints on a bad network: whatever is lost, doubled, held back or damaged, data is right,
 * each request completes exactly once and in order, and nothing hangs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rcnet.h"

#define OPS   48u
#define SLOT  (32u << 10)
#define AREA  (2u << 20)
#define SRC   0u
#define DST   AREA /* of WRITEs */
#define RECVS (2 * AREA)
#define READS (3 * AREA)

static struct net net;

struct plan {
	enum ibv_wr_opcode opcode;
	uint32_t len;
};

static struct plan plan[2][OPS];

static void plan_work(int n)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND,	      IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ,     IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_SEND_WITH_IMM,
	};
	struct net_node *node = &net.node[n], *peer = &net.node[1 - n];
	uint32_t recvs = 0;

	for (uint32_t i = 0; i < OPS; i++) {
		struct plan *p = &plan[n][i];
		unsigned int fence = net_random(&net, 9) == 0 ? IBV_SEND_FENCE : 0;
		uint32_t at = i * SLOT;

		p->opcode = ops[net_random(&net, 4)];
		p->len = net_random(&net, 3) ? net_random(&net, SLOT) : net_random(&net, 300);
		net_fill(node, SRC + at, SLOT, i * 2 + (uint32_t)n);
		if (p->opcode == IBV_WR_RDMA_READ)
			assert_int_equal(net_post(node, p->opcode, i, READS + at, p->len, SRC + at,
						  IBV_SEND_SIGNALED | fence),
					 0);
		else
			assert_int_equal(net_post(node, p->opcode, i, SRC + at, p->len, DST + at,
						  IBV_SEND_SIGNALED | fence),
					 0);
		if (p->opcode != IBV_WR_RDMA_READ && p->opcode != IBV_WR_RDMA_WRITE)
			assert_int_equal(net_post_recv(peer, i, RECVS + recvs++ * SLOT, SLOT), 0);
	}
}

static void check_work(int n)
{
	struct net_node *node = &net.node[n], *peer = &net.node[1 - n];
	uint32_t recvs = 0;

	assert_int_equal(node->num_sends, OPS);
	for (uint32_t i = 0; i < OPS; i++) {
		const struct plan *p = &plan[n][i];
		uint32_t at = i * SLOT;

		assert_int_equal(node->sends[i].wr_id, i);
		assert_int_equal(node->sends[i].status, IBV_WC_SUCCESS);
		if (p->opcode == IBV_WR_RDMA_READ) {
			assert_true(
				net_is_filled(node, READS + at, p->len, i * 2 + (uint32_t)(1 - n)));
			continue;
		}
		if (p->opcode == IBV_WR_RDMA_WRITE || p->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
			assert_true(net_is_filled(peer, DST + at, p->len, i * 2 + (uint32_t)n));
		if (p->opcode == IBV_WR_RDMA_WRITE)
			continue;
		assert_int_equal(peer->recvs[recvs].wr_id, i);
		assert_int_equal(peer->recvs[recvs].byte_len, p->len);
		if (p->opcode != IBV_WR_RDMA_WRITE_WITH_IMM)
			assert_true(net_is_filled(peer, RECVS + recvs * SLOT, p->len,
						  i * 2 + (uint32_t)n));
		recvs++;
	}
	assert_int_equal(peer->num_recvs, recvs);
}

static void run_one(struct net_attr *attr)
{
	net_init(&net, attr);
	plan_work(0);
	plan_work(1);
	if (!net_run(&net, 30000)) {
		print_error("hangs: mtu %u seed %llu drop %u dup %u reorder %u corrupt %u\n",
			    attr->mtu, (unsigned long long)attr->seed, attr->drop, attr->dup,
			    attr->reorder, attr->corrupt);
		fail();
	}
	check_work(0);
	check_work(1);
	net_fini(&net);
}

static void run_kinds(uint32_t drop, uint32_t dup, uint32_t reorder, uint32_t corrupt)
{
	static const uint32_t mtus[] = {256, 1024, 4096};

	for (uint64_t seed = 1; seed <= 3; seed++) {
		for (unsigned int m = 0; m < 3; m++) {
			struct net_attr attr = net_defaults;

			attr.mtu = mtus[m];
			attr.psn[seed & 1] = 0xffffff - (uint32_t)seed * 40;
			attr.seed = seed * 7 + m;
			attr.drop = drop;
			attr.dup = dup;
			attr.reorder = reorder;
			attr.corrupt = corrupt;
			run_one(&attr);
		}
	}
}

static void test_drop(void **state)
{
	(void)state;
	run_kinds(10, 0, 0, 0);
	run_kinds(100, 0, 0, 0);
}

static void test_duplicate(void **state)
{
	(void)state;
	run_kinds(0, 10, 0, 0);
	run_kinds(0, 100, 0, 0);
}

static void test_reorder(void **state)
{
	(void)state;
	run_kinds(0, 0, 10, 0);
	run_kinds(0, 0, 100, 0);
}

static void test_corrupt(void **state)
{
	(void)state;
	run_kinds(0, 0, 0, 10);
	run_kinds(0, 0, 0, 100);
}

static void test_all_at_once(void **state)
{
	(void)state;
	run_kinds(10, 10, 30, 10);
	run_kinds(60, 60, 60, 60);
}

/* 1 % loss costs round trips, not the agreed time-out of 2.15 s: 1 MiB each way stays quick. */
static void test_loss_is_repaired_fast(void **state)
{
	struct net_attr attr = net_defaults;

	(void)state;
	attr.timeout = ROCE_RC_DEFAULT_TIMEOUT;
	attr.drop = 10;
	net_init(&net, &attr);
	net_fill(&net.node[0], 0, 1 << 20, 1);
	net_fill(&net.node[1], 2 << 20, 1 << 20, 2);
	for (uint64_t i = 0; i < 8; i++) {
		assert_int_equal(net_post(&net.node[0], IBV_WR_RDMA_WRITE, i, 0, 1 << 20, 0,
					  IBV_SEND_SIGNALED),
				 0);
		assert_int_equal(net_post(&net.node[0], IBV_WR_RDMA_READ, i, 2 << 20, 1 << 20,
					  2 << 20, IBV_SEND_SIGNALED),
				 0);
	}
	assert_true(net_run(&net, 2000));
	assert_int_equal(net.node[0].num_sends, 16);
	assert_true(net.num_lost > 50);
	assert_true(net_is_filled(&net.node[1], 0, 1 << 20, 1));
	assert_true(net_is_filled(&net.node[0], 2 << 20, 1 << 20, 2));
	net_fini(&net);
}

/* Drops the packets of node 1's answers that the script names, by their running number. */
static bool drop_scripted(struct net *n, int to, const struct roce_pkt *pkt)
{
	if (to != 0 || !(roce_ops[pkt->opcode].flags & ROCE_OP_READ))
		return true;
	n->script[0]++;
	return n->script[0] != n->script[1] && n->script[0] != n->script[2];
}

/* A gap in READ responses is seen at the next one, and asked for from the first missing byte. */
static void test_read_gap_is_an_implied_nak(void **state)
{
	struct net_node *a = &net.node[0], *b = &net.node[1];

	(void)state;
	net_init(&net, &net_defaults);
	net.filter = drop_scripted;
	net.script[1] = 5;
	net_fill(b, 0, 20000, 3);
	assert_int_equal(net_post(a, IBV_WR_RDMA_READ, 1, 0, 20000, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 5));
	assert_int_equal(a->sends[0].status, IBV_WC_SUCCESS);
	assert_true(net_is_filled(a, 0, 20000, 3));
	assert_int_equal(a->rc.counters.timeouts, 0);
	assert_int_equal(a->rc.counters.implied_naks, 1);
	assert_int_equal(a->rc.counters.retransmits, 1);
	assert_int_equal(b->rc.counters.duplicates, 1);
	net_fini(&net);
}

static bool drop_first_try(struct net *n, int to, const struct roce_pkt *pkt)
{
	/* Requests 3 and 3 again: the packet is lost twice. */
	if (to == 1 && pkt->psn.v == n->attr.psn[0] + 3 && n->script[0] < 2) {
		n->script[0]++;
		return false;
	}
	return true;
}

/* One NAK for one gap, and one more when what is sent again is lost again; no time-out. */
static void test_gap_is_answered_once(void **state)
{
	struct net_node *a = &net.node[0], *b = &net.node[1];

	(void)state;
	net_init(&net, &net_defaults);
	net.filter = drop_first_try;
	net_fill(a, 0, 40000, 3);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 1, 0, 40000, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 5));
	assert_int_equal(a->sends[0].status, IBV_WC_SUCCESS);
	assert_true(net_is_filled(b, 0, 40000, 3));
	assert_int_equal(b->rc.counters.tx_nak[ROCE_NAK_SEQUENCE], 2);
	assert_int_equal(a->rc.counters.timeouts, 0);
	net_fini(&net);
}

/* The window shrinks on loss and grows back. */
static void test_window(void **state)
{
	struct net_node *a = &net.node[0];
	struct net_attr attr = net_defaults;

	(void)state;
	attr.window = 32;
	net_init(&net, &attr);
	assert_int_equal(a->rc.req.window, 32);
	net.filter = drop_first_try;
	net.script[0] = 1;
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 1, 0, 20000, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 5));
	assert_in_range(a->rc.req.window, 16, 20);
	for (int i = 0; i < 10; i++)
		assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 1, 0, 40000, 0, IBV_SEND_SIGNALED),
				 0);
	assert_true(net_run(&net, 50));
	assert_int_equal(a->rc.req.window, 32);
	net_fini(&net);
}

/* ACKs for what was never sent, and for what is done, change nothing. */
static void test_ghost_and_old_acks(void **state)
{
	struct net_node *a = &net.node[0];
	struct roce_pkt ack = {.opcode = ROCE_RC_ACK, .pkey = 0xffff, .syndrome = 0x1f};

	(void)state;
	net_init(&net, &net_defaults);
	ack.psn = roce_psn_make(net.attr.psn[0]);
	roce_rc_input(&a->rc, &ack, net.now_ns);
	assert_int_equal(a->rc.counters.ghost_acks, 1);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 1, 0, 3000, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 5));
	roce_rc_input(&a->rc, &ack, net.now_ns);
	assert_int_equal(a->rc.counters.dup_acks, 1);
	ack.psn = roce_psn_add(ack.psn, 3);
	roce_rc_input(&a->rc, &ack, net.now_ns);
	ack.syndrome = ROCE_AETH_NAK | ROCE_NAK_REMOTE_ACCESS;
	roce_rc_input(&a->rc, &ack, net.now_ns);
	assert_int_equal(a->rc.counters.ghost_acks, 3);
	assert_int_equal(roce_rc_get_state(&a->rc), ROCE_RC_RTS);
	assert_int_equal(a->num_sends, 1);
	net_fini(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_duplicate),
		cmocka_unit_test(test_reorder),
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_all_at_once),
		cmocka_unit_test(test_loss_is_repaired_fast),
		cmocka_unit_test(test_read_gap_is_an_implied_nak),
		cmocka_unit_test(test_gap_is_answered_once),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_ghost_and_old_acks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
