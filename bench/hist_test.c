/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Percentiles of known samples, and the resolution that hist.h promises, over the whole range.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hist.h"

static struct hist hist;

static void percentiles(void **state)
{
	uint64_t i;

	(void)state;
	memset(&hist, 0, sizeof(hist));
	assert_int_equal(hist_percentile(&hist, 500), 0);
	for (i = 1; i <= 60; i++)
		hist_add(&hist, i);
	assert_int_equal(hist_percentile(&hist, 500), 30);
	assert_int_equal(hist_percentile(&hist, 999), 60);
	assert_int_equal(hist_percentile(&hist, 0), 1);
	for (i = 0; i < 6000; i++)
		hist_add(&hist, 5);
	assert_int_equal(hist_percentile(&hist, 990), 5);
	assert_true(hist_percentile(&hist, 1000) == 60);
}

static void resolution(void **state)
{
	uint64_t ns;

	(void)state;
	for (ns = 1; ns < 1ull << 44; ns = ns * 9 / 8 + 1) {
		memset(&hist, 0, sizeof(hist));
		hist_add(&hist, ns);
		assert_true(hist_percentile(&hist, 500) >= ns);
		assert_true(hist_percentile(&hist, 500) <= ns + ns / 64);
	}
	/* Beyond the range everything is the last bucket. */
	memset(&hist, 0, sizeof(hist));
	hist_add(&hist, UINT64_MAX);
	assert_true(hist_percentile(&hist, 500) > 1ull << 44);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles),
		cmocka_unit_test(resolution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
