/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libdoca_sta says about itself: life cycles and Connects at debug level, each command at
 * trace level, and a warning where memory is at risk. Objects go by what a user can look up: the
 * number of a QP, the NQN of a subsystem, the index of an EU. The arguments of a message that
 * nobody shows are not evaluated.
 */
#ifndef STA_LOG_H
#define STA_LOG_H

#include "core/log.h"

struct doca_sta_qp_handle;
struct sta_eu;
struct sta_req;

#define STA_SAY(level, source, ...)                                       \
	do {                                                              \
		if (doca_priv_log_is_on(level))                           \
			doca_priv_log(level, "sta." source, __VA_ARGS__); \
	} while (0)

/* @source is a string constant, "qp" for "sta.qp". */
#define sta_warn(source, ...)  STA_SAY(DOCA_LOG_LEVEL_WARNING, source, __VA_ARGS__)
#define sta_debug(source, ...) STA_SAY(DOCA_LOG_LEVEL_DEBUG, source, __VA_ARGS__)
#define sta_trace(source, ...) STA_SAY(DOCA_LOG_LEVEL_TRACE, source, __VA_ARGS__)

/* What follows is called when the level is on. */

/* A command's end: what was asked, what was answered. @how is "" or a remark with a comma before.
 */
void sta_log_command(const struct sta_eu *eu, const struct sta_req *req, const char *how);
/* A Connect, whose data is here; and what the application answered. */
void sta_log_connect(const struct sta_eu *eu, const struct sta_req *req);
void sta_log_connected(const struct sta_eu *eu, const struct sta_req *req);

#endif
