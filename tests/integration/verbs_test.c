/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RC verbs between two processes over sr_lo: every operation and size, what goes wrong, and sleep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs_pair.h"

/* Built a second time with lossy_net.c. */
#ifndef IS_LOSSY
#define IS_LOSSY 0
#endif

static const uint32_t sizes[] = {0, 1, 3, 64, 1023, 1024, 1025, 4096, 4097, 65536, 1u << 20};

#define NUM_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* --- data ---------------------------------------------------------------------------------- */

static void send_all_sizes(struct verbs_side *side)
{
	struct ibv_wc wc;

	for (size_t i = 0; i < NUM_SIZES; i++) {
		verbs_fill(side->buf, sizes[i], (uint8_t)i);
		verbs_barrier(side); /* the receive is posted */
		verbs_post_send(side, IBV_WR_SEND, 0, sizes[i]);
		verbs_wait_good(side, &wc);
		CHECK(wc.opcode == IBV_WC_SEND && wc.qp_num == side->qp->qp_num);
	}
	verbs_barrier(side); /* the last ACK may be lost: stay to send it again */
}

static void recv_all_sizes(struct verbs_side *side)
{
	struct ibv_wc wc;

	for (size_t i = 0; i < NUM_SIZES; i++) {
		memset(side->buf, 0xee, sizes[i] + 1);
		verbs_post_recv(side, 100 + i, 0, 1u << 20);
		verbs_barrier(side);
		verbs_wait_good(side, &wc);
		CHECK(wc.opcode == IBV_WC_RECV && wc.wr_id == 100 + i);
		CHECK(wc.byte_len == sizes[i]);
		CHECK(verbs_is_filled(side->buf, sizes[i], (uint8_t)i));
		CHECK(side->buf[sizes[i]] == 0xee);
	}
	verbs_barrier(side);
}

static void test_send_recv(void **state)
{
	const struct verbs_opts small_mtu = {.mtu = IBV_MTU_1024};

	(void)state;
	assert_true(verbs_pair_run(send_all_sizes, recv_all_sizes, NULL));
	assert_true(verbs_pair_run(send_all_sizes, recv_all_sizes, &small_mtu));
}

static void write_all_sizes(struct verbs_side *side)
{
	struct ibv_wc wc;

	for (size_t i = 0; i < NUM_SIZES; i++) {
		verbs_fill(side->buf, sizes[i], (uint8_t)i);
		verbs_post_send(side, IBV_WR_RDMA_WRITE, 0, sizes[i]);
		verbs_wait_good(side, &wc);
		CHECK(wc.opcode == IBV_WC_RDMA_WRITE);
		verbs_barrier(side);
		verbs_barrier(side);
	}
}

static void check_written(struct verbs_side *side)
{
	for (size_t i = 0; i < NUM_SIZES; i++) {
		verbs_barrier(side);
		CHECK(verbs_is_filled(side->buf, sizes[i], (uint8_t)i));
		memset(side->buf, 0, sizes[i]);
		verbs_barrier(side);
	}
}

static void test_write(void **state)
{
	(void)state;
	/* The writer's peer never polls: its background thread does the work. */
	assert_true(verbs_pair_run(write_all_sizes, check_written, NULL));
}

static void read_all_sizes(struct verbs_side *side)
{
	struct ibv_wc wc;

	for (size_t i = 0; i < NUM_SIZES; i++) {
		verbs_barrier(side);
		memset(side->buf, 0xee, sizes[i] + 1);
		verbs_post_send(side, IBV_WR_RDMA_READ, 0, sizes[i]);
		verbs_wait_good(side, &wc);
		CHECK(wc.opcode == IBV_WC_RDMA_READ);
		CHECK(verbs_is_filled(side->buf, sizes[i], (uint8_t)i));
		CHECK(side->buf[sizes[i]] == 0xee);
		verbs_barrier(side);
	}
}

static void offer_reads(struct verbs_side *side)
{
	for (size_t i = 0; i < NUM_SIZES; i++) {
		verbs_fill(side->buf, sizes[i], (uint8_t)i);
		verbs_barrier(side);
		verbs_barrier(side); /* asleep here while the peer reads */
	}
}

static void test_read(void **state)
{
	(void)state;
	assert_true(verbs_pair_run(read_all_sizes, offer_reads, NULL));
}

/* Many requests of all kinds at once, both directions. */
static void mix(struct verbs_side *side)
{
	const uint32_t part = VERBS_BUF_BYTES / 64;
	struct ibv_wc wc;

	for (int i = 0; i < 16; i++)
		verbs_post_recv(side, 1000, (size_t)(32 + i) * part, part);
	verbs_barrier(side);
	for (size_t i = 0; i < 16; i++) {
		verbs_post_send(side, IBV_WR_SEND, i * part, part - 1);
		verbs_post_send(side, IBV_WR_RDMA_READ, (16 + i) * part, 777);
		verbs_post_send(side, IBV_WR_RDMA_WRITE, (48 + i) * part, 5000);
	}
	for (int i = 0; i < 4 * 16; i++)
		verbs_wait_good(side, &wc);
	CHECK(ibv_poll_cq(side->cq, 1, &wc) == 0);
	verbs_barrier(side);
}

static void test_mix(void **state)
{
	(void)state;
	assert_true(verbs_pair_run(mix, mix, NULL));
}

/* --- keys ---------------------------------------------------------------------------------- */

static void invalidate_then_write(struct verbs_side *side)
{
	struct ibv_wc wc;

	verbs_barrier(side);
	verbs_post_send(side, IBV_WR_RDMA_WRITE, 0, 100);
	verbs_wait_good(side, &wc);
	verbs_post_send(side, IBV_WR_SEND_WITH_INV, 0, 16);
	verbs_wait_good(side, &wc);
	verbs_post_send(side, IBV_WR_RDMA_WRITE, 0, 100);
	verbs_wait(side, &wc);
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR);
	verbs_barrier(side);
}

static void be_invalidated(struct verbs_side *side)
{
	struct ibv_wc wc;

	verbs_post_recv(side, 1, 0, 4096);
	verbs_barrier(side);
	verbs_wait_good(side, &wc);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV);
	CHECK(wc.invalidated_rkey == side->mr->rkey);
	verbs_barrier(side);
}

static void test_send_with_invalidate(void **state)
{
	(void)state;
	assert_true(verbs_pair_run(invalidate_then_write, be_invalidated, NULL));
}

static void expect_refusal(struct verbs_side *side, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;

	verbs_post_send(side, opcode, 0, len);
	verbs_wait(side, &wc);
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR);
	CHECK(ibv_query_qp(side->qp, &attr, IBV_QP_STATE, &init) == 0);
	CHECK(attr.qp_state == IBV_QPS_ERR);
	/* What comes later is flushed. */
	verbs_post_send(side, opcode, 0, len);
	verbs_wait(side, &wc);
	CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
	verbs_barrier(side);
}

static void write_beyond(struct verbs_side *side)
{
	side->peer_addr += VERBS_BUF_BYTES - 99; /* one byte too many */
	expect_refusal(side, IBV_WR_RDMA_WRITE, 100);
}

static void write_bad_key(struct verbs_side *side)
{
	side->peer_rkey ^= 1;
	expect_refusal(side, IBV_WR_RDMA_WRITE, 100);
}

static void read_bad_key(struct verbs_side *side)
{
	side->peer_rkey += 256;
	expect_refusal(side, IBV_WR_RDMA_READ, 100);
}

static void write_readonly(struct verbs_side *side)
{
	expect_refusal(side, IBV_WR_RDMA_WRITE, 100);
}

/* The responder tells its program by an event, and forgets what was posted. */
static void refuse(struct verbs_side *side)
{
	struct ibv_async_event event;
	struct ibv_wc wc;

	verbs_post_recv(side, 5, 0, 100);
	do {
		CHECK(ibv_get_async_event(side->ctx, &event) == 0);
		ibv_ack_async_event(&event);
	} while (event.event_type == IBV_EVENT_COMM_EST);
	CHECK(event.event_type == IBV_EVENT_QP_ACCESS_ERR && event.element.qp == side->qp);
	verbs_wait(side, &wc);
	CHECK(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 5);
	for (uint32_t i = 0; i < VERBS_BUF_BYTES; i++)
		CHECK(side->buf[i] == 0);
	verbs_barrier(side);
}

static void test_bad_keys(void **state)
{
	const struct verbs_opts readonly = {.access = IBV_ACCESS_REMOTE_READ};

	(void)state;
	assert_true(verbs_pair_run(write_beyond, refuse, NULL));
	assert_true(verbs_pair_run(write_bad_key, refuse, NULL));
	assert_true(verbs_pair_run(read_bad_key, refuse, NULL));
	assert_true(verbs_pair_run(write_readonly, refuse, &readonly));
}

static void send_with_bad_lkey(struct verbs_side *side)
{
	struct ibv_sge sge = {.addr = (uintptr_t)side->buf, .length = 8, .lkey = 0x12345};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	CHECK(ibv_post_send(side->qp, &wr, &bad) == 0);
	verbs_wait(side, &wc);
	CHECK(wc.status == IBV_WC_LOC_PROT_ERR);
	verbs_barrier(side);
}

static void test_bad_lkey(void **state)
{
	(void)state;
	assert_true(verbs_pair_run(send_with_bad_lkey, verbs_barrier, NULL));
}

/* --- retries ------------------------------------------------------------------------------- */

static void send_early(struct verbs_side *side)
{
	struct ibv_wc wc;

	verbs_fill(side->buf, 5000, 9);
	verbs_post_send(side, IBV_WR_SEND, 0, 5000);
	verbs_wait_good(side, &wc);
	verbs_barrier(side);
}

static void recv_late(struct verbs_side *side)
{
	struct ibv_wc wc;

	usleep(30000);
	verbs_post_recv(side, 1, 0, 8192);
	verbs_wait_good(side, &wc);
	CHECK(verbs_is_filled(side->buf, 5000, 9));
	verbs_barrier(side);
}

static void send_without_retry(struct verbs_side *side)
{
	struct ibv_wc wc;

	verbs_post_send(side, IBV_WR_SEND, 0, 100);
	verbs_wait(side, &wc);
	CHECK(wc.status == IBV_WC_RNR_RETRY_EXC_ERR);
	verbs_barrier(side);
}

static void test_rnr(void **state)
{
	const struct verbs_opts no_retry = {.no_rnr_retry = true};

	(void)state;
	assert_true(verbs_pair_run(send_early, recv_late, NULL));
	assert_true(verbs_pair_run(send_without_retry, verbs_barrier, &no_retry));
}

static void send_to_nobody(struct verbs_side *side)
{
	struct ibv_wc wc;
	char byte;

	CHECK(recv(side->sock, &byte, 1, 0) <= 0); /* the peer is gone */
	verbs_post_send(side, IBV_WR_SEND, 0, 100);
	verbs_wait(side, &wc);
	CHECK(wc.status == IBV_WC_RETRY_EXC_ERR);
}

/* No destructor runs: what a SIGKILL leaves behind, with an exit status of 0. */
static void die(struct verbs_side *side)
{
	(void)side;
	_exit(0);
}

static void test_dead_peer(void **state)
{
	const struct verbs_opts quick = {.timeout = 8, .retry_cnt = 3};

	(void)state;
	assert_true(verbs_pair_run(send_to_nobody, die, &quick));
}

/* --- events and sleep ---------------------------------------------------------------------- */

static void sleep_for_event(struct verbs_side *side)
{
	uint64_t cpu_ms = verbs_cpu_ms();
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *cq_context;

	verbs_post_recv(side, 1, 0, 100);
	CHECK(ibv_req_notify_cq(side->cq, 0) == 0);
	CHECK(ibv_poll_cq(side->cq, 1, &wc) == 0);
	verbs_barrier(side);
	CHECK(ibv_get_cq_event(side->channel, &cq, &cq_context) == 0);
	CHECK(cq == side->cq && cq_context == side);
	ibv_ack_cq_events(cq, 1);
	CHECK(verbs_cpu_ms() - cpu_ms <= 50);
	verbs_wait_good(side, &wc);
	CHECK(wc.byte_len == 42);
	verbs_barrier(side);
}

static void send_after_a_while(struct verbs_side *side)
{
	struct ibv_wc wc;

	verbs_barrier(side);
	usleep(500000);
	verbs_post_send(side, IBV_WR_SEND, 0, 42);
	verbs_wait_good(side, &wc);
	verbs_barrier(side);
}

static void test_sleep(void **state)
{
	const struct verbs_opts events = {.use_events = true};

	(void)state;
	assert_true(verbs_pair_run(sleep_for_event, send_after_a_while, &events));
}

/* Both sides sleep between messages; one lost wake-up and the case hangs until its alarm. */
#define PINGS (IS_LOSSY ? 100 : 2000) /* each loss costs a timeout */

static void wait_event(struct verbs_side *side, struct ibv_wc *wc)
{
	struct ibv_cq *cq;
	void *cq_context;
	int count;

	while ((count = ibv_poll_cq(side->cq, 1, wc)) == 0) {
		CHECK(ibv_req_notify_cq(side->cq, 0) == 0);
		count = ibv_poll_cq(side->cq, 1, wc);
		if (count)
			break;
		CHECK(ibv_get_cq_event(side->channel, &cq, &cq_context) == 0);
		ibv_ack_cq_events(cq, 1);
	}
	CHECK(count == 1 && wc->status == IBV_WC_SUCCESS);
}

static void ping(struct verbs_side *side)
{
	struct ibv_wc wc;

	for (int i = 0; i < PINGS; i++) {
		verbs_post_recv(side, 1, 0, 100);
		verbs_post_send(side, IBV_WR_SEND, 0, 10);
		wait_event(side, &wc);
		wait_event(side, &wc);
	}
	verbs_barrier(side);
}

static void pong(struct verbs_side *side)
{
	bool recv_done, send_done;
	struct ibv_wc wc;

	for (int i = 0; i < PINGS; i++) {
		if (i == 0)
			verbs_post_recv(side, 1, 0, 100);
		for (recv_done = send_done = false; !recv_done;) {
			wait_event(side, &wc);
			recv_done = wc.opcode == IBV_WC_RECV;
		}
		verbs_post_recv(side, 1, 0, 100);
		verbs_post_send(side, IBV_WR_SEND, 0, 10);
		while (!send_done) {
			wait_event(side, &wc);
			send_done = wc.opcode == IBV_WC_SEND;
			CHECK(send_done || i + 1 < PINGS);
			if (!send_done) {
				/* The next ping was quicker than our acknowledgement. */
				verbs_post_recv(side, 1, 0, 100);
				verbs_post_send(side, IBV_WR_SEND, 0, 10);
				i++;
			}
		}
	}
	verbs_barrier(side);
}

static void test_events_all_the_way(void **state)
{
	const struct verbs_opts events = {.use_events = true};

	(void)state;
	assert_true(verbs_pair_run(ping, pong, &events));
}

/* Without solicited event nobody is woken; with it somebody is. */
static void wait_solicited(struct verbs_side *side)
{
	struct pollfd fd = {.fd = side->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *cq_context;

	verbs_post_recv(side, 1, 0, 100);
	verbs_post_recv(side, 2, 0, 100);
	CHECK(ibv_req_notify_cq(side->cq, 1) == 0);
	verbs_barrier(side);
	verbs_barrier(side); /* the unsolicited one is sent and acknowledged */
	CHECK(poll(&fd, 1, 50) == 0);
	verbs_barrier(side);
	CHECK(poll(&fd, 1, 5000) == 1);
	CHECK(ibv_get_cq_event(side->channel, &cq, &cq_context) == 0);
	ibv_ack_cq_events(cq, 1);
	verbs_wait_good(side, &wc);
	verbs_wait_good(side, &wc);
	CHECK(wc.wr_id == 2);
	verbs_barrier(side);
}

static void send_solicited(struct verbs_side *side)
{
	struct ibv_sge sge = {.addr = (uintptr_t)side->buf, .length = 8, .lkey = side->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SOLICITED};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	verbs_barrier(side);
	verbs_post_send(side, IBV_WR_SEND, 0, 8);
	verbs_wait_good(side, &wc);
	verbs_barrier(side);
	verbs_barrier(side);
	CHECK(ibv_post_send(side->qp, &wr, &bad) == 0);
	verbs_wait_good(side, &wc);
	verbs_barrier(side);
}

static void test_solicited(void **state)
{
	const struct verbs_opts events = {.use_events = true};

	(void)state;
	assert_true(verbs_pair_run(wait_solicited, send_solicited, &events));
}

int main(void)
{
	const struct CMUnitTest transfers[] = {
		cmocka_unit_test(test_send_recv),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_events_all_the_way),
	};
	const struct CMUnitTest others[] = {
		cmocka_unit_test(test_send_with_invalidate),
		cmocka_unit_test(test_bad_keys),
		cmocka_unit_test(test_bad_lkey),
		cmocka_unit_test(test_rnr),
		cmocka_unit_test(test_dead_peer),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_solicited),
	};
	int failed = cmocka_run_group_tests(transfers, NULL, NULL);

	/* A NAK that is lost is not sent again: the requester sees its retries end instead. */
	if (!IS_LOSSY)
		failed += cmocka_run_group_tests(others, NULL, NULL);
	return failed;
}
