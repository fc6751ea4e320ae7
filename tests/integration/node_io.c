/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of an STA IO context of node.h. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <nvme/types.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <doca_sta_io_non_offload.h>
#include <doca_sta_io_qp.h>

#include "node.h"

static void fail(struct node_io *io, const char *what)
{
	node_fail(io->node, what);
}

static void check(struct node_io *io, doca_error_t rc, const char *what)
{
	node_check(io->node, rc, what);
}

static void check_thread(struct node_io *io)
{
	if (!pthread_equal(pthread_self(), io->thread))
		fail(io, "a callback of an IO context on another thread than its own");
}

static bool submit(struct node_io *io, struct doca_sta_producer_task_send *task)
{
	struct doca_task *t = doca_sta_producer_send_task_as_task(task);
	doca_error_t rc;

	while ((rc = doca_task_submit(t)) == DOCA_ERROR_AGAIN)
		sched_yield(); /* the execution unit takes tasks meanwhile */
	check(io, rc, "submit");
	if (rc != DOCA_SUCCESS)
		doca_task_free(t);
	else
		io->num_submitted++;
	return rc == DOCA_SUCCESS;
}

/* ---- commands: Connect, and refusals ---- */

static void on_answered(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct node_conn *conn = user_data.ptr;

	check_thread(conn->io);
	conn->io->num_completed++;
	conn->num_open--;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

/* The host was gone before the answer left. */
static void on_failed(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct node_conn *conn = user_data.ptr;
	struct node *node = conn->io->node;

	pthread_mutex_lock(&node->lock);
	node->events.num_failed++;
	node->events.failure = doca_task_get_status(doca_sta_producer_send_task_as_task(task));
	pthread_mutex_unlock(&node->lock);
	on_answered(task, user_data);
}

/* Not used: the host sends no data that is not in the capsule. */
static void on_read(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct node_conn *conn = user_data.ptr;

	fail(conn->io, "a read that nobody asked for");
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

/* With the lock: the subsystem cannot leave between look-up and binding. */
static uint16_t bind_subsystem(struct node_conn *conn, const char *nqn, uint16_t entries)
{
	struct node *node = conn->io->node;
	doca_error_t rc = DOCA_ERROR_NOT_FOUND;

	pthread_mutex_lock(&node->lock);
	for (int i = 0; i < NODE_SUBSYSTEMS && !conn->subsys; i++) {
		const struct node_subsys *s = &node->subsystems[i];

		if (!s->nqn || strcmp(s->nqn, nqn) != 0)
			continue;
		rc = doca_sta_io_qp_add_subsystem(conn->io->io, s->handle, conn->qp);
		if (rc == DOCA_SUCCESS)
			conn->subsys = s->handle;
	}
	pthread_mutex_unlock(&node->lock);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_qp_connect_set_sq_size(conn->io->io, conn->qp, entries);
	return rc == DOCA_SUCCESS
		       ? NVME_SC_SUCCESS
		       : NVME_SC_CONNECT_INVALID_PARAM | NVME_SCT_CMD_SPECIFIC << 8 | NVME_SC_DNR;
}

static uint16_t serve(struct node_conn *conn, const struct ramdisk_sqe *sqe, const uint8_t *payload,
		      uint32_t bytes, bool is_valid)
{
	const struct nvmf_connect_data *data = (const void *)payload;

	if (sqe->opcode != nvme_admin_fabrics || (le32toh(sqe->nsid) & 0xff) != 1 || !is_valid ||
	    bytes != sizeof(*data))
		return NVME_SC_INVALID_OPCODE | NVME_SC_DNR;
	return bind_subsystem(conn, data->subsysnqn, (uint16_t)(le32toh(sqe->cdw11) + 1));
}

static void on_command(struct doca_sta_qp_handle *qp, union doca_data user_data,
		       const uint8_t *command, uint8_t *payload, uint32_t bytes, bool is_valid,
		       union doca_data token)
{
	const struct ramdisk_sqe *sqe = (const void *)command;
	struct ramdisk_cqe cqe = {.cid = sqe->cid};
	struct doca_sta_producer_task_send *task;
	struct node_io *io = user_data.ptr;
	union doca_data data;
	struct node_conn *conn;

	check_thread(io);
	check(io, doca_sta_io_qp_get_user_data(qp, &data), "user data");
	conn = data.ptr;
	if (sqe->opcode == NODE_OPCODE_KEPT) {
		atomic_store(&io->node->is_kept, true);
		for (int ms = 0; atomic_load(&io->node->is_kept) && ms < NODE_PATIENCE_MS; ms++)
			(void)poll(NULL, 0, 1);
	}
	cqe.dw0 = htole32(1);
	cqe.status = htole16((uint16_t)(serve(conn, sqe, payload, bytes, is_valid) << 1));
	check(io,
	      doca_sta_io_task_non_offload_rdma_send_alloc_init(
		      io->io, (union doca_data){.ptr = conn}, qp, (uint8_t *)&cqe, token, &task),
	      "answer");
	conn->num_open += submit(io, task);
}

/* ---- connections ---- */

static void on_disconnected(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct node_conn *conn = user_data.ptr;

	check_thread(conn->io);
	conn->io->num_completed++;
	conn->is_disconnected = true;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

static void disconnect(struct node_conn *conn)
{
	struct doca_sta_producer_task_send *task;
	struct node_io *io = conn->io;

	/* The end of the context ends what is left. */
	if (!conn->qp || conn->is_disconnecting || atomic_load(&io->is_quitting))
		return;
	conn->is_disconnecting = true;
	check(io,
	      doca_sta_io_task_disconnect_alloc_init(io->io, (union doca_data){.ptr = conn},
						     conn->qp, &task),
	      "disconnect");
	submit(io, task);
}

static void on_transport_error(const struct doca_sta_event_transport_err *event,
			       union doca_data user_data)
{
	const struct doca_sta_qp_handle *qp;
	struct node_io *io = user_data.ptr;
	struct node *node = io->node;
	union doca_data data;

	check_thread(io);
	pthread_mutex_lock(&node->lock);
	node->events.num_transport_errors++;
	(void)doca_sta_event_transport_err_get_operation(event, &node->events.operation);
	(void)doca_sta_event_transport_err_get_syndrome(event, &node->events.syndrome);
	pthread_mutex_unlock(&node->lock);
	check(io, doca_sta_event_transport_err_get_qp_handle(event, &qp), "whose error");
	check(io, doca_sta_io_qp_get_user_data(qp, &data), "user data");
	disconnect(data.ptr);
}

static void reap(struct node_io *io)
{
	if (atomic_load(&io->is_quitting))
		return;
	for (int i = 0; i < NODE_CONNS; i++) {
		struct node_conn *conn = &io->conns[i];

		if (!conn->is_disconnected || conn->num_open)
			continue;
		check(io, doca_sta_io_qp_destroy(io->io, conn->qp), "destroy a queue pair");
		*conn = (struct node_conn){.io = io};
		atomic_fetch_sub(&io->num_conns, 1);
	}
}

static void accept_host(struct node_io *io, struct rdma_cm_id *id)
{
	const uint8_t record[32] = {0, 0, NODE_DEPTH, 0};
	struct node_conn *conn = NULL;
	doca_error_t rc;

	for (int i = 0; i < NODE_CONNS && !conn; i++)
		conn = io->conns[i].qp ? NULL : &io->conns[i];
	if (!conn || doca_sta_io_qp_alloc(io->io, io->node->dev, &conn->qp) != DOCA_SUCCESS) {
		(void)rdma_reject(id, NULL, 0);
		(void)rdma_destroy_id(id);
		return;
	}
	atomic_fetch_add(&io->num_conns, 1);
	check(io, doca_sta_io_qp_set_user_data(io->io, conn->qp, (union doca_data){.ptr = conn}),
	      "set user data");
	id->context = conn;
	rc = doca_sta_io_qp_accept(io->io, conn->qp, io->node->dev, id, record, sizeof(record),
				   NULL);
	/* Hosts may give up meanwhile. */
	if (rc != DOCA_SUCCESS)
		disconnect(conn);
}

static void handle_cm(struct node_io *io)
{
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(io->channel, &event)) {
		enum rdma_cm_event_type type = event->event;
		struct rdma_cm_id *id = event->id;
		struct node_conn *conn = id->context;

		(void)rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			accept_host(io, id);
		else if (type == RDMA_CM_EVENT_ESTABLISHED && conn && !conn->is_disconnecting)
			check(io, doca_sta_io_qp_connect_established(io->io, conn->qp),
			      "established");
		else if (conn)
			disconnect(conn);
	}
}

static void end_leaving(struct node_io *io)
{
	struct doca_sta_subs_handle *leaving = atomic_exchange(&io->leaving, NULL);

	for (int i = 0; i < NODE_CONNS && leaving; i++) {
		if (io->conns[i].subsys == leaving)
			disconnect(&io->conns[i]);
	}
}

/* ---- the thread ---- */

static void on_state(const union doca_data user_data, struct doca_ctx *ctx,
		     enum doca_ctx_states previous, enum doca_ctx_states next)
{
	struct node_io *io = user_data.ptr;

	(void)ctx;
	(void)previous;
	check_thread(io);
	node_on_state(&io->states, next);
}

static doca_error_t configure(struct node_io *io)
{
	struct doca_ctx *ctx = doca_sta_io_as_ctx(io->io);
	union doca_data self = {.ptr = io};
	doca_error_t rc = doca_pe_create(&io->pe);

	if (rc == DOCA_SUCCESS)
		rc = doca_pe_connect_ctx(io->pe, ctx);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_task_disconnect_set_conf(io->io, on_disconnected, on_disconnected);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_event_transport_err_register_cb(io->io, on_transport_error, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_non_offload_register_cb(io->io, on_command, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_task_non_offload_set_rdma_write_send_conf(io->io, on_answered,
									   on_failed);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_task_non_offload_set_rdma_read_conf(io->io, on_read, on_read);
	if (rc == DOCA_SUCCESS)
		rc = doca_ctx_set_user_data(ctx, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_ctx_set_state_changed_cb(ctx, on_state);
	return rc == DOCA_SUCCESS ? doca_ctx_start(ctx) : rc;
}

static int listen_for_hosts(struct node_io *io)
{
	struct sockaddr_in any = {.sin_family = AF_INET};

	io->channel = rdma_create_event_channel();
	if (!io->channel || fcntl(io->channel->fd, F_SETFL, O_NONBLOCK) ||
	    rdma_create_id(io->channel, &io->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(io->listener, (struct sockaddr *)&any) || rdma_listen(io->listener, 16))
		return -1;
	io->port = ntohs(rdma_get_src_port(io->listener));
	return 0;
}

static int watch(struct node_io *io)
{
	doca_notification_handle_t handle;
	struct epoll_event ev = {.events = EPOLLIN};

	io->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (doca_pe_get_notification_handle(io->pe, &handle) != DOCA_SUCCESS)
		return -1;
	return epoll_ctl(io->epoll_fd, EPOLL_CTL_ADD, io->kick_fd, &ev) ||
	       epoll_ctl(io->epoll_fd, EPOLL_CTL_ADD, io->channel->fd, &ev) ||
	       epoll_ctl(io->epoll_fd, EPOLL_CTL_ADD, handle, &ev);
}

/* Sleeps until something is to be done, however long: a wake-up that is lost hangs the test. */
static void run_once(struct node_io *io)
{
	doca_notification_handle_t handle;
	struct epoll_event events[4];
	uint64_t count;

	check(io, doca_pe_get_notification_handle(io->pe, &handle), "handle");
	check(io, doca_pe_request_notification(io->pe), "arm");
	(void)epoll_wait(io->epoll_fd, events, 4, -1);
	check(io, doca_pe_clear_notification(io->pe, handle), "clear");
	(void)!read(io->kick_fd, &count, sizeof(count));
	handle_cm(io);
	end_leaving(io);
	while (doca_pe_progress(io->pe))
		;
	reap(io);
}

static void stop(struct node_io *io)
{
	doca_error_t rc;

	(void)rdma_destroy_id(io->listener);
	rc = doca_ctx_stop(doca_sta_io_as_ctx(io->io));
	if (rc == DOCA_ERROR_IN_PROGRESS) {
		if (!node_state_is(&io->states, DOCA_CTX_STATE_STOPPING))
			fail(io, "STOPPING was not told by the stop");
		if (doca_sta_io_destroy(io->io) == DOCA_SUCCESS)
			fail(io, "an IO context can be destroyed before it is IDLE");
		while (!node_state_is(&io->states, DOCA_CTX_STATE_IDLE))
			run_once(io);
		rc = DOCA_SUCCESS;
	}
	check(io, rc, "stop IO");
	if (!node_state_is(&io->states, DOCA_CTX_STATE_IDLE))
		fail(io, "IDLE was not told");
	if (doca_pe_destroy(io->pe) != DOCA_ERROR_IN_USE)
		fail(io, "a progress engine can be destroyed before its context");
	check(io, doca_sta_io_destroy(io->io), "destroy IO");
	check(io, doca_pe_destroy(io->pe), "destroy IO's progress engine");
	rdma_destroy_event_channel(io->channel);
	close(io->epoll_fd);
}

void *node_io_main(void *arg)
{
	struct node_io *io = arg;
	doca_error_t rc = doca_sta_io_create(io->node->sta, &io->io);

	for (int i = 0; i < NODE_CONNS; i++)
		io->conns[i].io = io;
	if (rc == DOCA_SUCCESS)
		rc = configure(io);
	check(io, rc, "start IO");
	if (rc != DOCA_SUCCESS || listen_for_hosts(io) || watch(io)) {
		fail(io, "an IO thread cannot start");
		sem_post(&io->is_up);
		return NULL;
	}
	if (!node_state_is(&io->states, DOCA_CTX_STATE_RUNNING))
		fail(io, "RUNNING of IO was not told");
	sem_post(&io->is_up);
	while (!atomic_load(&io->is_quitting))
		run_once(io);
	stop(io);
	return NULL;
}
