/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts of the target in examples/, which $SOFTSTA_TGT is: it serves what the guide says, and ends
 * in order with a host connected. tests/integration/example builds it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "group.h"
#include "host.h"
#include "util/compiler.h"

enum {
	HOSTS = 8, /* EXAMPLE_HOSTS */
	ENTRIES_MAX = 128, /* EXAMPLE_QUEUE_ENTRIES */
	BLOCK = 512,
	SLOT_BYTES = 128 * 1024, /* what MDTS says */
	END_MS = 5000,
};

static uint8_t buffer[SLOT_BYTES], back[SLOT_BYTES];
static struct host last; /* connected until the end of the target */

static int setup(void **state)
{
	int rc = tgtproc_init(&tgt, HOST_DISK_BYTES);

	(void)state;
	tgt.nqn = "nqn.2026-01.org.example:target";
	return rc ? rc : tgtproc_start(&tgt, (const char *const[]){"sr_lo", "0", tgt.disk, NULL});
}

static int teardown(void **state)
{
	int rc = tgt_teardown(state);
	const char *end = strchr(tgt.log, '\n');

	host_disconnect(&last);
	if (rc || (end && end[1]))
		fprintf(stderr, "it ended with %d and said: %s\n", rc, tgt.log);
	return rc || !end || end[1];
}

static void check_write(struct host *host, enum ini_data data, uint64_t lba, uint32_t blocks)
{
	size_t bytes = (size_t)blocks * BLOCK;
	struct ini_error error = {0};

	pattern_fill(buffer, bytes, lba * BLOCK, blocks);
	assert_ok(host_rw(host, nvme_cmd_write, data, lba, blocks, buffer, &error));
	memset(back, 0, bytes);
	assert_ok(host_rw(host, nvme_cmd_read, INI_DATA_KEYED, lba, blocks, back, &error));
	assert_memory_equal(buffer, back, bytes);
	disk_read(&tgt, lba * BLOCK, back, bytes);
	assert_memory_equal(buffer, back, bytes);
}

static void serves_io(void **state)
{
	/* Around a page, two pages, and the first list of pages. */
	static const uint32_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 24, 25, SLOT_BYTES / BLOCK};
	struct ini_error error = {0};
	struct host host;
	size_t i;

	(void)state;
	host_connect(&host, &tgt, ENTRIES_MAX, SLOT_BYTES);
	assert_int_equal(host.block_bytes, BLOCK);
	assert_int_equal(host.blocks, HOST_DISK_BYTES / BLOCK);
	assert_int_equal(host.max_io_bytes, SLOT_BYTES);
	for (i = 0; i < UTIL_ARRAY_SIZE(sizes); i++) {
		check_write(&host, INI_DATA_KEYED, 1000 * i, sizes[i]);
		check_write(&host, INI_DATA_KEYED_INV, host.blocks - sizes[i], sizes[i]);
		if (sizes[i] * BLOCK <= host.incapsule_bytes)
			check_write(&host, INI_DATA_INCAPSULE, 1000 * i + 500, sizes[i]);
	}
	assert_ok(ini_flush(host.io, host.nsid, &error));
	assert_ok(ini_keep_alive(host.admin, &error));
	assert_ok(ini_shutdown(host.admin, &error));
	host_disconnect(&host);
}

static void refuses_what_is_wrong(void **state)
{
	struct ini_cmd cmd = {.tag = INI_TAG_ANY, .sqe.opcode = 0xc0};
	struct ini_error error = {0};
	struct ini_queue *queue;
	struct ini_params params;
	struct host host;

	(void)state;
	host_connect(&host, &tgt, 32, SLOT_BYTES);
	assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, host.blocks, 1, back, &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	assert_status(host_rw(&host, nvme_cmd_write, INI_DATA_KEYED, host.blocks - 1, 2, buffer,
			      &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	host.nsid++;
	assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, 0, 1, back, &error),
		      GENERIC(NVME_SC_INVALID_NS));
	host.nsid--;
	assert_status(ini_exec(host.io, &cmd, NULL, &error), GENERIC(NVME_SC_INVALID_OPCODE));
	cmd = (struct ini_cmd){.tag = INI_TAG_ANY, .sqe.opcode = 0xc0};
	assert_status(ini_exec(host.admin, &cmd, NULL, &error), GENERIC(NVME_SC_INVALID_OPCODE));
	assert_status(ini_connect(host.io, NULL, &error), GENERIC(NVME_SC_CMD_SEQ_ERROR));

	params = host_io_params(&host, 2, 8, 4096);
	params.cntlid++;
	assert_status(ini_open_connect(&queue, &params, NULL, &error),
		      SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM));
	params = host_io_params(&host, 0, 0, 4096);
	params.subnqn = "nqn.2026-01.org.example:other";
	assert_status(ini_open_connect(&queue, &params, NULL, &error),
		      SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM));
	assert_non_null(strstr(error.text, "subsystem NQN"));
	params = host_io_params(&host, 2, ENTRIES_MAX + 1, 4096);
	assert_status(ini_open_connect(&queue, &params, NULL, &error),
		      SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM));
	check_write(&host, INI_DATA_KEYED, 0, 1);
	host_disconnect(&host);
}

/* The data of Connect is not in its capsule: a read task fetches it. */
static void fetches_connect_data(void **state)
{
	struct ini_cmd cmd = {.tag = 0,
			      .data = INI_DATA_KEYED,
			      .bytes = sizeof(struct nvmf_connect_data)};
	struct ini_error error = {0};
	char hostnqn[NVME_NQN_LENGTH];
	struct ini_params params;
	struct host host;
	uint8_t hostid[16];

	(void)state;
	host_connect_admin(&host, &tgt);
	params = host_io_params(&host, 1, 32, SLOT_BYTES);
	assert_ok(ini_open(&host.io, &params, &error));
	ini_host_identity(hostnqn, hostid);
	ini_sqe_connect(&cmd.sqe, 1, 31, 0);
	ini_connect_data(ini_data(host.io, 0), hostid, host.cntlid, tgt.nqn, hostnqn);
	assert_ok(ini_exec(host.io, &cmd, NULL, &error));
	check_write(&host, INI_DATA_KEYED, 0, 8);
	host_disconnect(&host);
}

static void ends_a_host_with_its_admin_queue(void **state)
{
	struct ini_error error = {0};
	struct host host;

	(void)state;
	host_connect(&host, &tgt, 8, 4096);
	ini_close(host.admin);
	host.admin = NULL;
	assert_ok(ini_wait_disconnect(host.io, END_MS, &error));
	host_disconnect(&host);
}

static void outlives_a_killed_host(void **state)
{
	struct ini_error error = {0};
	struct host host;

	(void)state;
	host_connect(&host, &tgt, 32, SLOT_BYTES);
	assert_ok(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, 0, 1, back, &error));
	ini_abandon(host.io);
	ini_abandon(host.admin);
	host_check_served(&tgt);
}

static void has_room_for_so_many(void **state)
{
	struct ini_error error = {0};
	struct host hosts[HOSTS];
	struct ini_queue *queue;
	int i;

	(void)state;
	for (i = 0; i < HOSTS; i++)
		host_connect(&hosts[i], &tgt, 8, 4096);
	assert_int_equal(ini_open(&queue, &hosts[0].params, &error), -ECONNREFUSED);
	for (i = 0; i < HOSTS; i++)
		check_write(&hosts[i], INI_DATA_KEYED, (uint64_t)i, 1);
	host_disconnect(&hosts[3]);
	host_connect(&last, &tgt, 8, 4096);
	check_write(&last, INI_DATA_KEYED, 0, 8);
	hosts[3] = (struct host){0};
	for (i = 0; i < HOSTS; i++)
		host_disconnect(&hosts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(serves_io),
		cmocka_unit_test(refuses_what_is_wrong),
		cmocka_unit_test(fetches_connect_data),
		cmocka_unit_test(ends_a_host_with_its_admin_queue),
		cmocka_unit_test(outlives_a_killed_host),
		cmocka_unit_test(has_room_for_so_many), /* the last: it leaves a host */
	};

	return group_run(tests, setup, teardown);
}
