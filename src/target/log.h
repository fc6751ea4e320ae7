/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator sees: short lines on stderr, one an event, never one a command. Strings that a
 * peer chose go through tgt_quote() first. Tests redirect or silence it.
 */
#ifndef TGT_LOG_H
#define TGT_LOG_H

#include <stdbool.h>

/** tgt_log() - one line, "softsta-tgt: " in front and a newline behind it. */
void tgt_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** tgt_log_silence() - drop lines (unit tests). */
void tgt_log_silence(bool silent);

#endif
