/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doca_argp.h, function by function: what each does when all is well, and each error that the
 * header documents. What doca_argp_start() makes of a command line or a file is in line_test.c and
 * json_test.c, devices are in device_test.c, what is printed and how the process ends in
 * usage_test.c, and failing allocations in memory_test.c.
 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static doca_error_t refuse(enum doca_log_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return DOCA_ERROR_FULL;
}

static doca_error_t open_nothing(struct doca_devinfo *devinfo, void *usr_ctx, struct doca_dev **dev)
{
	(void)devinfo;
	(void)usr_ctx;
	(void)dev;
	return DOCA_ERROR_NOT_FOUND;
}

enum {
	MANY = 60000, /* with a look at all the others for each it would be a minute */
};

/* doca_argp_init(), doca_argp_destroy() */

static void init_and_destroy(void **state)
{
	(void)state;
	assert_bad_state(doca_argp_init("prog", NULL));
	assert_success(doca_argp_destroy());
	assert_bad_state(doca_argp_destroy());
	assert_invalid(doca_argp_init("", NULL));
	/* Without a name and a configuration; and more than once. */
	assert_success(doca_argp_init(NULL, NULL));
	assert_success(doca_argp_destroy());
	assert_success(doca_argp_init("again", NULL));
}

static void what_is_not_registered_stays_the_callers(void **state)
{
	struct doca_argp_param *param = new_param("n", "num", DOCA_ARGP_TYPE_INT);
	struct doca_argp_cmd *cmd = new_cmd("get", ran_get);

	(void)state;
	assert_success(doca_argp_cmd_register_param(cmd, new_param("a", NULL, DOCA_ARGP_TYPE_INT)));
	assert_success(doca_argp_destroy());
	assert_success(doca_argp_param_destroy(param));
	assert_success(doca_argp_cmd_destroy(cmd));
}

static doca_error_t destroy_too_early(void *program_config)
{
	(void)program_config;
	assert_bad_state(doca_argp_destroy());
	return DOCA_SUCCESS;
}

static void a_callback_does_not_destroy(void **state)
{
	(void)state;
	assert_success(doca_argp_register_validation_callback(destroy_too_early));
	assert_success(START());
	assert_success(doca_argp_destroy());
}

/* doca_argp_param_create(), doca_argp_param_destroy() */

static void param_create_and_destroy(void **state)
{
	struct doca_argp_param *param = NULL;

	(void)state;
	assert_invalid(doca_argp_param_create(NULL));
	assert_invalid(doca_argp_param_destroy(NULL));
	assert_success(doca_argp_param_create(&param));
	assert_success(doca_argp_param_destroy(param));
	param = add_param("n", NULL, DOCA_ARGP_TYPE_INT);
	assert_bad_state(doca_argp_param_destroy(param));
}

/* doca_argp_register_param() */

static void register_param(void **state)
{
	struct doca_argp_param *param = new_param("n", "num", DOCA_ARGP_TYPE_INT);

	(void)state;
	assert_success(doca_argp_register_param(param));
	assert_bad_state(doca_argp_register_param(param));
	assert_invalid(doca_argp_register_param(NULL));
	assert_success(START("-n", "5"));
	assert_string_equal(called, "i:5 ");
}

static void either_name_is_enough(void **state)
{
	(void)state;
	add_param("n", NULL, DOCA_ARGP_TYPE_INT);
	add_param(NULL, "text", DOCA_ARGP_TYPE_STRING);
	assert_success(START("-n", "5", "--text", "x"));
	assert_string_equal(called, "i:5 s:x ");
}

static void register_param_that_is_not_complete(void **state)
{
	struct doca_argp_param *param;

	(void)state;
	assert_int_equal(doca_argp_register_param(new_param(NULL, NULL, DOCA_ARGP_TYPE_INT)),
			 DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_argp_register_param(new_param("a", NULL, DOCA_ARGP_TYPE_UNKNOWN)),
			 DOCA_ERROR_INITIALIZATION);
	param = new_param("b", NULL, DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_type(param, (enum doca_argp_type)7);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	param = new_param("c", NULL, DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_description(param, NULL);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	param = new_param("d", NULL, DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_callback(param, NULL);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	assert_non_null(
		strstr(said, "parameter -d: lacks a name, type, description or callback\n"));
	/* Refused, but the library's: that a program destroys it all the same is no crash. */
	assert_bad_state(doca_argp_param_destroy(param));
}

static void register_param_with_a_bad_name(void **state)
{
	static const char *const bad[] = {"", "-x", "--x", "a=b", "a b", "h", "j", "help", "json"};
	struct doca_argp_param *param;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		param = new_param(bad[i], NULL, DOCA_ARGP_TYPE_INT);
		assert_invalid(doca_argp_register_param(param));
		param = new_param(NULL, bad[i], DOCA_ARGP_TYPE_INT);
		assert_invalid(doca_argp_register_param(param));
	}
	add_param("n", "num", DOCA_ARGP_TYPE_INT);
	assert_invalid(doca_argp_register_param(new_param("n", "other", DOCA_ARGP_TYPE_INT)));
	assert_non_null(strstr(said, "parameter --other: the name is taken\n"));
	assert_invalid(doca_argp_register_param(new_param("o", "num", DOCA_ARGP_TYPE_INT)));
}

/* All others that register something, before doca_argp_init() and after doca_argp_start(). */
static void nothing_is_registered_outside(void **state)
{
	struct doca_argp_param *param[4];
	struct doca_argp_cmd *cmd[4], *spare;
	struct doca_argp_param *out;

	for (int i = 0; i < 4; i++) {
		param[i] = new_param("n", NULL, DOCA_ARGP_TYPE_INT);
		cmd[i] = new_cmd("get", ran_get);
	}
	spare = new_cmd("spare", ran_get);
	for (int round = 0; round < 2; round++) {
		if (round == 0)
			assert_success(doca_argp_destroy());
		else
			assert_success(START());
		assert_bad_state(doca_argp_param_create(&out));
		assert_bad_state(doca_argp_cmd_create(&spare));
		assert_bad_state(doca_argp_register_param(param[2 * round]));
		assert_bad_state(doca_argp_cmd_register_param(spare, param[2 * round + 1]));
		assert_bad_state(doca_argp_register_cmd(cmd[2 * round]));
		assert_bad_state(doca_argp_cmd_register_cmd(spare, cmd[2 * round + 1]));
		assert_bad_state(doca_argp_register_version_callback(took_bool));
		assert_bad_state(doca_argp_register_validation_callback(validated));
		assert_bad_state(doca_argp_register_dev_open_callback(open_nothing, NULL));
		assert_bad_state(doca_argp_disable_pedantic_config_parsing());
		if (round == 0) {
			doca_argp_set_dpdk_program(NULL); /* no result, and no crash */
			doca_argp_usage();
			assert_bad_state(START());
			assert_bad_state(doca_argp_disable_logger_callback());
			assert_bad_state(doca_argp_register_logger_callback(refuse));
			setup(state);
		}
	}
	assert_success(doca_argp_cmd_destroy(spare));
}

/* doca_argp_param_set_*() */

static void setters_have_no_effect_on_what_is_registered(void **state)
{
	struct doca_argp_param *param = add_param("n", "num", DOCA_ARGP_TYPE_INT);

	(void)state;
	doca_argp_param_set_short_name(param, "x");
	doca_argp_param_set_long_name(param, "xx");
	doca_argp_param_set_arguments(param, "x");
	doca_argp_param_set_description(param, NULL);
	doca_argp_param_set_callback(param, NULL);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_mandatory(param);
	doca_argp_param_set_cli_only(param);
	doca_argp_param_set_multiplicity(param);
	doca_argp_param_set_singular(param);
	doca_argp_param_set_inherited(param);
	doca_argp_param_set_hidden(param);
	assert_success(START("--num", "5"));
	assert_string_equal(called, "i:5 ");
}

static void setters_take_null(void **state)
{
	struct doca_argp_param *param = new_param("n", "num", DOCA_ARGP_TYPE_INT);

	(void)state;
	doca_argp_param_set_short_name(NULL, "x");
	doca_argp_param_set_long_name(NULL, "xx");
	doca_argp_param_set_arguments(NULL, "x");
	doca_argp_param_set_description(NULL, "x");
	doca_argp_param_set_callback(NULL, took_int);
	doca_argp_param_set_type(NULL, DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_mandatory(NULL);
	doca_argp_param_set_cli_only(NULL);
	doca_argp_param_set_multiplicity(NULL);
	doca_argp_param_set_singular(NULL);
	doca_argp_param_set_inherited(NULL);
	doca_argp_param_set_hidden(NULL);
	doca_argp_cmd_set_name(NULL, "x");
	doca_argp_cmd_set_description(NULL, "x");
	doca_argp_cmd_set_callback(NULL, ran_get);
	doca_argp_cmd_set_hidden(NULL);
	/* A name is taken back. */
	doca_argp_param_set_short_name(param, NULL);
	assert_success(doca_argp_register_param(param));
	assert_invalid(START("-n", "5"));
}

static void setters_copy(void **state)
{
	char name[] = "num";
	struct doca_argp_param *param = new_param(NULL, name, DOCA_ARGP_TYPE_INT);

	(void)state;
	memset(name, 'x', 3);
	assert_success(doca_argp_register_param(param));
	assert_success(START("--num", "5"));
}

/* doca_argp_cmd_create(), doca_argp_cmd_destroy(), doca_argp_cmd_set_*() */

static void cmd_create_and_destroy(void **state)
{
	struct doca_argp_cmd *cmd = NULL;

	(void)state;
	assert_invalid(doca_argp_cmd_create(NULL));
	assert_invalid(doca_argp_cmd_destroy(NULL));
	assert_success(doca_argp_cmd_create(&cmd));
	assert_success(doca_argp_cmd_destroy(cmd));
	cmd = add_cmd("get", ran_get);
	assert_bad_state(doca_argp_cmd_destroy(cmd));
	/* As with parameters. */
	doca_argp_cmd_set_name(cmd, "other");
	doca_argp_cmd_set_description(cmd, NULL);
	doca_argp_cmd_set_callback(cmd, NULL);
	doca_argp_cmd_set_hidden(cmd);
	assert_success(START("get"));
	assert_string_equal(called, "get ");
}

/* doca_argp_register_cmd() */

static void register_cmd(void **state)
{
	struct doca_argp_cmd *cmd = new_cmd("get", ran_get);

	(void)state;
	assert_success(doca_argp_register_cmd(cmd));
	assert_bad_state(doca_argp_register_cmd(cmd));
	assert_invalid(doca_argp_register_cmd(NULL));
	assert_invalid(doca_argp_register_cmd(new_cmd("get", ran_set)));
	assert_string_equal(said, "command get: the name is taken\n");
	assert_invalid(doca_argp_register_cmd(new_cmd("", ran_get)));
	assert_invalid(doca_argp_register_cmd(new_cmd("-get", ran_get)));
	assert_int_equal(doca_argp_register_cmd(new_cmd(NULL, ran_get)), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_argp_register_cmd(new_cmd("x", NULL)), DOCA_ERROR_INITIALIZATION);
	cmd = new_cmd("x", ran_get);
	doca_argp_cmd_set_description(cmd, NULL);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_ERROR_INITIALIZATION);
	assert_bad_state(doca_argp_cmd_destroy(cmd));
}

/* doca_argp_cmd_register_param() */

static void cmd_register_param(void **state)
{
	struct doca_argp_cmd *cmd = new_cmd("get", ran_get);
	struct doca_argp_param *param = new_param("n", "num", DOCA_ARGP_TYPE_INT);

	(void)state;
	/* Before the command is registered, and after it. */
	assert_success(doca_argp_cmd_register_param(cmd, param));
	assert_success(doca_argp_register_cmd(cmd));
	assert_success(doca_argp_cmd_register_param(cmd, new_param("m", 0, DOCA_ARGP_TYPE_INT)));
	assert_bad_state(doca_argp_cmd_register_param(cmd, param));
	assert_invalid(doca_argp_cmd_register_param(cmd, NULL));
	assert_success(START("get", "-m", "1", "-n", "2"));
	assert_string_equal(called, "i:1 i:2 get ");
}

static void cmd_register_param_that_is_refused(void **state)
{
	struct doca_argp_cmd *cmd = add_cmd("get", ran_get);
	struct doca_argp_param *param = new_param("n", "num", DOCA_ARGP_TYPE_INT);

	(void)state;
	assert_success(doca_argp_cmd_register_param(cmd, param));
	assert_invalid(doca_argp_cmd_register_param(NULL, param)); /* stays registered */
	assert_invalid(doca_argp_cmd_register_param(NULL, new_param("a", 0, DOCA_ARGP_TYPE_INT)));
	assert_invalid(doca_argp_cmd_register_param(cmd, new_param("n", 0, DOCA_ARGP_TYPE_INT)));
	assert_invalid(doca_argp_cmd_register_param(cmd, new_param("h", 0, DOCA_ARGP_TYPE_INT)));
	assert_int_equal(doca_argp_cmd_register_param(cmd, new_param("u", 0, 0)),
			 DOCA_ERROR_INITIALIZATION);
}

/* doca_argp_cmd_register_cmd() */

static void cmd_register_cmd(void **state)
{
	struct doca_argp_cmd *outer = new_cmd("set", ran_set), *inner = new_cmd("get", ran_get);

	(void)state;
	assert_success(doca_argp_cmd_register_cmd(outer, inner));
	assert_success(doca_argp_register_cmd(outer));
	assert_bad_state(doca_argp_cmd_register_cmd(outer, inner));
	assert_success(START("set", "get"));
	assert_string_equal(called, "set get ");
}

static void cmd_register_cmd_that_is_refused(void **state)
{
	struct doca_argp_cmd *outer = new_cmd("set", ran_set), *inner = new_cmd("get", ran_get);

	(void)state;
	assert_success(doca_argp_cmd_register_cmd(outer, inner));
	assert_invalid(doca_argp_cmd_register_cmd(outer, NULL));
	assert_invalid(doca_argp_cmd_register_cmd(NULL, inner)); /* stays registered */
	assert_invalid(doca_argp_cmd_register_cmd(NULL, new_cmd("x", ran_get)));
	assert_invalid(doca_argp_cmd_register_cmd(outer, new_cmd("get", ran_get)));
	assert_invalid(doca_argp_cmd_register_cmd(outer, new_cmd("-x", ran_get)));
	assert_int_equal(doca_argp_cmd_register_cmd(outer, new_cmd(NULL, ran_get)),
			 DOCA_ERROR_INITIALIZATION);
	/* No circles. */
	assert_invalid(doca_argp_cmd_register_cmd(outer, outer));
	assert_invalid(doca_argp_cmd_register_cmd(inner, outer));
	assert_success(doca_argp_cmd_destroy(outer));
}

/* doca_argp_register_validation_callback() */

static void validation_runs_last(void **state)
{
	(void)state;
	assert_invalid(doca_argp_register_validation_callback(NULL));
	assert_success(doca_argp_register_validation_callback(validated));
	add_param("n", NULL, DOCA_ARGP_TYPE_INT);
	add_cmd("get", ran_get);
	assert_success(START("-n", "5", "get"));
	assert_string_equal(called, "i:5 get valid ");
}

static void what_a_callback_returns_ends_the_start(void **state)
{
	static const char *const expected[] = {"i:5 ", "get ", "valid "};

	for (int i = 0; i < 3; i++) {
		assert_success(doca_argp_register_validation_callback(validated));
		add_param("n", NULL, DOCA_ARGP_TYPE_INT);
		add_cmd("get", ran_get);
		answer = DOCA_ERROR_NOT_FOUND;
		assert_int_equal(i == 0	  ? START("-n", "5", "get")
				 : i == 1 ? START("get")
					  : START(),
				 DOCA_ERROR_NOT_FOUND);
		assert_string_equal(called, expected[i]);
		assert_non_null(strstr(said, doca_error_get_descr(DOCA_ERROR_NOT_FOUND)));
		teardown(state);
		setup(state);
	}
}

/* doca_argp_register_logger_callback(), doca_argp_disable_logger_callback() */

static void logger(void **state)
{
	(void)state;
	assert_invalid(doca_argp_register_logger_callback(NULL));
	assert_int_equal(doca_argp_register_logger_callback(refuse), DOCA_ERROR_ALREADY_EXIST);
	assert_success(doca_argp_disable_logger_callback());
	assert_invalid(START("--nothing"));
	assert_string_equal(said, "");
	assert_success(doca_argp_register_logger_callback(refuse));
}

/* doca_argp_register_version_callback(), doca_argp_register_dev_open_callback() */

static void callbacks_are_not_null(void **state)
{
	(void)state;
	assert_invalid(doca_argp_register_version_callback(NULL));
	assert_invalid(doca_argp_register_dev_open_callback(NULL, NULL));
}

static void a_version_callback_that_fails_ends_the_start(void **state)
{
	(void)state;
	assert_success(doca_argp_register_version_callback(took_bool));
	answer = DOCA_ERROR_NOT_FOUND;
	assert_int_equal(START("--version"), DOCA_ERROR_NOT_FOUND);
	assert_string_equal(called, "b:1 ");
}

/* doca_argp_get_log_level(), doca_argp_get_sdk_log_level() */

static void log_levels(void **state)
{
	int level = 0;

	(void)state;
	assert_invalid(doca_argp_get_log_level(NULL));
	assert_invalid(doca_argp_get_sdk_log_level(NULL));
	assert_success(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO));
	assert_success(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_WARNING));
	assert_success(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_INFO);
	assert_success(doca_argp_get_sdk_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_WARNING);

	assert_success(START("-l", "60", "--sdk-log-level", "trace"));
	assert_int_equal(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_DEBUG);
	assert_int_equal(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_TRACE);
	assert_success(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_CRIT));
	assert_success(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_DEBUG);
	assert_success(doca_argp_get_sdk_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_TRACE);
	/* Without a parser there is no such flag. */
	assert_success(doca_argp_destroy());
	assert_success(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_CRIT);
}

/* doca_argp_start() */

static void start_once(void **state)
{
	(void)state;
	assert_success(START());
	assert_bad_state(START());
}

static void start_without_words(void **state)
{
	const char *const none[] = {NULL};

	(void)state;
	assert_invalid(doca_argp_start(1, NULL));
	assert_invalid(START_WORDS(none));
	assert_invalid(doca_argp_start(1, (char **)none));
	/* That was none. */
	assert_success(START());
}

static void start_after_a_refusal(void **state)
{
	(void)state;
	assert_int_equal(doca_argp_register_param(new_param("n", NULL, DOCA_ARGP_TYPE_UNKNOWN)),
			 DOCA_ERROR_INITIALIZATION);
	assert_int_equal(START(), DOCA_ERROR_INITIALIZATION);
	assert_non_null(strstr(said, "a parameter or command was refused"));
	assert_bad_state(START());
}

static void start_with_a_file_that_cannot_be_read(void **state)
{
	(void)state;
	assert_int_equal(START("--json", "/nonexistent/file"), DOCA_ERROR_IO_FAILED);
	assert_string_equal(said, "/nonexistent/file: No such file or directory\n");
	teardown(state);
	setup(state);
	assert_int_equal(START("--json", "/"), DOCA_ERROR_IO_FAILED);
}

/* Generated programs have thousands of parameters. */
static void many_parameters(void **state)
{
	char short_name[16], long_name[16];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(short_name, sizeof(short_name), "s%d", i);
		snprintf(long_name, sizeof(long_name), "l%d", i);
		add_param(short_name, long_name, DOCA_ARGP_TYPE_INT);
	}
	assert_success(START("--l0", "1", "-s59999", "2", "--l59998=3", "-s31007", "4"));
	assert_string_equal(called, "i:1 i:2 i:3 i:4 ");
}

static void the_same_name_among_many(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		add_param(name, NULL, DOCA_ARGP_TYPE_INT);
	}
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_invalid(doca_argp_register_param(new_param(name, NULL, DOCA_ARGP_TYPE_INT)));
		said[0] = '\0';
		/* Long names are others. */
		add_param(NULL, name, DOCA_ARGP_TYPE_INT);
		assert_invalid(doca_argp_register_param(new_param(NULL, name, DOCA_ARGP_TYPE_INT)));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(init_and_destroy),
		TEST(what_is_not_registered_stays_the_callers),
		TEST(a_callback_does_not_destroy),
		TEST(param_create_and_destroy),
		TEST(register_param),
		TEST(either_name_is_enough),
		TEST(register_param_that_is_not_complete),
		TEST(register_param_with_a_bad_name),
		TEST(nothing_is_registered_outside),
		TEST(setters_have_no_effect_on_what_is_registered),
		TEST(setters_take_null),
		TEST(setters_copy),
		TEST(cmd_create_and_destroy),
		TEST(register_cmd),
		TEST(cmd_register_param),
		TEST(cmd_register_param_that_is_refused),
		TEST(cmd_register_cmd),
		TEST(cmd_register_cmd_that_is_refused),
		TEST(validation_runs_last),
		TEST(what_a_callback_returns_ends_the_start),
		TEST(logger),
		TEST(callbacks_are_not_null),
		TEST(a_version_callback_that_fails_ends_the_start),
		TEST(log_levels),
		TEST(many_parameters),
		TEST(the_same_name_among_many),
		TEST(start_once),
		TEST(start_without_words),
		TEST(start_after_a_refusal),
		TEST(start_with_a_file_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
