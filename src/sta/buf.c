/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging memory. A region is an array of equal slots; beside each slot stands the list of its
 * pages' physical addresses, written once, so a transfer of any length up to the slot's size
 * needs no per-command work for its PRPs. A slot of a larger size serves when the fitting size is
 * used up and nobody waits for the larger one; who waits for a size is served in order, from both.
 */
#include "sta/buf.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct {
	uint32_t slot_bytes;
	uint32_t list_bytes; /* power of two: an aligned list never crosses a page */
} class_sizes[STA_SLOT_CLASSES] = {
	[STA_SLOT_PAGE] = {STA_PAGE_BYTES, 8},
	[STA_SLOT_SMALL] = {16 * 1024, 32},
	[STA_SLOT_MEDIUM] = {128 * 1024, 256},
	[STA_SLOT_LARGE] = {STA_MAX_IO_BYTES, 2048},
};
static_assert(STA_MAX_IO_BYTES / STA_PAGE_BYTES * 8 <= 2048, "PRP list of the largest slot");

/* Pages straight from the kernel: zero, and taken only when touched. Their size stands in a page
 * before them. */
static void *default_zmalloc(size_t size, size_t align, uint64_t *phys_addr)
{
	size_t bytes = size + STA_PAGE_BYTES;
	uint8_t *p;

	if (align > STA_PAGE_BYTES)
		return NULL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	memcpy(p, &bytes, sizeof(bytes));
	p += STA_PAGE_BYTES;
	if (phys_addr)
		*phys_addr = (uintptr_t)p;
	return p;
}

static void default_free(void *buf)
{
	uint8_t *p = (uint8_t *)buf - STA_PAGE_BYTES;
	size_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	munmap(p, bytes);
}

static uint64_t default_vtophys(const void *buf, uint32_t size)
{
	(void)size;
	return (uintptr_t)buf;
}

const struct sta_mem_ops sta_mem_default = {
	.zmalloc = default_zmalloc,
	.free = default_free,
	.vtophys = default_vtophys,
};

uint32_t sta_slot_bytes(enum sta_slot_class class)
{
	return class_sizes[class].slot_bytes;
}

/* False when the allocator does not know one of the pages. */
static bool init_slot(struct sta_region *r, uint32_t i)
{
	const struct sta_mem_ops *ops = r->ops;
	uint32_t slot_bytes = class_sizes[r->class].slot_bytes;
	uint32_t list_bytes = class_sizes[r->class].list_bytes;
	uint32_t num_pages = slot_bytes / STA_PAGE_BYTES;
	struct sta_slot *slot = &r->slots[i];
	uint64_t phys;

	slot->region = r;
	slot->data = r->data + (size_t)i * slot_bytes;
	slot->prp_list = r->lists + (size_t)i * (list_bytes / 8);
	slot->phys = ops->vtophys(slot->data, STA_PAGE_BYTES);
	slot->prp_list_phys = ops->vtophys(slot->prp_list, list_bytes);
	if (slot->phys == DOCA_STA_VTOPHYS_ERROR || slot->prp_list_phys == DOCA_STA_VTOPHYS_ERROR)
		return false;
	for (uint32_t page = 1; page < num_pages; page++) {
		phys = ops->vtophys(slot->data + (size_t)page * STA_PAGE_BYTES, STA_PAGE_BYTES);
		if (phys == DOCA_STA_VTOPHYS_ERROR)
			return false;
		slot->prp_list[page - 1] = htole64(phys);
	}
	return true;
}

doca_error_t sta_region_create(const struct sta_mem_ops *ops, enum sta_slot_class class,
			       uint32_t num_slots, struct sta_region **region)
{
	struct sta_region *r;
	doca_error_t err = DOCA_ERROR_NO_MEMORY;
	uint64_t phys;

	r = calloc(1, sizeof(*r) + num_slots * sizeof(r->slots[0]));
	if (!r)
		return DOCA_ERROR_NO_MEMORY;
	r->ops = ops;
	r->class = class;
	r->num_slots = num_slots;
	r->bytes = (size_t)num_slots * class_sizes[class].slot_bytes;
	r->data = ops->zmalloc(r->bytes, STA_PAGE_BYTES, &phys);
	if (!r->data)
		goto err_free_region;
	r->lists = ops->zmalloc((size_t)num_slots * class_sizes[class].list_bytes, STA_PAGE_BYTES,
				&phys);
	if (!r->lists)
		goto err_free_data;
	for (uint32_t i = 0; i < num_slots; i++) {
		if (!init_slot(r, i)) {
			err = DOCA_ERROR_DRIVER;
			goto err_free_lists;
		}
	}
	*region = r;
	return DOCA_SUCCESS;

err_free_lists:
	ops->free(r->lists);
err_free_data:
	ops->free(r->data);
err_free_region:
	free(r);
	return err;
}

void sta_region_destroy(struct sta_region *region)
{
	if (!region)
		return;
	region->ops->free(region->lists);
	region->ops->free(region->data);
	free(region);
}

void sta_slot_prps(const struct sta_slot *slot, uint32_t bytes, uint64_t *prp1, uint64_t *prp2)
{
	*prp1 = slot->phys;
	if (bytes <= STA_PAGE_BYTES)
		*prp2 = 0;
	else if (bytes <= 2 * STA_PAGE_BYTES)
		*prp2 = le64toh(slot->prp_list[0]);
	else
		*prp2 = slot->prp_list_phys;
}

void sta_pool_init(struct sta_pool *pool)
{
	memset(pool, 0, sizeof(*pool));
	for (int i = 0; i < STA_SLOT_CLASSES; i++)
		pool->classes[i].tail = &pool->classes[i].head;
}

void sta_pool_add(struct sta_pool *pool, struct sta_region *region)
{
	pool->classes[region->class].num_slots += region->num_slots;
	for (uint32_t i = 0; i < region->num_slots; i++)
		sta_pool_put(pool, &region->slots[i]);
}

static struct sta_slot *take(struct sta_buf_class *c)
{
	struct sta_slot *slot = c->free;

	if (!slot)
		return NULL;
	c->free = slot->next;
	c->num_free--;
	return slot;
}

/* A slot for the first who wants one of size @fit, or NULL. */
static struct sta_slot *take_fitting(struct sta_pool *pool, int fit)
{
	struct sta_slot *slot = take(&pool->classes[fit]);

	/* The page slots' users have these and no others. */
	if (fit == STA_SLOT_PAGE)
		return slot;
	for (int i = fit + 1; !slot && i < STA_SLOT_CLASSES; i++) {
		if (!pool->classes[i].head)
			slot = take(&pool->classes[i]);
	}
	return slot;
}

bool sta_pool_get(struct sta_pool *pool, uint32_t bytes, bool is_reserved, struct sta_buf_wait *w)
{
	int fit = is_reserved ? STA_SLOT_PAGE : STA_SLOT_SMALL;
	struct sta_buf_class *c;

	assert(bytes <= STA_MAX_IO_BYTES);
	while (class_sizes[fit].slot_bytes < bytes)
		fit++;
	c = &pool->classes[fit];
	w->class = (enum sta_slot_class)fit;
	w->next = NULL;
	w->slot = c->head ? NULL : take_fitting(pool, fit);
	if (w->slot)
		return true;
	*c->tail = w;
	c->tail = &w->next;
	pool->waited++;
	return false;
}

void sta_pool_put(struct sta_pool *pool, struct sta_slot *slot)
{
	struct sta_buf_class *c = &pool->classes[slot->region->class];

	slot->next = c->free;
	c->free = slot;
	c->num_free++;
}

struct sta_buf_wait *sta_pool_next_granted(struct sta_pool *pool)
{
	for (int i = 0; i < STA_SLOT_CLASSES; i++) {
		struct sta_buf_class *c = &pool->classes[i];
		struct sta_buf_wait *w = c->head;

		if (!w)
			continue;
		w->slot = take_fitting(pool, i);
		if (!w->slot)
			continue;
		c->head = w->next;
		if (!c->head)
			c->tail = &c->head;
		return w;
	}
	return NULL;
}

void sta_pool_cancel(struct sta_pool *pool, struct sta_buf_wait *w)
{
	struct sta_buf_class *c = &pool->classes[w->class];

	for (struct sta_buf_wait **p = &c->head; *p; p = &(*p)->next) {
		if (*p != w)
			continue;
		*p = w->next;
		if (!*p)
			c->tail = p;
		return;
	}
}
