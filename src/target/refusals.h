/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of hosts that are refused. Anybody can be, as often as he likes, so it has a bound: some
 * lines in a time, then how many more there were.
 */
#ifndef TGT_REFUSALS_H
#define TGT_REFUSALS_H

#include <stdint.h>

struct tgt;

enum {
	TGT_REFUSALS_SHOWN = 10,
	TGT_REFUSALS_WINDOW_MS = 10 * 1000,
};

struct tgt_refusals {
	uint64_t until_ms; /* end of the window; without one nothing was shown or hidden */
	uint32_t shown, hidden;
};

/** tgt_log_refused() - tgt_log(), or count it if there were many of late. */
void tgt_log_refused(struct tgt *tgt, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** tgt_refusals_tick() - say how many more there were, when the time has come. */
void tgt_refusals_tick(struct tgt *tgt);

/** tgt_refusals_deadline() - when that is, UINT64_MAX for never. */
uint64_t tgt_refusals_deadline(const struct tgt *tgt);

#endif
