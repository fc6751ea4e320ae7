/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the libraries log, in a file of the test: there is one back-end a program. Counted too: how
 * often core formatted a text.
 */
#ifndef TEST_STA_LOGGED_H
#define TEST_STA_LOGGED_H

#include <stdbool.h>

#include <doca_log.h>

/* Once a program, before the first test. */
void logged_open(void);
/* Forgets what was logged, and shows @level from here on. */
void logged_start(enum doca_log_level level);
/* Is there a line with this text? */
bool logged_has(const char *text);
unsigned int logged_num_lines(void);
/* Texts formatted since logged_start(). */
unsigned int logged_num_formatted(void);

/* The log has such a line; else the log is shown, and the test ends. */
#define ASSERT_LOGGED(...) logged_expect(__FILE__, __LINE__, __VA_ARGS__)
void logged_expect(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
