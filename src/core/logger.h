/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loggers: the named sources of messages, and the level that each may have of its own. Inside core
 * only. Everything here is called with the log lock held (log_backend.h), but for the functions of
 * <doca_log.h>, which take it.
 */
#ifndef CORE_LOGGER_H
#define CORE_LOGGER_H

#include <doca_log.h>
#include <stdbool.h>

/* The application's source with this number, or NULL. */
struct doca_logger *core_logger_of_source(int source);

/* The libraries' source of this name, made if need be. NULL when there is no memory for it. */
struct doca_logger *core_logger_of_library(const char *name);

/* The level set for it, or for the nearest above it that has one; if none has, fallback. */
uint32_t core_logger_level(const struct doca_logger *logger, uint32_t fallback);

const char *core_logger_name(const struct doca_logger *logger);

/* log.c: what a logger has that no level was set for. */
uint32_t core_log_default_level(bool is_sdk);

#endif /* CORE_LOGGER_H */
