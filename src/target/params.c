/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the parameters of a method; see params.h. */
#include "target/params.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "target/parse.h"

void tgt_make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int tgt_bad(const struct tgt_call *call, int code, const char *field, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tgt_make_printable(text);
	return tgt_err_set(call->err, code, "%s%s%s: %s%s%s", call->path ? call->path : "",
			   call->path ? ": " : "", call->method, field ? field : "",
			   field ? ": " : "", text);
}

int tgt_bad_prefix(const struct tgt_call *call, int code, const char *field)
{
	struct tgt_err reason = *call->err;

	return tgt_bad(call, code, field, "%s", reason.text);
}

int tgt_take_string(const struct tgt_call *call, json_object *params, const char *field,
		    const char **value)
{
	json_object *o;

	if (!json_object_object_get_ex(params, field, &o) || !o)
		return 0;
	if (!json_object_is_type(o, json_type_string))
		return tgt_bad(call, -EINVAL, field, "is not a string");
	*value = json_object_get_string(o);
	if (strlen(*value) != (size_t)json_object_get_string_len(o))
		return tgt_bad(call, -EINVAL, field, "has a NUL character in it");
	return 1;
}

int tgt_take_number(const struct tgt_call *call, json_object *params, const char *field,
		    uint64_t max, uint64_t *value)
{
	json_object *o;
	int64_t n;

	if (!json_object_object_get_ex(params, field, &o) || !o)
		return 0;
	if (!json_object_is_type(o, json_type_int))
		return tgt_bad(call, -EINVAL, field, "is not a whole number");
	n = json_object_get_int64(o);
	if (n < 0 || (uint64_t)n > max)
		return tgt_bad(call, -ERANGE, field, "is not within 0 and %llu",
			       (unsigned long long)max);
	*value = (uint64_t)n;
	return 1;
}

int tgt_take_bool(const struct tgt_call *call, json_object *params, const char *field, bool *value)
{
	json_object *o;

	if (!json_object_object_get_ex(params, field, &o) || !o)
		return 0;
	if (!json_object_is_type(o, json_type_boolean))
		return tgt_bad(call, -EINVAL, field, "is not true or false");
	*value = json_object_get_boolean(o);
	return 1;
}

int tgt_take_hex(const struct tgt_call *call, json_object *params, const char *field, uint8_t *out,
		 size_t n)
{
	const char *text = "";
	int rc = tgt_take_string(call, params, field, &text);

	if (rc == 1 && tgt_hex_parse(text, out, n))
		return tgt_bad(call, -EINVAL, field, "is not %zu hex digits", 2 * n);
	return rc;
}

bool tgt_param_is_known(const char *known, const char *key)
{
	char needle[80];

	/* A name of such a length is none, and one with a blank in it would match two. */
	if (strlen(key) > sizeof(needle) - 3 || strchr(key, ' '))
		return false;
	snprintf(needle, sizeof(needle), " %s ", key);
	return strstr(known, needle);
}

int tgt_need_string(const struct tgt_call *call, json_object *params, const char *field,
		    const char **value)
{
	int rc;

	*value = "";
	rc = tgt_take_string(call, params, field, value);
	if (rc == 0)
		return tgt_bad(call, -EINVAL, field, "is missing");
	return rc < 0 ? rc : 0;
}

int tgt_copy_text(const struct tgt_call *call, json_object *params, const char *field, char *out,
		  size_t size)
{
	const char *text = "";
	int rc = tgt_take_string(call, params, field, &text);

	if (rc != 1)
		return rc;
	if (strlen(text) >= size)
		return tgt_bad(call, -EINVAL, field, "is longer than %zu characters", size - 1);
	for (const char *c = text; *c; c++) {
		if (*c < 0x20 || *c > 0x7e) /* NVMe Base 2.0, 1.4.2: ASCII strings */
			return tgt_bad(call, -EINVAL, field,
				       "has a character that is not printable ASCII");
	}
	snprintf(out, size, "%s", text);
	return 0;
}
