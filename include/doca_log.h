/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Logging.
 *
 * There are two separate worlds. Application back-ends show what the program logs with the
 * DOCA_LOG_* macros; SDK back-ends show what the libraries log. A level is one of enum
 * doca_log_level, higher is more verbose. A program that wants library messages creates an SDK
 * back-end.
 *
 * Environment: DOCA_LOG_LEVEL sets the initial global lower limit of the application's
 * messages, DOCA_LOG_LEVEL_SDK that of the libraries' (a number of enum doca_log_level, or its
 * name: CRIT, ERROR, WARNING, INFO, DEBUG, TRACE, DISABLE).
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

enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /**< nothing logged */
	DOCA_LOG_LEVEL_CRIT = 20, /**< critical */
	DOCA_LOG_LEVEL_ERROR = 30, /**< error */
	DOCA_LOG_LEVEL_WARNING = 40, /**< warning */
	DOCA_LOG_LEVEL_INFO = 50, /**< info */
	DOCA_LOG_LEVEL_DEBUG = 60, /**< debug */
	DOCA_LOG_LEVEL_TRACE = 70, /**< trace (needs trace build/define) */
};

typedef void (*log_flush_callback)(char *buf);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
						    uint32_t level);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
						    uint32_t upper_limit);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit);

DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_lower_limit(void);

DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_upper_limit(void);

DOCA_EXPERIMENTAL
doca_error_t doca_log_register_source(const char *source_name, int *source);

DOCA_EXPERIMENTAL
doca_error_t doca_log_unregister_source(int source);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity,
					      log_flush_callback handler,
					      struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog(const char *name,
						 struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity,
						  log_flush_callback handler,
						  struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name,
						     struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_sdk_limit(void);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_standard(void);

DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func,
		      const char *format, ...) __attribute__((format(printf, 6, 7)));

DOCA_EXPERIMENTAL
uint32_t doca_log_get_max_num_backends(void);

DOCA_EXPERIMENTAL
uint32_t doca_log_get_max_num_backends_sdk(void);

DOCA_EXPERIMENTAL
doca_error_t doca_logger_create_list(const struct doca_logger *logger, uint8_t depth,
				     struct doca_logger ***logger_list, uint32_t *nb_loggers);

DOCA_EXPERIMENTAL
doca_error_t doca_logger_destroy_list(struct doca_logger **logger_list);

DOCA_EXPERIMENTAL
doca_error_t doca_logger_set_level(struct doca_logger *logger, int level, uint8_t propagate);

DOCA_EXPERIMENTAL
doca_error_t doca_logger_get_level(const struct doca_logger *logger, int *level);

DOCA_EXPERIMENTAL
doca_error_t doca_logger_get_name(const struct doca_logger *logger,
				  char name[DOCA_LOGGER_NAME_SIZE]);

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
