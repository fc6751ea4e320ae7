/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the libraries log: to the SDK back-ends of <doca_log.h>. Control path only. Library code
 * below a public entry point does not log above debug.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <doca_log.h>
#include <stdbool.h>

#include "core/export.h"

/*
 * Does a back-end show messages of this level? Any thread, no lock: for what costs something to
 * say.
 */
CORE_EXPORT bool doca_priv_log_is_on(enum doca_log_level level);

/*
 * source: a constant short name, such as "sta.qp". No line feed at the end of the text. A message
 * that nobody shows costs one load.
 */
CORE_EXPORT void doca_priv_log(enum doca_log_level level, const char *source, const char *format,
			       ...) __attribute__((format(printf, 3, 4)));

#endif /* CORE_LOG_H */
