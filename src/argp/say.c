/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parser has to say: to the program's logger, else to the standard error stream. Not to
 * the log: nobody has to have a back-end when a command line is wrong.
 */
#include "argp/argp.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/compiler.h"

static util_printf_va(1) bool logger_takes(const char *format, va_list args)
{
	return argp_ctx->logger &&
	       argp_ctx->logger(DOCA_LOG_LEVEL_ERROR, format, args) == DOCA_SUCCESS;
}

void argp_say(const char *format, ...)
{
	va_list args;
	bool is_taken;

	if (argp_ctx->is_silent)
		return;
	va_start(args, format);
	is_taken = logger_takes(format, args);
	va_end(args);
	if (is_taken)
		return;
	flockfile(stderr);
	if (argp_ctx->program)
		fprintf(stderr, "%s: ", argp_ctx->program);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	funlockfile(stderr);
}

doca_error_t argp_no_memory(void)
{
	argp_say("out of memory");
	return DOCA_ERROR_NO_MEMORY;
}
