/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON files; described in the header.
 */
#include "util/json_file.h"

#include <assert.h>
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/compiler.h"
#include "util/utf8.h"

#define FIRST_ROOM 4096

int util_json_read(int fd, size_t max_bytes, char **text, size_t *bytes)
{
	size_t room = 0, used = 0;
	char *buf = NULL, *larger;
	ssize_t n;
	int rc;

	do {
		if (used == room) {
			/* One more byte than there may be tells that there are too many. */
			room = util_min(room ? 2 * room : FIRST_ROOM, max_bytes + 1);
			larger = realloc(buf, room);
			if (!larger) {
				rc = -ENOMEM;
				goto err_free;
			}
			buf = larger;
		}
		n = read(fd, buf + used, room - used);
		if (n < 0 && errno != EINTR) {
			rc = -errno;
			goto err_free;
		}
		used += n > 0 ? (size_t)n : 0;
		if (used > max_bytes) {
			rc = -EFBIG;
			goto err_free;
		}
	} while (n);
	*text = buf;
	*bytes = used;
	return 0;

err_free:
	free(buf);
	return rc;
}

static size_t line_of(const char *text, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset; i++)
		line += text[i] == '\n';
	return line;
}

/* The first byte that is no part of a character, or NULL. */
static const char *find_foreign(const char *text, size_t bytes)
{
	struct util_utf8 utf8 = {0};
	size_t i, begin = 0;

	for (i = 0; i < bytes; i++) {
		if (!utf8.left)
			begin = i;
		if (!util_utf8_step(&utf8, (uint8_t)text[i]))
			return text + begin;
	}
	return utf8.left ? text + begin : NULL;
}

/* The UTF-16 code unit of an escape with u at @text, or 0 if there is none of that kind. */
static unsigned int escaped_unit(const char *text, const char *end)
{
	char digits[5] = "";

	if (end - text < 6 || text[0] != '\\' || text[1] != 'u')
		return 0;
	memcpy(digits, text + 2, 4);
	return (unsigned int)strtoul(digits, NULL, 16);
}

/* Behind a string that begins at @text, or the half of a pair in it, with *is_half. */
static const char *pass_string(const char *text, const char *end, bool *is_half)
{
	char quote = *text++;
	unsigned int unit;

	while (text < end && *text != quote) {
		unit = escaped_unit(text, end);
		if (unit >= 0xd800 && unit < 0xdc00 &&
		    (escaped_unit(text + 6, end) & 0xfc00) == 0xdc00) {
			text += 12;
			continue;
		}
		if (unit >= 0xd800 && unit < 0xe000) {
			*is_half = true;
			return text;
		}
		text += *text == '\\' ? 2 : 1;
	}
	return text + 1;
}

static const char *pass_comment(const char *text, const char *end)
{
	const char *close, *found;

	if (end - text < 2)
		return end;
	close = text[1] == '*' ? "*/" : "\n";
	found = memmem(text + 2, (size_t)(end - text - 2), close, strlen(close));
	return found ? found + strlen(close) : end;
}

/* In a text that json-c has taken; NULL if there is none. */
static const char *find_half(const char *text, size_t bytes)
{
	const char *end = text + bytes;
	bool is_half = false;

	while (text < end && !is_half) {
		if (*text == '"' || *text == '\'') /* json-c knows both */
			text = pass_string(text, end, &is_half);
		else if (*text == '/')
			text = pass_comment(text, end);
		else
			text++;
	}
	return is_half ? text : NULL;
}

static int refuse(const char *text, const char *at, const char *why, struct util_json_end *end)
{
	*end = (struct util_json_end){line_of(text, (size_t)(at - text)), why};
	return -EINVAL;
}

int util_json_parse(const char *text, size_t bytes, struct json_object **root,
		    struct util_json_end *end)
{
	const char *nul = memchr(text, '\0', bytes);
	struct json_tokener *tokener;
	enum json_tokener_error error;
	struct json_object *value;
	const char *at_fault;
	size_t at;

	assert(bytes <= INT_MAX);
	if (nul) /* where json-c would see the end */
		return refuse(text, nul, "a NUL character", end);
	at_fault = find_foreign(text, bytes);
	if (at_fault)
		return refuse(text, at_fault, "not UTF-8", end);
	tokener = json_tokener_new();
	if (!tokener)
		return -ENOMEM;
	value = json_tokener_parse_ex(tokener, text, (int)bytes);
	error = json_tokener_get_error(tokener);
	at = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	*end = (struct util_json_end){.line = line_of(text, at)};
	if (error == json_tokener_continue)
		end->why = "unexpected end of the file";
	else if (error != json_tokener_success)
		end->why = json_tokener_error_desc(error);
	else if (at != bytes) /* json-c has taken white space and comments */
		end->why = "text behind the end";
	at_fault = end->why ? NULL : find_half(text, bytes);
	if (at_fault)
		(void)refuse(text, at_fault, "half of a surrogate pair", end);
	if (end->why) {
		json_object_put(value);
		return -EINVAL;
	}
	*root = value;
	return 0;
}
