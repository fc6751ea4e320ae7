/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines, and how a failure is told: which step, why, and for a connection the first reason.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "queue.h"
#include "util/compiler.h"

uint64_t ini_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int ini_left_ms(uint64_t deadline_ns)
{
	uint64_t now = ini_now_ns();

	return now >= deadline_ns ? 0 : (int)((deadline_ns - now + 999999) / 1000000);
}

uint64_t ini_deadline_ns(int ms)
{
	return ini_now_ns() + (uint64_t)ms * 1000000;
}

util_printf_va(4) static void set_error(struct ini_error *error, int err, const char *step,
					const char *format, va_list args)
{
	memset(error, 0, sizeof(*error));
	error->err = err;
	error->step = step;
	(void)vsnprintf(error->text, sizeof(error->text), format, args);
}

int ini_fail(struct ini_error *error, int err, const char *step, const char *format, ...)
{
	va_list args;

	if (!error)
		return err;
	va_start(args, format);
	set_error(error, err, step, format, args);
	va_end(args);
	return err;
}

int ini_die(struct ini_queue *queue, struct ini_error *error, int err, const char *format, ...)
{
	va_list args;

	if (queue->is_connected) {
		va_start(args, format);
		set_error(&queue->death, err, "transport", format, args);
		va_end(args);
		queue->is_connected = false;
	}
	if (error)
		*error = queue->death;
	return queue->death.err;
}
