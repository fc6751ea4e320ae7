/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: -s VALUE, -sVALUE, -s=VALUE, --long VALUE, --long=VALUE; flags of one letter
 * may be joined (-ab). A short name may have several letters. "--" ends the flags. Any other word
 * is a command, and what follows it belongs to the command.
 */
#include "argp/argp.h"

#include <stdio.h>
#include <string.h>

struct line {
	int argc;
	char **argv;
	int at; /* the next word */
};

static bool is_flag(const char *word)
{
	return word[0] == '-' && word[1];
}

/* Is it a word that names a parameter? Then it is nobody's value. */
static bool is_known(const char *word)
{
	size_t bytes = strcspn(word, "=");

	if (!is_flag(word))
		return false;
	if (word[1] == '-')
		return !word[2] || argp_find_long(word + 2, bytes - 2);
	return argp_find_short(word + 1, bytes - 1);
}

static doca_error_t no_such_option(const char *word)
{
	const char *near = NULL;

	if (word[1] == '-')
		near = argp_find_near_long(word + 2, strcspn(word + 2, "="));
	if (near)
		argp_say("%.100s: no such option, did you mean --%s? (see --help)", word, near);
	else
		argp_say("%.100s: no such option (see --help)", word);
	return DOCA_ERROR_INVALID_VALUE;
}

/* text: what stands in the same word; NULL if there is nothing. */
static doca_error_t take(struct line *line, const struct doca_argp_param *param, const char *text)
{
	char label[ARGP_LABEL_BYTES];

	argp_param_label(param, label);
	if (param->type == DOCA_ARGP_TYPE_BOOLEAN) {
		if (text) {
			argp_say("%s: takes no value (see --help)", label);
			return DOCA_ERROR_INVALID_VALUE;
		}
	} else if (!text) {
		if (line->at == line->argc || is_known(line->argv[line->at])) {
			argp_say("%s: a value is missing (see --help)", label);
			return DOCA_ERROR_INVALID_VALUE;
		}
		text = line->argv[line->at++];
	}
	if (param->builtin != ARGP_BUILTIN_NONE)
		return argp_builtin_take(param, label, text);
	return argp_value_add_text(param, label, text);
}

static doca_error_t take_long(struct line *line, const char *word)
{
	const char *name = word + 2;
	size_t bytes = strcspn(name, "=");
	const struct doca_argp_param *param = argp_find_long(name, bytes);

	if (!param)
		return no_such_option(word);
	return take(line, param, name[bytes] ? name + bytes + 1 : NULL);
}

/* Letters that are flags, the last of them perhaps one with a value behind it. */
static doca_error_t take_letters(struct line *line, const char *word)
{
	doca_error_t result = DOCA_SUCCESS;

	for (const char *letter = word + 1; *letter && result == DOCA_SUCCESS; letter++) {
		const struct doca_argp_param *param = argp_find_short(letter, 1);

		if (!param)
			return no_such_option(word);
		if (param->type != DOCA_ARGP_TYPE_BOOLEAN)
			return take(line, param, letter[1] ? letter + 1 : NULL);
		result = take(line, param, NULL);
	}
	return result;
}

static doca_error_t take_short(struct line *line, const char *word)
{
	const char *name = word + 1;
	size_t bytes = strcspn(name, "=");
	const struct doca_argp_param *param = argp_find_short(name, bytes);

	if (!param)
		return take_letters(line, word);
	return take(line, param, name[bytes] ? name + bytes + 1 : NULL);
}

static doca_error_t take_command(const char *word)
{
	struct doca_argp_cmd *cmd = argp_find_cmd(word);
	const char *near;

	if (cmd) {
		argp_ctx->cmd = cmd;
		return DOCA_SUCCESS;
	}
	near = argp_find_near_cmd(word);
	if (util_list_is_empty(&argp_ctx->cmd->cmds))
		argp_say("\"%.100s\": is no option, and no value of one (see --help)", word);
	else if (near)
		argp_say("\"%.100s\": no such command, did you mean %s? (see --help)", word, near);
	else
		argp_say("\"%.100s\": no such command (see --help)", word);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t argp_line_read(int argc, char **argv)
{
	struct line line = {.argc = argc, .argv = argv};
	doca_error_t result = DOCA_SUCCESS;
	bool has_ended = false;

	while (line.at < argc && result == DOCA_SUCCESS) {
		const char *word = argv[line.at++];

		if (has_ended || !is_flag(word))
			result = take_command(word);
		else if (!strcmp(word, "--"))
			has_ended = true;
		else if (word[1] == '-')
			result = take_long(&line, word);
		else
			result = take_short(&line, word);
	}
	return result;
}
