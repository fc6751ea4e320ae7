/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for controllers: addresses, alignment, reuse, and what a mapper is told.
 */
#include "fixture.h"

#include "nvme/pool.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "nvme/limits.h"
#include "nvme/spec.h"
#include "util/compiler.h"

#define UNIT ((size_t)2 << 20)

/* What is mapped, as the mapper was told. */
struct mapper {
	struct range {
		uintptr_t addr;
		size_t bytes;
	} ranges[64];
	unsigned int count;
	unsigned int fail_at; /* the n-th call from now fails; 0: none */
};

struct pool {
	struct nv_pool *pool;
	struct nv_mem mem;
	struct mapper mapper;
};

static int map(void *arg, void *addr, size_t bytes)
{
	struct mapper *m = arg;
	uintptr_t start = (uintptr_t)addr;

	if (m->fail_at && !--m->fail_at)
		return -ENOMEM;
	assert_int_equal(start % UNIT, 0);
	assert_int_equal(bytes % UNIT, 0);
	for (unsigned int i = 0; i < m->count; i++)
		assert_true(start + bytes <= m->ranges[i].addr ||
			    m->ranges[i].addr + m->ranges[i].bytes <= start);
	assert_true(m->count < UTIL_ARRAY_SIZE(m->ranges));
	m->ranges[m->count++] = (struct range){start, bytes};
	return 0;
}

static void unmap(void *arg, void *addr, size_t bytes)
{
	struct mapper *m = arg;
	unsigned int i;

	for (i = 0; i < m->count && m->ranges[i].addr != (uintptr_t)addr; i++)
		;
	assert_true(i < m->count);
	assert_int_equal(m->ranges[i].bytes, bytes);
	m->ranges[i] = m->ranges[--m->count];
}

static bool is_mapped(const struct mapper *m, const void *ptr, size_t bytes)
{
	uintptr_t start = (uintptr_t)ptr;

	for (unsigned int i = 0; i < m->count; i++)
		if (start >= m->ranges[i].addr &&
		    start + bytes <= m->ranges[i].addr + m->ranges[i].bytes)
			return true;
	return false;
}

static int set_mapper(struct pool *p)
{
	const struct nv_pool_mapper mapper = {.map = map, .unmap = unmap, .arg = &p->mapper};

	return nv_pool_set_mapper(p->pool, &mapper);
}

static int setup(void **state)
{
	struct pool *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	assert_int_equal(nv_pool_create(&p->pool), 0);
	nv_pool_allocator(p->pool, &p->mem);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pool *p = *state;
	struct nv_pool_stats stats;

	nv_pool_get_stats(p->pool, &stats);
	assert_int_equal(stats.bytes, 0);
	nv_pool_destroy(p->pool);
	free(p);
	return 0;
}

static void *take(struct pool *p, size_t bytes, size_t align)
{
	uint64_t phys = 0;
	uint8_t *ptr = nv_mem_zmalloc(&p->mem, bytes, align, &phys);

	assert_non_null(ptr);
	assert_int_equal(phys, (uintptr_t)ptr);
	assert_int_equal((uintptr_t)ptr % util_max(align, (size_t)NV_PAGE_SIZE), 0);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(ptr[i], 0);
	memset(ptr, 0xa5, bytes);
	return ptr;
}

static void small_ones_share_and_do_not_overlap(void **state)
{
	static const size_t sizes[] = {1, 4096, 4097, 64 << 10, 1 << 20, 100 << 10, 512};
	struct pool *p = *state;
	uint8_t *ptrs[7 * UTIL_ARRAY_SIZE(sizes)];
	struct nv_pool_stats stats;

	for (size_t i = 0; i < UTIL_ARRAY_SIZE(ptrs); i++) {
		ptrs[i] = take(p, sizes[i % 7], 1u << i % 17);
		memset(ptrs[i], (int)i, sizes[i % 7]);
	}
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(ptrs); i++)
		for (size_t k = 0; k < sizes[i % 7]; k++)
			assert_int_equal(ptrs[i][k], i);
	nv_pool_get_stats(p->pool, &stats);
	assert_true(stats.bytes < UTIL_ARRAY_SIZE(ptrs) * UNIT / 2);
	assert_true(stats.used_bytes >= 7 * (1u << 20));
	/* From the middle outwards, taken again between. */
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(ptrs); i += 2)
		nv_mem_free(&p->mem, ptrs[i]);
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(ptrs); i += 2)
		ptrs[i] = take(p, sizes[i % 7], 0);
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(ptrs); i++)
		nv_mem_free(&p->mem, ptrs[i]);
}

static void a_full_unit_is_used_to_the_last_page(void **state)
{
	struct pool *p = *state;
	uint8_t *pages[UNIT / NV_PAGE_SIZE], *hole;
	struct nv_pool_stats stats;

	for (size_t i = 0; i < UTIL_ARRAY_SIZE(pages); i++)
		pages[i] = take(p, NV_PAGE_SIZE, 0);
	nv_pool_get_stats(p->pool, &stats);
	assert_int_equal(stats.bytes, UNIT);
	assert_int_equal(stats.used_bytes, UNIT);
	/* Two pages side by side, of which one is not aligned to two. */
	nv_mem_free(&p->mem, pages[101]);
	nv_mem_free(&p->mem, pages[102]);
	hole = take(p, 2 * NV_PAGE_SIZE, 0);
	assert_ptr_equal(hole, pages[101]);
	nv_mem_free(&p->mem, hole);
	hole = take(p, 2 * NV_PAGE_SIZE, 2 * NV_PAGE_SIZE);
	assert_ptr_not_equal(hole, pages[101]);
	nv_mem_free(&p->mem, hole);
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(pages); i++)
		if (i != 101 && i != 102)
			nv_mem_free(&p->mem, pages[i]);
}

static void large_ones_are_whole_units(void **state)
{
	struct pool *p = *state;
	void *a = take(p, UNIT, UNIT), *b = take(p, 5 * UNIT + 1, UNIT), *c = take(p, UNIT, 0);
	struct nv_pool_stats stats;

	nv_pool_get_stats(p->pool, &stats);
	assert_int_equal(stats.bytes, 8 * UNIT);
	nv_mem_free(&p->mem, b);
	/* Its place is found again. */
	b = take(p, 3 * UNIT, 0);
	nv_pool_get_stats(p->pool, &stats);
	assert_int_equal(stats.bytes, 5 * UNIT);
	nv_mem_free(&p->mem, a);
	nv_mem_free(&p->mem, b);
	nv_mem_free(&p->mem, c);
}

/* A sanitizer keeps its shadow where the pool would like to be. */
static bool has_shadow(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#else
	return false;
#endif
}

static void addresses_fit_a_small_iommu(void **state)
{
	struct pool *p = *state;
	uint8_t *ptr = take(p, 3 * UNIT, 0);

	if (!has_shadow()) {
		assert_true((uintptr_t)ptr >= 4ull << 30);
		assert_true((uintptr_t)ptr + 3 * UNIT <= 1ull << 39);
	}
	nv_mem_free(&p->mem, ptr);
}

static void what_cannot_be_had_is_refused(void **state)
{
	struct pool *p = *state;

	assert_null(nv_mem_zmalloc(&p->mem, 0, 0, NULL));
	assert_null(nv_mem_zmalloc(&p->mem, NV_POOL_MAX_ALLOC_BYTES + 1ul, 0, NULL));
	assert_null(nv_mem_zmalloc(&p->mem, SIZE_MAX, 0, NULL));
	assert_null(nv_mem_zmalloc(&p->mem, 4096, 2 * UNIT, NULL));
	nv_mem_free(&p->mem, NULL);
}

static void an_address_is_known_as_far_as_the_memory_goes(void **state)
{
	struct pool *p = *state;
	uint8_t *ptr = take(p, UNIT, 0);
	uint64_t phys = 0;
	int local;

	assert_int_equal(nv_mem_vtophys(&p->mem, ptr + 5, UNIT - 5, &phys), 0);
	assert_int_equal(phys, (uintptr_t)ptr + 5);
	assert_int_equal(nv_mem_vtophys(&p->mem, ptr + 5, UNIT - 4, &phys), -EFAULT);
	assert_int_equal(nv_mem_vtophys(&p->mem, ptr - 1, 1, &phys), -EFAULT);
	assert_int_equal(nv_mem_vtophys(&p->mem, &local, sizeof(local), &phys), -EFAULT);
	nv_mem_free(&p->mem, ptr);
	assert_int_equal(nv_mem_vtophys(&p->mem, ptr, 1, &phys), -EFAULT);
}

static void a_mapper_learns_of_everything(void **state)
{
	struct pool *p = *state;
	void *before = take(p, 4096, 0), *large, *after;

	assert_int_equal(set_mapper(p), 0);
	assert_true(is_mapped(&p->mapper, before, 4096));
	large = take(p, 2 * UNIT, 0);
	assert_true(is_mapped(&p->mapper, large, 2 * UNIT));
	assert_int_equal(p->mapper.count, 2);
	after = take(p, 4096, 0); /* shares the first unit */
	assert_int_equal(p->mapper.count, 2);
	nv_mem_free(&p->mem, large);
	assert_int_equal(p->mapper.count, 1);
	nv_mem_free(&p->mem, before);
	assert_true(is_mapped(&p->mapper, after, 4096));
	assert_int_equal(nv_pool_set_mapper(p->pool, NULL), 0);
	assert_int_equal(p->mapper.count, 0);
	large = take(p, UNIT, 0);
	assert_int_equal(p->mapper.count, 0);
	nv_mem_free(&p->mem, large);
	nv_mem_free(&p->mem, after);
}

static void a_mapper_that_fails_leaves_nothing_behind(void **state)
{
	struct pool *p = *state;
	void *a = take(p, UNIT, 0), *b = take(p, UNIT, 0), *c = take(p, UNIT, 0);
	struct nv_pool_stats stats;

	for (unsigned int n = 1; n <= 3; n++) {
		p->mapper.fail_at = n;
		assert_int_equal(set_mapper(p), -ENOMEM);
		assert_int_equal(p->mapper.count, 0);
	}
	assert_int_equal(set_mapper(p), 0);
	p->mapper.fail_at = 1;
	assert_null(nv_mem_zmalloc(&p->mem, UNIT, 0, NULL));
	assert_int_equal(p->mapper.count, 3);
	nv_pool_get_stats(p->pool, &stats);
	assert_int_equal(stats.bytes, 3 * UNIT);
	nv_mem_free(&p->mem, a);
	nv_mem_free(&p->mem, b);
	nv_mem_free(&p->mem, c);
	assert_int_equal(nv_pool_set_mapper(p->pool, NULL), 0);
}

static void *churn(void *arg)
{
	struct pool *p = arg;
	uint8_t *ptrs[8] = {NULL};
	unsigned int seed = (unsigned int)(uintptr_t)&seed;

	for (unsigned int i = 0; i < 2000; i++) {
		unsigned int k = (unsigned int)rand_r(&seed) % 8;

		if (ptrs[k] && ptrs[k][0] != (uint8_t)k)
			return arg;
		nv_mem_free(&p->mem, ptrs[k]);
		ptrs[k] = nv_mem_zmalloc(&p->mem, 1 + (size_t)rand_r(&seed) % (1 << 16), 0, NULL);
		if (!ptrs[k] || ptrs[k][0])
			return arg;
		ptrs[k][0] = (uint8_t)k;
	}
	for (unsigned int k = 0; k < 8; k++)
		nv_mem_free(&p->mem, ptrs[k]);
	return NULL;
}

static void threads_share_it(void **state)
{
	pthread_t threads[4];
	void *failed;

	for (size_t i = 0; i < UTIL_ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, *state), 0);
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(threads); i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(small_ones_share_and_do_not_overlap, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_full_unit_is_used_to_the_last_page, setup,
						teardown),
		cmocka_unit_test_setup_teardown(large_ones_are_whole_units, setup, teardown),
		cmocka_unit_test_setup_teardown(addresses_fit_a_small_iommu, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_had_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_is_known_as_far_as_the_memory_goes,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_mapper_learns_of_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mapper_that_fails_leaves_nothing_behind, setup,
						teardown),
		cmocka_unit_test_setup_teardown(threads_share_it, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
