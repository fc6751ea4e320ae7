/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded single-producer single-consumer ring of pointers or small structures, between two
 * threads.
 *
 *   tail: written by the producer with release after it filled the entry, read by the consumer
 *         with acquire before it reads the entry;
 *   head: written by the consumer with release after it copied the entry, read by the producer
 *         with acquire before it fills the entry again.
 *
 * Each side keeps a private copy of the other's index and reads the shared one only when the copy
 * says full or empty, so that the two cache lines travel once a batch and not once an entry.
 */
#ifndef UTIL_RING_H
#define UTIL_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/compiler.h"

struct util_ring {
	/* Constant after init. */
	uint32_t mask;
	uint32_t entry_bytes;
	unsigned char *entries;
	/* Owner: producer. */
	util_cache_aligned _Atomic uint32_t tail;
	uint32_t head_seen;
	/* Owner: consumer. */
	util_cache_aligned _Atomic uint32_t head;
	uint32_t tail_seen;
};

/*
 * Room for at least num_entries entries (rounded up to a power of two) of entry_bytes each.
 * 0, -EINVAL for sizes of 0 or above 2^24 entries, -ENOMEM.
 */
int util_ring_init(struct util_ring *ring, uint32_t num_entries, uint32_t entry_bytes);
void util_ring_fini(struct util_ring *ring);

/* Producer: copies the entry in; false when full. */
bool util_ring_push(struct util_ring *ring, const void *entry);

/* Consumer: copies the oldest entry out; false when empty. */
bool util_ring_pop(struct util_ring *ring, void *entry);

/* Consumer: is there nothing to pop? Producer: may only be told "empty" too late. */
bool util_ring_is_empty(struct util_ring *ring);

/* Capacity in entries. */
static inline uint32_t util_ring_size(const struct util_ring *ring)
{
	return ring->mask + 1;
}

#endif /* UTIL_RING_H */
