/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that fail when a test says so. What a test is linked with through fail_dep calls
 * these instead of the C library's; shared libraries do not. A test lets the first, the second, ...
 * allocation fail until a run has seen no failure.
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

#endif /* TESTS_LIB_FAIL_H */
