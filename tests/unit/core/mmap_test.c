/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory maps. Devices are stand-ins: a map only holds them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "core/dev.h"
#include "core/mmap.h"

struct doca_dev {
	int holds;
};

void doca_priv_dev_hold(struct doca_dev *dev)
{
	dev->holds++;
}

void doca_priv_dev_release(struct doca_dev *dev)
{
	dev->holds--;
}

static struct doca_dev devs[3];
static char memory[64];
static int frees;

static void count_free(void *addr, size_t len, void *cookie)
{
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, sizeof(memory));
	assert_ptr_equal(cookie, devs);
	frees++;
}

static int setup(void **state)
{
	frees = 0;
	return doca_mmap_create((struct doca_mmap **)state);
}

static int teardown(void **state)
{
	assert_int_equal(doca_mmap_destroy(*state), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++)
		assert_int_equal(devs[i].holds, 0);
	return 0;
}

static void configure(struct doca_mmap *mmap)
{
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[0]), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
			 DOCA_SUCCESS);
}

static void configure_start_stop_and_again(void **state)
{
	struct doca_mmap *mmap = *state;
	void *addr;
	size_t len;

	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
	configure(mmap);
	assert_int_equal(devs[0].holds, 1);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, sizeof(memory));
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 32), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
}

static void start_needs_a_range_and_a_device(void **state)
{
	struct doca_mmap *mmap = *state;

	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 1), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[0]), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
}

static void nothing_is_set_while_started(void **state)
{
	struct doca_mmap *mmap = *state;

	configure(mmap);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[1]), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_rm_dev(mmap, &devs[0]), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_permissions(mmap, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_free_cb(mmap, count_free, NULL), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_user_data(mmap, (union doca_data){0}), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 4), DOCA_ERROR_NOT_PERMITTED);
}

static void devices(void **state)
{
	struct doca_mmap *mmap = *state;
	uint32_t max;

	assert_int_equal(doca_mmap_get_max_num_devices(mmap, &max), DOCA_SUCCESS);
	assert_true(max >= 2);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 2), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[0]), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[0]), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[1]), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[2]), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_rm_dev(mmap, &devs[0]), DOCA_SUCCESS);
	assert_int_equal(devs[0].holds, 0);
	assert_int_equal(doca_mmap_rm_dev(mmap, &devs[0]), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[2]), DOCA_SUCCESS);
}

static void ranges(void **state)
{
	struct doca_mmap *mmap = *state;

	assert_int_equal(doca_mmap_set_memrange(mmap, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 1), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 1), DOCA_ERROR_NOT_PERMITTED);
}

static void permissions(void **state)
{
	struct doca_mmap *mmap = *state;

	assert_int_equal(doca_mmap_set_permissions(mmap, 128), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_ONLY |
								 DOCA_ACCESS_FLAG_PCI_READ_WRITE),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(mmap,
						   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
							   DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING),
			 DOCA_SUCCESS);
}

static void the_free_callback_runs_for_a_map_that_was_started(void **state)
{
	struct doca_mmap *mmap;

	(void)state;
	for (int was_started = 0; was_started < 2; was_started++) {
		frees = 0;
		assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
		configure(mmap);
		assert_int_equal(doca_mmap_set_free_cb(mmap, count_free, devs), DOCA_SUCCESS);
		if (was_started)
			assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
		assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
		assert_int_equal(frees, was_started);
	}
}

static void a_user_keeps_it_started(void **state)
{
	struct doca_mmap *mmap = *state;
	void *addr;
	size_t len;

	configure(mmap);
	assert_int_equal(doca_priv_mmap_get(mmap, NULL, 0, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_priv_mmap_get(mmap, &devs[1], 0, &addr, &len), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_priv_mmap_get(mmap, &devs[0], DOCA_ACCESS_FLAG_RDMA_READ, &addr,
					    &len),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_priv_mmap_get(mmap, &devs[0], DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
					    &addr, &len),
			 DOCA_SUCCESS);
	assert_ptr_equal(addr, memory);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	doca_priv_mmap_put(mmap);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
}

static void user_data(void **state)
{
	struct doca_mmap *mmap = *state;
	union doca_data data;

	assert_int_equal(doca_mmap_set_user_data(mmap, (union doca_data){.u64 = 3}), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_user_data(mmap, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 3);
}

static void null_is_invalid(void **state)
{
	struct doca_mmap *mmap = *state;
	union doca_data data = {0};
	uint32_t max;
	void *addr;
	size_t len;

	assert_int_equal(doca_mmap_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_add_dev(NULL, &devs[0]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_add_dev(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_rm_dev(NULL, &devs[0]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_rm_dev(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(NULL, memory, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_memrange(NULL, &addr, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_memrange(mmap, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_free_cb(NULL, count_free, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_free_cb(mmap, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_user_data(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_max_num_devices(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_max_num_devices(NULL, &max), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_max_num_devices(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(configure_start_stop_and_again),
		TEST(start_needs_a_range_and_a_device),
		TEST(nothing_is_set_while_started),
		TEST(devices),
		TEST(ranges),
		TEST(permissions),
		TEST(the_free_callback_runs_for_a_map_that_was_started),
		TEST(a_user_keeps_it_started),
		TEST(user_data),
		TEST(null_is_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
