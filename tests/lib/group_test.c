/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group's result holds that of its teardown. No test of cmocka's own: these are groups
 * themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "group.h"

static void good(void **state)
{
	(void)state;
}

static void bad(void **state)
{
	(void)state;
	fail();
}

static int done(void **state)
{
	(void)state;
	return 0;
}

static int refused(void **state)
{
	(void)state;
	return 23;
}

static int asserted(void **state)
{
	(void)state;
	assert_true(0);
	return 0;
}

static int check(const char *what, int failed, int want)
{
	if (failed == want)
		return 0;
	fprintf(stderr, "%s: %d failed, wanted %d\n", what, failed, want);
	return 1;
}

int main(void)
{
	const struct CMUnitTest one_good[] = {cmocka_unit_test(good)};
	const struct CMUnitTest one_bad[] = {cmocka_unit_test(good), cmocka_unit_test(bad)};
	int wrong = 0;

	wrong += check("all is good", group_run(one_good, NULL, done), 0);
	wrong += check("teardown fails", group_run(one_good, NULL, refused), 1);
	wrong += check("teardown asserts", group_run(one_good, NULL, asserted), 1);
	wrong += check("test fails", group_run(one_bad, NULL, done), 1);
	wrong += check("both fail", group_run(one_bad, NULL, refused), 2);
	wrong += check("good again", group_run(one_good, done, done), 0);
	return wrong;
}
