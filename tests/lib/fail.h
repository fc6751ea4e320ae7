/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations, and what else may fail, that fail when a test says so. What a test is linked with
 * through fail_dep calls these instead of the C library's; shared libraries do not. A test lets the
 * first, the second, ... fail until a run has seen no failure. One thread only may allocate.
 */
#ifndef TESTS_LIB_FAIL_H
#define TESTS_LIB_FAIL_H

#include <stdbool.h>

/* Lets the nth allocation from now fail, once; 0: none. */
void fail_allocation(unsigned long nth);
/* Has the one that was to fail done so? */
bool fail_has_happened(void);
/* Allocations less what was freed. */
long fail_live_allocations(void);

/*
 * For a test's stand-in of something that may fail: counts as an allocation does, and says whether
 * it is to fail now.
 */
bool fail_now(void);

/*
 * Calls attempt with the first allocation in it failing, then with the second, and so on until it
 * gets through without a failure: each time once with only that one failing, and once with all
 * after it failing as well. attempt says whether it succeeded, and in case of a failure leaves
 * nothing behind. Returns how many can fail, or a negative number when an attempt succeeded in
 * spite of a failure (-1), failed without one (-2), or left memory behind (-3).
 */
int fail_each(bool (*attempt)(void *arg), void *arg);

#endif /* TESTS_LIB_FAIL_H */
