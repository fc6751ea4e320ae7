/* SPDX-License-Identifier: Apache-2.0 */
/* doca_sta.h: the control object, its devices, and what it can do. */
#include "ctl.h"

#include <errno.h>
#include <string.h>

#include <doca_sta_be.h>
#include <doca_sta_io_qp.h>

static void test_cap_is_supported(void **state)
{
	struct ctl *f = *state;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(f->dev);

	ASSERT_INVALID(doca_sta_cap_is_supported(NULL));
	ASSERT_GOOD(doca_sta_cap_is_supported(devinfo));
	/* No list, no permission to open it, no answer. */
	for (unsigned int n = 1; n <= 3; n++) {
		fakedev.fail_at = fakedev.num_calls + n;
		assert_int_equal(doca_sta_cap_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	}
	ASSERT_GOOD(doca_sta_cap_is_supported(devinfo));
	fakedev.attr.max_sge = 1;
	assert_int_equal(doca_sta_cap_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	fakedev.attr.max_sge = 2;
	/* It has gone. */
	memcpy(fakedev.devices[0].name, "x", sizeof("x"));
	assert_int_equal(doca_sta_cap_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
}

static void test_create(void **state)
{
	struct ctl *f = *state;
	struct doca_sta *sta = NULL;

	ASSERT_INVALID(doca_sta_create(NULL, &sta));
	ASSERT_INVALID(doca_sta_create(f->dev, NULL));
	fakedev.attr.max_sge = 1;
	assert_int_equal(doca_sta_create(f->dev, &sta), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sta_add_dev(f->sta, f->dev), DOCA_ERROR_NOT_SUPPORTED);
	fakedev.attr.max_sge = 2;
	fakedev.refused = "ibv_query_device";
	fakedev.err = EIO;
	assert_int_equal(doca_sta_create(f->dev, &sta), DOCA_ERROR_DRIVER);
	fakedev.err = EACCES;
	assert_int_equal(doca_sta_create(f->dev, &sta), DOCA_ERROR_NOT_PERMITTED);
	fakedev.err = ENOMEM;
	assert_int_equal(doca_sta_create(f->dev, &sta), DOCA_ERROR_NO_MEMORY);
	fakedev.refused = NULL;
	assert_null(sta);
	ASSERT_GOOD(doca_sta_create(f->dev, &sta));
	assert_non_null(doca_sta_as_ctx(sta));
	ASSERT_GOOD(doca_sta_destroy(sta));
	ASSERT_INVALID(doca_sta_destroy(NULL));
	assert_null(doca_sta_as_ctx(NULL));
}

static void test_start_needs_a_device(void **state)
{
	struct ctl *f = *state;

	assert_int_equal(doca_ctx_start(doca_sta_as_ctx(f->sta)), DOCA_ERROR_INVALID_VALUE);
	ASSERT_GOOD(doca_sta_add_dev(f->sta, f->dev));
	ctl_start(f);
}

static void test_add_dev(void **state)
{
	struct ctl *f = *state;

	ASSERT_INVALID(doca_sta_add_dev(NULL, f->dev));
	ASSERT_INVALID(doca_sta_add_dev(f->sta, NULL));
	fakedev.attr.max_qp = 0;
	assert_int_equal(doca_sta_add_dev(f->sta, f->dev), DOCA_ERROR_NOT_SUPPORTED);
	fakedev.attr.max_qp = 1;
	ASSERT_GOOD(doca_sta_add_dev(f->sta, f->dev));
	assert_int_equal(doca_sta_add_dev(f->sta, f->dev), DOCA_ERROR_ALREADY_EXIST);
	ctl_start(f);
	assert_int_equal(doca_sta_add_dev(f->sta, f->dev), DOCA_ERROR_BAD_STATE);
}

static void test_max_sta_io(void **state)
{
	struct ctl *f = *state;
	uint16_t n;

	ASSERT_GOOD(doca_sta_get_max_sta_io(f->sta, &n));
	assert_int_equal(n, STA_MAX_IO_THREADS);
	ASSERT_INVALID(doca_sta_get_max_sta_io(NULL, &n));
	ASSERT_INVALID(doca_sta_get_max_sta_io(f->sta, NULL));
	ASSERT_INVALID(doca_sta_set_max_sta_io(NULL, 1));
	ASSERT_INVALID(doca_sta_set_max_sta_io(f->sta, 0));
	ASSERT_INVALID(doca_sta_set_max_sta_io(f->sta, STA_MAX_IO_THREADS + 1));
	ASSERT_GOOD(doca_sta_set_max_sta_io(f->sta, STA_MAX_IO_THREADS));
	ASSERT_GOOD(doca_sta_set_max_sta_io(f->sta, 3));
	ASSERT_GOOD(doca_sta_get_max_sta_io(f->sta, &n));
	assert_int_equal(n, 3);
	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_set_max_sta_io(f->sta, 3), DOCA_ERROR_BAD_STATE);
}

static void test_destroy(void **state)
{
	struct ctl *f = *state;

	ASSERT_INVALID(doca_sta_destroy(NULL));
	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_destroy(f->sta), DOCA_ERROR_BAD_STATE);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	assert_int_equal(doca_sta_destroy(f->sta), DOCA_ERROR_IN_USE);
	ASSERT_GOOD(doca_sta_be_destroy(f->be));
	f->be = NULL;
	ctl_start_io(f);
	/* It outlives its I/O contexts, and runs as long as there are any. */
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_sta_destroy(f->sta), DOCA_ERROR_IN_USE);
	ctl_stop_io(f);
}

static void test_destroy_with_a_device_that_holds_on(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qp;
	int num_live = fakedev.num_live;

	ctl_configure(f);
	for (int round = 0; round < 2; round++) {
		ctl_start(f);
		ctl_start_io(f);
		ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), NULL, 0, NULL,
						   &qp));
		ctl_stop_io(f);
		fakedev.is_pd_stuck = true;
		ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
		/* What could not be given back is used again: it does not grow. */
		assert_int_equal(fakedev.num_live, num_live + 1);
		assert_int_equal(doca_sta_destroy(f->sta), DOCA_ERROR_DRIVER);
	}
	assert_int_equal(ctl_state_of(doca_sta_as_ctx(f->sta)), DOCA_CTX_STATE_IDLE);
	fakedev.is_pd_stuck = false;
}

static void test_limits_are_reported(void **state)
{
	struct ctl *f = *state;
	uint32_t n;

#define EXPECT(call, value)                             \
	do {                                            \
		assert_int_equal((call), DOCA_SUCCESS); \
		assert_int_equal(n, (value));           \
	} while (0)
	EXPECT(doca_sta_get_max_devs(&n), STA_MAX_DEVS);
	EXPECT(doca_sta_get_max_num_eus_available(f->sta, &n), 2);
	EXPECT(doca_sta_get_max_num_connected_qp_per_eu(f->sta, &n), STA_MAX_QPS_PER_EU);
	EXPECT(doca_sta_get_max_subsys(&n), STA_MAX_SUBSYSTEMS);
	EXPECT(doca_sta_get_max_ns_per_subs(&n), STA_MAX_NS_PER_SUBSYS);
	EXPECT(doca_sta_get_max_qps(&n), STA_MAX_QPS);
	EXPECT(doca_sta_get_max_io_threads(&n), STA_MAX_IO_THREADS);
	EXPECT(doca_sta_get_max_io_size(&n), STA_MAX_IO_BYTES);
	EXPECT(doca_sta_get_max_io_num_per_dev(f->sta, &n), STA_MAX_IOS_PER_EU);
	EXPECT(doca_sta_get_max_io_queue_size(f->sta, &n), STA_MAX_QUEUE_DEPTH);
	EXPECT(doca_sta_get_min_ioccsz(&n), 64);
	EXPECT(doca_sta_get_max_ioccsz(&n), 64 + STA_ICD_BYTES);
	EXPECT(doca_sta_get_min_iorcsz(&n), 16);
	EXPECT(doca_sta_get_max_iorcsz(&n), 16);
	EXPECT(doca_sta_get_max_icdoff(&n), 0);
	EXPECT(doca_sta_get_max_be(&n), STA_MAX_BACKENDS);
	EXPECT(doca_sta_get_max_qs_per_be(&n), STA_MAX_QUEUES_PER_BE);
	ASSERT_INVALID(doca_sta_get_max_devs(NULL));
	ASSERT_INVALID(doca_sta_get_max_num_eus_available(NULL, &n));
	for (uint32_t bytes = 0; bytes < 10000; bytes++)
		assert_int_equal(doca_sta_is_logical_block_size_supported(bytes),
				 bytes == 512 || bytes == 1024 || bytes == 2048 || bytes == 4096);
}

static void test_no_pointers(void **state)
{
	struct ctl *f = *state;
	uint32_t n;
	uint16_t n16;

	ASSERT_INVALID(doca_sta_get_max_sta_io(NULL, &n16));
	ASSERT_INVALID(doca_sta_get_max_sta_io(f->sta, NULL));
	ASSERT_INVALID(doca_sta_get_max_num_connected_qp_per_eu(NULL, &n));
	ASSERT_INVALID(doca_sta_get_max_num_connected_qp_per_eu(f->sta, NULL));
	ASSERT_INVALID(doca_sta_get_max_subsys(NULL));
	ASSERT_INVALID(doca_sta_get_max_ns_per_subs(NULL));
	ASSERT_INVALID(doca_sta_get_max_qps(NULL));
	ASSERT_INVALID(doca_sta_get_max_io_threads(NULL));
	ASSERT_INVALID(doca_sta_get_max_io_size(NULL));
	ASSERT_INVALID(doca_sta_get_max_io_num_per_dev(NULL, &n));
	ASSERT_INVALID(doca_sta_get_max_io_num_per_dev(f->sta, NULL));
	ASSERT_INVALID(doca_sta_get_max_io_queue_size(NULL, &n));
	ASSERT_INVALID(doca_sta_get_max_io_queue_size(f->sta, NULL));
	ASSERT_INVALID(doca_sta_get_min_ioccsz(NULL));
	ASSERT_INVALID(doca_sta_get_max_ioccsz(NULL));
	ASSERT_INVALID(doca_sta_get_min_iorcsz(NULL));
	ASSERT_INVALID(doca_sta_get_max_iorcsz(NULL));
	ASSERT_INVALID(doca_sta_get_max_icdoff(NULL));
	ASSERT_INVALID(doca_sta_get_max_be(NULL));
	ASSERT_INVALID(doca_sta_get_max_qs_per_be(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_cap_is_supported),
		CTL_TEST(test_create),
		CTL_TEST(test_start_needs_a_device),
		CTL_TEST(test_add_dev),
		CTL_TEST(test_max_sta_io),
		CTL_TEST(test_destroy),
		CTL_TEST(test_destroy_with_a_device_that_holds_on),
		CTL_TEST(test_limits_are_reported),
		CTL_TEST(test_no_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
