/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See fail.h. The linker leads a call of malloc() to __wrap_malloc(), and one of __real_malloc() to
 * malloc(); so it works with the allocator of a sanitizer as well.
 */
#include "fail.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

static bool is_armed, fails_on;
static unsigned int nth, seen;
static long balance;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *s);
int __real_vasprintf(char **ret, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void __real_free(void *p);
int __real_eventfd(unsigned int count, int flags);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);
int __wrap_vasprintf(char **ret, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
int __wrap_asprintf(char **ret, const char *format, ...) __attribute__((format(printf, 2, 3)));
void __wrap_free(void *p);
int __wrap_eventfd(unsigned int count, int flags);

bool fail_now(void)
{
	if (!is_armed)
		return false;
	seen++;
	return seen == nth || (fails_on && seen > nth);
}

long fail_balance(void)
{
	return balance;
}

static void *count_block(void *p)
{
	balance += p != NULL;
	return p;
}

static bool no_memory(void)
{
	if (!fail_now())
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return no_memory() ? NULL : count_block(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory() ? NULL : count_block(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	void *q = no_memory() ? NULL : __real_realloc(p, size);

	return p ? q : count_block(q);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	void *q = no_memory() ? NULL : __real_reallocarray(p, n, size);

	return p ? q : count_block(q);
}

char *__wrap_strdup(const char *s)
{
	return no_memory() ? NULL : count_block(__real_strdup(s));
}

int __wrap_vasprintf(char **ret, const char *format, va_list args)
{
	int n = no_memory() ? -1 : __real_vasprintf(ret, format, args);

	balance += n >= 0;
	return n;
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = __wrap_vasprintf(ret, format, args);
	va_end(args);
	return n;
}

void __wrap_free(void *p)
{
	balance -= p != NULL;
	__real_free(p);
}

int __wrap_eventfd(unsigned int count, int flags)
{
	if (!fail_now())
		return __real_eventfd(count, flags);
	errno = EMFILE;
	return -1;
}

/* One attempt; true when it succeeded. */
static bool try_with(unsigned int n, bool and_all_after, bool (*attempt)(void *arg), void *arg)
{
	bool succeeded;

	nth = n;
	fails_on = and_all_after;
	seen = 0;
	balance = 0;
	is_armed = true;
	succeeded = attempt(arg);
	is_armed = false;
	return succeeded;
}

int fail_each(bool (*attempt)(void *arg), void *arg)
{
	for (unsigned int n = 1;; n++) {
		for (int all = 1; all >= 0; all--) {
			bool succeeded = try_with(n, all, attempt, arg);

			if (seen < n)
				return succeeded ? (int)n - 1 : -2;
			if (succeeded)
				return -1;
			if (balance)
				return -3;
		}
	}
}
