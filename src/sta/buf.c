/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging memory. A region is an array of equal slots; beside each slot stands the list of its
 * pages' physical addresses, written once, so a transfer of any length up to the slot's size
 * needs no per-command work for its PRPs. A slot of a larger size serves when the fitting size is
 * used up and nobody waits for the larger one. docs/design/sta.md says how slots are shared.
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
	for (int i = 0; i < STA_SLOT_CLASSES; i++) {
		util_list_init(&pool->classes[i].ready);
		util_list_init(&pool->classes[i].blocked);
	}
}

static void give_back(struct sta_buf_class *c, struct sta_slot *slot)
{
	slot->user = NULL;
	slot->next = c->free;
	c->free = slot;
	c->num_free++;
}

static void block(struct sta_pool *pool, struct sta_buf_class *c, struct sta_buf_share *share)
{
	util_list_add_tail(&c->blocked, &share->node);
	share->is_blocked = true;
	pool->num_blocked++;
}

static void unblock(struct sta_pool *pool, struct sta_buf_class *c, struct sta_buf_share *share)
{
	util_list_del(&share->node);
	util_list_add_tail(&c->ready, &share->node);
	share->is_blocked = false;
	pool->num_blocked--;
}

/* Everybody's share of the size has grown, which happens rarely. */
static void unblock_all(struct sta_pool *pool, struct sta_buf_class *c)
{
	while (!util_list_is_empty(&c->blocked))
		unblock(pool, c, util_list_first(&c->blocked, struct sta_buf_share, node));
}

/*
 * @user has put a slot of size @class, which serves that size and smaller ones. Its own queues get
 * another look, and the one of each size that has been blocked longest. So a slot costs the same
 * however many are blocked, and nobody is forgotten: who is blocked holds slots, and is looked at
 * when it puts one.
 */
static void look_again(struct sta_pool *pool, struct sta_buf_user *user, int class)
{
	/* The page slots' users have these and no others. */
	int first = class == STA_SLOT_PAGE ? STA_SLOT_PAGE : STA_SLOT_SMALL;

	for (int i = first; i <= class; i++) {
		struct sta_buf_class *c = &pool->classes[i];

		if (user->shares[i].is_blocked)
			unblock(pool, c, &user->shares[i]);
		if (!util_list_is_empty(&c->blocked))
			unblock(pool, c, util_list_first(&c->blocked, struct sta_buf_share, node));
	}
}

void sta_pool_add(struct sta_pool *pool, struct sta_region *region)
{
	struct sta_buf_class *c = &pool->classes[region->class];

	c->num_slots += region->num_slots;
	for (uint32_t i = 0; i < region->num_slots; i++)
		give_back(c, &region->slots[i]);
	for (int i = 0; i <= (int)region->class; i++)
		unblock_all(pool, &pool->classes[i]);
}

void sta_pool_join(struct sta_pool *pool, struct sta_buf_user *user)
{
	*user = (struct sta_buf_user){.is_member = true};
	for (int i = 0; i < STA_SLOT_CLASSES; i++)
		user->shares[i].tail = &user->shares[i].head;
	pool->num_users++;
}

void sta_pool_forget(struct sta_pool *pool, struct sta_buf_user *user)
{
	for (int i = 0; i < STA_SLOT_CLASSES; i++) {
		struct sta_buf_share *share = &user->shares[i];

		if (!share->head)
			continue;
		util_list_del(&share->node);
		pool->num_blocked -= share->is_blocked;
		share->is_blocked = false;
		share->head = NULL;
		share->tail = &share->head;
	}
}

void sta_pool_leave(struct sta_pool *pool, struct sta_buf_user *user)
{
	if (!user->is_member)
		return;
	sta_pool_forget(pool, user);
	user->is_member = false;
	pool->num_users--;
	for (int i = 0; i < STA_SLOT_CLASSES; i++) {
		pool->classes[i].num_holders -= user->shares[i].num_held > 0;
		unblock_all(pool, &pool->classes[i]);
	}
}

/*
 * There is a free slot; may it go to @share? The first one always. More only of those that are not
 * kept for the members who have none, and the fewer of these are left the less: so there is
 * something left for who comes next, whoever does not give back what he has.
 */
static bool may_have(const struct sta_pool *pool, const struct sta_buf_class *c,
		     const struct sta_buf_share *share)
{
	uint32_t kept =
		util_min(pool->num_users - c->num_holders, c->num_slots / STA_KEPT_SLOTS_PART);

	return !share->num_held ||
	       (c->num_free > kept && share->num_held <= STA_SHARE_OF_FREE * (c->num_free - kept));
}

static struct sta_slot *take(struct sta_buf_class *c, struct sta_buf_user *user,
			     struct sta_buf_share *share)
{
	struct sta_slot *slot = c->free;

	c->free = slot->next;
	c->num_free--;
	slot->user = user;
	c->num_holders += !share->num_held++;
	return slot;
}

/*
 * A slot for the first of @user who wants one of size @fit, or NULL; is it because it holds too
 * much? A larger one is good, too, when nobody is waiting for those.
 */
static struct sta_slot *take_fitting(struct sta_pool *pool, struct sta_buf_user *user, int fit,
				     bool *is_too_much)
{
	/* The page slots' users have these and no others. */
	int last = fit == STA_SLOT_PAGE ? STA_SLOT_PAGE : STA_SLOT_CLASSES - 1;

	*is_too_much = false;
	for (int i = fit; i <= last; i++) {
		struct sta_buf_class *c = &pool->classes[i];

		if (!c->free || (i > fit && !util_list_is_empty(&c->ready)))
			continue;
		if (may_have(pool, c, &user->shares[i]))
			return take(c, user, &user->shares[i]);
		*is_too_much = true;
	}
	return NULL;
}

bool sta_pool_get(struct sta_pool *pool, struct sta_buf_user *user, uint32_t bytes,
		  bool is_reserved, struct sta_buf_wait *w)
{
	int fit = is_reserved ? STA_SLOT_PAGE : STA_SLOT_SMALL;
	struct sta_buf_share *share;
	struct sta_buf_class *c;
	bool is_first, is_too_much = false;

	assert(bytes <= STA_MAX_IO_BYTES && user->is_member);
	while (class_sizes[fit].slot_bytes < bytes)
		fit++;
	c = &pool->classes[fit];
	share = &user->shares[fit];
	is_first = !share->head;
	w->class = (enum sta_slot_class)fit;
	w->next = NULL;
	w->slot = NULL;
	if (is_first && util_list_is_empty(&c->ready))
		w->slot = take_fitting(pool, user, fit, &is_too_much);
	if (w->slot)
		return true;
	*share->tail = w;
	share->tail = &w->next;
	if (is_too_much)
		block(pool, c, share);
	else if (is_first)
		util_list_add_tail(&c->ready, &share->node);
	pool->waited++;
	return false;
}

void sta_pool_put(struct sta_pool *pool, struct sta_slot *slot)
{
	int class = slot->region->class;
	struct sta_buf_class *c = &pool->classes[class];
	struct sta_buf_user *user = slot->user;

	give_back(c, slot);
	if (!--user->shares[class].num_held && user->is_member)
		c->num_holders--;
	if (pool->num_blocked)
		look_again(pool, user, class);
}

/* The share's turn is over: the first who waits has his slot. */
static struct sta_buf_wait *pop(struct sta_buf_class *c, struct sta_buf_share *share)
{
	struct sta_buf_wait *w = share->head;

	share->head = w->next;
	util_list_del(&share->node);
	if (share->head)
		util_list_add_tail(&c->ready, &share->node);
	else
		share->tail = &share->head;
	return w;
}

static struct sta_buf_user *user_of(struct sta_buf_share *share, int class)
{
	return util_container_of(share - class, struct sta_buf_user, shares[0]);
}

static struct sta_buf_wait *grant(struct sta_pool *pool, int fit)
{
	struct sta_buf_class *c = &pool->classes[fit];
	struct sta_buf_share *share;
	struct sta_slot *slot;
	bool is_too_much;

	while (!util_list_is_empty(&c->ready)) {
		share = util_list_first(&c->ready, struct sta_buf_share, node);
		slot = take_fitting(pool, user_of(share, fit), fit, &is_too_much);
		if (slot) {
			share->head->slot = slot;
			return pop(c, share);
		}
		if (!is_too_much)
			return NULL;
		util_list_del(&share->node);
		block(pool, c, share);
	}
	return NULL;
}

struct sta_buf_wait *sta_pool_next_granted(struct sta_pool *pool)
{
	struct sta_buf_wait *w = NULL;

	/* The largest first: what they do not use is for the smaller ones. */
	for (int i = STA_SLOT_CLASSES - 1; i >= 0 && !w; i--)
		w = grant(pool, i);
	return w;
}
