/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disks that fail in every way we know: what the host is told, that the disk beside it goes on, and
 * that a reset brings it back with what was written. The target's clock is set forward by a signal,
 * so that nobody has to wait for the back-end's time-out.
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
#include <time.h>

#include "group.h"
#include "host.h"

#define BLOCK	    512u
#define LBA	    8u
#define TAG	    3
#define QUIET_READS 20u
#define ANSWER_MS   15000u
#define LATE_LINE   "disk \"EE_file\": does not answer in time"
#define MEDIA(sc)   (NVME_SCT_MEDIA << NVME_SCT_SHIFT | (sc))

/* The host with the disk that fails, namespace 1, and the one with the other, namespace 2. */
static struct host failing, other;

static int stactl(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int stactl(const char *fmt, ...)
{
	char words[512], command[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	snprintf(command, sizeof(command), "'%s' -s '%s' %s >/dev/null", getenv("SOFTSTA_STACTL"),
		 tgt.rpc_path, words);
	return system(command);
}

static void inject(const char *io_type, const char *error_type)
{
	assert_int_equal(stactl("rpc bdev_error_inject_error '{\"name\": \"EE_file\","
				" \"io_type\": \"%s\", \"error_type\": \"%s\"}'",
				io_type, error_type),
			 0);
}

static unsigned int late_lines(void)
{
	unsigned int n = 0;

	tgtproc_read_log(&tgt);
	for (const char *at = tgt.log; (at = strstr(at, LATE_LINE)); at++)
		n++;
	return n;
}

static void rw(struct host *host, uint8_t opcode, uint64_t lba, void *data)
{
	struct ini_error error = {0};

	assert_ok(host_rw(host, opcode, INI_DATA_KEYED, lba, 1, data, &error));
}

static void write_pattern(struct host *host, uint32_t seed)
{
	uint8_t data[BLOCK];

	pattern_fill(data, BLOCK, 0, seed);
	rw(host, nvme_cmd_write, LBA, data);
}

static void assert_pattern(struct host *host, uint32_t seed)
{
	uint8_t data[BLOCK] = {0};

	rw(host, nvme_cmd_read, LBA, data);
	assert_true(pattern_is(data, BLOCK, 0, seed));
}

static void submit(uint8_t opcode)
{
	struct ini_cmd cmd = {.tag = TAG, .data = INI_DATA_KEYED, .bytes = BLOCK};
	struct ini_error error = {0};

	ini_sqe_rw(&cmd.sqe, opcode, 1, LBA + 1, 1);
	assert_ok(ini_submit(failing.io, &cmd, &error));
}

/* The status of what submit() sent; the other disk is read meanwhile. */
static uint16_t answer(uint32_t seed)
{
	uint64_t until = ini_now_ns() + ANSWER_MS * 1000000ull;
	struct ini_error error = {0};
	struct ini_done done;
	int n;

	do {
		assert_pattern(&other, seed);
		n = ini_wait(failing.io, &done, 1, 50, &error);
	} while (n == -ETIMEDOUT && ini_now_ns() < until);
	if (n != 1)
		fail_msg("no answer: %d, %s: %s", n, error.step, error.text);
	assert_int_equal(done.tag, TAG);
	return ini_cqe_status(&done.cqe);
}

static void assert_no_answer(uint32_t seed)
{
	struct ini_error error = {0};
	struct ini_done done;

	for (unsigned int i = 0; i < QUIET_READS; i++)
		assert_pattern(&other, seed);
	assert_int_equal(ini_poll(failing.io, &done, 1, &error), 0);
}

static void assert_late_line(unsigned int wanted)
{
	const struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};
	unsigned int n = 0;

	for (unsigned int i = 0; i < 250 && (n = late_lines()) < wanted; i++)
		nanosleep(&nap, NULL);
	assert_int_equal(n, wanted);
}

static const struct {
	const char *io_type, *error_type;
	uint8_t opcode;
	bool is_late; /* it is the back-end's time-out that ends the command */
	uint16_t status;
} faults[] = {
	{"read", "failure", nvme_cmd_read, false, MEDIA(NVME_SC_READ_ERROR)},
	{"write", "failure", nvme_cmd_write, false, MEDIA(NVME_SC_WRITE_FAULT)},
	{"all", "pending", nvme_cmd_read, true, NVME_SC_INTERNAL},
	{"write", "pending", nvme_cmd_write, true, NVME_SC_INTERNAL},
	{"all", "wrong_phase", nvme_cmd_read, true, NVME_SC_INTERNAL},
	{"all", "unknown_cid", nvme_cmd_write, true, NVME_SC_INTERNAL},
	{"all", "twice", nvme_cmd_read, false, NVME_SC_SUCCESS},
	{"all", "fatal", nvme_cmd_read, true, NVME_SC_INTERNAL},
	{"all", "gone", nvme_cmd_read, true, NVME_SC_INTERNAL},
	{"all", "reset", nvme_cmd_read, true, NVME_SC_INTERNAL},
};

static void check_fault(unsigned int i)
{
	unsigned int lines = late_lines();
	uint16_t status;

	print_message("%s of %s\n", faults[i].error_type, faults[i].io_type);
	write_pattern(&failing, i);
	write_pattern(&other, i + 1);
	inject(faults[i].io_type, faults[i].error_type);
	submit(faults[i].opcode);
	if (faults[i].is_late) {
		assert_no_answer(i + 1);
		assert_int_equal(kill(tgt.pid, SIGUSR2), 0);
	}
	status = answer(i + 1);
	if (status != faults[i].status)
		fail_msg("status 0x%x, wanted 0x%x", status, faults[i].status);
	assert_late_line(lines + faults[i].is_late);
	assert_int_equal(stactl("drive reset EE_file"), 0);
	assert_pattern(&failing, i);
	write_pattern(&failing, i + 100);
	assert_pattern(&failing, i + 100);
	assert_pattern(&other, i + 1);
}

static void every_fault(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		check_fault(i);
}

/* "num" of them, and "clear" ends it before. */
static void as_often_as_told(void **state)
{
	static const char many[] = "rpc bdev_error_inject_error '{\"name\": \"EE_file\","
				   " \"io_type\": \"read\", \"error_type\": \"failure\","
				   " \"num\": 3}'";
	struct ini_error error = {0};
	uint8_t data[BLOCK];

	(void)state;
	assert_int_equal(stactl("%s", many), 0);
	write_pattern(&failing, 1);
	for (unsigned int i = 0; i < 3; i++)
		assert_status(host_rw(&failing, nvme_cmd_read, INI_DATA_KEYED, LBA, 1, data,
				      &error),
			      MEDIA(NVME_SC_READ_ERROR));
	assert_pattern(&failing, 1);

	assert_int_equal(stactl("%s", many), 0);
	assert_status(host_rw(&failing, nvme_cmd_read, INI_DATA_KEYED, LBA, 1, data, &error),
		      MEDIA(NVME_SC_READ_ERROR));
	assert_int_equal(stactl("rpc bdev_error_inject_error '{\"name\": \"EE_file\","
				" \"io_type\": \"clear\"}'"),
			 0);
	assert_pattern(&failing, 1);
}

static void wrong_injections(void **state)
{
	static const char *const wrong[] = {
		"{\"name\": \"EE_file\", \"io_type\": \"read\"}",
		"{\"name\": \"EE_file\", \"io_type\": \"all\", \"error_type\": \"fire\"}",
		"{\"name\": \"EE_file\", \"io_type\": \"none\", \"error_type\": \"failure\"}",
		"{\"name\": \"EE_file\", \"io_type\": \"read\", \"error_type\": \"fatal\"}",
		"{\"num\": 0, \"name\": \"EE_file\", \"io_type\": \"all\", \"error_type\": \"twice\"}",
		"{\"name\": \"nobody\", \"io_type\": \"all\", \"error_type\": \"failure\"}",
		"{\"name\": \"slow\", \"io_type\": \"all\", \"error_type\": \"failure\"}",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_not_equal(
			stactl("rpc bdev_error_inject_error '%s' 2>/dev/null", wrong[i]), 0);
	write_pattern(&failing, 9);
	assert_pattern(&failing, 9);
}

static uint64_t time_of(uint8_t opcode, void *data)
{
	uint64_t start = ini_now_ns();

	rw(&other, opcode, LBA, data);
	return (ini_now_ns() - start) / 1000;
}

/* bdev_delay_create: 20 ms for a read, 60 ms for a write. */
static void slow_disk(void **state)
{
	uint8_t data[BLOCK] = {1};
	uint64_t written, was_read;

	(void)state;
	other.nsid = 3;
	written = time_of(nvme_cmd_write, data);
	was_read = time_of(nvme_cmd_read, data);
	other.nsid = 2;
	assert_in_range(written, 60000, 2000000);
	assert_in_range(was_read, 20000, 2000000);
}

/* A command that is never answered does not keep the target from ending. */
static void stop_while_stuck(void **state)
{
	struct ini_error error = {0};
	struct ini_done done;

	(void)state;
	inject("all", "pending");
	submit(nvme_cmd_write);
	assert_int_equal(tgtproc_stop(&tgt, SIGTERM, TGTPROC_STOP_MS), 0);
	/* What has no answer has none: the host sends it again to whoever comes next. */
	assert_int_equal(ini_wait(failing.io, &done, 1, ANSWER_MS, &error), -ECONNRESET);
	tgtproc_read_log(&tgt);
	assert_null(strstr(tgt.log, "does not stop"));
}

static int start(void)
{
	static const char form[] =
		"{\"subsystems\": [{\"subsystem\": \"bdev\", \"config\": ["
		"{\"method\": \"bdev_aio_create\","
		" \"params\": {\"name\": \"file\", \"filename\": \"%s\"}},"
		"{\"method\": \"bdev_error_create\", \"params\": {\"base_name\": \"file\"}},"
		"{\"method\": \"bdev_malloc_create\","
		" \"params\": {\"name\": \"mem\", \"num_blocks\": 2048, \"block_size\": 512}},"
		"{\"method\": \"bdev_malloc_create\","
		" \"params\": {\"name\": \"fast\", \"num_blocks\": 2048, \"block_size\": 512}},"
		"{\"method\": \"bdev_delay_create\","
		" \"params\": {\"base_bdev_name\": \"fast\", \"name\": \"slow\","
		" \"avg_read_latency\": 20000, \"avg_write_latency\": 60000}}]},"
		"{\"subsystem\": \"nvmf\", \"config\": ["
		"{\"method\": \"nvmf_create_subsystem\","
		" \"params\": {\"nqn\": \"" TGTPROC_NQN "\", \"allow_any_host\": true}},"
		"{\"method\": \"nvmf_subsystem_add_ns\", \"params\": {\"nqn\": \"" TGTPROC_NQN
		"\", \"namespace\": {\"bdev_name\": \"EE_file\", \"nsid\": 1}}},"
		"{\"method\": \"nvmf_subsystem_add_ns\", \"params\": {\"nqn\": \"" TGTPROC_NQN
		"\", \"namespace\": {\"bdev_name\": \"mem\", \"nsid\": 2}}},"
		"{\"method\": \"nvmf_subsystem_add_ns\", \"params\": {\"nqn\": \"" TGTPROC_NQN
		"\", \"namespace\": {\"bdev_name\": \"slow\", \"nsid\": 3}}},"
		"{\"method\": \"nvmf_subsystem_add_listener\", \"params\": {\"nqn\": \"" TGTPROC_NQN
		"\", \"listen_address\": {\"trtype\": \"RDMA\", \"traddr\": \"0.0.0.0\"}}}]}]}";
	char path[TGTPROC_PATH_BYTES + 16];
	FILE *file;

	snprintf(path, sizeof(path), "%s/config.json", tgt.dir);
	file = fopen(path, "we");
	if (!file || fprintf(file, form, tgt.disk) < 0 || fclose(file))
		return -1;
	return tgtproc_start(&tgt, (const char *const[]){"--config", path, NULL});
}

static int setup(void **state)
{
	(void)state;
	if (tgtproc_init(&tgt, MIB) || start())
		return -1;
	host_connect(&failing, &tgt, 16, HOST_SLOT_BYTES);
	host_connect(&other, &tgt, 16, HOST_SLOT_BYTES);
	failing.nsid = 1;
	other.nsid = 2;
	failing.block_bytes = other.block_bytes = BLOCK;
	write_pattern(&other, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ini_abandon(failing.io);
	ini_abandon(failing.admin);
	ini_abandon(other.io);
	ini_abandon(other.admin);
	tgtproc_fini(&tgt);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: the kernel's timers know nothing of a clock that was set forward. */
		cmocka_unit_test(slow_disk),	    cmocka_unit_test(as_often_as_told),
		cmocka_unit_test(wrong_injections), cmocka_unit_test(every_fault),
		cmocka_unit_test(stop_while_stuck),
	};

	return group_run(tests, setup, teardown);
}
