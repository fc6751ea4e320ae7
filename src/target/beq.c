/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs of a backend: at the controller, in DOCA STA, and back. */
#include "target/backend.h"

#include <errno.h>
#include <string.h>

#include <doca_error.h>
#include <doca_pe.h>
#include <doca_sta.h>
#include <doca_sta_be.h>
#include <doca_sta_task.h>
#include <doca_types.h>

#include "target/log.h"

enum {
	DOORBELL_WINDOW_BYTES = 64,
	QUEUE_ENTRIES_MAX = 1024, /* of a drive that could do more */
};

uint16_t tgt_beq_wanted(const struct tgt_backend *be)
{
	uint32_t max_queues = TGT_MAX_EUS;

	(void)doca_sta_get_max_qs_per_be(&max_queues);
	max_queues = util_min(max_queues, be->server->n_eus);
	return (uint16_t)util_min(max_queues, (uint32_t)TGT_MAX_EUS);
}

int tgt_beq_create(struct tgt_backend *be, struct nv_ctrl *ctrl, struct nv_err *why)
{
	uint16_t wanted = util_min(tgt_beq_wanted(be), nv_ctrl_info(ctrl)->max_io_queues);
	int rc = 0;

	be->n_queues = 0;
	while (be->n_queues < wanted && !rc) {
		struct tgt_be_queue *q = &be->queues[be->n_queues];

		memset(q, 0, sizeof(*q));
		q->be = be;
		rc = nv_queue_create(ctrl, QUEUE_ENTRIES_MAX, &q->nv, why);
		be->n_queues += !rc;
	}
	return rc;
}

static doca_error_t map_create(struct tgt_server *server, void *addr, size_t bytes,
			       struct doca_mmap **map)
{
	doca_error_t rc = doca_mmap_create(map);

	if (rc != DOCA_SUCCESS)
		return rc;
	rc = doca_mmap_add_dev(*map, server->devices[0].dev);
	if (rc == DOCA_SUCCESS)
		rc = doca_mmap_set_memrange(*map, addr, bytes);
	if (rc == DOCA_SUCCESS)
		rc = doca_mmap_set_permissions(*map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (rc == DOCA_SUCCESS)
		rc = doca_mmap_start(*map);
	return rc;
}

/* A doorbell is given to STA with the 64 bytes of the BAR that it lies in. */
static doca_error_t doorbell_map(struct tgt_server *server, volatile uint32_t *doorbell,
				 struct doca_mmap **map, uint16_t *offset)
{
	uintptr_t at = (uintptr_t)doorbell;

	*offset = (uint16_t)(at % DOORBELL_WINDOW_BYTES);
	return map_create(server, (void *)(at - *offset), DOORBELL_WINDOW_BYTES, map);
}

/* A controller of this process cannot see stores to its doorbells. */
static doca_error_t companion_attach(struct tgt_backend *be, struct tgt_be_queue *q)
{
	doca_error_t rc;

	if (!be->disk.soft)
		return DOCA_SUCCESS;
	if (nv_soft_companion(be->disk.soft, q->nv->qid, &q->companion))
		return DOCA_ERROR_NOT_FOUND;
	q->ops.doorbell = q->companion.doorbell;
	q->ops.poll = q->companion.poll;
	rc = doca_softsta_queue_attach(q->nv->sq_tail_doorbell, &q->ops, q->companion.fd,
				       q->companion.arg);
	q->is_attached = rc == DOCA_SUCCESS;
	return rc;
}

static doca_error_t queue_give(struct tgt_backend *be, struct tgt_be_queue *q)
{
	struct tgt_server *server = be->server;
	struct nv_queue *nv = q->nv;
	uint16_t sq_offset, cq_offset;
	doca_error_t rc;

	rc = companion_attach(be, q);
	if (rc == DOCA_SUCCESS)
		rc = map_create(server, nv->sq, nv->entries * sizeof(*nv->sq), &q->sq);
	if (rc == DOCA_SUCCESS)
		rc = map_create(server, nv->cq, nv->entries * sizeof(*nv->cq), &q->cq);
	if (rc == DOCA_SUCCESS)
		rc = doorbell_map(server, nv->sq_tail_doorbell, &q->sq_doorbell, &sq_offset);
	if (rc == DOCA_SUCCESS)
		rc = doorbell_map(server, nv->cq_head_doorbell, &q->cq_doorbell, &cq_offset);
	if (rc != DOCA_SUCCESS)
		return rc;
	return doca_sta_be_add_queue(be->sta, q->sq, q->sq_doorbell, sq_offset, q->cq,
				     q->cq_doorbell, cq_offset, &q->sta);
}

doca_error_t tgt_beq_give(struct tgt_backend *be)
{
	doca_error_t rc = DOCA_SUCCESS;

	for (size_t i = 0; i < be->n_queues && rc == DOCA_SUCCESS; i++)
		rc = queue_give(be, &be->queues[i]);
	return rc;
}

void tgt_beq_halted(struct tgt_backend *be)
{
	for (size_t i = 0; i < be->n_queues; i++)
		if (be->queues[i].sta)
			(void)doca_softsta_be_queue_halted(be->queues[i].sta);
}

void tgt_backend_queue_gone(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct tgt_be_queue *q = user_data.ptr;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	q->sta = NULL;
	tgt_recovery_queue_gone(q->be);
}

doca_error_t tgt_beq_ask_back(struct tgt_backend *be)
{
	struct doca_sta_producer_task_send *task;
	doca_error_t rc = DOCA_SUCCESS;

	for (size_t i = 0; i < be->n_queues && rc == DOCA_SUCCESS; i++) {
		struct tgt_be_queue *q = &be->queues[i];
		union doca_data self = {.ptr = q};

		if (!q->sta)
			continue;
		rc = doca_sta_be_destroy_queue_task_alloc_init(q->sta, self, &task);
		if (rc != DOCA_SUCCESS)
			return rc;
		rc = doca_task_submit(doca_sta_producer_send_task_as_task(task));
		if (rc != DOCA_SUCCESS)
			doca_task_free(doca_sta_producer_send_task_as_task(task));
	}
	return rc;
}

bool tgt_beq_are_gone(const struct tgt_backend *be)
{
	for (size_t i = 0; i < be->n_queues; i++)
		if (be->queues[i].sta)
			return false;
	return true;
}

static void queue_forget(struct tgt_be_queue *q)
{
	struct doca_mmap *const maps[] = {q->cq_doorbell, q->sq_doorbell, q->cq, q->sq};

	for (size_t i = 0; i < UTIL_ARRAY_SIZE(maps); i++)
		if (maps[i])
			(void)doca_mmap_destroy(maps[i]);
	if (q->is_attached)
		(void)doca_softsta_queue_detach(q->nv->sq_tail_doorbell);
	memset(q, 0, sizeof(*q));
}

void tgt_beq_forget(struct tgt_backend *be)
{
	for (size_t i = 0; i < be->n_queues; i++)
		queue_forget(&be->queues[i]);
	be->n_queues = 0;
}
