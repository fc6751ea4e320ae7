/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation fails, alone and with all after it: the program hears of it, nothing is lost,
 * nothing crashes, and no callback has run for half of a command line.
 */
#include "fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"

static const char *json_path;

static doca_error_t take_dpdk(int argc, char **argv)
{
	(void)argv;
	return argc == 7 ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

/* What a program does: the first error ends it. */
static doca_error_t add(struct doca_argp_cmd *cmd, const char *short_name, const char *long_name,
			doca_argp_param_cb_t callback, enum doca_argp_type type)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, "a parameter");
	doca_argp_param_set_arguments(param, "<value>");
	doca_argp_param_set_callback(param, callback);
	doca_argp_param_set_type(param, type);
	return cmd ? doca_argp_cmd_register_param(cmd, param) : doca_argp_register_param(param);
}

static doca_error_t add_get(void)
{
	struct doca_argp_cmd *cmd;
	doca_error_t result = doca_argp_cmd_create(&cmd);

	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_cmd_set_name(cmd, "get");
	doca_argp_cmd_set_description(cmd, "a command");
	doca_argp_cmd_set_callback(cmd, ran_get);
	result = add(cmd, "s", "string", took_string, DOCA_ARGP_TYPE_STRING);
	if (result == DOCA_SUCCESS)
		return doca_argp_register_cmd(cmd);
	assert_success(doca_argp_cmd_destroy(cmd));
	return result;
}

static doca_error_t run(const char *program_name)
{
	doca_error_t result = doca_argp_init(program_name, &config);

	if (result != DOCA_SUCCESS)
		return result;
	assert_success(doca_argp_disable_logger_callback());
	doca_argp_set_dpdk_program(take_dpdk);
	result = add(NULL, "n", "num", took_int, DOCA_ARGP_TYPE_INT);
	if (result == DOCA_SUCCESS)
		result = add_get();
	if (result == DOCA_SUCCESS)
		result = START("-x", "--", "-n", "5", "-j", json_path, "get", "-s", "x");
	assert_success(doca_argp_destroy());
	return result;
}

static bool attempt(void *program_name)
{
	doca_error_t result;

	called[0] = '\0';
	result = run(program_name);
	if (result == DOCA_SUCCESS)
		return true;
	/* A setter has no result: the registration has it. */
	assert_true(result == DOCA_ERROR_NO_MEMORY || result == DOCA_ERROR_INITIALIZATION);
	assert_string_equal(called, "");
	return false;
}

static void every_allocation_fails(void **state)
{
	char name[] = "prog";

	(void)state;
	json_path = file_of("{\"doca_dpdk_flags\": {\"core-list\": \"0-3\", \"flags\": \"-z\","
			    " \"devices\": [{\"device\": \"pf\", \"id\": \"03:00.0\"}]},"
			    " \"doca_program_flags\": {\"string\": \"ignored\"}}");
	/* The program's name is copied in one case, and that of argv[0] in the other. */
	assert_true(fail_each(attempt, NULL) > 30);
	assert_string_equal(called, "i:5 s:x get ");
	assert_true(fail_each(attempt, name) > 30);
	assert_string_equal(called, "i:5 s:x get ");
}

static void no_memory_is_said(void **state)
{
	(void)state;
	add_param("s", NULL, DOCA_ARGP_TYPE_STRING);
	fail_allocation(1);
	assert_int_equal(START("-s", "x"), DOCA_ERROR_NO_MEMORY);
	assert_true(fail_has_happened());
	fail_allocation(0);
	assert_string_equal(said, "out of memory\n");
}

static void makers_say_it(void **state)
{
	struct doca_argp_param *param;
	struct doca_argp_cmd *cmd;

	(void)state;
	fail_allocation(1);
	assert_int_equal(doca_argp_param_create(&param), DOCA_ERROR_NO_MEMORY);
	fail_allocation(1);
	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_ERROR_NO_MEMORY);
	fail_allocation(0);
	assert_success(doca_argp_destroy());
	fail_allocation(1);
	assert_int_equal(doca_argp_init("prog", &config), DOCA_ERROR_NO_MEMORY);
	fail_allocation(0);
	assert_success(doca_argp_init("prog", &config));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_allocation_fails, teardown),
		cmocka_unit_test_setup_teardown(no_memory_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(makers_say_it, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
