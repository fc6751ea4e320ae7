/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: framing, requests and errors with a table of the test's own, clients. */
#include "fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "target/limits.h"
#include "target/rpc/dispatch.h"
#include "target/rpc/json.h"
#include "target/rpc/listen.h"
#include "target/rpc/server.h"
#include "target/rpc/stream.h"
#include "util/utf8.h"

#define LARGE_BYTES (4u << 20)

/* ---- methods ------------------------------------------------------------------------------ */

static int calls;

static int echo(const struct tgt_rpc_call *call, json_object **result)
{
	const char *text;
	int rc = tgt_need_string(&call->call, call->params, "text", &text);

	calls++;
	if (rc)
		return rc;
	*result = json_object_new_string(text);
	return 0;
}

/* Fail with errno "code", saying why or not. */
static int fail_with(const struct tgt_rpc_call *call, json_object **result)
{
	uint64_t code = 0;
	bool is_silent = false;

	(void)result;
	assert_true(tgt_take_number(&call->call, call->params, "code", 255, &code) >= 0);
	assert_true(tgt_take_bool(&call->call, call->params, "silent", &is_silent) >= 0);
	return is_silent ? -(int)code : tgt_bad(&call->call, -(int)code, "code", "as told");
}

static int large(const struct tgt_rpc_call *call, json_object **result)
{
	char *text = malloc(LARGE_BYTES + 1);

	(void)call;
	calls++;
	assert_non_null(text);
	memset(text, 'x', LARGE_BYTES);
	text[LARGE_BYTES] = '\0';
	*result = json_object_new_string(text);
	free(text);
	return 0;
}

static int nothing(const struct tgt_rpc_call *call, json_object **result)
{
	(void)call;
	(void)result;
	return 0;
}

static const struct tgt_rpc_method methods[] = {
	{"echo", echo, " text "},
	{"fail", fail_with, " code silent "},
	{"large", large, ""},
	{"nothing", nothing, ""},
};
static const struct tgt_rpc_table table = {methods, 4, NULL};

/* ---- UTF-8 -------------------------------------------------------------------------------- */

static void utf8_prefixes(void **state)
{
	static const struct {
		const char *text;
		size_t whole;
	} cases[] = {
		{"", 0},
		{"abc", 3},
		{"a\xc3\xa4z", 4},
		{"\xe2\x82\xac", 3},
		{"\xf0\x9f\x98\x80", 4},
		{"a\xc3", 1},
		{"\x80", 0},
		{"\xc0\x80", 0},
		{"\xc1\xbf", 0},
		{"\xe0\x9f\xbf", 0},
		{"\xed\xa0\x80", 0},
		{"\xed\x9f\xbf", 3},
		{"\xf0\x8f\xbf", 0},
		{"\xf4\x90\x80\x80", 0},
		{"\xf4\x8f\xbf\xbf", 4},
		{"\xf5", 0},
		{"\xc3\xa4\xc3(", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(util_utf8_prefix(cases[i].text), cases[i].whole);
}

static void json_text_is_utf8(void **state)
{
	json_object *o = tgt_json_text("/d\xff/\xc3\xa4\xc3/x\xe2\x82");

	(void)state;
	assert_string_equal(json_object_get_string(o), "/d?/\xc3\xa4?/x??");
	json_object_put(o);
}

/* ---- framing ------------------------------------------------------------------------------ */

/* Feed @n bytes at @text, counting requests; the way it ends. */
static enum tgt_rpc_fed feed(struct tgt_rpc_stream *stream, const char *text, size_t n,
			     size_t *requests)
{
	struct tgt_err why = {""};
	json_object *request;
	size_t used;

	for (;;) {
		switch (tgt_rpc_stream_feed(stream, text, n, &used, &request, &why)) {
		case TGT_RPC_MORE:
			assert_int_equal(used, n);
			return TGT_RPC_MORE;
		case TGT_RPC_BROKEN:
			assert_true(why.text[0]);
			return TGT_RPC_BROKEN;
		case TGT_RPC_REQUEST:
			assert_true(used > 0 && used <= n);
			assert_false(tgt_rpc_stream_is_within(stream));
			json_object_put(request);
			(*requests)++;
			text += used;
			n -= used;
			break;
		}
	}
}

/* In two pieces, cut at @cut. */
static enum tgt_rpc_fed feed_cut(const char *text, size_t n, size_t cut, size_t *requests)
{
	struct tgt_rpc_stream stream;
	enum tgt_rpc_fed fed;

	*requests = 0;
	assert_int_equal(tgt_rpc_stream_init(&stream), 0);
	fed = feed(&stream, text, cut, requests);
	if (fed == TGT_RPC_MORE)
		fed = feed(&stream, text + cut, n - cut, requests);
	if (fed == TGT_RPC_MORE)
		assert_false(tgt_rpc_stream_is_within(&stream));
	tgt_rpc_stream_fini(&stream);
	return fed;
}

static void split_at_every_byte(void **state)
{
	static const char text[] =
		" {\"jsonrpc\": \"2.0\", \"id\": -12e1, \"method\": \"\\u00e4\"}\n"
		"{\"a\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\",\"b\":[true,null]}"
		"[{\"x\":\"\\\"}{\"}]{}\r\n\t";
	size_t n = strlen(text), cut, requests;

	(void)state;
	for (cut = 0; cut <= n; cut++) {
		assert_int_equal(feed_cut(text, n, cut, &requests), TGT_RPC_MORE);
		assert_int_equal(requests, 4);
	}
}

static void broken_wherever_it_is_cut(void **state)
{
	static const struct {
		const char *text;
		size_t n, requests; /* before it breaks */
	} cases[] = {
		{"hello", 5, 0},
		{"12 ", 3, 0},
		{"}", 1, 0},
		{"{}garbage", 9, 1},
		{"{\"a\":1,}", 8, 0},
		{"{\"a\":1 /* x */}", 15, 0},
		{"{\"a\":tru}", 9, 0},
		{"{\"a\":\"\xff\"}", 8, 0},
		{"{\"a\":\"\xc3\"}", 8, 0},
		{"{\"a\":\"\xed\xa0\x80\"}", 10, 0},
		{"{}\x01", 3, 1},
		{"{\"a\":\"\0\"}", 8, 0},
		{"{}\0{}", 5, 1},
		{"[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]", 41, 0},
	};
	size_t i, cut, requests;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (cut = 0; cut <= cases[i].n; cut++) {
			if (feed_cut(cases[i].text, cases[i].n, cut, &requests) != TGT_RPC_BROKEN)
				fail_msg("case %zu cut at %zu", i, cut);
			assert_int_equal(requests, cases[i].requests);
		}
}

/* A request of @n bytes: {"a":"xxx"} */
static char *request_of(size_t n)
{
	char *text = malloc(n + 1);

	assert_non_null(text);
	memset(text, 'x', n);
	memcpy(text, "{\"a\":\"", 6);
	memcpy(text + n - 2, "\"}", 3);
	return text;
}

static void request_has_a_limit(void **state)
{
	size_t n, cut, requests;
	char *text;

	(void)state;
	for (n = TGT_RPC_REQUEST_BYTES - 1; n <= TGT_RPC_REQUEST_BYTES + 1; n++) {
		bool fits = n <= TGT_RPC_REQUEST_BYTES;

		text = request_of(n);
		for (cut = 0; cut <= n; cut += 1009) {
			assert_int_equal(feed_cut(text, n, cut, &requests),
					 fits ? TGT_RPC_MORE : TGT_RPC_BROKEN);
			assert_int_equal(requests, fits);
		}
		free(text);
	}
}

/* ---- requests ----------------------------------------------------------------------------- */

/* The answer to @text, NULL for none; to be freed. */
static char *run(const char *text)
{
	json_object *request = json_tokener_parse(text);
	char *answer = NULL;

	assert_non_null(request);
	assert_int_equal(tgt_rpc_run(&table, request, &answer), 0);
	json_object_put(request);
	return answer;
}

static void assert_answer(const char *text, const char *expected)
{
	char *answer = run(text);

	assert_non_null(answer);
	assert_string_equal(answer, expected);
	free(answer);
}

static void assert_error(const char *text, int code, const char *id, const char *part)
{
	json_object *answer, *error, *o = NULL;
	char *line = run(text);

	assert_non_null(line);
	answer = json_tokener_parse(line);
	assert_true(json_object_object_get_ex(answer, "id", &o));
	assert_string_equal(json_object_to_json_string(o), id);
	assert_false(json_object_object_get_ex(answer, "result", &o));
	assert_true(json_object_object_get_ex(answer, "error", &error));
	assert_int_equal(json_object_get_int(json_object_object_get(error, "code")), code);
	if (!strstr(json_object_get_string(json_object_object_get(error, "message")), part))
		fail_msg("%s: no \"%s\"", line, part);
	json_object_put(answer);
	free(line);
}

#define CALL(rest) "{\"jsonrpc\":\"2.0\",\"id\":7," rest "}"

static void answers(void **state)
{
	(void)state;
	assert_answer(CALL("\"method\":\"echo\",\"params\":{\"text\":\"a/b\"}"),
		      "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"a/b\"}\n");
	assert_answer("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"nothing\"}",
		      "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":null}\n");
	assert_answer("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"nothing\",\"params\":null}",
		      "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":null}\n");
}

static void errors(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *id, *part;
	} cases[] = {
		{"[]", TGT_RPC_INVALID_REQUEST, "null", "batches"},
		{"{}", TGT_RPC_INVALID_REQUEST, "null", "jsonrpc"},
		{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"echo\"}", TGT_RPC_INVALID_REQUEST, "1",
		 "jsonrpc"},
		{"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"echo\"}", TGT_RPC_INVALID_REQUEST, "1",
		 "jsonrpc"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"echo\"}", TGT_RPC_INVALID_REQUEST,
		 "null", "id"},
		{"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"echo\"}", TGT_RPC_INVALID_REQUEST,
		 "null", "id"},
		{CALL("\"method\":3"), TGT_RPC_INVALID_REQUEST, "7", "method"},
		{CALL("\"x\":3"), TGT_RPC_INVALID_REQUEST, "7", "method"},
		{CALL("\"method\":\"echo\\u0000\""), TGT_RPC_INVALID_REQUEST, "7", "NUL"},
		{CALL("\"method\":\"echo\",\"params\":1"), TGT_RPC_INVALID_REQUEST, "7", "params"},
		{CALL("\"method\":\"ech\""), TGT_RPC_NO_METHOD, "7", "\"ech\""},
		{CALL("\"method\":\"echo\",\"params\":[1]"), TGT_RPC_INVALID_PARAMS, "7",
		 "by name"},
		{CALL("\"method\":\"echo\""), TGT_RPC_INVALID_PARAMS, "7",
		 "echo: text: is missing"},
		{CALL("\"method\":\"echo\",\"params\":{\"tex\":1}"), TGT_RPC_INVALID_PARAMS, "7",
		 "\"tex\""},
		{CALL("\"method\":\"fail\",\"params\":{\"code silent\":1}"), TGT_RPC_INVALID_PARAMS,
		 "7", "code silent"},
		{CALL("\"method\":\"echo\",\"params\":{\"text\":1}"), TGT_RPC_INVALID_PARAMS, "7",
		 "is not a string"},
		{CALL("\"method\":\"fail\",\"params\":{\"code\":12}"), TGT_RPC_INTERNAL, "7",
		 "as told"},
		{CALL("\"method\":\"fail\",\"params\":{\"code\":5}"), TGT_RPC_INTERNAL, "7", ""},
		{CALL("\"method\":\"fail\",\"params\":{\"code\":22}"), TGT_RPC_INVALID_PARAMS, "7",
		 ""},
		{CALL("\"method\":\"fail\",\"params\":{\"code\":34}"), TGT_RPC_INVALID_PARAMS, "7",
		 ""},
		{CALL("\"method\":\"fail\",\"params\":{\"code\":16}"), -EBUSY, "7",
		 "code: as told"},
		{CALL("\"method\":\"fail\",\"params\":{\"code\":19,\"silent\":true}"), -ENODEV, "7",
		 "No such device"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_error(cases[i].text, cases[i].code, cases[i].id, cases[i].part);
}

static void long_id_is_refused(void **state)
{
	char id[TGT_RPC_ID_BYTES + 2], text[TGT_RPC_ID_BYTES + 100];

	(void)state;
	memset(id, 'i', sizeof(id));
	id[TGT_RPC_ID_BYTES + 1] = '\0';
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"nothing\"}",
		 id);
	assert_error(text, TGT_RPC_INVALID_REQUEST, "null", "id");
	id[TGT_RPC_ID_BYTES] = '\0';
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"nothing\"}",
		 id);
	free(run(text));
}

static void notifications_are_not_answered(void **state)
{
	(void)state;
	calls = 0;
	assert_null(run("{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"params\":{\"text\":\"x\"}}"));
	assert_null(run("{\"jsonrpc\":\"2.0\",\"method\":\"echo\"}"));
	assert_int_equal(calls, 2);
	assert_null(run("{\"jsonrpc\":\"2.0\",\"method\":\"unknown\"}"));
}

/* ---- clients ------------------------------------------------------------------------------ */

static struct tgt_loop loop;
static struct tgt_rpc *rpc;
static char dir[64], path[96];
static uint64_t now_ms; /* the server's clock */

static int setup(void **state)
{
	struct tgt_err err;

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/softsta-rpc.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	assert_int_equal(tgt_loop_init(&loop), 0);
	assert_int_equal(tgt_rpc_open(&loop, path, &table, &rpc, &err), 0);
	now_ms = 1000;
	calls = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tgt_rpc_close(rpc);
	rpc = NULL;
	assert_int_equal(access(path, F_OK), -1);
	tgt_loop_fini(&loop);
	return rmdir(dir);
}

/* Let it do what it can: each turn that is due at once. */
static void turn(void)
{
	uint64_t woken;
	int i;

	for (i = 0; i < 200; i++) {
		assert_int_equal(tgt_loop_wait(&loop, 0, &woken), 0);
		tgt_rpc_tick(rpc, now_ms);
	}
}

/* Nothing wakes the loop for nothing. */
static void assert_sleeps(void)
{
	uint64_t until = tgt_loop_now_ms() + 20, woken;

	assert_int_equal(tgt_loop_wait(&loop, until, &woken), 0);
	assert_true(woken >= until);
}

static int connect_to(const char *where)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_true(strlen(where) < sizeof(addr.sun_path));
	memcpy(addr.sun_path, where, strlen(where));
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* What came, as a string; its length, 0 at the end, -1 for nothing yet. */
static ssize_t hear(int fd, char *text, size_t bytes)
{
	ssize_t n = recv(fd, text, bytes - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return n;
}

#define ECHO(text) CALL("\"method\":\"echo\",\"params\":{\"text\":\"" text "\"}")

static void several_requests_in_their_order(void **state)
{
	char text[1024];
	int fd = connect_to(path);

	(void)state;
	say(fd, ECHO("one") ECHO("two") "\n");
	turn();
	assert_int_equal(calls, 2);
	assert_true(hear(fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "\"one\"}\n{"));
	assert_non_null(strstr(text, "\"two\"}\n"));
	assert_int_equal(hear(fd, text, sizeof(text)), -1); /* and it is still connected */
	close(fd);
	turn();
}

/* Its end of the connection is closed for writing right behind the request, as by "nc -N". */
static void answered_after_the_end(void **state)
{
	char text[1024];
	int fd = connect_to(path);

	(void)state;
	say(fd, ECHO("one") ECHO("two"));
	shutdown(fd, SHUT_WR);
	turn();
	assert_true(hear(fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "\"two\"}\n"));
	assert_int_equal(hear(fd, text, sizeof(text)), 0);
	close(fd);
}

static void ends_within_a_request(void **state)
{
	char text[1024];
	int fd = connect_to(path);

	(void)state;
	say(fd, "{\"jsonrpc\":");
	turn();
	assert_int_equal(hear(fd, text, sizeof(text)), -1);
	shutdown(fd, SHUT_WR);
	turn();
	assert_true(hear(fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "-32700"));
	assert_int_equal(hear(fd, text, sizeof(text)), 0);
	close(fd);
}

static void garbage_is_answered_and_closed(void **state)
{
	char text[1024];
	int fd = connect_to(path), other = connect_to(path);

	(void)state;
	say(fd, ECHO("one") "garbage" ECHO("two"));
	turn();
	assert_true(hear(fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "\"one\""));
	assert_non_null(strstr(text, "-32700"));
	assert_non_null(strstr(text, "\"id\":null"));
	assert_null(strstr(text, "\"two\""));
	assert_true(hear(fd, text, sizeof(text)) <= 0);
	say(other, ECHO("two"));
	turn();
	assert_true(hear(other, text, sizeof(text)) > 0);
	close(fd);
	close(other);
}

static void too_many_clients(void **state)
{
	int fds[TGT_RPC_MAX_CLIENTS + 1], i;
	char text[1024];

	(void)state;
	for (i = 0; i <= TGT_RPC_MAX_CLIENTS; i++) {
		fds[i] = connect_to(path);
		turn();
	}
	assert_true(hear(fds[TGT_RPC_MAX_CLIENTS], text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "too many clients"));
	assert_int_equal(hear(fds[TGT_RPC_MAX_CLIENTS], text, sizeof(text)), 0);
	close(fds[0]);
	turn();
	fds[0] = connect_to(path);
	say(fds[0], ECHO("x"));
	turn();
	assert_true(hear(fds[0], text, sizeof(text)) > 0);
	for (i = 0; i <= TGT_RPC_MAX_CLIENTS; i++)
		close(fds[i]);
}

/* When descriptors run out, who comes has to wait, and the loop does not spin. */
static void no_descriptors_left(void **state)
{
	struct rlimit all, few;
	char text[1024];
	int fd = connect_to(path);

	(void)state;
	say(fd, ECHO("x"));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	few.rlim_cur = (rlim_t)fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	turn();
	assert_true(tgt_rpc_next_deadline(rpc) > now_ms && tgt_rpc_next_deadline(rpc) < UINT64_MAX);
	assert_sleeps();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	assert_int_equal(hear(fd, text, sizeof(text)), -1);
	now_ms = tgt_rpc_next_deadline(rpc);
	turn();
	assert_true(hear(fd, text, sizeof(text)) > 0);
	assert_true(tgt_rpc_next_deadline(rpc) == UINT64_MAX);
	assert_sleeps();
	close(fd);
}

/* It asks and asks and does not read: one answer is made, others are served, and it is let go. */
static void client_that_never_reads(void **state)
{
	int fd = connect_to(path), other = connect_to(path), i;
	char text[1024];
	ssize_t n;

	(void)state;
	for (i = 0; i < 5; i++)
		say(fd, CALL("\"method\":\"large\""));
	turn();
	assert_int_equal(calls, 1);
	assert_int_equal(tgt_rpc_next_deadline(rpc), now_ms + TGT_RPC_UNREAD_MS);
	assert_sleeps();
	say(other, ECHO("x"));
	turn();
	assert_int_equal(calls, 2);
	assert_true(hear(other, text, sizeof(text)) > 0);
	now_ms += TGT_RPC_UNREAD_MS;
	turn();
	assert_int_equal(calls, 2);
	assert_true(tgt_rpc_next_deadline(rpc) == UINT64_MAX);
	while ((n = hear(fd, text, sizeof(text))) > 0)
		;
	assert_true(n == 0 || errno == ECONNRESET);
	close(fd);
	close(other);
}

/* One that reads slowly has all of them. */
static void slow_client_gets_everything(void **state)
{
	static char text[65536];
	int fd = connect_to(path), i;
	size_t lines = 0, bytes = 0, at;
	ssize_t n;

	(void)state;
	for (i = 0; i < 3; i++)
		say(fd, CALL("\"method\":\"large\""));
	for (i = 0; i < 2000 && lines < 3; i++) {
		uint64_t woken;

		assert_int_equal(tgt_loop_wait(&loop, 0, &woken), 0);
		tgt_rpc_tick(rpc, now_ms += 1000);
		n = hear(fd, text, sizeof(text));
		for (at = 0; n > 0 && at < (size_t)n; at++)
			lines += text[at] == '\n';
		bytes += n > 0 ? (size_t)n : 0;
	}
	assert_int_equal(lines, 3);
	assert_true(bytes > 3 * LARGE_BYTES);
	close(fd);
}

/* ---- the socket's name -------------------------------------------------------------------- */

static void nobody_else_may_use_it(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void live_socket_is_kept(void **state)
{
	struct tgt_err err = {""};
	struct tgt_rpc *second = NULL;

	(void)state;
	assert_int_equal(tgt_rpc_open(&loop, path, &table, &second, &err), -EADDRINUSE);
	assert_null(second);
	assert_non_null(strstr(err.text, path));
	close(connect_to(path)); /* the first one's is still there */
	turn();
}

/* A socket whose process was killed has a name and nobody behind it. */
static void dead_socket_is_replaced(void **state)
{
	struct tgt_rpc_listen dead, live;
	struct tgt_err err;
	char other[128];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(tgt_rpc_listen_open(&dead, other, &err), 0);
	close(dead.fd);
	assert_int_equal(tgt_rpc_listen_open(&live, other, &err), 0);
	close(connect_to(other));
	/* Who comes too late does not take it away. */
	dead.fd = dup(live.fd);
	dead.ino++;
	tgt_rpc_listen_close(&dead, other);
	assert_int_equal(access(other, F_OK), 0);
	tgt_rpc_listen_close(&live, other);
	assert_int_equal(access(other, F_OK), -1);
}

static void other_files_are_kept(void **state)
{
	struct tgt_rpc_listen listen;
	struct tgt_err err;
	char other[128];
	FILE *f;

	(void)state;
	snprintf(other, sizeof(other), "%s/file", dir);
	f = fopen(other, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(tgt_rpc_listen_open(&listen, other, &err), -EEXIST);
	assert_int_equal(access(other, F_OK), 0);
	unlink(other);
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(tgt_rpc_listen_open(&listen, other, &err), -EEXIST);
	unlink(other);
}

static void bad_names(void **state)
{
	struct tgt_rpc_listen listen;
	struct tgt_err err;
	char name[256];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	name[0] = '/';
	assert_int_equal(tgt_rpc_listen_open(&listen, name, &err), -ENAMETOOLONG);
	assert_int_equal(tgt_rpc_listen_open(&listen, "", &err), -ENAMETOOLONG);
	assert_int_equal(tgt_rpc_listen_open(&listen, "/nonexistent/x", &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_prefixes),
		cmocka_unit_test(json_text_is_utf8),
		cmocka_unit_test(split_at_every_byte),
		cmocka_unit_test(broken_wherever_it_is_cut),
		cmocka_unit_test(request_has_a_limit),
		cmocka_unit_test(answers),
		cmocka_unit_test(errors),
		cmocka_unit_test(long_id_is_refused),
		cmocka_unit_test(notifications_are_not_answered),
		cmocka_unit_test_setup_teardown(several_requests_in_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(answered_after_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_within_a_request, setup, teardown),
		cmocka_unit_test_setup_teardown(garbage_is_answered_and_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_clients, setup, teardown),
		cmocka_unit_test_setup_teardown(no_descriptors_left, setup, teardown),
		cmocka_unit_test_setup_teardown(client_that_never_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(slow_client_gets_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_else_may_use_it, setup, teardown),
		cmocka_unit_test_setup_teardown(live_socket_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(dead_socket_is_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(other_files_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_names, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
