/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, answers, errors; see dispatch.h. */
#include "target/rpc/dispatch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "target/limits.h"
#include "target/rpc/json.h"

struct request {
	const char *method;
	json_object *params; /* NULL: none */
	json_object *id; /* NULL: null */
	bool is_notification;
};

/* ---- answers ------------------------------------------------------------------------------ */

/* Takes over @object. */
static char *to_line(json_object *object)
{
	size_t n = 0;
	const char *text = json_object_to_json_string_length(
		object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
	char *line = text && n < TGT_RPC_ANSWER_BYTES ? malloc(n + 2) : NULL;

	if (line) {
		memcpy(line, text, n);
		memcpy(line + n, "\n", 2);
	}
	json_object_put(object);
	return line;
}

/* {"jsonrpc", "id", @key: @value}. Takes over @value. */
static char *answer_text(json_object *id, const char *key, json_object *value)
{
	json_object *answer = json_object_new_object();

	if (!answer) {
		json_object_put(value);
		return NULL;
	}
	tgt_json_add_text(answer, "jsonrpc", "2.0");
	json_object_object_add(answer, "id", json_object_get(id));
	json_object_object_add(answer, key, value);
	return to_line(answer);
}

static char *error_text(json_object *id, int code, const char *text)
{
	json_object *error = json_object_new_object();

	if (!error)
		return NULL;
	json_object_object_add(error, "code", json_object_new_int(code));
	tgt_json_add_text(error, "message", text);
	return answer_text(id, "error", error);
}

char *tgt_rpc_error_answer(enum tgt_rpc_code code, const char *text)
{
	return error_text(NULL, code, text);
}

static int code_of(int rc)
{
	switch (rc) {
	case -EINVAL:
	case -ERANGE:
		return TGT_RPC_INVALID_PARAMS;
	case -ENOMEM:
	case -EIO:
		return TGT_RPC_INTERNAL;
	default:
		return rc;
	}
}

/* ---- requests ----------------------------------------------------------------------------- */

static bool is_id(json_object *id)
{
	switch (json_object_get_type(id)) {
	case json_type_null:
	case json_type_int:
		return true;
	case json_type_string:
		return json_object_get_string_len(id) <= TGT_RPC_ID_BYTES;
	case json_type_double: /* may be Infinity here, which is no JSON */
	case json_type_boolean:
	case json_type_array:
	case json_type_object:
		break;
	}
	return false;
}

/* NULL, or why it is no request. */
static const char *read_request(json_object *o, struct request *r)
{
	json_object *version = NULL, *method = NULL;

	memset(r, 0, sizeof(*r));
	if (!json_object_is_type(o, json_type_object))
		return "a request is an object; batches are not supported";
	r->is_notification = !json_object_object_get_ex(o, "id", &r->id);
	if (!is_id(r->id)) {
		r->id = NULL;
		return "id: is not a whole number or a short string";
	}
	if (!json_object_object_get_ex(o, "jsonrpc", &version) ||
	    !json_object_is_type(version, json_type_string) ||
	    strcmp(json_object_get_string(version), "2.0"))
		return "jsonrpc: is not \"2.0\"";
	if (!json_object_object_get_ex(o, "method", &method) ||
	    !json_object_is_type(method, json_type_string))
		return "method: is missing, or no string";
	r->method = json_object_get_string(method);
	if (strlen(r->method) != (size_t)json_object_get_string_len(method))
		return "method: has a NUL character in it";
	json_object_object_get_ex(o, "params", &r->params);
	if (r->params && !json_object_is_type(r->params, json_type_object) &&
	    !json_object_is_type(r->params, json_type_array))
		return "params: is not an object";
	return NULL;
}

static const struct tgt_rpc_method *find(const struct tgt_rpc_table *table, const char *name)
{
	size_t i;

	for (i = 0; i < table->n_methods; i++)
		if (!strcmp(table->methods[i].name, name))
			return &table->methods[i];
	return NULL;
}

static int check_names(const struct tgt_rpc_method *method, const struct tgt_rpc_call *call)
{
	json_object_object_foreach(call->params, key, value)
	{
		(void)value;
		if (!tgt_param_is_known(method->params, key))
			return tgt_bad(&call->call, -EINVAL, NULL,
				       "\"%.64s\" is no parameter of it", key);
	}
	return 0;
}

static int run_method(const struct tgt_rpc_table *table, const struct tgt_rpc_method *method,
		      json_object *params, json_object **result, struct tgt_err *err)
{
	struct tgt_rpc_call call = {.table = table,
				    .call = {.method = method->name, .err = err},
				    .params = params ? json_object_get(params)
						     : json_object_new_object()};
	int rc = -ENOMEM;

	if (json_object_is_type(call.params, json_type_array))
		rc = tgt_bad(&call.call, -EINVAL, NULL, "parameters are given by name here");
	else if (call.params)
		rc = check_names(method, &call);
	if (!rc)
		rc = method->run(&call, result);
	json_object_put(call.params);
	if (rc && !err->text[0])
		tgt_bad(&call.call, rc, NULL, "%s", strerror(-rc));
	return rc;
}

static char *answer(const struct tgt_rpc_table *table, const struct request *r)
{
	const struct tgt_rpc_method *method = find(table, r->method);
	struct tgt_err err = {""};
	json_object *result = NULL;
	char *text;
	int rc;

	if (!method) {
		tgt_err_set(&err, 0, "there is no method \"%.64s\"", r->method);
		return error_text(r->id, TGT_RPC_NO_METHOD, err.text);
	}
	rc = run_method(table, method, r->params, &result, &err);
	if (rc)
		return error_text(r->id, code_of(rc), err.text);
	text = answer_text(r->id, "result", result);
	return text ? text
		    : error_text(r->id, TGT_RPC_INTERNAL, "the answer is too large, or no memory");
}

int tgt_rpc_run(const struct tgt_rpc_table *table, json_object *request, char **ret_answer)
{
	struct request r;
	const char *why = read_request(request, &r);
	char *text = why ? error_text(r.id, TGT_RPC_INVALID_REQUEST, why) : answer(table, &r);

	if (!text)
		return -ENOMEM;
	/* JSON-RPC 2.0, 4.1: what has no id gets no answer, unless it is not a request at all. */
	if (r.is_notification && !why) {
		free(text);
		text = NULL;
	}
	*ret_answer = text;
	return 0;
}
