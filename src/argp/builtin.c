/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flags that every program has.
 */
#include "argp/argp.h"

#include <doca_version.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/compiler.h"

#define LEVELS "DISABLE 10, CRIT 20, ERROR 30, WARNING 40, INFO 50, DEBUG 60, TRACE 70"

/* The names are string literals that nobody writes to or frees. */
const struct doca_argp_param argp_builtins[] = {
	{.builtin = ARGP_BUILTIN_HELP,
	 .type = DOCA_ARGP_TYPE_BOOLEAN,
	 .short_name = (char *)"h",
	 .long_name = (char *)"help",
	 .description = (char *)"Print this text and exit"},
	{.builtin = ARGP_BUILTIN_VERSION,
	 .type = DOCA_ARGP_TYPE_BOOLEAN,
	 .short_name = (char *)"v",
	 .long_name = (char *)"version",
	 .description = (char *)"Print the version and exit"},
	{.builtin = ARGP_BUILTIN_LOG_LEVEL,
	 .type = DOCA_ARGP_TYPE_STRING,
	 .short_name = (char *)"l",
	 .long_name = (char *)"log-level",
	 .arguments = (char *)"<level>",
	 .description = (char *)"Log level of the program: " LEVELS},
	{.builtin = ARGP_BUILTIN_SDK_LOG_LEVEL,
	 .type = DOCA_ARGP_TYPE_STRING,
	 .long_name = (char *)"sdk-log-level",
	 .arguments = (char *)"<level>",
	 .description = (char *)"Log level of the libraries: as --log-level"},
	{.builtin = ARGP_BUILTIN_JSON,
	 .type = DOCA_ARGP_TYPE_STRING,
	 .short_name = (char *)"j",
	 .long_name = (char *)"json",
	 .arguments = (char *)"<path>",
	 .description = (char *)"Take what is not given here from a JSON file"},
};
const size_t argp_num_builtins = UTIL_ARRAY_SIZE(argp_builtins);

bool argp_name_is_reserved(const char *name)
{
	static const char *const reserved[] = {"h", "help", "j", "json"};

	for (size_t i = 0; name && i < UTIL_ARRAY_SIZE(reserved); i++) {
		if (!strcmp(name, reserved[i]))
			return true;
	}
	return false;
}

uint32_t argp_level_parse(const char *text)
{
	static const struct {
		uint32_t level;
		const char *name;
	} levels[] = {
		{DOCA_LOG_LEVEL_DISABLE, "DISABLE"}, {DOCA_LOG_LEVEL_CRIT, "CRIT"},
		{DOCA_LOG_LEVEL_ERROR, "ERROR"},     {DOCA_LOG_LEVEL_WARNING, "WARNING"},
		{DOCA_LOG_LEVEL_INFO, "INFO"},	     {DOCA_LOG_LEVEL_DEBUG, "DEBUG"},
		{DOCA_LOG_LEVEL_TRACE, "TRACE"},
	};
	char number[12];

	for (size_t i = 0; i < UTIL_ARRAY_SIZE(levels); i++) {
		snprintf(number, sizeof(number), "%u", levels[i].level);
		if (!strcasecmp(text, levels[i].name) || !strcmp(text, number))
			return levels[i].level;
	}
	return 0;
}

static doca_error_t take_level(uint32_t *level, const char *label, const char *text)
{
	if (*level) {
		argp_say("%s: is given more than once", label);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*level = argp_level_parse(text);
	if (*level)
		return DOCA_SUCCESS;
	argp_say("%s: \"%.100s\" is no level (" LEVELS ")", label, text);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t take_json(const char *label, const char *path)
{
	if (argp_ctx->json_path) {
		argp_say("%s: is given more than once", label);
		return DOCA_ERROR_INVALID_VALUE;
	}
	argp_ctx->json_path = path;
	return DOCA_SUCCESS;
}

static doca_error_t take_version(void)
{
	bool given = true;

	if (argp_ctx->version) {
		doca_error_t result = argp_ctx->version(&given, argp_ctx->config);

		if (result != DOCA_SUCCESS)
			return result;
	} else {
		printf("DOCA %s\n", doca_version_runtime());
	}
	exit(EXIT_SUCCESS);
}

doca_error_t argp_builtin_take(const struct doca_argp_param *builtin, const char *label,
			       const char *text)
{
	switch (builtin->builtin) {
	case ARGP_BUILTIN_HELP:
		argp_print_usage();
		exit(EXIT_SUCCESS);
	case ARGP_BUILTIN_VERSION:
		return take_version();
	case ARGP_BUILTIN_LOG_LEVEL:
		return take_level(&argp_ctx->log_level, label, text);
	case ARGP_BUILTIN_SDK_LOG_LEVEL:
		return take_level(&argp_ctx->sdk_log_level, label, text);
	case ARGP_BUILTIN_JSON:
		return take_json(label, text);
	case ARGP_BUILTIN_NONE:
		break;
	}
	return DOCA_ERROR_UNEXPECTED;
}
