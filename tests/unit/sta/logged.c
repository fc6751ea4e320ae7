/* SPDX-License-Identifier: Apache-2.0 */
/* With it vasprintf has another name. */
#undef _FORTIFY_SOURCE
#include "logged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/compiler.h"

static struct doca_log_backend *backend;
static int fd = -1;
static atomic_uint num_formatted;

/* What core formats with, by either name: a definition in the program comes first. */
util_printf_va(2) static int count_and_format(char **text, const char *format, va_list args)
{
	va_list again;
	int n;

	atomic_fetch_add(&num_formatted, 1);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	*text = n < 0 ? NULL : malloc((size_t)n + 1);
	return *text ? vsnprintf(*text, (size_t)n + 1, format, args) : -1;
}

int vasprintf(char **text, const char *format, va_list args)
{
	return count_and_format(text, format, args);
}

int __vasprintf_chk(char **text, int flag, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));
int __vasprintf_chk(char **text, int flag, const char *format, va_list args)
{
	(void)flag;
	return count_and_format(text, format, args);
}

void logged_open(void)
{
	fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(doca_log_backend_create_with_fd_sdk(fd, &backend), DOCA_SUCCESS);
}

void logged_start(enum doca_log_level level)
{
	assert_int_equal(doca_log_backend_set_sdk_level(backend, level), DOCA_SUCCESS);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	atomic_store(&num_formatted, 0);
}

/* The caller frees it. */
static char *all(void)
{
	off_t bytes = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)bytes + 1);

	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)bytes, 0), bytes);
	return text;
}

bool logged_has(const char *text)
{
	char *log = all();
	bool has = strstr(log, text);

	free(log);
	return has;
}

unsigned int logged_num_lines(void)
{
	char *log = all();
	unsigned int n = 0;

	for (const char *p = log; (p = strchr(p, '\n')); p++)
		n++;
	free(log);
	return n;
}

unsigned int logged_num_formatted(void)
{
	return atomic_load(&num_formatted);
}

void logged_expect(const char *file, int line, const char *format, ...)
{
	char text[512], *log;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (logged_has(text))
		return;
	log = all();
	print_error("no \"%s\" in:\n%s", text, log);
	free(log);
	_fail(file, line);
}
