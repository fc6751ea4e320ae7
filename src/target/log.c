/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's log; see log.h. */
#include "target/log.h"

#include <stdarg.h>
#include <stdio.h>

static bool is_silent;

void tgt_log_silence(bool silent)
{
	is_silent = silent;
}

void tgt_log(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (is_silent)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "softsta-tgt: %s\n", line);
}
