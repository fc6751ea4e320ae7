/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that soft controllers may touch: a table of address ranges that queue threads read
 * while anybody adds and removes ranges, and the allocator that fills it.
 *
 * Shared: a slot's end is 0 while it is empty; it is written last when a range is added and first
 * when one is removed, so a reader that sees an end sees its start. Lock: `lock` orders writers.
 */
#include "nvme/soft/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct region {
	uint64_t start;
	uint64_t end;
};

struct nv_soft_mem {
	bool trust_all;
	pthread_mutex_t lock;
	unsigned int used; /* slots at and above were never filled */
	struct region regions[NV_SOFT_MAX_REGIONS];
};

int nv_soft_mem_create(const struct nv_soft_mem_conf *conf, struct nv_soft_mem **ret)
{
	struct nv_soft_mem *mem = calloc(1, sizeof(*mem));

	if (!mem)
		return -ENOMEM;
	mem->trust_all = conf && conf->trust_all;
	pthread_mutex_init(&mem->lock, NULL);
	*ret = mem;
	return 0;
}

void nv_soft_mem_destroy(struct nv_soft_mem *mem)
{
	if (!mem)
		return;
	pthread_mutex_destroy(&mem->lock);
	free(mem);
}

static struct region *find_by_start(struct nv_soft_mem *mem, uint64_t start)
{
	for (unsigned int i = 0; i < mem->used; i++)
		if (mem->regions[i].end && mem->regions[i].start == start)
			return &mem->regions[i];
	return NULL;
}

static struct region *find_empty(struct nv_soft_mem *mem)
{
	for (unsigned int i = 0; i < NV_SOFT_MAX_REGIONS; i++)
		if (!mem->regions[i].end)
			return &mem->regions[i];
	return NULL;
}

int nv_soft_mem_register(struct nv_soft_mem *mem, const void *addr, size_t bytes)
{
	uint64_t start = (uintptr_t)addr;
	struct region *region;
	unsigned int index;

	if (!addr || !bytes || start + bytes < start)
		return -EINVAL;
	pthread_mutex_lock(&mem->lock);
	region = find_empty(mem);
	if (region) {
		index = (unsigned int)(region - mem->regions);
		__atomic_store_n(&region->start, start, __ATOMIC_RELAXED);
		__atomic_store_n(&region->end, start + bytes, __ATOMIC_RELEASE);
		if (index >= mem->used)
			__atomic_store_n(&mem->used, index + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&mem->lock);
	return region ? 0 : -ENOSPC;
}

int nv_soft_mem_unregister(struct nv_soft_mem *mem, const void *addr)
{
	struct region *region;

	pthread_mutex_lock(&mem->lock);
	region = find_by_start(mem, (uintptr_t)addr);
	if (region)
		__atomic_store_n(&region->end, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&mem->lock);
	return region ? 0 : -ENOENT;
}

/* End of the range that holds @addr, or 0. */
static uint64_t end_of_region(struct nv_soft_mem *mem, unsigned int index, uint64_t addr)
{
	const struct region *region = &mem->regions[index];
	uint64_t end = __atomic_load_n(&region->end, __ATOMIC_ACQUIRE);
	uint64_t start = __atomic_load_n(&region->start, __ATOMIC_RELAXED);

	return addr >= start && addr < end ? end : 0;
}

static uint64_t find_end(struct nv_soft_mem *mem, uint64_t addr, unsigned int *hint)
{
	unsigned int used = __atomic_load_n(&mem->used, __ATOMIC_ACQUIRE);
	uint64_t end = *hint < used ? end_of_region(mem, *hint, addr) : 0;

	for (unsigned int i = 0; i < used && !end; i++) {
		end = end_of_region(mem, i, addr);
		if (end)
			*hint = i;
	}
	return end;
}

bool nv_soft_mem_check(struct nv_soft_mem *mem, uint64_t addr, uint64_t len, unsigned int *hint)
{
	uint64_t last = addr + len;

	if (!addr || last < addr)
		return false;
	if (mem->trust_all)
		return true;
	/* Ranges may touch each other without being one. */
	while (addr < last) {
		addr = find_end(mem, addr, hint);
		if (!addr)
			return false;
	}
	return true;
}

/* ---- allocator ---------------------------------------------------------------------------- */

static void *mem_zmalloc(void *arg, size_t size, size_t align, uint64_t *phys)
{
	struct nv_soft_mem *mem = arg;
	void *ptr;

	if (align < 64)
		align = 64; /* a cache line, and enough for posix_memalign() */
	if (!size || posix_memalign(&ptr, align, size))
		return NULL;
	memset(ptr, 0, size);
	if (nv_soft_mem_register(mem, ptr, size)) {
		free(ptr);
		return NULL;
	}
	if (phys)
		*phys = (uintptr_t)ptr;
	return ptr;
}

static void mem_free(void *arg, void *ptr)
{
	if (!ptr)
		return;
	(void)nv_soft_mem_unregister(arg, ptr);
	free(ptr);
}

static int mem_vtophys(void *arg, const void *ptr, size_t len, uint64_t *ret_phys)
{
	unsigned int hint = 0;

	if (!nv_soft_mem_check(arg, (uintptr_t)ptr, len, &hint))
		return -EFAULT;
	*ret_phys = (uintptr_t)ptr;
	return 0;
}

void nv_soft_mem_allocator(struct nv_soft_mem *mem, struct nv_mem *ret)
{
	static const struct nv_mem_ops ops = {
		.zmalloc = mem_zmalloc,
		.free = mem_free,
		.vtophys = mem_vtophys,
	};

	ret->ops = &ops;
	ret->arg = mem;
}
