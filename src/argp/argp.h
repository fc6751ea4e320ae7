/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser: what was registered, what was given, and what was set. There is one in a process.
 * argp.c begins and ends it, param.c and cmd.c describe and register, line.c and json.c read what
 * is given into values (value.c), start.c checks the whole and calls the program back.
 *
 * No name here may be one of glibc's <argp.h>: the library has a static archive.
 */
#ifndef ARGP_ARGP_H
#define ARGP_ARGP_H

#include <doca_argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/list.h"

/* Flags that every program has. */
enum argp_builtin {
	ARGP_BUILTIN_NONE, /* one that the program registered */
	ARGP_BUILTIN_HELP,
	ARGP_BUILTIN_VERSION,
	ARGP_BUILTIN_LOG_LEVEL,
	ARGP_BUILTIN_SDK_LOG_LEVEL,
	ARGP_BUILTIN_JSON,
};

enum argp_name_kind {
	ARGP_NAME_SHORT,
	ARGP_NAME_LONG,
	ARGP_NAME_KINDS,
};

/*
 * A name among those of its kind at its command: a node of a tree in which the bits of the name's
 * hash say the way down. Registering and finding stay fast with thousands, and take no memory.
 */
struct argp_name {
	struct argp_name *below[2];
	const struct doca_argp_param *param;
};

/* Whose: the program's until it is registered, then its command's, or the refused ones'. */
struct doca_argp_param {
	struct util_list node;
	char *short_name;
	char *long_name;
	struct argp_name names[ARGP_NAME_KINDS]; /* once registered */
	char *arguments;
	char *description;
	doca_argp_param_cb_t callback;
	enum doca_argp_type type;
	enum argp_builtin builtin;
	bool is_mandatory;
	bool is_cli_only;
	bool is_multiple;
	bool is_singular;
	bool is_inherited;
	bool is_hidden;
	bool is_broken; /* a setter found no memory */
	bool is_registered;
};

/* As a parameter. The program itself is the command without a parent. */
struct doca_argp_cmd {
	struct util_list node;
	struct doca_argp_cmd *parent;
	struct util_list params;
	struct argp_name *names[ARGP_NAME_KINDS]; /* of params */
	struct util_list cmds;
	char *name;
	char *description;
	doca_argp_cmd_cb_t callback;
	bool is_hidden;
	bool is_broken;
	bool is_registered;
};

/* What was given for a parameter. Lives until doca_argp_destroy(): programs keep the pointers. */
struct argp_value {
	struct util_list node;
	const struct doca_argp_param *param;
	union {
		int integer;
		bool boolean;
		double real;
		struct doca_argp_device_ctx device;
		struct doca_argp_device_rep_ctx device_rep;
	};
	char *text; /* of a string, or that names a device */
};

struct argp_ctx {
	char *program; /* NULL: argv[0] says it */
	void *config;
	struct doca_argp_cmd root;
	struct doca_argp_cmd *cmd; /* the innermost command that was given */
	struct util_list refused_params; /* kept, so that destroying one is an error and no crash */
	struct util_list refused_cmds;
	struct util_list line_values;
	struct util_list file_values;
	doca_argp_param_cb_t version;
	doca_argp_validation_cb_t validation;
	doca_argp_logger_cb_t logger;
	doca_argp_dev_open_cb_t dev_open;
	void *dev_open_ctx;
	doca_argp_dpdk_cb_t dpdk;
	const char *json_path;
	uint32_t log_level; /* 0: not given */
	uint32_t sdk_log_level;
	size_t num_dpdk_words;
	char **dpdk_words; /* owns the words */
	char **dpdk_argv; /* the same words, for DPDK to permute */
	bool is_silent;
	bool is_lenient; /* about fields of a file */
	bool has_refused; /* a registration failed */
	bool is_started;
	bool is_running; /* inside of doca_argp_start() */
};

/* NULL: not begun. */
extern struct argp_ctx *argp_ctx;

/* Begun, and not started yet: may things be registered? */
static inline bool argp_is_open(void)
{
	return argp_ctx && !argp_ctx->is_started;
}

/* param.c */

/* Room for what a message calls a parameter or its place. */
#define ARGP_LABEL_BYTES 160

/* "--long-name", or "-s" for one that has no long name. */
const char *argp_param_label(const struct doca_argp_param *param, char label[ARGP_LABEL_BYTES]);
/* Takes it over whatever the result: into params, the refused ones, or freed. */
doca_error_t argp_param_register(struct doca_argp_cmd *cmd, struct doca_argp_param *param);
void argp_param_free(struct doca_argp_param *param);
/* Replaces *text by a copy of from; false if there is no memory, with *text NULL. */
bool argp_replace(char **text, const char *from);

/* cmd.c */

void argp_cmd_init(struct doca_argp_cmd *cmd);
/* Everything below it; the command itself stays. */
void argp_cmd_fini(struct doca_argp_cmd *cmd);
void argp_cmd_free(struct doca_argp_cmd *cmd);

/* find.c: the names of a command's own parameters. */

bool argp_name_is_taken(const struct doca_argp_cmd *cmd, enum argp_name_kind kind,
			const char *name);
/* Those of param, none of which is taken. */
void argp_names_add(struct doca_argp_cmd *cmd, struct doca_argp_param *param);

/* What a word names at the innermost command that was given; NULL for nothing. */

const struct doca_argp_param *argp_find_long(const char *name, size_t bytes);
const struct doca_argp_param *argp_find_short(const char *name, size_t bytes);
/* The parameter of a field of a file. */
const struct doca_argp_param *argp_find_key(const char *key);
struct doca_argp_cmd *argp_find_cmd(const char *name);
/* The nearest long name, or command, to a name that was not found, if one is near; else NULL. */
const char *argp_find_near_long(const char *name, size_t bytes);
const char *argp_find_near_cmd(const char *name);

/* builtin.c */

extern const struct doca_argp_param argp_builtins[];
extern const size_t argp_num_builtins;
/* May a program not take this name? */
bool argp_name_is_reserved(const char *name);
/* A flag of the command line. --help and --version end the process. */
doca_error_t argp_builtin_take(const struct doca_argp_param *builtin, const char *label,
			       const char *text);
/* A level by name or number; 0 for what is neither. */
uint32_t argp_level_parse(const char *text);

/* say.c: one line that says what is wrong; without a line feed. */

void argp_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says so, and returns the error. */
doca_error_t argp_no_memory(void);

/* usage.c */

void argp_print_usage(void);

/* value.c */

struct json_object;
/* Of a text on the command line; NULL text for a flag. label: what messages call it. */
doca_error_t argp_value_add_text(const struct doca_argp_param *param, const char *label,
				 const char *text);
/* Of a field of a file; a list for a parameter that may be given more than once. */
doca_error_t argp_value_add_json(const struct doca_argp_param *param, const char *label,
				 struct json_object *field);
bool argp_is_given(const struct doca_argp_param *param);
void argp_values_free(struct util_list *values);
/* What the parameter's callback gets. */
void *argp_value_pointer(struct argp_value *value);

/* line.c, json.c, dpdk.c, device.c */

doca_error_t argp_line_read(int argc, char **argv);
doca_error_t argp_json_read(const char *path);
/* The same of a text that is in memory. path: what messages call it. */
doca_error_t argp_json_take(const char *path, const char *text, size_t bytes);
/* How many words of the line are DPDK's, argv[0] and the dashes that end them not counted. */
int argp_dpdk_split(int argc, char **argv, bool *has_dashes);
doca_error_t argp_dpdk_add_word(const char *word);
doca_error_t argp_dpdk_add_json(const char *path, struct json_object *flags);
doca_error_t argp_dpdk_call(void);
void argp_dpdk_free(void);
/* Opens what the value's text names. */
doca_error_t argp_device_open(struct argp_value *value);
/* The program did not take it. */
void argp_device_close(struct argp_value *value);

#endif /* ARGP_ARGP_H */
