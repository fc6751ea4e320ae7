/* SPDX-License-Identifier: Apache-2.0 */
/* The helpers of the rdma_cm tests, see cm_side.h. */
#include "cm_side.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_SECONDS = 60
};

/* --- processes ----------------------------------------------------------------------------- */

static pid_t start(cm_side_fn fn, int sock, int other, pid_t peer)
{
	struct cm_side side = {.sock = sock, .peer = peer};
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	close(other);
	alarm(MAX_SECONDS);
	side.channel = rdma_create_event_channel();
	CHECK(side.channel);
	fn(&side);
	rdma_destroy_event_channel(side.channel);
	exit(0);
}

bool cm_pair_run(cm_side_fn server, cm_side_fn client)
{
	int socks[2], status[2];
	pid_t pids[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, socks) == 0);
	pids[0] = start(server, socks[0], socks[1], 0);
	pids[1] = start(client, socks[1], socks[0], pids[0]);
	close(socks[0]);
	close(socks[1]);
	for (int i = 0; i < 2; i++)
		CHECK(pids[i] > 0 && waitpid(pids[i], &status[i], 0) == pids[i]);
	/* A server that its client killed on purpose has not failed. */
	return status[1] == 0 &&
	       (status[0] == 0 || (WIFSIGNALED(status[0]) && WTERMSIG(status[0]) == SIGKILL));
}

void cm_barrier(struct cm_side *side)
{
	char c = 'b';

	CHECK(write(side->sock, &c, 1) == 1);
	CHECK(read(side->sock, &c, 1) == 1);
}

/* --- addresses ----------------------------------------------------------------------------- */

struct sockaddr_in cm_own_address(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};
	struct ibv_context **list = rdma_get_devices(NULL);
	union ibv_gid gid;
	bool is_found = false;

	CHECK(list);
	for (int i = 0; list[i] && !is_found; i++) {
		if (strcmp(ibv_get_device_name(list[i]->device), "sr_lo") != 0)
			continue;
		CHECK(ibv_query_gid(list[i], 1, 0, &gid) == 0);
		memcpy(&addr.sin_addr, gid.raw + 12, 4);
		is_found = true;
	}
	CHECK(is_found);
	rdma_free_devices(list);
	return addr;
}

void cm_listen(struct cm_side *side, int backlog)
{
	struct sockaddr_in addr = cm_own_address();

	CHECK(rdma_create_id(side->channel, &side->listener, side, RDMA_PS_TCP) == 0);
	CHECK(rdma_bind_addr(side->listener, (struct sockaddr *)&addr) == 0);
	CHECK(rdma_listen(side->listener, backlog) == 0);
	addr.sin_port = rdma_get_src_port(side->listener);
	CHECK(addr.sin_port != 0);
	side->server = addr;
}

/* --- ids ----------------------------------------------------------------------------------- */

void cm_add_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	CHECK(rdma_create_qp(id, NULL, &attr) == 0);
	CHECK(id->qp && id->send_cq && id->recv_cq && id->pd);
}

struct rdma_cm_id *cm_resolved(struct cm_side *side, bool with_qp)
{
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(side->channel, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&side->server, 1000) == 0);
	CHECK(cm_pass(side, RDMA_CM_EVENT_ADDR_RESOLVED) == 0);
	CHECK(rdma_resolve_route(id, 1000) == 0);
	CHECK(cm_pass(side, RDMA_CM_EVENT_ROUTE_RESOLVED) == 0);
	CHECK(id->verbs && id->port_num == 1 && id->route.num_paths == 1);
	if (with_qp)
		cm_add_qp(id);
	return id;
}

void cm_destroy(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

struct rdma_cm_event *cm_expect(struct cm_side *side, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	CHECK(rdma_get_cm_event(side->channel, &event) == 0);
	if (event->event != type)
		fprintf(stderr, "%s instead of %s, status %d\n", rdma_event_str(event->event),
			rdma_event_str(type), event->status);
	CHECK(event->event == type);
	return event;
}

int cm_pass(struct cm_side *side, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = cm_expect(side, type);
	int status = event->status;

	CHECK(rdma_ack_cm_event(event) == 0);
	return status;
}

struct rdma_conn_param cm_param(const char *private_data)
{
	return (struct rdma_conn_param){
		.private_data = private_data,
		.private_data_len = private_data ? (uint8_t)(strlen(private_data) + 1) : 0,
		.responder_resources = 3,
		.initiator_depth = 2,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

struct rdma_cm_id *cm_connect(struct cm_side *side, const char *private_data)
{
	struct rdma_conn_param param = cm_param(private_data);
	struct rdma_cm_id *id = cm_resolved(side, true);

	CHECK(rdma_connect(id, &param) == 0);
	CHECK(cm_pass(side, RDMA_CM_EVENT_ESTABLISHED) == 0);
	return id;
}

struct rdma_cm_id *cm_answer(struct cm_side *side, const char *private_data)
{
	struct rdma_conn_param param = cm_param(private_data);
	struct rdma_cm_event *event = cm_expect(side, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_cm_id *id = event->id;

	CHECK(event->listen_id == side->listener && id->verbs);
	CHECK(id->context == side->listener->context);
	cm_add_qp(id);
	CHECK(rdma_accept(id, &param) == 0);
	CHECK(rdma_ack_cm_event(event) == 0);
	return id;
}

struct rdma_cm_id *cm_accept(struct cm_side *side, const char *private_data)
{
	struct rdma_cm_id *id = cm_answer(side, private_data);

	CHECK(cm_pass(side, RDMA_CM_EVENT_ESTABLISHED) == 0);
	return id;
}

/* --- measures ------------------------------------------------------------------------------ */

uint64_t cm_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

unsigned int cm_open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}
