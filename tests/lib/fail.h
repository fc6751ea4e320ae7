/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures on order: makes the n-th allocation, or whatever else the test lets count, fail. A
 * program that uses it is linked with fail_link_args (meson.build), which lead the allocations of
 * the program and of the static libraries in it through here; those of shared libraries do not
 * count. One thread at a time.
 */
#ifndef TEST_FAIL_H
#define TEST_FAIL_H

#include <stdbool.h>

/*
 * Something that may fail is about to be done: count it, and say whether it is to fail. Stand-ins
 * for functions of libraries below call it. False unless a test has ordered failures.
 */
bool fail_now(void);

/* Blocks that were allocated and not freed since the attempt began. */
long fail_balance(void);

/*
 * Calls attempt with the first thing in it failing, then with the second, and so on until it gets
 * through without one: each time once with only that one failing, and once with all after it
 * failing as well. attempt says whether it succeeded, and in case of a failure leaves nothing
 * behind. Returns how many things can fail, or a negative number when an attempt succeeded in spite
 * of a failure (-1), failed without one (-2), or left memory behind (-3).
 */
int fail_each(bool (*attempt)(void *arg), void *arg);

#endif /* TEST_FAIL_H */
