/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON file that somebody wrote by hand: read whole within a limit, parsed whole, and what is
 * wrong is said with its line. In a library of its own (util_json_dep), for who needs json-c
 * anyway.
 */
#ifndef UTIL_JSON_FILE_H
#define UTIL_JSON_FILE_H

#include <stddef.h>

struct json_object;

/* Where parsing ended: at the end of the text, or at the mistake. */
struct util_json_end {
	size_t line; /* from 1 */
	const char *why; /* in a few words, a constant; NULL if all is well */
};

/*
 * All that there is to read of @fd, a pipe as well; @text is to be freed and has no NUL at its end.
 * 0, -EFBIG if there are more than @max_bytes, -ENOMEM, or what read() gave.
 */
int util_json_read(int fd, size_t max_bytes, char **text, size_t *bytes);

/*
 * The one value that the text is, in *root, to be put; NULL if it is the value null. White space
 * and comments may be around it and in it, but nothing else and no NUL. All of it is UTF-8, and no
 * string has half of a surrogate pair, for which json-c would put something else. @bytes is INT_MAX
 * at most.
 * 0, -EINVAL with end->why, -ENOMEM. end->line is set in any case but the last.
 */
int util_json_parse(const char *text, size_t bytes, struct json_object **root,
		    struct util_json_end *end);

#endif /* UTIL_JSON_FILE_H */
