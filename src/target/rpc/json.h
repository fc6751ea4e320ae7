/* SPDX-License-Identifier: Apache-2.0 */
/* Making JSON objects. Where memory is out, a value is null. */
#ifndef TGT_RPC_JSON_H
#define TGT_RPC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/** tgt_json_text() - a string; what is not UTF-8 in @text, as a file's name may be, becomes '?'. */
json_object *tgt_json_text(const char *text);

void tgt_json_add_text(json_object *object, const char *key, const char *text);
void tgt_json_add_number(json_object *object, const char *key, uint64_t value);
void tgt_json_add_bool(json_object *object, const char *key, bool value);
/** tgt_json_add_hex() - @n bytes in capitals, as SPDK writes NGUID and EUI-64. */
void tgt_json_add_hex(json_object *object, const char *key, const uint8_t *bytes, size_t n);
/** tgt_json_add_uuid() - with dashes and small letters. */
void tgt_json_add_uuid(json_object *object, const char *key, const uint8_t uuid[16]);

#endif
