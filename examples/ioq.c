/* SPDX-License-Identifier: Apache-2.0 */
/* I/O queues: their connections, from accept to the end. The engine serves them. */
#include <doca_pe.h>
#include <doca_sta_event.h>
#include <doca_sta_io.h>
#include <doca_sta_io_non_offload.h>
#include <doca_sta_io_qp.h>

#include "example.h"

static struct ioq queues[EXAMPLE_IO_QUEUES];

void ioq_disconnect(struct ioq *q)
{
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = q};

	if (q->is_closing || q->t->is_stopping) /* the end of the I/O context ends all */
		return;
	q->is_closing = true;
	MUST(doca_sta_io_task_disconnect_alloc_init(q->t->io, self, q->qp, &task));
	submit(task);
}

void ioq_release_if_over(struct ioq *q)
{
	if (!q->is_closed || q->num_commands || q->t->is_stopping)
		return;
	q->id->context = NULL; /* it lives on for a while, and may have events */
	MUST(doca_sta_io_qp_destroy(q->t->io, q->qp));
	q->qp = NULL;
}

static void on_disconnected(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct ioq *q = user_data.ptr;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	q->is_closed = true;
	ioq_release_if_over(q);
}

static void on_transport_error(const struct doca_sta_event_transport_err *event,
			       union doca_data user_data)
{
	const struct doca_sta_qp_handle *qp;

	(void)user_data;
	MUST(doca_sta_event_transport_err_get_qp_handle(event, &qp));
	MUST(doca_sta_io_qp_get_user_data(qp, &user_data));
	ioq_disconnect(user_data.ptr);
}

static void on_event(struct conn *conn, bool is_up)
{
	struct ioq *q = (struct ioq *)conn;

	if (!is_up || doca_sta_io_qp_connect_established(q->t->io, q->qp) != DOCA_SUCCESS)
		ioq_disconnect(q);
}

bool ioq_accept(struct target *t, struct rdma_cm_id *id)
{
	const struct accept_record record = {.crqsize = EXAMPLE_QUEUE_ENTRIES};
	struct ioq *q = queues;
	union doca_data self;

	while (q < queues + EXAMPLE_IO_QUEUES && q->qp)
		q++;
	if (q == queues + EXAMPLE_IO_QUEUES)
		return false;
	*q = (struct ioq){.conn.on_event = on_event, .t = t, .id = id};
	if (doca_sta_io_qp_connect(t->io, t->dev, id, &record, sizeof(record), NULL, &q->qp) !=
	    DOCA_SUCCESS) {
		q->qp = NULL;
		return true;
	}
	id->context = &q->conn;
	self.ptr = q;
	MUST(doca_sta_io_qp_set_user_data(t->io, q->qp, self));
	return true;
}

/* A host without an admin queue is none. */
void ioq_drop_orphans(void)
{
	for (struct ioq *q = queues; q < queues + EXAMPLE_IO_QUEUES; q++)
		if (q->qp && q->cntlid && !admin_has(q->cntlid))
			ioq_disconnect(q);
}

void ioq_configure(struct doca_sta_io *io)
{
	union doca_data none = {0};

	MUST(doca_sta_io_task_disconnect_set_conf(io, on_disconnected, on_disconnected));
	MUST(doca_sta_io_event_transport_err_register_cb(io, on_transport_error, none));
	command_configure(io);
}
