/* SPDX-License-Identifier: Apache-2.0 */
#include "sta_server.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <nvme/types.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sta.h>
#include <doca_sta_be.h>
#include <doca_sta_event.h>
#include <doca_sta_io.h>
#include <doca_sta_io_non_offload.h>
#include <doca_sta_io_qp.h>
#include <doca_sta_subsystem.h>
#include <doca_sta_task.h>

#include "ramdisk.h"

enum {
	MAX_CONNS = 16,
	DEPTH = 32,
	TICK_MS = 1,
	PATIENCE_MS = 20000,
};

struct conn {
	struct doca_sta_qp_handle *qp; /* NULL: free */
	bool is_disconnecting, is_disconnected;
	unsigned int num_open; /* commands with us */
};

/* A command that waits for the host's data. */
struct pending {
	struct conn *conn;
	union doca_data token;
	const uint8_t *payload;
	uint32_t bytes;
	uint16_t cid;
};

struct server {
	struct doca_dev *dev;
	struct doca_pe *sta_pe, *io_pe;
	struct doca_sta *sta;
	struct doca_sta_io *io;
	struct doca_sta_subs_handle *subsys;
	struct doca_sta_ns_handle *ns;
	struct doca_sta_be_handle *be;
	struct doca_sta_be_q_handle *queue;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct conn conns[MAX_CONNS];
	struct ramdisk disk;
	struct ramdisk_queue *ring;
	int answer_fd;
	bool is_quitting;
	unsigned int num_errors;
};

/* ---- commands that are not offloaded ---- */

static void submit(struct server *s, struct doca_sta_producer_task_send *task)
{
	struct doca_task *t = doca_sta_producer_send_task_as_task(task);
	doca_error_t rc;

	while ((rc = doca_task_submit(t)) == DOCA_ERROR_AGAIN)
		sched_yield(); /* the execution unit takes tasks meanwhile */
	if (rc != DOCA_SUCCESS) {
		doca_task_free(t);
		s->num_errors++;
	}
}

static struct server *the_server; /* task callbacks have one argument, and use it for the command */

static void answer(struct conn *conn, union doca_data token, uint16_t cid, uint16_t status,
		   uint32_t dw0, bool is_with_data)
{
	struct ramdisk_cqe cqe = {.dw0 = htole32(dw0),
				  .cid = cid,
				  .status = htole16((uint16_t)(status << 1))};
	struct doca_sta_producer_task_send *task;
	union doca_data data = {.ptr = conn};
	doca_error_t rc;

	if (is_with_data)
		rc = doca_sta_io_task_non_offload_rdma_write_send_alloc_init(
			the_server->io, data, conn->qp, (uint8_t *)&cqe, token, &task);
	else
		rc = doca_sta_io_task_non_offload_rdma_send_alloc_init(the_server->io, data,
								       conn->qp, (uint8_t *)&cqe,
								       token, &task);
	if (rc == DOCA_SUCCESS)
		submit(the_server, task);
	else
		the_server->num_errors++;
}

static void on_answered(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct conn *conn = user_data.ptr;

	conn->num_open--;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

static void on_read(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct pending *p = user_data.ptr;
	uint32_t sum = 0;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	for (uint32_t i = 0; i < p->bytes; i++)
		sum += p->payload[i];
	answer(p->conn, p->token, p->cid, NVME_SC_SUCCESS, sum, false);
	free(p);
}

static void fetch(struct conn *conn, union doca_data token, const uint8_t *payload, uint32_t bytes,
		  uint16_t cid)
{
	struct pending *p = malloc(sizeof(*p));
	struct doca_sta_producer_task_send *task;
	union doca_data data = {.ptr = p};

	*p = (struct pending){conn, token, payload, bytes, cid};
	if (doca_sta_io_task_non_offload_rdma_read_alloc_init(the_server->io, data, conn->qp, token,
							      &task) == DOCA_SUCCESS)
		submit(the_server, task);
	else
		the_server->num_errors++;
}

static uint16_t serve_connect(struct conn *conn, const struct ramdisk_sqe *sqe,
			      const uint8_t *payload, uint32_t bytes)
{
	const struct nvmf_connect_data *data = (const void *)payload;
	uint16_t sqsize_0b = (uint16_t)le32toh(sqe->cdw11);

	if (bytes != sizeof(*data) || strcmp(data->subsysnqn, SERVER_NQN) != 0)
		return NVME_SC_CONNECT_INVALID_PARAM | NVME_SCT_CMD_SPECIFIC << 8 | NVME_SC_DNR;
	if (doca_sta_io_qp_add_subsystem(the_server->io, the_server->subsys, conn->qp) !=
		    DOCA_SUCCESS ||
	    doca_sta_io_qp_connect_set_sq_size(the_server->io, conn->qp,
					       (uint16_t)(sqsize_0b + 1)) != DOCA_SUCCESS)
		return NVME_SC_INTERNAL;
	return NVME_SC_SUCCESS;
}

static void on_command(struct doca_sta_qp_handle *qp, union doca_data user_data,
		       const uint8_t *command, uint8_t *payload, uint32_t bytes, bool is_valid,
		       union doca_data token)
{
	const struct ramdisk_sqe *sqe = (const void *)command;
	union doca_data qp_data;
	struct conn *conn;

	(void)user_data;
	(void)doca_sta_io_qp_get_user_data(qp, &qp_data);
	conn = qp_data.ptr;
	conn->num_open++;
	if (sqe->opcode == nvme_admin_fabrics && (le32toh(sqe->nsid) & 0xff) == 1 && is_valid) {
		answer(conn, token, sqe->cid, serve_connect(conn, sqe, payload, bytes), 1, false);
	} else if (sqe->opcode == SERVER_OP_SUM && !is_valid) {
		fetch(conn, token, payload, bytes, sqe->cid);
	} else if (sqe->opcode == SERVER_OP_COUNT && bytes) {
		for (uint32_t i = 0; i < bytes; i++)
			payload[i] = (uint8_t)i;
		answer(conn, token, sqe->cid, NVME_SC_SUCCESS, 0, true);
	} else {
		answer(conn, token, sqe->cid, NVME_SC_INVALID_OPCODE | NVME_SC_DNR, 0, false);
	}
}

/* ---- connections ---- */

static void on_disconnected(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct conn *conn = user_data.ptr;

	conn->is_disconnected = true;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

static void disconnect(struct server *s, struct conn *conn)
{
	struct doca_sta_producer_task_send *task;
	union doca_data data = {.ptr = conn};

	/* The end of the IO context ends what is left. */
	if (!conn->qp || conn->is_disconnecting || s->is_quitting)
		return;
	conn->is_disconnecting = true;
	if (doca_sta_io_task_disconnect_alloc_init(s->io, data, conn->qp, &task) == DOCA_SUCCESS)
		submit(s, task);
	else
		s->num_errors++;
}

static void on_transport_error(const struct doca_sta_event_transport_err *event,
			       union doca_data user_data)
{
	const struct doca_sta_qp_handle *qp;
	union doca_data data;

	if (doca_sta_event_transport_err_get_qp_handle(event, &qp) == DOCA_SUCCESS &&
	    doca_sta_io_qp_get_user_data(qp, &data) == DOCA_SUCCESS)
		disconnect(user_data.ptr, data.ptr);
}

static void reap(struct server *s)
{
	for (int i = 0; i < MAX_CONNS; i++) {
		struct conn *conn = &s->conns[i];

		if (!conn->is_disconnected || conn->num_open)
			continue;
		if (doca_sta_io_qp_destroy(s->io, conn->qp) != DOCA_SUCCESS)
			s->num_errors++;
		*conn = (struct conn){0};
	}
}

static void accept_host(struct server *s, struct rdma_cm_id *id)
{
	const uint8_t record[32] = {0, 0, DEPTH, 0};
	union doca_data data;
	struct conn *conn = NULL;

	for (int i = 0; i < MAX_CONNS && !conn; i++)
		conn = s->conns[i].qp ? NULL : &s->conns[i];
	if (!conn || doca_sta_io_qp_alloc(s->io, s->dev, &conn->qp) != DOCA_SUCCESS) {
		(void)rdma_reject(id, NULL, 0);
		(void)rdma_destroy_id(id);
		return;
	}
	data.ptr = conn;
	(void)doca_sta_io_qp_set_user_data(s->io, conn->qp, data);
	id->context = conn;
	if (doca_sta_io_qp_accept(s->io, conn->qp, s->dev, id, record, sizeof(record), NULL) !=
	    DOCA_SUCCESS)
		disconnect(s, conn);
}

static void handle_cm(struct server *s)
{
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(s->channel, &event)) {
		enum rdma_cm_event_type type = event->event;
		struct rdma_cm_id *id = event->id;
		struct conn *conn = id->context;

		(void)rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			accept_host(s, id);
		else if (type == RDMA_CM_EVENT_ESTABLISHED && conn && !conn->is_disconnecting)
			(void)doca_sta_io_qp_connect_established(s->io, conn->qp);
		else if (conn)
			disconnect(s, conn);
	}
}

/* ---- bring-up ---- */

static void on_control_done(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	void **handle = user_data.ptr;

	*handle = NULL;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

static void on_ns_left(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	const uint8_t done = SERVER_REMOVE_NS;

	on_control_done(task, user_data);
	if (write(the_server->answer_fd, &done, 1) != 1)
		the_server->num_errors++;
}

static doca_error_t add_ns(struct server *s)
{
	return doca_sta_subsystem_add_ns(s->subsys, SERVER_NSID, SERVER_BLOCK, 1, s->be, &s->ns);
}

static doca_error_t open_device(struct server *s)
{
	struct doca_devinfo **list;
	doca_error_t rc;
	uint32_t n;

	rc = doca_devinfo_create_list(&list, &n);
	if (rc != DOCA_SUCCESS)
		return rc;
	rc = n ? doca_sta_cap_is_supported(list[0]) : DOCA_ERROR_NOT_FOUND;
	if (rc == DOCA_SUCCESS)
		rc = doca_dev_open(list[0], &s->dev);
	(void)doca_devinfo_destroy_list(list);
	return rc;
}

static doca_error_t start_sta(struct server *s)
{
	doca_error_t rc = doca_sta_create(s->dev, &s->sta);

	if (rc == DOCA_SUCCESS)
		rc = doca_pe_create(&s->sta_pe);
	if (rc == DOCA_SUCCESS)
		rc = doca_pe_connect_ctx(s->sta_pe, doca_sta_as_ctx(s->sta));
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_add_dev(s->sta, s->dev);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_subsystem_task_rm_ns_set_conf(s->sta, on_ns_left, on_control_done);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_be_task_destroy_queue_set_conf(s->sta, on_control_done,
							     on_control_done);
	return rc == DOCA_SUCCESS ? doca_ctx_start(doca_sta_as_ctx(s->sta)) : rc;
}

static doca_error_t start_io(struct server *s)
{
	union doca_data self = {.ptr = s};
	doca_error_t rc = doca_sta_io_create(s->sta, &s->io);

	if (rc == DOCA_SUCCESS)
		rc = doca_pe_create(&s->io_pe);
	if (rc == DOCA_SUCCESS)
		rc = doca_pe_connect_ctx(s->io_pe, doca_sta_io_as_ctx(s->io));
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_task_disconnect_set_conf(s->io, on_disconnected, on_disconnected);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_event_transport_err_register_cb(s->io, on_transport_error, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_non_offload_register_cb(s->io, on_command, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_task_non_offload_set_rdma_write_send_conf(s->io, on_answered,
									   on_answered);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_task_non_offload_set_rdma_read_conf(s->io, on_read, on_read);
	return rc == DOCA_SUCCESS ? doca_ctx_start(doca_sta_io_as_ctx(s->io)) : rc;
}

static doca_error_t make_disk(struct server *s)
{
	doca_error_t rc = ramdisk_init(&s->disk, SERVER_BLOCKS);

	if (rc == DOCA_SUCCESS)
		rc = doca_sta_be_create(s->sta, &s->be);
	if (rc == DOCA_SUCCESS)
		rc = ramdisk_open(&s->disk, s->dev, s->be, &s->ring, &s->queue);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_subsystem_create(s->sta, SERVER_NQN, &s->subsys);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_subsystem_add_dev(s->subsys, s->dev);
	return rc == DOCA_SUCCESS ? add_ns(s) : rc;
}

static int listen_for_hosts(struct server *s)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct server_address where = {0};
	uint8_t ip[4];

	s->channel = rdma_create_event_channel();
	if (!s->channel || fcntl(s->channel->fd, F_SETFL, O_NONBLOCK) ||
	    rdma_create_id(s->channel, &s->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(s->listener, (struct sockaddr *)&any) || rdma_listen(s->listener, 16))
		return -1;
	if (doca_devinfo_get_ipv4_addr(doca_dev_as_devinfo(s->dev), ip, sizeof(ip)) != DOCA_SUCCESS)
		return -1;
	inet_ntop(AF_INET, ip, where.addr, sizeof(where.addr));
	where.port = ntohs(rdma_get_src_port(s->listener));
	return write(s->answer_fd, &where, sizeof(where)) == sizeof(where) ? 0 : -1;
}

/* ---- commands of the test ---- */

static void remove_ns(struct server *s)
{
	struct doca_sta_producer_task_send *task;
	union doca_data data = {.ptr = &s->ns};

	if (doca_sta_subsystem_task_rm_ns_alloc_init(s->subsys, s->ns, data, &task) == DOCA_SUCCESS)
		submit(s, task);
	else
		s->num_errors++;
}

static void obey(struct server *s, uint8_t command)
{
	uint8_t reply = command;

	switch (command) {
	case SERVER_HOLD:
	case SERVER_RELEASE:
		atomic_store(&s->disk.is_held, command == SERVER_HOLD);
		break;
	case SERVER_REMOVE_NS:
		remove_ns(s);
		return;
	case SERVER_ADD_NS:
		if (add_ns(s) != DOCA_SUCCESS)
			s->num_errors++;
		break;
	case SERVER_COUNT:
		reply = 0;
		for (int i = 0; i < MAX_CONNS; i++)
			reply += s->conns[i].qp != NULL;
		break;
	case SERVER_FETCHED:
		reply = (uint8_t)atomic_load(&s->ring->num_fetched);
		break;
	case SERVER_QUIT:
		s->is_quitting = true;
		break;
	}
	if (write(s->answer_fd, &reply, 1) != 1)
		s->is_quitting = true;
}

static void progress(struct server *s)
{
	while (doca_pe_progress(s->sta_pe) || doca_pe_progress(s->io_pe))
		;
	reap(s);
}

static void serve(struct server *s, int command_fd)
{
	struct pollfd fds[] = {{.fd = command_fd, .events = POLLIN},
			       {.fd = s->channel->fd, .events = POLLIN}};
	uint8_t command;

	while (!s->is_quitting) {
		(void)poll(fds, 2, TICK_MS);
		if (fds[1].revents)
			handle_cm(s);
		if (fds[0].revents)
			obey(s, read(command_fd, &command, 1) == 1 ? command : SERVER_QUIT);
		progress(s);
	}
}

/* Progress until @ctx is IDLE, or patience ends. */
static void stop(struct server *s, struct doca_ctx *ctx)
{
	const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
	enum doca_ctx_states state;

	(void)doca_ctx_stop(ctx);
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		(void)doca_ctx_get_state(ctx, &state);
		if (state == DOCA_CTX_STATE_IDLE)
			return;
		handle_cm(s);
		if (!doca_pe_progress(s->io_pe) && !doca_pe_progress(s->sta_pe))
			nanosleep(&tick, NULL);
	}
	s->num_errors++;
}

static void expect(struct server *s, doca_error_t rc, const char *what)
{
	if (rc == DOCA_SUCCESS)
		return;
	fprintf(stderr, "server: %s: %s\n", what, doca_error_get_descr(rc));
	s->num_errors++;
}

/* Connections may be left: the end of the IO context is theirs. */
static void shut_down(struct server *s)
{
	struct doca_sta_producer_task_send *task;
	union doca_data data = {.ptr = &s->queue};

	(void)rdma_destroy_id(s->listener);
	stop(s, doca_sta_io_as_ctx(s->io));
	expect(s, doca_sta_io_destroy(s->io), "destroy IO");
	expect(s, doca_pe_destroy(s->io_pe), "destroy IO's progress engine");
	if (s->ns)
		expect(s, doca_sta_subsystem_rm_ns(s->subsys, s->ns), "remove the namespace");
	expect(s, doca_sta_be_destroy_queue_task_alloc_init(s->queue, data, &task), "queue task");
	submit(s, task);
	for (int ms = 0; s->queue && ms < PATIENCE_MS; ms++)
		if (!doca_pe_progress(s->sta_pe))
			(void)poll(NULL, 0, TICK_MS);
	expect(s, ramdisk_close(s->ring), "close the disk");
	expect(s, doca_sta_be_destroy(s->be), "destroy the back-end");
	expect(s, doca_sta_subsystem_destroy(s->subsys), "destroy the subsystem");
	expect(s, doca_ctx_stop(doca_sta_as_ctx(s->sta)), "stop STA");
	expect(s, doca_sta_destroy(s->sta), "destroy STA");
	expect(s, doca_pe_destroy(s->sta_pe), "destroy STA's progress engine");
	expect(s, doca_dev_close(s->dev), "close the device");
	rdma_destroy_event_channel(s->channel);
	ramdisk_fini(&s->disk);
}

int server_main(int command_fd, int answer_fd)
{
	struct server *s = calloc(1, sizeof(*s));
	doca_error_t rc = s ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
	int errors;

	if (rc == DOCA_SUCCESS) {
		the_server = s;
		s->answer_fd = answer_fd;
		rc = open_device(s);
	}
	if (rc == DOCA_SUCCESS)
		rc = start_sta(s);
	if (rc == DOCA_SUCCESS)
		rc = start_io(s);
	if (rc == DOCA_SUCCESS)
		rc = make_disk(s);
	if (rc != DOCA_SUCCESS || listen_for_hosts(s)) {
		fprintf(stderr, "server: cannot start: %s\n", doca_error_get_descr(rc));
		return 1;
	}
	serve(s, command_fd);
	shut_down(s);
	errors = s->num_errors ? 1 : 0;
	if (errors)
		fprintf(stderr, "server: %u errors\n", s->num_errors);
	free(s);
	return errors;
}
