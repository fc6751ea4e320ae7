/* SPDX-License-Identifier: Apache-2.0 */
/* A call over the control socket, within a bound of time. */
#include "stactl.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "target/rpc/path.h"

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* One's own target, else that of the machine. False: nobody knows where one could be. */
static bool find_socket(const struct stactl *ctl, char *path, size_t bytes)
{
	if (ctl->socket)
		return snprintf(path, bytes, "%s", ctl->socket) < (int)bytes;
	if (!tgt_rpc_default_path(path, bytes) || access(path, F_OK))
		snprintf(path, bytes, "%s", TGT_RPC_SYSTEM_PATH);
	return true;
}

static int connect_failed(struct stactl *ctl, const char *path)
{
	switch (errno) {
	case ENOENT:
	case ECONNREFUSED:
		return stactl_fail(ctl,
				   "%s: no target is running there (see softsta-tgt"
				   " --rpc-socket, and -s here)",
				   path);
	case EACCES:
		return stactl_fail(ctl,
				   "%s: the target is another user's: try as that user or as"
				   " root",
				   path);
	default:
		return stactl_fail(ctl, "%s: %s", path, strerror(errno));
	}
}

/* A connected descriptor, or -1. */
static int open_socket(struct stactl *ctl)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd;

	if (!find_socket(ctl, addr.sun_path, sizeof(addr.sun_path)))
		return stactl_fail(ctl, "%.200s: the name is too long", ctl->socket);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return stactl_fail(ctl, "socket: %s", strerror(errno));
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	(void)connect_failed(ctl, addr.sun_path);
	close(fd);
	return -1;
}

static int wait_for(struct stactl *ctl, int fd, short events, uint64_t until_ms)
{
	struct pollfd pfd = {.fd = fd, .events = events};
	uint64_t now = now_ms();
	int n = now < until_ms ? poll(&pfd, 1, (int)(until_ms - now)) : 0;

	if (n < 0 && errno != EINTR)
		return stactl_fail(ctl, "poll: %s", strerror(errno));
	return n ? 0 : stactl_fail(ctl, "no answer within %u s", ctl->timeout_s);
}

static int send_all(struct stactl *ctl, int fd, const char *text, uint64_t until_ms)
{
	size_t left = strlen(text);
	ssize_t n;

	while (left) {
		n = send(fd, text, left, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return stactl_fail(ctl, "the target let us go: %s", strerror(errno));
		if (n < 0 && wait_for(ctl, fd, POLLOUT, until_ms))
			return -1;
		text += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* The answer as an object, NULL with the reason stored. */
static json_object *receive(struct stactl *ctl, int fd, struct json_tokener *tokener,
			    uint64_t until_ms)
{
	json_object *answer = NULL;
	char text[16384];
	ssize_t n;

	do {
		if (wait_for(ctl, fd, POLLIN, until_ms))
			return NULL;
		n = recv(fd, text, sizeof(text), MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0) {
			(void)stactl_fail(ctl, "the target ended without an answer");
			return NULL;
		}
		answer = json_tokener_parse_ex(tokener, text, (int)n);
	} while (!answer && json_tokener_get_error(tokener) == json_tokener_continue);
	if (answer && json_object_is_type(answer, json_type_object))
		return answer;
	json_object_put(answer);
	(void)stactl_fail(ctl, "the answer is no JSON-RPC");
	return NULL;
}

static char *request_text(const char *method, json_object *params)
{
	json_object *request = json_object_new_object();
	char *text;

	json_object_object_add(request, "jsonrpc", json_object_new_string("2.0"));
	json_object_object_add(request, "id", json_object_new_int(1));
	json_object_object_add(request, "method", json_object_new_string(method));
	if (params)
		json_object_object_add(request, "params", params);
	text = strdup(json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN));
	json_object_put(request);
	return text;
}

static int take_result(struct stactl *ctl, json_object *answer, json_object **result)
{
	json_object *error = NULL;

	if (json_object_object_get_ex(answer, "error", &error))
		return stactl_fail(ctl, "%s", stactl_text_of(error, "message"));
	if (!json_object_object_get_ex(answer, "result", result))
		return stactl_fail(ctl, "the answer has no result");
	json_object_get(*result);
	return 0;
}

int stactl_call(struct stactl *ctl, const char *method, json_object *params, json_object **result)
{
	uint64_t until_ms = now_ms() + ctl->timeout_s * 1000ull;
	struct json_tokener *tokener = json_tokener_new();
	char *text = request_text(method, params);
	json_object *answer = NULL;
	int fd = open_socket(ctl), rc = -1;

	if (!text || !tokener)
		rc = stactl_fail(ctl, "out of memory");
	else if (fd >= 0 && !send_all(ctl, fd, text, until_ms))
		answer = receive(ctl, fd, tokener, until_ms);
	if (answer)
		rc = take_result(ctl, answer, result);
	json_object_put(answer);
	free(text);
	if (tokener)
		json_tokener_free(tokener);
	if (fd >= 0)
		close(fd);
	return rc;
}
