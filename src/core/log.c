/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logging: global levels, and which back-end a record goes to. The back-ends are in log_backend.c,
 * the sources of messages in logger.c.
 */
#include "core/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "core/limits.h"
#include "core/log_backend.h"
#include "core/logger.h"
#include "util/compiler.h"

enum log_world {
	LOG_WORLD_APP,
	LOG_WORLD_SDK,
	LOG_NUM_WORLDS,
};

/* Lock: log_lock guards everything here. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static struct doca_log_backend *log_backends[LOG_NUM_WORLDS][CORE_MAX_LOG_BACKENDS];
static unsigned int num_log_backends[LOG_NUM_WORLDS];
static uint32_t log_lower = DOCA_LOG_LEVEL_INFO;
static uint32_t log_upper = DOCA_LOG_LEVEL_CRIT;
static uint32_t log_sdk_level = DOCA_LOG_LEVEL_WARNING;
/* Read without the lock. */
atomic_uint doca_priv_log_shown;
static pthread_once_t log_environment_once = PTHREAD_ONCE_INIT;

static const struct {
	uint32_t level;
	const char *name;
} log_levels[] = {
	{DOCA_LOG_LEVEL_DISABLE, "DISABLE"}, {DOCA_LOG_LEVEL_CRIT, "CRIT"},
	{DOCA_LOG_LEVEL_ERROR, "ERROR"},     {DOCA_LOG_LEVEL_WARNING, "WARNING"},
	{DOCA_LOG_LEVEL_INFO, "INFO"},	     {DOCA_LOG_LEVEL_DEBUG, "DEBUG"},
	{DOCA_LOG_LEVEL_TRACE, "TRACE"},
};

/* NULL for what is no level. */
static const char *log_level_name(uint32_t level)
{
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(log_levels); i++) {
		if (log_levels[i].level == level)
			return log_levels[i].name;
	}
	return NULL;
}

bool core_log_level_is_valid(uint32_t level)
{
	return log_level_name(level);
}

/* A level by name or number; what is neither leaves *level alone. */
static void log_level_from_environment(const char *variable, uint32_t *level)
{
	const char *text = getenv(variable);
	char *end;
	unsigned long number;

	if (!text || !*text)
		return;
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(log_levels); i++) {
		if (!strcasecmp(text, log_levels[i].name)) {
			*level = log_levels[i].level;
			return;
		}
	}
	number = strtoul(text, &end, 10);
	if (!*end && number <= UINT32_MAX && log_level_name((uint32_t)number))
		*level = (uint32_t)number;
}

static void log_read_environment(void)
{
	log_level_from_environment("DOCA_LOG_LEVEL", &log_lower);
	log_level_from_environment("DOCA_LOG_LEVEL_SDK", &log_sdk_level);
}

void core_log_lock(void)
{
	pthread_once(&log_environment_once, log_read_environment);
	pthread_mutex_lock(&log_lock);
}

void core_log_unlock(void)
{
	pthread_mutex_unlock(&log_lock);
}

void core_log_levels_changed(void)
{
	uint32_t shown = 0;

	for (unsigned int i = 0; i < num_log_backends[LOG_WORLD_SDK]; i++) {
		if (log_backends[LOG_WORLD_SDK][i]->lower > shown)
			shown = log_backends[LOG_WORLD_SDK][i]->lower;
	}
	atomic_store_explicit(&doca_priv_log_shown, shown, memory_order_relaxed);
}

doca_error_t core_log_add_backend(const struct doca_log_backend *template,
				  struct doca_log_backend **backend)
{
	enum log_world world = template->is_sdk ? LOG_WORLD_SDK : LOG_WORLD_APP;
	struct doca_log_backend *b = malloc(sizeof(*b));
	doca_error_t result = DOCA_ERROR_NO_MEMORY;

	if (!b)
		return result;
	*b = *template;
	core_log_lock();
	if (num_log_backends[world] < CORE_MAX_LOG_BACKENDS) {
		if (b->is_sdk)
			b->lower = log_sdk_level;
		log_backends[world][num_log_backends[world]++] = b;
		core_log_levels_changed();
		*backend = b;
		b = NULL;
		result = DOCA_SUCCESS;
	}
	core_log_unlock();
	free(b);
	return result;
}

uint32_t doca_log_get_max_num_backends(void)
{
	return CORE_MAX_LOG_BACKENDS;
}

uint32_t doca_log_get_max_num_backends_sdk(void)
{
	return CORE_MAX_LOG_BACKENDS;
}

/* Global levels. */

static doca_error_t log_set(uint32_t *which, uint32_t level)
{
	if (!core_log_level_is_valid(level))
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	*which = level;
	core_log_unlock();
	return DOCA_SUCCESS;
}

static uint32_t log_get(const uint32_t *which)
{
	uint32_t level;

	core_log_lock();
	level = *which;
	core_log_unlock();
	return level;
}

doca_error_t doca_log_level_set_global_lower_limit(uint32_t level)
{
	return log_set(&log_lower, level);
}

doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit)
{
	return log_set(&log_upper, upper_limit);
}

uint32_t doca_log_level_get_global_lower_limit(void)
{
	return log_get(&log_lower);
}

uint32_t doca_log_level_get_global_upper_limit(void)
{
	return log_get(&log_upper);
}

doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level)
{
	if (!core_log_level_is_valid(level))
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	log_sdk_level = level;
	for (unsigned int i = 0; i < num_log_backends[LOG_WORLD_SDK]; i++)
		log_backends[LOG_WORLD_SDK][i]->lower = level;
	core_log_levels_changed();
	core_log_unlock();
	return DOCA_SUCCESS;
}

uint32_t doca_log_level_get_global_sdk_limit(void)
{
	return log_get(&log_sdk_level);
}

uint32_t core_log_default_level(bool is_sdk)
{
	return is_sdk ? log_sdk_level : log_lower;
}

/* With the lock held. logger is NULL for a library's when there was no memory for it. */
static uint32_t log_limit(enum log_world world, const struct doca_logger *logger)
{
	/* An SDK back-end has a level of its own, so that of a logger can only narrow it. */
	uint32_t fallback = world == LOG_WORLD_SDK ? DOCA_LOG_LEVEL_TRACE : log_lower;

	return logger ? core_logger_level(logger, fallback) : fallback;
}

/* With the lock held. limit is the most verbose level that the logger has. */
static bool log_backend_shows(const struct doca_log_backend *b, uint32_t level, uint32_t limit)
{
	if (level > b->lower)
		return false;
	if (b->is_sdk)
		return level <= limit;
	return level >= b->upper && (b->is_lower_strict || level <= limit) &&
	       (b->is_upper_strict || level >= log_upper);
}

/* "[2026-01-31 23:59:59.123456][LEVEL][source] text\n"; bare begins at the second bracket. */
util_printf_va(3) static doca_error_t log_format(struct core_log_record *record, const char *source,
						 const char *format, va_list args)
{
	struct timespec ts;
	struct tm tm;
	char date[32];
	char *text, *line;
	int n;

	if (vasprintf(&text, format, args) < 0)
		return DOCA_ERROR_NO_MEMORY;
	clock_gettime(CLOCK_REALTIME, &ts);
	localtime_r(&ts.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	n = asprintf(&line, "[%s.%06ld][%s][%s] %s\n", date, ts.tv_nsec / 1000,
		     log_level_name(record->level), source, text);
	free(text);
	if (n < 0)
		return DOCA_ERROR_NO_MEMORY;
	record->line = line;
	record->line_bytes = (size_t)n;
	record->bare = strchr(line, ']') + 1;
	return DOCA_SUCCESS;
}

/* With the lock held. */
util_printf_va(5) static doca_error_t
	log_emit(enum log_world world, uint32_t level, const struct doca_logger *logger,
		 const char *source, const char *format, va_list args)
{
	struct core_log_record record = {.level = level};
	uint32_t limit = log_limit(world, logger);
	doca_error_t result = DOCA_SUCCESS;

	for (unsigned int i = 0; i < num_log_backends[world] && result == DOCA_SUCCESS; i++) {
		struct doca_log_backend *b = log_backends[world][i];

		if (!log_backend_shows(b, level, limit))
			continue;
		if (!record.line)
			result = log_format(&record, source, format, args);
		if (result == DOCA_SUCCESS)
			b->write(b, &record);
	}
	free((char *)record.line);
	return result;
}

doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func,
		      const char *format, ...)
{
	doca_error_t result = DOCA_ERROR_INVALID_VALUE;
	const struct doca_logger *logger;
	va_list args;

	/* Where in the program it was is for the trace build of the API's origin; not shown. */
	(void)fname;
	(void)line;
	(void)func;
	if (!format || !core_log_level_is_valid(level) || level == DOCA_LOG_LEVEL_DISABLE)
		return result;
	va_start(args, format);
	core_log_lock();
	logger = core_logger_of_source(source);
	if (logger)
		result = log_emit(LOG_WORLD_APP, level, logger, core_logger_name(logger), format,
				  args);
	core_log_unlock();
	va_end(args);
	return result;
}

void doca_priv_log(enum doca_log_level level, const char *source, const char *format, ...)
{
	va_list args;

	if (!doca_priv_log_is_on(level))
		return;
	va_start(args, format);
	core_log_lock();
	(void)log_emit(LOG_WORLD_SDK, level, core_logger_of_library(source), source, format, args);
	core_log_unlock();
	va_end(args);
}
