/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small things that the language lacks.
 */
#ifndef UTIL_COMPILER_H
#define UTIL_COMPILER_H

#include <assert.h>
#include <stddef.h>

/* The structure that member, pointed to by ptr, is part of. */
#define util_container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define UTIL_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define UTIL_CACHE_LINE_BYTES 64
#define util_cache_aligned    _Alignas(UTIL_CACHE_LINE_BYTES)

/* Wire structures and ring entries: size and the place of a field, checked at compile time. */
#define UTIL_ASSERT_SIZE(type, bytes) \
	static_assert(sizeof(type) == (bytes), "size of " #type " is not " #bytes)
#define UTIL_ASSERT_OFFSET(type, member, bytes) \
	static_assert(offsetof(type, member) == (bytes), "offset of " #member " is not " #bytes)

#define util_min(a, b)                                 \
	({                                             \
		__typeof__(a) util_a_ = (a);           \
		__typeof__(b) util_b_ = (b);           \
		util_a_ < util_b_ ? util_a_ : util_b_; \
	})
#define util_max(a, b)                                 \
	({                                             \
		__typeof__(a) util_a_ = (a);           \
		__typeof__(b) util_b_ = (b);           \
		util_a_ > util_b_ ? util_a_ : util_b_; \
	})

/* A function whose argument number "n" is a printf format, for its va_list. */
#define util_printf_va(n) __attribute__((format(printf, n, 0)))

#endif /* UTIL_COMPILER_H */
