/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loggers. All sources of one name are one logger; its name says where it stands: "a::b" and "a.b"
 * are below "a". What is shown where is decided in log.c.
 */
#include "core/logger.h"

#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/log_backend.h"
#include "util/list.h"

#define LEVEL_NOT_SET 0

/* Lock: the log lock. Life: while a source has it; that of a library as long as the process. */
struct doca_logger {
	struct util_list node;
	bool is_sdk;
	unsigned int sources;
	uint32_t level; /* or LEVEL_NOT_SET */
	char name[];
};

static struct util_list loggers = {&loggers, &loggers};
/* By number, which is the place plus one: 0 is never one. */
static struct doca_logger *log_sources[CORE_MAX_LOG_SOURCES];
/* Set for all at once: of the applications' and of the libraries'. */
static uint32_t root_levels[2] = {LEVEL_NOT_SET, LEVEL_NOT_SET};

/* What stands behind above in name, without the separator; NULL when name is not below it. */
static const char *name_below(const char *name, const char *above)
{
	size_t n = strlen(above);

	if (strncmp(name, above, n))
		return NULL;
	if (name[n] == '.')
		return name + n + 1;
	return !strncmp(name + n, "::", 2) ? name + n + 2 : NULL;
}

static unsigned int name_parts(const char *name)
{
	unsigned int parts = 1;

	for (const char *p = name; *p; p++) {
		if (*p == '.' || (p[0] == ':' && p[1] == ':'))
			parts++;
		if (p[0] == ':' && p[1] == ':')
			p++;
	}
	return parts;
}

static struct doca_logger *logger_find(bool is_sdk, const char *name)
{
	struct doca_logger *l;

	util_list_for_each(&loggers, l, node) {
		if (l->is_sdk == is_sdk && !strcmp(l->name, name))
			return l;
	}
	return NULL;
}

/* The one with this name, with one source more. NULL: no memory. */
static struct doca_logger *logger_get(bool is_sdk, const char *name)
{
	struct doca_logger *l = logger_find(is_sdk, name);

	if (!l) {
		l = calloc(1, sizeof(*l) + strlen(name) + 1);
		if (!l)
			return NULL;
		l->is_sdk = is_sdk;
		memcpy(l->name, name, strlen(name) + 1);
		util_list_add_tail(&loggers, &l->node);
	}
	l->sources++;
	return l;
}

static void logger_put(struct doca_logger *logger)
{
	if (--logger->sources)
		return;
	util_list_del(&logger->node);
	free(logger);
}

/* Is it one still? A list may be older than what became of its elements. */
static bool logger_exists(const struct doca_logger *logger)
{
	struct doca_logger *l;

	util_list_for_each(&loggers, l, node) {
		if (l == logger)
			return true;
	}
	return false;
}

struct doca_logger *core_logger_of_source(int source)
{
	return source >= 1 && source <= CORE_MAX_LOG_SOURCES ? log_sources[source - 1] : NULL;
}

struct doca_logger *core_logger_of_library(const char *name)
{
	struct doca_logger *l = logger_find(true, name);

	return l ? l : logger_get(true, name);
}

uint32_t core_logger_level(const struct doca_logger *logger, uint32_t fallback)
{
	uint32_t level = root_levels[logger->is_sdk];
	size_t nearest = 0;
	struct doca_logger *l;

	if (logger->level != LEVEL_NOT_SET)
		return logger->level;
	util_list_for_each(&loggers, l, node) {
		if (l->is_sdk != logger->is_sdk || l->level == LEVEL_NOT_SET ||
		    strlen(l->name) < nearest || !name_below(logger->name, l->name))
			continue;
		nearest = strlen(l->name);
		level = l->level;
	}
	return level != LEVEL_NOT_SET ? level : fallback;
}

const char *core_logger_name(const struct doca_logger *logger)
{
	return logger->name;
}

doca_error_t doca_log_register_source(const char *source_name, int *source)
{
	doca_error_t result = DOCA_ERROR_NO_MEMORY;

	if (!source_name || !source || strlen(source_name) >= DOCA_LOGGER_NAME_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	for (int i = 0; i < CORE_MAX_LOG_SOURCES; i++) {
		if (log_sources[i])
			continue;
		log_sources[i] = logger_get(false, source_name);
		if (log_sources[i]) {
			*source = i + 1;
			result = DOCA_SUCCESS;
		}
		break;
	}
	core_log_unlock();
	return result;
}

doca_error_t doca_log_unregister_source(int source)
{
	doca_error_t result = DOCA_ERROR_INVALID_VALUE;

	core_log_lock();
	if (core_logger_of_source(source)) {
		logger_put(log_sources[source - 1]);
		log_sources[source - 1] = NULL;
		result = DOCA_SUCCESS;
	}
	core_log_unlock();
	return result;
}

/* Is l below logger (NULL: the root of all), at most depth levels (0: any number)? */
static bool logger_is_listed(const struct doca_logger *l, const struct doca_logger *logger,
			     uint8_t depth)
{
	const char *rest = l->name;

	if (logger)
		rest = l->is_sdk == logger->is_sdk ? name_below(l->name, logger->name) : NULL;
	return rest && (!depth || name_parts(rest) <= depth);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp((*(struct doca_logger *const *)a)->name,
		      (*(struct doca_logger *const *)b)->name);
}

doca_error_t doca_logger_create_list(const struct doca_logger *logger, uint8_t depth,
				     struct doca_logger ***logger_list, uint32_t *nb_loggers)
{
	doca_error_t result = DOCA_SUCCESS;
	struct doca_logger *l, **list;
	uint32_t n = 0;

	if (!logger_list || !nb_loggers)
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	if (logger && !logger_exists(logger)) {
		result = DOCA_ERROR_NOT_FOUND;
		goto out_unlock;
	}
	util_list_for_each(&loggers, l, node)
		n += logger_is_listed(l, logger, depth);
	/* NULL at the end: doca_logger_find_by_name() is not told the length. */
	list = calloc((size_t)n + 1, sizeof(struct doca_logger *));
	if (!list) {
		result = DOCA_ERROR_NO_MEMORY;
		goto out_unlock;
	}
	n = 0;
	util_list_for_each(&loggers, l, node) {
		if (logger_is_listed(l, logger, depth))
			list[n++] = l;
	}
	qsort(list, n, sizeof(struct doca_logger *), compare_names);
	*logger_list = list;
	*nb_loggers = n;
out_unlock:
	core_log_unlock();
	return result;
}

doca_error_t doca_logger_destroy_list(struct doca_logger **logger_list)
{
	if (!logger_list)
		return DOCA_ERROR_INVALID_VALUE;
	free(logger_list);
	return DOCA_SUCCESS;
}

/* Of logger (NULL: the root of all) and, if they are to have it too, of all below it. */
static void logger_set(struct doca_logger *logger, uint32_t level, bool is_propagated)
{
	struct doca_logger *l;

	if (logger)
		logger->level = level;
	else
		root_levels[false] = root_levels[true] = level;
	if (!is_propagated)
		return;
	util_list_for_each(&loggers, l, node) {
		if (logger_is_listed(l, logger, 0))
			l->level = level;
	}
}

doca_error_t doca_logger_set_level(struct doca_logger *logger, int level, uint8_t propagate)
{
	doca_error_t result = DOCA_SUCCESS;

	if (level < 0 || !core_log_level_is_valid((uint32_t)level) || (!logger && !propagate))
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	if (logger && !logger_exists(logger))
		result = DOCA_ERROR_NOT_FOUND;
	else
		logger_set(logger, (uint32_t)level, propagate);
	core_log_unlock();
	return result;
}

doca_error_t doca_logger_get_level(const struct doca_logger *logger, int *level)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!logger || !level)
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	if (logger_exists(logger))
		*level = (int)core_logger_level(logger, core_log_default_level(logger->is_sdk));
	else
		result = DOCA_ERROR_NOT_FOUND;
	core_log_unlock();
	return result;
}

doca_error_t doca_logger_get_name(const struct doca_logger *logger,
				  char name[DOCA_LOGGER_NAME_SIZE])
{
	doca_error_t result = DOCA_SUCCESS;

	if (!logger || !name)
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	if (logger_exists(logger))
		memcpy(name, logger->name, strlen(logger->name) + 1);
	else
		result = DOCA_ERROR_NOT_FOUND;
	core_log_unlock();
	return result;
}

struct doca_logger *doca_logger_find_by_name(struct doca_logger **logger_list, const char *name)
{
	struct doca_logger *found = NULL;

	if (!logger_list || !name)
		return NULL;
	core_log_lock();
	for (; *logger_list && !found; logger_list++) {
		if (logger_exists(*logger_list) && !strcmp((*logger_list)->name, name))
			found = *logger_list;
	}
	core_log_unlock();
	return found;
}
