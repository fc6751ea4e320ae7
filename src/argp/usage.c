/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The usage text of the innermost command that was given, on the standard output.
 */
#include "argp/argp.h"

#include <stdio.h>
#include <string.h>

#define NAMES_COLUMNS 34

static const char *default_arguments(enum doca_argp_type type)
{
	switch (type) {
	case DOCA_ARGP_TYPE_STRING:
		return "<text>";
	case DOCA_ARGP_TYPE_INT:
		return "<number>";
	case DOCA_ARGP_TYPE_DEVICE:
		return "<device>";
	case DOCA_ARGP_TYPE_DEVICE_REP:
		return "<device>,<representor>";
	case DOCA_ARGP_TYPE_DOUBLE:
		return "<number>";
	case DOCA_ARGP_TYPE_BOOLEAN:
	case DOCA_ARGP_TYPE_UNKNOWN:
		break;
	}
	return NULL;
}

/* Columns that are left before the description; a line that is full is ended. */
static void print_description(int columns, const char *description)
{
	if (columns >= NAMES_COLUMNS) {
		putchar('\n');
		columns = 0;
	}
	printf("%*s%s", NAMES_COLUMNS - columns, "", description);
}

/* A name that somebody nearer has taken is not shown. */
static void print_param(const struct doca_argp_param *param)
{
	const char *s = param->short_name, *l = param->long_name;
	const char *arguments = param->arguments;
	int columns;

	if (s && argp_find_short(s, strlen(s)) != param)
		s = NULL;
	if (l && argp_find_long(l, strlen(l)) != param)
		l = NULL;
	if (param->is_hidden || (!s && !l))
		return;
	if (!arguments)
		arguments = default_arguments(param->type);
	columns =
		printf("  %s%s%s%s%s%s%s", s ? "-" : "    ", s ? s : "", s && l ? ", " : "",
		       l ? "--" : "", l ? l : "", arguments ? " " : "", arguments ? arguments : "");
	print_description(columns, param->description);
	puts(param->is_mandatory ? " (mandatory)" : "");
}

/* From the program down. */
static void print_chain(const struct doca_argp_cmd *cmd)
{
	if (cmd->parent) {
		print_chain(cmd->parent);
		printf(" %s", cmd->name);
	} else {
		fputs(argp_ctx->program ? argp_ctx->program : "program", stdout);
	}
}

static bool has_visible_param(const struct doca_argp_cmd *cmd)
{
	const struct doca_argp_param *param;

	util_list_for_each(&cmd->params, param, node) {
		if (!param->is_hidden && (cmd == argp_ctx->cmd || param->is_inherited))
			return true;
	}
	return cmd->parent && has_visible_param(cmd->parent);
}

static bool has_visible_cmd(const struct doca_argp_cmd *cmd)
{
	const struct doca_argp_cmd *below;

	util_list_for_each(&cmd->cmds, below, node) {
		if (!below->is_hidden)
			return true;
	}
	return false;
}

static void print_params(void)
{
	const struct doca_argp_param *param;

	printf("\nProgram flags:\n");
	for (const struct doca_argp_cmd *cmd = argp_ctx->cmd; cmd; cmd = cmd->parent) {
		util_list_for_each(&cmd->params, param, node) {
			if (cmd == argp_ctx->cmd || param->is_inherited)
				print_param(param);
		}
	}
}

static void print_cmds(void)
{
	const struct doca_argp_cmd *cmd;

	printf("\nCommands:\n");
	util_list_for_each(&argp_ctx->cmd->cmds, cmd, node) {
		if (cmd->is_hidden)
			continue;
		print_description(printf("  %s", cmd->name), cmd->description);
		putchar('\n');
	}
}

void argp_print_usage(void)
{
	bool has_params = has_visible_param(argp_ctx->cmd);
	bool has_cmds = has_visible_cmd(argp_ctx->cmd);

	printf("Usage: ");
	print_chain(argp_ctx->cmd);
	printf("%s [DOCA flags]%s%s\n", argp_ctx->dpdk ? " [DPDK flags] --" : "",
	       has_params ? " [program flags]" : "", has_cmds ? " COMMAND" : "");
	if (argp_ctx->cmd->description)
		printf("\n%s\n", argp_ctx->cmd->description);
	printf("\nDOCA flags:\n");
	for (size_t i = 0; i < argp_num_builtins; i++)
		print_param(&argp_builtins[i]);
	if (has_params)
		print_params();
	if (has_cmds)
		print_cmds();
	fflush(stdout);
}

void doca_argp_usage(void)
{
	if (argp_ctx)
		argp_print_usage();
}
