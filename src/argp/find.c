/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a word names. A command sees its own parameters, the inherited ones of those above it, and
 * the flags that every program has, in this order: a program may take "-v" for itself.
 */
#include "argp/argp.h"

#include <string.h>

#include "util/compiler.h"

/* The longest name that is compared with a misspelt one, and how far they may be apart. */
#define NEAR_NAME_BYTES 32
#define NEAR_LETTERS	2

static const char *param_name(const struct doca_argp_param *param, enum argp_name_kind kind)
{
	return kind == ARGP_NAME_SHORT ? param->short_name : param->long_name;
}

static bool is_named(const struct doca_argp_param *param, enum argp_name_kind kind,
		     const char *name, size_t bytes)
{
	const char *own = param_name(param, kind);

	return own && strlen(own) == bytes && !memcmp(own, name, bytes);
}

/* FNV-1a. */
static uint64_t hash_of(const char *name, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3;
	return hash;
}

/* Where the name is, or where it would be. */
static struct argp_name **place_of(struct argp_name **root, enum argp_name_kind kind,
				   const char *name, size_t bytes)
{
	uint64_t hash = hash_of(name, bytes);
	struct argp_name **p = root;

	for (; *p && !is_named((*p)->param, kind, name, bytes); hash >>= 1)
		p = &(*p)->below[hash & 1];
	return p;
}

static const struct doca_argp_param *find_at(const struct doca_argp_cmd *cmd,
					     enum argp_name_kind kind, const char *name,
					     size_t bytes)
{
	struct argp_name *root = cmd->names[kind];
	struct argp_name *found = *place_of(&root, kind, name, bytes);

	return found ? found->param : NULL;
}

bool argp_name_is_taken(const struct doca_argp_cmd *cmd, enum argp_name_kind kind, const char *name)
{
	return name && find_at(cmd, kind, name, strlen(name));
}

void argp_names_add(struct doca_argp_cmd *cmd, struct doca_argp_param *param)
{
	for (enum argp_name_kind kind = 0; kind < ARGP_NAME_KINDS; kind++) {
		const char *name = param_name(param, kind);

		if (!name)
			continue;
		param->names[kind].param = param;
		*place_of(&cmd->names[kind], kind, name, strlen(name)) = &param->names[kind];
	}
}

/* Does the innermost command see this parameter of @cmd? */
static bool is_seen(const struct doca_argp_cmd *cmd, const struct doca_argp_param *param)
{
	return param && (cmd == argp_ctx->cmd || param->is_inherited);
}

static const struct doca_argp_param *find(enum argp_name_kind kind, const char *name, size_t bytes)
{
	const struct doca_argp_param *param;

	for (const struct doca_argp_cmd *cmd = argp_ctx->cmd; cmd; cmd = cmd->parent) {
		param = find_at(cmd, kind, name, bytes);
		if (is_seen(cmd, param))
			return param;
	}
	for (size_t i = 0; i < argp_num_builtins; i++) {
		if (is_named(&argp_builtins[i], kind, name, bytes))
			return &argp_builtins[i];
	}
	return NULL;
}

const struct doca_argp_param *argp_find_long(const char *name, size_t bytes)
{
	return find(ARGP_NAME_LONG, name, bytes);
}

const struct doca_argp_param *argp_find_short(const char *name, size_t bytes)
{
	return find(ARGP_NAME_SHORT, name, bytes);
}

/* Not the flags that every program has: they are in a section of their own. */
const struct doca_argp_param *argp_find_key(const char *key)
{
	const struct doca_argp_param *param;
	size_t bytes = strlen(key);

	for (const struct doca_argp_cmd *cmd = argp_ctx->cmd; cmd; cmd = cmd->parent) {
		param = find_at(cmd, ARGP_NAME_LONG, key, bytes);
		if (is_seen(cmd, param))
			return param;
		param = find_at(cmd, ARGP_NAME_SHORT, key, bytes);
		if (is_seen(cmd, param) && !param->long_name)
			return param;
	}
	return NULL;
}

struct doca_argp_cmd *argp_find_cmd(const char *name)
{
	struct doca_argp_cmd *cmd;

	util_list_for_each(&argp_ctx->cmd->cmds, cmd, node) {
		if (!strcmp(cmd->name, name))
			return cmd;
	}
	return NULL;
}

/* How many letters have to be changed, added or left out (Levenshtein) to get from a to b. */
static size_t distance(const char *a, size_t a_bytes, const char *b)
{
	size_t row[NEAR_NAME_BYTES + 1];
	size_t b_bytes = strlen(b);

	if (a_bytes > NEAR_NAME_BYTES || b_bytes > NEAR_NAME_BYTES)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_bytes; j++)
		row[j] = j;
	for (size_t i = 0; i < a_bytes; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < b_bytes; j++) {
			size_t change = diagonal + (a[i] != b[j]);
			size_t other = util_min(row[j], row[j + 1]) + 1;

			diagonal = row[j + 1];
			row[j + 1] = util_min(change, other);
		}
	}
	return row[b_bytes];
}

struct near {
	const char *name; /* what was typed */
	size_t bytes;
	size_t least; /* distance of the best so far */
	const char *best;
};

/* A name of which every letter would have to be another one is not near. */
static void near_consider(struct near *near, const char *candidate)
{
	size_t away = distance(near->name, near->bytes, candidate);

	if (away < near->least && away < strlen(candidate)) {
		near->least = away;
		near->best = candidate;
	}
}

const char *argp_find_near_long(const char *name, size_t bytes)
{
	struct near near = {.name = name, .bytes = bytes, .least = NEAR_LETTERS + 1};
	const struct doca_argp_param *param;

	for (const struct doca_argp_cmd *cmd = argp_ctx->cmd; cmd; cmd = cmd->parent) {
		util_list_for_each(&cmd->params, param, node) {
			if (param->long_name && !param->is_hidden &&
			    (cmd == argp_ctx->cmd || param->is_inherited))
				near_consider(&near, param->long_name);
		}
	}
	for (size_t i = 0; i < argp_num_builtins; i++)
		near_consider(&near, argp_builtins[i].long_name);
	return near.best;
}

const char *argp_find_near_cmd(const char *name)
{
	struct near near = {.name = name, .bytes = strlen(name), .least = NEAR_LETTERS + 1};
	const struct doca_argp_cmd *cmd;

	util_list_for_each(&argp_ctx->cmd->cmds, cmd, node) {
		if (!cmd->is_hidden)
			near_consider(&near, cmd->name);
	}
	return near.best;
}
