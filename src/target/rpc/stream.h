/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where one request of a stream of JSON texts ends. Bytes come in pieces of any size; white space
 * between requests is skipped. After a text that is no JSON there is nothing to go on from, so the
 * stream is at its end then.
 */
#ifndef TGT_RPC_STREAM_H
#define TGT_RPC_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "target/err.h"
#include "util/utf8.h"

struct tgt_rpc_stream {
	struct json_tokener *tokener;
	struct util_utf8 utf8;
	size_t bytes; /* of the request that has begun, 0 between two */
};

enum tgt_rpc_fed {
	TGT_RPC_MORE, /* everything was taken, no request is complete */
	TGT_RPC_REQUEST,
	TGT_RPC_BROKEN,
};

/** tgt_rpc_stream_init() - 0 or -ENOMEM. */
int tgt_rpc_stream_init(struct tgt_rpc_stream *stream);
void tgt_rpc_stream_fini(struct tgt_rpc_stream *stream);

/**
 * tgt_rpc_stream_feed() - go on with @n bytes of @text up to the end of a request.
 * @used:    how many of them were taken
 * @request: on TGT_RPC_REQUEST an object or an array, the caller's
 * @why:     on TGT_RPC_BROKEN
 */
enum tgt_rpc_fed tgt_rpc_stream_feed(struct tgt_rpc_stream *stream, const char *text, size_t n,
				     size_t *used, json_object **request, struct tgt_err *why);

/** tgt_rpc_stream_is_within() - has a request begun that is not complete? */
bool tgt_rpc_stream_is_within(const struct tgt_rpc_stream *stream);

#endif
