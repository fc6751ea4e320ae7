/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log hook and what happens without one.
 */
#include "util/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "util/compiler.h"

static _Atomic(util_log_hook_t) log_hook;

static const struct {
	const char *name;
	enum util_log_level level;
} level_names[] = {
	{"error", UTIL_LOG_ERROR},
	{"warning", UTIL_LOG_WARNING},
	{"info", UTIL_LOG_INFO},
	{"debug", UTIL_LOG_DEBUG},
};

static enum util_log_level level_from_environment(void)
{
	const char *text = getenv("SOFTSTA_LOG");

	for (size_t i = 0; text && i < UTIL_ARRAY_SIZE(level_names); i++) {
		if (!strcasecmp(text, level_names[i].name))
			return level_names[i].level;
	}
	return UTIL_LOG_WARNING;
}

util_printf_va(3) static void log_to_stderr(enum util_log_level level, const char *source,
					    const char *format, va_list args)
{
	char line[512];
	int used;

	if (level > level_from_environment())
		return;
	used = snprintf(line, sizeof(line), "%s: ", source);
	if (used > 0 && (size_t)used < sizeof(line))
		vsnprintf(line + used, sizeof(line) - (size_t)used, format, args);
	fprintf(stderr, "%s\n", line);
}

void util_log_set_hook(util_log_hook_t hook)
{
	atomic_store(&log_hook, hook);
}

void util_log(enum util_log_level level, const char *source, const char *format, ...)
{
	util_log_hook_t hook = atomic_load(&log_hook);
	va_list args;

	va_start(args, format);
	if (hook)
		hook(level, source, format, args);
	else
		log_to_stderr(level, source, format, args);
	va_end(args);
}
