/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the libraries log: to the SDK back-ends of <doca_log.h>. Library code below a public entry
 * point does not log above debug but for faults. The data path asks doca_priv_log_is_on() first.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <doca_log.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/export.h"

/* The most verbose level that a back-end of the libraries has, 0 without one. log.c writes it. */
CORE_EXPORT extern atomic_uint doca_priv_log_shown;

/*
 * Does a back-end show messages of this level? Any thread, no lock: for what costs something to
 * say, and in the data path, where it is a load and a branch.
 */
static inline bool doca_priv_log_is_on(enum doca_log_level level)
{
	return __builtin_expect(
		level <= atomic_load_explicit(&doca_priv_log_shown, memory_order_relaxed), 0);
}

/*
 * source: a constant short name, such as "sta.qp". No line feed at the end of the text. A message
 * that nobody shows costs one load.
 */
CORE_EXPORT void doca_priv_log(enum doca_log_level level, const char *source, const char *format,
			       ...) __attribute__((format(printf, 3, 4)));

#endif /* CORE_LOG_H */
