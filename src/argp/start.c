/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading everything, checking the whole, and only then calling the program back: no callback runs
 * for a command line that is wrong.
 */
#include "argp/argp.h"

#include <string.h>

/* The command line, without the words that are DPDK's. */
static doca_error_t read_line(int argc, char **argv)
{
	doca_error_t result;
	bool has_dashes;
	int n;

	if (!argp_ctx->dpdk)
		return argp_line_read(argc - 1, argv + 1);
	n = argp_dpdk_split(argc, argv, &has_dashes);
	result = argp_dpdk_add_word(argv[0]);
	for (int i = 1; i <= n && result == DOCA_SUCCESS; i++)
		result = argp_dpdk_add_word(argv[i]);
	if (result != DOCA_SUCCESS)
		return result;
	n += 1 + has_dashes;
	return argp_line_read(argc - n, argv + n);
}

static const struct argp_value *find_singular(const struct util_list *values)
{
	const struct argp_value *value;

	util_list_for_each(values, value, node) {
		if (value->param->is_singular)
			return value;
	}
	return NULL;
}

static doca_error_t check_alone(const struct doca_argp_param *singular,
				const struct util_list *values)
{
	char label[ARGP_LABEL_BYTES], other[ARGP_LABEL_BYTES];
	const struct argp_value *value;

	util_list_for_each(values, value, node) {
		if (value->param == singular)
			continue;
		argp_say("%s: may not be given beside %s", argp_param_label(value->param, other),
			 argp_param_label(singular, label));
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* Of each command that was given, and of the program. */
static doca_error_t check_mandatory(void)
{
	const struct doca_argp_param *param;
	char label[ARGP_LABEL_BYTES];

	for (const struct doca_argp_cmd *cmd = argp_ctx->cmd; cmd; cmd = cmd->parent) {
		util_list_for_each(&cmd->params, param, node) {
			if (!param->is_mandatory || argp_is_given(param))
				continue;
			argp_say("%s: is missing (see --help)", argp_param_label(param, label));
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_whole(void)
{
	const struct argp_value *singular = find_singular(&argp_ctx->line_values);
	doca_error_t result;

	if (!singular)
		singular = find_singular(&argp_ctx->file_values);
	if (!singular)
		return check_mandatory();
	result = check_alone(singular->param, &argp_ctx->line_values);
	if (result == DOCA_SUCCESS)
		result = check_alone(singular->param, &argp_ctx->file_values);
	return result;
}

static void set_levels(void)
{
	if (argp_ctx->log_level)
		(void)doca_log_level_set_global_lower_limit(argp_ctx->log_level);
	if (argp_ctx->sdk_log_level)
		(void)doca_log_level_set_global_sdk_limit(argp_ctx->sdk_log_level);
}

static doca_error_t call_param(struct argp_value *value)
{
	bool is_device = value->param->type == DOCA_ARGP_TYPE_DEVICE ||
			 value->param->type == DOCA_ARGP_TYPE_DEVICE_REP;
	char label[ARGP_LABEL_BYTES];
	doca_error_t result;

	if (is_device) {
		result = argp_device_open(value);
		if (result != DOCA_SUCCESS)
			return result;
	}
	result = value->param->callback(argp_value_pointer(value), argp_ctx->config);
	if (result == DOCA_SUCCESS)
		return result;
	argp_say("%s: the program refuses it: %s", argp_param_label(value->param, label),
		 doca_error_get_descr(result));
	if (is_device)
		argp_device_close(value);
	return result;
}

static doca_error_t call_params(struct util_list *values)
{
	doca_error_t result = DOCA_SUCCESS;
	struct argp_value *value;

	util_list_for_each(values, value, node) {
		result = call_param(value);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

/* From the outermost to the innermost; the program itself has no callback. */
static doca_error_t call_cmds(const struct doca_argp_cmd *cmd)
{
	doca_error_t result;

	if (!cmd->parent)
		return DOCA_SUCCESS;
	result = call_cmds(cmd->parent);
	if (result != DOCA_SUCCESS)
		return result;
	result = cmd->callback(argp_ctx->config);
	if (result != DOCA_SUCCESS)
		argp_say("command %s: %s", cmd->name, doca_error_get_descr(result));
	return result;
}

static doca_error_t call_all(void)
{
	doca_error_t result = DOCA_SUCCESS;

	set_levels();
	if (argp_ctx->dpdk)
		result = argp_dpdk_call();
	if (result == DOCA_SUCCESS)
		result = call_params(&argp_ctx->file_values);
	if (result == DOCA_SUCCESS)
		result = call_params(&argp_ctx->line_values);
	if (result == DOCA_SUCCESS)
		result = call_cmds(argp_ctx->cmd);
	if (result == DOCA_SUCCESS && argp_ctx->validation) {
		result = argp_ctx->validation(argp_ctx->config);
		if (result != DOCA_SUCCESS)
			argp_say("what was given does not fit together: %s",
				 doca_error_get_descr(result));
	}
	return result;
}

static doca_error_t run(int argc, char **argv)
{
	doca_error_t result = read_line(argc, argv);

	if (result == DOCA_SUCCESS && argp_ctx->json_path)
		result = argp_json_read(argp_ctx->json_path);
	if (result == DOCA_SUCCESS)
		result = check_whole();
	if (result == DOCA_SUCCESS)
		result = call_all();
	return result;
}

doca_error_t doca_argp_start(int argc, char **argv)
{
	const char *slash;
	doca_error_t result;

	if (!argp_is_open())
		return DOCA_ERROR_BAD_STATE;
	if (argc < 1 || !argv || !argv[0])
		return DOCA_ERROR_INVALID_VALUE;
	argp_ctx->is_started = true;
	if (!argp_ctx->program) {
		slash = strrchr(argv[0], '/');
		if (!argp_replace(&argp_ctx->program, slash ? slash + 1 : argv[0]))
			return argp_no_memory();
	}
	if (argp_ctx->has_refused) {
		argp_say("a parameter or command was refused when it was registered");
		return DOCA_ERROR_INITIALIZATION;
	}
	argp_ctx->is_running = true;
	result = run(argc, argv);
	argp_ctx->is_running = false;
	return result;
}
