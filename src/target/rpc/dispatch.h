/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON-RPC 2.0: from a request to its answer, in SPDK's form. Which methods there are is a table;
 * a method reads its parameters with params.h and makes a JSON value.
 */
#ifndef TGT_RPC_DISPATCH_H
#define TGT_RPC_DISPATCH_H

#include <stddef.h>

#include <json-c/json.h>

#include "target/params.h"

struct tgt_server;
struct tgt_rpc_table;

/* JSON-RPC 2.0, 5.1. */
enum tgt_rpc_code {
	TGT_RPC_PARSE_ERROR = -32700,
	TGT_RPC_INVALID_REQUEST = -32600,
	TGT_RPC_NO_METHOD = -32601,
	TGT_RPC_INVALID_PARAMS = -32602,
	TGT_RPC_INTERNAL = -32603,
};

/* A call of a method. */
struct tgt_rpc_call {
	const struct tgt_rpc_table *table;
	struct tgt_call call; /* for params.h; the reason of a failure goes to call.err */
	json_object *params; /* an object; every name in it is one that the method knows */
};

struct tgt_rpc_method {
	const char *name;
	/*
	 * run() - 0 with @result, which may stay NULL for null, or a negative errno with
	 * call.err set. EINVAL and ERANGE become "invalid params", ENOMEM and EIO "internal
	 * error"; any other is the error's code itself, as SPDK does it.
	 */
	int (*run)(const struct tgt_rpc_call *call, json_object **result);
	const char *params; /* what run() reads, blanks around each */
};

struct tgt_rpc_table {
	const struct tgt_rpc_method *methods;
	size_t n_methods;
	struct tgt_server *server;
};

/**
 * tgt_rpc_run() - do what @request says.
 * @answer: the answer with a line feed behind it, to be freed; NULL if the request wants none
 *
 * Return: 0 or -ENOMEM.
 */
int tgt_rpc_run(const struct tgt_rpc_table *table, json_object *request, char **answer);

/** tgt_rpc_error_answer() - an error without a request that it answers; NULL if memory is out. */
char *tgt_rpc_error_answer(enum tgt_rpc_code code, const char *text);

#endif
