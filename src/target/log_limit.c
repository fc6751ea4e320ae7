/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the log that could be without end; see log_limit.h. */
#include "target/log_limit.h"

#include <stdarg.h>
#include <stdio.h>

#include "target/log.h"
#include "target/target.h"
#include "util/compiler.h"

static const char *const more_of[TGT_LOG_KINDS] = {
	[TGT_LOG_REFUSED] = "refused",
	[TGT_LOG_DISK_ERROR] = "disk errors",
};

static void tick(struct tgt *tgt, enum tgt_log_kind kind)
{
	struct tgt_log_limit *limit = &tgt->log_limits[kind];

	if (tgt->now_ms < limit->until_ms)
		return;
	if (limit->hidden)
		tgt_log("%u more %s in %d seconds", limit->hidden, more_of[kind],
			TGT_LOG_LIMIT_MS / 1000);
	*limit = (struct tgt_log_limit){0};
}

void tgt_log_limit_tick(struct tgt *tgt)
{
	for (int kind = 0; kind < TGT_LOG_KINDS; kind++)
		tick(tgt, (enum tgt_log_kind)kind);
}

uint64_t tgt_log_limit_deadline(const struct tgt *tgt)
{
	uint64_t next = UINT64_MAX;

	for (int kind = 0; kind < TGT_LOG_KINDS; kind++)
		if (tgt->log_limits[kind].hidden)
			next = util_min(next, tgt->log_limits[kind].until_ms);
	return next;
}

void tgt_log_limited(struct tgt *tgt, enum tgt_log_kind kind, const char *fmt, ...)
{
	struct tgt_log_limit *limit = &tgt->log_limits[kind];
	char line[1024];
	va_list ap;

	tick(tgt, kind);
	if (!limit->shown)
		limit->until_ms = tgt->now_ms + TGT_LOG_LIMIT_MS;
	if (limit->shown == TGT_LOG_LIMIT_LINES) {
		limit->hidden++;
		return;
	}
	limit->shown++;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	tgt_log("%s", line);
}
