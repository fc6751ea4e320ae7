/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands: describing and registering them. They form a tree below the program.
 */
#include "argp/argp.h"

#include <stdlib.h>
#include <string.h>

void argp_cmd_init(struct doca_argp_cmd *cmd)
{
	util_list_init(&cmd->node);
	util_list_init(&cmd->params);
	util_list_init(&cmd->cmds);
}

doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd)
{
	struct doca_argp_cmd *c;

	if (!cmd)
		return DOCA_ERROR_INVALID_VALUE;
	if (!argp_is_open())
		return DOCA_ERROR_BAD_STATE;
	c = calloc(1, sizeof(*c));
	if (!c)
		return DOCA_ERROR_NO_MEMORY;
	argp_cmd_init(c);
	*cmd = c;
	return DOCA_SUCCESS;
}

void argp_cmd_free(struct doca_argp_cmd *cmd)
{
	argp_cmd_fini(cmd);
	util_list_del(&cmd->node);
	free(cmd);
}

void argp_cmd_fini(struct doca_argp_cmd *cmd)
{
	struct doca_argp_param *param;
	struct doca_argp_cmd *below;

	while ((param = util_list_pop(&cmd->params, struct doca_argp_param, node)))
		argp_param_free(param);
	while ((below = util_list_pop(&cmd->cmds, struct doca_argp_cmd, node)))
		argp_cmd_free(below);
	free(cmd->name);
	free(cmd->description);
}

doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd)
{
	if (!cmd)
		return DOCA_ERROR_INVALID_VALUE;
	if (cmd->is_registered)
		return DOCA_ERROR_BAD_STATE;
	argp_cmd_free(cmd);
	return DOCA_SUCCESS;
}

/* A registered command does not change any more. */
static bool cmd_is_open(const struct doca_argp_cmd *cmd)
{
	return cmd && !cmd->is_registered;
}

void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name)
{
	if (cmd_is_open(cmd) && !argp_replace(&cmd->name, name))
		cmd->is_broken = true;
}

void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description)
{
	if (cmd_is_open(cmd) && !argp_replace(&cmd->description, description))
		cmd->is_broken = true;
}

void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback)
{
	if (cmd_is_open(cmd))
		cmd->callback = callback;
}

void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd)
{
	if (cmd_is_open(cmd))
		cmd->is_hidden = true;
}

static doca_error_t cmd_check(const struct doca_argp_cmd *parent, const struct doca_argp_cmd *cmd)
{
	const struct doca_argp_cmd *other;

	if (!cmd->name || !cmd->description || !cmd->callback || cmd->is_broken) {
		argp_say("command %s: lacks a name, description or callback",
			 cmd->name ? cmd->name : "without a name");
		return DOCA_ERROR_INITIALIZATION;
	}
	if (!*cmd->name || *cmd->name == '-') {
		argp_say("command \"%s\": is not a name", cmd->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	util_list_for_each(&parent->cmds, other, node) {
		if (strcmp(cmd->name, other->name))
			continue;
		argp_say("command %s: the name is taken", cmd->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t cmd_register(struct doca_argp_cmd *parent, struct doca_argp_cmd *cmd)
{
	doca_error_t result;

	if (cmd->is_registered)
		return DOCA_ERROR_BAD_STATE;
	if (!argp_is_open()) {
		argp_cmd_free(cmd);
		return DOCA_ERROR_BAD_STATE;
	}
	result = cmd_check(parent, cmd);
	cmd->is_registered = true;
	if (result == DOCA_SUCCESS)
		cmd->parent = parent;
	else
		argp_ctx->has_refused = true;
	util_list_add_tail(result == DOCA_SUCCESS ? &parent->cmds : &argp_ctx->refused_cmds,
			   &cmd->node);
	return result;
}

doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd)
{
	if (!input_cmd)
		return DOCA_ERROR_INVALID_VALUE;
	return cmd_register(argp_ctx ? &argp_ctx->root : NULL, input_cmd);
}

doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd)
{
	if (!input_cmd)
		return DOCA_ERROR_INVALID_VALUE;
	if (!cmd) {
		if (!input_cmd->is_registered)
			argp_cmd_free(input_cmd);
		return DOCA_ERROR_INVALID_VALUE;
	}
	/* Below itself it would have no owner, so it stays whose it is. */
	for (const struct doca_argp_cmd *above = cmd; above; above = above->parent) {
		if (above == input_cmd)
			return DOCA_ERROR_INVALID_VALUE;
	}
	return cmd_register(cmd, input_cmd);
}
