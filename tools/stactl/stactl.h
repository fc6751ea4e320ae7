/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of stactl. What a command finds out is one JSON document, which --json prints as it is;
 * tables are printed from the same document.
 */
#ifndef STACTL_H
#define STACTL_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

/* What the command line said, and why a command failed. */
struct stactl {
	const char *socket; /* NULL: the usual one */
	unsigned int timeout_s;
	bool is_json;
	bool is_forced;
	const char *user; /* of "drive bind" */
	const char *world; /* of "log" */
	const char *kind; /* of "stats" */
	char **args; /* behind the words of the command */
	int n_args;
	char error[512];
};

/** stactl_fail() - store the reason. Return: -1. */
int stactl_fail(struct stactl *ctl, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Commands: 0, or -1 with the reason stored. */
int stactl_drive_list(struct stactl *ctl);
int stactl_drive_bind(struct stactl *ctl);
int stactl_drive_unbind(struct stactl *ctl);
int stactl_drive_reset(struct stactl *ctl);
int stactl_bdev_list(struct stactl *ctl);
int stactl_subsystem_list(struct stactl *ctl);
int stactl_stats(struct stactl *ctl);
int stactl_log(struct stactl *ctl);
int stactl_rpc(struct stactl *ctl);

/* client.c */

/**
 * stactl_call() - call a method of the running target.
 * @params: taken over, may be NULL
 *
 * Return: 0 with @result, the caller's, which is NULL for null; or -1.
 */
int stactl_call(struct stactl *ctl, const char *method, json_object *params, json_object **result);

/* table.c */

struct stactl_column {
	const char *title;
	const char *key; /* of a row */
};

/** stactl_print_table() - an array of objects, a line each; "-" for what is absent or null. */
void stactl_print_table(json_object *rows, const struct stactl_column *columns, size_t n);
/** stactl_print_json() - @document on several lines. */
void stactl_print_json(json_object *document);
/** stactl_text_of() - a member as text, "-" for what is absent or null. */
const char *stactl_text_of(json_object *object, const char *key);

#endif
