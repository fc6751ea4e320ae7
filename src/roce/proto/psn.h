/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packet sequence numbers: 24 bits, compared serially (IBTA 9.7.1). A type of its own, so that a
 * PSN is never mixed up with a count or compared with '<'.
 */
#ifndef ROCE_PROTO_PSN_H
#define ROCE_PROTO_PSN_H

#include <stdbool.h>
#include <stdint.h>

#define ROCE_PSN_MASK 0xffffffu

typedef struct {
	uint32_t v; /* 0 .. 2^24 - 1 */
} roce_psn;

static inline roce_psn roce_psn_make(uint32_t v)
{
	return (roce_psn){v & ROCE_PSN_MASK};
}

static inline roce_psn roce_psn_add(roce_psn a, uint32_t n)
{
	return roce_psn_make(a.v + n);
}

static inline roce_psn roce_psn_sub(roce_psn a, uint32_t n)
{
	return roce_psn_make(a.v - n);
}

/* How far a is after b: -2^23 .. 2^23 - 1, negative when a is before b. */
static inline int32_t roce_psn_diff(roce_psn a, roce_psn b)
{
	return (int32_t)((a.v - b.v) << 8) >> 8;
}

static inline bool roce_psn_eq(roce_psn a, roce_psn b)
{
	return a.v == b.v;
}

/* True when a is one of the n PSNs that start at first. */
static inline bool roce_psn_in(roce_psn a, roce_psn first, uint32_t n)
{
	return roce_psn_make(a.v - first.v).v < n;
}

#endif
