/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Logging.
 *
 * There are two separate worlds. Application back-ends show what the program logs with the
 * DOCA_LOG_* macros; SDK back-ends show what the libraries log. A level is one of enum
 * doca_log_level, higher is more verbose. A program that wants library messages creates an SDK
 * back-end.
 *
 * A logger is a named source of messages: what DOCA_LOG_REGISTER() registered, all of one name
 * together, and the parts of the libraries, once they have had a message of a level that an SDK
 * back-end shows. The name says where it stands: "a::b" and "a.b" are below "a". A level may be set
 * for a logger, or for one above it; it takes the place of the global lower limit for the
 * application's messages, and narrows what SDK back-ends show. A back-end's own limits count
 * besides.
 *
 * Environment: DOCA_LOG_LEVEL sets the initial global lower limit of the application's
 * messages, DOCA_LOG_LEVEL_SDK that of the libraries' (a number of enum doca_log_level, or its
 * name in either case: DISABLE, CRIT, ERROR, WARNING, INFO, DEBUG, TRACE). They are read when the
 * process first logs, or first asks for or sets a level. What is no level counts as not set.
 *
 * Thread: any.
 */
#ifndef DOCA_LOG_H
#define DOCA_LOG_H

#include <doca_compat.h>
#include <doca_error.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_log_backend;
struct doca_logger;

/** Buffer bytes for a logger name. */
#define DOCA_LOGGER_NAME_SIZE 256

/** How severe a message is, and how much a back-end shows. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /**< nothing logged */
	DOCA_LOG_LEVEL_CRIT = 20, /**< critical */
	DOCA_LOG_LEVEL_ERROR = 30, /**< error */
	DOCA_LOG_LEVEL_WARNING = 40, /**< warning */
	DOCA_LOG_LEVEL_INFO = 50, /**< info */
	DOCA_LOG_LEVEL_DEBUG = 60, /**< debug */
	DOCA_LOG_LEVEL_TRACE = 70, /**< trace: of a program, with DOCA_LOGGING_ALLOW_TRACE */
};

/**
 * log_flush_callback() - a back-end's buffer is full
 * @buf: the buffer: a string of whole records, one a line
 *
 * Must not log.
 */
typedef void (*log_flush_callback)(char *buf);

/**
 * doca_log_backend_set_level_lower_limit() - the most verbose level that a back-end shows
 * @backend: an application back-end
 * @level: of enum doca_log_level
 *
 * The global lower limit counts as well, unless the back-end is strict.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, an SDK back-end, or not a level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
						    uint32_t level);

/**
 * doca_log_backend_set_level_upper_limit() - the most severe level that a back-end shows
 * @backend: an application back-end
 * @upper_limit: of enum doca_log_level
 *
 * The global upper limit counts as well, unless the back-end is strict.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, an SDK back-end, or not a level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
						    uint32_t upper_limit);

/**
 * doca_log_backend_set_level_lower_limit_strict() - let a back-end's own lower limit count
 * alone
 * @backend: an application back-end
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, or an SDK back-end
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);

/**
 * doca_log_backend_set_level_upper_limit_strict() - let a back-end's own upper limit count
 * alone
 * @backend: an application back-end
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, or an SDK back-end
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

/**
 * doca_log_level_set_global_lower_limit() - the most verbose level that application back-ends
 * show
 * @level: of enum doca_log_level; DOCA_LOG_LEVEL_INFO, or what DOCA_LOG_LEVEL says, at the
 *   start
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: not a level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

/**
 * doca_log_level_set_global_upper_limit() - the most severe level that application back-ends
 * show
 * @upper_limit: of enum doca_log_level; DOCA_LOG_LEVEL_CRIT at the start
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: not a level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit);

/**
 * doca_log_level_get_global_lower_limit() - the most verbose level that application back-ends
 * show
 *
 * Return: of enum doca_log_level.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_lower_limit(void);

/**
 * doca_log_level_get_global_upper_limit() - the most severe level that application back-ends
 * show
 *
 * Return: of enum doca_log_level.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_upper_limit(void);

/**
 * doca_log_register_source() - name a source of messages
 * @source_name: the name, copied; less than DOCA_LOGGER_NAME_SIZE bytes
 * @source: where the source's number is put
 *
 * DOCA_LOG_REGISTER() does it.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a name that is too long
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many sources
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * doca_log_unregister_source() - forget a source
 * @source: its number
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: not the number of a source
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_unregister_source(int source);

/**
 * doca_log_backend_create_with_file() - log to a stream
 * @fptr: the stream; stays the caller's, open as long as there may be messages
 * @backend: where the back-end is put; it lives as long as the process
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many back-ends
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_fd() - log to a file descriptor
 * @fd: the descriptor; stays the caller's, open as long as there may be messages
 * @backend: where the back-end is put; it lives as long as the process
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, or a negative descriptor
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many back-ends
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_buf() - log to memory
 * @buf: the buffer; stays the caller's, valid as long as there may be messages
 * @capacity: its bytes, 2 or more
 * @handler: called when the next record does not fit; the buffer begins anew after it
 * @backend: where the back-end is put; it lives as long as the process
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or no room
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many back-ends
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity,
					      log_flush_callback handler,
					      struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_syslog() - log to syslog
 * @name: in front of each message, copied
 * @backend: where the back-end is put; it lives as long as the process
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many back-ends
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog(const char *name,
						 struct doca_log_backend **backend);

/**
 * doca_log_backend_set_sdk_level() - the most verbose level that an SDK back-end shows
 * @backend: an SDK back-end
 * @level: of enum doca_log_level
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, an application back-end, or not a level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

/**
 * doca_log_backend_create_with_file_sdk() - log library messages to a stream
 * @fptr: the stream; stays the caller's, open as long as there may be messages
 * @backend: where the back-end is put; it lives as long as the process
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many back-ends
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_fd_sdk() - log library messages to a file descriptor
 * @fd: the descriptor; stays the caller's, open as long as there may be messages
 * @backend: where the back-end is put; it lives as long as the process
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, or a negative descriptor
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many back-ends
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_buf_sdk() - log library messages to memory
 * @buf: the buffer; stays the caller's, valid as long as there may be messages
 * @capacity: its bytes, 2 or more
 * @handler: called when the next record does not fit; the buffer begins anew after it
 * @backend: where the back-end is put; it lives as long as the process
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or no room
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many back-ends
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity,
						  log_flush_callback handler,
						  struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_syslog_sdk() - log library messages to syslog
 * @name: in front of each message, copied
 * @backend: where the back-end is put; it lives as long as the process
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many back-ends
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name,
						     struct doca_log_backend **backend);

/**
 * doca_log_level_set_global_sdk_limit() - set the level of all SDK back-ends, and of those that
 * will be made
 * @level: of enum doca_log_level; DOCA_LOG_LEVEL_WARNING, or what DOCA_LOG_LEVEL_SDK says, at
 *   the start
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: not a level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

/**
 * doca_log_level_get_global_sdk_limit() - the level that a new SDK back-end gets
 *
 * Return: of enum doca_log_level.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_sdk_limit(void);

/**
 * doca_log_backend_create_standard() - log to the standard streams
 *
 * What is INFO or more verbose goes to stdout, what is WARNING or more severe to stderr, within the
 * global limits. The two back-ends that do it are not given out, so they have no limits of their
 * own.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many back-ends
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_standard(void);

/**
 * doca_log() - log a message; by way of DOCA_LOG() and its relatives
 * @level: of enum doca_log_level
 * @source: number of the source
 * @fname: file
 * @line: line in it
 * @func: function
 * @format: as for printf()
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL format, not a level, or not a source
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func,
		      const char *format, ...) __attribute__((format(printf, 6, 7)));

/**
 * doca_log_get_max_num_backends() - limit of application back-ends
 *
 * Return: the number.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_get_max_num_backends(void);

/**
 * doca_log_get_max_num_backends_sdk() - limit of SDK back-ends
 *
 * Return: the number.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_get_max_num_backends_sdk(void);

/**
 * doca_logger_create_list() - list loggers
 * @logger: the logger below which to list, itself not included; or NULL for all
 * @depth: how many levels below it; 0: all of them
 * @logger_list: where the array is put, sorted by name and with NULL behind the last; to be given
 * to doca_logger_destroy_list()
 * @nb_loggers: where its length is put, without the NULL; may be 0
 *
 * A logger may end while the list lives, when its last source is unregistered: it is not found
 * then.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: no place for the array or its length
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_NOT_FOUND: not a logger
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_create_list(const struct doca_logger *logger, uint8_t depth,
				     struct doca_logger ***logger_list, uint32_t *nb_loggers);

/**
 * doca_logger_destroy_list() - destroy a list of loggers
 * @logger_list: from doca_logger_create_list()
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_destroy_list(struct doca_logger **logger_list);

/**
 * doca_logger_set_level() - set the level of a logger: the most verbose that it shows
 * @logger: the logger, or NULL for all, those that will be made included
 * @level: of enum doca_log_level
 * @propagate: not 0: of those below it as well, whatever they had; 0: of those below it that have
 *   none of their own. Needed for NULL
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: not a level, or NULL without propagate
 * - DOCA_ERROR_NOT_FOUND: not a logger
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_set_level(struct doca_logger *logger, int level, uint8_t propagate);

/**
 * doca_logger_get_level() - the level of a logger
 * @logger: the logger
 * @level: where the level is put: what was set for it, or for the nearest above it that has one, or
 *   the global limit of its kind
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_FOUND: not a logger
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_get_level(const struct doca_logger *logger, int *level);

/**
 * doca_logger_get_name() - the name of a logger
 * @logger: the logger
 * @name: room for DOCA_LOGGER_NAME_SIZE bytes
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_FOUND: not a logger
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_get_name(const struct doca_logger *logger,
				  char name[DOCA_LOGGER_NAME_SIZE]);

/**
 * doca_logger_find_by_name() - find a logger in a list
 * @logger_list: from doca_logger_create_list()
 * @name: its whole name
 *
 * Return: the logger; NULL if there is none, or for a NULL argument.
 */
DOCA_EXPERIMENTAL
struct doca_logger *doca_logger_find_by_name(struct doca_logger **logger_list, const char *name);

/** One message at a level, from the source that DOCA_LOG_REGISTER() named in this file. */
#define DOCA_LOG(level, format, ...) \
	doca_log(level, log_source, __FILE__, __LINE__, __func__, format, ##__VA_ARGS__)

#define DOCA_LOG_CRIT(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, format, ##__VA_ARGS__)
#define DOCA_LOG_ERR(format, ...)  DOCA_LOG(DOCA_LOG_LEVEL_ERROR, format, ##__VA_ARGS__)
#define DOCA_LOG_WARN(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, format, ##__VA_ARGS__)
#define DOCA_LOG_INFO(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, format, ##__VA_ARGS__)
#define DOCA_LOG_DBG(format, ...)  DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, format, ##__VA_ARGS__)

/** Trace messages are compiled in only where DOCA_LOGGING_ALLOW_TRACE is defined. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_TRACE, format, ##__VA_ARGS__)
#else
#define DOCA_LOG_TRC(format, ...) \
	do {                      \
	} while (0)
#endif

/** Once per file that logs: names its source, registered before main() runs. */
#define DOCA_LOG_REGISTER(source)                                                      \
	static int log_source;                                                         \
	static void __attribute__((constructor(101), used)) log_register_source_(void) \
	{                                                                              \
		doca_log_register_source(#source, &log_source);                        \
	}

#ifdef __cplusplus
}
#endif

#endif /* DOCA_LOG_H */
