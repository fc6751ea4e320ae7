/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of the control socket; see server.h. */
#include "target/rpc/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "target/limits.h"
#include "target/rpc/listen.h"
#include "target/rpc/stream.h"

enum {
	INPUT_BYTES = 4096,
	ACCEPTS_PER_TICK = 8,
	/* When there are no descriptors left: until accept() is tried again. */
	ACCEPT_PAUSE_MS = 1000,
};

struct client {
	struct tgt_loop_source source; /* .fd -1: a free place */
	struct tgt_rpc_stream stream;
	char input[INPUT_BYTES]; /* read, and not taken by the stream */
	size_t in_at, in_end;
	char *answer;
	size_t out_at, out_end;
	uint64_t unread_until_ms;
	bool is_ready; /* since the last tick */
	bool is_at_end; /* nothing more is read: its end, or no JSON */
	bool watches_in, watches_out;
};

struct tgt_rpc {
	struct tgt_loop *loop;
	const struct tgt_rpc_table *table;
	char *path;
	struct tgt_rpc_listen listen;
	struct tgt_loop_source source;
	bool is_ready;
	uint64_t accept_again_ms; /* UINT64_MAX: it is not paused */
	struct client clients[TGT_RPC_MAX_CLIENTS];
};

/* ---- one client --------------------------------------------------------------------------- */

static void on_client(void *arg)
{
	struct client *c = arg;

	c->is_ready = true;
}

static void client_end(struct tgt_rpc *rpc, struct client *c)
{
	tgt_loop_remove(rpc->loop, &c->source);
	close(c->source.fd);
	tgt_rpc_stream_fini(&c->stream);
	free(c->answer);
	memset(c, 0, sizeof(*c));
	c->source.fd = -1;
}

static bool has_input(const struct client *c)
{
	return c->in_at < c->in_end;
}

/* Can a tick do something without anything new from the kernel? */
static bool can_go_on(const struct client *c)
{
	return !c->answer && has_input(c);
}

/* Take over @text as the answer; false if there is none for want of memory. */
static bool set_answer(struct client *c, char *text, uint64_t now_ms)
{
	c->answer = text;
	c->out_at = 0;
	c->out_end = text ? strlen(text) : 0;
	c->unread_until_ms = now_ms + TGT_RPC_UNREAD_MS;
	return text;
}

/* What cannot be read on: tell why and let go when that is sent. */
static bool refuse(struct client *c, const char *why, uint64_t now_ms)
{
	c->is_at_end = true;
	c->in_at = c->in_end = 0;
	return set_answer(c, tgt_rpc_error_answer(TGT_RPC_PARSE_ERROR, why), now_ms);
}

/* False: the connection is over. The three below alike. */
static bool read_some(struct client *c, uint64_t now_ms)
{
	ssize_t n;

	if (has_input(c) || c->is_at_end)
		return true;
	n = recv(c->source.fd, c->input, sizeof(c->input), MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->in_at = 0;
	c->in_end = (size_t)n;
	if (n > 0)
		return true;
	c->is_at_end = true;
	if (tgt_rpc_stream_is_within(&c->stream))
		return refuse(c, "ends within a request", now_ms);
	return true;
}

static bool run_one(struct tgt_rpc *rpc, struct client *c, uint64_t now_ms)
{
	json_object *request = NULL;
	struct tgt_err why = {""};
	char *text = NULL;
	size_t used = 0;
	int rc;

	if (!can_go_on(c))
		return true;
	switch (tgt_rpc_stream_feed(&c->stream, c->input + c->in_at, c->in_end - c->in_at, &used,
				    &request, &why)) {
	case TGT_RPC_BROKEN:
		return refuse(c, why.text, now_ms);
	case TGT_RPC_MORE:
		c->in_at += used;
		return true;
	case TGT_RPC_REQUEST:
		break;
	}
	c->in_at += used;
	rc = tgt_rpc_run(rpc->table, request, &text);
	json_object_put(request);
	if (rc)
		return false;
	return text ? set_answer(c, text, now_ms) : true;
}

static bool write_some(struct client *c, uint64_t now_ms)
{
	ssize_t n;

	if (!c->answer)
		return true;
	n = send(c->source.fd, c->answer + c->out_at, c->out_end - c->out_at,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return (errno == EAGAIN || errno == EINTR) && now_ms < c->unread_until_ms;
	if (n > 0)
		c->unread_until_ms = now_ms + TGT_RPC_UNREAD_MS;
	c->out_at += (size_t)n;
	if (c->out_at == c->out_end) {
		free(c->answer);
		c->answer = NULL;
	}
	return true;
}

static void client_watch(struct tgt_rpc *rpc, struct client *c)
{
	bool in = !c->answer && !has_input(c), out = c->answer;

	if (in != c->watches_in || out != c->watches_out)
		tgt_loop_watch(rpc->loop, &c->source, in, out);
	c->watches_in = in;
	c->watches_out = out;
}

static void client_tick(struct tgt_rpc *rpc, struct client *c, uint64_t now_ms)
{
	bool is_due = c->is_ready || can_go_on(c) || (c->answer && now_ms >= c->unread_until_ms);

	if (!is_due)
		return;
	c->is_ready = false;
	if (!write_some(c, now_ms) || (!c->answer && !read_some(c, now_ms)) ||
	    !run_one(rpc, c, now_ms) || !write_some(c, now_ms) ||
	    (c->is_at_end && !c->answer && !has_input(c)))
		client_end(rpc, c);
	else
		client_watch(rpc, c);
}

/* ---- those who come ----------------------------------------------------------------------- */

static void on_listen(void *arg)
{
	struct tgt_rpc *rpc = arg;

	rpc->is_ready = true;
}

static struct client *free_place(struct tgt_rpc *rpc)
{
	size_t i;

	for (i = 0; i < TGT_RPC_MAX_CLIENTS; i++)
		if (rpc->clients[i].source.fd < 0)
			return &rpc->clients[i];
	return NULL;
}

static void turn_away(int fd)
{
	char *text = tgt_rpc_error_answer(TGT_RPC_INTERNAL, "too many clients");

	if (text)
		(void)send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
	free(text);
	close(fd);
}

static void client_begin(struct tgt_rpc *rpc, int fd)
{
	struct client *c = free_place(rpc);

	if (!c) {
		turn_away(fd);
		return;
	}
	c->source = (struct tgt_loop_source){fd, on_client, c};
	c->watches_in = true;
	if (!tgt_rpc_stream_init(&c->stream) && !tgt_loop_add(rpc->loop, &c->source))
		return;
	tgt_rpc_stream_fini(&c->stream);
	c->source.fd = -1;
	close(fd);
}

/* Who cannot be taken stays in the queue, which must not wake us again and again. */
static void accept_pause(struct tgt_rpc *rpc, uint64_t now_ms)
{
	tgt_loop_watch(rpc->loop, &rpc->source, false, false);
	rpc->accept_again_ms = now_ms + ACCEPT_PAUSE_MS;
}

static void accept_some(struct tgt_rpc *rpc, uint64_t now_ms)
{
	int i, fd;

	for (i = 0; i < ACCEPTS_PER_TICK; i++) {
		fd = accept4(rpc->listen.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			client_begin(rpc, fd);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			return accept_pause(rpc, now_ms);
		else
			return;
	}
}

/* ---- the socket --------------------------------------------------------------------------- */

int tgt_rpc_open(struct tgt_loop *loop, const char *path, const struct tgt_rpc_table *table,
		 struct tgt_rpc **ret, struct tgt_err *err)
{
	struct tgt_rpc *rpc = calloc(1, sizeof(*rpc));
	char *copy = strdup(path);
	size_t i;
	int rc;

	if (!rpc || !copy) {
		rc = tgt_err_set(err, -ENOMEM, "out of memory");
		goto err_free;
	}
	rpc->loop = loop;
	rpc->table = table;
	rpc->path = copy;
	rpc->accept_again_ms = UINT64_MAX;
	for (i = 0; i < TGT_RPC_MAX_CLIENTS; i++)
		rpc->clients[i].source.fd = -1;
	rc = tgt_rpc_listen_open(&rpc->listen, path, err);
	if (rc)
		goto err_free;
	rpc->source = (struct tgt_loop_source){rpc->listen.fd, on_listen, rpc};
	rc = tgt_loop_add(loop, &rpc->source);
	if (rc) {
		tgt_err_set(err, rc, "epoll: %s", strerror(-rc));
		goto err_listen;
	}
	*ret = rpc;
	return 0;

err_listen:
	tgt_rpc_listen_close(&rpc->listen, path);
err_free:
	free(copy);
	free(rpc);
	return rc;
}

void tgt_rpc_close(struct tgt_rpc *rpc)
{
	size_t i;

	if (!rpc)
		return;
	for (i = 0; i < TGT_RPC_MAX_CLIENTS; i++)
		if (rpc->clients[i].source.fd >= 0)
			client_end(rpc, &rpc->clients[i]);
	tgt_loop_remove(rpc->loop, &rpc->source);
	tgt_rpc_listen_close(&rpc->listen, rpc->path);
	free(rpc->path);
	free(rpc);
}

void tgt_rpc_tick(struct tgt_rpc *rpc, uint64_t now_ms)
{
	size_t i;

	if (!rpc)
		return;
	if (now_ms >= rpc->accept_again_ms) {
		rpc->accept_again_ms = UINT64_MAX;
		tgt_loop_watch(rpc->loop, &rpc->source, true, false);
	}
	if (rpc->is_ready) {
		rpc->is_ready = false;
		accept_some(rpc, now_ms);
	}
	for (i = 0; i < TGT_RPC_MAX_CLIENTS; i++)
		if (rpc->clients[i].source.fd >= 0)
			client_tick(rpc, &rpc->clients[i], now_ms);
}

uint64_t tgt_rpc_next_deadline(const struct tgt_rpc *rpc)
{
	uint64_t next = rpc ? rpc->accept_again_ms : UINT64_MAX;
	size_t i;

	for (i = 0; rpc && i < TGT_RPC_MAX_CLIENTS; i++) {
		const struct client *c = &rpc->clients[i];

		if (c->source.fd < 0)
			continue;
		if (can_go_on(c))
			return 0;
		if (c->answer && c->unread_until_ms < next)
			next = c->unread_until_ms;
	}
	return next;
}

const char *tgt_rpc_path(const struct tgt_rpc *rpc)
{
	return rpc->path;
}
