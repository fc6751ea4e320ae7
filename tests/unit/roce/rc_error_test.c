/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ends an RC endpoint, and what does not: RNR, retries, refused accesses, malformed requests,
 * local faults, flushing. Each request still completes exactly once and in order.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rcnet.h"

static struct net net;
static struct net_node *const a = &net.node[0], *const b = &net.node[1];

static int setup(void **state)
{
	(void)state;
	net_init(&net, &net_defaults);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	net_fini(&net);
	return 0;
}

static void restart(const struct net_attr *attr)
{
	net_fini(&net);
	net_init(&net, attr);
}

static bool drop_all_to_b(struct net *n, int to, const struct roce_pkt *pkt)
{
	(void)n;
	(void)pkt;
	return to != 1;
}

static void post_write(uint64_t wr_id, uint32_t len)
{
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, wr_id, 0, len, 0, IBV_SEND_SIGNALED), 0);
}

/* a has count completions: first ok ones that succeeded, one failure, the rest flushed. */
static void check_failed(unsigned int ok, enum ibv_wc_status status, unsigned int count)
{
	assert_int_equal(a->num_sends, count);
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(a->sends[i].wr_id, i);
		assert_int_equal(a->sends[i].status, i < ok    ? IBV_WC_SUCCESS
						     : i == ok ? status
							       : IBV_WC_WR_FLUSH_ERR);
	}
	assert_int_equal(roce_rc_get_state(&a->rc), ROCE_RC_ERR);
	assert_int_equal(a->num_errors, 1);
	assert_int_equal(a->error, status);
	assert_false(roce_rc_has_output(&a->rc));
	assert_true(roce_rc_deadline(&a->rc) == UINT64_MAX);
}

static void test_rnr_until_receive_is_posted(void **state)
{
	(void)state;
	net_fill(a, 0, 5000, 1);
	assert_int_equal(net_post(a, IBV_WR_SEND, 0, 0, 5000, 0, IBV_SEND_SIGNALED), 0);
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE_WITH_IMM, 1, 0, 5000, 0, IBV_SEND_SIGNALED),
			 0);
	assert_false(net_run(&net, 20)); /* 0.64 ms a try, for ever */
	assert_in_range(a->rc.counters.rx_rnr, 20, 31);
	assert_int_equal(b->rc.counters.tx_nak[ROCE_NAK_SEQUENCE], 0);
	assert_int_equal(a->num_sends, 0);
	assert_int_equal(net_post_recv(b, 7, 8192, 5000), 0);
	assert_false(net_run(&net, 5));
	assert_int_equal(a->num_sends, 1);
	assert_true(net_is_filled(b, 8192, 5000, 1));
	assert_int_equal(net_post_recv(b, 8, 0, 0), 0);
	assert_true(net_run(&net, 5));
	assert_int_equal(a->num_sends, 2);
	assert_int_equal(b->num_recvs, 2);
	assert_true(net_is_filled(b, 0, 5000, 1));
	assert_int_equal(a->rc.req.window, ROCE_RC_WINDOW_START); /* RNR is no loss */
}

static void test_rnr_retries_are_counted(void **state)
{
	struct net_attr attr = net_defaults;

	(void)state;
	attr.rnr_retry = 2;
	restart(&attr);
	post_write(0, 10);
	assert_int_equal(net_post(a, IBV_WR_SEND, 1, 0, 10, 0, IBV_SEND_SIGNALED), 0);
	post_write(2, 10);
	assert_true(net_run(&net, 100));
	assert_int_equal(a->rc.counters.rx_rnr, 3);
	check_failed(1, IBV_WC_RNR_RETRY_EXC_ERR, 3);
}

/* Probes come early, but it is T * (retries + 1) that counts. */
static void check_dead_after(uint8_t timeout, unsigned int min_ms, unsigned int max_ms)
{
	struct net_attr attr = net_defaults;
	uint64_t start_ns;

	attr.timeout = timeout;
	restart(&attr);
	start_ns = net.now_ns;
	net.filter = drop_all_to_b;
	for (uint64_t i = 0; i < 5; i++)
		post_write(i, 3000);
	assert_true(net_run(&net, 30000));
	check_failed(0, IBV_WC_RETRY_EXC_ERR, 5);
	assert_in_range((net.now_ns - start_ns) / 1000000, min_ms, max_ms);
	assert_int_equal(a->rc.req.window, ROCE_RC_WINDOW_MIN);
}

static void test_dead_peer(void **state)
{
	(void)state;
	check_dead_after(10, 8 * 16, 8 * 20); /* 4.2 ms: four times that */
	check_dead_after(14, 8 * 250, 9 * 250); /* 67 ms: 250 ms */
	check_dead_after(17, 8 * 536, 9 * 537); /* as it is */
}

static void test_no_timeout_means_none(void **state)
{
	struct net_attr attr = net_defaults;

	(void)state;
	attr.timeout = 0;
	restart(&attr);
	net.filter = drop_all_to_b;
	post_write(0, 3000);
	assert_true(net_run(&net, 60000));
	assert_int_equal(a->num_sends, 0);
	assert_int_equal(a->rc.counters.retransmits, 0);
}

static void test_remote_access_is_refused(void **state)
{
	const enum ibv_wr_opcode ops[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
	const int denied[] = {IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ};

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		restart(&net_defaults);
		if (i < 2)
			b->refuse_access = denied[i % 2]; /* of the region */
		else
			roce_rc_set_access(&b->rc, denied[(i + 1) % 2]); /* of the QP */
		net_fill(a, 0, 3000, 4);
		assert_int_equal(net_post_recv(b, 3, 0, 10), 0);
		assert_int_equal(net_post(a, IBV_WR_SEND, 0, 0, 10, 0, IBV_SEND_SIGNALED), 0);
		assert_int_equal(net_post_recv(b, 4, 0, 10), 0);
		assert_int_equal(net_post(a, ops[i % 2], 1, 0, 3000, 5000, IBV_SEND_SIGNALED), 0);
		post_write(2, 10);
		assert_true(net_run(&net, 1000));
		check_failed(1, IBV_WC_REM_ACCESS_ERR, 3);
		assert_int_equal(b->heap[5000], 0);
		assert_int_equal(b->error, IBV_WC_REM_ACCESS_ERR);
		assert_int_equal(b->rc.counters.tx_nak[ROCE_NAK_REMOTE_ACCESS], 1);
		assert_int_equal(b->num_recvs, 2);
		assert_int_equal(b->recvs[1].status, IBV_WC_WR_FLUSH_ERR);
	}
}

static void test_outside_the_region(void **state)
{
	(void)state;
	assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, 0, 0, 4096, NET_HEAP_BYTES - 4095,
				  IBV_SEND_SIGNALED),
			 0);
	assert_true(net_run(&net, 1000));
	check_failed(0, IBV_WC_REM_ACCESS_ERR, 1);
}

/* A region that goes while a long message is under way is not touched any more. */
static bool drop_region_at_third(struct net *n, int to, const struct roce_pkt *pkt)
{
	if (to == 1 && pkt->psn.v == n->attr.psn[0] + 3) {
		n->node[1].refuse_key = NET_KEY;
		n->node[1].mr_epoch++;
	}
	return true;
}

static void test_region_goes_during_write(void **state)
{
	(void)state;
	net_fill(a, 0, 20000, 4);
	net.filter = drop_region_at_third;
	post_write(0, 20000);
	assert_true(net_run(&net, 1000));
	check_failed(0, IBV_WC_REM_ACCESS_ERR, 1);
	assert_true(net_is_filled(b, 0, 3072, 4));
	assert_int_equal(b->heap[3072] | b->heap[3073] | b->heap[3074], 0);
}

static bool drop_region_at_response(struct net *n, int to, const struct roce_pkt *pkt)
{
	if (to == 0 && pkt->psn.v == n->attr.psn[0] + 3) {
		n->node[1].refuse_key = NET_KEY;
		n->node[1].mr_epoch++;
	}
	return true;
}

static void test_region_goes_during_read(void **state)
{
	struct net_attr attr = net_defaults;

	(void)state;
	attr.window = 4; /* so that the READ is asked for in several pieces */
	restart(&attr);
	net.filter = drop_region_at_response;
	assert_int_equal(net_post(a, IBV_WR_RDMA_READ, 0, 0, 200000, 0, IBV_SEND_SIGNALED), 0);
	post_write(1, 5);
	assert_true(net_run(&net, 1000));
	check_failed(0, IBV_WC_REM_ACCESS_ERR, 2);
}

/* The peer asked twice, had its answer, and gave the region back before the second was answered. */
static void test_region_goes_before_duplicate_read(void **state)
{
	struct roce_pkt again = {
		.opcode = ROCE_RC_READ_REQUEST,
		.pkey = 0xffff,
		.psn = {net_defaults.psn[0]},
		.va = NET_HEAP_VA,
		.rkey = NET_KEY,
		.dma_len = 3000,
	};

	(void)state;
	assert_int_equal(net_post(a, IBV_WR_RDMA_READ, 0, 0, 3000, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 100));
	roce_rc_input(&b->rc, &again, net.now_ns);
	assert_int_equal(b->rc.resp.num_dup_reads, 1);
	b->refuse_access = IBV_ACCESS_REMOTE_READ;
	b->mr_epoch++;
	assert_int_equal(net_post_recv(b, 7, 8192, 10), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND, 1, 0, 10, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 100));
	assert_int_equal(b->num_errors, 0);
	assert_int_equal(b->rc.counters.dup_reads_dropped, 1);
	assert_int_equal(a->num_sends, 2);
	assert_int_equal(a->sends[1].status, IBV_WC_SUCCESS);
	assert_int_equal(b->num_recvs, 1);
}

static void test_send_longer_than_receive(void **state)
{
	(void)state;
	assert_int_equal(net_post_recv(b, 5, 0, 2000), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND, 0, 0, 2001, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 1000));
	check_failed(0, IBV_WC_REM_INV_REQ_ERR, 1);
	assert_int_equal(b->num_recvs, 1);
	assert_int_equal(b->recvs[0].status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(b->recvs[0].wr_id, 5);
}

static void test_bad_receive_sge(void **state)
{
	(void)state;
	assert_int_equal(net_post_recv(b, 5, NET_HEAP_BYTES, 2000), 0);
	assert_int_equal(net_post_recv(b, 6, 0, 2000), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND, 0, 0, 100, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 1000));
	check_failed(0, IBV_WC_REM_OP_ERR, 1);
	assert_int_equal(b->num_recvs, 2);
	assert_int_equal(b->recvs[0].status, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(b->recvs[1].status, IBV_WC_WR_FLUSH_ERR);
}

/* A bad local SGE fails its request, after those before it, which are still in flight. */
static void test_bad_send_sge(void **state)
{
	(void)state;
	post_write(0, 30000);
	assert_int_equal(net_post(a, IBV_WR_RDMA_READ, 1, 0, 30000, 0, IBV_SEND_SIGNALED), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND, 2, NET_HEAP_BYTES, 100, 0, 0), 0);
	post_write(3, 100);
	assert_true(net_run(&net, 1000));
	check_failed(2, IBV_WC_LOC_PROT_ERR, 4);
}

static void test_bad_local_invalidate(void **state)
{
	(void)state;
	post_write(0, 3000);
	assert_int_equal(net_post(a, IBV_WR_LOCAL_INV, 1, 0, 0, 0, 0), 0);
	assert_true(net_run(&net, 1000));
	check_failed(1, IBV_WC_LOC_ACCESS_ERR, 2);
}

static void test_bad_remote_invalidate(void **state)
{
	(void)state;
	assert_int_equal(net_post_recv(b, 5, 0, 2000), 0);
	assert_int_equal(net_post(a, IBV_WR_SEND_WITH_INV, 0, 0, 100, 0, IBV_SEND_SIGNALED), 0);
	assert_true(net_run(&net, 1000));
	check_failed(0, IBV_WC_REM_OP_ERR, 1);
	assert_int_equal(b->recvs[0].status, IBV_WC_REM_INV_REQ_ERR);
}

/* --- a peer that does not keep to the protocol ---------------------------------------------- */

/* A packet that b expects now; a NAK of that code and an end are what it gets. */
static void expect_refused(struct roce_pkt pkt, enum roce_nak code)
{
	static uint8_t payload[4096];

	pkt.psn = b->rc.resp.epsn;
	pkt.pkey = 0xffff;
	pkt.payload = payload;
	roce_rc_input(&b->rc, &pkt, net.now_ns);
	assert_int_equal(roce_rc_get_state(&b->rc), ROCE_RC_ERR);
	assert_int_equal(b->rc.counters.tx_nak[code], 1);
	assert_true(roce_rc_has_output(&b->rc)); /* the NAK */
	restart(&net_defaults);
}

static void start_message(uint8_t opcode, uint32_t len)
{
	static uint8_t payload[4096];
	struct roce_pkt pkt = {
		.opcode = opcode,
		.psn = b->rc.resp.epsn,
		.pkey = 0xffff,
		.payload = payload,
		.payload_len = len,
		.va = NET_HEAP_VA,
		.rkey = NET_KEY,
		.dma_len = 2048,
	};

	assert_int_equal(net_post_recv(b, 1, 0, 8192), 0);
	roce_rc_input(&b->rc, &pkt, net.now_ns);
	assert_int_equal(roce_rc_get_state(&b->rc), ROCE_RC_RTS);
}

static void test_malformed_requests(void **state)
{
	struct roce_pkt write = {
		.va = NET_HEAP_VA, .rkey = NET_KEY, .dma_len = 2048, .payload_len = 1024};
	struct roce_pkt pkt = {.payload_len = 1024};

	(void)state;
	pkt.opcode = ROCE_RC_SEND_MIDDLE; /* nothing to go on with */
	expect_refused(pkt, ROCE_NAK_INVALID_REQUEST);
	pkt.opcode = ROCE_RC_WRITE_LAST;
	expect_refused(pkt, ROCE_NAK_INVALID_REQUEST);
	pkt.opcode = ROCE_RC_SEND_FIRST; /* not full */
	pkt.payload_len = 1020;
	expect_refused(pkt, ROCE_NAK_INVALID_REQUEST);
	pkt.opcode = ROCE_RC_SEND_ONLY; /* more than a packet may carry */
	pkt.payload_len = 1025;
	expect_refused(pkt, ROCE_NAK_INVALID_REQUEST);
	pkt.payload_len = 0;
	pkt.opcode = ROCE_RC_CMP_SWAP;
	expect_refused(pkt, ROCE_NAK_INVALID_REQUEST);

	start_message(ROCE_RC_SEND_FIRST, 1024);
	pkt.opcode = ROCE_RC_SEND_ONLY; /* the first is not over */
	expect_refused(pkt, ROCE_NAK_INVALID_REQUEST);
	start_message(ROCE_RC_SEND_FIRST, 1024);
	pkt.opcode = ROCE_RC_WRITE_MIDDLE; /* another kind */
	pkt.payload_len = 1024;
	expect_refused(pkt, ROCE_NAK_INVALID_REQUEST);
	start_message(ROCE_RC_SEND_FIRST, 1024);
	pkt.opcode = ROCE_RC_SEND_LAST; /* empty */
	pkt.payload_len = 0;
	expect_refused(pkt, ROCE_NAK_INVALID_REQUEST);

	write.opcode = ROCE_RC_WRITE_ONLY; /* less than announced */
	expect_refused(write, ROCE_NAK_INVALID_REQUEST);
	write.dma_len = 1000; /* more than announced */
	expect_refused(write, ROCE_NAK_INVALID_REQUEST);
	write.dma_len = ROCE_MAX_MSG_BYTES + 1;
	write.opcode = ROCE_RC_WRITE_FIRST;
	expect_refused(write, ROCE_NAK_INVALID_REQUEST);
	start_message(ROCE_RC_WRITE_FIRST, 1024);
	pkt.opcode = ROCE_RC_WRITE_LAST; /* one byte too few */
	pkt.payload_len = 1023;
	expect_refused(pkt, ROCE_NAK_INVALID_REQUEST);
	start_message(ROCE_RC_WRITE_FIRST, 1024);
	write.opcode = ROCE_RC_READ_REQUEST; /* in the middle of a message */
	write.dma_len = 100;
	write.payload_len = 0;
	expect_refused(write, ROCE_NAK_INVALID_REQUEST);
}

static void test_too_many_reads(void **state)
{
	struct roce_pkt read = {
		.opcode = ROCE_RC_READ_REQUEST,
		.pkey = 0xffff,
		.va = NET_HEAP_VA,
		.rkey = NET_KEY,
		.dma_len = 5000,
	};

	(void)state;
	for (int i = 0; i < net_defaults.rd_atomic; i++) {
		read.psn = b->rc.resp.epsn;
		roce_rc_input(&b->rc, &read, net.now_ns);
	}
	assert_int_equal(b->rc.resp.num_reads, net_defaults.rd_atomic);
	/* The same again, many times, takes no room and does no harm. */
	for (int i = 0; i < 100; i++)
		roce_rc_input(&b->rc, &read, net.now_ns);
	assert_int_equal(b->rc.resp.num_reads, net_defaults.rd_atomic);
	expect_refused(read, ROCE_NAK_INVALID_REQUEST);
}

static void test_packets_in_wrong_state(void **state)
{
	struct roce_pkt ack = {.opcode = ROCE_RC_ACK, .pkey = 0xffff, .psn = {100}};
	struct roce_pkt ud = {.opcode = ROCE_UD_SEND_ONLY, .pkey = 0xffff};
	struct roce_pkt send = {.opcode = ROCE_RC_SEND_ONLY, .pkey = 0x1234};

	(void)state;
	roce_rc_input(&a->rc, &ud, net.now_ns);
	assert_int_equal(a->rc.counters.drop_opcode, 1);
	roce_rc_input(&a->rc, &send, net.now_ns);
	assert_int_equal(a->rc.counters.drop_pkey, 1);
	assert_int_equal(a->num_first, 0);
	roce_rc_flush(&a->rc);
	roce_rc_input(&a->rc, &ack, net.now_ns);
	assert_int_equal(a->rc.counters.drop_state, 1);
	roce_rc_reset(&a->rc);
	roce_rc_input(&a->rc, &ack, net.now_ns);
	assert_int_equal(a->rc.counters.drop_state, 1);
	assert_false(roce_rc_has_output(&a->rc));
}

/* --- flushing ------------------------------------------------------------------------------ */

static void test_flush(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(net_post(a, IBV_WR_RDMA_WRITE, i, 0, 100000, 0, 0), 0);
		assert_int_equal(net_post_recv(a, i, 0, 10), 0);
	}
	roce_rc_flush(&a->rc);
	assert_int_equal(a->num_sends, 4);
	assert_int_equal(a->num_recvs, 4);
	assert_int_equal(a->num_errors, 0); /* it did not happen by itself */
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(a->sends[i].wr_id, i);
		assert_int_equal(a->sends[i].status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(a->recvs[i].wr_id, i);
		assert_int_equal(a->recvs[i].status, IBV_WC_WR_FLUSH_ERR);
	}
	/* What is posted now comes back at once. */
	post_write(9, 10);
	assert_int_equal(net_post_recv(a, 8, 0, 10), 0);
	assert_int_equal(a->num_sends, 5);
	assert_int_equal(a->sends[4].status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(a->num_recvs, 5);
	assert_true(net_run(&net, 100));
	assert_false(roce_rc_has_output(&a->rc));
}

/* The receive request that a half received message has taken comes back as well. */
static void test_flush_in_the_middle(void **state)
{
	(void)state;
	start_message(ROCE_RC_SEND_FIRST, 1024);
	assert_int_equal(net_post_recv(b, 2, 0, 10), 0);
	roce_rc_flush(&b->rc);
	assert_int_equal(b->num_recvs, 2);
	assert_int_equal(b->recvs[0].wr_id, 1);
	assert_int_equal(b->recvs[1].wr_id, 2);
}

static void test_reset_and_again(void **state)
{
	struct roce_rc_rtr rtr = {.mtu = 1024, .pkey = 0xffff};
	struct roce_rc_rts rts = {.timeout = 14};

	(void)state;
	assert_int_equal(net_post_recv(a, 2, 0, 10), 0);
	post_write(0, 100000);
	roce_rc_reset(&a->rc);
	assert_int_equal(a->num_sends + a->num_recvs, 0);
	assert_int_equal(roce_rc_to_rtr(&a->rc, &rtr), -EINVAL);
	assert_int_equal(roce_rc_to_init(&a->rc), 0);
	assert_int_equal(roce_rc_to_init(&a->rc), -EINVAL);
	rtr.mtu = 1000;
	assert_int_equal(roce_rc_to_rtr(&a->rc, &rtr), -EINVAL);
	rtr.mtu = 1024;
	rtr.max_dest_rd_atomic = ROCE_MAX_RD_ATOM + 1;
	assert_int_equal(roce_rc_to_rtr(&a->rc, &rtr), -EINVAL);
	rtr.max_dest_rd_atomic = 0;
	assert_int_equal(roce_rc_to_rts(&a->rc, &rts), -EINVAL);
	assert_int_equal(roce_rc_to_rtr(&a->rc, &rtr), 0);
	assert_int_equal(roce_rc_to_rts(&a->rc, &rts), 0);
	/* No READ was agreed on. */
	assert_int_equal(net_post(a, IBV_WR_RDMA_READ, 0, 0, 10, 0, 0), 0);
	assert_true(net_run(&net, 100));
	check_failed(0, IBV_WC_LOC_QP_OP_ERR, 1);
}

#define NET_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NET_TEST(test_rnr_until_receive_is_posted),
		NET_TEST(test_rnr_retries_are_counted),
		NET_TEST(test_dead_peer),
		NET_TEST(test_no_timeout_means_none),
		NET_TEST(test_remote_access_is_refused),
		NET_TEST(test_outside_the_region),
		NET_TEST(test_region_goes_during_write),
		NET_TEST(test_region_goes_during_read),
		NET_TEST(test_region_goes_before_duplicate_read),
		NET_TEST(test_send_longer_than_receive),
		NET_TEST(test_bad_receive_sge),
		NET_TEST(test_bad_send_sge),
		NET_TEST(test_bad_local_invalidate),
		NET_TEST(test_bad_remote_invalidate),
		NET_TEST(test_malformed_requests),
		NET_TEST(test_too_many_reads),
		NET_TEST(test_packets_in_wrong_state),
		NET_TEST(test_flush),
		NET_TEST(test_flush_in_the_middle),
		NET_TEST(test_reset_and_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
