/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's log; see log.h. */
#include "target/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/compiler.h"

static bool is_silent;
static int shown = TGT_LOG_INFO;

void tgt_log_silence(bool silent)
{
	is_silent = silent;
}

void tgt_log_set_level(int level)
{
	shown = level;
}

int tgt_log_get_level(void)
{
	return shown;
}

util_printf_va(3) static void log_line(enum tgt_log_level level, const char *prefix,
				       const char *fmt, va_list ap)
{
	char line[1024];

	if (is_silent || (int)level > shown)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	fprintf(stderr, "softsta-tgt: %s%s\n", prefix, line);
}

void tgt_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(TGT_LOG_INFO, "", fmt, ap);
	va_end(ap);
}

void tgt_log_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(TGT_LOG_WARNING, "warning: ", fmt, ap);
	va_end(ap);
}

void tgt_log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(TGT_LOG_ERROR, "error: ", fmt, ap);
	va_end(ap);
}
