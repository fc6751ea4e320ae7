/* SPDX-License-Identifier: Apache-2.0 */
/* Staging memory: slots and their PRP lists, who gets one and who waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sta/buf.h"
#include "util/byteorder.h"

/* An allocator whose pages lie anywhere: physical = virtual ^ MANGLE, a page at a time. */
#define MANGLE 0x5a5a000000000000ull

static unsigned int allocs_until_failure;
static unsigned int pages_until_failure;
static int num_live;

static void *mangled_zmalloc(size_t size, size_t align, uint64_t *phys)
{
	void *p;

	if (allocs_until_failure && --allocs_until_failure == 0)
		return NULL;
	p = sta_mem_default.zmalloc(size, align, phys);
	num_live += p != NULL;
	return p;
}

static void mangled_free(void *p)
{
	num_live--;
	sta_mem_default.free(p);
}

static uint64_t mangled_vtophys(const void *p, uint32_t size)
{
	/* What is asked for lies in one page. */
	assert_true(((uintptr_t)p & (STA_PAGE_BYTES - 1)) + size <= STA_PAGE_BYTES);
	if (pages_until_failure && --pages_until_failure == 0)
		return DOCA_STA_VTOPHYS_ERROR;
	return (uintptr_t)p ^ MANGLE;
}

static const struct sta_mem_ops mangled = {mangled_zmalloc, mangled_free, mangled_vtophys};

static struct sta_region *make(struct sta_pool *pool, enum sta_slot_class class, uint32_t num)
{
	struct sta_region *r;

	assert_int_equal(sta_region_create(&mangled, class, num, &r), DOCA_SUCCESS);
	if (pool)
		sta_pool_add(pool, r);
	return r;
}

/* Follows the PRPs of @bytes as a controller does and compares with the slot's memory. */
static void check_prps(const struct sta_slot *slot, uint32_t bytes)
{
	uint32_t pages = (bytes + STA_PAGE_BYTES - 1) / STA_PAGE_BYTES;
	uint64_t prp1, prp2;
	const uint8_t *list;

	sta_slot_prps(slot, bytes, &prp1, &prp2);
	assert_true(prp1 == ((uintptr_t)slot->data ^ MANGLE));
	if (pages == 1) {
		assert_true(prp2 == 0);
	} else if (pages == 2) {
		assert_true(prp2 == ((uintptr_t)(slot->data + STA_PAGE_BYTES) ^ MANGLE));
	} else {
		list = (const uint8_t *)(uintptr_t)(prp2 ^ MANGLE);
		/* One list, in one page: no chaining. */
		assert_true((prp2 & (STA_PAGE_BYTES - 1)) + 8 * (pages - 1) <= STA_PAGE_BYTES);
		for (uint32_t i = 1; i < pages; i++) {
			uintptr_t page = (uintptr_t)slot->data + (size_t)i * STA_PAGE_BYTES;

			assert_true(util_get_le64(list + 8 * (size_t)(i - 1)) == (page ^ MANGLE));
		}
	}
}

static void test_prps_of_every_size(void **state)
{
	(void)state;
	for (int class = 0; class < STA_SLOT_CLASSES; class ++) {
		struct sta_region *r = make(NULL, (enum sta_slot_class) class, 3);
		uint32_t bytes = sta_slot_bytes((enum sta_slot_class) class);

		for (uint32_t i = 0; i < r->num_slots; i++) {
			assert_int_equal((uintptr_t)r->slots[i].data & (STA_PAGE_BYTES - 1), 0);
			for (uint32_t n = STA_MIN_BLOCK_BYTES; n <= bytes; n += n / 2 + 512)
				check_prps(&r->slots[i], n);
			check_prps(&r->slots[i], bytes);
		}
		sta_region_destroy(r);
	}
	assert_int_equal(num_live, 0);
}

static void test_failing_allocator(void **state)
{
	struct sta_region *r = NULL;

	(void)state;
	for (unsigned int n = 1; n <= 2; n++) {
		allocs_until_failure = n;
		assert_int_equal(sta_region_create(&mangled, STA_SLOT_SMALL, 2, &r),
				 DOCA_ERROR_NO_MEMORY);
		assert_int_equal(num_live, 0);
	}
	/* two slots of four pages with a list each */
	for (unsigned int n = 1; n <= 10; n++) {
		pages_until_failure = n;
		assert_int_equal(sta_region_create(&mangled, STA_SLOT_SMALL, 2, &r),
				 DOCA_ERROR_DRIVER);
		assert_int_equal(num_live, 0);
	}
	assert_null(r);
	allocs_until_failure = 0;
	pages_until_failure = 0;
}

static void test_default_allocator(void **state)
{
	uint64_t phys = 0;
	uint8_t *p = sta_mem_default.zmalloc(3 * STA_PAGE_BYTES + 1, STA_PAGE_BYTES, &phys);

	(void)state;
	assert_non_null(p);
	assert_int_equal((uintptr_t)p & (STA_PAGE_BYTES - 1), 0);
	assert_true(phys == (uintptr_t)p);
	for (size_t i = 0; i <= 3 * STA_PAGE_BYTES; i++)
		assert_int_equal(p[i], 0);
	sta_mem_default.free(p);
	p = sta_mem_default.zmalloc(1, 0, NULL);
	assert_non_null(p);
	sta_mem_default.free(p);
	assert_null(sta_mem_default.zmalloc(1, 2 * STA_PAGE_BYTES, &phys));
}

static void test_fitting_size_first(void **state)
{
	struct sta_buf_user user;
	struct sta_pool pool;
	struct sta_region *small, *large;
	struct sta_buf_wait w[2];

	(void)state;
	sta_pool_init(&pool);
	sta_pool_join(&pool, &user);
	small = make(&pool, STA_SLOT_SMALL, 1);
	large = make(&pool, STA_SLOT_LARGE, 1);
	assert_true(sta_pool_get(&pool, &user, 512, false, &w[0]));
	assert_ptr_equal(w[0].slot->region, small);
	assert_true(sta_pool_get(&pool, &user, 512, false, &w[1]));
	assert_ptr_equal(w[1].slot->region, large);
	sta_pool_put(&pool, w[0].slot);
	sta_pool_put(&pool, w[1].slot);
	assert_true(sta_pool_get(&pool, &user, STA_MAX_IO_BYTES, false, &w[0]));
	assert_ptr_equal(w[0].slot->region, large);
	sta_region_destroy(small);
	sta_region_destroy(large);
}

static void test_reserve(void **state)
{
	struct sta_buf_user user;
	struct sta_pool pool;
	struct sta_region *page, *small;
	struct sta_buf_wait w[4];

	(void)state;
	sta_pool_init(&pool);
	sta_pool_join(&pool, &user);
	page = make(&pool, STA_SLOT_PAGE, 1);
	small = make(&pool, STA_SLOT_SMALL, 1);
	/* I/O cannot take the reserve, */
	assert_true(sta_pool_get(&pool, &user, 512, false, &w[0]));
	assert_false(sta_pool_get(&pool, &user, 512, false, &w[1]));
	/* and who has the reserve takes nothing from I/O. */
	assert_true(sta_pool_get(&pool, &user, STA_PAGE_BYTES, true, &w[2]));
	assert_ptr_equal(w[2].slot->region, page);
	assert_false(sta_pool_get(&pool, &user, 1, true, &w[3]));
	sta_pool_put(&pool, w[0].slot);
	assert_ptr_equal(sta_pool_next_granted(&pool), &w[1]);
	assert_null(sta_pool_next_granted(&pool));
	sta_pool_put(&pool, w[2].slot);
	assert_ptr_equal(sta_pool_next_granted(&pool), &w[3]);
	assert_ptr_equal(w[3].slot->region, page);
	assert_int_equal(pool.waited, 2);
	sta_region_destroy(page);
	sta_region_destroy(small);
}

/* One slot, wanted by three users three times each: they take turns, each in its own order. */
static void test_turns(void **state)
{
	struct sta_buf_user users[3], holder;
	struct sta_buf_wait first, w[3][3];
	struct sta_pool pool;
	struct sta_region *r;
	struct sta_slot *slot;

	(void)state;
	sta_pool_init(&pool);
	r = make(&pool, STA_SLOT_SMALL, 1);
	sta_pool_join(&pool, &holder);
	assert_true(sta_pool_get(&pool, &holder, 1, false, &first));
	for (int u = 0; u < 3; u++) {
		sta_pool_join(&pool, &users[u]);
		for (int i = 0; i < 3; i++)
			assert_false(sta_pool_get(&pool, &users[u], 1, false, &w[u][i]));
	}
	slot = first.slot;
	for (int i = 0; i < 3; i++) {
		for (int u = 0; u < 3; u++) {
			sta_pool_put(&pool, slot);
			assert_ptr_equal(sta_pool_next_granted(&pool), &w[u][i]);
			assert_null(sta_pool_next_granted(&pool));
			slot = w[u][i].slot;
		}
	}
	sta_pool_put(&pool, slot);
	assert_null(sta_pool_next_granted(&pool));
	assert_int_equal(pool.waited, 9);
	sta_region_destroy(r);
}

static void test_who_leaves_waits_no_more(void **state)
{
	struct sta_buf_user a, b;
	struct sta_buf_wait first, wa[2], wb;
	struct sta_pool pool;
	struct sta_region *r;

	(void)state;
	sta_pool_init(&pool);
	r = make(&pool, STA_SLOT_SMALL, 1);
	sta_pool_join(&pool, &a);
	sta_pool_join(&pool, &b);
	assert_true(sta_pool_get(&pool, &a, 1, false, &first));
	assert_false(sta_pool_get(&pool, &a, 1, false, &wa[0]));
	assert_false(sta_pool_get(&pool, &a, 1, false, &wa[1]));
	assert_false(sta_pool_get(&pool, &b, 1, false, &wb));
	sta_pool_leave(&pool, &a);
	sta_pool_leave(&pool, &a); /* twice is once */
	assert_int_equal(pool.num_users, 1);
	assert_int_equal(pool.classes[STA_SLOT_SMALL].num_holders, 0);
	sta_pool_put(&pool, first.slot);
	assert_int_equal(a.shares[STA_SLOT_SMALL].num_held, 0);
	assert_int_equal(pool.classes[STA_SLOT_SMALL].num_holders, 0);
	assert_ptr_equal(sta_pool_next_granted(&pool), &wb);
	assert_int_equal(pool.classes[STA_SLOT_SMALL].num_holders, 1);
	sta_region_destroy(r);
}

/* As many as it may have, all of one size; returns how many. */
static unsigned int take_all(struct sta_pool *pool, struct sta_buf_user *user,
			     struct sta_buf_wait *w)
{
	unsigned int n = 0;

	while (sta_pool_get(pool, user, 1, false, &w[n]))
		n++;
	return n;
}

enum {
	SLOTS = 64,
	USERS = 8,
};

static void test_alone_it_has_most(void **state)
{
	struct sta_buf_user user;
	struct sta_buf_wait w[SLOTS + 1];
	struct sta_pool pool;
	struct sta_region *r;

	(void)state;
	sta_pool_init(&pool);
	r = make(&pool, STA_SLOT_SMALL, SLOTS);
	sta_pool_join(&pool, &user);
	assert_in_range(take_all(&pool, &user, w), SLOTS * 3 / 4, SLOTS);
	sta_region_destroy(r);
}

/* However many take what they can get and give nothing back, who comes next finds something. */
static void test_something_is_left_for_each(void **state)
{
	struct sta_buf_wait w[USERS][SLOTS + 1];
	struct sta_buf_user users[USERS];
	unsigned int taken, before = SLOTS, num_granted[USERS] = {0};
	struct sta_pool pool;
	struct sta_region *r;

	(void)state;
	sta_pool_init(&pool);
	r = make(&pool, STA_SLOT_SMALL, SLOTS);
	for (int u = 0; u < USERS; u++)
		sta_pool_join(&pool, &users[u]);
	for (int u = 0; u < USERS; u++) {
		taken = take_all(&pool, &users[u], w[u]);
		assert_in_range(taken, 1, before);
		before = taken;
	}
	/* Half of them go: what they had is shared by the others, who are looked at again. */
	for (int u = 0; u < USERS / 2; u++) {
		sta_pool_leave(&pool, &users[u]);
		for (unsigned int i = 0; i < SLOTS && w[u][i].slot; i++)
			sta_pool_put(&pool, w[u][i].slot);
	}
	for (int u = USERS / 2; u < USERS; u++) {
		struct sta_buf_wait *granted = sta_pool_next_granted(&pool);

		assert_non_null(granted);
		num_granted[(granted - w[0]) / (SLOTS + 1)]++;
	}
	for (int u = USERS / 2; u < USERS; u++)
		assert_int_equal(num_granted[u], 1);
	assert_null(sta_pool_next_granted(&pool));
	sta_region_destroy(r);
}

/* Who had too much gets more when it has given back enough, or when there is more to share. */
static void test_blocked_ones_are_looked_at(void **state)
{
	struct sta_buf_wait w[SLOTS + 1], *granted;
	struct sta_buf_user user, other;
	struct sta_region *r[2];
	struct sta_pool pool;
	unsigned int n;

	(void)state;
	sta_pool_init(&pool);
	r[0] = make(&pool, STA_SLOT_SMALL, 8);
	sta_pool_join(&pool, &user);
	sta_pool_join(&pool, &other);
	n = take_all(&pool, &user, w);
	assert_int_equal(pool.num_blocked, 1);
	assert_null(sta_pool_next_granted(&pool));
	sta_pool_put(&pool, w[0].slot);
	assert_int_equal(pool.num_blocked, 0);
	granted = sta_pool_next_granted(&pool);
	assert_ptr_equal(granted, &w[n]);
	assert_false(sta_pool_get(&pool, &user, 1, false, &w[0]));
	assert_int_equal(pool.num_blocked, 1);
	r[1] = make(&pool, STA_SLOT_MEDIUM, 1);
	assert_ptr_equal(sta_pool_next_granted(&pool), &w[0]);
	assert_ptr_equal(w[0].slot->region, r[1]);
	sta_region_destroy(r[0]);
	sta_region_destroy(r[1]);
}

/* A larger slot that comes back serves those who wait for a smaller one, not who comes later. */
static void test_no_overtaking(void **state)
{
	struct sta_buf_user user;
	struct sta_pool pool;
	struct sta_region *small, *medium;
	struct sta_buf_wait a, b, waiting, later, big;

	(void)state;
	sta_pool_init(&pool);
	sta_pool_join(&pool, &user);
	small = make(&pool, STA_SLOT_SMALL, 1);
	medium = make(&pool, STA_SLOT_MEDIUM, 1);
	assert_true(sta_pool_get(&pool, &user, 1, false, &a));
	assert_true(sta_pool_get(&pool, &user, 1, false, &b));
	assert_ptr_equal(b.slot->region, medium);
	assert_false(sta_pool_get(&pool, &user, 1, false, &waiting));
	sta_pool_put(&pool, b.slot);
	assert_false(sta_pool_get(&pool, &user, 1, false, &later));
	assert_ptr_equal(sta_pool_next_granted(&pool), &waiting);
	assert_ptr_equal(waiting.slot->region, medium);
	/* Who needs the larger size comes before those who do not. */
	assert_false(sta_pool_get(&pool, &user, sta_slot_bytes(STA_SLOT_MEDIUM), false, &big));
	sta_pool_put(&pool, waiting.slot);
	assert_ptr_equal(sta_pool_next_granted(&pool), &big);
	assert_null(sta_pool_next_granted(&pool));
	sta_pool_put(&pool, a.slot);
	assert_ptr_equal(sta_pool_next_granted(&pool), &later);
	sta_region_destroy(small);
	sta_region_destroy(medium);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prps_of_every_size),
		cmocka_unit_test(test_failing_allocator),
		cmocka_unit_test(test_default_allocator),
		cmocka_unit_test(test_fitting_size_first),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_who_leaves_waits_no_more),
		cmocka_unit_test(test_alone_it_has_most),
		cmocka_unit_test(test_something_is_left_for_each),
		cmocka_unit_test(test_blocked_ones_are_looked_at),
		cmocka_unit_test(test_no_overtaking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
