/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What doca_argp_start() makes of the file of --json: each form of a field, and the line that is
 * said about each mistake.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct example {
	const char *text;
	const char *expected; /* calls, or what is said behind the path and ": " */
};

static char dpdk_words[256];

static doca_error_t take_dpdk(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		strncat(dpdk_words, argv[i], sizeof(dpdk_words) - strlen(dpdk_words) - 1);
		strncat(dpdk_words, ";", sizeof(dpdk_words) - strlen(dpdk_words) - 1);
	}
	return DOCA_SUCCESS;
}

static void make_program(void)
{
	struct doca_argp_cmd *get = add_cmd("get", ran_get);
	struct doca_argp_param *param;

	add_param("n", "num", DOCA_ARGP_TYPE_INT);
	add_param("s", "string", DOCA_ARGP_TYPE_STRING);
	add_param("a", "all", DOCA_ARGP_TYPE_BOOLEAN);
	add_param("d", "double", DOCA_ARGP_TYPE_DOUBLE);
	add_param("w", NULL, DOCA_ARGP_TYPE_INT);
	param = new_param("m", "many", DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_multiplicity(param);
	assert_success(doca_argp_register_param(param));
	param = new_param(NULL, "typed", DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_cli_only(param);
	assert_success(doca_argp_register_param(param));
	param = new_param(NULL, "alone", DOCA_ARGP_TYPE_BOOLEAN);
	doca_argp_param_set_singular(param);
	assert_success(doca_argp_register_param(param));
	assert_success(
		doca_argp_cmd_register_param(get, new_param(NULL, "own", DOCA_ARGP_TYPE_INT)));
}

static void what_is_understood(void **state)
{
	static const struct example examples[] = {
		{"{}", ""},
		{" {} \n\n", ""},
		{"{} // the end\n\n/* really */\t", ""},
		{"{\"doca_general_flags\": {}, \"doca_program_flags\": {}}", ""},
		{"{\"doca_program_flags\": {\"num\": 5}}", "i:5 "},
		{"{\"doca_program_flags\": {\"num\": -2147483648}}", "i:-2147483648 "},
		{"{\"doca_program_flags\": {\"string\": \"a b\", \"w\": 1}}", "s:a b i:1 "},
		{"{\"doca_program_flags\": {\"all\": true}}", "b:1 "},
		{"{\"doca_program_flags\": {\"all\": false}}", ""},
		{"{\"doca_program_flags\": {\"double\": 2.5}}", "d:2.5 "},
		{"{\"doca_program_flags\": {\"double\": 2}}", "d:2 "},
		{"{\"doca_program_flags\": {\"many\": [1, 2, 3]}}", "i:1 i:2 i:3 "},
		{"{\"doca_program_flags\": {\"many\": 1}}", "i:1 "},
		{"{\"doca_program_flags\": {\"many\": []}}", ""},
		{"{\"doca_program_flags\": {\"num\": 1, \"num\": 2}}", "i:2 "},
		{"{ // a comment\n\"doca_program_flags\": /* and one */ {\"num\": 5}}", "i:5 "},
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		make_program();
		if (START("-j", file_of(examples[i].text)) != DOCA_SUCCESS)
			fail_msg("example %zu: said %s", i, said);
		assert_string_equal(called, examples[i].expected);
		teardown(state);
		setup(state);
	}
}

static void what_is_refused(void **state)
{
	static const struct example examples[] = {
		/* no JSON, or not what it should be */
		{"", "line 1: unexpected end of the file"},
		{"{\"doca_program_flags\":\n\n{", "line 3: unexpected end of the file"},
		{"{\n}\nx", "line 3: text behind the end"},
		{"{\n\"a\" 5}", "line 2: object property name separator ':' expected"},
		{"[]", "line 1: is not an object"},
		{"null ", "line 1: is not an object"},
		{"{\"doca_program_flags\": 5}", "\"doca_program_flags\": is not an object"},
		{"{\"doca_general_flags\": []}", "\"doca_general_flags\": is not an object"},
		{"{\"doca_program_flags\":\n {\"string\": \"\\ud800\"}}",
		 "line 2: half of a surrogate pair"},
		{"{\"doca_program_flags\":\n {\"string\": \"\xff\"}}", "line 2: not UTF-8"},
		/* fields that there are not */
		{"{\"program_flags\": {}}", "\"program_flags\": no such field"},
		{"{\"doca_dpdk_flags\": {}}", "\"doca_dpdk_flags\": no such field"},
		{"{\"doca_program_flags\": {\"nmu\": 5}}", "\"nmu\": no such field"},
		{"{\"doca_program_flags\": {\"own\": 5}}", "\"own\": no such field"},
		{"{\"doca_program_flags\": {\"n\": 5}}", "\"n\": no such field"},
		{"{\"doca_general_flags\": {\"level\": 5}}", "\"level\": no such field"},
		{"{\"a\\nb\\u001b[0m\": 5}", "\"a?b?[0m\": no such field"}, /* in one line */
		/* values */
		{"{\"doca_program_flags\": {\"num\": \"5\"}}", "\"num\": is not an integer"},
		{"{\"doca_program_flags\": {\"num\": 5.5}}", "\"num\": is not an integer"},
		{"{\"doca_program_flags\": {\"num\": [5]}}", "\"num\": is not an integer"},
		{"{\"doca_program_flags\": {\"num\": null}}", "\"num\": is not an integer"},
		{"{\"doca_program_flags\": {\"many\": [1, \"2\"]}}", "\"many\": is not an integer"},
		{"{\"doca_program_flags\": {\"num\": 2147483648}}",
		 "\"num\": is out of range (-2147483648 to 2147483647)"},
		{"{\"doca_program_flags\": {\"num\": 99999999999999999999}}",
		 "\"num\": is out of range (-2147483648 to 2147483647)"},
		{"{\"doca_program_flags\": {\"string\": 5}}", "\"string\": is not a string"},
		{"{\"doca_program_flags\": {\"string\": \"a\\u0000b\"}}",
		 "\"string\": has a NUL character in it"},
		{"{\"doca_program_flags\": {\"all\": 1}}", "\"all\": is not true or false"},
		{"{\"doca_program_flags\": {\"double\": \"1\"}}", "\"double\": is not a number"},
		{"{\"doca_program_flags\": {\"double\": 1e999}}", "\"double\": is out of range"},
		{"{\"doca_program_flags\": {\"typed\": \"x\"}}",
		 "\"typed\": may be given on the command line only"},
		{"{\"doca_general_flags\": {\"log-level\": 55}}", "\"log-level\": is no log level"},
		{"{\"doca_general_flags\": {\"sdk-log-level\": true}}",
		 "\"sdk-log-level\": is no log level"},
	};
	char expected[256];
	const char *path;

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		make_program();
		path = file_of(examples[i].text);
		if (START("-j", path) != DOCA_ERROR_INVALID_VALUE)
			fail_msg("example %zu: said %s", i, said);
		snprintf(expected, sizeof(expected), "%s: %s\n", path, examples[i].expected);
		assert_string_equal(said, expected);
		assert_string_equal(called, "");
		teardown(state);
		setup(state);
	}
}

static void the_command_line_has_the_last_word(void **state)
{
	const char *path = file_of("{\"doca_general_flags\": {\"log-level\": 20},"
				   " \"doca_program_flags\": {\"string\": \"file\", \"num\": 1,"
				   " \"many\": [1, 2]}}");
	int level;

	(void)state;
	make_program();
	assert_success(START("-m", "3", "-l", "60", "--json", path, "-n", "2"));
	assert_string_equal(called, "s:file i:3 i:2 ");
	assert_success(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_DEBUG);
}

static void log_levels_by_number_and_name(void **state)
{
	int level;

	(void)state;
	assert_success(START("-j", file_of("{\"doca_general_flags\": {\"log-level\": 30,"
					   " \"sdk-log-level\": \"info\"}}")));
	assert_success(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_ERROR);
	assert_success(doca_argp_get_sdk_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_INFO);
}

static void a_command_has_its_own_fields(void **state)
{
	(void)state;
	make_program();
	assert_success(START("-j", file_of("{\"doca_program_flags\": {\"own\": 5}}"), "get"));
	assert_string_equal(called, "i:5 get ");
}

static void a_file_may_give_what_is_mandatory(void **state)
{
	struct doca_argp_param *param = new_param(NULL, "must", DOCA_ARGP_TYPE_INT);

	(void)state;
	doca_argp_param_set_mandatory(param);
	assert_success(doca_argp_register_param(param));
	assert_success(START("-j", file_of("{\"doca_program_flags\": {\"must\": 5}}")));
	assert_string_equal(called, "i:5 ");
}

static void nothing_stands_beside_a_singular_one(void **state)
{
	(void)state;
	make_program();
	assert_invalid(
		START("-j", file_of("{\"doca_program_flags\": {\"alone\": true}}"), "-n", "1"));
	assert_string_equal(said, "--num: may not be given beside --alone\n");
}

static void unknown_fields_may_be_let_through(void **state)
{
	(void)state;
	make_program();
	assert_success(doca_argp_disable_pedantic_config_parsing());
	assert_success(START("-j", file_of("{\"x\": 1, \"doca_dpdk_flags\": {\"y\": 1},"
					   " \"doca_general_flags\": {\"z\": 1},"
					   " \"doca_program_flags\": {\"u\": 1, \"num\": 5}}")));
	assert_string_equal(called, "i:5 ");
}

static void a_file_is_not_larger_than_it_may_be(void **state)
{
	const size_t limit = 1 << 20;
	char *text = malloc(limit + 2);

	for (size_t over = 0; over < 2; over++) {
		assert_non_null(text);
		memset(text, ' ', limit + 1);
		text[0] = '{';
		text[1] = '}';
		text[limit + over] = '\0';
		assert_int_equal(START("-j", file_of(text)),
				 over ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS);
		assert_true(!over || strstr(said, ": is larger than 1048576 bytes\n"));
		teardown(state);
		setup(state);
	}
	free(text);
}

/* "doca_dpdk_flags" */

static void words_for_dpdk(void **state)
{
	static const struct example examples[] = {
		{"{}", ""},
		{"{\"core-mask\": 255}", "-c;0xff;"},
		{"{\"core-mask\": \"0xff\"}", "-c;0xff;"},
		{"{\"core-list\": \"0-4\"}", "-l;0-4;"},
		{"{\"flags\": \"--in-memory  -n 4 \"}", "--in-memory;-n;4;"},
		{"{\"flags\": \"\"}", ""},
		{"{\"devices\": []}", ""},
		{"{\"devices\": [{\"device\": \"pf\", \"id\": \"03:00.0\", \"hws\": true},"
		 " {\"device\": \"vf\", \"id\": \"03:00.2\", \"hws\": false},"
		 " {\"device\": \"sf\", \"id\": \"4\"}, {\"device\": \"gpu\", \"id\": \"06:00.0\"}]}",
		 "-a;03:00.0,dv_flow_en=2;-a;03:00.2;-a;auxiliary:mlx5_core.sf.4;-a;06:00.0;"},
	};
	char text[512], expected[256];

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		make_program();
		doca_argp_set_dpdk_program(take_dpdk);
		dpdk_words[0] = '\0';
		snprintf(text, sizeof(text),
			 "{\"doca_dpdk_flags\": %s, \"doca_program_flags\": {\"num\": 5}}",
			 examples[i].text);
		/* All that is needed is in the file, so there are no dashes. */
		assert_success(START("--json", file_of(text)));
		snprintf(expected, sizeof(expected), "/usr/bin/prog;%s", examples[i].expected);
		assert_string_equal(dpdk_words, expected);
		assert_string_equal(called, "i:5 ");
		teardown(state);
		setup(state);
	}
}

static void what_is_refused_for_dpdk(void **state)
{
	static const struct example examples[] = {
		{"{\"cores\": 1}", "\"cores\": no such field"},
		{"{\"core-mask\": 0}", "\"core-mask\": is not a number above 0"},
		{"{\"core-list\": 1}", "\"core-list\": is not a string"},
		{"{\"flags\": []}", "\"flags\": is not a string"},
		{"{\"devices\": {}}", "\"devices\": is not a list"},
		{"{\"devices\": [1]}", "\"devices\": an entry is not an object"},
		{"{\"devices\": [{\"device\": \"pf\"}]}",
		 "\"devices\": an entry lacks \"device\" or \"id\""},
		{"{\"devices\": [{\"device\": \"pf\", \"id\": \"0\", \"hws\": 1}]}",
		 "\"hws\": is not true or false"},
		{"{\"devices\": [{\"device\": \"regex\", \"id\": \"0\"}]}",
		 "\"regex\": no kind of device that is known; see \"flags\""},
	};
	char text[512], expected[256];
	const char *path;

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		doca_argp_set_dpdk_program(take_dpdk);
		dpdk_words[0] = '\0';
		snprintf(text, sizeof(text), "{\"doca_dpdk_flags\": %s}", examples[i].text);
		path = file_of(text);
		assert_int_equal(START("--json", path), strstr(text, "regex")
								? DOCA_ERROR_NOT_SUPPORTED
								: DOCA_ERROR_INVALID_VALUE);
		snprintf(expected, sizeof(expected), "%s: %s\n", path, examples[i].expected);
		assert_string_equal(said, expected);
		assert_string_equal(dpdk_words, "");
		teardown(state);
		setup(state);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_understood),
		TEST(what_is_refused),
		TEST(the_command_line_has_the_last_word),
		TEST(log_levels_by_number_and_name),
		TEST(a_command_has_its_own_fields),
		TEST(a_file_may_give_what_is_mandatory),
		TEST(nothing_stands_beside_a_singular_one),
		TEST(unknown_fields_may_be_let_through),
		TEST(a_file_is_not_larger_than_it_may_be),
		TEST(words_for_dpdk),
		TEST(what_is_refused_for_dpdk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
