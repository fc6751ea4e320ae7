/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of log back-ends, and their own levels. A record that cannot be written is lost: there
 * is nowhere to report it.
 */
#include "core/log_backend.h"

#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

static void sink_file(struct doca_log_backend *b, const struct core_log_record *record)
{
	fwrite(record->line, 1, record->line_bytes, b->file);
	fflush(b->file);
}

static void sink_fd(struct doca_log_backend *b, const struct core_log_record *record)
{
	(void)!write(b->fd, record->line, record->line_bytes);
}

/* The buffer is a string of whole records; what does not fit any buffer is cut. */
static void sink_buf(struct doca_log_backend *b, const struct core_log_record *record)
{
	size_t n = record->line_bytes;

	if (b->used && n > b->capacity - 1 - b->used) {
		if (b->flush)
			b->flush(b->buf);
		b->used = 0;
	}
	if (n > b->capacity - 1)
		n = b->capacity - 1;
	memcpy(b->buf + b->used, record->line, n);
	b->used += n;
	b->buf[b->used] = '\0';
}

static void sink_syslog(struct doca_log_backend *b, const struct core_log_record *record)
{
	int priority = LOG_DEBUG;

	if (record->level <= DOCA_LOG_LEVEL_CRIT)
		priority = LOG_CRIT;
	else if (record->level <= DOCA_LOG_LEVEL_ERROR)
		priority = LOG_ERR;
	else if (record->level <= DOCA_LOG_LEVEL_WARNING)
		priority = LOG_WARNING;
	else if (record->level <= DOCA_LOG_LEVEL_INFO)
		priority = LOG_INFO;
	syslog(LOG_USER | priority, "%s: %s", b->name, record->bare);
}

/* A back-end that shows everything its world's global levels let through. */
static struct doca_log_backend backend_template(bool is_sdk)
{
	return (struct doca_log_backend){
		.is_sdk = is_sdk,
		.lower = DOCA_LOG_LEVEL_TRACE,
		.upper = DOCA_LOG_LEVEL_CRIT,
		.fd = -1,
	};
}

static doca_error_t create_with_file(FILE *file, bool is_sdk, struct doca_log_backend **backend)
{
	struct doca_log_backend b = backend_template(is_sdk);

	if (!file || !backend)
		return DOCA_ERROR_INVALID_VALUE;
	b.write = sink_file;
	b.file = file;
	return core_log_add_backend(&b, backend);
}

static doca_error_t create_with_fd(int fd, bool is_sdk, struct doca_log_backend **backend)
{
	struct doca_log_backend b = backend_template(is_sdk);

	if (fd < 0 || !backend)
		return DOCA_ERROR_INVALID_VALUE;
	b.write = sink_fd;
	b.fd = fd;
	return core_log_add_backend(&b, backend);
}

static doca_error_t create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
				    bool is_sdk, struct doca_log_backend **backend)
{
	struct doca_log_backend b = backend_template(is_sdk);

	if (!buf || capacity < 2 || !handler || !backend)
		return DOCA_ERROR_INVALID_VALUE;
	b.write = sink_buf;
	b.buf = buf;
	b.capacity = capacity;
	b.flush = handler;
	buf[0] = '\0';
	return core_log_add_backend(&b, backend);
}

static doca_error_t create_with_syslog(const char *name, bool is_sdk,
				       struct doca_log_backend **backend)
{
	struct doca_log_backend b = backend_template(is_sdk);
	doca_error_t result;

	if (!name || !backend)
		return DOCA_ERROR_INVALID_VALUE;
	b.write = sink_syslog;
	b.name = strdup(name);
	if (!b.name)
		return DOCA_ERROR_NO_MEMORY;
	result = core_log_add_backend(&b, backend);
	if (result != DOCA_SUCCESS)
		free(b.name);
	return result;
}

doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend)
{
	return create_with_file(fptr, false, backend);
}

doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend)
{
	return create_with_file(fptr, true, backend);
}

doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend)
{
	return create_with_fd(fd, false, backend);
}

doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend)
{
	return create_with_fd(fd, true, backend);
}

doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity,
					      log_flush_callback handler,
					      struct doca_log_backend **backend)
{
	return create_with_buf(buf, capacity, handler, false, backend);
}

doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity,
						  log_flush_callback handler,
						  struct doca_log_backend **backend)
{
	return create_with_buf(buf, capacity, handler, true, backend);
}

doca_error_t doca_log_backend_create_with_syslog(const char *name,
						 struct doca_log_backend **backend)
{
	return create_with_syslog(name, false, backend);
}

doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name,
						     struct doca_log_backend **backend)
{
	return create_with_syslog(name, true, backend);
}

doca_error_t doca_log_backend_create_standard(void)
{
	struct doca_log_backend b = backend_template(false);
	struct doca_log_backend *unused;
	doca_error_t result;

	b.write = sink_file;
	b.file = stdout;
	b.upper = DOCA_LOG_LEVEL_INFO;
	result = core_log_add_backend(&b, &unused);
	if (result != DOCA_SUCCESS)
		return result;
	b.file = stderr;
	b.lower = DOCA_LOG_LEVEL_WARNING;
	b.upper = DOCA_LOG_LEVEL_CRIT;
	return core_log_add_backend(&b, &unused);
}

static bool is_app_backend(const struct doca_log_backend *b)
{
	return b && !b->is_sdk;
}

doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
						    uint32_t level)
{
	if (!is_app_backend(backend) || !core_log_level_is_valid(level))
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	backend->lower = level;
	core_log_unlock();
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
						    uint32_t upper_limit)
{
	if (!is_app_backend(backend) || !core_log_level_is_valid(upper_limit))
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	backend->upper = upper_limit;
	core_log_unlock();
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend)
{
	if (!is_app_backend(backend))
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	backend->is_lower_strict = true;
	core_log_unlock();
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend)
{
	if (!is_app_backend(backend))
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	backend->is_upper_strict = true;
	core_log_unlock();
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level)
{
	if (!backend || !backend->is_sdk || !core_log_level_is_valid(level))
		return DOCA_ERROR_INVALID_VALUE;
	core_log_lock();
	backend->lower = level;
	core_log_levels_changed();
	core_log_unlock();
	return DOCA_SUCCESS;
}
