/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A monotonic clock that a test can set forward, linked into its program: this clock_gettime()
 * stands before the C library's. Sleeps take as long as ever.
 */
#ifndef TESTS_INTEGRATION_JUMP_CLOCK_H
#define TESTS_INTEGRATION_JUMP_CLOCK_H

void jump_clock(unsigned int seconds);

#endif
