/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-producer single-consumer ring; the protocol is described in the header.
 */
#include "util/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RING_MAX_ENTRIES (UINT32_C(1) << 24)

int util_ring_init(struct util_ring *ring, uint32_t num_entries, uint32_t entry_bytes)
{
	uint32_t size = 1;

	if (num_entries == 0 || num_entries > RING_MAX_ENTRIES || entry_bytes == 0)
		return -EINVAL;
	while (size < num_entries)
		size *= 2;
	memset(ring, 0, sizeof(*ring));
	ring->entries = calloc(size, entry_bytes);
	if (!ring->entries)
		return -ENOMEM;
	ring->mask = size - 1;
	ring->entry_bytes = entry_bytes;
	return 0;
}

void util_ring_fini(struct util_ring *ring)
{
	free(ring->entries);
	ring->entries = NULL;
}

static void *ring_entry(const struct util_ring *ring, uint32_t index)
{
	return ring->entries + (size_t)(index & ring->mask) * ring->entry_bytes;
}

bool util_ring_push(struct util_ring *ring, const void *entry)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	if (tail - ring->head_seen > ring->mask) {
		ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
		if (tail - ring->head_seen > ring->mask)
			return false;
	}
	memcpy(ring_entry(ring, tail), entry, ring->entry_bytes);
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
	return true;
}

bool util_ring_pop(struct util_ring *ring, void *entry)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (head == ring->tail_seen) {
		ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (head == ring->tail_seen)
			return false;
	}
	memcpy(entry, ring_entry(ring, head), ring->entry_bytes);
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
	return true;
}

bool util_ring_is_empty(struct util_ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_relaxed) ==
	       atomic_load_explicit(&ring->tail, memory_order_acquire);
}
