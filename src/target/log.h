/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator sees: short lines on stderr, one an event, never one a command. Strings that a
 * peer chose go through tgt_quote() first. Tests redirect or silence it.
 */
#ifndef TGT_LOG_H
#define TGT_LOG_H

#include <stdbool.h>

/* The values are those of enum doca_log_level; an error is shown at least from ERROR on. */
enum tgt_log_level {
	TGT_LOG_DISABLE = 10,
	TGT_LOG_ERROR = 30,
	TGT_LOG_WARNING = 40,
	TGT_LOG_INFO = 50,
};

/** tgt_log() - one line, "softsta-tgt: " in front and a newline behind it. */
void tgt_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** tgt_log_warning(), tgt_log_error() - the same with "warning: " or "error: " in front. */
void tgt_log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tgt_log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** tgt_log_set_level() - what is more verbose than @level is dropped. At first all is shown. */
void tgt_log_set_level(int level);
int tgt_log_get_level(void);

/** tgt_log_silence() - drop lines (unit tests). */
void tgt_log_silence(bool silent);

#endif
