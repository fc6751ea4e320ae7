/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters: describing and registering them.
 */
#include "argp/argp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool argp_replace(char **text, const char *from)
{
	free(*text);
	*text = from ? strdup(from) : NULL;
	return *text || !from;
}

const char *argp_param_label(const struct doca_argp_param *param, char label[ARGP_LABEL_BYTES])
{
	if (param->long_name)
		snprintf(label, ARGP_LABEL_BYTES, "--%s", param->long_name);
	else
		snprintf(label, ARGP_LABEL_BYTES, "-%s",
			 param->short_name ? param->short_name : "");
	return label;
}

doca_error_t doca_argp_param_create(struct doca_argp_param **param)
{
	struct doca_argp_param *p;

	if (!param)
		return DOCA_ERROR_INVALID_VALUE;
	if (!argp_is_open())
		return DOCA_ERROR_BAD_STATE;
	p = calloc(1, sizeof(*p));
	if (!p)
		return DOCA_ERROR_NO_MEMORY;
	util_list_init(&p->node);
	*param = p;
	return DOCA_SUCCESS;
}

void argp_param_free(struct doca_argp_param *param)
{
	util_list_del(&param->node);
	free(param->short_name);
	free(param->long_name);
	free(param->arguments);
	free(param->description);
	free(param);
}

doca_error_t doca_argp_param_destroy(struct doca_argp_param *param)
{
	if (!param)
		return DOCA_ERROR_INVALID_VALUE;
	if (param->is_registered)
		return DOCA_ERROR_BAD_STATE;
	argp_param_free(param);
	return DOCA_SUCCESS;
}

/* A registered parameter does not change any more. */
static bool param_is_open(const struct doca_argp_param *param)
{
	return param && !param->is_registered;
}

/* The API has no result for this, so that no memory is told at the registration. */
static void param_set_text(struct doca_argp_param *param, char **text, const char *from)
{
	if (!argp_replace(text, from))
		param->is_broken = true;
}

void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name)
{
	if (param_is_open(param))
		param_set_text(param, &param->short_name, name);
}

void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name)
{
	if (param_is_open(param))
		param_set_text(param, &param->long_name, name);
}

void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments)
{
	if (param_is_open(param))
		param_set_text(param, &param->arguments, arguments);
}

void doca_argp_param_set_description(struct doca_argp_param *param, const char *description)
{
	if (param_is_open(param))
		param_set_text(param, &param->description, description);
}

void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback)
{
	if (param_is_open(param))
		param->callback = callback;
}

void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
{
	if (param_is_open(param))
		param->type = type;
}

void doca_argp_param_set_mandatory(struct doca_argp_param *param)
{
	if (param_is_open(param))
		param->is_mandatory = true;
}

void doca_argp_param_set_cli_only(struct doca_argp_param *param)
{
	if (param_is_open(param))
		param->is_cli_only = true;
}

void doca_argp_param_set_multiplicity(struct doca_argp_param *param)
{
	if (param_is_open(param))
		param->is_multiple = true;
}

void doca_argp_param_set_singular(struct doca_argp_param *param)
{
	if (param_is_open(param))
		param->is_singular = true;
}

void doca_argp_param_set_inherited(struct doca_argp_param *param)
{
	if (param_is_open(param))
		param->is_inherited = true;
}

void doca_argp_param_set_hidden(struct doca_argp_param *param)
{
	if (param_is_open(param))
		param->is_hidden = true;
}

/* A name is something that can be typed behind dashes and before "=". */
static bool name_is_valid(const char *name)
{
	return !name || (*name && *name != '-' && !strpbrk(name, "= \t\r\n"));
}

static bool param_is_complete(const struct doca_argp_param *param)
{
	return (param->short_name || param->long_name) && param->description && param->callback &&
	       param->type > DOCA_ARGP_TYPE_UNKNOWN && param->type <= DOCA_ARGP_TYPE_DOUBLE &&
	       !param->is_broken;
}

static doca_error_t param_check_names(const struct doca_argp_cmd *cmd,
				      const struct doca_argp_param *param)
{
	char label[ARGP_LABEL_BYTES];

	if (!name_is_valid(param->short_name) || !name_is_valid(param->long_name)) {
		argp_say("parameter %s: is not a name", argp_param_label(param, label));
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (argp_name_is_reserved(param->short_name) || argp_name_is_reserved(param->long_name)) {
		argp_say("parameter %s: the name is reserved", argp_param_label(param, label));
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (argp_name_is_taken(cmd, ARGP_NAME_SHORT, param->short_name) ||
	    argp_name_is_taken(cmd, ARGP_NAME_LONG, param->long_name)) {
		argp_say("parameter %s: the name is taken", argp_param_label(param, label));
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t argp_param_register(struct doca_argp_cmd *cmd, struct doca_argp_param *param)
{
	doca_error_t result = DOCA_ERROR_INITIALIZATION;
	char label[ARGP_LABEL_BYTES];

	if (param->is_registered)
		return DOCA_ERROR_BAD_STATE;
	if (!argp_is_open()) {
		argp_param_free(param);
		return DOCA_ERROR_BAD_STATE;
	}
	if (param_is_complete(param))
		result = param_check_names(cmd, param);
	else
		argp_say("parameter %s: lacks a name, type, description or callback",
			 argp_param_label(param, label));
	param->is_registered = true;
	if (result == DOCA_SUCCESS)
		argp_names_add(cmd, param);
	else
		argp_ctx->has_refused = true;
	util_list_add_tail(result == DOCA_SUCCESS ? &cmd->params : &argp_ctx->refused_params,
			   &param->node);
	return result;
}

doca_error_t doca_argp_register_param(struct doca_argp_param *input_param)
{
	if (!input_param)
		return DOCA_ERROR_INVALID_VALUE;
	return argp_param_register(argp_ctx ? &argp_ctx->root : NULL, input_param);
}

doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
					  struct doca_argp_param *input_param)
{
	if (!input_param)
		return DOCA_ERROR_INVALID_VALUE;
	if (!cmd) {
		if (!input_param->is_registered)
			argp_param_free(input_param);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return argp_param_register(cmd, input_param);
}
