/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beginning and end, and what is set for the whole program.
 */
#include "argp/argp.h"

#include <stdlib.h>

struct argp_ctx *argp_ctx;

doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
	struct argp_ctx *ctx;

	if (argp_ctx)
		return DOCA_ERROR_BAD_STATE;
	if (program_name && !*program_name)
		return DOCA_ERROR_INVALID_VALUE;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return DOCA_ERROR_NO_MEMORY;
	if (program_name && !argp_replace(&ctx->program, program_name)) {
		free(ctx);
		return DOCA_ERROR_NO_MEMORY;
	}
	ctx->config = program_config;
	argp_cmd_init(&ctx->root);
	ctx->cmd = &ctx->root;
	util_list_init(&ctx->refused_params);
	util_list_init(&ctx->refused_cmds);
	util_list_init(&ctx->line_values);
	util_list_init(&ctx->file_values);
	argp_ctx = ctx;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_destroy(void)
{
	struct argp_ctx *ctx = argp_ctx;
	struct doca_argp_param *param;
	struct doca_argp_cmd *cmd;

	if (!ctx || ctx->is_running)
		return DOCA_ERROR_BAD_STATE;
	argp_values_free(&ctx->line_values);
	argp_values_free(&ctx->file_values);
	argp_dpdk_free();
	argp_cmd_fini(&ctx->root);
	while ((param = util_list_pop(&ctx->refused_params, struct doca_argp_param, node)))
		argp_param_free(param);
	while ((cmd = util_list_pop(&ctx->refused_cmds, struct doca_argp_cmd, node)))
		argp_cmd_free(cmd);
	free(ctx->program);
	free(ctx);
	argp_ctx = NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback)
{
	if (!argp_is_open())
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	argp_ctx->version = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback)
{
	if (!argp_is_open())
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	argp_ctx->validation = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx)
{
	if (!argp_is_open())
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	argp_ctx->dev_open = callback;
	argp_ctx->dev_open_ctx = usr_ctx;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback)
{
	if (!argp_ctx)
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	if (argp_ctx->logger)
		return DOCA_ERROR_ALREADY_EXIST;
	argp_ctx->logger = callback;
	argp_ctx->is_silent = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_logger_callback(void)
{
	if (!argp_ctx)
		return DOCA_ERROR_BAD_STATE;
	argp_ctx->logger = NULL;
	argp_ctx->is_silent = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_pedantic_config_parsing(void)
{
	if (!argp_is_open())
		return DOCA_ERROR_BAD_STATE;
	argp_ctx->is_lenient = true;
	return DOCA_SUCCESS;
}

void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback)
{
	if (argp_is_open())
		argp_ctx->dpdk = callback;
}

doca_error_t doca_argp_get_log_level(int *log_level)
{
	if (!log_level)
		return DOCA_ERROR_INVALID_VALUE;
	*log_level = argp_ctx && argp_ctx->log_level ? (int)argp_ctx->log_level
						     : (int)doca_log_level_get_global_lower_limit();
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_sdk_log_level(int *log_level)
{
	if (!log_level)
		return DOCA_ERROR_INVALID_VALUE;
	*log_level = argp_ctx && argp_ctx->sdk_log_level
			     ? (int)argp_ctx->sdk_log_level
			     : (int)doca_log_level_get_global_sdk_limit();
	return DOCA_SUCCESS;
}
