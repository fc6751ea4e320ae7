/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection states, event by event, between two engines: the ways up and down, every refusal,
 * every lost message, stale and repeated ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_cm.h>

#include "cmnet.h"

#define REQ  UMAD_CM_ATTR_REQ
#define MRA  UMAD_CM_ATTR_MRA
#define REJ  UMAD_CM_ATTR_REJ
#define REP  UMAD_CM_ATTR_REP
#define RTU  UMAD_CM_ATTR_RTU
#define DREQ UMAD_CM_ATTR_DREQ
#define DREP UMAD_CM_ATTR_DREP

static struct cmnet *net;
static struct cmnet_node *A, *B;

static int set_up(void **state)
{
	(void)state;
	net = cmnet_new(1);
	A = &net->nodes[CMNET_A];
	B = &net->nodes[CMNET_B];
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(net);
	return 0;
}

static void assert_state(const struct cmnet_conn *c, enum roce_cm_state state)
{
	assert_string_equal(roce_cm_state_name(c->conn.state), roce_cm_state_name(state));
}

/* A connection from A's QP 17, established on both sides; *b is B's end. */
static struct cmnet_conn *establish(struct cmnet_conn **b)
{
	struct cmnet_conn *a = cmnet_connect(net, CMNET_A, 17);

	cmnet_run(net, MS(10));
	*b = cmnet_nth(B, 0);
	assert_non_null(*b);
	assert_state(a, ROCE_CM_ESTABLISHED);
	assert_state(*b, ROCE_CM_ESTABLISHED);
	return a;
}

/* --- up and down --------------------------------------------------------------------------- */

static void test_connect_and_disconnect(void **state)
{
	struct cmnet_conn *b, *a = establish(&b);

	(void)state;
	assert_int_equal(a->heard[ROCE_CM_EV_REP], 1);
	assert_int_equal(a->heard[ROCE_CM_EV_ESTABLISHED], 1);
	assert_int_equal(b->heard[ROCE_CM_EV_REQ], 1);
	assert_int_equal(b->heard[ROCE_CM_EV_ESTABLISHED], 1);
	assert_string_equal((char *)a->private_data, "what B says");
	assert_string_equal((char *)b->private_data, "what A says");
	assert_int_equal(roce_cm_next_deadline(&A->cm), ROCE_CM_NEVER);
	assert_int_equal(roce_cm_next_deadline(&B->cm), ROCE_CM_NEVER);

	cmnet_disconnect(A, a);
	cmnet_run(net, MS(10));
	assert_int_equal(a->heard[ROCE_CM_EV_DISCONNECTED], 1);
	assert_int_equal(b->heard[ROCE_CM_EV_DISCONNECTED], 1);
	assert_state(a, ROCE_CM_TIMEWAIT);
	assert_state(b, ROCE_CM_TIMEWAIT);
	assert_int_equal(roce_cm_disconnect(&B->cm, &b->conn, net->now), -EINVAL);
	cmnet_run(net, SECS(3));
	assert_int_equal(a->heard[ROCE_CM_EV_TIMEWAIT_EXIT], 1);
	assert_int_equal(b->heard[ROCE_CM_EV_TIMEWAIT_EXIT], 1);
	assert_state(a, ROCE_CM_IDLE);
	assert_int_equal(A->sent[REQ] + A->sent[RTU] + A->sent[DREQ], 3);
	assert_int_equal(B->sent[REP] + B->sent[DREP], 2);
}

static void test_both_ends_agree_on_the_qp(void **state)
{
	struct cmnet_conn *b, *a = establish(&b);
	const struct roce_cm_qp *qa = &a->conn.qp, *qb = &b->conn.qp;

	(void)state;
	assert_int_equal(qa->remote_qpn, b->conn.local_qpn);
	assert_int_equal(qb->remote_qpn, 17);
	assert_int_equal(qa->sq_psn, qb->rq_psn);
	assert_int_equal(qa->rq_psn, qb->sq_psn);
	assert_int_equal(qa->mtu, qb->mtu);
	assert_int_equal(qa->max_rd_atomic, qb->max_dest_rd_atomic);
	assert_int_equal(qa->max_dest_rd_atomic, qb->max_rd_atomic);
	assert_int_equal(qa->rnr_retry_count, 7); /* from the REP */
	assert_int_equal(qb->rnr_retry_count, 6); /* from the REQ */
	assert_memory_equal(qa->remote_gid, A->path.remote_gid, 16);
	assert_memory_equal(qb->remote_gid, B->path.remote_gid, 16);
	assert_ptr_equal(roce_cm_by_qpn(&A->cm, A, 17), &a->conn);
	assert_ptr_equal(roce_cm_by_qpn(&B->cm, B, b->conn.local_qpn), &b->conn);
	assert_null(roce_cm_by_qpn(&A->cm, B, 17));
}

static void test_both_disconnect_at_once(void **state)
{
	struct cmnet_conn *b, *a = establish(&b);

	(void)state;
	cmnet_disconnect(A, a);
	cmnet_disconnect(B, b);
	cmnet_run(net, SECS(5));
	assert_int_equal(a->heard[ROCE_CM_EV_DISCONNECTED], 1);
	assert_int_equal(b->heard[ROCE_CM_EV_DISCONNECTED], 1);
	assert_int_equal(a->heard[ROCE_CM_EV_TIMEWAIT_EXIT], 1);
}

static void test_passive_side_disconnects(void **state)
{
	struct cmnet_conn *b, *a = establish(&b);

	(void)state;
	cmnet_disconnect(B, b);
	cmnet_run(net, MS(10));
	assert_int_equal(a->heard[ROCE_CM_EV_DISCONNECTED], 1);
	assert_int_equal(b->heard[ROCE_CM_EV_DISCONNECTED], 1);
}

static void test_conn_can_be_used_again(void **state)
{
	struct cmnet_conn *a;
	struct roce_cm_req req = {.service_id = CMNET_SERVICE, .qpn = 17, .mtu = 3};
	uint32_t old_id;

	(void)state;
	B->rejects_with = ROCE_CM_REJ_CONSUMER;
	a = cmnet_connect(net, CMNET_A, 17);
	assert_int_equal(roce_cm_connect(&A->cm, &a->conn, &A->path, &req, net->now), -EISCONN);
	cmnet_run(net, MS(10));
	assert_state(a, ROCE_CM_IDLE);
	B->rejects_with = 0;
	old_id = a->conn.local_id;
	assert_int_equal(roce_cm_connect(&A->cm, &a->conn, &A->path, &req, net->now), 0);
	assert_int_not_equal(a->conn.local_id, old_id);
	cmnet_run(net, MS(10));
	assert_state(a, ROCE_CM_ESTABLISHED);
}

/* --- refusals ------------------------------------------------------------------------------ */

static void assert_refused(struct cmnet_conn *a, uint16_t reason)
{
	cmnet_run(net, MS(2));
	assert_int_equal(a->heard[ROCE_CM_EV_REJECTED], 1);
	assert_int_equal(a->status, reason);
	assert_state(a, ROCE_CM_IDLE);
	assert_int_equal(roce_cm_next_deadline(&A->cm), ROCE_CM_NEVER);
}

static void test_nobody_listens(void **state)
{
	(void)state;
	roce_cm_unlisten(&B->cm, &B->listener);
	assert_refused(cmnet_connect(net, CMNET_A, 17), ROCE_CM_REJ_INVALID_SERVICE_ID);
	assert_int_equal(B->sent[REJ], 1);
}

static void test_listener_of_another_address(void **state)
{
	struct roce_cm_listener *l = &B->listener;

	(void)state;
	roce_cm_unlisten(&B->cm, l);
	l->any_address = false;
	memset(l->local_gid, 9, 16);
	assert_int_equal(roce_cm_listen(&B->cm, l), 0);
	assert_refused(cmnet_connect(net, CMNET_A, 17), ROCE_CM_REJ_INVALID_SERVICE_ID);
	roce_cm_unlisten(&B->cm, l);
	memcpy(l->local_gid, B->path.local_gid, 16);
	assert_int_equal(roce_cm_listen(&B->cm, l), 0);
	cmnet_connect(net, CMNET_A, 18);
	cmnet_run(net, MS(10));
	assert_state(cmnet_nth(B, 0), ROCE_CM_ESTABLISHED);
}

static void test_service_id_is_taken_once(void **state)
{
	struct roce_cm_listener any = {.service_id = CMNET_SERVICE, .any_address = true};
	struct roce_cm_listener one = {.service_id = CMNET_SERVICE, .local_gid = {1}};
	struct roce_cm_listener other = {.service_id = CMNET_SERVICE + 1, .any_address = true};

	(void)state;
	assert_int_equal(roce_cm_listen(&B->cm, &any), -EADDRINUSE);
	assert_int_equal(roce_cm_listen(&B->cm, &one), -EADDRINUSE);
	assert_int_equal(roce_cm_listen(&B->cm, &other), 0);
	roce_cm_unlisten(&B->cm, &other);
}

static void test_consumer_rejects_with_data(void **state)
{
	struct cmnet_conn *a;

	(void)state;
	B->rejects_with = ROCE_CM_REJ_CONSUMER;
	a = cmnet_connect(net, CMNET_A, 17);
	assert_refused(a, ROCE_CM_REJ_CONSUMER);
	assert_string_equal((char *)a->private_data, "no, thanks");
	assert_state(cmnet_nth(B, 0), ROCE_CM_IDLE);
	assert_int_equal(B->listener.pending, 0);
}

static void test_active_side_rejects_a_rep(void **state)
{
	struct cmnet_conn *b, *a = cmnet_connect(net, CMNET_A, 17);

	(void)state;
	cmnet_lose(net, CMNET_A, RTU, 1);
	cmnet_run(net, MS(2)); /* RTU is lost: B still waits */
	b = cmnet_nth(B, 0);
	assert_state(b, ROCE_CM_REP_SENT);
	a->conn.state = ROCE_CM_REP_RCVD;
	assert_int_equal(roce_cm_reject(&A->cm, &a->conn, ROCE_CM_REJ_NO_QP, NULL, 0), 0);
	cmnet_run(net, MS(2));
	assert_int_equal(b->heard[ROCE_CM_EV_REJECTED], 1);
	assert_int_equal(b->status, ROCE_CM_REJ_NO_QP);
	assert_state(b, ROCE_CM_IDLE);
}

static void test_no_memory(void **state)
{
	(void)state;
	B->is_full = true;
	assert_refused(cmnet_connect(net, CMNET_A, 17), ROCE_CM_REJ_NO_RESOURCES);
}

static void test_backlog(void **state)
{
	struct cmnet_conn *a;

	(void)state;
	roce_cm_unlisten(&B->cm, &B->listener);
	B->listener.backlog = 3;
	B->answer_after = ROCE_CM_NEVER;
	assert_int_equal(roce_cm_listen(&B->cm, &B->listener), 0);
	for (uint32_t i = 0; i < 3; i++)
		cmnet_connect(net, CMNET_A, 17 + i);
	cmnet_run(net, MS(5));
	assert_int_equal(B->listener.pending, 3);
	a = cmnet_connect(net, CMNET_A, 30);
	cmnet_run(net, MS(5));
	assert_int_equal(a->status, ROCE_CM_REJ_NO_RESOURCES);
	cmnet_accept(B, cmnet_nth(B, 1)); /* room for one more */
	assert_int_equal(B->listener.pending, 2);
	a = cmnet_connect(net, CMNET_A, 31);
	cmnet_run(net, MS(5));
	assert_int_equal(a->heard[ROCE_CM_EV_REJECTED], 0);
	assert_int_equal(B->listener.pending, 3);
}

static void test_mtu_beyond_ours(void **state)
{
	(void)state;
	A->path.mtu = 5;
	assert_refused(cmnet_connect(net, CMNET_A, 17), ROCE_CM_REJ_INVALID_MTU);
}

static void test_transport_that_is_not_rc(void **state)
{
	struct roce_cm_req req = {.service_id = CMNET_SERVICE, .qpn = 9, .mtu = 3, .transport = 1};
	struct cmnet_conn *a = &A->conns[0];

	(void)state;
	a->is_used = true;
	a->answer_at = ROCE_CM_NEVER;
	assert_int_equal(roce_cm_connect(&A->cm, &a->conn, &A->path, &req, net->now), 0);
	assert_refused(a, ROCE_CM_REJ_INVALID_TRANSPORT);
}

static void test_reject_has_bounds(void **state)
{
	static const uint8_t big[ROCE_CM_REJ_PRIVATE + 1];
	struct cmnet_conn *b;

	(void)state;
	B->answer_after = ROCE_CM_NEVER;
	cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(2));
	b = cmnet_nth(B, 0);
	assert_int_equal(roce_cm_reject(&B->cm, &b->conn, 28, big, sizeof(big)), -EINVAL);
	assert_int_equal(roce_cm_reject(&B->cm, &b->conn, 28, big, sizeof(big) - 1), 0);
	assert_int_equal(roce_cm_reject(&B->cm, &b->conn, 28, NULL, 0), -EINVAL);
}

/* --- lost messages ------------------------------------------------------------------------- */

static void test_lost_req_is_repeated(void **state)
{
	struct cmnet_conn *a;

	(void)state;
	cmnet_lose(net, CMNET_A, REQ, 3);
	a = cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(1500));
	assert_state(a, ROCE_CM_REQ_SENT);
	cmnet_run(net, MS(200));
	assert_state(a, ROCE_CM_ESTABLISHED);
	assert_int_equal(A->sent[REQ], 4);
}

static void test_dead_target_is_unreachable_in_seconds(void **state)
{
	struct cmnet_conn *a;

	(void)state;
	net->is_cut = true;
	a = cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(4200));
	assert_state(a, ROCE_CM_REQ_SENT);
	cmnet_run(net, MS(200));
	assert_int_equal(a->heard[ROCE_CM_EV_UNREACHABLE], 1);
	assert_int_equal(a->status, -ETIMEDOUT);
	assert_state(a, ROCE_CM_IDLE);
	assert_int_equal(A->sent[REQ], 1 + ROCE_CM_MAX_RETRIES);
	assert_int_equal(roce_cm_next_deadline(&A->cm), ROCE_CM_NEVER);
}

static void test_lost_rep_is_repeated(void **state)
{
	struct cmnet_conn *a;

	(void)state;
	cmnet_lose(net, CMNET_B, REP, 2);
	a = cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, SECS(2));
	assert_state(a, ROCE_CM_ESTABLISHED);
	assert_state(cmnet_nth(B, 0), ROCE_CM_ESTABLISHED);
	assert_null(cmnet_nth(B, 1)); /* repeated REQs made no second conn */
}

static void test_patient_peer_gets_its_rep_soon_again(void **state)
{
	struct roce_cm_req req = {
		.service_id = CMNET_SERVICE,
		.qpn = 17,
		.mtu = 3,
		.remote_timeout = 21,
		.local_timeout = 21, /* 8.6 s */
		.max_cm_retries = 15,
	};
	struct cmnet_conn *a = &A->conns[0];

	(void)state;
	a->is_used = true;
	a->answer_at = ROCE_CM_NEVER;
	cmnet_lose(net, CMNET_B, REP, 1);
	assert_int_equal(roce_cm_connect(&A->cm, &a->conn, &A->path, &req, net->now), 0);
	cmnet_run(net, MS(1200));
	assert_state(a, ROCE_CM_ESTABLISHED);
}

static void test_lost_rtu_is_repeated(void **state)
{
	struct cmnet_conn *b;

	(void)state;
	cmnet_lose(net, CMNET_A, RTU, 2);
	cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(10));
	b = cmnet_nth(B, 0);
	assert_state(b, ROCE_CM_REP_SENT);
	cmnet_run(net, SECS(2));
	assert_state(b, ROCE_CM_ESTABLISHED);
	assert_int_equal(A->sent[RTU], 3);
	assert_int_equal(b->heard[ROCE_CM_EV_ESTABLISHED], 1);
}

static void test_data_counts_as_rtu(void **state)
{
	struct cmnet_conn *b;

	(void)state;
	cmnet_lose(net, CMNET_A, RTU, 100);
	cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(10));
	b = cmnet_nth(B, 0);
	roce_cm_comm_established(&B->cm, &b->conn);
	assert_state(b, ROCE_CM_ESTABLISHED);
	roce_cm_comm_established(&B->cm, &b->conn);
	assert_int_equal(b->heard[ROCE_CM_EV_ESTABLISHED], 1);
	cmnet_run(net, SECS(10));
	assert_int_equal(B->sent[REP], 1);
}

static void test_rep_without_answer_gives_up(void **state)
{
	struct cmnet_conn *b;

	(void)state;
	cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(1)); /* the REP is on its way */
	net->is_cut = true;
	net->num_packets = 0;
	b = cmnet_nth(B, 0);
	assert_state(b, ROCE_CM_REP_SENT);
	cmnet_run(net, SECS(5));
	assert_int_equal(b->heard[ROCE_CM_EV_UNREACHABLE], 1);
	assert_int_equal(b->status, -ETIMEDOUT);
	assert_state(b, ROCE_CM_IDLE);
}

static void test_lost_dreq_and_drep_are_repeated(void **state)
{
	struct cmnet_conn *b, *a = establish(&b);

	(void)state;
	cmnet_lose(net, CMNET_A, DREQ, 1);
	cmnet_lose(net, CMNET_B, DREP, 1);
	cmnet_disconnect(A, a);
	cmnet_run(net, SECS(2));
	assert_int_equal(A->sent[DREQ], 3);
	assert_int_equal(a->heard[ROCE_CM_EV_DISCONNECTED], 1);
	assert_int_equal(b->heard[ROCE_CM_EV_DISCONNECTED], 1);
}

static void test_disconnect_from_a_dead_peer_ends(void **state)
{
	struct cmnet_conn *b, *a = establish(&b);

	(void)state;
	net->is_cut = true;
	cmnet_disconnect(A, a);
	cmnet_run(net, SECS(3));
	assert_int_equal(a->heard[ROCE_CM_EV_DISCONNECTED], 1);
	assert_int_equal(A->sent[DREQ], 1 + ROCE_CM_DREQ_RETRIES);
	cmnet_run(net, SECS(3));
	assert_state(a, ROCE_CM_IDLE);
}

static void test_slow_decision_is_announced_by_mra(void **state)
{
	struct cmnet_conn *a;

	(void)state;
	B->answer_after = SECS(30); /* A alone would give up after 4.3 s */
	a = cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, SECS(29));
	assert_state(a, ROCE_CM_REQ_SENT);
	assert_in_range(B->sent[MRA], 5, 8);
	cmnet_run(net, SECS(2));
	assert_state(a, ROCE_CM_ESTABLISHED);
}

/* --- strangers, ghosts and stale connections ----------------------------------------------- */

static void inject(struct cmnet_node *to, const struct roce_cm_msg *msg)
{
	uint8_t mad[ROCE_CM_MAD_BYTES];

	roce_cm_encode(msg, mad);
	roce_cm_recv(&to->cm, &to->path, mad, sizeof(mad), net->now);
}

static void test_dreq_for_unknown_id_is_answered(void **state)
{
	struct roce_cm_msg dreq = {
		.hdr.attr_id = DREQ,
		.body.dreq = {.local_id = 77, .remote_id = 88, .remote_qpn = 17},
	};
	struct roce_cm_msg drep;

	(void)state;
	inject(B, &dreq);
	assert_int_equal(B->sent[DREP], 1);
	assert_int_equal(roce_cm_decode(net->packets[0].mad, 256, &drep), 0);
	assert_int_equal(drep.body.drep.local_id, 88);
	assert_int_equal(drep.body.drep.remote_id, 77);
}

static void test_rep_for_unknown_id_is_refused(void **state)
{
	struct roce_cm_msg rep = {.hdr.attr_id = REP, .body.rep = {.local_id = 5, .remote_id = 6}};

	(void)state;
	inject(A, &rep);
	assert_int_equal(A->last_rej, ROCE_CM_REJ_INVALID_COMM_ID);
}

static void test_unknown_rtu_rej_drep_mra_change_nothing(void **state)
{
	static const uint16_t kinds[] = {RTU, REJ, DREP, MRA};
	struct roce_cm_msg msg = {.body.rej = {.local_id = 5, .remote_id = 6}};

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		msg.hdr.attr_id = kinds[i];
		inject(B, &msg);
	}
	assert_int_equal(net->num_packets, 0);
	assert_int_equal(B->cm.counters.unknown_id, 4);
}

static void test_dreq_needs_the_right_qp(void **state)
{
	struct cmnet_conn *b, *a = establish(&b);
	struct roce_cm_msg dreq = {
		.hdr.attr_id = DREQ,
		.body.dreq =
			{
				.local_id = a->conn.local_id,
				.remote_id = b->conn.local_id,
				.remote_qpn = b->conn.local_qpn + 1,
			},
	};

	(void)state;
	inject(B, &dreq);
	assert_state(b, ROCE_CM_ESTABLISHED);
	dreq.body.dreq.local_id++;
	dreq.body.dreq.remote_qpn--;
	inject(B, &dreq);
	assert_state(b, ROCE_CM_ESTABLISHED);
}

static void test_rebooted_host_finds_its_old_connection_gone(void **state)
{
	struct cmnet_conn *b, *a;

	(void)state;
	establish(&b);
	cmnet_reboot(net, CMNET_A, 0x7777777788888888u);
	a = cmnet_connect(net, CMNET_A, 17); /* the same QP number again */
	cmnet_run(net, MS(10));
	assert_int_equal(a->status, ROCE_CM_REJ_STALE);
	assert_int_equal(b->heard[ROCE_CM_EV_DISCONNECTED], 1);
	assert_state(b, ROCE_CM_TIMEWAIT);
	a = cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(10));
	assert_state(a, ROCE_CM_ESTABLISHED);
}

static void test_rebooted_target_kills_the_hosts_old_connection(void **state)
{
	struct cmnet_conn *b, *a = establish(&b), *again;

	(void)state;
	cmnet_reboot(net, CMNET_B, 0x7777777788888888u); /* hands out QP 100 anew */
	again = cmnet_connect(net, CMNET_A, 18);
	cmnet_run(net, MS(10));
	assert_state(again, ROCE_CM_ESTABLISHED);
	assert_int_equal(a->heard[ROCE_CM_EV_DISCONNECTED], 1);
}

static void test_late_req_of_a_dead_connection(void **state)
{
	struct cmnet_conn *b, *a;
	uint8_t req[ROCE_CM_MAD_BYTES];

	(void)state;
	a = cmnet_connect(net, CMNET_A, 17);
	memcpy(req, a->conn.tx, sizeof(req));
	cmnet_run(net, MS(10));
	b = cmnet_nth(B, 0);
	cmnet_disconnect(A, a);
	cmnet_run(net, MS(10));
	roce_cm_recv(&B->cm, &B->path, req, sizeof(req), net->now); /* in TIMEWAIT */
	assert_int_equal(B->last_rej, ROCE_CM_REJ_STALE);
	cmnet_detach(B, b);
	B->last_rej = 0;
	roce_cm_recv(&B->cm, &B->path, req, sizeof(req), net->now); /* destroyed */
	assert_int_equal(B->last_rej, ROCE_CM_REJ_STALE);
	assert_null(cmnet_nth(B, 0));
	net->now += SECS(5);
	roce_cm_recv(&B->cm, &B->path, req, sizeof(req), net->now); /* forgotten: a new one */
	assert_state(cmnet_nth(B, 0), ROCE_CM_REQ_RCVD);
}

static void test_message_from_another_address_is_not_ours(void **state)
{
	struct cmnet_conn *b, *a = establish(&b);
	struct roce_cm_path spoofed = B->path;
	struct roce_cm_msg rej = {
		.hdr.attr_id = REJ,
		.body.rej =
			{
				.local_id = a->conn.local_id,
				.remote_id = b->conn.local_id,
				.reason = ROCE_CM_REJ_CONSUMER,
			},
	};
	uint8_t mad[ROCE_CM_MAD_BYTES];

	(void)state;
	spoofed.remote_gid[0] = 0x42;
	roce_cm_encode(&rej, mad);
	roce_cm_recv(&B->cm, &spoofed, mad, sizeof(mad), net->now);
	assert_state(b, ROCE_CM_ESTABLISHED);
	roce_cm_recv(&B->cm, &B->path, mad, sizeof(mad), net->now);
	assert_int_equal(b->heard[ROCE_CM_EV_DISCONNECTED], 1);
}

/* --- destruction --------------------------------------------------------------------------- */

static void test_detach_while_connecting_tells_the_peer(void **state)
{
	struct cmnet_conn *a;

	(void)state;
	B->answer_after = ROCE_CM_NEVER;
	a = cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(2));
	cmnet_detach(A, a); /* A does not know B's id yet */
	cmnet_run(net, MS(2));
	assert_int_equal(cmnet_nth(B, 0)->heard[ROCE_CM_EV_REJECTED], 1);
	assert_int_equal(cmnet_nth(B, 0)->status, ROCE_CM_REJ_TIMEOUT);
	assert_int_equal(B->listener.pending, 0);
	assert_int_equal(A->cm.conns, 0);
}

static void test_detach_undecided_request_refuses_it(void **state)
{
	struct cmnet_conn *a;

	(void)state;
	B->answer_after = ROCE_CM_NEVER;
	a = cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(2));
	cmnet_detach(B, cmnet_nth(B, 0));
	assert_refused(a, ROCE_CM_REJ_CONSUMER);
	assert_int_equal(B->listener.pending, 0);
}

static void test_detach_established_disconnects_the_peer(void **state)
{
	struct cmnet_conn *b, *a = establish(&b);

	(void)state;
	cmnet_detach(A, a);
	cmnet_detach(A, a); /* harmless */
	cmnet_run(net, MS(5));
	assert_int_equal(b->heard[ROCE_CM_EV_DISCONNECTED], 1);
	assert_int_equal(A->cm.conns, 0);
	assert_int_equal(A->sent[DREQ], 1);
}

static void test_detach_after_rep_refuses_or_disconnects(void **state)
{
	struct cmnet_conn *a = cmnet_connect(net, CMNET_A, 17);

	(void)state;
	cmnet_lose(net, CMNET_A, RTU, 10);
	cmnet_run(net, MS(5));
	assert_state(cmnet_nth(B, 0), ROCE_CM_REP_SENT);
	cmnet_detach(B, cmnet_nth(B, 0));
	cmnet_run(net, MS(5));
	assert_int_equal(a->heard[ROCE_CM_EV_DISCONNECTED], 1);
}

static void test_unlisten_leaves_undecided_requests_alone(void **state)
{
	struct cmnet_conn *a;

	(void)state;
	B->answer_after = ROCE_CM_NEVER;
	a = cmnet_connect(net, CMNET_A, 17);
	cmnet_run(net, MS(2));
	roce_cm_unlisten(&B->cm, &B->listener);
	memset(&B->listener, 0xee, sizeof(B->listener)); /* freed */
	cmnet_accept(B, cmnet_nth(B, 0));
	cmnet_run(net, MS(5));
	assert_state(a, ROCE_CM_ESTABLISHED);
}

static void test_calls_in_the_wrong_state(void **state)
{
	struct roce_cm_rep rep = {.qpn = 1};
	struct cmnet_conn *b, *a = establish(&b);

	(void)state;
	assert_int_equal(roce_cm_accept(&B->cm, &b->conn, &rep, net->now), -EINVAL);
	assert_int_equal(roce_cm_reject(&B->cm, &b->conn, 28, NULL, 0), -EINVAL);
	assert_int_equal(roce_cm_ready(&A->cm, &a->conn), -EINVAL);
	cmnet_disconnect(A, a);
	assert_int_equal(roce_cm_disconnect(&A->cm, &a->conn, net->now), -EINVAL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_connect_and_disconnect),
		TEST(test_both_ends_agree_on_the_qp),
		TEST(test_both_disconnect_at_once),
		TEST(test_passive_side_disconnects),
		TEST(test_conn_can_be_used_again),
		TEST(test_nobody_listens),
		TEST(test_listener_of_another_address),
		TEST(test_service_id_is_taken_once),
		TEST(test_consumer_rejects_with_data),
		TEST(test_active_side_rejects_a_rep),
		TEST(test_no_memory),
		TEST(test_backlog),
		TEST(test_mtu_beyond_ours),
		TEST(test_transport_that_is_not_rc),
		TEST(test_reject_has_bounds),
		TEST(test_lost_req_is_repeated),
		TEST(test_dead_target_is_unreachable_in_seconds),
		TEST(test_lost_rep_is_repeated),
		TEST(test_patient_peer_gets_its_rep_soon_again),
		TEST(test_lost_rtu_is_repeated),
		TEST(test_data_counts_as_rtu),
		TEST(test_rep_without_answer_gives_up),
		TEST(test_lost_dreq_and_drep_are_repeated),
		TEST(test_disconnect_from_a_dead_peer_ends),
		TEST(test_slow_decision_is_announced_by_mra),
		TEST(test_dreq_for_unknown_id_is_answered),
		TEST(test_rep_for_unknown_id_is_refused),
		TEST(test_unknown_rtu_rej_drep_mra_change_nothing),
		TEST(test_dreq_needs_the_right_qp),
		TEST(test_rebooted_host_finds_its_old_connection_gone),
		TEST(test_rebooted_target_kills_the_hosts_old_connection),
		TEST(test_late_req_of_a_dead_connection),
		TEST(test_message_from_another_address_is_not_ours),
		TEST(test_detach_while_connecting_tells_the_peer),
		TEST(test_detach_undecided_request_refuses_it),
		TEST(test_detach_established_disconnects_the_peer),
		TEST(test_detach_after_rep_refuses_or_disconnects),
		TEST(test_unlisten_leaves_undecided_requests_alone),
		TEST(test_calls_in_the_wrong_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
