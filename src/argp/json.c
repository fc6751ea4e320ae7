/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --json: an object of "doca_general_flags", "doca_program_flags" and
 * "doca_dpdk_flags", each an object whose fields are named as the long flags. Comments are allowed.
 */
#include "argp/argp.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argp/limits.h"
#include "util/json_file.h"

/* The whole file, NULL with the error in *result. Works for a pipe as well. */
static char *slurp(const char *path, size_t *bytes, doca_error_t *result)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : 0;
	char *text = NULL;

	if (!rc)
		rc = util_json_read(fd, ARGP_FILE_BYTES_MAX, &text, bytes);
	if (fd >= 0)
		close(fd);
	if (!rc)
		return text;
	*result = DOCA_ERROR_IO_FAILED;
	if (rc == -ENOMEM) {
		*result = argp_no_memory();
	} else if (rc == -EFBIG) {
		argp_say("%.100s: is larger than %d bytes", path, ARGP_FILE_BYTES_MAX);
		*result = DOCA_ERROR_INVALID_VALUE;
	} else {
		argp_say("%.100s: %s", path, strerror(-rc));
	}
	return NULL;
}

static json_object *parse(const char *path, const char *text, size_t bytes, doca_error_t *result)
{
	struct util_json_end end;
	json_object *root = NULL;

	if (util_json_parse(text, bytes, &root, &end) == -ENOMEM) {
		*result = argp_no_memory();
		return NULL;
	}
	if (!end.why && json_object_is_type(root, json_type_object))
		return root;
	argp_say("%.100s: line %zu: %s", path, end.line, end.why ? end.why : "is not an object");
	json_object_put(root);
	*result = DOCA_ERROR_INVALID_VALUE;
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
