/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that controllers read and write, of real drives and of soft ones alike: rings, PRP
 * lists, data. A controller's address of it is its virtual address, so nobody translates, and one
 * buffer is the same buffer for every drive.
 *
 * That needs addresses which an IOMMU of few bits can express (39 are common). The pool therefore
 * asks for addresses from 4 GiB up to 512 GiB, where a 64-bit process has nothing by itself; where
 * they are taken (a sanitizer's shadow), any will do until a drive's IOMMU says no.
 *
 * Without a mapper a page costs nothing until it is touched. A mapper (vfio/) pins what it maps.
 *
 * Threads: all functions from any thread; they share one lock. Not for the I/O path.
 */
#ifndef NV_POOL_H
#define NV_POOL_H

#include <stddef.h>

#include "nvme/mem.h"

struct nv_pool;

/* Makes memory reachable for drives. Both are called with the pool's lock held. */
struct nv_pool_mapper {
	/* 0 or -errno. A page-aligned range that is no part of one mapped already. */
	int (*map)(void *arg, void *addr, size_t bytes);

	/* A range exactly as it was mapped. No drive uses it any more. */
	void (*unmap)(void *arg, void *addr, size_t bytes);

	void *arg;
};

/* 0 or -ENOMEM. */
int nv_pool_create(struct nv_pool **ret);

/* NULL is fine. What is allocated still goes with it. No mapper may be set. */
void nv_pool_destroy(struct nv_pool *pool);

/* The memory seam over this pool. zmalloc aligns to a page at least, to 2 MiB at most. */
void nv_pool_allocator(struct nv_pool *pool, struct nv_mem *ret);

/*
 * Map what the pool has now and what it will have (@mapper, copied), or unmap everything (NULL).
 * One mapper at a time. On failure, which is the mapper's -errno, none is set and nothing mapped.
 */
int nv_pool_set_mapper(struct nv_pool *pool, const struct nv_pool_mapper *mapper);

struct nv_pool_stats {
	size_t bytes; /* address space held */
	size_t used_bytes; /* of which are given out, in whole pages */
	size_t huge_bytes; /* of `bytes`, in huge pages */
};

void nv_pool_get_stats(struct nv_pool *pool, struct nv_pool_stats *ret);

#endif
