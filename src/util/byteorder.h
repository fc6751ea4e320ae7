/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers in byte strings of fixed order, at any alignment.
 */
#ifndef UTIL_BYTEORDER_H
#define UTIL_BYTEORDER_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define UTIL_BYTEORDER_DEFINE_(bits, order)                                  \
	static inline uint##bits##_t util_get_##order##bits(const void *p)   \
	{                                                                    \
		uint##bits##_t v;                                            \
                                                                             \
		memcpy(&v, p, sizeof(v));                                    \
		return order##bits##toh(v);                                  \
	}                                                                    \
                                                                             \
	static inline void util_put_##order##bits(void *p, uint##bits##_t v) \
	{                                                                    \
		v = hto##order##bits(v);                                     \
		memcpy(p, &v, sizeof(v));                                    \
	}

/* util_get_be16(p), util_put_be16(p, v) and so on: be and le, 16, 32 and 64 bits. */
UTIL_BYTEORDER_DEFINE_(16, be)
UTIL_BYTEORDER_DEFINE_(32, be)
UTIL_BYTEORDER_DEFINE_(64, be)
UTIL_BYTEORDER_DEFINE_(16, le)
UTIL_BYTEORDER_DEFINE_(32, le)
UTIL_BYTEORDER_DEFINE_(64, le)

/* 24-bit big endian: queue pair and packet sequence numbers. */
static inline uint32_t util_get_be24(const void *p)
{
	const uint8_t *b = p;

	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static inline void util_put_be24(void *p, uint32_t v)
{
	uint8_t *b = p;

	b[0] = (uint8_t)(v >> 16);
	b[1] = (uint8_t)(v >> 8);
	b[2] = (uint8_t)v;
}

#endif /* UTIL_BYTEORDER_H */
