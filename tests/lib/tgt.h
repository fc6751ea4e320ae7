/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target for a test: softsta-tgt as a child process on a loopback address of its own, with a
 * directory for its disks. Starting waits for its "listening on" line, stopping for its exit, both
 * with a deadline. The child dies with the test, whatever happens to it.
 *
 * The program's path is $SOFTSTA_TGT (set by Meson), else it is looked up in $PATH.
 */
#ifndef TESTS_LIB_TGT_H
#define TESTS_LIB_TGT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <sys/types.h>

#define TGTPROC_NQN	   "nqn.2026-12.org.softsta:test"
#define TGTPROC_START_MS   10000
#define TGTPROC_STOP_MS	   15000
#define TGTPROC_ARGS_MAX   32
#define TGTPROC_LOG_BYTES  65536
#define TGTPROC_ADDR_BYTES 64
#define TGTPROC_PATH_BYTES 256

struct tgtproc {
	pid_t pid; /* 0: not running */
	char addr[TGTPROC_ADDR_BYTES]; /* where it listens, from its own words */
	uint16_t port;
	/* Subsystem of a program that is not softsta-tgt, with arguments of its own. Else NULL. */
	const char *nqn;
	char dir[TGTPROC_PATH_BYTES]; /* removed by tgtproc_fini */
	char disk[TGTPROC_PATH_BYTES]; /* dir/disk.img */
	char log_path[TGTPROC_PATH_BYTES];
	char rpc_path[TGTPROC_PATH_BYTES]; /* its control socket, unless the arguments name one */
	char log[TGTPROC_LOG_BYTES]; /* what it said, after tgtproc_read_log */
};

/* Make the directory and in it disk.img of @disk_bytes (0: none). 0 or -errno. */
int tgtproc_init(struct tgtproc *tgt, uint64_t disk_bytes);
/* Kill what runs, remove the directory. */
void tgtproc_fini(struct tgtproc *tgt);

/*
 * Start softsta-tgt with @args (NULL-terminated, without the program's name) and wait until it
 * listens. -ECHILD: it ended instead, see tgt->log; -ETIMEDOUT. Nothing runs after a failure.
 */
int tgtproc_start(struct tgtproc *tgt, const char *const *args);
/* --export of disk.img as subsystem TGTPROC_NQN, open to every host, on an address of its choice.
 */
int tgtproc_start_default(struct tgtproc *tgt);

/* Run it with @args until it ends by itself. Its exit status, 128 + signal, or -errno. */
int tgtproc_run(struct tgtproc *tgt, const char *const *args, int timeout_ms);

/*
 * Send @signal and wait for the end. Exit status, 128 + signal, or -ETIMEDOUT (it is killed then).
 */
int tgtproc_stop(struct tgtproc *tgt, int signal, int timeout_ms);
bool tgtproc_is_running(struct tgtproc *tgt);

/* Read what it has said so far into tgt->log. */
void tgtproc_read_log(struct tgtproc *tgt);
/* Wait until it has said @text. 0, -ECHILD when it ended without, or -ETIMEDOUT. */
int tgtproc_wait_log(struct tgtproc *tgt, const char *text, int timeout_ms);
/* User and system time it has used, all threads. */
uint64_t tgtproc_cpu_ns(const struct tgtproc *tgt);

#endif
