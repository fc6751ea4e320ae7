/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RC endpoints on a network without loss: every operation, every size around the packet limits,
 * every MTU, SGE lists, inline, immediate, invalidate, fence, READ limit, signalling, PSN wrap.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rcnet.h"

#define FAR (4u << 20) /* offset of the second half of a heap */

static struct net net;

static int setup_mtu(uint32_t mtu, uint32_t psn)
{
	struct net_attr attr = net_defaults;

	attr.mtu = mtu;
	attr.psn[0] = psn;
	net_init(&net, &attr);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return setup_mtu(1024, 100);
}

static int teardown(void **state)
{
	(void)state;
	net_fini(&net);
	return 0;
}

static void one_of_each(uint32_t len, uint32_t seed)
{
	struct net_node *a = &net.node[0], *b = &net.node[1];
	unsigned int sends = a->num_sends, recvs = b->num_recvs;

	net_fill(a, 0, len, seed);
	net_fill(b, FAR, len, seed + 1);
	memset(b->heap, 0, len + 1);
	memset(a->heap + FAR, 0, len + 1);
	assert_int_equal(net_post_recv(b, seed, 2 << 20, len), 0);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 1, 0, len, 0, IBV_SEND_SIGNALED), 0);
	assert_int_equal(net_post(a, IBV_WR_RDMA_READ, 2, FAR, len, FAR, IBV_SEND_SIGNALED), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND, 3, 0, len, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 1000));

	assert_int_equal(a->num_sends - sends, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(a->sends[sends + i].wr_id, i + 1);
		assert_int_equal(a->sends[sends + i].status, IBV_WC_SUCCESS);
	}
	assert_int_equal(a->sends[sends + 1].opcode, IBV_WC_RDMA_READ);
	assert_int_equal(a->sends[sends + 1].byte_len, len);
	assert_int_equal(b->num_recvs - recvs, 1);
	assert_int_equal(b->recvs[recvs].wr_id, seed);
	assert_int_equal(b->recvs[recvs].byte_len, len);
	assert_true(net_is_filled(b, 0, len, seed));
	assert_int_equal(b->heap[len], 0);
	assert_true(net_is_filled(a, FAR, len, seed + 1));
	assert_int_equal(a->heap[FAR + len], 0);
	assert_true(net_is_filled(b, 2 << 20, len, seed));
}

static void test_sizes_at_every_mtu(void **state)
{
	(void)state;
	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2) {
		const uint32_t sizes[] = {
			0,	     1,	      3,	   4,	     mtu - 1,
			mtu,	     mtu + 1, 2 * mtu - 1, 2 * mtu,  2 * mtu + 3,
			7 * mtu + 5, 65536,   131072 + 77, 1u << 20,
		};

		setup_mtu(mtu, 0xffffff - mtu / 100);
		for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			one_of_each(sizes[i], i * 100 + mtu);
		assert_int_equal(net.node[0].rc.counters.retransmits, 0);
		assert_int_equal(net.node[1].rc.counters.duplicates, 0);
		assert_int_equal(net.node[0].num_first + net.node[1].num_first, 1);
		net_fini(&net);
	}
}

static void test_sge_lists(void **state)
{
	struct net_node *a = &net.node[0], *b = &net.node[1];
	struct ibv_sge from[4], to[3];
	struct ibv_send_wr wr = {.sg_list = from, .num_sge = 4, .opcode = IBV_WR_SEND};
	struct ibv_recv_wr rwr = {.sg_list = to, .num_sge = 3};
	const uint32_t cut[5] = {0, 700, 700, 2049, 5000}; /* one is empty */

	(void)state;
	net_fill(a, 0, 5000, 9);
	for (int i = 0; i < 4; i++)
		from[i] = (struct ibv_sge){NET_HEAP_VA + cut[i], cut[i + 1] - cut[i], NET_KEY};
	to[0] = (struct ibv_sge){NET_HEAP_VA + 10, 1, NET_KEY};
	to[1] = (struct ibv_sge){NET_HEAP_VA + 11, 3000, NET_KEY};
	to[2] = (struct ibv_sge){NET_HEAP_VA + 3011, 5000, NET_KEY};
	assert_int_equal(roce_rc_post_recv(&b->rc, &rwr), 0);
	wr.send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(roce_rc_post_send(&a->rc, &wr), 0);
	/* The same list as the destination of a READ. */
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = NET_HEAP_VA + FAR;
	wr.wr.rdma.rkey = NET_KEY;
	net_fill(b, FAR, 5000, 10);
	assert_true(net_run(&net, 1000));
	assert_true(net_is_filled(b, 10, 5000, 9));
	assert_int_equal(b->recvs[0].byte_len, 5000);
	assert_int_equal(roce_rc_post_send(&a->rc, &wr), 0);
	assert_true(net_run(&net, 1000));
	assert_true(net_is_filled(a, 0, 5000, 10));
	assert_int_equal(a->num_sends, 2);
}

static void test_inline_is_copied_at_post(void **state)
{
	struct net_node *a = &net.node[0], *b = &net.node[1];

	(void)state;
	a->refuse_key = NET_KEY; /* inline data needs no region */
	net_fill(a, 0, NET_MAX_INLINE, 5);
	assert_int_equal(net_post_recv(b, 1, 0, 4096), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND, 1, 0, NET_MAX_INLINE, 0,
				  IBV_SEND_INLINE | IBV_SEND_SIGNALED),
			 0);
	memset(a->heap, 0, NET_MAX_INLINE);
	assert_int_equal(net_post(a, IBV_WR_SEND, 1, 0, NET_MAX_INLINE + 1, 0, IBV_SEND_INLINE),
			 -EINVAL);
	assert_true(net_run(&net, 1000));
	assert_true(net_is_filled(b, 0, NET_MAX_INLINE, 5));
	assert_int_equal(a->sends[0].status, IBV_WC_SUCCESS);
}

static void test_immediate_and_solicited(void **state)
{
	struct net_node *a = &net.node[0], *b = &net.node[1];

	(void)state;
	net_fill(a, 0, 3000, 6);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(net_post_recv(b, i, FAR, 3000), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND_WITH_IMM, 1, 0, 3000, 0, IBV_SEND_SOLICITED), 0);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE_WITH_IMM, 2, 0, 3000, 0, 0), 0);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE_WITH_IMM, 3, 0, 0, 0, 0), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND_WITH_IMM, 4, 0, 0, 0, 0), 0);
	assert_true(net_run(&net, 1000));
	assert_int_equal(a->num_sends, 0); /* all unsignalled */
	assert_int_equal(b->num_recvs, 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(b->recvs[i].wr_id, i);
		assert_int_equal(b->recvs[i].wc_flags, IBV_WC_WITH_IMM);
		assert_int_equal(b->recvs[i].imm_data, htonl(0xc0ffee));
		assert_int_equal(b->recvs[i].byte_len, i < 2 ? 3000 : 0);
		assert_int_equal(b->recvs[i].solicited, i == 0);
		assert_int_equal(b->recvs[i].opcode,
				 i == 1 || i == 2 ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
	}
	assert_true(net_is_filled(b, 0, 3000, 6));
	assert_true(net_is_filled(b, FAR, 3000, 6));
}

static void test_invalidate(void **state)
{
	struct net_node *a = &net.node[0], *b = &net.node[1];

	(void)state;
	a->valid_inv_key = b->valid_inv_key = 77;
	assert_int_equal(net_post_recv(b, 1, 0, 4096), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND_WITH_INV, 1, 0, 2000, 0, IBV_SEND_SIGNALED), 0);
	assert_int_equal(net_post(a, IBV_WR_LOCAL_INV, 2, 0, 0, 0, IBV_SEND_SIGNALED), 0);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 3, 0, 10, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 1000));
	assert_int_equal(b->recvs[0].wc_flags, IBV_WC_WITH_INV);
	assert_int_equal(b->recvs[0].invalidated_rkey, 77);
	assert_int_equal(b->num_invalidated, 1);
	assert_int_equal(a->num_invalidated, 1);
	assert_int_equal(a->num_sends, 3);
	assert_int_equal(a->sends[1].opcode, IBV_WC_LOCAL_INV);
	assert_int_equal(a->sends[2].wr_id, 3);
}

/* Local invalidation waits for an unsignalled WRITE before it, which must be acknowledged. */
static void test_local_invalidate_after_unsignalled(void **state)
{
	struct net_node *a = &net.node[0];

	(void)state;
	a->valid_inv_key = 77;
	for (int i = 0; i < 5; i++)
		assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 1, 0, 10, 0, 0), 0);
	assert_int_equal(net_post(a, IBV_WR_LOCAL_INV, 2, 0, 0, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 1000));
	assert_int_equal(a->num_sends, 1);
	assert_int_equal(a->rc.counters.timeouts, 0);
}

/* Fenced: the WRITE reads what the READ before it brings. */
static void test_fence(void **state)
{
	struct net_node *a = &net.node[0], *b = &net.node[1];

	(void)state;
	net_fill(b, 0, 100000, 11);
	assert_int_equal(net_post(a, IBV_WR_RDMA_READ, 1, 0, 100000, 0, 0), 0);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 2, 0, 100000, FAR,
				  IBV_SEND_FENCE | IBV_SEND_SIGNALED),
			 0);
	assert_true(net_run(&net, 1000));
	assert_true(net_is_filled(b, FAR, 100000, 11));
	assert_int_equal(a->num_sends, 1);
	assert_int_equal(b->rc.counters.duplicates, 0);
}

static unsigned int reads_seen, reads_most;

/* The responder would refuse a fifth READ; count what is outstanding on the wire as well. */
static bool count_reads(struct net *n, int to, const struct roce_pkt *pkt)
{
	uint32_t f = roce_ops[pkt->opcode].flags;

	(void)n;
	(void)to;
	if (pkt->opcode == ROCE_RC_READ_REQUEST)
		reads_seen++;
	else if (f & ROCE_OP_READ && f & ROCE_OP_END)
		reads_seen--;
	if (reads_seen > reads_most)
		reads_most = reads_seen;
	return true;
}

static void test_read_limit(void **state)
{
	struct net_node *a = &net.node[0], *b = &net.node[1];

	(void)state;
	reads_seen = reads_most = 0;
	net.filter = count_reads;
	net_fill(b, 0, 64 * 512, 12);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(net_post(a, IBV_WR_RDMA_READ, i, FAR + i * 512, 512, i * 512,
					  IBV_SEND_SIGNALED),
				 0);
	assert_true(net_run(&net, 1000));
	assert_int_equal(a->num_sends, 64);
	assert_true(net_is_filled(a, FAR, 64 * 512, 12));
	assert_int_equal(reads_most, net_defaults.rd_atomic);
}

/* Both directions, all operations at once, queues kept full. */
static void test_both_ways(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		for (int n = 0; n < 2; n++) {
			struct net_node *node = &net.node[n];
			uint32_t at = i * 8192;

			net_fill(node, at, 8192, i + 1000 * (uint32_t)n);
			assert_int_equal(net_post_recv(node, i, (2 << 20) + at, 8192), 0);
			assert_int_equal(
				net_post(node, IBV_WR_RDMA_WRITE, 3 * i, at, 8192, FAR + at, 0), 0);
			assert_int_equal(net_post(node, IBV_WR_SEND, 3 * i + 1, at, 8192, 0, 0), 0);
			assert_int_equal(net_post(node, IBV_WR_RDMA_READ, 3 * i + 2, (6 << 20) + at,
						  8192, at, IBV_SEND_SIGNALED),
					 0);
		}
	}
	assert_true(net_run(&net, 10000));
	for (int n = 0; n < 2; n++) {
		struct net_node *node = &net.node[n];

		assert_int_equal(node->num_sends, 60);
		assert_int_equal(node->num_recvs, 60);
		for (uint32_t i = 0; i < 60; i++) {
			uint32_t at = i * 8192, other = i + 1000 * (uint32_t)(1 - n);

			assert_true(net_is_filled(node, FAR + at, 8192, other));
			assert_true(net_is_filled(node, (2 << 20) + at, 8192, other));
			assert_true(net_is_filled(node, (6 << 20) + at, 8192, other));
		}
		assert_int_equal(node->rc.counters.retransmits, 0);
	}
}

static void test_post_errors(void **state)
{
	struct net_node *a = &net.node[0];
	struct ibv_sge sges[NET_MAX_SGE + 1] = {{0}};
	struct ibv_send_wr wr = {.sg_list = sges, .num_sge = NET_MAX_SGE + 1};
	struct ibv_recv_wr rwr = {.sg_list = sges, .num_sge = NET_MAX_SGE + 1};

	(void)state;
	wr.opcode = IBV_WR_SEND;
	assert_int_equal(roce_rc_post_send(&a->rc, &wr), -EINVAL);
	assert_int_equal(roce_rc_post_recv(&a->rc, &rwr), -EINVAL);
	wr.num_sge = 2;
	sges[0].length = sges[1].length = ROCE_MAX_MSG_BYTES / 2 + 1;
	assert_int_equal(roce_rc_post_send(&a->rc, &wr), -EINVAL);
	sges[0].length = sges[1].length = 0;
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	assert_int_equal(roce_rc_post_send(&a->rc, &wr), -EOPNOTSUPP);
	wr.opcode = (enum ibv_wr_opcode)200;
	assert_int_equal(roce_rc_post_send(&a->rc, &wr), -EOPNOTSUPP);
	for (int i = 0; i < NET_MAX_WR; i++)
		assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 1, 0, 10, 0, 0), 0);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 1, 0, 10, 0, 0), -ENOMEM);
	for (int i = 0; i < NET_MAX_WR; i++)
		assert_int_equal(net_post_recv(a, 1, 0, 10), 0);
	assert_int_equal(net_post_recv(a, 1, 0, 10), -ENOMEM);
	roce_rc_reset(&a->rc);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 1, 0, 10, 0, 0), -EINVAL);
	assert_int_equal(net_post_recv(a, 1, 0, 10), -EINVAL);
	assert_false(roce_rc_has_output(&a->rc));
	assert_int_equal(a->num_sends + a->num_recvs, 0);
}

static void test_timer_tables(void **state)
{
	(void)state;
	assert_int_equal(roce_rnr_timer_ns(0), 655360000);
	assert_int_equal(roce_rnr_timer_ns(1), 10000);
	assert_int_equal(roce_rnr_timer_ns(12), 640000);
	assert_int_equal(roce_rnr_timer_ns(31), 491520000);
	assert_int_equal(roce_ack_timeout_ns(0), 0);
	assert_int_equal(roce_ack_timeout_ns(1), 8192);
	assert_int_equal(roce_ack_timeout_ns(19), 2147483648);
}

#define NET_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_at_every_mtu),
		NET_TEST(test_sge_lists),
		NET_TEST(test_inline_is_copied_at_post),
		NET_TEST(test_immediate_and_solicited),
		NET_TEST(test_invalidate),
		NET_TEST(test_local_invalidate_after_unsignalled),
		NET_TEST(test_fence),
		NET_TEST(test_read_limit),
		NET_TEST(test_both_ways),
		NET_TEST(test_post_errors),
		cmocka_unit_test(test_timer_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
