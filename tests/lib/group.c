/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of tests with a teardown. See group.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>

#include "group.h"

/* cmocka calls the teardown without an argument of ours. */
static CMFixtureFunction inner;
static bool is_torn_down;

/* A failed assertion leaves it by longjmp(), so only its end says that it was good. */
static int keep_result(void **state)
{
	int rc = inner(state);

	is_torn_down = rc == 0;
	return rc;
}

int group_run_(const char *name, const struct CMUnitTest *tests, size_t count,
	       CMFixtureFunction setup, CMFixtureFunction teardown)
{
	int failed;

	inner = teardown;
	is_torn_down = false;
	failed = _cmocka_run_group_tests(name, tests, count, setup, keep_result);
	return failed + (is_torn_down ? 0 : 1);
}
