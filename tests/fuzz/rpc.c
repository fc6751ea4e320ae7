/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket's input under arbitrary bytes in pieces of arbitrary size: framing, then the
 * method table with methods that read a parameter of each kind. Where the pieces end must not
 * matter, and what is answered is one line of JSON.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/limits.h"
#include "target/rpc/dispatch.h"
#include "target/rpc/json.h"
#include "target/rpc/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

static int take_all(const struct tgt_rpc_call *call, json_object **result)
{
	const char *text = "", *needed;
	uint8_t hex[16] = {0};
	uint64_t number = 0;
	bool is_so = false;
	char copy[8] = "";

	if (tgt_need_string(&call->call, call->params, "needed", &needed) ||
	    tgt_take_string(&call->call, call->params, "text", &text) < 0 ||
	    tgt_take_number(&call->call, call->params, "number", 1000, &number) < 0 ||
	    tgt_take_bool(&call->call, call->params, "flag", &is_so) < 0 ||
	    tgt_take_hex(&call->call, call->params, "hex", hex, sizeof(hex)) < 0 ||
	    tgt_copy_text(&call->call, call->params, "short", copy, sizeof(copy)))
		return -22;
	require(number <= 1000 && strlen(copy) < sizeof(copy));
	*result = json_object_new_object();
	tgt_json_add_text(*result, "text", text);
	tgt_json_add_hex(*result, "hex", hex, sizeof(hex));
	return 0;
}

static int nothing(const struct tgt_rpc_call *call, json_object **result)
{
	(void)call;
	(void)result;
	return 0;
}

static const struct tgt_rpc_method methods[] = {
	{"all", take_all, " needed text number flag hex short "},
	{"nothing", nothing, ""},
};
static const struct tgt_rpc_table table = {methods, 2, NULL};

static void check_answer(char *answer)
{
	struct tgt_rpc_stream stream;
	json_object *o = NULL;
	struct tgt_err why;
	size_t used;

	if (!answer)
		return;
	require(strchr(answer, '\n') == answer + strlen(answer) - 1);
	require(strlen(answer) < 8 * TGT_RPC_REQUEST_BYTES);
	if (strlen(answer) < TGT_RPC_REQUEST_BYTES && !tgt_rpc_stream_init(&stream)) {
		require(tgt_rpc_stream_feed(&stream, answer, strlen(answer), &used, &o, &why) ==
			TGT_RPC_REQUEST);
		require(used >= strlen(answer) - 1); /* white space behind it, or not */
		tgt_rpc_stream_fini(&stream);
		json_object_put(o);
	}
	free(answer);
}

/* How a stream went: requests that were complete, and whether it broke. */
struct course {
	size_t requests;
	bool is_broken;
};

static struct course run(const uint8_t *data, size_t size, size_t piece)
{
	struct course course = {0};
	struct tgt_rpc_stream stream;
	size_t used = 0, at, n;

	require(!tgt_rpc_stream_init(&stream));
	for (at = 0; at < size && !course.is_broken; at += used) {
		/* On the heap, so that a sanitizer sees a look behind its end. */
		char *text = malloc(n = size - at < piece ? size - at : piece);
		struct tgt_err why = {""};
		json_object *request = NULL;
		char *answer = NULL;
		enum tgt_rpc_fed fed;

		require(text);
		memcpy(text, data + at, n);
		fed = tgt_rpc_stream_feed(&stream, text, n, &used, &request, &why);
		require(used <= n && (used || fed == TGT_RPC_BROKEN));
		course.is_broken = fed == TGT_RPC_BROKEN;
		require(!course.is_broken || why.text[0]);
		if (fed == TGT_RPC_REQUEST) {
			course.requests++;
			require(!tgt_rpc_run(&table, request, &answer));
			check_answer(answer);
			json_object_put(request);
		}
		free(text);
	}
	tgt_rpc_stream_fini(&stream);
	return course;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct course whole, pieces;

	if (!size)
		return 0;
	/* The first byte says how large the pieces are. */
	whole = run(data + 1, size - 1, SIZE_MAX);
	pieces = run(data + 1, size - 1, data[0] + 1u);
	require(whole.requests == pieces.requests && whole.is_broken == pieces.is_broken);
	return 0;
}
