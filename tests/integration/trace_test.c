/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an administrator sees of a target whose libraries log all they have: a host that comes, what
 * it asks, and how it goes. The level is set as its manual says.
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

enum {
	SAID_MS = 20000,
	ENTRIES = 16,
	LBA = 24,
	BLOCKS = 8,
};

static void says(const char *text)
{
	int rc = tgtproc_wait_log(&tgt, text, SAID_MS);

	if (rc)
		fail_msg("%d, no \"%s\" in: %s", rc, text, tgt.log);
}

static int setup(void **state)
{
	int rc;

	setenv("DOCA_LOG_LEVEL_SDK", "TRACE", 1);
	rc = tgt_setup(state);
	unsetenv("DOCA_LOG_LEVEL_SDK");
	return rc;
}

static void objects_of_the_target(void **state)
{
	(void)state;
	says("[DEBUG][sta.subsystem] subsystem " TGTPROC_NQN ": created\n");
	says("[DEBUG][sta.ns] subsystem " TGTPROC_NQN " nsid 1: added, back-end 0 ");
	says("[DEBUG][sta.be] back-end 0 queue 0: added, ");
}

static void a_host_from_connect_to_its_end(void **state)
{
	static uint8_t block[HOST_SLOT_BYTES];
	struct ini_error error = {0};
	struct host host;
	char text[160];

	(void)state;
	host_connect(&host, &tgt, ENTRIES, HOST_SLOT_BYTES);
	snprintf(text, sizeof(text), ": connect qid 1 sqsize %d cntlid 0x%04x hostnqn \"nqn.",
		 ENTRIES - 1, host.cntlid);
	says(text);
	says("\" subnqn \"" TGTPROC_NQN "\" hostid ");
	snprintf(text, sizeof(text), ": connect qid 1 accepted, cntlid %u, sq size %d, eu ",
		 host.cntlid, ENTRIES);
	says(text);
	assert_ok(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, LBA, BLOCKS, block, &error));
	snprintf(text, sizeof(text),
		 " opcode 0x02 (read) nsid 1 slba %d blocks %d length %u: "
		 "status 0x0000, eu ",
		 LBA, BLOCKS, BLOCKS * host.block_bytes);
	says(text);
	host_disconnect(&host);
	says(": freed, handle ");
}

/* This is the target's own log, whatever the level of the libraries'. */
static void a_disk_that_fails(void **state)
{
	static uint8_t block[HOST_SLOT_BYTES];
	struct ini_error error = {0};
	struct host host;

	(void)state;
	host_connect(&host, &tgt, ENTRIES, HOST_SLOT_BYTES);
	assert_int_equal(truncate(tgt.disk, 0), 0);
	for (int i = 0; i < 30; i++)
		assert_int_not_equal(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, LBA, BLOCKS,
					     block, &error),
				     0);
	says("softsta-tgt: disk export1: a command failed at lba 24 with status 0x");
	says(" (opcode 0x02, namespace 1 of " TGTPROC_NQN ")\n");
	host_disconnect(&host);
	says("more disk errors in 10 seconds\n");
	assert_int_equal(truncate(tgt.disk, HOST_DISK_BYTES), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_of_the_target),
		cmocka_unit_test(a_host_from_connect_to_its_end),
		cmocka_unit_test(a_disk_that_fails),
	};

	return group_run(tests, setup, tgt_teardown);
}
