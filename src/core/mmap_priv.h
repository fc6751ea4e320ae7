/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory map as its two files see it: mmap.c has its life and configuration, mmap_key.c its
 * memory regions and exports. Inside core only.
 */
#ifndef CORE_MMAP_PRIV_H
#define CORE_MMAP_PRIV_H

#include <doca_mmap.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ibv_mr;

/* One device of a map. Lock: mmap_key_lock (mmap_key.c) guards mr and export. */
struct core_mmap_dev {
	struct doca_dev *dev;
	struct ibv_mr *mr; /* made for the first key or export, until the map stops */
	uint8_t *export; /* the description that was given out, until the map stops */
};

/*
 * Owner: the application, one thread at a time; while it is started any thread may use it.
 * Shared: users.
 */
struct doca_mmap {
	void *addr;
	size_t len;
	int dmabuf_fd; /* ours; -1 for plain memory */
	size_t dmabuf_offset;
	bool has_range;
	bool is_range_fixed; /* set since the last stop: a second range is refused */
	bool is_started;
	bool was_started;
	bool is_from_export; /* counts as started: nothing can be set */
	uint32_t peer_rkey; /* of a map from an export */
	uint32_t access;
	uint32_t max_devs;
	uint32_t num_devs;
	struct core_mmap_dev *devs;
	atomic_uint users; /* doca_priv_mmap_get() without put */
	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	union doca_data user_data;
};

/* The map's device, or NULL. */
struct core_mmap_dev *core_mmap_find_dev(const struct doca_mmap *mmap, const struct doca_dev *dev);

/* mmap_key.c: give back regions and descriptions. False when a region cannot be given back. */
bool core_mmap_drop_keys(struct doca_mmap *mmap);

#endif /* CORE_MMAP_PRIV_H */
