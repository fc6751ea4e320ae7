/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was given for a parameter: from the text on the command line or the field of a file.
 */
#include "argp/argp.h"

#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Decimal, or hexadecimal with 0x. Not octal: nobody means it by a zero in front. */
static doca_error_t parse_int(const char *label, const char *text, int *integer)
{
	const char *digits = text + (*text == '-' || *text == '+');
	bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, is_hex ? 16 : 10);
	if (end == text || *end || isspace((unsigned char)*text)) {
		argp_say("%s: \"%.100s\" is no integer", label, text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (errno || number < INT_MIN || number > INT_MAX) {
		argp_say("%s: %.100s is out of range (%d to %d)", label, text, INT_MIN, INT_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*integer = (int)number;
	return DOCA_SUCCESS;
}

static doca_error_t parse_double(const char *label, const char *text, double *real)
{
	char *end;
	double number;

	errno = 0;
	number = strtod(text, &end);
	if (end == text || *end || isspace((unsigned char)*text)) {
		argp_say("%s: \"%.100s\" is no number", label, text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!isfinite(number) || (errno && number != 0.0)) {
		argp_say("%s: %.100s is out of range", label, text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*real = number;
	return DOCA_SUCCESS;
}

/* DEVICE[,ARGUMENTS], or DEVICE,REPRESENTOR[,ARGUMENTS] */
static doca_error_t parse_device(enum doca_argp_type type, const char *label, const char *text)
{
	const char *rep = strchr(text, ',');

	if (!*text || *text == ',') {
		argp_say("%s: \"%.100s\" names no device", label, text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (type == DOCA_ARGP_TYPE_DEVICE_REP && (!rep || !rep[1] || rep[1] == ',')) {
		argp_say("%s: \"%.100s\" names no representor", label, text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* With value->param set. */
static doca_error_t parse_text(struct argp_value *value, const char *label, const char *text)
{
	doca_error_t result = DOCA_SUCCESS;

	switch (value->param->type) {
	case DOCA_ARGP_TYPE_BOOLEAN:
		value->boolean = true;
		return DOCA_SUCCESS;
	case DOCA_ARGP_TYPE_INT:
		return parse_int(label, text, &value->integer);
	case DOCA_ARGP_TYPE_DOUBLE:
		return parse_double(label, text, &value->real);
	case DOCA_ARGP_TYPE_DEVICE:
	case DOCA_ARGP_TYPE_DEVICE_REP:
		result = parse_device(value->param->type, label, text);
		break;
	case DOCA_ARGP_TYPE_STRING:
		break;
	case DOCA_ARGP_TYPE_UNKNOWN:
		return DOCA_ERROR_UNEXPECTED;
	}
	if (result == DOCA_SUCCESS && !argp_replace(&value->text, text))
		return argp_no_memory();
	return result;
}

static struct argp_value *value_create(const struct doca_argp_param *param)
{
	struct argp_value *value = calloc(1, sizeof(*value));

	if (!value)
		return NULL;
	util_list_init(&value->node);
	value->param = param;
	return value;
}

static void value_free(struct argp_value *value)
{
	free(value->text);
	free(value);
}

void argp_values_free(struct util_list *values)
{
	struct argp_value *value;

	while ((value = util_list_pop(values, struct argp_value, node)))
		value_free(value);
}

static bool list_has(const struct util_list *values, const struct doca_argp_param *param)
{
	const struct argp_value *value;

	util_list_for_each(values, value, node) {
		if (value->param == param)
			return true;
	}
	return false;
}

bool argp_is_given(const struct doca_argp_param *param)
{
	return list_has(&argp_ctx->line_values, param) || list_has(&argp_ctx->file_values, param);
}

doca_error_t argp_value_add_text(const struct doca_argp_param *param, const char *label,
				 const char *text)
{
	struct argp_value *value;
	doca_error_t result;

	if (!param->is_multiple && list_has(&argp_ctx->line_values, param)) {
		argp_say("%s: is given more than once", label);
		return DOCA_ERROR_INVALID_VALUE;
	}
	value = value_create(param);
	if (!value)
		return argp_no_memory();
	result = parse_text(value, label, text);
	if (result == DOCA_SUCCESS)
		util_list_add_tail(&argp_ctx->line_values, &value->node);
	else
		value_free(value);
	return result;
}

/* What a field has to be; the first kind is the one that a message names. */
static bool field_fits(const struct doca_argp_param *param, json_object *field, const char **kind)
{
	switch (param->type) {
	case DOCA_ARGP_TYPE_BOOLEAN:
		*kind = "true or false";
		return json_object_is_type(field, json_type_boolean);
	case DOCA_ARGP_TYPE_INT:
		*kind = "an integer";
		return json_object_is_type(field, json_type_int);
	case DOCA_ARGP_TYPE_DOUBLE:
		*kind = "a number";
		return json_object_is_type(field, json_type_double) ||
		       json_object_is_type(field, json_type_int);
	case DOCA_ARGP_TYPE_STRING:
	case DOCA_ARGP_TYPE_DEVICE:
	case DOCA_ARGP_TYPE_DEVICE_REP:
	case DOCA_ARGP_TYPE_UNKNOWN:
		break;
	}
	*kind = "a string";
	return json_object_is_type(field, json_type_string);
}

static doca_error_t parse_field(struct argp_value *value, const char *label, json_object *field)
{
	int64_t number;

	switch (value->param->type) {
	case DOCA_ARGP_TYPE_BOOLEAN:
		value->boolean = true;
		return DOCA_SUCCESS;
	case DOCA_ARGP_TYPE_INT:
		number = json_object_get_int64(field);
		if (number < INT_MIN || number > INT_MAX) {
			argp_say("%s: is out of range (%d to %d)", label, INT_MIN, INT_MAX);
			return DOCA_ERROR_INVALID_VALUE;
		}
		value->integer = (int)number;
		return DOCA_SUCCESS;
	case DOCA_ARGP_TYPE_DOUBLE:
		value->real = json_object_get_double(field);
		if (isfinite(value->real))
			return DOCA_SUCCESS;
		argp_say("%s: is out of range", label);
		return DOCA_ERROR_INVALID_VALUE;
	case DOCA_ARGP_TYPE_STRING:
	case DOCA_ARGP_TYPE_DEVICE:
	case DOCA_ARGP_TYPE_DEVICE_REP:
	case DOCA_ARGP_TYPE_UNKNOWN:
		break;
	}
	if (strlen(json_object_get_string(field)) != (size_t)json_object_get_string_len(field)) {
		argp_say("%s: has a NUL character in it", label);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return parse_text(value, label, json_object_get_string(field));
}

static doca_error_t add_field(const struct doca_argp_param *param, const char *label,
			      json_object *field)
{
	struct argp_value *value;
	doca_error_t result;
	const char *kind;

	if (!field_fits(param, field, &kind)) {
		argp_say("%s: is not %s", label, kind);
		return DOCA_ERROR_INVALID_VALUE;
	}
	/* A flag of the command line is there or not; false is not. */
	if (param->type == DOCA_ARGP_TYPE_BOOLEAN && !json_object_get_boolean(field))
		return DOCA_SUCCESS;
	value = value_create(param);
	if (!value)
		return argp_no_memory();
	result = parse_field(value, label, field);
	/* The command line has the last word. */
	if (result == DOCA_SUCCESS && !list_has(&argp_ctx->line_values, param))
		util_list_add_tail(&argp_ctx->file_values, &value->node);
	else
		value_free(value);
	return result;
}

doca_error_t argp_value_add_json(const struct doca_argp_param *param, const char *label,
				 json_object *field)
{
	doca_error_t result = DOCA_SUCCESS;
	size_t n;

	if (!param->is_multiple || !json_object_is_type(field, json_type_array))
		return add_field(param, label, field);
	n = json_object_array_length(field);
	for (size_t i = 0; i < n && result == DOCA_SUCCESS; i++)
		result = add_field(param, label, json_object_array_get_idx(field, i));
	return result;
}

void *argp_value_pointer(struct argp_value *value)
{
	switch (value->param->type) {
	case DOCA_ARGP_TYPE_STRING:
		return value->text;
	case DOCA_ARGP_TYPE_INT:
		return &value->integer;
	case DOCA_ARGP_TYPE_BOOLEAN:
		return &value->boolean;
	case DOCA_ARGP_TYPE_DOUBLE:
		return &value->real;
	case DOCA_ARGP_TYPE_DEVICE:
		return &value->device;
	case DOCA_ARGP_TYPE_DEVICE_REP:
		return &value->device_rep;
	case DOCA_ARGP_TYPE_UNKNOWN:
		break;
	}
	return NULL;
}
