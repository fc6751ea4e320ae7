/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma_* between two processes over sr_lo: connections up and down from either side, refusals, a
 * server that dies, many in a row, synchronous ids, and the errors that a program may provoke.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cm_side.h"

static void tell_address(struct cm_side *side)
{
	CHECK(write(side->sock, &side->server, sizeof(side->server)) == sizeof(side->server));
}

static void hear_address(struct cm_side *side)
{
	CHECK(read(side->sock, &side->server, sizeof(side->server)) == sizeof(side->server));
}

static void open_server(struct cm_side *side)
{
	cm_listen(side, 0);
	tell_address(side);
}

static void close_server(struct cm_side *side)
{
	CHECK(rdma_destroy_id(side->listener) == 0);
}

static void wait_one(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n;

	do
		n = ibv_poll_cq(cq, 1, wc);
	while (n == 0);
	CHECK(n == 1);
}

/* --- up, data, down ------------------------------------------------------------------------ */

static void serve_with_data(struct cm_side *side)
{
	static char buf[CM_BUF_BYTES];
	struct rdma_conn_param param = cm_param("hello from the server");
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	open_server(side);
	event = cm_expect(side, RDMA_CM_EVENT_CONNECT_REQUEST);
	id = event->id;
	/* The whole field, not what was sent (56 bytes behind the IP header). */
	CHECK(event->param.conn.private_data_len == 56);
	CHECK(strcmp(event->param.conn.private_data, "hello from the client") == 0);
	CHECK(event->param.conn.responder_resources == 2); /* the client's initiator depth */
	CHECK(event->param.conn.initiator_depth == 3);
	CHECK(event->param.conn.rnr_retry_count == 7 && event->param.conn.qp_num != 0);
	CHECK(rdma_get_src_port(id) == side->server.sin_port && rdma_get_dst_port(id) != 0);
	CHECK(rdma_get_peer_addr(id)->sa_family == AF_INET);
	cm_add_qp(id);
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	CHECK(mr && rdma_post_recv(id, NULL, buf, sizeof(buf), mr) == 0);
	CHECK(rdma_accept(id, &param) == 0);
	CHECK(rdma_ack_cm_event(event) == 0);
	CHECK(cm_pass(side, RDMA_CM_EVENT_ESTABLISHED) == 0);
	wait_one(id->recv_cq, &wc);
	CHECK(wc.status == IBV_WC_SUCCESS && strcmp(buf, "data") == 0);
	CHECK(rdma_post_send(id, NULL, buf, 5, mr, 0) == 0);
	wait_one(id->send_cq, &wc);
	CHECK(wc.status == IBV_WC_SUCCESS);
	CHECK(cm_pass(side, RDMA_CM_EVENT_DISCONNECTED) == 0);
	CHECK(rdma_disconnect(id) == 0); /* the peer was first: ends the QP */
	CHECK(cm_pass(side, RDMA_CM_EVENT_TIMEWAIT_EXIT) == 0);
	ibv_dereg_mr(mr);
	cm_destroy(id);
	close_server(side);
}

static void connect_with_data(struct cm_side *side)
{
	static char buf[CM_BUF_BYTES] = "data";
	struct rdma_conn_param param = cm_param("hello from the client");
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	hear_address(side);
	id = cm_resolved(side, true);
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	CHECK(mr && rdma_post_recv(id, NULL, buf + 100, 100, mr) == 0);
	CHECK(rdma_connect(id, &param) == 0);
	event = cm_expect(side, RDMA_CM_EVENT_ESTABLISHED);
	CHECK(event->id == id && event->param.conn.private_data_len == 196);
	CHECK(strcmp(event->param.conn.private_data, "hello from the server") == 0);
	CHECK(rdma_ack_cm_event(event) == 0);
	CHECK(rdma_post_send(id, NULL, buf, 5, mr, 0) == 0);
	wait_one(id->send_cq, &wc);
	CHECK(wc.status == IBV_WC_SUCCESS);
	wait_one(id->recv_cq, &wc);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == 5);
	CHECK(strcmp(buf + 100, "data") == 0);
	CHECK(rdma_post_recv(id, NULL, buf, 100, mr) == 0);
	CHECK(rdma_disconnect(id) == 0);
	wait_one(id->recv_cq, &wc);
	CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
	CHECK(cm_pass(side, RDMA_CM_EVENT_DISCONNECTED) == 0);
	CHECK(cm_pass(side, RDMA_CM_EVENT_TIMEWAIT_EXIT) == 0);
	ibv_dereg_mr(mr);
	cm_destroy(id);
}

static void test_client_disconnects(void **state)
{
	(void)state;
	assert_true(cm_pair_run(serve_with_data, connect_with_data));
}

static void serve_and_disconnect(struct cm_side *side)
{
	struct rdma_cm_id *id;

	open_server(side);
	id = cm_accept(side, "x");
	CHECK(rdma_disconnect(id) == 0);
	CHECK(cm_pass(side, RDMA_CM_EVENT_DISCONNECTED) == 0);
	cm_destroy(id);
	/* An id that is simply destroyed disconnects too. */
	cm_destroy(cm_accept(side, "y"));
	cm_barrier(side);
	close_server(side);
}

static void expect_disconnects(struct cm_side *side)
{
	struct rdma_cm_id *id;

	hear_address(side);
	for (int i = 0; i < 2; i++) {
		id = cm_connect(side, "z");
		CHECK(cm_pass(side, RDMA_CM_EVENT_DISCONNECTED) == 0);
		CHECK(rdma_disconnect(id) == 0);
		cm_destroy(id);
	}
	cm_barrier(side);
}

static void test_server_disconnects(void **state)
{
	(void)state;
	assert_true(cm_pair_run(serve_and_disconnect, expect_disconnects));
}

/* --- refusals ------------------------------------------------------------------------------ */

static void refuse(struct cm_side *side)
{
	struct pollfd pfd = {.fd = side->channel->fd, .events = POLLIN};
	struct rdma_conn_param param = cm_param("too late");
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	open_server(side);
	event = cm_expect(side, RDMA_CM_EVENT_CONNECT_REQUEST);
	id = event->id;
	CHECK(rdma_reject(id, "busy", 5) == 0);
	/* The request is dead now: plain errors. */
	CHECK(rdma_reject(id, "busy", 5) == -1 && errno == EINVAL);
	CHECK(rdma_accept(id, &param) == -1 && errno == EINVAL);
	CHECK(rdma_ack_cm_event(event) == 0);
	CHECK(rdma_destroy_id(id) == 0);
	/* Second: the request has arrived, but is not even fetched. */
	CHECK(poll(&pfd, 1, -1) == 1);
	close_server(side);
	cm_barrier(side); /* third: nobody listens */
	cm_barrier(side);
}

static void expect_rejected(struct cm_side *side, int reason, const char *text)
{
	struct rdma_conn_param param = cm_param("let me in");
	struct rdma_cm_id *id = cm_resolved(side, true);
	struct rdma_cm_event *event;

	CHECK(rdma_connect(id, &param) == 0);
	event = cm_expect(side, RDMA_CM_EVENT_REJECTED);
	CHECK(event->status == reason && event->param.conn.private_data_len == 148);
	if (text)
		CHECK(strcmp(event->param.conn.private_data, text) == 0);
	CHECK(rdma_ack_cm_event(event) == 0);
	cm_destroy(id);
}

static void be_refused(struct cm_side *side)
{
	hear_address(side);
	expect_rejected(side, 28, "busy");
	expect_rejected(side, 28, NULL);
	cm_barrier(side);
	expect_rejected(side, 8, NULL);
	cm_barrier(side);
}

static void test_refusals(void **state)
{
	(void)state;
	assert_true(cm_pair_run(refuse, be_refused));
}

/* --- a server that dies -------------------------------------------------------------------- */

static void serve_until_killed(struct cm_side *side)
{
	open_server(side);
	(void)cm_accept(side, "x");
	cm_barrier(side);
	pause();
}

/* Returns when its sockets are gone too. */
static void kill_peer(struct cm_side *side)
{
	struct pollfd pfd = {.fd = (int)syscall(SYS_pidfd_open, side->peer, 0), .events = POLLIN};

	CHECK(pfd.fd >= 0 && kill(side->peer, SIGKILL) == 0);
	CHECK(poll(&pfd, 1, -1) == 1);
	close(pfd.fd);
}

static void kill_server(struct cm_side *side)
{
	struct rdma_conn_param param = cm_param("again");
	struct rdma_cm_event *event;
	struct rdma_cm_id *id, *next;

	hear_address(side);
	id = cm_connect(side, "x");
	cm_barrier(side);
	next = cm_resolved(side, true);
	kill_peer(side);
	CHECK(rdma_disconnect(id) == 0);
	CHECK(cm_pass(side, RDMA_CM_EVENT_DISCONNECTED) == 0);
	cm_destroy(id);
	CHECK(rdma_connect(next, &param) == 0);
	CHECK(rdma_get_cm_event(side->channel, &event) == 0);
	/* Another process of a parallel test may have taken the address meanwhile. */
	CHECK((event->event == RDMA_CM_EVENT_UNREACHABLE && event->status == -ETIMEDOUT) ||
	      event->event == RDMA_CM_EVENT_REJECTED);
	CHECK(rdma_ack_cm_event(event) == 0);
	cm_destroy(next);
}

static void test_server_dies(void **state)
{
	(void)state;
	assert_true(cm_pair_run(serve_until_killed, kill_server));
}

/* --- many ---------------------------------------------------------------------------------- */

/*
 * Over a lossy network (see meson.build) each lost message costs half a second or one. Without
 * loss there are so many that a time-out in each would take longer than a side may live.
 */
#ifndef IS_LOSSY
#define IS_LOSSY 0
#endif
enum {
	MANY = IS_LOSSY ? 30 : 200,
	WARM_UP = 5
};

/*
 * No more than these, once the device's thread is done with late messages (it asks for the state
 * of the link then). A leak is for ever, that is, until the alarm.
 */
static void expect_fds(unsigned int fds)
{
	while (cm_open_fds() > fds)
		usleep(1000);
}

/* A client that is quick ends the connection before its RTU, if that is lost, is repeated. */
static void pass_short_life(struct cm_side *side)
{
	struct rdma_cm_event *event;
	bool is_up;

	CHECK(rdma_get_cm_event(side->channel, &event) == 0);
	is_up = event->event == RDMA_CM_EVENT_ESTABLISHED;
	CHECK(is_up || (IS_LOSSY && event->event == RDMA_CM_EVENT_DISCONNECTED));
	CHECK(rdma_ack_cm_event(event) == 0);
	if (is_up)
		CHECK(cm_pass(side, RDMA_CM_EVENT_DISCONNECTED) == 0);
}

static void serve_many(struct cm_side *side)
{
	unsigned int fds = 0;
	struct rdma_cm_id *id;

	open_server(side);
	for (int i = 0; i < MANY; i++) {
		if (i == WARM_UP)
			fds = cm_open_fds();
		id = cm_answer(side, "x");
		pass_short_life(side);
		CHECK(rdma_disconnect(id) == 0);
		cm_destroy(id);
	}
	expect_fds(fds);
	cm_barrier(side);
	close_server(side);
}

static void connect_many(struct cm_side *side)
{
	unsigned int fds = 0;
	struct rdma_cm_id *id;

	hear_address(side);
	for (int i = 0; i < MANY; i++) {
		if (i == WARM_UP)
			fds = cm_open_fds();
		id = cm_connect(side, "x");
		CHECK(rdma_disconnect(id) == 0);
		CHECK(cm_pass(side, RDMA_CM_EVENT_DISCONNECTED) == 0);
		cm_destroy(id);
	}
	expect_fds(fds);
	cm_barrier(side);
}

static void test_many_in_a_row(void **state)
{
	(void)state;
	assert_true(cm_pair_run(serve_many, connect_many));
}

/* --- a server that never sleeps ------------------------------------------------------------- */

static void tell(struct cm_side *side)
{
	CHECK(write(side->sock, "", 1) == 1);
}

static void hear(struct cm_side *side)
{
	char c;

	CHECK(read(side->sock, &c, 1) == 1);
}

/* The next event, fetched by somebody who polls a completion queue all the time. */
static struct rdma_cm_event *poll_for(struct cm_side *side, struct ibv_cq *cq,
				      enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct ibv_wc wc;

	while (rdma_get_cm_event(side->channel, &event)) {
		CHECK(errno == EAGAIN);
		CHECK(ibv_poll_cq(cq, 1, &wc) >= 0);
	}
	CHECK(event->event == type);
	return event;
}

static void poll_until(struct cm_side *side, struct ibv_cq *cq, enum rdma_cm_event_type type)
{
	CHECK(rdma_ack_cm_event(poll_for(side, cq, type)) == 0);
}

static void serve_and_poll(struct cm_side *side)
{
	struct rdma_conn_param param = cm_param("x");
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	uint64_t start;

	open_server(side);
	CHECK(fcntl(side->channel->fd, F_SETFL, O_NONBLOCK) == 0);
	cq = ibv_create_cq(side->listener->verbs, 1, NULL, NULL, 0);
	CHECK(cq);
	for (int i = 0; i < 3; i++) {
		event = poll_for(side, cq, RDMA_CM_EVENT_CONNECT_REQUEST);
		id = event->id;
		cm_add_qp(id);
		CHECK(rdma_accept(id, &param) == 0);
		CHECK(rdma_ack_cm_event(event) == 0);
		poll_until(side, cq, RDMA_CM_EVENT_ESTABLISHED);
		/* Long enough for the device to leave its sockets to who polls. */
		for (start = cm_now_ms(); cm_now_ms() - start < 20;)
			CHECK(ibv_poll_cq(cq, 0, NULL) == 0);
		tell(side);
		poll_until(side, cq, RDMA_CM_EVENT_DISCONNECTED);
		CHECK(rdma_disconnect(id) == 0);
		cm_destroy(id);
		tell(side);
	}
	CHECK(ibv_destroy_cq(cq) == 0);
	close_server(side);
}

static void connect_to_poller(struct cm_side *side)
{
	struct rdma_cm_id *id;

	hear_address(side);
	for (int i = 0; i < 3; i++) {
		id = cm_connect(side, "x");
		hear(side);
		CHECK(rdma_disconnect(id) == 0);
		CHECK(cm_pass(side, RDMA_CM_EVENT_DISCONNECTED) == 0);
		cm_destroy(id);
		hear(side);
	}
}

/* With no connected QP its polling reads no socket, and yet the next request arrives. */
static void test_server_polls(void **state)
{
	(void)state;
	assert_true(cm_pair_run(serve_and_poll, connect_to_poller));
}

/* --- synchronous ids ----------------------------------------------------------------------- */

static struct rdma_addrinfo *look_up(const struct sockaddr_in *addr, int flags)
{
	struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP}, *res;
	char host[INET_ADDRSTRLEN], port[8];

	CHECK(inet_ntop(AF_INET, &addr->sin_addr, host, sizeof(host)));
	snprintf(port, sizeof(port), "%u", ntohs(addr->sin_port));
	CHECK(rdma_getaddrinfo(host, port, &hints, &res) == 0);
	return res;
}

static struct ibv_qp_init_attr small_qp(void)
{
	return (struct ibv_qp_init_attr){
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
}

static void serve_endpoint(struct cm_side *side)
{
	struct ibv_qp_init_attr attr = small_qp();
	struct sockaddr_in addr = cm_own_address();
	struct rdma_cm_id *listener, *id;
	struct rdma_addrinfo *res;

	res = look_up(&addr, RAI_PASSIVE);
	CHECK(rdma_create_ep(&listener, res, NULL, &attr) == 0);
	rdma_freeaddrinfo(res);
	CHECK(rdma_listen(listener, 0) == 0);
	side->server = addr;
	side->server.sin_port = rdma_get_src_port(listener);
	tell_address(side);
	CHECK(rdma_get_request(listener, &id) == 0);
	CHECK(id->qp && rdma_accept(id, NULL) == 0);
	CHECK(id->event && id->event->event == RDMA_CM_EVENT_ESTABLISHED);
	cm_barrier(side);
	CHECK(rdma_disconnect(id) == 0);
	rdma_destroy_ep(id);
	cm_barrier(side); /* here to refuse the client's second try */
	rdma_destroy_ep(listener);
}

static void connect_endpoint(struct cm_side *side)
{
	struct ibv_qp_init_attr attr = small_qp();
	struct rdma_addrinfo *res;
	struct rdma_cm_id *id;

	hear_address(side);
	res = look_up(&side->server, 0);
	CHECK(rdma_create_ep(&id, res, NULL, &attr) == 0);
	CHECK(rdma_connect(id, NULL) == 0);
	CHECK(id->event && id->event->event == RDMA_CM_EVENT_ESTABLISHED);
	cm_barrier(side);
	rdma_destroy_ep(id);
	/* A refusal is an error of the call. */
	side->server.sin_port = htons(1);
	((struct sockaddr_in *)(void *)res->ai_dst_addr)->sin_port = htons(1);
	attr = small_qp();
	CHECK(rdma_create_ep(&id, res, NULL, &attr) == 0);
	CHECK(rdma_connect(id, NULL) == -1 && errno == ECONNREFUSED);
	cm_barrier(side);
	rdma_destroy_ep(id);
	rdma_freeaddrinfo(res);
}

static void test_endpoints(void **state)
{
	(void)state;
	assert_true(cm_pair_run(serve_endpoint, connect_endpoint));
}

/* --- one process --------------------------------------------------------------------------- */

static void nothing(struct cm_side *side)
{
	(void)side;
}

static int bind_to(struct cm_side *side, struct rdma_cm_id **id, const char *host, uint16_t port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(port)};

	CHECK(inet_pton(AF_INET, host, &addr.sin_addr) == 1);
	CHECK(rdma_create_id(side->channel, id, NULL, RDMA_PS_TCP) == 0);
	return rdma_bind_addr(*id, (struct sockaddr *)&addr);
}

static void provoke_address_errors(struct cm_side *side)
{
	struct sockaddr_in own = cm_own_address();
	struct rdma_cm_id *id, *other;
	char host[INET_ADDRSTRLEN];
	uint16_t port;
	int on = 1;

	CHECK(inet_ntop(AF_INET, &own.sin_addr, host, sizeof(host)));
	CHECK(bind_to(side, &id, "192.0.2.1", 4420) == -1 && errno == EADDRNOTAVAIL);
	CHECK(rdma_listen(id, 1) == -1 && errno == EINVAL); /* not bound */
	CHECK(rdma_destroy_id(id) == 0);

	CHECK(bind_to(side, &id, host, 0) == 0);
	port = ntohs(rdma_get_src_port(id));
	CHECK(port != 0 && id->verbs);
	CHECK(rdma_bind_addr(id, (struct sockaddr *)&own) == -1 && errno == EINVAL);
	CHECK(bind_to(side, &other, host, port) == -1 && errno == EADDRINUSE);
	CHECK(rdma_destroy_id(other) == 0);
	CHECK(bind_to(side, &other, "0.0.0.0", port) == -1 && errno == EADDRINUSE);
	CHECK(rdma_destroy_id(other) == 0);
	CHECK(rdma_listen(id, 1) == 0);
	CHECK(rdma_listen(id, 1) == -1 && errno == EINVAL);
	CHECK(rdma_destroy_id(id) == 0);

	CHECK(bind_to(side, &other, "0.0.0.0", port) == 0); /* free again */
	CHECK(!other->verbs && rdma_listen(other, 1) == 0);
	CHECK(rdma_set_option(other, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, 4) == 0);
	CHECK(rdma_set_option(other, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, 4) == 0);
	CHECK(rdma_set_option(other, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &on, 1) == 0);
	CHECK(rdma_set_option(other, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &on, 4) == -1);
	CHECK(rdma_destroy_id(other) == 0);
	CHECK(rdma_create_id(side->channel, &id, NULL, RDMA_PS_UDP) == -1);
}

static void provoke_call_errors(struct cm_side *side)
{
	struct rdma_conn_param param = cm_param(NULL);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	char big[57] = {0};

	cm_listen(side, 1);
	CHECK(fcntl(side->channel->fd, F_SETFL, O_NONBLOCK) == 0);
	CHECK(rdma_get_cm_event(side->channel, &event) == -1 && errno == EAGAIN);
	CHECK(fcntl(side->channel->fd, F_SETFL, 0) == 0);

	CHECK(rdma_create_id(side->channel, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_connect(id, &param) == -1 && errno == EINVAL);
	CHECK(rdma_resolve_route(id, 1) == -1 && errno == EINVAL);
	CHECK(rdma_accept(id, &param) == -1 && errno == EINVAL);
	CHECK(rdma_disconnect(id) == -1 && errno == EINVAL);
	CHECK(rdma_destroy_id(id) == 0);

	id = cm_resolved(side, true);
	param.private_data = big;
	param.private_data_len = sizeof(big);
	CHECK(rdma_connect(id, &param) == -1 && errno == EINVAL);
	param.private_data_len = sizeof(big) - 1;
	CHECK(rdma_connect(id, &param) == 0);
	CHECK(rdma_connect(id, &param) == -1 && errno == EISCONN);
	cm_destroy(id);
	close_server(side);
}

static void test_errors(void **state)
{
	(void)state;
	assert_true(cm_pair_run(provoke_address_errors, nothing));
	assert_true(cm_pair_run(provoke_call_errors, nothing));
}

static void *ack_later(void *event)
{
	usleep(100000);
	CHECK(rdma_ack_cm_event(event) == 0);
	return NULL;
}

/* Both ends in one process; destruction waits for a fetched event; a channel can be polled. */
static void connect_to_self(struct cm_side *side)
{
	struct pollfd pfd = {.fd = side->channel->fd, .events = POLLIN};
	struct rdma_conn_param param = cm_param("self");
	struct rdma_event_channel *second = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *a, *b;
	pthread_t thread;
	uint64_t before;

	cm_listen(side, 1);
	a = cm_resolved(side, true);
	CHECK(poll(&pfd, 1, 0) == 0);
	CHECK(rdma_connect(a, &param) == 0);
	CHECK(poll(&pfd, 1, -1) == 1);
	event = cm_expect(side, RDMA_CM_EVENT_CONNECT_REQUEST);
	b = event->id;
	CHECK(rdma_migrate_id(a, second) == 0);
	CHECK(a->channel == second);
	cm_add_qp(b);
	CHECK(rdma_accept(b, &param) == 0);
	CHECK(rdma_ack_cm_event(event) == 0);
	CHECK(cm_pass(side, RDMA_CM_EVENT_ESTABLISHED) == 0);
	CHECK(rdma_get_cm_event(second, &event) == 0);
	CHECK(event->event == RDMA_CM_EVENT_ESTABLISHED && event->id == a);
	rdma_destroy_qp(a);
	before = cm_now_ms();
	CHECK(pthread_create(&thread, NULL, ack_later, event) == 0);
	CHECK(rdma_destroy_id(a) == 0);
	CHECK(cm_now_ms() - before >= 90);
	pthread_join(thread, NULL);
	CHECK(cm_pass(side, RDMA_CM_EVENT_DISCONNECTED) == 0);
	cm_destroy(b);
	close_server(side);
	rdma_destroy_event_channel(second);
}

static void test_one_process(void **state)
{
	(void)state;
	assert_true(cm_pair_run(connect_to_self, nothing));
}

int main(void)
{
	const struct CMUnitTest lossy_tests[] = {
		cmocka_unit_test(test_many_in_a_row),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_disconnects),
		cmocka_unit_test(test_server_disconnects),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_server_dies),
		cmocka_unit_test(test_many_in_a_row),
		cmocka_unit_test(test_server_polls),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_one_process),
	};

	if (IS_LOSSY)
		return cmocka_run_group_tests(lossy_tests, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
