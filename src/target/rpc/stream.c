/* SPDX-License-Identifier: Apache-2.0 */
/* Framing; see stream.h. */
#include "target/rpc/stream.h"

#include <errno.h>
#include <string.h>

#include "target/limits.h"
#include "util/compiler.h"

int tgt_rpc_stream_init(struct tgt_rpc_stream *stream)
{
	*stream = (struct tgt_rpc_stream){.tokener = json_tokener_new_ex(TGT_RPC_REQUEST_DEPTH)};
	if (!stream->tokener)
		return -ENOMEM;
	/* json-c's own check of UTF-8 forgets at the end of a piece that a character has begun. */
	json_tokener_set_flags(stream->tokener,
			       JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
	return 0;
}

void tgt_rpc_stream_fini(struct tgt_rpc_stream *stream)
{
	if (stream->tokener)
		json_tokener_free(stream->tokener);
	stream->tokener = NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* RFC 8259, 2 and 8.1: UTF-8, and no control character but white space. */
static bool is_text(struct tgt_rpc_stream *stream, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (((unsigned char)text[i] < ' ' && !is_blank(text[i])) ||
		    !util_utf8_step(&stream->utf8, (uint8_t)text[i]))
			return false;
	return true;
}

static enum tgt_rpc_fed broken(struct tgt_err *why, const char *text)
{
	tgt_err_set(why, 0, "%s", text);
	return TGT_RPC_BROKEN;
}

/* Within a request. */
static enum tgt_rpc_fed go_on(struct tgt_rpc_stream *stream, const char *text, size_t n,
			      size_t *used, json_object **request, struct tgt_err *why)
{
	size_t room = TGT_RPC_REQUEST_BYTES - stream->bytes;
	json_object *o = json_tokener_parse_ex(stream->tokener, text, (int)util_min(n, room));
	enum json_tokener_error error = json_tokener_get_error(stream->tokener);

	*used = json_tokener_get_parse_end(stream->tokener);
	if (error != json_tokener_success && error != json_tokener_continue)
		return broken(why, json_tokener_error_desc(error));
	if (!is_text(stream, text, *used)) {
		json_object_put(o);
		return broken(why, "is not UTF-8, or has a control character in it");
	}
	if (error == json_tokener_success) {
		stream->bytes = 0;
		*request = o;
		return TGT_RPC_REQUEST;
	}
	stream->bytes += *used;
	if (stream->bytes >= TGT_RPC_REQUEST_BYTES)
		return broken(why, "is too long");
	return TGT_RPC_MORE;
}

enum tgt_rpc_fed tgt_rpc_stream_feed(struct tgt_rpc_stream *stream, const char *text, size_t n,
				     size_t *used, json_object **request, struct tgt_err *why)
{
	size_t skipped = 0;
	enum tgt_rpc_fed fed;

	while (!stream->bytes && skipped < n && is_blank(text[skipped]))
		skipped++;
	*used = skipped;
	if (skipped == n)
		return TGT_RPC_MORE;
	/* A number has no end but what follows it. */
	if (!stream->bytes && text[skipped] != '{' && text[skipped] != '[')
		return broken(why, "a request is an object");
	fed = go_on(stream, text + skipped, n - skipped, used, request, why);
	*used += skipped;
	return fed;
}

bool tgt_rpc_stream_is_within(const struct tgt_rpc_stream *stream)
{
	return stream->bytes;
}
