/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that fail when a test says so; see fail.h. Linked with --wrap, so single threaded. */
#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long countdown;
static bool has_happened;
static long live;

void fail_allocation(unsigned long nth)
{
	countdown = nth;
	has_happened = false;
}

bool fail_has_happened(void)
{
	return has_happened;
}

long fail_live_allocations(void)
{
	return live;
}

static bool fails(void)
{
	if (!countdown || --countdown)
		return false;
	has_happened = true;
	errno = ENOMEM;
	return true;
}

/* What was allocated counts; what was not does not. */
static void *counted(void *p)
{
	live += p != NULL;
	return p;
}

/* The linker's names: __wrap_x is called for x, and __real_x is x. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void __real_free(void *p);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t bytes);
struct json_tokener *__real_json_tokener_new(void);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t bytes);
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct json_tokener *__wrap_json_tokener_new(void);

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : counted(__real_calloc(n, bytes));
}

void *__wrap_realloc(void *p, size_t bytes)
{
	void *q = fails() ? NULL : __real_realloc(p, bytes);

	live += q && !p;
	return q;
}

void __wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : counted(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t bytes)
{
	return fails() ? NULL : counted(__real_strndup(s, bytes));
}

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int n;

	if (fails())
		return -1;
	va_start(args, format);
	n = vasprintf(text, format, args);
	va_end(args);
	live += n >= 0;
	return n;
}

/* json-c is a shared library; its first allocation stands for the others. */
struct json_tokener *__wrap_json_tokener_new(void)
{
	return fails() ? NULL : __real_json_tokener_new();
}
