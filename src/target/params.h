/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the parameters of a method, which is the same for a method in a configuration file and
 * one that came over the control socket. What is wrong with a parameter is said in call->err, with
 * file (if there is one), method and parameter in front.
 */
#ifndef TGT_PARAMS_H
#define TGT_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "target/err.h"

/* What is being read, for messages. */
struct tgt_call {
	const char *path; /* of the file, NULL for none */
	const char *method;
	struct tgt_err *err;
};

/** tgt_make_printable() - what is quoted from foreign text stays on its line of the log. */
void tgt_make_printable(char *text);

/** tgt_bad() - set call->err. Return: @code, a negative errno. @field may be NULL. */
int tgt_bad(const struct tgt_call *call, int code, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** tgt_bad_prefix() - call->err has the reason: put file, method and field in front of it. */
int tgt_bad_prefix(const struct tgt_call *call, int code, const char *field);

/**
 * tgt_take_string() - the text of a parameter, without a NUL in it. It belongs to @params.
 *
 * Return: 1 when *value is set, 0 when the parameter is absent or null, else -EINVAL. The three
 * below alike.
 */
int tgt_take_string(const struct tgt_call *call, json_object *params, const char *field,
		    const char **value);
/** tgt_take_number() - a whole number from 0 to @max, else -EINVAL or -ERANGE. */
int tgt_take_number(const struct tgt_call *call, json_object *params, const char *field,
		    uint64_t max, uint64_t *value);
int tgt_take_bool(const struct tgt_call *call, json_object *params, const char *field, bool *value);
/** tgt_take_hex() - @n bytes, as tgt_hex_parse() reads them. */
int tgt_take_hex(const struct tgt_call *call, json_object *params, const char *field, uint8_t *out,
		 size_t n);

/** tgt_param_is_known() - is @key among the names in @known, each of which has a blank around it?
 */
bool tgt_param_is_known(const char *known, const char *key);

/** tgt_need_string() - like tgt_take_string(), but absence is an error; 0 is success. */
int tgt_need_string(const struct tgt_call *call, json_object *params, const char *field,
		    const char **value);

/** tgt_copy_text() - printable ASCII of at most @size - 1 characters. Return: 0 or -EINVAL. */
int tgt_copy_text(const struct tgt_call *call, json_object *params, const char *field, char *out,
		  size_t size);

#endif
