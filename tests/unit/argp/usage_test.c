/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is printed, and where; and how --help and --version end the process. Each case runs in a
 * process of its own, whose output is read from pipes.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DOCA_FLAGS                                                             \
	"\nDOCA flags:\n"                                                      \
	"  -h, --help                      Print this text and exit\n"         \
	"  -v, --version                   Print the version and exit\n"       \
	"  -l, --log-level <level>         Log level of the program: DISABLE " \
	"10, CRIT 20, ERROR 30, WARNING 40, INFO 50, DEBUG 60, TRACE 70\n"     \
	"      --sdk-log-level <level>     Log level of the libraries: as "    \
	"--log-level\n"                                                        \
	"  -j, --json <path>               Take what is not given here from a JSON file\n"

/* The process went on after doca_argp_start(), with its result. */
#define WENT_ON 100

static char out[4096], err[4096];

static void drain(int fd, char *text, size_t room)
{
	size_t used = 0;
	ssize_t n;

	while ((n = read(fd, text + used, room - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	close(fd);
}

/* Runs it and returns its exit status. What it prints is short enough for the pipes. */
static int in_process(int (*run)(void))
{
	int out_fds[2], err_fds[2], status;
	pid_t pid;

	fflush(NULL);
	assert_int_equal(pipe(out_fds), 0);
	assert_int_equal(pipe(err_fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(out_fds[1], STDOUT_FILENO);
		dup2(err_fds[1], STDERR_FILENO);
		close(out_fds[0]);
		close(err_fds[0]);
		status = run();
		fflush(NULL);
		_exit(status);
	}
	close(out_fds[1]);
	close(err_fds[1]);
	drain(out_fds[0], out, sizeof(out));
	drain(err_fds[0], err, sizeof(err));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int help_of_nothing(void)
{
	return WENT_ON + (int)START("--help");
}

static void help(void **state)
{
	(void)state;
	assert_int_equal(in_process(help_of_nothing), 0);
	assert_string_equal(out, "Usage: prog [DOCA flags]\n" DOCA_FLAGS);
	assert_string_equal(err, "");
}

static void make_program(void)
{
	struct doca_argp_cmd *set = new_cmd("set", ran_set), *hidden = new_cmd("unseen", ran_set);
	struct doca_argp_param *param = new_param("p", "path", DOCA_ARGP_TYPE_STRING);

	doca_argp_param_set_arguments(param, "<path>");
	doca_argp_param_set_mandatory(param);
	doca_argp_param_set_inherited(param);
	doca_argp_register_param(param);
	add_param(NULL, "a-name-that-is-longer-than-others", DOCA_ARGP_TYPE_BOOLEAN);
	add_param("d", NULL, DOCA_ARGP_TYPE_DOUBLE);
	param = new_param("u", "unseen", DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_hidden(param);
	doca_argp_register_param(param);
	doca_argp_cmd_register_param(set, new_param("v", "value", DOCA_ARGP_TYPE_INT));
	doca_argp_cmd_register_param(set, new_param("e", "dev", DOCA_ARGP_TYPE_DEVICE));
	doca_argp_cmd_register_param(set, new_param("r", "rep", DOCA_ARGP_TYPE_DEVICE_REP));
	doca_argp_cmd_register_param(set, new_param("t", "text", DOCA_ARGP_TYPE_STRING));
	doca_argp_register_cmd(set);
	doca_argp_cmd_set_hidden(hidden);
	doca_argp_register_cmd(hidden);
}

static doca_error_t no_dpdk(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return DOCA_SUCCESS;
}

static int help_of_program(void)
{
	make_program();
	doca_argp_set_dpdk_program(no_dpdk);
	return WENT_ON + (int)START("-h");
}

static void help_with_flags_and_commands(void **state)
{
	(void)state;
	assert_int_equal(in_process(help_of_program), 0);
	assert_string_equal(
		out, "Usage: prog [DPDK flags] -- [DOCA flags] [program flags] COMMAND\n" DOCA_FLAGS
		     "\nProgram flags:\n"
		     "  -p, --path <path>               a parameter (mandatory)\n"
		     "      --a-name-that-is-longer-than-others\n"
		     "                                  a parameter\n"
		     "  -d <number>                     a parameter\n"
		     "\nCommands:\n"
		     "  set                             a command\n");
}

static int help_of_cmd(void)
{
	make_program();
	return WENT_ON + (int)START("set", "--help");
}

static void help_of_a_command(void **state)
{
	(void)state;
	assert_int_equal(in_process(help_of_cmd), 0);
	assert_non_null(strstr(out, "Usage: prog set [DOCA flags] [program flags]\n"
				    "\na command\n"));
	/* The command took -v, so that it is not shown for the version. */
	assert_non_null(strstr(out, "\n      --version               "));
	assert_non_null(strstr(out, "\nProgram flags:\n"
				    "  -v, --value <number>            a parameter\n"
				    "  -e, --dev <device>              a parameter\n"
				    "  -r, --rep <device>,<representor>\n"
				    "                                  a parameter\n"
				    "  -t, --text <text>               a parameter\n"
				    "  -p, --path <path>               a parameter (mandatory)\n"));
}

static int usage_of_program(void)
{
	doca_argp_usage();
	return WENT_ON;
}

static void usage_returns(void **state)
{
	(void)state;
	assert_int_equal(in_process(usage_of_program), WENT_ON);
	assert_string_equal(out, "Usage: prog [DOCA flags]\n" DOCA_FLAGS);
}

static int plain_version(void)
{
	return WENT_ON + (int)START("--version");
}

static void version(void **state)
{
	(void)state;
	assert_int_equal(in_process(plain_version), 0);
	assert_string_equal(out, "DOCA 3.0.0058\n");
}

static doca_error_t print_version(void *value, void *program_config)
{
	(void)value;
	printf("version of %d\n", *(int *)program_config);
	return DOCA_SUCCESS;
}

static int own_version(void)
{
	config = 42;
	doca_argp_register_version_callback(print_version);
	return WENT_ON + (int)START("-v");
}

static void version_by_the_program(void **state)
{
	(void)state;
	assert_int_equal(in_process(own_version), 0);
	assert_string_equal(out, "version of 42\n");
}

static int wrong_line_without_logger(void)
{
	doca_argp_destroy();
	doca_argp_init(NULL, NULL);
	return WENT_ON + (int)START("--what");
}

/* On the standard error stream, with the program's name from argv[0]. */
static void a_mistake_is_said_in_one_line(void **state)
{
	(void)state;
	assert_int_equal(in_process(wrong_line_without_logger), WENT_ON + DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(out, "");
	assert_string_equal(err, "prog: --what: no such option (see --help)\n");
}

static doca_error_t refuse(enum doca_log_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return DOCA_ERROR_FULL;
}

static int logger_that_refuses(void)
{
	doca_argp_disable_logger_callback();
	doca_argp_register_logger_callback(refuse);
	return WENT_ON + (int)START("--what");
}

static void what_a_logger_refuses_is_said_all_the_same(void **state)
{
	(void)state;
	assert_int_equal(in_process(logger_that_refuses), WENT_ON + DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(err, "prog: --what: no such option (see --help)\n");
}

static int disabled_logger(void)
{
	doca_argp_disable_logger_callback();
	return WENT_ON + (int)START("--what");
}

static void a_disabled_logger_is_silent(void **state)
{
	(void)state;
	assert_int_equal(in_process(disabled_logger), WENT_ON + DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(err, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(help),
		TEST(help_with_flags_and_commands),
		TEST(help_of_a_command),
		TEST(usage_returns),
		TEST(version),
		TEST(version_by_the_program),
		TEST(a_mistake_is_said_in_one_line),
		TEST(what_a_logger_refuses_is_said_all_the_same),
		TEST(a_disabled_logger_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
