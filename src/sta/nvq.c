/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe queue pair, host side (NVMe Base 2.0 section 3.3.1). All ordering between us and a
 * controller is in this file:
 *  - entries before doorbell: util_to_device() pairs with the controller's read of the entry after
 *    it has seen the doorbell;
 *  - phase before the rest of a completion: the acquire in sta_nvq_poll() pairs with the
 *    controller writing the phase last;
 *  - completion read before its entry is given back: util_to_device() again.
 */
#include "sta/nvq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/barrier.h"

#define TURN_MASK (0xffffu >> STA_NVQ_ENTRY_BITS)

int sta_nvq_init(struct sta_nvq *q, const struct sta_nvq_mem *mem)
{
	uint32_t entries = mem->entries;

	if (entries < STA_MIN_BEQ_ENTRIES || entries > STA_MAX_BEQ_ENTRIES ||
	    (entries & (entries - 1)))
		return -EINVAL;
	memset(q, 0, sizeof(*q));
	q->sq = mem->sq;
	q->cq = mem->cq;
	q->sq_doorbell = mem->sq_doorbell;
	q->cq_doorbell = mem->cq_doorbell;
	q->entries = entries;
	q->phase = 1;
	q->depth = entries - 1 < STA_MAX_BEQ_INFLIGHT ? entries - 1 : STA_MAX_BEQ_INFLIGHT;
	q->inflight = calloc(q->depth, sizeof(*q->inflight));
	q->free_entries = calloc(q->depth, sizeof(*q->free_entries));
	if (!q->inflight || !q->free_entries) {
		sta_nvq_fini(q);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < q->depth; i++)
		q->free_entries[i] = (uint16_t)i;
	return 0;
}

void sta_nvq_fini(struct sta_nvq *q)
{
	free(q->inflight);
	free(q->free_entries);
	q->inflight = NULL;
	q->free_entries = NULL;
}

/* free_entries[0 .. depth - num_inflight) are free. */
static void release(struct sta_nvq *q, uint16_t entry)
{
	struct sta_nvq_entry *e = &q->inflight[entry];

	e->cookie = NULL;
	e->turn = (e->turn + 1) & TURN_MASK;
	q->num_inflight--;
	q->free_entries[q->depth - q->num_inflight - 1] = entry;
}

static struct sta_nvq_entry *find(struct sta_nvq *q, uint16_t cid)
{
	struct sta_nvq_entry *e = &q->inflight[cid & STA_NVQ_ENTRY_MASK];

	if ((cid & STA_NVQ_ENTRY_MASK) >= q->depth || !e->cookie ||
	    e->turn != cid >> STA_NVQ_ENTRY_BITS)
		return NULL;
	return e;
}

void sta_nvq_push(struct sta_nvq *q, const struct sta_sqe *sqe, void *cookie, uint64_t now_ns)
{
	uint16_t entry = q->free_entries[q->depth - q->num_inflight - 1];
	struct sta_nvq_entry *e = &q->inflight[entry];
	struct sta_sqe *slot = &q->sq[q->sq_tail];

	q->num_inflight++;
	e->cookie = cookie;
	e->since_ns = now_ns;
	e->is_late = false;
	memcpy(slot, sqe, sizeof(*slot));
	slot->cid = htole16((uint16_t)(entry | e->turn << STA_NVQ_ENTRY_BITS));
	q->sq_tail = (q->sq_tail + 1) & (q->entries - 1);
}

bool sta_nvq_ring(struct sta_nvq *q)
{
	if (q->sq_rung == q->sq_tail)
		return false;
	util_to_device();
	*q->sq_doorbell = htole32(q->sq_tail);
	q->sq_rung = q->sq_tail;
	return true;
}

bool sta_nvq_poll(struct sta_nvq *q, struct sta_nvq_cpl *cpl)
{
	const struct sta_cqe *cqe;
	struct sta_nvq_entry *e;
	uint16_t status;

	for (;;) {
		cqe = &q->cq[q->cq_head];
		status = le16toh(__atomic_load_n(&cqe->status, __ATOMIC_ACQUIRE));
		if ((status & 1) != q->phase)
			return false;
		e = find(q, le16toh(cqe->cid));
		cpl->status = status;
		cpl->dw0 = le32toh(cqe->dw0);
		cpl->dw1 = le32toh(cqe->dw1);
		q->cq_head = (q->cq_head + 1) & (q->entries - 1);
		if (q->cq_head == 0)
			q->phase ^= 1;
		if (e)
			break;
		q->bad_cqes++;
	}
	cpl->cookie = e->cookie;
	release(q, (uint16_t)(e - q->inflight));
	return true;
}

bool sta_nvq_ack(struct sta_nvq *q)
{
	if (q->cq_rung == q->cq_head)
		return false;
	util_to_device();
	*q->cq_doorbell = htole32(q->cq_head);
	q->cq_rung = q->cq_head;
	return true;
}

void *sta_nvq_next_late(struct sta_nvq *q, uint64_t now_ns, uint64_t limit_ns, uint32_t *entry)
{
	for (; *entry < q->depth; ++*entry) {
		struct sta_nvq_entry *e = &q->inflight[*entry];

		if (!e->cookie || e->is_late || now_ns - e->since_ns < limit_ns)
			continue;
		e->is_late = true;
		return e->cookie;
	}
	return NULL;
}

bool sta_nvq_all_late(const struct sta_nvq *q)
{
	for (uint32_t i = 0; i < q->depth; i++) {
		if (q->inflight[i].cookie && !q->inflight[i].is_late)
			return false;
	}
	return true;
}

void sta_nvq_halt(struct sta_nvq *q)
{
	q->sq_rung = q->sq_tail;
	q->cq_rung = q->cq_head;
}

void *sta_nvq_reclaim(struct sta_nvq *q)
{
	void *cookie;

	for (uint32_t i = 0; q->num_inflight && i < q->depth; i++) {
		cookie = q->inflight[i].cookie;
		if (cookie) {
			release(q, (uint16_t)i);
			return cookie;
		}
	}
	return NULL;
}
