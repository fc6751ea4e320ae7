/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parser has to say: to the program's logger, else to the standard error stream. Not to
 * the log: nobody has to have a back-end when a command line is wrong.
 */
#include "argp/argp.h"

#include <stdarg.h>
#include <stdio.h>

/* Names from outside are cut before; this is for all of a line. */
#define SAY_BYTES 512

static bool __attribute__((format(printf, 1, 2))) logger_takes(const char *format, ...)
{
	doca_error_t result;
	va_list args;

	if (!argp_ctx->logger)
		return false;
	va_start(args, format);
	result = argp_ctx->logger(DOCA_LOG_LEVEL_ERROR, format, args);
	va_end(args);
	return result == DOCA_SUCCESS;
}

void argp_say(const char *format, ...)
{
	char line[SAY_BYTES];
	va_list args;

	if (argp_ctx->is_silent)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	/* A name in a file may have anything in it: one line, and nothing for the terminal. */
	for (char *c = line; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	if (logger_takes("%s", line))
		return;
	if (argp_ctx->program)
		fprintf(stderr, "%s: %s\n", argp_ctx->program, line);
	else
		fprintf(stderr, "%s\n", line);
}

doca_error_t argp_no_memory(void)
{
	argp_say("out of memory");
	return DOCA_ERROR_NO_MEMORY;
}
