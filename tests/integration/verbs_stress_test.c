/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process talks to itself: pairs of QPs on one device, several threads that post, poll, sleep
 * on events, register and destroy at the same time. For lanes that are shared, and for sanitizers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

#define THREADS	 4
#define ROUNDS	 15
#define MESSAGES 60
#define MAX_LEN	 20000
#define DEPTH	 8

static struct ibv_context *ctx;
static union ibv_gid gid;

static void check_at(int line, bool good)
{
	if (!good) {
		fprintf(stderr, "%s:%d: check failed\n", __FILE__, line);
		abort();
	}
}

#define CHECK(cond) check_at(__LINE__, cond)

struct pair {
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* NULL: the thread polls */
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;
	uint8_t *buf; /* DEPTH places to send from, DEPTH to receive to */
};

static void connect_to(struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	CHECK(!ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid}},
	};
	CHECK(!ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
	CHECK(!ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void make_pair(struct pair *p, bool use_events)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	*p = (struct pair){.pd = ibv_alloc_pd(ctx), .buf = calloc(2 * DEPTH, MAX_LEN)};
	CHECK(p->pd && p->buf);
	if (use_events)
		p->channel = ibv_create_comp_channel(ctx);
	p->cq = ibv_create_cq(ctx, 4 * DEPTH, NULL, p->channel, 0);
	p->mr = ibv_reg_mr(p->pd, p->buf, (size_t)2 * DEPTH * MAX_LEN, IBV_ACCESS_LOCAL_WRITE);
	CHECK(p->cq && p->mr);
	init.send_cq = init.recv_cq = p->cq;
	for (int i = 0; i < 2; i++) {
		p->qp[i] = ibv_create_qp(p->pd, &init);
		CHECK(p->qp[i]);
	}
	connect_to(p->qp[0], p->qp[1]->qp_num);
	connect_to(p->qp[1], p->qp[0]->qp_num);
}

static void destroy_pair(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		CHECK(!ibv_destroy_qp(p->qp[i]));
	CHECK(!ibv_dereg_mr(p->mr) && !ibv_destroy_cq(p->cq));
	if (p->channel)
		CHECK(!ibv_destroy_comp_channel(p->channel));
	CHECK(!ibv_dealloc_pd(p->pd));
	free(p->buf);
}

static struct ibv_sge place(const struct pair *p, unsigned int slot, uint32_t len)
{
	return (struct ibv_sge){.addr = (uintptr_t)p->buf + (size_t)slot * MAX_LEN,
				.length = len,
				.lkey = p->mr->lkey};
}

static void post(struct pair *p, unsigned int slot, uint32_t len, uint8_t seed)
{
	struct ibv_sge from = place(p, slot, len), to = place(p, DEPTH + slot, MAX_LEN);
	struct ibv_send_wr send = {
		.wr_id = slot, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_recv_wr recv = {.wr_id = slot, .sg_list = &to, .num_sge = 1};
	struct ibv_send_wr *bad_send;
	struct ibv_recv_wr *bad_recv;

	memset(p->buf + (size_t)slot * MAX_LEN, seed, len);
	CHECK(!ibv_post_recv(p->qp[1], &recv, &bad_recv));
	CHECK(!ibv_post_send(p->qp[0], &send, &bad_send));
}

static void wait_one(struct pair *p, struct ibv_wc *wc)
{
	struct ibv_cq *cq;
	void *cq_context;

	while (ibv_poll_cq(p->cq, 1, wc) == 0) {
		if (!p->channel)
			continue;
		CHECK(!ibv_req_notify_cq(p->cq, 0));
		if (ibv_poll_cq(p->cq, 1, wc))
			return;
		CHECK(!ibv_get_cq_event(p->channel, &cq, &cq_context));
		ibv_ack_cq_events(cq, 1);
	}
}

static void run_messages(struct pair *p, unsigned int *seed)
{
	unsigned int posted = 0, sent = 0, received = 0;
	uint32_t lens[DEPTH];
	struct ibv_wc wc;

	while (received < MESSAGES || sent < MESSAGES) {
		/* A slot is used again once both its completions are there. */
		while (posted < MESSAGES && posted - received < DEPTH && posted - sent < DEPTH) {
			lens[posted % DEPTH] = (uint32_t)rand_r(seed) % MAX_LEN;
			post(p, posted % DEPTH, lens[posted % DEPTH], (uint8_t)posted);
			posted++;
		}
		wait_one(p, &wc);
		CHECK(wc.status == IBV_WC_SUCCESS);
		if (wc.opcode == IBV_WC_SEND) {
			sent++;
			continue;
		}
		CHECK(wc.wr_id == received % DEPTH && wc.byte_len == lens[wc.wr_id]);
		for (uint32_t i = 0; i < wc.byte_len; i++)
			CHECK(p->buf[(DEPTH + wc.wr_id) * MAX_LEN + i] == (uint8_t)received);
		received++;
	}
}

/* Destroys with everything in flight in every other round. */
static void *run_thread(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	bool use_events = seed % 2;

	for (int round = 0; round < ROUNDS; round++) {
		struct pair p;

		make_pair(&p, use_events);
		run_messages(&p, &seed);
		if (round % 2) {
			for (unsigned int slot = 0; slot < DEPTH; slot++)
				post(&p, slot, MAX_LEN, 1);
		}
		destroy_pair(&p);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_thread, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int open_device(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	(void)state;
	for (int i = 0; list && list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), "sr_lo") == 0)
			ctx = ibv_open_device(list[i]);
	}
	ibv_free_device_list(list);
	/* Also keeps the address while pairs come and go. */
	return ctx ? ibv_query_gid(ctx, 1, 0, &gid) : -1;
}

static int close_device(void **state)
{
	(void)state;
	return ibv_close_device(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
	};

	return group_run(tests, open_device, close_device);
}
