/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target that cannot start: it ends with the right exit status, and says why in one line that
 * names the cause.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "group.h"
#include "host.h"

#define RUN_MS	   10000
#define EXIT_FAIL  1
#define EXIT_USAGE 2

/* It has one line to say, an error, with each of @says in it. */
static void assert_error_line(const struct tgtproc *proc, const char *const *says)
{
	const char *end = strchr(proc->log, '\n');

	if (strncmp(proc->log, "softsta-tgt: error: ", 20) || !end || end[1])
		fail_msg("not one error line: %s", proc->log);
	for (; *says; says++)
		if (!strstr(proc->log, *says))
			fail_msg("no \"%s\" in: %s", *says, proc->log);
}

static void assert_fails(int status, const char *const *says, const char *const *args)
{
	int rc = tgtproc_run(&tgt, args, RUN_MS);

	if (rc != status)
		fail_msg("ended with %d, wanted %d: %s", rc, status, tgt.log);
	assert_error_line(&tgt, says);
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void export_is_missing(void **state)
{
	char path[TGTPROC_PATH_BYTES + 16];

	(void)state;
	snprintf(path, sizeof(path), "%s/none.img", tgt.dir);
	assert_fails(EXIT_FAIL, ARGS(path, "no such file"), ARGS("--export", path));
	/* A typing error must not leave a file behind. */
	assert_int_not_equal(access(path, F_OK), 0);
}

static void export_is_no_multiple(void **state)
{
	(void)state;
	assert_int_equal(truncate(tgt.disk, MIB + 100), 0);
	assert_fails(EXIT_FAIL, ARGS(tgt.disk, "multiple of the block size 512"),
		     ARGS("--export", tgt.disk));
	assert_int_equal(truncate(tgt.disk, MIB + 512), 0);
	assert_fails(EXIT_FAIL, ARGS(tgt.disk, "multiple of the block size 4096"),
		     ARGS("--export", tgt.disk, "--block-size", "4096"));
	assert_int_equal(truncate(tgt.disk, 0), 0);
	assert_fails(EXIT_FAIL, ARGS(tgt.disk), ARGS("--export", tgt.disk));
	assert_fails(EXIT_FAIL, ARGS("ram:1000", "multiple"), ARGS("--export", "ram:1000"));
	/* Nor is it made one. */
	assert_int_equal(truncate(tgt.disk, MIB), 0);
	assert_int_equal(tgtproc_start_default(&tgt), 0);
	assert_int_equal(tgtproc_stop(&tgt, SIGTERM, TGTPROC_STOP_MS), 0);
}

static void address_is_not_ours(void **state)
{
	(void)state;
	assert_fails(EXIT_FAIL, ARGS("203.0.113.77", "no interface"),
		     ARGS("--export", "ram:1M", "--listen", "203.0.113.77"));
	assert_fails(EXIT_FAIL, ARGS("2001:db8::1", "no interface"),
		     ARGS("--export", "ram:1M", "--listen", "[2001:db8::1]:4420"));
}

/* Another target has the address: UDP port 4791 of it is taken. */
static void roce_port_is_taken(void **state)
{
	struct tgtproc first;

	(void)state;
	assert_int_equal(tgtproc_init(&first, MIB), 0);
	assert_int_equal(tgtproc_start_default(&first), 0);
	assert_fails(EXIT_FAIL, ARGS(first.addr, "UDP port 4791", "taken"),
		     ARGS("--export", "ram:1M", "--listen", first.addr));
	/* Which does not notice. */
	host_check_served(&first);
	assert_int_equal(tgtproc_stop(&first, SIGTERM, TGTPROC_STOP_MS), 0);
	tgtproc_fini(&first);
}

/* Each process has one loopback address, the first that is free. */
static void loopback_address_is_another(void **state)
{
	(void)state;
	assert_fails(EXIT_FAIL, ARGS("127.77.0.1", "loopback device has another", "0.0.0.0"),
		     ARGS("--export", "ram:1M", "--listen", "127.77.0.1"));
}

static void no_device(void **state)
{
	(void)state;
	if (access("/sys/class/infiniband", F_OK) == 0)
		skip(); /* the kernel has some */
	assert_int_equal(setenv("SOFTROCE_DEVICES", "none", 1), 0);
	assert_fails(EXIT_FAIL, ARGS("no RDMA device", "SOFTROCE_DEVICES"),
		     ARGS("--export", "ram:1M"));
	assert_int_equal(setenv("SOFTROCE_DEVICES", "sr_lo", 1), 0);
}

/* Two targets must not write to one file. */
static void export_is_in_use(void **state)
{
	struct tgtproc first;

	(void)state;
	assert_int_equal(tgtproc_init(&first, MIB), 0);
	assert_int_equal(tgtproc_start_default(&first), 0);
	assert_fails(EXIT_FAIL, ARGS(first.disk, "in use"), ARGS("--export", first.disk));
	host_check_served(&first);
	assert_int_equal(tgtproc_stop(&first, SIGTERM, TGTPROC_STOP_MS), 0);
	tgtproc_fini(&first);
}

/* How a file is read and written is said in one line; memory has nothing to say. */
static void io_is_described(void **state)
{
	const char *line;

	(void)state;
	assert_int_equal(truncate(tgt.disk, MIB), 0);
	assert_int_equal(tgtproc_start(&tgt, ARGS("--export", tgt.disk, "--export", "ram:1M",
						  "--nqn", TGTPROC_NQN)),
			 0);
	tgtproc_read_log(&tgt);
	line = strstr(tgt.log, "softsta-tgt: disk \"export1\": ");
	if (!line || !strstr(line, "O_DIRECT") || strstr(line, "O_DIRECT") > strchr(line, '\n'))
		fail_msg("no word of O_DIRECT for export1: %s", tgt.log);
	assert_null(strstr(tgt.log, "disk \"export2\""));
	assert_int_equal(tgtproc_stop(&tgt, SIGTERM, TGTPROC_STOP_MS), 0);
}

static void wrong_options(void **state)
{
	(void)state;
	assert_fails(EXIT_FAIL, ARGS("--size", "many"),
		     ARGS("--export", tgt.disk, "--size", "many"));
	assert_fails(EXIT_FAIL, ARGS("--nqn", "disk"), ARGS("--export", "ram:1M", "--nqn", "disk"));
	assert_fails(EXIT_FAIL, ARGS("/nowhere.json"), ARGS("--config", "/nowhere.json"));
	assert_fails(EXIT_FAIL, ARGS("--listen", "70000"),
		     ARGS("--export", "ram:1M", "--listen", "127.0.0.1:70000"));
	assert_fails(EXIT_USAGE, ARGS("--exprot", "--help"), ARGS("--exprot", tgt.disk));
	assert_fails(EXIT_USAGE, ARGS("nothing to export"), ARGS("--allow-any-host"));
}

static int setup(void **state)
{
	(void)state;
	return tgtproc_init(&tgt, MIB);
}

static int teardown(void **state)
{
	(void)state;
	tgtproc_fini(&tgt);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(export_is_missing),
		cmocka_unit_test(export_is_no_multiple),
		cmocka_unit_test(address_is_not_ours),
		cmocka_unit_test(roce_port_is_taken),
		cmocka_unit_test(loopback_address_is_another),
		cmocka_unit_test(no_device),
		cmocka_unit_test(export_is_in_use),
		cmocka_unit_test(io_is_described),
		cmocka_unit_test(wrong_options),
	};

	return group_run(tests, setup, teardown);
}
