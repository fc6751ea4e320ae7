/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's half of an NVMe queue pair in plain memory: submission ring, completion ring with
 * phase tags, two doorbells, command identifiers. Knows nothing of what answers.
 *
 * Owner: one EU; no lock. The memory of rings and doorbells is the application's.
 */
#ifndef STA_NVQ_H
#define STA_NVQ_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "sta/limits.h"
#include "sta/sqe.h"

/*
 * A command identifier: which entry in the low bits, and above them how often the entry was used,
 * so that a completion that comes a second time is not taken for the entry's next command. FFFFh,
 * which NVMe reserves, is none, since there is no entry 3FFh.
 */
#define STA_NVQ_ENTRY_BITS 10
#define STA_NVQ_ENTRY_MASK ((1u << STA_NVQ_ENTRY_BITS) - 1)
static_assert(STA_MAX_BEQ_INFLIGHT <= STA_NVQ_ENTRY_MASK, "FFFFh is no identifier");

struct sta_nvq_entry {
	void *cookie; /* NULL: free */
	uint64_t since_ns; /* when it was submitted */
	bool is_late; /* timed out, and said so */
	uint8_t turn; /* upper bits of the identifier */
};

struct sta_nvq {
	struct sta_sqe *sq;
	struct sta_cqe *cq;
	volatile uint32_t *sq_doorbell;
	volatile uint32_t *cq_doorbell;
	uint32_t entries; /* power of two */
	uint32_t sq_tail;
	uint32_t sq_rung; /* tail that the controller knows */
	uint32_t cq_head;
	uint32_t cq_rung;
	uint16_t phase; /* of the next new completion */
	uint32_t depth; /* commands at a time: at most entries - 1 */
	uint32_t num_inflight;
	struct sta_nvq_entry *inflight;
	uint16_t *free_entries;
	uint64_t bad_cqes; /* completions for identifiers not in flight */
};

struct sta_nvq_mem {
	void *sq, *cq;
	volatile uint32_t *sq_doorbell, *cq_doorbell;
	uint32_t entries;
};

struct sta_nvq_cpl {
	void *cookie;
	uint32_t dw0, dw1;
	uint16_t status; /* with phase bit */
};

/* -EINVAL for a bad number of entries, -ENOMEM. The rings are taken as zeroed and fresh. */
int sta_nvq_init(struct sta_nvq *q, const struct sta_nvq_mem *mem);
void sta_nvq_fini(struct sta_nvq *q);

static inline bool sta_nvq_is_full(const struct sta_nvq *q)
{
	return q->num_inflight == q->depth;
}

/* Queues a copy of @sqe under an identifier of its own. The queue must not be full. */
void sta_nvq_push(struct sta_nvq *q, const struct sta_sqe *sqe, void *cookie, uint64_t now_ns);

/* Tells the controller about everything pushed; false when there was nothing new. */
bool sta_nvq_ring(struct sta_nvq *q);

/* Takes the next completion, if there is one. */
bool sta_nvq_poll(struct sta_nvq *q, struct sta_nvq_cpl *cpl);

/* Gives completion entries back; false when none was taken since. */
bool sta_nvq_ack(struct sta_nvq *q);

/*
 * The next command older than @limit_ns that was not reported as late, from entry @*entry up, or
 * NULL. Its identifier and buffers stay taken: the controller may still use them.
 */
void *sta_nvq_next_late(struct sta_nvq *q, uint64_t now_ns, uint64_t limit_ns, uint32_t *entry);

/* True when nothing in flight is still in time. */
bool sta_nvq_all_late(const struct sta_nvq *q);

/* The controller is gone: neither doorbell is stored to any more, nothing may be pushed. */
void sta_nvq_halt(struct sta_nvq *q);

/* Takes back any command in flight, for a queue whose controller is gone; NULL when none is. */
void *sta_nvq_reclaim(struct sta_nvq *q);

#endif
