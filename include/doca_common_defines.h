/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Branch hints.
 */
#ifndef DOCA_COMMON_DEFINES_H
#define DOCA_COMMON_DEFINES_H

#if defined(__GNUC__)
#define doca_likely(x)	 __builtin_expect(!!(x), 1)
#define doca_unlikely(x) __builtin_expect(!!(x), 0)
#else
#define doca_likely(x)	 (x)
#define doca_unlikely(x) (x)
#endif

#endif /* DOCA_COMMON_DEFINES_H */
