/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that grows or shrinks while hosts use it: they are told, see the new size, and reach all
 * of it and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "group.h"
#include "host.h"

#define BLOCK	  512u
#define DISK_MIB  8u
#define TOLD_MS	  5000
#define QUIET_MS  2500
#define EVENT_TAG 7

/* Feature 0Bh, and a request for the event. */
static void listen_for_changes(struct host *host)
{
	struct ini_cmd enable = {.tag = INI_TAG_ANY,
				 .sqe = {.opcode = nvme_admin_set_features,
					 .cdw10 = htole32(NVME_FEAT_FID_ASYNC_EVENT),
					 .cdw11 = htole32(NVME_CTRL_OAES_NA)}};
	struct ini_error error = {0};

	assert_ok(ini_exec(host->admin, &enable, NULL, &error));
}

static void ask_for_event(struct host *host)
{
	struct ini_cmd aer = {.tag = EVENT_TAG, .sqe = {.opcode = nvme_admin_async_event}};
	struct ini_error error = {0};

	assert_ok(ini_submit(host->admin, &aer, &error));
}

/* The event comes, names the page, and that names namespace 1 and no other. */
static void assert_told(struct host *host)
{
	struct ini_error error = {0};
	struct ini_done done;
	uint32_t changed[1024];
	int n = ini_wait(host->admin, &done, 1, TOLD_MS, &error);

	if (n != 1)
		fail_msg("no event: %s: %s", error.step, error.text);
	assert_int_equal(done.tag, EVENT_TAG);
	assert_int_equal(ini_cqe_status(&done.cqe), NVME_SC_SUCCESS);
	assert_int_equal(le32toh(done.cqe.dw0), NVME_AER_NOTICE | NVME_AER_NOTICE_NS_CHANGED << 8 |
							NVME_LOG_LID_CHANGED_NS << 16);
	assert_ok(ini_get_log(host->admin, NVME_LOG_LID_CHANGED_NS, NVME_NSID_ALL, 0, changed,
			      sizeof(changed), &error));
	assert_int_equal(le32toh(changed[0]), 1);
	assert_int_equal(changed[1], 0);
}

static uint64_t blocks_of(struct host *host, uint32_t nsid)
{
	struct ini_error error = {0};
	struct nvme_id_ns ns;

	assert_ok(ini_identify_ns(host->admin, nsid, &ns, &error));
	assert_int_equal(le64toh(ns.ncap), le64toh(ns.nsze));
	return le64toh(ns.nsze);
}

static void resize(uint64_t bytes)
{
	assert_int_equal(truncate(tgt.disk, (off_t)bytes), 0);
}

static void assert_end_is(struct host *host, uint64_t blocks)
{
	uint8_t data[BLOCK], back[BLOCK] = {0};
	struct ini_error error = {0};

	assert_int_equal(blocks_of(host, 1), blocks);
	pattern_fill(data, BLOCK, blocks, 5);
	assert_ok(host_rw(host, nvme_cmd_write, INI_DATA_KEYED, blocks - 1, 1, data, &error));
	assert_ok(host_rw(host, nvme_cmd_read, INI_DATA_KEYED, blocks - 1, 1, back, &error));
	assert_memory_equal(data, back, BLOCK);
	assert_status(host_rw(host, nvme_cmd_write, INI_DATA_KEYED, blocks, 1, data, &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	assert_status(host_rw(host, nvme_cmd_read, INI_DATA_KEYED, blocks, 1, back, &error),
		      GENERIC(NVME_SC_LBA_RANGE));
}

static void grows_and_shrinks(void **state)
{
	static const unsigned int mib[] = {16, 12, 4, 8};
	struct host host;

	(void)state;
	host_connect(&host, &tgt, 16, HOST_SLOT_BYTES);
	assert_end_is(&host, DISK_MIB * MIB / BLOCK);
	listen_for_changes(&host);
	for (unsigned int i = 0; i < sizeof(mib) / sizeof(mib[0]); i++) {
		ask_for_event(&host);
		resize((uint64_t)mib[i] * MIB);
		assert_told(&host);
		assert_end_is(&host, (uint64_t)mib[i] * MIB / BLOCK);
	}
	assert_int_equal(blocks_of(&host, 2), MIB / BLOCK);
	host_disconnect(&host);
}

/* What is not a whole block is not there, and no change of size is no event. */
static void part_of_a_block(void **state)
{
	struct ini_error error = {0};
	struct ini_done done;
	struct host host;

	(void)state;
	host_connect(&host, &tgt, 16, HOST_SLOT_BYTES);
	listen_for_changes(&host);
	ask_for_event(&host);
	resize(DISK_MIB * MIB + BLOCK - 1);
	assert_int_equal(ini_wait(host.admin, &done, 1, QUIET_MS, &error), -ETIMEDOUT);
	resize(DISK_MIB * MIB + BLOCK);
	assert_told(&host);
	assert_end_is(&host, DISK_MIB * MIB / BLOCK + 1);
	ask_for_event(&host);
	resize(DISK_MIB * MIB);
	assert_told(&host);
	host_disconnect(&host);
}

/* A controller that was reset in between still notices. */
static void after_a_reset(void **state)
{
	char command[1024];
	struct host host;

	(void)state;
	host_connect(&host, &tgt, 16, HOST_SLOT_BYTES);
	listen_for_changes(&host);
	snprintf(command, sizeof(command), "'%s' -s '%s' drive reset export1 >/dev/null",
		 getenv("SOFTSTA_STACTL"), tgt.rpc_path);
	assert_int_equal(system(command), 0);
	ask_for_event(&host);
	resize(2 * DISK_MIB * MIB);
	assert_told(&host);
	assert_end_is(&host, 2 * DISK_MIB * MIB / BLOCK);
	host_disconnect(&host);
}

static int setup(void **state)
{
	(void)state;
	if (tgtproc_init(&tgt, DISK_MIB * MIB))
		return -1;
	return tgtproc_start(&tgt,
			     (const char *const[]){"--export", tgt.disk, "--export", "ram:1M",
						   "--nqn", TGTPROC_NQN, "--allow-any-host", NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_shrinks),
		cmocka_unit_test(part_of_a_block),
		cmocka_unit_test(after_a_reset),
	};

	return group_run(tests, setup, tgt_teardown);
}
