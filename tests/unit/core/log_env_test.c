/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOCA_LOG_LEVEL and DOCA_LOG_LEVEL_SDK. They are read once, so each value is seen by a process of
 * its own; nothing here logs before the fork.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <doca_log.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What get() gives in a process with this value; NULL: not set. */
static uint32_t ask(const char *variable, const char *value, uint32_t (*get)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		if (value)
			setenv(variable, value, 1);
		else
			unsetenv(variable);
		_exit((int)get());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return (uint32_t)WEXITSTATUS(status);
}

static const struct {
	const char *value;
	uint32_t level;
} levels[] = {
	{"DISABLE", DOCA_LOG_LEVEL_DISABLE}, {"CRIT", DOCA_LOG_LEVEL_CRIT},
	{"ERROR", DOCA_LOG_LEVEL_ERROR},     {"WARNING", DOCA_LOG_LEVEL_WARNING},
	{"INFO", DOCA_LOG_LEVEL_INFO},	     {"DEBUG", DOCA_LOG_LEVEL_DEBUG},
	{"TRACE", DOCA_LOG_LEVEL_TRACE},     {"trace", DOCA_LOG_LEVEL_TRACE},
	{"Warning", DOCA_LOG_LEVEL_WARNING}, {"10", DOCA_LOG_LEVEL_DISABLE},
	{"20", DOCA_LOG_LEVEL_CRIT},	     {"30", DOCA_LOG_LEVEL_ERROR},
	{"40", DOCA_LOG_LEVEL_WARNING},	     {"50", DOCA_LOG_LEVEL_INFO},
	{"60", DOCA_LOG_LEVEL_DEBUG},	     {"70", DOCA_LOG_LEVEL_TRACE},
};

#define NUM_LEVELS (sizeof(levels) / sizeof(levels[0]))

static void of_the_application(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_LEVELS; i++)
		assert_int_equal(ask("DOCA_LOG_LEVEL", levels[i].value,
				     doca_log_level_get_global_lower_limit),
				 levels[i].level);
}

static void of_the_libraries(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_LEVELS; i++)
		assert_int_equal(ask("DOCA_LOG_LEVEL_SDK", levels[i].value,
				     doca_log_level_get_global_sdk_limit),
				 levels[i].level);
}

static void what_is_no_level_changes_nothing(void **state)
{
	static const char *const values[] = {
		NULL, "", "0", "35", "verbose", "50x", "18446744073709551666", "-10"};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_int_equal(ask("DOCA_LOG_LEVEL", values[i],
				     doca_log_level_get_global_lower_limit),
				 DOCA_LOG_LEVEL_INFO);
		assert_int_equal(ask("DOCA_LOG_LEVEL_SDK", values[i],
				     doca_log_level_get_global_sdk_limit),
				 DOCA_LOG_LEVEL_WARNING);
	}
}

static uint32_t set_then_get(void)
{
	if (doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_CRIT) != DOCA_SUCCESS)
		return 0;
	return doca_log_level_get_global_sdk_limit();
}

static void the_program_has_the_last_word(void **state)
{
	(void)state;
	assert_int_equal(ask("DOCA_LOG_LEVEL_SDK", "TRACE", set_then_get), DOCA_LOG_LEVEL_CRIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_application),
		cmocka_unit_test(of_the_libraries),
		cmocka_unit_test(what_is_no_level_changes_nothing),
		cmocka_unit_test(the_program_has_the_last_word),
	};

	unsetenv("DOCA_LOG_LEVEL");
	unsetenv("DOCA_LOG_LEVEL_SDK");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
