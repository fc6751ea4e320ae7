/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that the engine hands up. Of an I/O queue's, one is for a target: Fabrics Connect. */
#include <nvme/types.h>
#include <stdlib.h>
#include <string.h>

#include <doca_pe.h>
#include <doca_sta_io_non_offload.h>
#include <doca_sta_io_qp.h>

#include "example.h"

struct command {
	struct ioq *q;
	const struct sqe *sqe;
	const struct nvmf_connect_data *data;
	uint32_t bytes;
	union doca_data token;
};

static void end(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct command *c = user_data.ptr;
	struct ioq *q = c->q;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	free(c);
	q->num_commands--;
	ioq_release_if_over(q);
}

static void end_unsent(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct command *c = user_data.ptr;

	ioq_disconnect(c->q);
	end(task, user_data);
}

static void answer(struct command *c, uint16_t status)
{
	struct cqe cqe = {.dw0 = c->q->cntlid, .cid = c->sqe->cid, .status = status << 1};
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = c};

	MUST(doca_sta_io_task_non_offload_rdma_send_alloc_init(c->q->t->io, self, c->q->qp,
							       (uint8_t *)&cqe, c->token, &task));
	submit(task);
}

static uint16_t serve_connect(const struct command *c)
{
	const uint16_t bad =
		NVME_SCT_CMD_SPECIFIC << 8 | NVME_SC_CONNECT_INVALID_PARAM | NVME_SC_DNR;
	uint16_t sqsize_0b = (uint16_t)c->sqe->cdw11;

	if (c->bytes != sizeof(*c->data) ||
	    strncmp(c->data->subsysnqn, EXAMPLE_NQN, sizeof(c->data->subsysnqn)) ||
	    !admin_has(c->data->cntlid) || sqsize_0b >= EXAMPLE_QUEUE_ENTRIES)
		return bad;
	if (doca_sta_io_qp_connect_set_sq_size(c->q->t->io, c->q->qp, sqsize_0b + 1) !=
	    DOCA_SUCCESS)
		return bad;
	if (doca_sta_io_qp_add_subsystem(c->q->t->io, c->q->t->subsystem, c->q->qp) != DOCA_SUCCESS)
		return NVME_SC_CMD_SEQ_ERROR | NVME_SC_DNR;
	c->q->cntlid = c->data->cntlid;
	return NVME_SC_SUCCESS;
}

static void on_data(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct command *c = user_data.ptr;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	answer(c, serve_connect(c));
}

/* The connection has failed; the command has to be ended all the same. */
static void on_no_data(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct command *c = user_data.ptr;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	ioq_disconnect(c->q);
	answer(c, NVME_SC_DATA_XFER_ERROR);
}

static bool is_connect(const struct sqe *sqe)
{
	return sqe->opcode == nvme_admin_fabrics && (uint8_t)sqe->nsid == nvme_fabrics_type_connect;
}

static void on_command(struct doca_sta_qp_handle *qp, union doca_data user_data, const uint8_t *sqe,
		       uint8_t *payload, uint32_t bytes, bool is_there, union doca_data token)
{
	struct command *c = malloc(sizeof(*c));
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = c};

	must(c ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "command");
	MUST(doca_sta_io_qp_get_user_data(qp, &user_data));
	*c = (struct command){user_data.ptr, (const void *)sqe, (void *)payload, bytes, token};
	c->q->num_commands++;
	if (!is_connect(c->sqe)) {
		answer(c, NVME_SC_INVALID_OPCODE | NVME_SC_DNR);
	} else if (is_there || !bytes) {
		answer(c, serve_connect(c));
	} else {
		MUST(doca_sta_io_task_non_offload_rdma_read_alloc_init(c->q->t->io, self, qp, token,
								       &task));
		submit(task);
	}
}

void command_configure(struct doca_sta_io *io)
{
	union doca_data none = {0};

	MUST(doca_sta_io_non_offload_register_cb(io, on_command, none));
	MUST(doca_sta_io_task_non_offload_set_rdma_write_send_conf(io, end, end_unsent));
	MUST(doca_sta_io_task_non_offload_set_rdma_read_conf(io, on_data, on_no_data));
}
