/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logging for what lies below core (roce, nvme): to a hook of this process. Without a hook messages
 * up to the level of the environment variable SOFTSTA_LOG (error, warning, info, debug; default
 * warning) go to stderr. Control path only. There is one hook for each shared library or program
 * that links util.
 */
#ifndef UTIL_LOG_H
#define UTIL_LOG_H

#include <stdarg.h>

/* The values are those of enum doca_log_level, so that core's hook needs no table. */
enum util_log_level {
	UTIL_LOG_ERROR = 30,
	UTIL_LOG_WARNING = 40,
	UTIL_LOG_INFO = 50,
	UTIL_LOG_DEBUG = 60,
};

typedef void (*util_log_hook_t)(enum util_log_level level, const char *source, const char *format,
				va_list args);

/* Any thread; NULL restores the default. */
void util_log_set_hook(util_log_hook_t hook);

/* source: a constant short name, such as "roce.cm". No line feed at the end of the text. */
void util_log(enum util_log_level level, const char *source, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* UTIL_LOG_H */
