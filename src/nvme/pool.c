/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: chunks of whole 2 MiB units, sorted by address. Up to a unit's size allocations share
 * chunks of one unit, page by page; a larger one has a chunk to itself. A chunk without
 * allocations is given back to the system.
 *
 * Lock: `lock` guards everything.
 */
#include "nvme/pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "nvme/limits.h"
#include "nvme/spec.h"
#include "util/compiler.h"

#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << 26) /* log2 of the size, mmap(2) */
#endif

#define UNIT_BYTES ((size_t)2 << 20)
#define UNIT_PAGES (UNIT_BYTES / NV_PAGE_SIZE)
/* Behind what the kernel gives by itself, before what 39 bits can express. */
#define WINDOW_START ((uintptr_t)4 << 30)
#define WINDOW_END   ((uintptr_t)512 << 30)
#define WINDOW_TRIES 4096 /* units that somebody else has, until any address will do */

struct chunk {
	struct chunk *next;
	uint8_t *addr;
	size_t bytes;
	bool is_huge;
	bool is_mapped;
	size_t used_pages;
	/* Pages of the allocation that starts here, 0: none does. Of the first page only if the
	 * chunk is larger than a unit. */
	uint32_t run[UNIT_PAGES];
};

struct nv_pool {
	pthread_mutex_t lock;
	struct chunk *chunks; /* by address */
	bool has_mapper;
	struct nv_pool_mapper mapper;
};

int nv_pool_create(struct nv_pool **ret)
{
	struct nv_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return -ENOMEM;
	pthread_mutex_init(&pool->lock, NULL);
	*ret = pool;
	return 0;
}

/* ---- chunks ------------------------------------------------------------------------------- */

/* @addr NULL: anywhere. Huge pages belong to whoever set them aside: taken for drives alone. */
static void *map_at(const struct nv_pool *pool, void *addr, size_t bytes, bool *is_huge)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (addr ? MAP_FIXED_NOREPLACE : 0);
	void *got = MAP_FAILED;

	if (pool->has_mapper)
		got = mmap(addr, bytes, PROT_READ | PROT_WRITE, flags | MAP_HUGETLB | MAP_HUGE_2MB,
			   -1, 0);
	*is_huge = got != MAP_FAILED;
	if (got == MAP_FAILED)
		got = mmap(addr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (got != MAP_FAILED && addr && got != addr) { /* a kernel older than the flag */
		munmap(got, bytes);
		errno = EEXIST;
		got = MAP_FAILED;
	}
	return got == MAP_FAILED ? NULL : got;
}

/* Anywhere, aligned to a unit. */
static void *map_anywhere(size_t bytes)
{
	uint8_t *got = mmap(NULL, bytes + UNIT_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t head;

	if (got == MAP_FAILED)
		return NULL;
	head = (UNIT_BYTES - (uintptr_t)got % UNIT_BYTES) % UNIT_BYTES;
	if (head)
		munmap(got, head);
	munmap(got + head + bytes, UNIT_BYTES - head);
	return got + head;
}

/* In the first gap of the window that is large enough. */
static void *map_in_window(struct nv_pool *pool, size_t bytes, bool *is_huge)
{
	const struct chunk *c = pool->chunks;
	uintptr_t at = WINDOW_START;
	unsigned int tries = 0;
	void *got;

	while (tries < WINDOW_TRIES && bytes <= WINDOW_END - at) {
		while (c && (uintptr_t)c->addr + c->bytes <= at)
			c = c->next;
		if (c && (uintptr_t)c->addr < at + bytes) {
			at = (uintptr_t)c->addr + c->bytes;
			continue;
		}
		got = map_at(pool, (void *)at, bytes, is_huge);
		if (got)
			return got;
		if (errno != EEXIST)
			return NULL;
		at += UNIT_BYTES;
		tries++;
	}
	return NULL;
}

static int chunk_map(struct nv_pool *pool, struct chunk *chunk)
{
	int rc;

	if (!pool->has_mapper || chunk->is_mapped)
		return 0;
	rc = pool->mapper.map(pool->mapper.arg, chunk->addr, chunk->bytes);
	chunk->is_mapped = !rc;
	return rc;
}

static void chunk_unmap(struct nv_pool *pool, struct chunk *chunk)
{
	if (chunk->is_mapped)
		pool->mapper.unmap(pool->mapper.arg, chunk->addr, chunk->bytes);
	chunk->is_mapped = false;
}

static struct chunk *chunk_create(struct nv_pool *pool, size_t bytes)
{
	struct chunk **link = &pool->chunks;
	struct chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->bytes = bytes;
	chunk->addr = map_in_window(pool, bytes, &chunk->is_huge);
	if (!chunk->addr)
		chunk->addr = map_anywhere(bytes);
	if (!chunk->addr)
		goto free_chunk;
	if (chunk_map(pool, chunk))
		goto unmap_chunk;
	while (*link && (*link)->addr < chunk->addr)
		link = &(*link)->next;
	chunk->next = *link;
	*link = chunk;
	return chunk;

unmap_chunk:
	munmap(chunk->addr, bytes);
free_chunk:
	free(chunk);
	return NULL;
}

static void chunk_destroy(struct nv_pool *pool, struct chunk *chunk)
{
	struct chunk **link = &pool->chunks;

	while (*link != chunk)
		link = &(*link)->next;
	*link = chunk->next;
	chunk_unmap(pool, chunk);
	munmap(chunk->addr, chunk->bytes);
	free(chunk);
}

static struct chunk *chunk_of(const struct nv_pool *pool, const void *ptr)
{
	for (struct chunk *c = pool->chunks; c; c = c->next)
		if ((const uint8_t *)ptr >= c->addr && (const uint8_t *)ptr < c->addr + c->bytes)
			return c;
	return NULL;
}

/* ---- allocations -------------------------------------------------------------------------- */

/* First run of @pages free pages at a multiple of @align_pages. */
static void *chunk_take(struct chunk *chunk, size_t pages, size_t align_pages)
{
	size_t start = 0, page = 0;

	while (start + pages <= UNIT_PAGES) {
		if (page == start + pages) {
			chunk->run[start] = (uint32_t)pages;
			chunk->used_pages += pages;
			return chunk->addr + start * NV_PAGE_SIZE;
		}
		if (chunk->run[page]) {
			page += chunk->run[page];
			/* The pages up to there are looked at all the same: a run may start there.
			 */
			start = (page + align_pages - 1) / align_pages * align_pages;
		} else {
			page++;
		}
	}
	return NULL;
}

static void *take_shared(struct nv_pool *pool, size_t pages, size_t align_pages, bool *is_fresh)
{
	struct chunk *chunk;
	void *ptr;

	*is_fresh = false;
	for (chunk = pool->chunks; chunk; chunk = chunk->next) {
		ptr = chunk->bytes == UNIT_BYTES ? chunk_take(chunk, pages, align_pages) : NULL;
		if (ptr)
			return ptr;
	}
	*is_fresh = true;
	chunk = chunk_create(pool, UNIT_BYTES);
	return chunk ? chunk_take(chunk, pages, align_pages) : NULL;
}

static void *take_own(struct nv_pool *pool, size_t size, size_t pages, bool *is_fresh)
{
	size_t bytes = (size + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
	struct chunk *chunk = chunk_create(pool, bytes);

	*is_fresh = true;
	if (!chunk)
		return NULL;
	chunk->run[0] = (uint32_t)pages;
	chunk->used_pages = pages;
	return chunk->addr;
}

static void *pool_zmalloc(void *arg, size_t size, size_t align, uint64_t *phys)
{
	struct nv_pool *pool = arg;
	size_t pages = size / NV_PAGE_SIZE + !!(size % NV_PAGE_SIZE);
	bool is_fresh;
	void *ptr;

	if (!size || size > NV_POOL_MAX_ALLOC_BYTES || align > UNIT_BYTES)
		return NULL;
	align = util_max(align, (size_t)NV_PAGE_SIZE);
	pthread_mutex_lock(&pool->lock);
	if (size >= UNIT_BYTES)
		ptr = take_own(pool, size, pages, &is_fresh);
	else
		ptr = take_shared(pool, pages, align / NV_PAGE_SIZE, &is_fresh);
	pthread_mutex_unlock(&pool->lock);
	if (!ptr)
		return NULL;
	if (!is_fresh)
		memset(ptr, 0, size);
	if (phys)
		*phys = (uintptr_t)ptr;
	return ptr;
}

static void pool_free(void *arg, void *ptr)
{
	struct nv_pool *pool = arg;
	struct chunk *chunk;
	size_t page;

	if (!ptr)
		return;
	pthread_mutex_lock(&pool->lock);
	chunk = chunk_of(pool, ptr);
	assert(chunk);
	page = (size_t)((uint8_t *)ptr - chunk->addr) / NV_PAGE_SIZE;
	assert(page < UNIT_PAGES && chunk->run[page]);
	chunk->used_pages -= chunk->run[page];
	chunk->run[page] = 0;
	if (!chunk->used_pages)
		chunk_destroy(pool, chunk);
	pthread_mutex_unlock(&pool->lock);
}

static int pool_vtophys(void *arg, const void *ptr, size_t len, uint64_t *ret_phys)
{
	struct nv_pool *pool = arg;
	const struct chunk *chunk;
	bool is_inside;

	pthread_mutex_lock(&pool->lock);
	chunk = chunk_of(pool, ptr);
	is_inside = chunk && len <= (size_t)(chunk->addr + chunk->bytes - (const uint8_t *)ptr);
	pthread_mutex_unlock(&pool->lock);
	if (!is_inside)
		return -EFAULT;
	*ret_phys = (uintptr_t)ptr;
	return 0;
}

void nv_pool_allocator(struct nv_pool *pool, struct nv_mem *ret)
{
	static const struct nv_mem_ops ops = {
		.zmalloc = pool_zmalloc,
		.free = pool_free,
		.vtophys = pool_vtophys,
	};

	ret->ops = &ops;
	ret->arg = pool;
}

/* ---- mapper and statistics ---------------------------------------------------------------- */

static void unmap_all(struct nv_pool *pool)
{
	for (struct chunk *c = pool->chunks; c; c = c->next)
		chunk_unmap(pool, c);
	pool->has_mapper = false;
}

int nv_pool_set_mapper(struct nv_pool *pool, const struct nv_pool_mapper *mapper)
{
	int rc = 0;

	pthread_mutex_lock(&pool->lock);
	if (mapper) {
		assert(!pool->has_mapper);
		pool->mapper = *mapper;
		pool->has_mapper = true;
	}
	for (struct chunk *c = pool->chunks; c && mapper && !rc; c = c->next)
		rc = chunk_map(pool, c);
	if (!mapper || rc)
		unmap_all(pool);
	pthread_mutex_unlock(&pool->lock);
	return rc;
}

void nv_pool_get_stats(struct nv_pool *pool, struct nv_pool_stats *ret)
{
	memset(ret, 0, sizeof(*ret));
	pthread_mutex_lock(&pool->lock);
	for (const struct chunk *c = pool->chunks; c; c = c->next) {
		ret->bytes += c->bytes;
		ret->used_bytes += c->used_pages * NV_PAGE_SIZE;
		ret->huge_bytes += c->is_huge ? c->bytes : 0;
	}
	pthread_mutex_unlock(&pool->lock);
}

void nv_pool_destroy(struct nv_pool *pool)
{
	if (!pool)
		return;
	assert(!pool->has_mapper);
	while (pool->chunks)
		chunk_destroy(pool, pool->chunks);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}
