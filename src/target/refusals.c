/* SPDX-License-Identifier: Apache-2.0 */
/* The log of hosts that are refused; see refusals.h. */
#include "target/refusals.h"

#include <stdarg.h>
#include <stdio.h>

#include "target/log.h"
#include "target/target.h"

void tgt_refusals_tick(struct tgt *tgt)
{
	struct tgt_refusals *r = &tgt->refusals;

	if (tgt->now_ms < r->until_ms)
		return;
	if (r->hidden)
		tgt_log("%u more refused in %d seconds", r->hidden, TGT_REFUSALS_WINDOW_MS / 1000);
	*r = (struct tgt_refusals){0};
}

uint64_t tgt_refusals_deadline(const struct tgt *tgt)
{
	return tgt->refusals.hidden ? tgt->refusals.until_ms : UINT64_MAX;
}

void tgt_log_refused(struct tgt *tgt, const char *fmt, ...)
{
	struct tgt_refusals *r = &tgt->refusals;
	char line[1024];
	va_list ap;

	tgt_refusals_tick(tgt);
	if (!r->shown)
		r->until_ms = tgt->now_ms + TGT_REFUSALS_WINDOW_MS;
	if (r->shown == TGT_REFUSALS_SHOWN) {
		r->hidden++;
		return;
	}
	r->shown++;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	tgt_log("%s", line);
}
