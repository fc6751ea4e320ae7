/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a parser; see fixture.h. */
#include "fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char called[1024];
char said[4096];
doca_error_t answer;
int config;
static char file_path[] = "/tmp/argp_test.XXXXXX";
static bool has_file;

static void __attribute__((format(printf, 3, 0)))
append(char *text, size_t room, const char *format, va_list args)
{
	size_t used = strlen(text);

	assert_true(vsnprintf(text + used, room - used, format, args) < (int)(room - used));
}

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(called, sizeof(called), format, args);
	va_end(args);
}

static doca_error_t __attribute__((format(printf, 2, 0)))
keep_said(enum doca_log_level level, const char *format, va_list args)
{
	assert_int_equal(level, DOCA_LOG_LEVEL_ERROR);
	append(said, sizeof(said) - 1, format, args);
	said[strlen(said) + 1] = '\0';
	said[strlen(said)] = '\n';
	return DOCA_SUCCESS;
}

int setup(void **state)
{
	(void)state;
	called[0] = '\0';
	memset(said, 0, sizeof(said));
	answer = DOCA_SUCCESS;
	assert_success(doca_argp_init("prog", &config));
	assert_success(doca_argp_register_logger_callback(keep_said));
	return 0;
}

int teardown(void **state)
{
	(void)state;
	(void)doca_argp_destroy();
	if (has_file)
		unlink(file_path);
	has_file = false;
	return 0;
}

const char *file_of(const char *text)
{
	int fd;

	assert_false(has_file);
	snprintf(file_path, sizeof(file_path), "/tmp/argp_test.XXXXXX");
	fd = mkstemp(file_path);
	assert_true(fd >= 0);
	has_file = true;
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return file_path;
}

doca_error_t took_string(void *value, void *program_config)
{
	assert_ptr_equal(program_config, &config);
	note("s:%s ", (char *)value);
	return answer;
}

doca_error_t took_int(void *value, void *program_config)
{
	assert_ptr_equal(program_config, &config);
	note("i:%d ", *(int *)value);
	return answer;
}

doca_error_t took_bool(void *value, void *program_config)
{
	assert_ptr_equal(program_config, &config);
	note("b:%d ", *(bool *)value);
	return answer;
}

doca_error_t took_double(void *value, void *program_config)
{
	assert_ptr_equal(program_config, &config);
	note("d:%g ", *(double *)value);
	return answer;
}

doca_error_t ran_get(void *program_config)
{
	assert_ptr_equal(program_config, &config);
	note("get ");
	return answer;
}

doca_error_t ran_set(void *program_config)
{
	assert_ptr_equal(program_config, &config);
	note("set ");
	return answer;
}

doca_error_t validated(void *program_config)
{
	assert_ptr_equal(program_config, &config);
	note("valid ");
	return answer;
}

static doca_argp_param_cb_t callback_of(enum doca_argp_type type)
{
	switch (type) {
	case DOCA_ARGP_TYPE_INT:
		return took_int;
	case DOCA_ARGP_TYPE_BOOLEAN:
		return took_bool;
	case DOCA_ARGP_TYPE_DOUBLE:
		return took_double;
	default:
		return took_string;
	}
}

struct doca_argp_param *new_param(const char *short_name, const char *long_name,
				  enum doca_argp_type type)
{
	struct doca_argp_param *param;

	assert_success(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, "a parameter");
	doca_argp_param_set_callback(param, callback_of(type));
	doca_argp_param_set_type(param, type);
	return param;
}

struct doca_argp_cmd *new_cmd(const char *name, doca_argp_cmd_cb_t callback)
{
	struct doca_argp_cmd *cmd;

	assert_success(doca_argp_cmd_create(&cmd));
	doca_argp_cmd_set_name(cmd, name);
	doca_argp_cmd_set_description(cmd, "a command");
	doca_argp_cmd_set_callback(cmd, callback);
	return cmd;
}

struct doca_argp_param *add_param(const char *short_name, const char *long_name,
				  enum doca_argp_type type)
{
	struct doca_argp_param *param = new_param(short_name, long_name, type);

	assert_success(doca_argp_register_param(param));
	return param;
}

struct doca_argp_cmd *add_cmd(const char *name, doca_argp_cmd_cb_t callback)
{
	struct doca_argp_cmd *cmd = new_cmd(name, callback);

	assert_success(doca_argp_register_cmd(cmd));
	return cmd;
}

char *kept_words[64];

int keep_words(const char *const *words)
{
	int n = 0;

	for (; words[n]; n++) {
		assert_true(n < 63);
		kept_words[n] = (char *)words[n];
	}
	kept_words[n] = NULL;
	return n;
}
