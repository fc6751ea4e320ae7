/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and requests: life cycle, dispatch, responses, time-outs. See queue.h. */
#include "target/queue.h"

#include <errno.h>
#include <string.h>

#include "target/ctrlr.h"
#include "target/log.h"

static void waiting_remove(struct tgt_queue *queue)
{
	struct tgt *tgt = queue->tgt;
	size_t i;

	for (i = 0; i < tgt->n_waiting; i++)
		if (tgt->waiting[i] == queue) {
			tgt->waiting[i] = tgt->waiting[--tgt->n_waiting];
			return;
		}
}

static size_t count_waiting(const struct tgt *tgt, const char *peer_addr)
{
	size_t n = 0, i;

	for (i = 0; i < tgt->n_waiting; i++)
		n += !strcmp(tgt->waiting[i]->peer_addr, peer_addr);
	return n;
}

int tgt_queue_init(struct tgt_queue *queue, struct tgt *tgt)
{
	if (tgt->n_waiting >= TGT_MAX_UNBOUND_QUEUES ||
	    count_waiting(tgt, queue->peer_addr) >= TGT_MAX_UNBOUND_OF_PEER)
		return -ENOSPC;
	queue->tgt = tgt;
	queue->deadline_ms = tgt->now_ms + TGT_CONNECT_TIMEOUT_MS;
	tgt->waiting[tgt->n_waiting++] = queue;
	return 0;
}

void tgt_queue_closing(struct tgt_queue *queue)
{
	struct tgt_req *parked = queue->parked;

	if (queue->is_closing)
		return;
	queue->is_closing = true;
	waiting_remove(queue);
	queue->parked = NULL;
	if (parked)
		queue->ops->drop(parked);
	if (queue->ctrlr && queue->qid == 0) {
		tgt_aer_drop(queue->ctrlr);
		tgt_ctrlr_kill(queue->ctrlr, false);
	}
}

/* A place of @ctrlr became free: who waits for it? */
static void retry_parked(struct tgt *tgt)
{
	size_t i = 0;

	while (i < tgt->n_waiting) {
		struct tgt_queue *queue = tgt->waiting[i];

		if (queue->parked)
			tgt_connect_retry(queue->parked);
		/* A Connect that succeeded, or ended its queue, took the queue off the array. */
		if (i < tgt->n_waiting && tgt->waiting[i] == queue)
			i++;
	}
}

void tgt_queue_gone(struct tgt_queue *queue)
{
	tgt_queue_closing(queue);
	if (queue->ctrlr) {
		tgt_ctrlr_detach(queue->ctrlr, queue);
		retry_parked(queue->tgt);
	}
}

tgt_status_t tgt_expect_data(const struct tgt_req *req, uint32_t bytes)
{
	return req->cmd.sgl.bytes == bytes ? TGT_SUCCESS : TGT_SC_DNR(GENERIC, SGL_INVALID_DATA);
}

void tgt_exec(struct tgt_req *req)
{
	struct tgt_queue *queue = req->queue;
	tgt_status_t status;

	req->result = 0;
	if (tgt_cmd_is_fabrics(&req->cmd))
		status = tgt_fabrics_exec(req);
	else if (!queue->ctrlr)
		status = TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR);
	else if (queue->qid == 0)
		status = tgt_admin_exec(req);
	else
		status = TGT_SC_DNR(GENERIC, INVALID_OPCODE);
	if (status != TGT_PENDING)
		tgt_complete(req, status);
}

/* SQHD counts responses modulo the queue's entries; a queue without Connect has none. */
static uint16_t next_sq_head(struct tgt_queue *queue)
{
	if (!queue->ctrlr || !queue->sq_entries)
		return 0;
	queue->sq_head = (uint16_t)((queue->sq_head + 1) % queue->sq_entries);
	return queue->no_sq_flow ? 0xffff : queue->sq_head;
}

void tgt_abandon(struct tgt_req *req)
{
	(void)next_sq_head(req->queue);
	req->queue->ops->drop(req);
}

static void record_error(const struct tgt_req *req, tgt_status_t status)
{
	const struct tgt_error_entry entry = {
		.sqid = req->queue->qid,
		.cid = req->cmd.cid,
		.status = status,
		.location = TGT_NO_LOCATION,
		.nsid = tgt_cmd_is_fabrics(&req->cmd) ? 0 : req->cmd.nsid,
	};

	tgt_error_record(req->queue->ctrlr, &entry);
}

void tgt_complete(struct tgt_req *req, tgt_status_t status)
{
	struct tgt_queue *queue = req->queue;
	uint8_t cqe[TGT_CQE_BYTES];

	if (queue->is_closing) {
		queue->ops->drop(req);
		return;
	}
	if (status && queue->ctrlr)
		record_error(req, status);
	tgt_cqe_fill(cqe, req->result, next_sq_head(queue), req->cmd.cid, status);
	queue->ops->respond(req, cqe, !status);
}

static void expire_waiting(struct tgt *tgt)
{
	size_t i = 0;

	while (i < tgt->n_waiting) {
		struct tgt_queue *queue = tgt->waiting[i];
		struct tgt_req *parked = queue->parked;

		if (tgt->now_ms < queue->deadline_ms) {
			i++;
			continue;
		}
		if (parked) {
			queue->parked = NULL;
			queue->deadline_ms = tgt->now_ms + TGT_CONNECT_TIMEOUT_MS;
			tgt_complete(parked, TGT_SC(CMD_SPECIFIC, CONNECT_CTRL_BUSY));
		} else {
			tgt_log_limited(tgt, TGT_LOG_REFUSED,
					"queue %u of %s: no Connect came, disconnecting",
					queue->qid, queue->peer_addr);
			queue->deadline_ms = UINT64_MAX;
			queue->ops->disconnect(queue);
		}
		if (i < tgt->n_waiting && tgt->waiting[i] == queue)
			i++;
	}
}

void tgt_tick(struct tgt *tgt)
{
	size_t i;

	expire_waiting(tgt);
	tgt_log_limit_tick(tgt);
	/* Backwards: a controller that dies at once is replaced by one that was looked at. */
	for (i = tgt->n_ctrlrs; i-- > 0;) {
		struct tgt_ctrlr *ctrlr = tgt->ctrlrs[i];

		if (ctrlr->is_dying || tgt->now_ms < ctrlr->alive_until_ms)
			continue;
		/* Traffic based keep-alive: a host whose admin commands starve behind its I/O. */
		if (tgt_ctrlr_was_active(ctrlr)) {
			tgt_keepalive_seen(ctrlr);
			continue;
		}
		tgt_log("controller %u of %s: nothing heard from its host for %llu ms, removing it",
			ctrlr->cntlid, ctrlr->subsys->nqn,
			(unsigned long long)(ctrlr->kato_ms ? ctrlr->kato_ms
							    : TGT_DISCOVERY_IDLE_MS));
		tgt_ctrlr_kill(ctrlr, true);
	}
}

uint64_t tgt_next_deadline(const struct tgt *tgt)
{
	uint64_t next = tgt_log_limit_deadline(tgt);
	size_t i;

	for (i = 0; i < tgt->n_waiting; i++)
		if (tgt->waiting[i]->deadline_ms < next)
			next = tgt->waiting[i]->deadline_ms;
	for (i = 0; i < tgt->n_ctrlrs; i++)
		if (!tgt->ctrlrs[i]->is_dying && tgt->ctrlrs[i]->alive_until_ms < next)
			next = tgt->ctrlrs[i]->alive_until_ms;
	return next;
}
