/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes: by every way that data can take, of every size, many at a time, and compared
 * with the bytes on the backing file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "host.h"

static uint8_t buffer[HOST_SLOT_BYTES];
static uint32_t seed = 1;

/* Write a pattern, flush, and find it by a read and on the file. */
static void check_write(struct host *host, enum ini_data data, uint64_t lba, uint32_t blocks)
{
	uint64_t offset = lba * host->block_bytes;
	size_t bytes = (size_t)blocks * host->block_bytes;
	struct ini_error error = {0};

	seed++;
	pattern_fill(buffer, bytes, offset, seed);
	assert_ok(host_rw(host, nvme_cmd_write, data, lba, blocks, buffer, &error));
	assert_ok(ini_flush(host->io, host->nsid, &error));
	memset(buffer, 0, bytes);
	assert_ok(host_rw(host, nvme_cmd_read, INI_DATA_KEYED, lba, blocks, buffer, &error));
	assert_true(pattern_is(buffer, bytes, offset, seed));
	disk_read(&tgt, offset, buffer, bytes);
	assert_true(pattern_is(buffer, bytes, offset, seed));
}

static void write_in_capsule(void **state)
{
	struct host host;
	uint32_t blocks;

	(void)state;
	host_connect(&host, &tgt, 32, HOST_SLOT_BYTES);
	for (blocks = 1; blocks * host.block_bytes <= host.incapsule_bytes; blocks++)
		check_write(&host, INI_DATA_INCAPSULE, 100 + blocks, blocks);
	assert_true(blocks > 8);
	host_disconnect(&host);
}

static void write_keyed(void **state)
{
	struct host host;

	(void)state;
	host_connect(&host, &tgt, 32, HOST_SLOT_BYTES);
	check_write(&host, INI_DATA_KEYED, 0, 1);
	check_write(&host, INI_DATA_KEYED, host.blocks - 1, 1);
	check_write(&host, INI_DATA_KEYED, host.blocks - 64, 64);
	host_disconnect(&host);
}

/* The response invalidates exactly the key that was offered for it (U33), also when it reports an
 * error, and none when that was not asked for. */
static void remote_invalidate(void **state)
{
	struct ini_error error = {0};
	struct ini_done done;
	struct host host;
	struct ini_cmd cmd;

	(void)state;
	host_connect(&host, &tgt, 32, HOST_SLOT_BYTES);
	check_write(&host, INI_DATA_KEYED_INV, 5, 16);

	cmd = (struct ini_cmd){.tag = 3, .data = INI_DATA_KEYED_INV, .bytes = host.block_bytes};
	ini_sqe_rw(&cmd.sqe, nvme_cmd_read, host.nsid, 5, 1);
	assert_ok(ini_exec(host.io, &cmd, &done, &error));
	assert_true(done.has_invalidated);
	assert_int_equal(done.invalidated_rkey, done.expected_rkey);

	ini_sqe_rw(&cmd.sqe, nvme_cmd_write, host.nsid, host.blocks, 1);
	assert_status(ini_exec(host.io, &cmd, &done, &error), GENERIC(NVME_SC_LBA_RANGE));
	assert_true(done.has_invalidated);
	assert_int_equal(done.invalidated_rkey, done.expected_rkey);

	cmd.data = INI_DATA_KEYED;
	ini_sqe_rw(&cmd.sqe, nvme_cmd_read, host.nsid, 5, 1);
	assert_ok(ini_exec(host.io, &cmd, &done, &error));
	assert_false(done.has_invalidated);

	cmd.data = INI_DATA_KEYED_INV;
	cmd.bytes = NVME_IDENTIFY_DATA_SIZE;
	ini_sqe_identify(&cmd.sqe, 0, NVME_IDENTIFY_CNS_CTRL);
	assert_ok(ini_exec(host.admin, &cmd, &done, &error));
	assert_true(done.has_invalidated);
	assert_int_equal(done.invalidated_rkey, done.expected_rkey);
	host_disconnect(&host);
}

/* 512 B to MDTS and its edges (U31). */
static void every_size(void **state)
{
	struct ini_error error = {0};
	uint32_t blocks, max;
	struct host host;

	(void)state;
	host_connect(&host, &tgt, 32, HOST_SLOT_BYTES);
	max = host.max_io_bytes / host.block_bytes;
	assert_true(max * host.block_bytes < HOST_SLOT_BYTES);
	for (blocks = 1; blocks <= max; blocks *= 2)
		check_write(&host, INI_DATA_KEYED, 3, blocks);
	check_write(&host, INI_DATA_KEYED, 1, 7);
	check_write(&host, INI_DATA_KEYED, 9, 1000 < max ? 1000 : max);
	check_write(&host, INI_DATA_KEYED_INV, 0, max - 1);
	check_write(&host, INI_DATA_KEYED_INV, 0, max);

	assert_status(host_rw(&host, nvme_cmd_write, INI_DATA_KEYED, 0, max + 1, buffer, &error),
		      GENERIC(NVME_SC_INVALID_FIELD));
	assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, 0, max + 1, buffer, &error),
		      GENERIC(NVME_SC_INVALID_FIELD));
	check_write(&host, INI_DATA_KEYED, 0, 8); /* the queue is as good as before */
	host_disconnect(&host);
}

/* ---- many at a time ---- */

#define DEPTH 128u
#ifndef IS_LOSSY
#define IS_LOSSY 0
#endif
#define MANY_OPS     (IS_LOSSY ? 600u : 4000u) /* a loss costs 10 ms */
#define CHUNK_BLOCKS 8u

/* What each chunk of the disk holds: the seed of its pattern, 0: unknown. */
struct verify {
	struct host *host;
	struct ini_queue *queue;
	uint32_t *chunk_seed;
	uint32_t chunks;
	uint32_t first_chunk;
	uint32_t random;
	struct {
		bool is_write;
		uint32_t chunk;
	} op[DEPTH];
	bool *is_busy; /* chunk has an operation out */
};

static uint32_t next_random(struct verify *v)
{
	v->random = v->random * 1664525 + 1013904223;
	return v->random >> 8;
}

static void submit_one(struct verify *v, uint16_t tag)
{
	size_t bytes = (size_t)CHUNK_BLOCKS * v->host->block_bytes;
	struct ini_error error = {0};
	struct ini_cmd cmd = {.tag = tag, .bytes = (uint32_t)bytes};
	uint32_t chunk;
	bool is_write;

	do
		chunk = next_random(v) % v->chunks;
	while (v->is_busy[chunk]);
	is_write = v->chunk_seed[chunk] == 0 || next_random(v) % 2;
	v->is_busy[chunk] = true;
	v->op[tag].chunk = chunk;
	v->op[tag].is_write = is_write;
	cmd.data = next_random(v) % 2 ? INI_DATA_KEYED : INI_DATA_KEYED_INV;
	if (is_write) {
		v->chunk_seed[chunk] = ++seed;
		pattern_fill(ini_data(v->queue, tag), bytes, (uint64_t)chunk * bytes, seed);
		if (next_random(v) % 2 && bytes <= v->host->incapsule_bytes)
			cmd.data = INI_DATA_INCAPSULE;
	} else {
		memset(ini_data(v->queue, tag), 0, bytes);
	}
	ini_sqe_rw(&cmd.sqe, is_write ? nvme_cmd_write : nvme_cmd_read, v->host->nsid,
		   (uint64_t)(v->first_chunk + chunk) * CHUNK_BLOCKS, CHUNK_BLOCKS);
	assert_ok(ini_submit(v->queue, &cmd, &error));
}

static void complete_one(struct verify *v, const struct ini_done *done)
{
	size_t bytes = (size_t)CHUNK_BLOCKS * v->host->block_bytes;
	uint32_t chunk = v->op[done->tag].chunk;

	assert_int_equal(ini_cqe_status(&done->cqe), NVME_SC_SUCCESS);
	if (done->has_invalidated)
		assert_int_equal(done->invalidated_rkey, done->expected_rkey);
	if (!v->op[done->tag].is_write)
		assert_true(pattern_is(ini_data(v->queue, done->tag), bytes,
				       (uint64_t)chunk * bytes, v->chunk_seed[chunk]));
	v->is_busy[chunk] = false;
}

static void verify_init(struct verify *v, struct host *host, struct ini_queue *queue,
			uint32_t first_chunk, uint32_t chunks)
{
	*v = (struct verify){.host = host,
			     .queue = queue,
			     .chunks = chunks,
			     .first_chunk = first_chunk,
			     .random = first_chunk + 1};
	v->chunk_seed = calloc(chunks, sizeof(*v->chunk_seed));
	v->is_busy = calloc(chunks, sizeof(*v->is_busy));
	assert_non_null(v->chunk_seed);
	assert_non_null(v->is_busy);
}

/* Wait for completions and answer each with a new operation while @more are to be sent. */
static uint32_t verify_turn(struct verify *v, uint32_t more)
{
	struct ini_done done[16];
	struct ini_error error = {0};
	uint32_t sent = 0;
	int n = ini_wait(v->queue, done, 16, 10000, &error), i;

	if (n < 0)
		fail_msg("%s: %s", error.step, error.text);
	for (i = 0; i < n; i++) {
		complete_one(v, &done[i]);
		if (sent < more) {
			submit_one(v, done[i].tag);
			sent++;
		}
	}
	return sent;
}

/* Every chunk that was written, on the file. */
static void verify_disk(struct verify *v)
{
	size_t bytes = (size_t)CHUNK_BLOCKS * v->host->block_bytes;
	struct ini_error error = {0};
	uint32_t i;

	assert_ok(ini_flush(v->queue, v->host->nsid, &error));
	for (i = 0; i < v->chunks; i++) {
		if (!v->chunk_seed[i])
			continue;
		disk_read(&tgt, (uint64_t)(v->first_chunk + i) * bytes, buffer, bytes);
		assert_true(pattern_is(buffer, bytes, (uint64_t)i * bytes, v->chunk_seed[i]));
	}
	free(v->chunk_seed);
	free(v->is_busy);
}

static void deep_queue(void **state)
{
	struct ini_error error = {0};
	struct nvme_smart_log smart;
	uint32_t left = MANY_OPS;
	struct host host;
	struct verify v;
	uint16_t tag;

	(void)state;
	host_connect(&host, &tgt, DEPTH, 65536);
	verify_init(&v, &host, host.io, 0, 1000);
	for (tag = 0; tag < DEPTH - 1; tag++, left--)
		submit_one(&v, tag);
	while (left) {
		left -= verify_turn(&v, left);
		/* Statistics are looked at while they are written. */
		if (left % 16 == 0)
			assert_ok(ini_get_log(host.admin, NVME_LOG_LID_SMART, NVME_NSID_ALL, 0,
					      &smart, sizeof(smart), &error));
	}
	while (ini_outstanding(host.io))
		verify_turn(&v, 0);
	verify_disk(&v);
	host_disconnect(&host);
}

#define QUEUES	    4u
#define QUEUE_DEPTH 16u

static void several_queues(void **state)
{
	struct ini_queue *queues[QUEUES];
	struct verify v[QUEUES];
	uint32_t left[QUEUES];
	struct ini_error error = {0};
	struct host host;
	uint32_t i, busy;
	uint16_t tag;

	(void)state;
	host_connect_admin(&host, &tgt);
	for (i = 0; i < QUEUES; i++) {
		const struct ini_params params =
			host_io_params(&host, (uint16_t)(i + 1), QUEUE_DEPTH, 65536);

		assert_ok(ini_open_connect(&queues[i], &params, NULL, &error));
		verify_init(&v[i], &host, queues[i], 2000 + i * 100, 100);
		left[i] = MANY_OPS / QUEUES;
		for (tag = 0; tag < QUEUE_DEPTH - 1; tag++, left[i]--)
			submit_one(&v[i], tag);
	}
	do {
		for (i = 0, busy = 0; i < QUEUES; i++) {
			if (ini_outstanding(queues[i]))
				left[i] -= verify_turn(&v[i], left[i]);
			busy += ini_outstanding(queues[i]);
		}
	} while (busy);
	for (i = 0; i < QUEUES; i++) {
		verify_disk(&v[i]);
		ini_close(queues[i]);
	}
	host_disconnect(&host);
}

/* Host and target agree on who wrote last, over two controllers. */
static void two_hosts_see_each_other(void **state)
{
	struct ini_error error = {0};
	struct host first, second;

	(void)state;
	host_connect(&first, &tgt, 8, 65536);
	host_connect(&second, &tgt, 8, 65536);
	pattern_fill(buffer, 4096, 0, 77);
	assert_ok(host_rw(&first, nvme_cmd_write, INI_DATA_KEYED, 50, 8, buffer, &error));
	memset(buffer, 0, 4096);
	assert_ok(host_rw(&second, nvme_cmd_read, INI_DATA_KEYED, 50, 8, buffer, &error));
	assert_true(pattern_is(buffer, 4096, 0, 77));
	host_disconnect(&first);
	assert_ok(host_rw(&second, nvme_cmd_read, INI_DATA_KEYED, 50, 8, buffer, &error));
	host_disconnect(&second);
}

/* An Abort of command @cid: did it say that the command was aborted? */
static bool is_aborted(struct host *host, uint16_t sqid, uint16_t cid)
{
	struct ini_cmd cmd = {.tag = INI_TAG_ANY,
			      .sqe = {.opcode = nvme_admin_abort_cmd,
				      .cdw10 = htole32((uint32_t)cid << 16 | sqid)}};
	struct ini_error error = {0};
	struct ini_done done;

	assert_ok(ini_exec(host->admin, &cmd, &done, &error));
	return !(le32toh(done.cqe.dw0) & 1);
}

/* I/O commands in flight cannot be taken back: the Abort says so, and they end as ever (U40). */
static void abort_of_io(void **state)
{
	struct ini_cmd cmd = {.data = INI_DATA_KEYED, .bytes = MIB};
	struct ini_error error = {0};
	struct ini_done done[8];
	unsigned int ended = 0;
	struct host host;
	int n;

	(void)state;
	host_connect(&host, &tgt, 8, HOST_SLOT_BYTES);
	for (cmd.tag = 0; cmd.tag < 7; cmd.tag++) {
		ini_sqe_rw(&cmd.sqe, nvme_cmd_write, host.nsid, 4096 + cmd.tag * 2048u,
			   MIB / host.block_bytes);
		assert_ok(ini_submit(host.io, &cmd, &error));
	}
	assert_false(is_aborted(&host, 1, 6));
	assert_false(is_aborted(&host, 1, 0));
	while (ended < 7) {
		n = ini_wait(host.io, done, 8, 10000, &error);
		if (n < 0)
			fail_msg("%s: %s", error.step, error.text);
		ended += (unsigned int)n;
		while (n > 0)
			assert_int_equal(ini_cqe_status(&done[--n].cqe), NVME_SC_SUCCESS);
	}
	/* What is not there any more, and a queue that never was. */
	assert_false(is_aborted(&host, 1, 6));
	assert_false(is_aborted(&host, 77, 6));
	host_disconnect(&host);
}

/* Event requests can be, and end before the Abort does. */
static void abort_of_event_request(void **state)
{
	struct ini_cmd aer = {.tag = 5, .sqe = {.opcode = nvme_admin_async_event}};
	struct ini_cmd cmd = {.tag = 6,
			      .sqe = {.opcode = nvme_admin_abort_cmd, .cdw10 = htole32(5 << 16)}};
	struct ini_error error = {0};
	struct ini_done done[2];
	struct host host;
	int n = 0, got;

	(void)state;
	host_connect_admin(&host, &tgt);
	assert_ok(ini_submit(host.admin, &aer, &error));
	assert_false(is_aborted(&host, 0, 4));
	assert_ok(ini_submit(host.admin, &cmd, &error));
	while (n < 2) {
		got = ini_wait(host.admin, done + n, (unsigned int)(2 - n), 10000, &error);
		if (got < 0)
			fail_msg("%s: %s", error.step, error.text);
		n += got;
	}
	assert_int_equal(done[0].tag, 5);
	assert_int_equal(ini_cqe_status(&done[0].cqe), NVME_SC_ABORT_REQ);
	assert_int_equal(done[1].tag, 6);
	assert_int_equal(ini_cqe_status(&done[1].cqe), NVME_SC_SUCCESS);
	assert_int_equal(le32toh(done[1].cqe.dw0) & 1, 0);
	assert_false(is_aborted(&host, 0, 5));
	host_disconnect(&host);
}

/* Disks without a file: memory keeps what is written, the other reads as zeroes. */
static void ram_and_null_disks(void **state)
{
	static const char *const args[] = {"--export", "ram:16M",   "--export",		"null:16M",
					   "--nqn",    TGTPROC_NQN, "--allow-any-host", NULL};
	struct ini_error error = {0};
	struct tgtproc other;
	struct host host;

	(void)state;
	assert_int_equal(tgtproc_init(&other, 0), 0);
	assert_int_equal(tgtproc_start(&other, args), 0);
	host_connect(&host, &other, 8, HOST_SLOT_BYTES);
	assert_int_equal(host.blocks * host.block_bytes, 16 * MIB);
	for (host.nsid = 1; host.nsid <= 2; host.nsid++) {
		pattern_fill(buffer, MIB, 0, host.nsid);
		assert_ok(host_rw(&host, nvme_cmd_write, INI_DATA_KEYED_INV, 2048, 2048, buffer,
				  &error));
		assert_ok(ini_flush(host.io, host.nsid, &error));
		memset(buffer, 0xa5, MIB);
		assert_ok(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED_INV, 2048, 2048, buffer,
				  &error));
		if (host.nsid == 1)
			assert_true(pattern_is(buffer, MIB, 0, 1));
		else
			assert_true(buffer[0] == 0 && !memcmp(buffer, buffer + 1, MIB - 1));
		assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, host.blocks, 1, buffer,
				      &error),
			      GENERIC(NVME_SC_LBA_RANGE));
	}
	host_disconnect(&host);
	assert_int_equal(tgtproc_stop(&other, SIGTERM, TGTPROC_STOP_MS), 0);
	tgtproc_fini(&other);
}

static void assert_smart(struct host *host, uint32_t nsid, uint64_t reads, uint64_t read_bytes,
			 uint64_t writes, uint64_t written_bytes)
{
	const uint64_t unit = 512 * 1000;
	struct ini_error error = {0};
	struct nvme_smart_log smart;
	uint64_t value;

	assert_ok(ini_get_log(host->admin, NVME_LOG_LID_SMART, nsid, 0, &smart, sizeof(smart),
			      &error));
	memcpy(&value, smart.host_reads, sizeof(value));
	assert_int_equal(le64toh(value), reads);
	memcpy(&value, smart.data_units_read, sizeof(value));
	assert_int_equal(le64toh(value), (read_bytes + unit - 1) / unit);
	memcpy(&value, smart.host_writes, sizeof(value));
	assert_int_equal(le64toh(value), writes);
	memcpy(&value, smart.data_units_written, sizeof(value));
	assert_int_equal(le64toh(value), (written_bytes + unit - 1) / unit);
}

/* The SMART log counts what was done, by all hosts of the subsystem, on each namespace. */
static void smart_counts_commands(void **state)
{
	static const char *const args[] = {"--export", "ram:16M",   "--export",		"ram:16M",
					   "--nqn",    TGTPROC_NQN, "--allow-any-host", NULL};
	struct ini_error error = {0};
	struct host host, other_host;
	struct tgtproc other;
	unsigned int i;

	(void)state;
	assert_int_equal(tgtproc_init(&other, 0), 0);
	assert_int_equal(tgtproc_start(&other, args), 0);
	host_connect(&host, &other, 8, HOST_SLOT_BYTES);
	host_connect(&other_host, &other, 8, HOST_SLOT_BYTES);
	assert_smart(&host, NVME_NSID_ALL, 0, 0, 0, 0);
	for (i = 0; i < 3; i++)
		assert_ok(host_rw(&host, nvme_cmd_write, INI_DATA_KEYED, 0, 2048, buffer, &error));
	assert_ok(host_rw(&host, nvme_cmd_compare, INI_DATA_KEYED, 0, 2048, buffer, &error));
	other_host.nsid = 2;
	for (i = 0; i < 5; i++)
		assert_ok(host_rw(&other_host, nvme_cmd_read, INI_DATA_KEYED, 8, 1024, buffer,
				  &error));
	/* A command that fails is a command, but no data was read. */
	assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, host.blocks, 2048, buffer,
			      &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	assert_ok(ini_flush(host.io, 1, &error));
	assert_smart(&other_host, 1, 2, MIB, 3, 3 * MIB);
	assert_smart(&other_host, 2, 5, 5 * MIB / 2, 0, 0);
	assert_smart(&host, NVME_NSID_ALL, 7, 7 * MIB / 2, 3, 3 * MIB);
	host_disconnect(&host);
	host_disconnect(&other_host);
	assert_int_equal(tgtproc_stop(&other, SIGTERM, TGTPROC_STOP_MS), 0);
	tgtproc_fini(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_in_capsule),
		cmocka_unit_test(write_keyed),
		cmocka_unit_test(remote_invalidate),
		cmocka_unit_test(every_size),
		cmocka_unit_test(deep_queue),
		cmocka_unit_test(several_queues),
		cmocka_unit_test(two_hosts_see_each_other),
		cmocka_unit_test(abort_of_io),
		cmocka_unit_test(abort_of_event_request),
		cmocka_unit_test(ram_and_null_disks),
		cmocka_unit_test(smart_counts_commands),
	};

	return group_run(tests, tgt_setup, tgt_teardown);
}
