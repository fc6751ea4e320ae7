/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What doca_argp_start() makes of a command line: each form of an argument, and the line that is
 * said about each mistake.
 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

#define MAX_WORDS 8

struct example {
	const char *words[MAX_WORDS];
	const char *expected; /* calls, or what is said without its line feed */
};

/* Parameters of all types, and commands: get [-n N] [-i], set on [-x] and a hidden one. */
static void make_program(void)
{
	struct doca_argp_cmd *get = add_cmd("get", ran_get);
	struct doca_argp_cmd *set = add_cmd("set", ran_set);
	struct doca_argp_cmd *hidden = new_cmd("hidden", ran_set);
	struct doca_argp_param *param;

	add_param("n", "num", DOCA_ARGP_TYPE_INT);
	add_param("s", "string", DOCA_ARGP_TYPE_STRING);
	add_param("a", "all", DOCA_ARGP_TYPE_BOOLEAN);
	add_param("b", "both", DOCA_ARGP_TYPE_BOOLEAN);
	add_param("d", "double", DOCA_ARGP_TYPE_DOUBLE);
	add_param("vid", NULL, DOCA_ARGP_TYPE_INT);
	param = new_param("m", "many", DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_multiplicity(param);
	assert_success(doca_argp_register_param(param));
	param = new_param(NULL, "alone", DOCA_ARGP_TYPE_BOOLEAN);
	doca_argp_param_set_singular(param);
	assert_success(doca_argp_register_param(param));
	param = new_param("i", "inherited", DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_inherited(param);
	assert_success(doca_argp_register_param(param));
	param = new_param(NULL, "unseen", DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_hidden(param);
	assert_success(doca_argp_register_param(param));

	assert_success(
		doca_argp_cmd_register_param(get, new_param("n", "number", DOCA_ARGP_TYPE_INT)));
	/* One of the names that every program has. */
	assert_success(
		doca_argp_cmd_register_param(get, new_param("v", NULL, DOCA_ARGP_TYPE_STRING)));
	assert_success(doca_argp_cmd_register_cmd(set, new_cmd("on", ran_get)));
	doca_argp_cmd_set_hidden(hidden);
	assert_success(doca_argp_register_cmd(hidden));
}

static void check(void **state, const struct example *examples, size_t n, doca_error_t result)
{
	char expected[256];

	for (size_t i = 0; i < n; i++) {
		make_program();
		if (START_WORDS(examples[i].words) != result)
			fail_msg("example %zu: said %s", i, said);
		if (result == DOCA_SUCCESS) {
			assert_string_equal(called, examples[i].expected);
			assert_string_equal(said, "");
		} else {
			snprintf(expected, sizeof(expected), "%s\n", examples[i].expected);
			assert_string_equal(said, expected);
			assert_string_equal(called, "");
		}
		teardown(state);
		setup(state);
	}
}

#define CHECK(state, examples, result) \
	check(state, examples, sizeof(examples) / sizeof((examples)[0]), result)

static void what_is_understood(void **state)
{
	static const struct example examples[] = {
		{{"prog"}, ""},
		{{"prog", "-n", "5"}, "i:5 "},
		{{"prog", "-n5"}, "i:5 "},
		{{"prog", "-n=5"}, "i:5 "},
		{{"prog", "--num", "5"}, "i:5 "},
		{{"prog", "--num=-5"}, "i:-5 "},
		{{"prog", "-n", "-5"}, "i:-5 "},
		{{"prog", "-n", "+5"}, "i:5 "},
		{{"prog", "-n", "0x1F"}, "i:31 "},
		{{"prog", "-n", "-0x10"}, "i:-16 "},
		{{"prog", "-n", "010"}, "i:10 "}, /* not octal */
		{{"prog", "-n", "2147483647"}, "i:2147483647 "},
		{{"prog", "-n", "-2147483648"}, "i:-2147483648 "},
		{{"prog", "-d", "2.5"}, "d:2.5 "},
		{{"prog", "--double", "-1e3"}, "d:-1000 "},
		{{"prog", "-d", "7"}, "d:7 "},
		{{"prog", "-s", "a word"}, "s:a word "},
		{{"prog", "-s", ""}, "s: "},
		{{"prog", "--string="}, "s: "},
		{{"prog", "--string=a=b"}, "s:a=b "},
		{{"prog", "-s", "-"}, "s:- "},
		{{"prog", "-s", "-x"}, "s:-x "}, /* nobody's flag */
		{{"prog", "--string=-n"}, "s:-n "},
		{{"prog", "-s", "get"}, "s:get "}, /* a value, not a command */
		{{"prog", "-a"}, "b:1 "},
		{{"prog", "-ab"}, "b:1 b:1 "},
		{{"prog", "-abn5"}, "b:1 b:1 i:5 "},
		{{"prog", "-bs", "x"}, "b:1 s:x "},
		{{"prog", "-vid", "7"}, "i:7 "}, /* a short name of several letters */
		{{"prog", "-vid=7", "-n", "5"}, "i:7 i:5 "},
		{{"prog", "-m1", "-n", "5", "--many", "2"}, "i:1 i:5 i:2 "},
		{{"prog", "--unseen", "1"}, "i:1 "},
		{{"prog", "--alone"}, "b:1 "},
		{{"prog", "--alone", "-l", "50"}, "b:1 "},
		{{"prog", "--log-level=Error", "--sdk-log-level", "40"}, ""},
		{{"prog", "get"}, "get "},
		{{"prog", "hidden"}, "set "},
		{{"prog", "-n", "1", "get", "-n", "2"}, "i:1 i:2 get "},
		{{"prog", "get", "-i", "x", "-v", "y"}, "s:x s:y get "},
		{{"prog", "-i", "x", "set", "on"}, "s:x set get "},
		{{"prog", "set", "on", "-i", "x"}, "s:x set get "},
		{{"prog", "set", "--log-level", "info"}, "set "},
		{{"prog", "-n", "1", "--", "get"}, "i:1 get "},
		{{"prog", "--"}, ""},
	};

	CHECK(state, examples, DOCA_SUCCESS);
}

static void what_is_refused(void **state)
{
	static const struct example examples[] = {
		/* flags that there are not */
		{{"prog", "--nmu", "5"}, "--nmu: no such option, did you mean --num? (see --help)"},
		{{"prog", "--log-levle=5"},
		 "--log-levle=5: no such option, did you mean --log-level? (see --help)"},
		{{"prog", "--something"}, "--something: no such option (see --help)"},
		{{"prog", "--unsean", "1"}, "--unsean: no such option (see --help)"},
		{{"prog", "-x"}, "-x: no such option (see --help)"},
		{{"prog", "-abx"}, "-abx: no such option (see --help)"},
		{{"prog", "--n", "5"}, "--n: no such option, did you mean --num? (see --help)"},
		{{"prog", "get", "--num", "5"},
		 "--num: no such option (see --help)"}, /* of the program, not inherited */
		/* values */
		{{"prog", "-n"}, "--num: a value is missing (see --help)"},
		{{"prog", "--num", "--all"}, "--num: a value is missing (see --help)"},
		{{"prog", "-s", "-a"}, "--string: a value is missing (see --help)"},
		{{"prog", "-s", "--"}, "--string: a value is missing (see --help)"},
		{{"prog", "-vid"}, "-vid: a value is missing (see --help)"},
		{{"prog", "--all=1"}, "--all: takes no value (see --help)"},
		{{"prog", "-a=1"}, "--all: takes no value (see --help)"},
		{{"prog", "--num", "five"}, "--num: \"five\" is no integer"},
		{{"prog", "--num", "5x"}, "--num: \"5x\" is no integer"},
		{{"prog", "--num", "5.0"}, "--num: \"5.0\" is no integer"},
		{{"prog", "--num", ""}, "--num: \"\" is no integer"},
		{{"prog", "--num", " 5"}, "--num: \" 5\" is no integer"},
		{{"prog", "--num", "0x"}, "--num: \"0x\" is no integer"},
		{{"prog", "--num", "2147483648"},
		 "--num: 2147483648 is out of range (-2147483648 to 2147483647)"},
		{{"prog", "--num", "-2147483649"},
		 "--num: -2147483649 is out of range (-2147483648 to 2147483647)"},
		{{"prog", "--num", "99999999999999999999"},
		 "--num: 99999999999999999999 is out of range (-2147483648 to 2147483647)"},
		{{"prog", "-d", "x"}, "--double: \"x\" is no number"},
		{{"prog", "-d", "nan"}, "--double: nan is out of range"},
		{{"prog", "-d", "1e999"}, "--double: 1e999 is out of range"},
		/* how often, and beside what */
		{{"prog", "-n", "1", "--num", "2"}, "--num: is given more than once"},
		{{"prog", "-aa"}, "--all: is given more than once"},
		{{"prog", "--alone", "-n", "1"}, "--num: may not be given beside --alone"},
		{{"prog", "-n", "1", "--alone"}, "--num: may not be given beside --alone"},
		/* the flags that every program has */
		{{"prog", "-l", "loud"},
		 "--log-level: \"loud\" is no level (DISABLE 10, CRIT 20, ERROR 30, WARNING 40,"
		 " INFO 50, DEBUG 60, TRACE 70)"},
		{{"prog", "--sdk-log-level", "55"},
		 "--sdk-log-level: \"55\" is no level (DISABLE 10, CRIT 20, ERROR 30, WARNING 40,"
		 " INFO 50, DEBUG 60, TRACE 70)"},
		{{"prog", "-l", "50", "-l", "60"}, "--log-level: is given more than once"},
		{{"prog", "-j", "a", "-j", "b"}, "--json: is given more than once"},
		{{"prog", "-l"}, "--log-level: a value is missing (see --help)"},
		/* commands */
		{{"prog", "gte"}, "\"gte\": no such command, did you mean get? (see --help)"},
		{{"prog", "hiddne"}, "\"hiddne\": no such command (see --help)"},
		{{"prog", "something"}, "\"something\": no such command (see --help)"},
		{{"prog", "get", "set"}, "\"set\": is no option, and no value of one (see --help)"},
		{{"prog", "--", "-n"}, "\"-n\": no such command (see --help)"},
		{{"prog", "-"}, "\"-\": no such command (see --help)"},
	};

	CHECK(state, examples, DOCA_ERROR_INVALID_VALUE);
}

static void add_mandatory(struct doca_argp_cmd *cmd, const char *name)
{
	struct doca_argp_param *param = new_param(NULL, name, DOCA_ARGP_TYPE_STRING);

	doca_argp_param_set_mandatory(param);
	if (cmd)
		assert_success(doca_argp_cmd_register_param(cmd, param));
	else
		assert_success(doca_argp_register_param(param));
}

static void mandatory_parameters(void **state)
{
	static const struct {
		struct example example;
		doca_error_t result;
	} cases[] = {
		{{{"prog", "--must", "x"}, "s:x "}, DOCA_SUCCESS},
		{{{"prog"}, "--must: is missing (see --help)\n"}, DOCA_ERROR_INVALID_VALUE},
		{{{"prog", "--must", "x", "get"}, "--too: is missing (see --help)\n"},
		 DOCA_ERROR_INVALID_VALUE},
		{{{"prog", "--must=x", "get", "--too=y"}, "s:x s:y get "}, DOCA_SUCCESS},
		{{{"prog", "--list"}, "b:1 "}, DOCA_SUCCESS}, /* a singular one asks for none */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doca_argp_param *list = new_param(NULL, "list", DOCA_ARGP_TYPE_BOOLEAN);

		doca_argp_param_set_singular(list);
		assert_success(doca_argp_register_param(list));
		add_mandatory(NULL, "must");
		add_mandatory(add_cmd("get", ran_get), "too");
		assert_int_equal(START_WORDS(cases[i].example.words), cases[i].result);
		assert_string_equal(cases[i].result == DOCA_SUCCESS ? called : said,
				    cases[i].example.expected);
		teardown(state);
		setup(state);
	}
}

static const char *kept;

static doca_error_t keep_string(void *value, void *program_config)
{
	(void)program_config;
	kept = value;
	return DOCA_SUCCESS;
}

static void values_live_until_the_end(void **state)
{
	struct doca_argp_param *param = new_param("s", NULL, DOCA_ARGP_TYPE_STRING);
	char word[] = "value";
	const char *const words[] = {"prog", "-s", word, NULL};

	(void)state;
	doca_argp_param_set_callback(param, keep_string);
	assert_success(doca_argp_register_param(param));
	assert_success(START_WORDS(words));
	memset(word, 'x', 5);
	assert_string_equal(kept, "value");
}

/* DPDK's part of the line: what the callback gets, and what is left for the program. */

static char dpdk_words[256];

static doca_error_t take_dpdk(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		strncat(dpdk_words, argv[i], sizeof(dpdk_words) - strlen(dpdk_words) - 1);
		strncat(dpdk_words, ";", sizeof(dpdk_words) - strlen(dpdk_words) - 1);
	}
	assert_null(argv[argc]);
	argv[0] = argv[argc - 1]; /* as getopt permutes */
	return answer;
}

static void words_for_dpdk(void **state)
{
	static const struct {
		const char *words[MAX_WORDS];
		const char *dpdk;
		const char *called;
	} cases[] = {
		{{"prog", "-c", "0x3", "--", "-n", "5"}, "prog;-c;0x3;", "i:5 "},
		{{"prog", "--", "-n", "5"}, "prog;", "i:5 "},
		{{"prog", "-a", "03:00.0", "--"}, "prog;-a;03:00.0;", ""},
		{{"prog", "-n", "5"}, "prog;-n;5;", ""},
		{{"prog"}, "prog;", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add_param("n", NULL, DOCA_ARGP_TYPE_INT);
		doca_argp_set_dpdk_program(take_dpdk);
		dpdk_words[0] = '\0';
		assert_success(START_WORDS(cases[i].words));
		assert_string_equal(dpdk_words, cases[i].dpdk);
		assert_string_equal(called, cases[i].called);
		teardown(state);
		setup(state);
	}
}

static void dpdk_refuses(void **state)
{
	(void)state;
	add_param("n", NULL, DOCA_ARGP_TYPE_INT);
	doca_argp_set_dpdk_program(take_dpdk);
	answer = DOCA_ERROR_DRIVER;
	assert_int_equal(START("-x", "--", "-n", "5"), DOCA_ERROR_DRIVER);
	assert_string_equal(called, "");
}

static void no_dpdk_program_any_more(void **state)
{
	(void)state;
	add_param("n", NULL, DOCA_ARGP_TYPE_INT);
	doca_argp_set_dpdk_program(take_dpdk);
	doca_argp_set_dpdk_program(NULL);
	dpdk_words[0] = '\0';
	assert_success(START("-n", "5"));
	assert_string_equal(called, "i:5 ");
	assert_string_equal(dpdk_words, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_understood),	 TEST(what_is_refused), TEST(mandatory_parameters),
		TEST(values_live_until_the_end), TEST(words_for_dpdk),	TEST(dpdk_refuses),
		TEST(no_dpdk_program_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
