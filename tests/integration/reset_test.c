/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers behind disks that are reset while a host writes: what fails may be repeated, nothing
 * is lost, and the other disk hears nothing of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "group.h"
#include "host.h"

#define BLOCK	      512u
#define CHUNK_BLOCKS  8u
#define CHUNKS	      128u
#define RESETS	      20u
#define REPEATS	      200000u /* of a command, a bound for a reset that never ends */
#define INTERNAL_PATH (NVME_SCT_PATH << NVME_SCT_SHIFT | NVME_SC_ANA_INTERNAL_PATH_ERROR)

static atomic_bool is_over;

/* A host on a thread of its own, on one namespace. */
struct writer {
	uint32_t nsid;
	bool may_fail; /* with Internal Path Error, which is repeated */
	unsigned int rounds;
	unsigned int repeats;
	char failure[256]; /* "" if all went well */
};

/* @opcode on the chunk at @lba until it is done. */
static bool persist(struct writer *w, struct host *host, uint8_t opcode, uint64_t lba, void *data)
{
	struct ini_error error = {0};

	for (unsigned int i = 0; i < REPEATS; i++) {
		int rc = host_rw(host, opcode, INI_DATA_KEYED, lba, CHUNK_BLOCKS, data, &error);

		if (!rc)
			return true;
		if (rc != -EREMOTEIO || error.nvme_status != INTERNAL_PATH || !w->may_fail) {
			snprintf(w->failure, sizeof(w->failure), "opcode %u: %d, status 0x%x: %s",
				 opcode, rc, error.nvme_status, error.text);
			return false;
		}
		w->repeats++;
	}
	snprintf(w->failure, sizeof(w->failure), "the reset does not end");
	return false;
}

static void *write_on(void *arg)
{
	struct writer *w = arg;
	uint8_t *data = malloc(CHUNK_BLOCKS * BLOCK);
	struct host host;

	host_connect(&host, &tgt, 16, HOST_SLOT_BYTES);
	host.nsid = w->nsid;
	host.block_bytes = BLOCK;
	while ((!atomic_load(&is_over) || !w->rounds) && !w->failure[0]) {
		for (unsigned int i = 0; i < CHUNKS && !w->failure[0]; i++) {
			uint64_t lba = (uint64_t)i * CHUNK_BLOCKS;

			pattern_fill(data, CHUNK_BLOCKS * BLOCK, lba, w->rounds);
			if (!persist(w, &host, nvme_cmd_write, lba, data))
				break;
			memset(data, 0, CHUNK_BLOCKS * BLOCK);
			if (persist(w, &host, nvme_cmd_read, lba, data) &&
			    !pattern_is(data, CHUNK_BLOCKS * BLOCK, lba, w->rounds))
				snprintf(w->failure, sizeof(w->failure), "wrong data at %u", i);
		}
		w->rounds++;
	}
	host_disconnect(&host);
	free(data);
	return NULL;
}

static int stactl(const char *words)
{
	char command[1024];

	snprintf(command, sizeof(command), "'%s' -s '%s' %s >/dev/null", getenv("SOFTSTA_STACTL"),
		 tgt.rpc_path, words);
	return system(command);
}

static void reset_under_load(void **state)
{
	struct writer reset = {.nsid = 1, .may_fail = true}, other = {.nsid = 2};
	pthread_t threads[2];
	int status = 0;

	(void)state;
	atomic_store(&is_over, false);
	assert_int_equal(pthread_create(&threads[0], NULL, write_on, &reset), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, write_on, &other), 0);
	for (unsigned int i = 0; i < RESETS && !status; i++)
		status = stactl("drive reset export1");
	atomic_store(&is_over, true);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert_int_equal(status, 0);
	if (reset.failure[0] || other.failure[0])
		fail_msg("the disk that was reset: %s; the other: %s", reset.failure,
			 other.failure);
	print_message("%u rounds, %u commands repeated\n", reset.rounds, reset.repeats);
	host_check_served(&tgt);
}

/* What stood in memory alone is there still. */
static void memory_survives(void **state)
{
	uint8_t data[BLOCK], back[BLOCK] = {0};
	struct ini_error error = {0};
	struct host host;

	(void)state;
	pattern_fill(data, sizeof(data), 0, 77);
	host_connect(&host, &tgt, 16, HOST_SLOT_BYTES);
	host.nsid = 2;
	assert_ok(host_rw(&host, nvme_cmd_write, INI_DATA_KEYED, 100, 1, data, &error));
	assert_int_equal(stactl("drive reset export2"), 0);
	assert_ok(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, 100, 1, back, &error));
	assert_memory_equal(data, back, sizeof(data));
	host_disconnect(&host);
}

static void an_unknown_disk(void **state)
{
	(void)state;
	assert_int_not_equal(stactl("drive reset export9 2>/dev/null"), 0);
}

/* SIGTERM in the middle of a reset. */
static void stop_meanwhile(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(stactl("rpc bdev_nvme_reset_controller '{\"name\":\"export1\"}'"),
				 0);
		assert_int_equal(tgtproc_stop(&tgt, SIGTERM, TGTPROC_STOP_MS), 0);
		assert_int_equal(
			tgtproc_start(&tgt, (const char *const[]){"--export", tgt.disk, "--export",
								  "ram:8M", "--nqn", TGTPROC_NQN,
								  "--allow-any-host", NULL}),
			0);
	}
}

static int setup(void **state)
{
	(void)state;
	if (tgtproc_init(&tgt, 8 * MIB))
		return -1;
	return tgtproc_start(&tgt,
			     (const char *const[]){"--export", tgt.disk, "--export", "ram:8M",
						   "--nqn", TGTPROC_NQN, "--allow-any-host", NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reset_under_load),
		cmocka_unit_test(memory_survives),
		cmocka_unit_test(an_unknown_disk),
		cmocka_unit_test(stop_meanwhile),
	};

	return group_run(tests, setup, tgt_teardown);
}
