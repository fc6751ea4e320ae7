/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON files: what is read of a descriptor, and what is said about each mistake in a text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/json_file.h"

#define MANY_BYTES 50000

/* A file without a name, from its start. */
static int file_of(const char *text, size_t bytes)
{
	FILE *file = tmpfile();
	int fd;

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	assert_int_equal(fflush(file), 0);
	fd = dup(fileno(file));
	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	fclose(file);
	return fd;
}

static void reads_up_to_the_limit(void **state)
{
	static char written[MANY_BYTES];
	const size_t sizes[] = {0, 1, 4095, 4096, 4097, MANY_BYTES};
	size_t bytes = 7;
	char *text = NULL;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(written); i++)
		written[i] = (char)(i * 31 >> 3);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fd = file_of(written, sizes[i]);
		assert_int_equal(util_json_read(fd, sizes[i], &text, &bytes), 0);
		assert_int_equal(bytes, sizes[i]);
		assert_memory_equal(text, written, bytes);
		free(text);
		close(fd);
		if (!sizes[i])
			continue;
		text = NULL;
		fd = file_of(written, sizes[i]);
		assert_int_equal(util_json_read(fd, sizes[i] - 1, &text, &bytes), -EFBIG);
		assert_null(text);
		assert_int_equal(bytes, sizes[i]);
		close(fd);
	}
}

/* More than one write, and more than one read for it: each read of a packet pipe gives one packet.
 */
static void reads_a_pipe_to_its_end(void **state)
{
	size_t bytes = 0;
	char *text = NULL;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_DIRECT), 0);
	assert_int_equal(write(fds[1], "{\"a\":", 5), 5);
	assert_int_equal(write(fds[1], " 1}", 3), 3);
	close(fds[1]);
	assert_int_equal(util_json_read(fds[0], 100, &text, &bytes), 0);
	assert_int_equal(bytes, 8);
	assert_memory_equal(text, "{\"a\": 1}", 8);
	free(text);
	close(fds[0]);
}

static void gives_the_error_of_read(void **state)
{
	int fd = open("/", O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t bytes = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(util_json_read(fd, 100, &text, &bytes), -EISDIR);
	assert_null(text);
	close(fd);
	assert_int_equal(util_json_read(fd, 100, &text, &bytes), -EBADF);
}

static void what_is_a_value(void **state)
{
	static const struct {
		const char *text;
		enum json_type type;
		size_t line; /* of its end */
	} examples[] = {
		{"{}", json_type_object, 1},
		{" \n{\n}\r\n\t ", json_type_object, 4},
		{"{\"a\": [1, {}]} // the end\n/* really\n */", json_type_object, 3},
		{"[]", json_type_array, 1},
		{"\"\\u0000\"", json_type_string, 1},
		{"null ", json_type_null, 1},
		{"\"\xc3\xa4\xf0\x9f\x98\x80\"", json_type_string, 1},
		{"\"\\ud83d\\ude00 \\uD83D\\uDE00 \\ud7ff\\ue000\"", json_type_string, 1},
		/* no escapes */
		{"\"\\\\ud83d \\\" \\\\\" // \"\\ud83d\n/* '\\ud83d */", json_type_string, 2},
	};
	struct json_object *root;
	struct util_json_end end;

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const char *text = examples[i].text;

		if (util_json_parse(text, strlen(text), &root, &end))
			fail_msg("%s: line %zu: %s", text, end.line, end.why);
		assert_int_equal(json_object_get_type(root), examples[i].type);
		assert_int_equal(end.line, examples[i].line);
		assert_null(end.why);
		json_object_put(root);
	}
}

#define TEXT(string) string, sizeof(string) - 1
#define NESTED_16    "[[[[[[[[[[[[[[[["

static void what_is_wrong(void **state)
{
	static const struct {
		const char *text;
		size_t bytes, line;
		const char *why;
	} examples[] = {
		{TEXT(""), 1, "unexpected end of the file"},
		{TEXT("// nothing\n"), 2, "unexpected end of the file"},
		{TEXT("{\n\"a\": {}\n"), 3, "unexpected end of the file"},
		{TEXT("{}\n\n{}"), 3, "text behind the end"},
		{TEXT("{}\n}"), 2, "text behind the end"},
		{TEXT("{\n\"a\" 5}"), 2, "object property name separator ':' expected"},
		{TEXT("{\"a\": 5\n\"b\": 6}"), 2, "object value separator ',' expected"},
		{TEXT("\n\nnope"), 3, "null expected"},
		{TEXT(NESTED_16 "\n" NESTED_16 "\n["), 3, "nesting too deep"},
		{TEXT("{}\0"), 1, "a NUL character"},
		{TEXT("\n{\"a\":\n \"\0\"}\n"), 3, "a NUL character"},
		{TEXT("\0{}"), 1, "a NUL character"},
		{TEXT("{\n\"a\": \"\xff\"}"), 2, "not UTF-8"},
		{TEXT("\"\xed\xa0\x80\""), 1, "not UTF-8"}, /* D800h */
		{TEXT("\"\xc3\n\""), 1, "not UTF-8"},
		{TEXT("\n// \xe4"), 2, "not UTF-8"},
		{TEXT("{}\n// \xc3"), 2, "not UTF-8"},
		{TEXT("{\"a\":\n\"\\ud800\"}"), 2, "half of a surrogate pair"},
		{TEXT("\n{\"\\udbff\": 1}"), 2, "half of a surrogate pair"},
		{TEXT("\"\\ude00\\ud83d\""), 1, "half of a surrogate pair"},
		{TEXT("\"\\ud83d\\ude00\\ude00\""), 1, "half of a surrogate pair"},
		{TEXT("\"\\ud83d\\u0041\""), 1, "half of a surrogate pair"},
		{TEXT("\"\\ud83d\\\\ude00\""), 1, "half of a surrogate pair"},
		{TEXT("/* ' \" */ //\"\n'\\uD83D'"), 2, "half of a surrogate pair"},
	};
	struct json_object *root = NULL;
	struct util_json_end end;

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		assert_int_equal(util_json_parse(examples[i].text, examples[i].bytes, &root, &end),
				 -EINVAL);
		assert_null(root);
		if (end.line != examples[i].line || strcmp(end.why, examples[i].why) != 0)
			fail_msg("example %zu: line %zu: %s", i, end.line, end.why);
	}
}

/* What stands behind the given length is not looked at. */
static void the_length_counts(void **state)
{
	struct json_object *root = NULL;
	struct util_json_end end;

	(void)state;
	assert_int_equal(util_json_parse("{}}", 2, &root, &end), 0);
	json_object_put(root);
	assert_int_equal(util_json_parse("[1]", 2, &root, &end), -EINVAL);
	assert_string_equal(end.why, "unexpected end of the file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_up_to_the_limit),
		cmocka_unit_test(reads_a_pipe_to_its_end),
		cmocka_unit_test(gives_the_error_of_read),
		cmocka_unit_test(what_is_a_value),
		cmocka_unit_test(what_is_wrong),
		cmocka_unit_test(the_length_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
