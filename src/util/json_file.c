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

int util_json_parse(const char *text, size_t bytes, struct json_object **root,
		    struct util_json_end *end)
{
	const char *nul = memchr(text, '\0', bytes);
	struct json_tokener *tokener;
	enum json_tokener_error error;
	struct json_object *value;
	size_t at;

	assert(bytes <= INT_MAX);
	if (nul) { /* where json-c would see the end */
		*end = (struct util_json_end){line_of(text, (size_t)(nul - text)),
					      "a NUL character"};
		return -EINVAL;
	}
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
	if (end->why) {
		json_object_put(value);
		return -EINVAL;
	}
	*root = value;
	return 0;
}
