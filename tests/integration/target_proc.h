/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softsta-tgt as a child process on the loopback device. Its log is kept; the loopback address
 * that it took is read from it, so that any number of them run side by side.
 */
#ifndef TEST_TARGET_PROC_H
#define TEST_TARGET_PROC_H

#include <stddef.h>
#include <sys/types.h>

struct target_proc {
	pid_t pid;
	int log_fd;
	char addr[64]; /* "127.0.0.x" */
	char log[65536];
	size_t log_len;
};

/* Path of the program, set by main() from its first argument. */
extern const char *target_program;

/* Start with the arguments given (NULL ends them); fails the test unless it listens in time. */
void target_start(struct target_proc *t, ...);

/* Start what is expected to fail: its exit status; the log is in t->log. */
int target_run(struct target_proc *t, ...);

/* Wait (bounded) until the log has @text in it; fails the test if not. */
void target_expect_log(struct target_proc *t, const char *text);

/* SIGTERM; its exit status, 128 + signal if it was killed, fails the test when it does not end. */
int target_stop(struct target_proc *t);

/* SIGKILL and forget. */
void target_kill(struct target_proc *t);

#endif
