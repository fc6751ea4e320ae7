/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who links through verbs_dep gets our entry points, program and shared library alike, and the
 * system's stay reachable behind them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <string.h>

#include "verbs_link_probe.h"

static const char *library_of(const void *function)
{
	Dl_info info;

	assert_int_not_equal(dladdr(function, &info), 0);
	return info.dli_fname;
}

static void test_program(void **state)
{
	(void)state;
	assert_non_null(strstr(library_of((void *)(uintptr_t)ibv_get_device_list), "softroce"));
	assert_non_null(strstr(library_of((void *)(uintptr_t)rdma_create_id), "softroce"));
	/* What we do not serve is the system's. */
	assert_non_null(strstr(library_of((void *)(uintptr_t)ibv_wc_status_str), "libibverbs"));
}

static void test_shared_library(void **state)
{
	(void)state;
	assert_ptr_equal(probe_get_device_list(), (void *)(uintptr_t)ibv_get_device_list);
}

/* A device and a context that are not ours reach the system's functions. */
static void test_forwarding(void **state)
{
	struct ibv_device foreign = {.name = "foreign0"};

	(void)state;
	assert_string_equal(ibv_get_device_name(&foreign), "foreign0");
}

/* Soft devices are found with and without kernel RDMA, in the same order each time. */
static void test_list(void **state)
{
	struct ibv_device **one, **two;
	int count_one, count_two;
	bool has_loopback = false;

	(void)state;
	one = ibv_get_device_list(&count_one);
	two = ibv_get_device_list(&count_two);
	assert_non_null(one);
	assert_non_null(two);
	assert_int_equal(count_one, count_two);
	assert_null(one[count_one]);
	for (int i = 0; i < count_one; i++) {
		assert_string_equal(ibv_get_device_name(one[i]), ibv_get_device_name(two[i]));
		if (strcmp(ibv_get_device_name(one[i]), "sr_lo") == 0) {
			has_loopback = true;
			assert_ptr_equal(one[i], two[i]);
		}
	}
	assert_true(has_loopback);
	ibv_free_device_list(one);
	ibv_free_device_list(two);
	ibv_free_device_list(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_shared_library),
		cmocka_unit_test(test_forwarding),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
