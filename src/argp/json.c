/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --json: an object of "doca_general_flags", "doca_program_flags" and
 * "doca_dpdk_flags", each an object whose fields are named as the long flags. Comments are allowed.
 */
#include "argp/argp.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argp/limits.h"

/* The whole file, NULL with the error in *result. Works for a pipe as well. */
static char *slurp(const char *path, size_t *bytes, doca_error_t *result)
{
	/* One more byte than there may be tells that there are too many. */
	char *text = malloc(ARGP_FILE_BYTES_MAX + 1);
	FILE *file;

	if (!text) {
		*result = argp_no_memory();
		return NULL;
	}
	file = fopen(path, "re");
	if (!file) {
		argp_say("%.100s: %s", path, strerror(errno));
		*result = errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_IO_FAILED;
		goto err_free;
	}
	errno = 0;
	*bytes = fread(text, 1, ARGP_FILE_BYTES_MAX + 1, file);
	if (ferror(file)) {
		argp_say("%.100s: %s", path, strerror(errno));
		*result = errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_IO_FAILED;
		goto err_close;
	}
	if (*bytes > ARGP_FILE_BYTES_MAX) {
		argp_say("%.100s: is larger than %d bytes", path, ARGP_FILE_BYTES_MAX);
		*result = DOCA_ERROR_INVALID_VALUE;
		goto err_close;
	}
	fclose(file);
	return text;

err_close:
	fclose(file);
err_free:
	free(text);
	return NULL;
}

static size_t line_of(const char *text, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset; i++)
		line += text[i] == '\n';
	return line;
}

static json_object *parse(const char *path, const char *text, size_t bytes, doca_error_t *result)
{
	struct json_tokener *tokener = json_tokener_new();
	enum json_tokener_error error;
	const char *why;
	json_object *root;
	size_t end;

	if (!tokener) {
		*result = argp_no_memory();
		return NULL;
	}
	root = json_tokener_parse_ex(tokener, text, (int)bytes);
	error = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	*result = DOCA_ERROR_INVALID_VALUE;
	if (error == json_tokener_continue)
		why = "unexpected end of the file";
	else if (error != json_tokener_success)
		why = json_tokener_error_desc(error);
	else if (end != bytes) /* json-c has taken white space and comments */
		why = "text behind the end";
	else if (!json_object_is_type(root, json_type_object))
		why = "is not an object";
	else
		return root;
	argp_say("%.100s: line %zu: %s", path, line_of(text, end), why);
	json_object_put(root);
	return NULL;
}

/* A field that nobody registered. */
static doca_error_t unknown(const char *path, const char *key)
{
	if (argp_ctx->is_lenient)
		return DOCA_SUCCESS;
	argp_say("%.100s: \"%.100s\": no such field", path, key);
	return DOCA_ERROR_INVALID_VALUE;
}

/* By number, as the documentation has it, or by name. */
static doca_error_t take_level(const char *label, json_object *field, uint32_t *level)
{
	uint32_t given = 0;
	char number[24];

	if (json_object_is_type(field, json_type_string)) {
		given = argp_level_parse(json_object_get_string(field));
	} else if (json_object_is_type(field, json_type_int)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_object_get_int64(field));
		given = argp_level_parse(number);
	}
	if (!given) {
		argp_say("%s: is no log level", label);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!*level)
		*level = given;
	return DOCA_SUCCESS;
}

static doca_error_t take_general(const char *path, const char *key, json_object *field)
{
	char label[ARGP_LABEL_BYTES];

	snprintf(label, sizeof(label), "%.70s: \"%.70s\"", path, key);
	if (!strcmp(key, "log-level"))
		return take_level(label, field, &argp_ctx->log_level);
	if (!strcmp(key, "sdk-log-level"))
		return take_level(label, field, &argp_ctx->sdk_log_level);
	return unknown(path, key);
}

static doca_error_t take_program(const char *path, const char *key, json_object *field)
{
	const struct doca_argp_param *param = argp_find_key(key);
	char label[ARGP_LABEL_BYTES];

	if (!param)
		return unknown(path, key);
	snprintf(label, sizeof(label), "%.70s: \"%.70s\"", path, key);
	if (!param->is_cli_only)
		return argp_value_add_json(param, label, field);
	argp_say("%s: may be given on the command line only", label);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Each field of a section. */
static doca_error_t take_section(const char *path, json_object *section,
				 doca_error_t (*take)(const char *path, const char *key,
						      json_object *field))
{
	doca_error_t result = DOCA_SUCCESS;

	json_object_object_foreach(section, key, field)
	{
		result = take(path, key, field);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

static doca_error_t take_root(const char *path, const char *key, json_object *section)
{
	bool is_dpdk = !strcmp(key, "doca_dpdk_flags") && argp_ctx->dpdk;
	bool is_general = !strcmp(key, "doca_general_flags");

	if (!is_dpdk && !is_general && strcmp(key, "doca_program_flags"))
		return unknown(path, key);
	if (!json_object_is_type(section, json_type_object)) {
		argp_say("%.100s: \"%s\": is not an object", path, key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (is_dpdk)
		return argp_dpdk_add_json(path, section);
	return take_section(path, section, is_general ? take_general : take_program);
}

doca_error_t argp_json_take(const char *path, const char *text, size_t bytes)
{
	doca_error_t result = DOCA_SUCCESS;
	json_object *root = parse(path, text, bytes, &result);

	if (!root)
		return result;
	result = take_section(path, root, take_root);
	json_object_put(root);
	return result;
}

doca_error_t argp_json_read(const char *path)
{
	doca_error_t result = DOCA_SUCCESS;
	size_t bytes = 0;
	char *text = slurp(path, &bytes, &result);

	if (!text)
		return result;
	result = argp_json_take(path, text, bytes);
	free(text);
	return result;
}
