/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PRP lists and the memory table behind them: every offset, every page count, chains, and
 * everything that must be refused.
 */
#include "fixture.h"

#include "nvme/soft/priv.h"

#include <errno.h>
#include <string.h>

#define LIST_ENTRIES (NV_PAGE_SIZE / 8)

struct prp {
	struct nv_soft_mem *mem;
	struct nv_mem allocator;
	uint8_t *data; /* 1 MiB and two pages */
	uint64_t *list; /* three pages */
	struct iovec iov[NV_SOFT_MAX_IOV];
	int count;
	unsigned int hint;
};

static int setup(void **state)
{
	struct prp *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	assert_int_equal(nv_soft_mem_create(NULL, &p->mem), 0);
	nv_soft_mem_allocator(p->mem, &p->allocator);
	p->data = nv_mem_zmalloc(&p->allocator, NV_SOFT_MDTS_BYTES + 2 * NV_PAGE_SIZE, NV_PAGE_SIZE,
				 NULL);
	p->list = nv_mem_zmalloc(&p->allocator, 3 * NV_PAGE_SIZE, NV_PAGE_SIZE, NULL);
	assert_non_null(p->data);
	assert_non_null(p->list);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct prp *p = *state;

	nv_mem_free(&p->allocator, p->list);
	nv_mem_free(&p->allocator, p->data);
	nv_soft_mem_destroy(p->mem);
	free(p);
	return 0;
}

static uint16_t parse(struct prp *p, const void *prp1, const void *prp2, uint32_t len)
{
	p->count = -1;
	return nv_soft_prp(p->mem, &p->hint, (uintptr_t)prp1, (uintptr_t)prp2, len, p->iov,
			   &p->count);
}

static size_t total(const struct prp *p)
{
	size_t sum = 0;

	for (int i = 0; i < p->count; i++)
		sum += p->iov[i].iov_len;
	return sum;
}

/* Page @i of the data in PRP form; odd order makes neighbours in the list strangers in memory. */
static uint64_t page(const struct prp *p, uint32_t i)
{
	return htole64((uintptr_t)p->data + (uint64_t)i * NV_PAGE_SIZE);
}

static void every_dword_offset_of_the_first_page(void **state)
{
	struct prp *p = *state;

	for (uint32_t offset = 0; offset < NV_PAGE_SIZE; offset += 4) {
		const uint32_t room = NV_PAGE_SIZE - offset;

		assert_int_equal(parse(p, p->data + offset, NULL, room), 0);
		assert_int_equal(p->count, 1);
		assert_ptr_equal(p->iov[0].iov_base, p->data + offset);
		assert_int_equal(p->iov[0].iov_len, room);

		/* One byte more takes PRP2; here it is the neighbour, so the two become one. */
		assert_int_equal(parse(p, p->data + offset, p->data + NV_PAGE_SIZE, room + 4), 0);
		assert_int_equal(p->count, 1);
		assert_int_equal(p->iov[0].iov_len, room + 4);

		/* Not the neighbour: two pieces. */
		assert_int_equal(parse(p, p->data + offset, p->data + 2 * NV_PAGE_SIZE, room + 4),
				 0);
		assert_int_equal(p->count, 2);
		assert_ptr_equal(p->iov[1].iov_base, p->data + 2 * NV_PAGE_SIZE);
		assert_int_equal(p->iov[1].iov_len, 4);
	}
}

static void offsets_that_are_no_dword_are_refused(void **state)
{
	struct prp *p = *state;

	for (uint32_t offset = 0; offset < 64; offset++)
		assert_int_equal(parse(p, p->data + offset, NULL, 512),
				 offset & 3 ? DNR(NVME_SC_PRP_INVALID_OFFSET) : 0);
}

/* 1 to 257 pages, next to each other: one piece, whatever the offset of the first. */
static void neighbours_are_merged(void **state)
{
	struct prp *p = *state;

	for (uint32_t pages = 3; pages <= NV_SOFT_MAX_IOV; pages++) {
		uint32_t offset = pages * 4 % NV_PAGE_SIZE;
		uint32_t len = pages * NV_PAGE_SIZE - offset;

		if (len > NV_SOFT_MDTS_BYTES)
			len = NV_SOFT_MDTS_BYTES;
		for (uint32_t i = 1; i < pages; i++)
			p->list[i - 1] = page(p, i);
		assert_int_equal(parse(p, p->data + offset, p->list, len), 0);
		assert_int_equal(p->count, 1);
		assert_ptr_equal(p->iov[0].iov_base, p->data + offset);
		assert_int_equal(p->iov[0].iov_len, len);
	}
}

/* The same with pages in reverse order: as many pieces as pages, the worst case. */
static void strangers_stay_apart(void **state)
{
	struct prp *p = *state;

	for (uint32_t pages = 1; pages <= NV_SOFT_MAX_IOV; pages++) {
		uint32_t offset = pages == NV_SOFT_MAX_IOV ? 2048 : 0;
		uint32_t len = pages * NV_PAGE_SIZE - 2 * offset;
		uint64_t prp2 = pages == 2 ? page(p, 0) : (uintptr_t)p->list;

		for (uint32_t i = 1; i < pages; i++)
			p->list[i - 1] = page(p, pages - 1 - i);
		assert_int_equal(parse(p, p->data + (size_t)(pages - 1) * NV_PAGE_SIZE + offset,
				       (void *)(uintptr_t)prp2, len),
				 0);
		assert_int_equal(p->count, pages);
		assert_int_equal(total(p), len);
		for (uint32_t i = 1; i < pages; i++)
			assert_ptr_equal(p->iov[i].iov_base,
					 p->data + (size_t)(pages - 1 - i) * NV_PAGE_SIZE);
	}
}

/*
 * A list may begin anywhere in its page; the last slot of the page is a pointer to the next list
 * page, unless the transfer ends with it.
 */
static void lists_chain_from_every_start(void **state)
{
	struct prp *p = *state;
	const uint32_t pages = 257;

	for (uint32_t start = 0; start < LIST_ENTRIES; start++) {
		uint32_t room = LIST_ENTRIES - start;
		uint32_t left = pages - 1;
		uint32_t slot = start;
		uint32_t next = 1;

		memset(p->list, 0, 3 * NV_PAGE_SIZE);
		while (left) {
			if (slot == LIST_ENTRIES - 1 && left > 1) {
				/* To the third page, not the second: the pointer must be used. */
				p->list[slot] = htole64((uintptr_t)(p->list + 2 * LIST_ENTRIES));
				slot = 2 * LIST_ENTRIES;
				continue;
			}
			p->list[slot++] = page(p, next++);
			left--;
		}
		assert_int_equal(slot < LIST_ENTRIES + 1, room >= pages - 1);
		assert_int_equal(parse(p, p->data + 2048, p->list + start, NV_SOFT_MDTS_BYTES), 0);
		assert_int_equal(p->count, 1);
		assert_int_equal(p->iov[0].iov_len, NV_SOFT_MDTS_BYTES);
	}
}

static void misaligned_entries_are_refused(void **state)
{
	struct prp *p = *state;
	const uint16_t bad = DNR(NVME_SC_PRP_INVALID_OFFSET);

	/* PRP2 as second page. */
	assert_int_equal(parse(p, p->data, p->data + NV_PAGE_SIZE + 4, 8192), bad);
	/* PRP2 as list. */
	assert_int_equal(parse(p, p->data, (uint8_t *)p->list + 4, 12288), bad);
	/* Entry of a list. */
	for (uint32_t i = 0; i < 4; i++)
		p->list[i] = page(p, i + 1);
	p->list[2] |= htole64(512);
	assert_int_equal(parse(p, p->data, p->list, 5 * NV_PAGE_SIZE), bad);
	/* Chain pointer. */
	p->list[LIST_ENTRIES - 1] = htole64((uintptr_t)(p->list + LIST_ENTRIES + 1));
	assert_int_equal(parse(p, p->data, p->list + LIST_ENTRIES - 1, 5 * NV_PAGE_SIZE), bad);
}

/* A list that points to itself must come to an end. */
static void list_of_itself_ends(void **state)
{
	struct prp *p = *state;

	for (uint32_t i = 0; i < LIST_ENTRIES; i++)
		p->list[i] = htole64((uintptr_t)p->list);
	assert_int_equal(parse(p, p->data, p->list, NV_SOFT_MDTS_BYTES), 0);
	assert_int_equal(total(p), NV_SOFT_MDTS_BYTES);
	assert_int_equal(parse(p, p->data, p->list + LIST_ENTRIES - 1, NV_SOFT_MDTS_BYTES), 0);
	assert_int_equal(total(p), NV_SOFT_MDTS_BYTES);
}

static void unknown_memory_is_refused(void **state)
{
	struct prp *p = *state;
	const uint8_t *end = p->data + NV_SOFT_MDTS_BYTES + 2 * NV_PAGE_SIZE;
	uint16_t bad = NVME_SC_DATA_XFER_ERROR;

	assert_int_equal(parse(p, NULL, NULL, 512), bad);
	assert_int_equal(parse(p, (void *)(UINTPTR_MAX - 3), NULL, 512), bad);
	assert_int_equal(parse(p, end - 512, NULL, 512), 0);
	assert_int_equal(parse(p, p->data, (void *)0x10000, 8192), bad);
	assert_int_equal(parse(p, p->data, (void *)0x10000, 12288), bad);
	p->list[0] = page(p, 1);
	p->list[1] = htole64(0x10000);
	assert_int_equal(parse(p, p->data, p->list, 3 * NV_PAGE_SIZE), bad);
	p->list[LIST_ENTRIES - 1] = htole64(0x10000);
	assert_int_equal(parse(p, p->data, p->list + LIST_ENTRIES - 1, 3 * NV_PAGE_SIZE), bad);

	/* Memory that was given back. */
	nv_mem_free(&p->allocator, p->data);
	assert_int_equal(parse(p, p->data, NULL, 512), bad);
	p->data = NULL;
}

static void ranges_that_touch_count_as_one(void **state)
{
	struct prp *p = *state;
	uint8_t *raw = aligned_alloc(NV_PAGE_SIZE, 3 * NV_PAGE_SIZE);

	assert_non_null(raw);
	assert_int_equal(nv_soft_mem_register(p->mem, raw + 100, 1000), 0);
	assert_int_equal(nv_soft_mem_register(p->mem, raw + 1100, 3000), 0);
	assert_int_equal(parse(p, raw + 100, NULL, 2000), 0);
	assert_int_equal(parse(p, raw + 96, NULL, 2000), NVME_SC_DATA_XFER_ERROR);
	assert_int_equal(parse(p, raw + 3100, NULL, 996), 0);
	assert_int_equal(nv_soft_mem_unregister(p->mem, raw + 1100), 0);
	assert_int_equal(parse(p, raw + 100, NULL, 2000), NVME_SC_DATA_XFER_ERROR);
	assert_int_equal(nv_soft_mem_unregister(p->mem, raw + 1100), -ENOENT);
	assert_int_equal(nv_soft_mem_unregister(p->mem, raw + 100), 0);
	free(raw);
}

static void table_has_a_limit_and_takes_no_nonsense(void **state)
{
	struct prp *p = *state;
	uint8_t *base = p->data;
	unsigned int taken = 0;

	assert_int_equal(nv_soft_mem_register(p->mem, NULL, 10), -EINVAL);
	assert_int_equal(nv_soft_mem_register(p->mem, base, 0), -EINVAL);
	assert_int_equal(nv_soft_mem_register(p->mem, (void *)(UINTPTR_MAX - 5), 10), -EINVAL);
	while (!nv_soft_mem_register(p->mem, base + 64 * (taken + 1), 64))
		taken++;
	assert_int_equal(taken, NV_SOFT_MAX_REGIONS - 2); /* two of the fixture */
	assert_int_equal(nv_soft_mem_register(p->mem, base, 64), -ENOSPC);
	assert_null(nv_mem_zmalloc(&p->allocator, 64, 64, NULL));
	while (taken--)
		assert_int_equal(nv_soft_mem_unregister(p->mem, base + 64 * (taken + 1)), 0);
}

static void allocator_translates_what_it_gave(void **state)
{
	struct prp *p = *state;
	uint64_t phys = 0;
	uint8_t *ptr = nv_mem_zmalloc(&p->allocator, 100, 0, &phys);

	assert_non_null(ptr);
	assert_int_equal(phys, (uintptr_t)ptr);
	assert_int_equal((uintptr_t)ptr % 64, 0);
	phys = 0;
	assert_int_equal(nv_mem_vtophys(&p->allocator, ptr + 10, 90, &phys), 0);
	assert_int_equal(phys, (uintptr_t)ptr + 10);
	assert_int_equal(nv_mem_vtophys(&p->allocator, ptr + 10, 91, &phys), -EFAULT);
	nv_mem_free(&p->allocator, ptr);
	nv_mem_free(&p->allocator, NULL);
	assert_null(nv_mem_zmalloc(&p->allocator, 0, 64, NULL));
}

static void trust_all_takes_any_address_but_null(void **state)
{
	const struct nv_soft_mem_conf conf = {.trust_all = true};
	struct nv_soft_mem *mem;
	unsigned int hint = 0;
	int local;

	(void)state;
	assert_int_equal(nv_soft_mem_create(&conf, &mem), 0);
	assert_true(nv_soft_mem_check(mem, (uintptr_t)&local, sizeof(local), &hint));
	assert_false(nv_soft_mem_check(mem, 0, 4, &hint));
	assert_false(nv_soft_mem_check(mem, UINT64_MAX - 2, 4, &hint));
	nv_soft_mem_destroy(mem);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_dword_offset_of_the_first_page),
		T(offsets_that_are_no_dword_are_refused),
		T(neighbours_are_merged),
		T(strangers_stay_apart),
		T(lists_chain_from_every_start),
		T(misaligned_entries_are_refused),
		T(list_of_itself_ends),
		T(unknown_memory_is_refused),
		T(ranges_that_touch_count_as_one),
		T(table_has_a_limit_and_takes_no_nonsense),
		T(allocator_translates_what_it_gave),
		cmocka_unit_test(trust_all_takes_any_address_but_null),
	};

	return cmocka_run_group_tests_name("nvme/prp", tests, NULL, NULL);
}
