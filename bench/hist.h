/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of latencies: 64 steps for each power of two of nanoseconds, so a percentile is right
 * to 1.6 %. Pure, fixed size.
 */
#ifndef BENCH_HIST_H
#define BENCH_HIST_H

#include <stdint.h>

#define HIST_STEPS   64u
#define HIST_BUCKETS (HIST_STEPS * 40u) /* up to 2^45 ns, 9 hours */

struct hist {
	uint64_t count;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_add(struct hist *hist, uint64_t ns);
/* The latency that @per_mille thousandths of the samples do not exceed; 0 when there are none. */
uint64_t hist_percentile(const struct hist *hist, unsigned int per_mille);

#endif
