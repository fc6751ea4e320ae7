/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logging: which back-end shows what, and how it looks. Back-ends cannot be destroyed, so all tests
 * share a few.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <doca_log.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log.h"

DOCA_LOG_REGISTER(TEST::LOG);

/* By a variable: the compiler warns of the constant. */
static const char *const NO_FORMAT = NULL;

static char app_text[200], sdk_text[4096];
static char flushed[200];
static struct doca_log_backend *app, *sdk;

static void keep_flushed(char *buf)
{
	snprintf(flushed, sizeof(flushed), "%s", buf);
}

static int group_setup(void **state)
{
	(void)state;
	assert_int_equal(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_ERROR);
	assert_int_equal(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_DEBUG);
	assert_int_equal(doca_log_backend_create_with_buf(app_text, sizeof(app_text), keep_flushed,
							  &app),
			 DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_create_with_buf_sdk(sdk_text, sizeof(sdk_text),
							      keep_flushed, &sdk),
			 DOCA_SUCCESS);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO);
	doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_CRIT);
	doca_log_backend_set_level_lower_limit(app, DOCA_LOG_LEVEL_TRACE);
	doca_log_backend_set_level_upper_limit(app, DOCA_LOG_LEVEL_CRIT);
	return 0;
}

/* Did the last message of the application with this text come through? */
static bool app_shows(uint32_t level)
{
	static int serial;
	char text[32];

	snprintf(text, sizeof(text), "number %d", ++serial);
	assert_int_equal(DOCA_LOG(level, "%s", text), DOCA_SUCCESS);
	return strstr(app_text, text) || strstr(flushed, text);
}

static void a_record_has_time_level_source_and_text(void **state)
{
	const char *at;

	(void)state;
	DOCA_LOG_WARN("value %d", 42);
	at = strstr(app_text, "][WARNING][TEST::LOG] value 42\n");
	assert_non_null(at);
	/* "[2026-01-31 23:59:59.123456" is before it. */
	assert_true(at - app_text >= 27);
	assert_int_equal(at[-27], '[');
	assert_int_equal(at[-7], '.');
}

static void global_limits(void **state)
{
	(void)state;
	assert_true(app_shows(DOCA_LOG_LEVEL_INFO));
	assert_false(app_shows(DOCA_LOG_LEVEL_DEBUG));
	assert_int_equal(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE), DOCA_SUCCESS);
	assert_true(app_shows(DOCA_LOG_LEVEL_DEBUG));
	assert_int_equal(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
	assert_false(app_shows(DOCA_LOG_LEVEL_CRIT));
	assert_true(app_shows(DOCA_LOG_LEVEL_ERROR));
	assert_int_equal(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_ERROR);
	assert_int_equal(doca_log_level_set_global_lower_limit(55), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_level_set_global_upper_limit(0), DOCA_ERROR_INVALID_VALUE);
}

static void disabled_shows_nothing(void **state)
{
	(void)state;
	assert_int_equal(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE),
			 DOCA_SUCCESS);
	assert_false(app_shows(DOCA_LOG_LEVEL_CRIT));
}

static void own_limits_narrow(void **state)
{
	(void)state;
	assert_int_equal(doca_log_backend_set_level_lower_limit(app, DOCA_LOG_LEVEL_ERROR),
			 DOCA_SUCCESS);
	assert_false(app_shows(DOCA_LOG_LEVEL_WARNING));
	assert_int_equal(doca_log_backend_set_level_upper_limit(app, DOCA_LOG_LEVEL_ERROR),
			 DOCA_SUCCESS);
	assert_false(app_shows(DOCA_LOG_LEVEL_CRIT));
	assert_true(app_shows(DOCA_LOG_LEVEL_ERROR));
}

/* The last one: strictness cannot be taken back. */
static void strict_limits_are_alone(void **state)
{
	(void)state;
	assert_false(app_shows(DOCA_LOG_LEVEL_DEBUG));
	assert_int_equal(doca_log_backend_set_level_lower_limit_strict(app), DOCA_SUCCESS);
	assert_true(app_shows(DOCA_LOG_LEVEL_DEBUG));
	assert_int_equal(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
	assert_false(app_shows(DOCA_LOG_LEVEL_CRIT));
	assert_int_equal(doca_log_backend_set_level_upper_limit_strict(app), DOCA_SUCCESS);
	assert_true(app_shows(DOCA_LOG_LEVEL_CRIT));
}

static void sdk_back_ends_show_library_messages_only(void **state)
{
	(void)state;
	/* From the environment, see meson.build. */
	doca_priv_log(DOCA_LOG_LEVEL_WARNING, "core.test", "hidden");
	doca_priv_log(DOCA_LOG_LEVEL_ERROR, "core.test", "shown %d", 1);
	assert_null(strstr(sdk_text, "hidden"));
	assert_non_null(strstr(sdk_text, "[ERROR][core.test] shown 1\n"));
	assert_null(strstr(app_text, "shown"));

	assert_int_equal(doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
	doca_priv_log(DOCA_LOG_LEVEL_DEBUG, "core.test", "by its own level");
	assert_non_null(strstr(sdk_text, "by its own level"));
	assert_int_equal(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_CRIT), DOCA_SUCCESS);
	doca_priv_log(DOCA_LOG_LEVEL_ERROR, "core.test", "not any more");
	assert_null(strstr(sdk_text, "not any more"));
	assert_int_equal(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_CRIT);
	assert_int_equal(doca_log_level_set_global_sdk_limit(1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_set_sdk_level(app, DOCA_LOG_LEVEL_DEBUG),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_set_sdk_level(sdk, 1), DOCA_ERROR_INVALID_VALUE);
}

static void a_full_buffer_is_handed_over_and_begins_anew(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		DOCA_LOG_ERR("record %d of some length to fill it", i);
	assert_non_null(strstr(flushed, "record"));
	assert_int_equal(flushed[strlen(flushed) - 1], '\n');
	assert_non_null(strstr(app_text, "record 4"));
	/* Longer than the buffer: cut, but a string. */
	DOCA_LOG_ERR("%300s", "long");
	assert_int_equal(strlen(app_text), sizeof(app_text) - 1);
}

static void sources(void **state)
{
	int source;

	(void)state;
	assert_int_equal(doca_log_register_source(NULL, &source), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_register_source("x", NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_register_source("other", &source), DOCA_SUCCESS);
	assert_int_equal(doca_log(DOCA_LOG_LEVEL_ERROR, source, "f", 1, "g", "hello"),
			 DOCA_SUCCESS);
	assert_non_null(strstr(app_text, "[other] hello"));
	assert_int_equal(doca_log_unregister_source(source), DOCA_SUCCESS);
	assert_int_equal(doca_log_unregister_source(source), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log(DOCA_LOG_LEVEL_ERROR, source, "f", 1, "g", "hello"),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log(DOCA_LOG_LEVEL_ERROR, log_source, "f", 1, "g", NO_FORMAT),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log(35, log_source, "f", 1, "g", "hello"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log(DOCA_LOG_LEVEL_ERROR, 0, "f", 1, "g", "hello"),
			 DOCA_ERROR_INVALID_VALUE);
}

static void invalid_arguments(void **state)
{
	struct doca_log_backend *b;
	char buf[8];

	(void)state;
	assert_int_equal(doca_log_backend_create_with_file(NULL, &b), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_file_sdk(stderr, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_fd(-1, &b), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_fd_sdk(1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_buf(buf, 1, keep_flushed, &b),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_buf(buf, 8, NULL, &b),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_buf_sdk(NULL, 8, keep_flushed, &b),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_buf_sdk(buf, 8, keep_flushed, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_syslog(NULL, &b), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_syslog_sdk("x", NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_set_level_lower_limit(NULL, DOCA_LOG_LEVEL_INFO),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_set_level_lower_limit(app, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_set_level_upper_limit(sdk, DOCA_LOG_LEVEL_INFO),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_set_level_lower_limit_strict(sdk),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_set_level_upper_limit_strict(NULL),
			 DOCA_ERROR_INVALID_VALUE);
}

static void to_descriptors_and_streams(void **state)
{
	struct doca_log_backend *b;
	char text[512] = "";
	FILE *file = tmpfile();
	int fds[2];

	(void)state;
	assert_non_null(file);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(doca_log_backend_create_with_file(file, &b), DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_create_with_fd(fds[1], &b), DOCA_SUCCESS);
	DOCA_LOG_ERR("to both");
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "] to both\n"));
	rewind(file);
	assert_non_null(fgets(text, sizeof(text), file));
	assert_non_null(strstr(text, "] to both\n"));
	/* Later messages must not block on a full pipe. */
	assert_int_equal(doca_log_backend_set_level_lower_limit(b, DOCA_LOG_LEVEL_DISABLE),
			 DOCA_SUCCESS);
}

/* In a process of its own: the standard streams are the test's. */
static void to_the_standard_streams_and_syslog(void **state)
{
	char out[256] = "", err[256] = "";
	struct doca_log_backend *b;
	int outs[2], errs[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(outs), 0);
	assert_int_equal(pipe(errs), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(outs[1], STDOUT_FILENO);
		dup2(errs[1], STDERR_FILENO);
		/* Where syslog messages go is the system's; that they do no harm is seen here. */
		if (doca_log_backend_create_standard() != DOCA_SUCCESS ||
		    doca_log_backend_create_with_syslog("softsta", &b) != DOCA_SUCCESS ||
		    doca_log_backend_create_with_syslog_sdk("softsta", &b) != DOCA_SUCCESS)
			_exit(1);
		DOCA_LOG_WARN("severe");
		DOCA_LOG_INFO("usual");
		DOCA_LOG_DBG("beyond the global limit");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_true(read(outs[0], out, sizeof(out) - 1) > 0);
	assert_true(read(errs[0], err, sizeof(err) - 1) > 0);
	assert_non_null(strstr(out, "[INFO][TEST::LOG] usual\n"));
	assert_null(strstr(out, "severe"));
	assert_null(strstr(out, "beyond"));
	assert_non_null(strstr(err, "[WARNING][TEST::LOG] severe\n"));
	assert_null(strstr(err, "usual"));
	for (int i = 0; i < 2; i++) {
		close(outs[i]);
		close(errs[i]);
	}
}

/* Fills the tables, so it comes last but for the strict one. */
static void the_number_of_back_ends_is_bounded(void **state)
{
	struct doca_log_backend *b;
	const int fd = STDERR_FILENO;
	static char buf[16];
	uint32_t n;

	(void)state;
	assert_int_equal(doca_log_backend_create_with_fd_sdk(1, &b), DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_create_with_file_sdk(stderr, &b), DOCA_SUCCESS);
	n = 2;
	while (doca_log_backend_create_with_buf_sdk(buf, 16, keep_flushed, &b) == DOCA_SUCCESS)
		assert_true(++n < doca_log_get_max_num_backends_sdk());
	assert_int_equal(n, doca_log_get_max_num_backends_sdk() - 1);
	assert_int_equal(doca_log_backend_create_with_fd_sdk(1, &b), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_log_backend_create_with_file_sdk(stderr, &b), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_log_backend_create_with_buf_sdk(buf, 16, keep_flushed, &b),
			 DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_log_backend_create_with_syslog_sdk("x", &b), DOCA_ERROR_NO_MEMORY);

	/* One of the application's, one of the stream and one of the descriptor are there. */
	for (n = 3; doca_log_backend_create_with_fd(fd, &b) == DOCA_SUCCESS; n++)
		assert_int_equal(doca_log_backend_set_level_lower_limit(b, DOCA_LOG_LEVEL_DISABLE),
				 DOCA_SUCCESS);
	assert_int_equal(n, doca_log_get_max_num_backends());
	assert_int_equal(doca_log_backend_create_with_fd(fd, &b), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_log_backend_create_with_file(stderr, &b), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_log_backend_create_with_buf(buf, 16, keep_flushed, &b),
			 DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_log_backend_create_with_syslog("x", &b), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_log_backend_create_standard(), DOCA_ERROR_NO_MEMORY);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_record_has_time_level_source_and_text),
		TEST(global_limits),
		TEST(disabled_shows_nothing),
		TEST(own_limits_narrow),
		TEST(sdk_back_ends_show_library_messages_only),
		TEST(a_full_buffer_is_handed_over_and_begins_anew),
		TEST(sources),
		TEST(invalid_arguments),
		TEST(to_descriptors_and_streams),
		TEST(to_the_standard_streams_and_syslog),
		TEST(the_number_of_back_ends_is_bounded),
		TEST(strict_limits_are_alone),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
