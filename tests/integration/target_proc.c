/* SPDX-License-Identifier: Apache-2.0 */
/* See target_proc.h. */
#include "target_proc.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	MAX_ARGS = 32,
	TIMEOUT_MS = 20000, /* sanitizers on a busy machine */
};

const char *target_program;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void spawn(struct target_proc *t, va_list ap)
{
	char *argv[MAX_ARGS + 2] = {(char *)target_program};
	int fds[2], n = 1;

	memset(t, 0, sizeof(*t));
	while (n <= MAX_ARGS && (argv[n] = va_arg(ap, char *)))
		n++;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	t->pid = fork();
	assert_true(t->pid >= 0);
	if (t->pid == 0) {
		setenv("SOFTROCE_DEVICES", "sr_lo", 1);
		dup2(fds[1], STDERR_FILENO);
		execv(target_program, argv);
		_exit(127);
	}
	close(fds[1]);
	t->log_fd = fds[0];
}

/* Take what is in the pipe, waiting for it a little. False at its end. */
static bool read_log(struct target_proc *t, int wait_ms)
{
	struct pollfd p = {.fd = t->log_fd, .events = POLLIN};
	ssize_t n;

	if (poll(&p, 1, wait_ms) <= 0)
		return true;
	n = read(t->log_fd, t->log + t->log_len, sizeof(t->log) - 1 - t->log_len);
	if (n <= 0)
		return false;
	t->log_len += (size_t)n;
	t->log[t->log_len] = '\0';
	return true;
}

void target_expect_log(struct target_proc *t, const char *text)
{
	uint64_t until = now_ms() + TIMEOUT_MS;

	while (!strstr(t->log, text)) {
		if (!read_log(t, 100) || now_ms() > until)
			fail_msg("the target does not say \"%s\" but:\n%s", text, t->log);
	}
}

void target_start(struct target_proc *t, ...)
{
	const char *line;
	va_list ap;

	va_start(ap, t);
	spawn(t, ap);
	va_end(ap);
	target_expect_log(t, " on sr_lo\n");
	line = strstr(t->log, "listening on ");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "listening on 0.0.0.0:%*d, %63[0-9.] on sr_lo", t->addr), 1);
}

static int reap(struct target_proc *t)
{
	uint64_t until = now_ms() + TIMEOUT_MS;
	int status;

	while (read_log(t, 100))
		if (now_ms() > until) {
			target_kill(t);
			fail_msg("the target does not end; it said:\n%s", t->log);
		}
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	close(t->log_fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int target_run(struct target_proc *t, ...)
{
	va_list ap;

	va_start(ap, t);
	spawn(t, ap);
	va_end(ap);
	return reap(t);
}

int target_stop(struct target_proc *t)
{
	kill(t->pid, SIGTERM);
	return reap(t);
}

void target_kill(struct target_proc *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	close(t->log_fd);
}
