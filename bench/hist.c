/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See hist.h. Values below HIST_STEPS have a bucket each; above, the leading bit picks the group
 * and the six bits behind it the step.
 */
#include "hist.h"

#define STEP_BITS 6u

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift, bucket;

	if (ns < HIST_STEPS)
		return (unsigned int)ns;
	shift = 63u - (unsigned int)__builtin_clzll(ns) - STEP_BITS;
	bucket = (shift + 1) * HIST_STEPS + (unsigned int)(ns >> shift) - HIST_STEPS;
	return bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1;
}

/* The largest value that falls into a bucket. */
static uint64_t bucket_top(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < HIST_STEPS)
		return bucket;
	shift = bucket / HIST_STEPS - 1;
	return ((HIST_STEPS + bucket % HIST_STEPS + 1ull) << shift) - 1;
}

void hist_add(struct hist *hist, uint64_t ns)
{
	hist->bucket[bucket_of(ns)]++;
	hist->count++;
}

uint64_t hist_percentile(const struct hist *hist, unsigned int per_mille)
{
	/* The rank is rounded up: p99.9 of ten samples is the largest. */
	uint64_t rank = (hist->count * per_mille + 999) / 1000, seen = 0;
	unsigned int i;

	if (!hist->count)
		return 0;
	for (i = 0; i < HIST_BUCKETS; i++) {
		seen += hist->bucket[i];
		if (seen >= rank && seen > 0)
			break;
	}
	return bucket_top(i);
}
