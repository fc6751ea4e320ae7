/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 (RFC 3629), byte by byte: no surrogates, nothing overlong, nothing above 10FFFFh. */
#ifndef UTIL_UTF8_H
#define UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero at a character's begin. */
struct util_utf8 {
	uint8_t left; /* bytes of the character that are to come */
	uint8_t low, high; /* within which the next of them has to be */
};

/* False if @byte cannot follow; the state is that of a character's begin then. */
bool util_utf8_step(struct util_utf8 *utf8, uint8_t byte);

/* How many bytes of the string @text are whole characters, up to the first that is none. */
size_t util_utf8_prefix(const char *text);

#endif
