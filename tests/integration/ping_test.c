/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sta-ping as its users run it, against softsta-tgt in another process: what it prints and with
 * which status it exits, when all is well and when one step fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "group.h"
#include "host.h"

static char output[8192];

/* Run sta-ping with @args in shell syntax; its exit status. Output and errors go to output[]. */
static int ping(const char *args)
{
	const char *program = getenv("SOFTSTA_PING");
	char command[1024];
	size_t bytes;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "exec %s -t 5000 -p %u %s 2>&1",
		 program ? program : "sta-ping", tgt.port, args);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	bytes = fread(output, 1, sizeof(output) - 1, pipe);
	output[bytes] = '\0';
	status = pclose(pipe);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int ping_target(const char *args)
{
	char with_addr[512];

	snprintf(with_addr, sizeof(with_addr), "%s %s", tgt.addr, args);
	return ping(with_addr);
}

static void assert_says(const char *text)
{
	if (!strstr(output, text))
		fail_msg("no \"%s\" in: %s", text, output);
}

static unsigned int lines(void)
{
	unsigned int n = 0;
	const char *p;

	for (p = output; *p; p++)
		n += *p == '\n';
	return n;
}

static void finds_the_subsystem(void **state)
{
	(void)state;
	if (ping_target(""))
		fail_msg("%s", output);
	assert_says("discover ");
	assert_says(TGTPROC_NQN);
	assert_says("connect ");
	assert_says("identify ");
	assert_says("read ");
	assert_says("lba 0 ");
	assert_says(" ms ");
	assert_null(strstr(output, "write"));
}

/* As the target's log has it. The port there counts, not that of -p before it. */
static void address_with_port(void **state)
{
	char args[128];

	(void)state;
	snprintf(args, sizeof(args), "-p 1 %s:%u", tgt.addr, tgt.port);
	if (ping(args))
		fail_msg("%s", output);
	snprintf(args, sizeof(args), "-p 1 [%s]:%u", tgt.addr, tgt.port);
	if (ping(args))
		fail_msg("%s", output);
}

static void named_subsystem_and_count(void **state)
{
	const char *p = output;
	unsigned int reads = 0;

	(void)state;
	if (ping_target("--nqn " TGTPROC_NQN " --count 5 --lba 7"))
		fail_msg("%s", output);
	assert_null(strstr(output, "discover"));
	while ((p = strstr(p, "lba 7 "))) {
		reads++;
		p++;
	}
	assert_int_equal(reads, 5);
}

/* It must write nowhere but at the block it was told, and nowhere at all untold. */
static void writes_only_where_told(void **state)
{
	static uint8_t before[HOST_DISK_BYTES], after[HOST_DISK_BYTES];
	size_t i;

	(void)state;
	disk_read(&tgt, 0, before, sizeof(before));
	assert_int_equal(ping_target("--nqn " TGTPROC_NQN), 0);
	disk_read(&tgt, 0, after, sizeof(after));
	assert_memory_equal(before, after, sizeof(before));

	if (ping_target("--nqn " TGTPROC_NQN " --write-lba 3"))
		fail_msg("%s", output);
	assert_says("write ");
	disk_read(&tgt, 0, after, sizeof(after));
	for (i = 0; i < sizeof(after); i++)
		if (before[i] != after[i])
			assert_int_equal(i / 512, 3);
	assert_memory_not_equal(before + 3 * 512, after + 3 * 512, 512);
}

static void json_report(void **state)
{
	(void)state;
	assert_int_equal(ping_target("--json"), 0);
	assert_int_equal(output[0], '{');
	assert_says("\"ok\":true");
	assert_says("\"step\":\"read\"");
	assert_int_equal(ping_target("--json --nqn nqn.2014-08.org.example:none"), 3);
	assert_says("\"ok\":false");
	assert_says("\"nvme_status\":386"); /* 0x182 */
}

static void names_the_step_that_failed(void **state)
{
	char args[128];

	(void)state;
	/* Nobody there: a REJ must come at once (U04), not silence. */
	snprintf(args, sizeof(args), "%s -p %u -n %s", tgt.addr, tgt.port + 1, TGTPROC_NQN);
	assert_int_equal(ping(args), 3);
	assert_says("sta-ping: connect failed: ");
	assert_says("nobody listens there");
	assert_int_equal(lines(), 1);

	assert_int_equal(ping_target("--nqn nqn.2014-08.org.example:none"), 3);
	assert_says("connect failed: ");
	assert_says("subsystem NQN");
	assert_int_equal(lines(), 1);

	assert_int_equal(ping_target("--nqn " TGTPROC_NQN " --nsid 77"), 5);
	assert_says("namespace failed: namespace 77 is not active");

	assert_int_equal(ping_target("--nqn " TGTPROC_NQN " --lba 99999999"), 7);
	assert_says("read failed: ");
	assert_says("0x080");

	assert_int_equal(ping_target("--nqn " TGTPROC_NQN " --write-lba 99999999"), 8);
	assert_says("write failed: ");
}

static void usage_errors(void **state)
{
	(void)state;
	assert_int_equal(ping(""), 1);
	assert_says("no address");
	assert_int_equal(lines(), 2);
	assert_int_equal(ping("[::1"), 1);
	assert_says("is no ADDRESS[:PORT]");
	assert_int_equal(ping("[::1]x"), 1);
	assert_says("is no ADDRESS[:PORT]");
	assert_int_equal(ping("127.0.0.1:0"), 1);
	assert_says("--port: '0'");
	assert_int_equal(ping("127.0.0.1 127.0.0.2"), 1);
	assert_says("more than one address");
	assert_int_equal(ping_target("--lba x"), 1);
	assert_says("--lba");
	assert_int_equal(ping_target("--nqn ''"), 1);
	assert_int_equal(ping_target("--no-such-option"), 1);
	assert_says("sta-ping: unrecognized option '--no-such-option'\n");
	assert_says("--help");
	assert_int_equal(lines(), 2);
	assert_int_equal(ping("--help"), 0);
	assert_says("usage:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_subsystem),
		cmocka_unit_test(address_with_port),
		cmocka_unit_test(named_subsystem_and_count),
		cmocka_unit_test(writes_only_where_told),
		cmocka_unit_test(json_report),
		cmocka_unit_test(names_the_step_that_failed),
		cmocka_unit_test(usage_errors),
	};

	return group_run(tests, tgt_setup, tgt_teardown);
}
