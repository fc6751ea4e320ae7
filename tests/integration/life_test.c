/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comings and goings: hosts that fall silent, reconnect at once, come two hundred times or are
 * killed; a target that is stopped or killed during writes, and what is on the disk afterwards; and
 * what a target costs that has nothing to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "group.h"
#include "host.h"

#define CHUNK_BYTES  65536u
#define CHUNKS	     64u
#define LIFE_ENTRIES 32u
#define FLOODERS     3u
/* What nobody waits for who is not shut out, on a busy machine too; some 20 ms are normal. */
#define SERVED_NS  5000000000u
#define RECONNECTS 200u
/* Outstanding when the target is stopped. */
#define STOP_WRITES 60u
#define IDLE_MS	    2000
/* 1 % of a core. */
#define IDLE_CPU_NS (IDLE_MS * 10000u)
/* Keep-alive time-outs are checked to a granularity of KAS, a second. */
#define KATO_MS	      2000u
#define KATO_SLACK_MS 6000
/* A host that is disconnected hears of it long before any time-out of its own. */
#define TOLD_MS 2000

static void sleep_ms(int ms)
{
	const struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&ts, NULL);
}

/* A host that says nothing for its KATO is taken down; one that does is not. */
static void keep_alive_expires(void **state)
{
	struct ini_params params = {
		.addr = tgt.addr, .port = tgt.port, .subnqn = TGTPROC_NQN, .kato_ms = KATO_MS};
	struct ini_params io_params;
	struct ini_queue *silent, *silent_io, *alive;
	struct ini_error error = {0};
	uint64_t start_ns;
	uint16_t cntlid;

	(void)state;
	assert_ok(ini_open_connect(&alive, &params, NULL, &error));
	assert_ok(ini_enable(alive, &error));
	assert_ok(ini_open_connect(&silent, &params, &cntlid, &error));
	assert_ok(ini_enable(silent, &error));
	io_params = params;
	io_params.qid = 1;
	io_params.cntlid = cntlid;
	assert_ok(ini_open_connect(&silent_io, &io_params, NULL, &error));
	start_ns = ini_now_ns();
	assert_ok(ini_keep_alive(silent, &error)); /* its last word */
	while (ini_is_connected(silent) &&
	       ini_now_ns() - start_ns < (KATO_MS + KATO_SLACK_MS) * 1000000ull) {
		assert_ok(ini_keep_alive(alive, &error));
		sleep_ms(100);
	}
	assert_false(ini_is_connected(silent));
	assert_true(ini_now_ns() - start_ns >= KATO_MS * 1000000ull);
	/* The I/O queue goes with its controller, and the operator is told why. */
	assert_ok(ini_wait_disconnect(silent_io, TOLD_MS, &error));
	assert_int_equal(tgtproc_wait_log(&tgt, "nothing heard", TOLD_MS), 0);
	assert_ok(ini_keep_alive(alive, &error));
	ini_close(silent_io);
	ini_close(silent);
	ini_close(alive);
}

/* One whose admin queue is silent, but which does I/O, lives on (CTRATT.TBKAS). */
static void io_keeps_alive(void **state)
{
	struct ini_params params = {
		.addr = tgt.addr, .port = tgt.port, .subnqn = TGTPROC_NQN, .kato_ms = KATO_MS};
	struct ini_error error = {0};
	struct ini_queue *admin, *io;
	uint64_t start_ns = ini_now_ns();
	uint16_t cntlid;

	(void)state;
	assert_ok(ini_open_connect(&admin, &params, &cntlid, &error));
	assert_ok(ini_enable(admin, &error));
	params.qid = 1;
	params.cntlid = cntlid;
	assert_ok(ini_open_connect(&io, &params, NULL, &error));
	while (ini_now_ns() - start_ns < 3ull * KATO_MS * 1000000) {
		assert_ok(ini_flush(io, 1, &error));
		sleep_ms(100);
	}
	assert_true(ini_is_connected(admin));
	/* And then it falls silent: two times at most, since only whole ones are looked at. */
	assert_ok(ini_wait_disconnect(admin, 2 * KATO_MS + KATO_SLACK_MS, &error));
	ini_close(io);
	ini_close(admin);
}

/* The same queue id again before the target noticed that the old queue is gone (U11). */
static void fast_reconnect(void **state)
{
	struct ini_error error = {0};
	struct ini_params params;
	struct host host;
	unsigned int i;

	(void)state;
	host_connect(&host, &tgt, 8, 4096);
	params = host_io_params(&host, 1, 8, 4096);
	for (i = 0; i < 20; i++) {
		if (i % 2)
			ini_abandon(host.io);
		else
			ini_close(host.io);
		host.io = NULL;
		assert_ok(ini_open_connect(&host.io, &params, NULL, &error));
		assert_ok(ini_flush(host.io, host.nsid, &error));
	}
	host_disconnect(&host);
	host_check_served(&tgt);
}

static void many_connects(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < RECONNECTS; i++)
		host_check_served(&tgt);
}

/* ---- writers ---- */

/* Keep the queue full of writes to the upper half of the disk, or of @opcode, until it ends. */
static void write_on(struct host *host, uint8_t opcode)
{
	struct ini_cmd cmd = {.data = INI_DATA_KEYED, .bytes = CHUNK_BYTES};
	uint32_t blocks = CHUNK_BYTES / host->block_bytes;
	struct ini_error error = {0};
	struct ini_done done[8];
	uint64_t turn = 0;
	int n;

	for (;;) {
		while (ini_outstanding(host->io) + 1 < LIFE_ENTRIES) {
			uint64_t lba = host->blocks / 2 + turn++ % CHUNKS * blocks;

			cmd.tag = INI_TAG_ANY;
			ini_sqe_rw(&cmd.sqe, opcode, host->nsid, lba, blocks);
			if (ini_submit(host->io, &cmd, &error))
				return;
		}
		n = ini_wait(host->io, done, 8, 10000, &error);
		if (n < 0)
			return;
	}
}

/* This program as a writer (see main), for a soft device does not live on in a forked child. */
static void exec_writer(int ready, uint8_t opcode)
{
	char port[8], fd[12], op[4];

	snprintf(port, sizeof(port), "%u", tgt.port);
	snprintf(fd, sizeof(fd), "%d", ready);
	snprintf(op, sizeof(op), "%u", opcode);
	execl("/proc/self/exe", "writer", tgt.addr, port, fd, op, (char *)NULL);
	_exit(127);
}

/* Write without end; tell on file descriptor @ready when it has begun. */
static int be_writer(const char *addr, const char *port, const char *ready, const char *opcode)
{
	struct host host;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(tgt.addr, sizeof(tgt.addr), "%s", addr);
	tgt.port = (uint16_t)strtoul(port, NULL, 10);
	host_connect(&host, &tgt, LIFE_ENTRIES, CHUNK_BYTES);
	if (write((int)strtol(ready, NULL, 10), "", 1) == 1)
		write_on(&host, (uint8_t)strtoul(opcode, NULL, 10));
	ini_abandon(host.io);
	ini_abandon(host.admin);
	return 0;
}

/* A process of its own that is writing when this returns. */
static pid_t start_writer_of(uint8_t opcode)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		exec_writer(ready[1], opcode);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	sleep_ms(100);
	return pid;
}

static pid_t start_writer(void)
{
	return start_writer_of(nvme_cmd_write);
}

static void reap(pid_t pid)
{
	int status;

	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void host_killed_during_writes(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		reap(start_writer());
		host_check_served(&tgt);
	}
}

/* Hosts that keep the control plane busy with what it has to refuse do not shut out others. */
static void served_during_a_flood(void **state)
{
	pid_t flooders[FLOODERS];
	uint64_t start_ns, took_ns, longest_ns = 0;
	size_t i;

	(void)state;
	for (i = 0; i < FLOODERS; i++)
		flooders[i] = start_writer_of(0xc0);
	for (i = 0; i < 10; i++) {
		start_ns = ini_now_ns();
		host_check_served(&tgt);
		took_ns = ini_now_ns() - start_ns;
		longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
	}
	print_message("served within %llu ms\n", (unsigned long long)longest_ns / 1000000);
	assert_true(longest_ns < SERVED_NS);
	for (i = 0; i < FLOODERS; i++)
		reap(flooders[i]);
}

static void write_and_flush(uint32_t seed)
{
	static uint8_t chunk[CHUNK_BYTES];
	struct ini_error error = {0};
	struct host host;
	uint32_t i;

	host_connect(&host, &tgt, 8, CHUNK_BYTES);
	for (i = 0; i < CHUNKS; i++) {
		pattern_fill(chunk, CHUNK_BYTES, (uint64_t)i * CHUNK_BYTES, seed);
		assert_ok(host_rw(&host, nvme_cmd_write, INI_DATA_KEYED,
				  (uint64_t)i * CHUNK_BYTES / host.block_bytes,
				  CHUNK_BYTES / host.block_bytes, chunk, &error));
	}
	assert_ok(ini_flush(host.io, host.nsid, &error));
	host_disconnect(&host);
}

static void assert_on_disk(uint32_t seed)
{
	static uint8_t chunk[CHUNK_BYTES];
	uint32_t i;

	for (i = 0; i < CHUNKS; i++) {
		disk_read(&tgt, (uint64_t)i * CHUNK_BYTES, chunk, CHUNK_BYTES);
		assert_true(pattern_is(chunk, CHUNK_BYTES, (uint64_t)i * CHUNK_BYTES, seed));
	}
}

static void target_stopped_during_writes(void **state)
{
	pid_t writer;
	int status;

	(void)state;
	write_and_flush(11);
	writer = start_writer();
	status = tgtproc_stop(&tgt, SIGTERM, TGTPROC_STOP_MS);
	reap(writer);
	if (status)
		fail_msg("the target ended with %d: %s", status, tgt.log);
	assert_on_disk(11);
	assert_int_equal(tgtproc_start_default(&tgt), 0);
	host_check_served(&tgt);
}

/* The signals of an operator, a terminal that goes away and a service manager. */
static void every_stop_signal_is_orderly(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		assert_int_equal(tgtproc_stop(&tgt, signals[i], TGTPROC_STOP_MS), 0);
		tgtproc_read_log(&tgt);
		assert_non_null(strstr(tgt.log, "stopped"));
		assert_int_equal(tgtproc_start_default(&tgt), 0);
	}
}

/* Everything that was submitted is answered with success. */
static void check_answered(struct host *host, unsigned int count)
{
	struct ini_error error = {0};
	struct ini_done done[8];
	unsigned int answered = 0;
	int n, i;

	while (answered < count && (n = ini_wait(host->io, done, 8, TOLD_MS, &error)) >= 0) {
		for (i = 0; i < n; i++)
			assert_int_equal(ini_cqe_status(&done[i].cqe), NVME_SC_SUCCESS);
		answered += (unsigned int)n;
	}
	assert_int_equal(answered, count);
}

/* A target that is stopped tells its hosts, and before that answers what they have in flight. */
static void check_stop(int after_ms)
{
	struct ini_cmd cmd = {.data = INI_DATA_KEYED, .bytes = CHUNK_BYTES};
	struct ini_error error = {0};
	struct host busy, idle;
	unsigned int i;
	int status;

	host_connect(&busy, &tgt, 64, CHUNK_BYTES);
	host_connect(&idle, &tgt, 8, 4096);
	for (i = 0; i < STOP_WRITES; i++) {
		uint32_t blocks = CHUNK_BYTES / busy.block_bytes;

		cmd.tag = INI_TAG_ANY;
		ini_sqe_rw(&cmd.sqe, nvme_cmd_write, busy.nsid,
			   busy.blocks / 2 + (uint64_t)i * blocks, blocks);
		assert_ok(ini_submit(busy.io, &cmd, &error));
	}
	sleep_ms(after_ms);
	status = tgtproc_stop(&tgt, SIGTERM, TGTPROC_STOP_MS);
	if (status)
		fail_msg("the target ended with %d: %s", status, tgt.log);
	check_answered(&busy, STOP_WRITES);
	assert_ok(ini_wait_disconnect(busy.io, TOLD_MS, &error));
	assert_ok(ini_wait_disconnect(busy.admin, TOLD_MS, &error));
	assert_ok(ini_wait_disconnect(idle.io, TOLD_MS, &error));
	assert_ok(ini_wait_disconnect(idle.admin, TOLD_MS, &error));
	ini_abandon(busy.io);
	ini_abandon(busy.admin);
	ini_abandon(idle.io);
	ini_abandon(idle.admin);
	assert_int_equal(tgtproc_start_default(&tgt), 0);
	host_check_served(&tgt);
}

static void hosts_are_told_of_the_stop(void **state)
{
	int after_ms;

	(void)state;
	for (after_ms = 0; after_ms < 3; after_ms++)
		check_stop(after_ms);
}

static void target_killed_during_writes(void **state)
{
	static uint8_t chunk[CHUNK_BYTES];
	struct ini_error error = {0};
	struct host host;
	pid_t writer;

	(void)state;
	write_and_flush(12);
	writer = start_writer();
	assert_int_equal(tgtproc_stop(&tgt, SIGKILL, TGTPROC_STOP_MS), 128 + SIGKILL);
	reap(writer);
	assert_on_disk(12);
	assert_int_equal(tgtproc_start_default(&tgt), 0);
	host_connect(&host, &tgt, 8, CHUNK_BYTES);
	assert_ok(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, 0, CHUNK_BYTES / host.block_bytes,
			  chunk, &error));
	assert_true(pattern_is(chunk, CHUNK_BYTES, 0, 12));
	host_disconnect(&host);
}

/* With a host connected and without. */
static void idle_costs_nothing(void **state)
{
	struct host host;
	uint64_t start_ns, alone_ns, with_host_ns;

	(void)state;
	sleep_ms(500);
	start_ns = tgtproc_cpu_ns(&tgt);
	sleep_ms(IDLE_MS);
	alone_ns = tgtproc_cpu_ns(&tgt) - start_ns;

	host_connect(&host, &tgt, 128, 4096);
	sleep_ms(500);
	start_ns = tgtproc_cpu_ns(&tgt);
	sleep_ms(IDLE_MS);
	with_host_ns = tgtproc_cpu_ns(&tgt) - start_ns;
	host_disconnect(&host);

	print_message("idle for %d ms: %llu us of CPU alone, %llu us with a host\n", IDLE_MS,
		      (unsigned long long)alone_ns / 1000, (unsigned long long)with_host_ns / 1000);
	assert_true(start_ns > 0);
	assert_true(alone_ns < IDLE_CPU_NS);
	assert_true(with_host_ns < IDLE_CPU_NS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keep_alive_expires),
		cmocka_unit_test(io_keeps_alive),
		cmocka_unit_test(fast_reconnect),
		cmocka_unit_test(many_connects),
		cmocka_unit_test(host_killed_during_writes),
		cmocka_unit_test(served_during_a_flood),
		cmocka_unit_test(target_stopped_during_writes),
		cmocka_unit_test(every_stop_signal_is_orderly),
		cmocka_unit_test(hosts_are_told_of_the_stop),
		cmocka_unit_test(target_killed_during_writes),
		cmocka_unit_test(idle_costs_nothing),
	};

	if (argc == 5)
		return be_writer(argv[1], argv[2], argv[3], argv[4]);
	return group_run(tests, tgt_setup, tgt_teardown);
}
