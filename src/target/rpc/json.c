/* SPDX-License-Identifier: Apache-2.0 */
/* Making JSON objects; see json.h. */
#include "target/rpc/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

json_object *tgt_json_text(const char *text)
{
	size_t whole = util_utf8_prefix(text);
	json_object *o;
	char *copy;

	if (!text[whole])
		return json_object_new_string(text);
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (; copy[whole]; whole += util_utf8_prefix(copy + whole))
		copy[whole++] = '?';
	o = json_object_new_string(copy);
	free(copy);
	return o;
}

void tgt_json_add_text(json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, tgt_json_text(text));
}

void tgt_json_add_number(json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

void tgt_json_add_bool(json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

void tgt_json_add_hex(json_object *object, const char *key, const uint8_t *bytes, size_t n)
{
	char text[2 * 16 + 1] = "";
	size_t i;

	for (i = 0; i < n && i < 16; i++)
		snprintf(text + 2 * i, 3, "%02X", bytes[i]);
	tgt_json_add_text(object, key, text);
}

void tgt_json_add_uuid(json_object *object, const char *key, const uint8_t uuid[16])
{
	char text[37] = "";
	size_t i, at = 0;

	for (i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text[at++] = '-';
		snprintf(text + at, 3, "%02x", uuid[i]);
		at += 2;
	}
	tgt_json_add_text(object, key, text);
}
