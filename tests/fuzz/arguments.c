/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doca_argp under arbitrary words and an arbitrary file: the words, a line feed behind each, up to
 * a NUL, and then the file. What is accepted has its parameter's type, and nothing is refused
 * without a line that says why.
 */
#include <stdlib.h>
#include <string.h>

#include "argp/argp.h"

#define MAX_WORDS 64

static unsigned int num_said;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

static __attribute__((format(printf, 2, 0))) doca_error_t check_said(enum doca_log_level level,
								     const char *format,
								     va_list args)
{
	(void)level;
	require(!strcmp(format, "%s"));
	format = va_arg(args, const char *);
	require(format[0] && !strchr(format, '\n'));
	num_said++;
	return DOCA_SUCCESS;
}

static doca_error_t nothing(void *value, void *config)
{
	(void)value;
	(void)config;
	return DOCA_SUCCESS;
}

static doca_error_t nothing_of_cmd(void *config)
{
	(void)config;
	return DOCA_SUCCESS;
}

static doca_error_t nothing_of_dpdk(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return DOCA_SUCCESS;
}

static void add(struct doca_argp_cmd *cmd, const char *short_name, const char *long_name,
		enum doca_argp_type type)
{
	struct doca_argp_param *param;

	require(doca_argp_param_create(&param) == DOCA_SUCCESS);
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, "");
	doca_argp_param_set_callback(param, nothing);
	doca_argp_param_set_type(param, type);
	if (type == DOCA_ARGP_TYPE_DOUBLE)
		doca_argp_param_set_multiplicity(param);
	require(doca_argp_cmd_register_param(cmd, param) == DOCA_SUCCESS);
}

/* --version would end the process: the program takes its names. */
static void make_program(void)
{
	struct doca_argp_cmd *get;

	require(doca_argp_init("fuzz", NULL) == DOCA_SUCCESS);
	require(doca_argp_register_logger_callback(check_said) == DOCA_SUCCESS);
	doca_argp_set_dpdk_program(nothing_of_dpdk);
	require(doca_argp_cmd_create(&get) == DOCA_SUCCESS);
	doca_argp_cmd_set_name(get, "get");
	doca_argp_cmd_set_description(get, "");
	doca_argp_cmd_set_callback(get, nothing_of_cmd);
	for (int i = 0; i < 2; i++) {
		struct doca_argp_cmd *cmd = i ? get : &argp_ctx->root;

		add(cmd, "n", "num", DOCA_ARGP_TYPE_INT);
		add(cmd, "vid", NULL, DOCA_ARGP_TYPE_STRING);
		add(cmd, "v", "version", DOCA_ARGP_TYPE_BOOLEAN);
		add(cmd, "m", "many", DOCA_ARGP_TYPE_DOUBLE);
		add(cmd, "d", "dev", DOCA_ARGP_TYPE_DEVICE);
		add(cmd, "r", "rep", DOCA_ARGP_TYPE_DEVICE_REP);
	}
	require(doca_argp_register_cmd(get) == DOCA_SUCCESS);
}

/* Cuts the words at their line feeds. --help ends the process as well, and keeps its names. */
static int split(char *text, char **words)
{
	int n = 0;

	for (char *end; n < MAX_WORDS && (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		if (text[0] != '-' || !strchr(text, 'h'))
			words[n++] = text;
	}
	return n;
}

static void check_values(struct util_list *values)
{
	struct argp_value *value;

	util_list_for_each(values, value, node) {
		bool has_text = value->param->type == DOCA_ARGP_TYPE_STRING ||
				value->param->type == DOCA_ARGP_TYPE_DEVICE ||
				value->param->type == DOCA_ARGP_TYPE_DEVICE_REP;

		require(argp_value_pointer(value) && has_text == (value->text != NULL));
		require(value->param->type != DOCA_ARGP_TYPE_BOOLEAN || value->boolean);
		require(value->param->type != DOCA_ARGP_TYPE_DEVICE || value->text[0]);
		require(value->param->type != DOCA_ARGP_TYPE_DEVICE_REP ||
			strchr(value->text, ','));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, '\0', size);
	size_t words_bytes = nul ? (size_t)(nul - data) : size;
	size_t file_bytes = nul ? size - words_bytes - 1 : 0;
	char *text = strndup((const char *)data, words_bytes);
	/* Not ended, so that a sanitizer sees a look behind its end. */
	char *file = malloc(file_bytes ? file_bytes : 1);
	char *words[MAX_WORDS];
	doca_error_t result;

	if (!text || !file)
		goto out;
	if (file_bytes)
		memcpy(file, nul + 1, file_bytes);
	num_said = 0;
	make_program();
	result = argp_line_read(split(text, words), words);
	if (result == DOCA_SUCCESS)
		result = argp_json_take("file", file, file_bytes);
	require((result == DOCA_SUCCESS) == !num_said);
	check_values(&argp_ctx->line_values);
	check_values(&argp_ctx->file_values);
	require(doca_argp_destroy() == DOCA_SUCCESS);
out:
	free(file);
	free(text);
	return 0;
}
