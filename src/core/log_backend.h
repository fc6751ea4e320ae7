/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where log records go. log.c decides which back-end gets a record; inside core only.
 */
#ifndef CORE_LOG_BACKEND_H
#define CORE_LOG_BACKEND_H

#include <doca_log.h>
#include <stdbool.h>
#include <stdio.h>

struct doca_log_backend;

/* One finished record. line has the time, level and source in front and a line feed at the end. */
struct core_log_record {
	uint32_t level;
	const char *line;
	size_t line_bytes;
	const char *bare; /* the part of line behind the time, for sinks that have their own */
};

/* Lock: log_lock (log.c). Life: never freed, the API has no way to. */
struct doca_log_backend {
	void (*write)(struct doca_log_backend *backend, const struct core_log_record *record);
	bool is_sdk;
	uint32_t lower; /* most verbose level shown; the only one that an SDK back-end uses */
	uint32_t upper; /* most severe level shown */
	bool is_lower_strict; /* the global limit does not count */
	bool is_upper_strict;
	/* Of the sink. */
	FILE *file;
	int fd;
	char *name;
	char *buf;
	size_t capacity;
	size_t used;
	log_flush_callback flush;
};

bool core_log_level_is_valid(uint32_t level);

/*
 * log.c: add a copy of the template to the back-ends of its world. Sets the level of an SDK
 * back-end. DOCA_ERROR_NO_MEMORY, also when there are too many.
 */
doca_error_t core_log_add_backend(const struct doca_log_backend *template,
				  struct doca_log_backend **backend);

/* log.c: the level of an SDK back-end is another one now. With the lock held. */
void core_log_levels_changed(void);

/* log.c: the lock that guards all of this. */
void core_log_lock(void);
void core_log_unlock(void);

#endif /* CORE_LOG_BACKEND_H */
