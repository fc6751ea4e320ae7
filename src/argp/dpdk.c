/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that are DPDK's: those before "--", and what "doca_dpdk_flags" of a file says in the
 * words of DPDK's environment abstraction layer.
 */
#include "argp/argp.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without "--": words that a program understands and that make sense alone. */
static bool is_program_word(const char *word)
{
	static const char *const words[] = {"-h", "--help", "-v", "--version", "-j", "--json"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(word, words[i]))
			return true;
	}
	return !strncmp(word, "--json=", strlen("--json="));
}

int argp_dpdk_split(int argc, char **argv, bool *has_dashes)
{
	*has_dashes = false;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		*has_dashes = true;
		return i - 1;
	}
	return argc > 1 && is_program_word(argv[1]) ? 0 : argc - 1;
}

static doca_error_t add_bytes(const char *word, size_t bytes)
{
	size_t n = argp_ctx->num_dpdk_words;
	/* Behind the last word is NULL, as in main(). */
	char **words = realloc(argp_ctx->dpdk_words, (n + 2) * sizeof(*words));

	if (!words)
		return argp_no_memory();
	argp_ctx->dpdk_words = words;
	words[n] = strndup(word, bytes);
	if (!words[n])
		return argp_no_memory();
	words[n + 1] = NULL;
	argp_ctx->num_dpdk_words = n + 1;
	return DOCA_SUCCESS;
}

doca_error_t argp_dpdk_add_word(const char *word)
{
	return add_bytes(word, strlen(word));
}

static doca_error_t add_two(const char *flag, const char *value)
{
	doca_error_t result = argp_dpdk_add_word(flag);

	return result == DOCA_SUCCESS ? argp_dpdk_add_word(value) : result;
}

static doca_error_t bad(const char *path, const char *key, const char *what)
{
	argp_say("%.100s: \"%.100s\": %s", path, key, what);
	return DOCA_ERROR_INVALID_VALUE;
}

/* A field that has to be a string; NULL if it is none. */
static const char *string_of(json_object *object, const char *key)
{
	json_object *field;

	if (!json_object_object_get_ex(object, key, &field) ||
	    !json_object_is_type(field, json_type_string))
		return NULL;
	return json_object_get_string(field);
}

/* {"device": "pf", "id": "0000:03:00.0", "hws": true}: -a 0000:03:00.0,dv_flow_en=2 */
static doca_error_t add_device(const char *path, json_object *device)
{
	const char *kind = string_of(device, "device");
	const char *id = string_of(device, "id");
	json_object *hws = NULL;
	doca_error_t result;
	bool is_function;
	char *word;
	int n;

	if (!kind || !id)
		return bad(path, "devices", "an entry lacks \"device\" or \"id\"");
	is_function = !strcmp(kind, "pf") || !strcmp(kind, "vf") || !strcmp(kind, "gpu");
	if (!is_function && strcmp(kind, "sf")) {
		(void)bad(path, kind, "no kind of device that is known; see \"flags\"");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (json_object_object_get_ex(device, "hws", &hws) &&
	    !json_object_is_type(hws, json_type_boolean))
		return bad(path, "hws", "is not true or false");
	n = asprintf(&word, "%s%s%s", is_function ? "" : "auxiliary:mlx5_core.sf.", id,
		     json_object_get_boolean(hws) ? ",dv_flow_en=2" : "");
	if (n < 0)
		return argp_no_memory();
	result = add_two("-a", word);
	free(word);
	return result;
}

static doca_error_t add_devices(const char *path, json_object *devices)
{
	doca_error_t result = DOCA_SUCCESS;
	size_t n;

	if (!json_object_is_type(devices, json_type_array))
		return bad(path, "devices", "is not a list");
	n = json_object_array_length(devices);
	for (size_t i = 0; i < n && result == DOCA_SUCCESS; i++) {
		json_object *device = json_object_array_get_idx(devices, i);

		if (!json_object_is_type(device, json_type_object))
			result = bad(path, "devices", "an entry is not an object");
		else
			result = add_device(path, device);
	}
	return result;
}

/* The mask is a number in the file and hexadecimal for DPDK. */
static doca_error_t add_core_mask(const char *path, json_object *mask)
{
	char text[24];

	if (json_object_is_type(mask, json_type_string))
		return add_two("-c", json_object_get_string(mask));
	if (!json_object_is_type(mask, json_type_int) || json_object_get_int64(mask) <= 0)
		return bad(path, "core-mask", "is not a number above 0");
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)json_object_get_int64(mask));
	return add_two("-c", text);
}

static doca_error_t add_core_list(const char *path, json_object *list)
{
	if (!json_object_is_type(list, json_type_string))
		return bad(path, "core-list", "is not a string");
	return add_two("-l", json_object_get_string(list));
}

/* Words between blanks. */
static doca_error_t add_flags(const char *path, json_object *flags)
{
	doca_error_t result = DOCA_SUCCESS;
	const char *text;

	if (!json_object_is_type(flags, json_type_string))
		return bad(path, "flags", "is not a string");
	text = json_object_get_string(flags);
	while (result == DOCA_SUCCESS) {
		size_t bytes;

		text += strspn(text, " ");
		bytes = strcspn(text, " ");
		if (!bytes)
			break;
		result = add_bytes(text, bytes);
		text += bytes;
	}
	return result;
}

doca_error_t argp_dpdk_add_json(const char *path, json_object *flags)
{
	static const struct {
		const char *key;
		doca_error_t (*add)(const char *path, json_object *field);
	} fields[] = {
		{"devices", add_devices},
		{"core-mask", add_core_mask},
		{"core-list", add_core_list},
		{"flags", add_flags},
	};
	const size_t n = sizeof(fields) / sizeof(fields[0]);
	doca_error_t result = DOCA_SUCCESS;

	json_object_object_foreach(flags, key, field)
	{
		size_t i = 0;

		while (i < n && strcmp(fields[i].key, key))
			i++;
		if (i < n)
			result = fields[i].add(path, field);
		else if (!argp_ctx->is_lenient)
			result = bad(path, key, "no such field");
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

doca_error_t argp_dpdk_call(void)
{
	size_t n = argp_ctx->num_dpdk_words;
	doca_error_t result;

	argp_ctx->dpdk_argv = calloc(n + 1, sizeof(*argp_ctx->dpdk_argv));
	if (!argp_ctx->dpdk_argv)
		return argp_no_memory();
	memcpy(argp_ctx->dpdk_argv, argp_ctx->dpdk_words, n * sizeof(*argp_ctx->dpdk_argv));
	result = argp_ctx->dpdk((int)n, argp_ctx->dpdk_argv);
	if (result != DOCA_SUCCESS)
		argp_say("DPDK's part: %s", doca_error_get_descr(result));
	return result;
}

void argp_dpdk_free(void)
{
	for (size_t i = 0; i < argp_ctx->num_dpdk_words; i++)
		free(argp_ctx->dpdk_words[i]);
	free(argp_ctx->dpdk_words);
	free(argp_ctx->dpdk_argv);
}
