/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of tests with a teardown. cmocka prints that the teardown of a group failed, and leaves it
 * at that: it is not in what cmocka_run_group_tests() returns. Here it is.
 * Include it after cmocka.
 */
#ifndef TESTS_LIB_GROUP_H
#define TESTS_LIB_GROUP_H

/* As cmocka_run_group_tests(): the number of failures, of which one may be the teardown's. */
#define group_run(tests, setup, teardown) \
	group_run_(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

int group_run_(const char *name, const struct CMUnitTest *tests, size_t count,
	       CMFixtureFunction setup, CMFixtureFunction teardown);

#endif
