/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that fail when a test says so; see fail.h. Linked with --wrap, so single threaded. */
#include "fail.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>

static unsigned long to_fail; /* 0: none */
static bool fails_on; /* and all after it */
static unsigned long seen; /* since the failure was ordered */
static long live;

void fail_allocation(unsigned long nth)
{
	to_fail = nth;
	fails_on = false;
	seen = 0;
}

bool fail_has_happened(void)
{
	return to_fail && seen >= to_fail;
}

long fail_live_allocations(void)
{
	return live;
}

bool fail_now(void)
{
	if (!to_fail)
		return false;
	seen++;
	return seen == to_fail || (fails_on && seen > to_fail);
}

int fail_each(bool (*attempt)(void *arg), void *arg)
{
	for (unsigned long n = 1;; n++) {
		for (int all = 1; all >= 0; all--) {
			long before = live;
			bool succeeded, has_happened;

			fail_allocation(n);
			fails_on = all;
			succeeded = attempt(arg);
			has_happened = fail_has_happened();
			fail_allocation(0);
			if (!has_happened)
				return succeeded ? (int)n - 1 : -2;
			if (succeeded)
				return -1;
			if (live != before)
				return -3;
		}
	}
}

static bool fails(void)
{
	if (!fail_now())
		return false;
	errno = ENOMEM;
	return true;
}

/* What was allocated counts; what was not does not. */
static void *counted(void *p)
{
	live += p != NULL;
	return p;
}

/* The linker's names: __wrap_x is called for x, and __real_x is x. mmap() is mmap64 with large
 * files. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_reallocarray(void *p, size_t n, size_t bytes);
void __real_free(void *p);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t bytes);
int __real_vasprintf(char **text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__real_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *p, size_t bytes);
int __real_epoll_create1(int flags);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
			  void *arg);
int __real_eventfd(unsigned int count, int flags);
struct json_tokener *__real_json_tokener_new(void);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_reallocarray(void *p, size_t n, size_t bytes);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t bytes);
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_vasprintf(char **text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *p, size_t bytes);
int __wrap_epoll_create1(int flags);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
			  void *arg);
int __wrap_eventfd(unsigned int count, int flags);
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

void *__wrap_reallocarray(void *p, size_t n, size_t bytes)
{
	void *q = fails() ? NULL : __real_reallocarray(p, n, bytes);

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

int __wrap_vasprintf(char **text, const char *format, va_list args)
{
	int n = fails() ? -1 : __real_vasprintf(text, format, args);

	live += n >= 0;
	return n;
}

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = __wrap_vasprintf(text, format, args);
	va_end(args);
	return n;
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return fails() ? NULL : counted(__real_aligned_alloc(align, bytes));
}

void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *p = fails() ? MAP_FAILED : __real_mmap64(at, bytes, prot, flags, fd, offset);

	live += p != MAP_FAILED;
	return p;
}

int __wrap_munmap(void *p, size_t bytes)
{
	live--;
	return __real_munmap(p, bytes);
}

int __wrap_epoll_create1(int flags)
{
	if (!fail_now())
		return __real_epoll_create1(flags);
	errno = EMFILE;
	return -1;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
			  void *arg)
{
	return fail_now() ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}

int __wrap_eventfd(unsigned int count, int flags)
{
	if (!fail_now())
		return __real_eventfd(count, flags);
	errno = EMFILE;
	return -1;
}

/* json-c is a shared library; its first allocation stands for the others. */
struct json_tokener *__wrap_json_tokener_new(void)
{
	return fails() ? NULL : __real_json_tokener_new();
}
