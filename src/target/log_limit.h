/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the log that a host or a disk can cause without end: of each kind there are some in a
 * time, then it is told how many more there were.
 */
#ifndef TGT_LOG_LIMIT_H
#define TGT_LOG_LIMIT_H

#include <stdint.h>

struct tgt;

enum tgt_log_kind {
	TGT_LOG_REFUSED, /* connections and hosts that may not come in */
	TGT_LOG_DISK_ERROR,
	TGT_LOG_KINDS,
};

enum {
	TGT_LOG_LIMIT_LINES = 10,
	TGT_LOG_LIMIT_MS = 10 * 1000,
};

struct tgt_log_limit {
	uint64_t until_ms; /* end of the time; without one nothing was shown or hidden */
	uint32_t shown, hidden;
};

/** tgt_log_limited() - tgt_log(), or count it if there were many of its kind of late. */
void tgt_log_limited(struct tgt *tgt, enum tgt_log_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** tgt_log_limit_tick() - say how many more there were, when the time has come. */
void tgt_log_limit_tick(struct tgt *tgt);

/** tgt_log_limit_deadline() - when that is, UINT64_MAX for never. */
uint64_t tgt_log_limit_deadline(const struct tgt *tgt);

#endif
