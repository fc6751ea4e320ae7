/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monotonic time.
 */
#ifndef UTIL_TIME_H
#define UTIL_TIME_H

#include <stdint.h>
#include <time.h>

#define UTIL_NS_PER_US UINT64_C(1000)
#define UTIL_NS_PER_MS UINT64_C(1000000)
#define UTIL_NS_PER_S  UINT64_C(1000000000)

static inline uint64_t util_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UTIL_NS_PER_S + (uint64_t)ts.tv_nsec;
}

#endif /* UTIL_TIME_H */
