/* SPDX-License-Identifier: Apache-2.0 */
/*
 * I/O queues: connections that are handed to DOCA STA. What reaches us of them are the commands
 * that STA does not offload (Connect first of all) and their end. STA owns the rdma_cm_id from the
 * accept on; its CM events come through our channel still.
 *
 * Every command that came up is ended by exactly one send task, also on a queue that is closing:
 * STA keeps its slot until then. A queue is freed at the end of a loop's round, once its disconnect
 * task is done and no command is left.
 */
#include "target/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <doca_error.h>
#include <doca_pe.h>
#include <doca_sta_event.h>
#include <doca_sta_io.h>
#include <doca_sta_io_non_offload.h>
#include <doca_sta_io_qp.h>
#include <doca_sta_task.h>
#include <doca_types.h>

#include "target/cmpriv.h"
#include "target/ctrlr.h"
#include "target/log.h"

enum {
	RETRY_MS = 1, /* an execution unit that is not kept from running needs much less */
};

/* A task on its way to STA, which may have no room for it at this moment. */
struct outgoing {
	struct util_list link; /* in server->unsent */
	struct doca_task *task;
	/* STA does not take it, and never will; it is freed. */
	void (*refused)(struct outgoing *out, doca_error_t rc);
};

struct ioq {
	struct tgt_queue queue;
	struct tgt_conn conn;
	struct util_list link;
	struct tgt_server *server;
	struct doca_sta_qp_handle *qp;
	struct rdma_cm_id *id; /* STA's; NULL before it is accepted, and if it is not */
	uint32_t seen_psn; /* up to where the host had sent at the last look */
	struct util_list free_cmds;
	unsigned int n_cmds; /* taken, until their send task is done */
	bool is_disconnecting;
	bool is_disconnected; /* the disconnect task is done */
	struct outgoing disconnect;
	struct io_cmd *cmds; /* as many as the queue has entries */
};

struct io_cmd {
	struct tgt_req req;
	struct util_list link; /* in ioq.free_cmds */
	struct ioq *ioq;
	struct outgoing out;
	struct tgt_xfer xfer;
	union doca_data token;
	bool is_reading; /* a read task is out or on its way, no other may be submitted */
	bool is_dropped; /* to be dropped once the read task is back */
};

static struct ioq *queue_of(struct tgt_queue *queue)
{
	return util_container_of(queue, struct ioq, queue);
}

static struct io_cmd *cmd_of(struct tgt_req *req)
{
	return util_container_of(req, struct io_cmd, req);
}

static void q_disconnect(struct tgt_queue *queue);

/* True unless STA has no room for the task at this moment. */
static bool try_submit(struct outgoing *out)
{
	doca_error_t rc = doca_task_submit(out->task);

	if (rc == DOCA_ERROR_AGAIN)
		return false;
	if (rc != DOCA_SUCCESS) {
		doca_task_free(out->task);
		out->refused(out, rc);
	}
	return true;
}

/* Give a task to STA: now, or in a later round of the loop. */
static void submit(struct tgt_server *server, struct outgoing *out,
		   struct doca_sta_producer_task_send *task,
		   void (*refused)(struct outgoing *out, doca_error_t rc))
{
	out->task = doca_sta_producer_send_task_as_task(task);
	out->refused = refused;
	if (!try_submit(out))
		util_list_add_tail(&server->unsent, &out->link);
}

void tgt_ioq_resubmit(struct tgt_server *server)
{
	struct outgoing *out;
	struct util_list todo;

	/* Each once: what is refused may have others submitted, and these wait in turn. */
	util_list_init(&todo);
	while ((out = util_list_pop(&server->unsent, struct outgoing, link)))
		util_list_add_tail(&todo, &out->link);
	while ((out = util_list_pop(&todo, struct outgoing, link)))
		if (!try_submit(out))
			util_list_add_tail(&server->unsent, &out->link);
}

uint64_t tgt_ioq_next_retry(const struct tgt_server *server)
{
	return util_list_is_empty(&server->unsent) ? UINT64_MAX : tgt_loop_now_ms() + RETRY_MS;
}

/* ---- answers ------------------------------------------------------------------------------ */

/* A record for a command, NULL when the host sent more than the queue has entries. */
static struct io_cmd *cmd_take(struct ioq *q, union doca_data token)
{
	struct io_cmd *cmd = util_list_pop(&q->free_cmds, struct io_cmd, link);

	if (!cmd)
		return NULL;
	q->n_cmds++;
	memset(cmd, 0, sizeof(*cmd));
	util_list_init(&cmd->link);
	cmd->ioq = q;
	cmd->token = token;
	cmd->req.queue = &q->queue;
	return cmd;
}

static void cmd_put(struct io_cmd *cmd)
{
	cmd->ioq->n_cmds--;
	util_list_add_head(&cmd->ioq->free_cmds, &cmd->link);
}

/* The command is not answered: its connection ends. */
static void cmd_lost(struct io_cmd *cmd, doca_error_t rc)
{
	struct ioq *q = cmd->ioq;

	tgt_log("queue %u of %s: cannot answer: %s", q->queue.qid, q->queue.peer_addr,
		doca_error_get_descr(rc));
	cmd_put(cmd);
	q_disconnect(&q->queue);
}

static void send_refused(struct outgoing *out, doca_error_t rc)
{
	cmd_lost(util_container_of(out, struct io_cmd, out), rc);
}

static void cmd_send(struct io_cmd *cmd, const uint8_t cqe[TGT_CQE_BYTES], bool with_data)
{
	struct ioq *q = cmd->ioq;
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = cmd};
	uint8_t copy[TGT_CQE_BYTES];
	doca_error_t rc;

	memcpy(copy, cqe, sizeof(copy));
	if (with_data)
		rc = doca_sta_io_task_non_offload_rdma_write_send_alloc_init(q->server->io, self,
									     q->qp, copy,
									     cmd->token, &task);
	else
		rc = doca_sta_io_task_non_offload_rdma_send_alloc_init(q->server->io, self, q->qp,
								       copy, cmd->token, &task);
	if (rc == DOCA_SUCCESS)
		submit(q->server, &cmd->out, task, send_refused);
	else
		cmd_lost(cmd, rc);
}

static void q_respond(struct tgt_req *req, const uint8_t cqe[TGT_CQE_BYTES], bool success)
{
	struct io_cmd *cmd = cmd_of(req);

	cmd_send(cmd, cqe, success && cmd->xfer.dir == TGT_DIR_TO_HOST && cmd->xfer.bytes);
}

static void q_drop(struct tgt_req *req)
{
	struct io_cmd *cmd = cmd_of(req);
	uint8_t cqe[TGT_CQE_BYTES];

	if (cmd->is_reading) {
		cmd->is_dropped = true;
		return;
	}
	tgt_cqe_fill(cqe, 0, 0, req->cmd.cid, TGT_SC(GENERIC, ABORT_QUEUE));
	cmd_send(cmd, cqe, false);
}

/* The response has left or never will; the queue it was for, or NULL after refuse(). */
static struct tgt_queue *send_ended(struct doca_sta_producer_task_send *task,
				    union doca_data user_data)
{
	struct io_cmd *cmd = user_data.ptr;
	struct tgt_queue *queue;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	if (!cmd)
		return NULL;
	queue = &cmd->ioq->queue;
	cmd_put(cmd);
	return queue;
}

static void send_done(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct tgt_queue *queue = send_ended(task, user_data);

	if (queue && queue->close_after_response)
		q_disconnect(queue);
}

static void send_failed(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct tgt_queue *queue = send_ended(task, user_data);

	if (queue)
		q_disconnect(queue);
}

/* ---- commands ----------------------------------------------------------------------------- */

static void read_done(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct io_cmd *cmd = user_data.ptr;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	cmd->is_reading = false;
	if (cmd->is_dropped || cmd->ioq->queue.is_closing)
		q_drop(&cmd->req);
	else
		tgt_exec(&cmd->req);
}

static void read_failed(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct io_cmd *cmd = user_data.ptr;
	struct tgt_queue *queue = &cmd->ioq->queue;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	cmd->is_reading = false;
	q_drop(&cmd->req);
	q_disconnect(queue);
}

static void read_refused(struct outgoing *out, doca_error_t rc)
{
	struct io_cmd *cmd = util_container_of(out, struct io_cmd, out);

	(void)rc;
	cmd->is_reading = false;
	if (cmd->is_dropped)
		q_drop(&cmd->req);
	else
		tgt_complete(&cmd->req, TGT_SC(GENERIC, INTERNAL));
}

static void cmd_read(struct io_cmd *cmd)
{
	struct ioq *q = cmd->ioq;
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = cmd};
	doca_error_t rc;

	rc = doca_sta_io_task_non_offload_rdma_read_alloc_init(q->server->io, self, q->qp,
							       cmd->token, &task);
	if (rc != DOCA_SUCCESS) {
		tgt_complete(&cmd->req, TGT_SC(GENERIC, INTERNAL));
		return;
	}
	cmd->is_reading = true;
	submit(q->server, &cmd->out, task, read_refused);
}

/*
 * No record left: answer without one, if there is room just now, and disconnect. No well-behaved
 * host ever sees it.
 */
static void refuse(struct ioq *q, const uint8_t *sqe, union doca_data token)
{
	struct doca_sta_producer_task_send *task;
	union doca_data none = {0};
	uint8_t cqe[TGT_CQE_BYTES];
	struct tgt_cmd cmd;

	tgt_cmd_parse(&cmd, sqe);
	tgt_cqe_fill(cqe, 0, 0, cmd.cid, TGT_SC(GENERIC, INTERNAL));
	if (doca_sta_io_task_non_offload_rdma_send_alloc_init(q->server->io, none, q->qp, cqe,
							      token, &task) == DOCA_SUCCESS &&
	    doca_task_submit(doca_sta_producer_send_task_as_task(task)) != DOCA_SUCCESS)
		doca_task_free(doca_sta_producer_send_task_as_task(task));
	q_disconnect(&q->queue);
}

static void on_command(struct doca_sta_qp_handle *qp, union doca_data user_data, const uint8_t *sqe,
		       uint8_t *payload, uint32_t payload_bytes, bool payload_valid,
		       union doca_data token)
{
	union doca_data qp_data;
	struct io_cmd *cmd;
	tgt_status_t status;
	struct ioq *q;

	(void)user_data;
	if (doca_sta_io_qp_get_user_data(qp, &qp_data) != DOCA_SUCCESS)
		return;
	q = qp_data.ptr;
	cmd = cmd_take(q, token);
	if (!cmd) {
		refuse(q, sqe, token);
		return;
	}
	tgt_cmd_parse(&cmd->req.cmd, sqe);
	/* STA has checked an offset into the capsule: the payload starts where it points to. */
	cmd->req.cmd.sgl.addr = payload_valid ? 0 : cmd->req.cmd.sgl.addr;
	status = tgt_xfer_plan(&cmd->req.cmd, payload_bytes, q->queue.tgt->limits.max_io_bytes,
			       &cmd->xfer);
	if (!status && cmd->xfer.dir != TGT_DIR_NONE && cmd->xfer.bytes > payload_bytes)
		status = TGT_SC_DNR(GENERIC, SGL_INVALID_DATA);
	if (status || q->queue.is_closing) {
		tgt_complete(&cmd->req, status);
		return;
	}
	cmd->req.data = payload;
	cmd->req.data_bytes = cmd->xfer.bytes;
	if (cmd->xfer.dir == TGT_DIR_FROM_HOST && !payload_valid)
		cmd_read(cmd);
	else
		tgt_exec(&cmd->req);
}

/* ---- connection --------------------------------------------------------------------------- */

static void disconnect_done(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct ioq *q = user_data.ptr;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	q->is_disconnected = true;
}

/* The destruction ends the connection then. */
static void disconnect_refused(struct outgoing *out, doca_error_t rc)
{
	(void)rc;
	util_container_of(out, struct ioq, disconnect)->is_disconnected = true;
}

static void q_disconnect(struct tgt_queue *queue)
{
	struct ioq *q = queue_of(queue);
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = q};
	doca_error_t rc;

	if (q->is_disconnecting)
		return;
	q->is_disconnecting = true;
	rc = doca_sta_io_task_disconnect_alloc_init(q->server->io, self, q->qp, &task);
	if (rc == DOCA_SUCCESS)
		submit(q->server, &q->disconnect, task, disconnect_refused);
	else
		disconnect_refused(&q->disconnect, rc);
	tgt_queue_closing(queue);
}

static void on_established(struct tgt_conn *conn)
{
	struct ioq *q = util_container_of(conn, struct ioq, conn);

	if (!q->is_disconnecting &&
	    doca_sta_io_qp_connect_established(q->server->io, q->qp) != DOCA_SUCCESS)
		q_disconnect(&q->queue);
}

static void on_disconnected(struct tgt_conn *conn)
{
	q_disconnect(&util_container_of(conn, struct ioq, conn)->queue);
}

static int q_bind(struct tgt_queue *queue, struct tgt_subsys *subsys, uint16_t sq_entries)
{
	struct ioq *q = queue_of(queue);
	doca_error_t rc = doca_sta_io_qp_add_subsystem(q->server->io, subsys->sta, q->qp);

	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_qp_connect_set_sq_size(q->server->io, q->qp, sq_entries);
	if (rc == DOCA_SUCCESS)
		return 0;
	tgt_log("queue %u of %s: %s", queue->qid, queue->peer_addr, doca_error_get_descr(rc));
	return -EIO;
}

/* The packet number that is expected next moves with every command, offloaded or not. */
static bool q_was_active(struct tgt_queue *queue)
{
	struct ioq *q = queue_of(queue);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	uint32_t before = q->seen_psn;

	if (q->is_disconnecting || !q->id || ibv_query_qp(q->id->qp, &attr, IBV_QP_RQ_PSN, &init))
		return false;
	q->seen_psn = attr.rq_psn;
	return q->seen_psn != before;
}

static const struct tgt_queue_ops ioq_ops = {
	.respond = q_respond,
	.drop = q_drop,
	.bind = q_bind,
	.disconnect = q_disconnect,
	.was_active = q_was_active,
};

static void ioq_free(struct ioq *q)
{
	free(q->cmds);
	free(q);
}

static struct ioq *ioq_new(struct tgt_server *server, struct rdma_cm_id *id, struct tgt_port *port,
			   const struct tgt_cm_request *request)
{
	uint16_t entries = tgt_cm_entries(request), i;
	struct ioq *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->cmds = calloc(entries, sizeof(*q->cmds));
	if (!q->cmds) {
		free(q);
		return NULL;
	}
	util_list_init(&q->free_cmds);
	for (i = 0; i < entries; i++)
		util_list_add_tail(&q->free_cmds, &q->cmds[i].link);
	q->server = server;
	q->conn.established = on_established;
	q->conn.disconnected = on_disconnected;
	q->queue.ops = &ioq_ops;
	q->queue.port = port;
	q->queue.qid = request->qid;
	q->queue.max_entries = entries;
	tgt_addr_format(rdma_get_local_addr(id), q->queue.local_addr);
	tgt_addr_format(rdma_get_peer_addr(id), q->queue.peer_addr);
	return q;
}

int tgt_ioq_accept(struct tgt_server *server, struct tgt_device *device, struct rdma_cm_id *id,
		   struct tgt_port *port, const struct tgt_cm_request *request)
{
	uint8_t record[TGT_CM_ACCEPT_BYTES];
	struct ioq *q = ioq_new(server, id, port, request);
	union doca_data self = {.ptr = q};
	int rc;

	if (!q)
		return -ENOMEM;
	rc = tgt_queue_init(&q->queue, &server->tgt);
	if (rc)
		goto err_free;
	rc = -ENOMEM;
	if (doca_sta_io_qp_alloc(server->io, device->dev, &q->qp) != DOCA_SUCCESS)
		goto err_queue;
	if (doca_sta_io_qp_set_user_data(server->io, q->qp, self) != DOCA_SUCCESS)
		goto err_qp;
	util_list_add_tail(&server->io_queues, &q->link);
	tgt_cm_accept_fill(record, q->queue.max_entries);
	/* From here on the id is STA's, whatever the result: end the queue by its own way. */
	if (doca_sta_io_qp_accept(server->io, q->qp, device->dev, id, record, sizeof(record),
				  NULL) != DOCA_SUCCESS) {
		tgt_log_limited(&server->tgt, TGT_LOG_REFUSED, "queue %u of %s: cannot be accepted",
				request->qid, q->queue.peer_addr);
		q_disconnect(&q->queue);
		return 0;
	}
	q->id = id;
	id->context = &q->conn;
	return 0;

err_qp:
	(void)doca_sta_io_qp_destroy(server->io, q->qp);
err_queue:
	tgt_queue_gone(&q->queue);
err_free:
	ioq_free(q);
	return rc;
}

/* ---- for the server ----------------------------------------------------------------------- */

static void on_transport_error(const struct doca_sta_event_transport_err *event,
			       union doca_data user_data)
{
	const struct doca_sta_qp_handle *qp;
	uint32_t syndrome = 0;
	union doca_data qp_data;
	struct ioq *q;

	(void)user_data;
	if (doca_sta_event_transport_err_get_qp_handle(event, &qp) != DOCA_SUCCESS ||
	    doca_sta_io_qp_get_user_data(qp, &qp_data) != DOCA_SUCCESS)
		return;
	q = qp_data.ptr;
	(void)doca_sta_event_transport_err_get_syndrome(event, &syndrome);
	if (!q->is_disconnecting)
		tgt_log("queue %u of %s: transport error (syndrome %u), disconnecting",
			q->queue.qid, q->queue.peer_addr, syndrome);
	q_disconnect(&q->queue);
}

/* By its address alone: the event may be older than the end of its queue. */
static struct ioq *find_queue(struct tgt_server *server, const struct doca_sta_qp_handle *qp)
{
	struct ioq *q;

	util_list_for_each(&server->io_queues, q, link)
		if (q->qp == qp)
			return q;
	return NULL;
}

/* Not what a host asked wrongly, nor what it finds unequal. */
static bool is_disk_error(tgt_status_t status)
{
	unsigned int code = status & NVME_SC_MASK;

	switch (status >> NVME_SCT_SHIFT & NVME_SCT_MASK) {
	case NVME_SCT_MEDIA:
		return code != NVME_SC_COMPARE_FAILED;
	case NVME_SCT_GENERIC:
		return code == NVME_SC_INTERNAL || code == NVME_SC_DATA_XFER_ERROR ||
		       code == NVME_SC_CAP_EXCEEDED;
	default:
		return false;
	}
}

static void log_disk_error(struct tgt_queue *queue, uint8_t opcode,
			   const struct tgt_error_entry *entry)
{
	const struct tgt_subsys *subsys = queue->ctrlr->subsys;
	char name[TGT_DISK_NAME_TEXT];
	const struct tgt_ns *ns;

	if (!is_disk_error(entry->status) || !entry->nsid || entry->nsid > subsys->nn)
		return;
	ns = subsys->ns[entry->nsid - 1];
	if (!ns)
		return;
	tgt_log_limited(queue->tgt, TGT_LOG_DISK_ERROR,
			"disk %s: a command failed at lba %llu with status 0x%x (opcode 0x%02x,"
			" namespace %u of %s)",
			tgt_backend_disk_name(ns->backend, ns->be_nsid, name),
			(unsigned long long)entry->lba, entry->status, opcode, entry->nsid,
			subsys->nqn);
}

void tgt_ioq_command_failed(const struct doca_sta_event_cqe_notify *event,
			    union doca_data user_data)
{
	struct tgt_error_entry entry = {.location = TGT_NO_LOCATION};
	enum doca_sta_cqe_notify_type type;
	const struct doca_sta_qp_handle *qp;
	doca_sta_nvme_completion_t cqe;
	uint16_t nsid;
	uint8_t opcode;
	struct ioq *q;

	if (doca_sta_event_cqe_notify_get_qp_handle(event, &qp) != DOCA_SUCCESS)
		return;
	q = find_queue(user_data.ptr, qp);
	if (!q || !q->queue.ctrlr ||
	    doca_sta_event_cqe_notify_get_cqe(event, cqe) != DOCA_SUCCESS ||
	    doca_sta_event_cqe_notify_get_cqe_notify_type(event, &type) != DOCA_SUCCESS ||
	    doca_sta_event_cqe_notify_get_capsule_params(event, &opcode, &entry.cid, &nsid,
							 &entry.lba) != DOCA_SUCCESS)
		return;
	entry.sqid = q->queue.qid;
	entry.status = tgt_cqe_status(cqe);
	entry.nsid = nsid;
	if (type == DOCA_STA_CQE_NOTIF_NVME_OF_VALIDATION_ERR)
		(void)doca_sta_event_cqe_notify_get_param_err_location(event, &entry.location);
	else
		log_disk_error(&q->queue, opcode, &entry);
	tgt_error_record(q->queue.ctrlr, &entry);
}

int tgt_ioq_register(struct tgt_server *server, struct tgt_err *err)
{
	struct doca_sta_io *io = server->io;
	union doca_data none = {0};
	doca_error_t rc;

	rc = doca_sta_io_task_disconnect_set_conf(io, disconnect_done, disconnect_done);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_event_transport_err_register_cb(io, on_transport_error, none);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_non_offload_register_cb(io, on_command, none);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_task_non_offload_set_rdma_write_send_conf(io, send_done,
									   send_failed);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_io_task_non_offload_set_rdma_read_conf(io, read_done, read_failed);
	if (rc == DOCA_SUCCESS)
		return 0;
	return tgt_err_set(err, -EIO, "STA IO cannot be configured: %s", doca_error_get_descr(rc));
}

void tgt_ioq_reap(struct tgt_server *server)
{
	struct ioq *q, *next;

	util_list_for_each_safe(&server->io_queues, q, next, link) {
		if (!q->is_disconnected || q->n_cmds)
			continue;
		util_list_del(&q->link);
		if (q->id)
			q->id->context = NULL; /* STA may keep it a while, and it has events */
		(void)doca_sta_io_qp_destroy(server->io, q->qp);
		tgt_queue_gone(&q->queue);
		ioq_free(q);
	}
}

void tgt_ioq_let_go_all(struct tgt_server *server)
{
	struct ioq *q;

	util_list_for_each(&server->io_queues, q, link) {
		if (q->id)
			q->id->context = NULL;
		q->id = NULL;
	}
}

void tgt_ioq_close_all(struct tgt_server *server)
{
	struct ioq *q;

	util_list_for_each(&server->io_queues, q, link)
		q_disconnect(&q->queue);
}
