/* SPDX-License-Identifier: Apache-2.0 */
/*
 * I/O commands on a ram namespace: what each does, and the exact status of each refusal. Then the
 * rings: wrap, phase tag, a full completion queue.
 */
#include "fixture.h"

#include <string.h>

#define BLOCKS	   4096u
#define BLOCK	   512u
#define MAX_BLOCKS (NV_SOFT_MDTS_BYTES / BLOCK)
#define FUA	   (1u << 30)
#define DEAC	   (1u << 25)

struct bench {
	struct rig rig;
	uint8_t *buf; /* 1 MiB and a page */
	uint64_t *list; /* two pages */
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	rig_init(&b->rig, make_ram(BLOCKS, BLOCK), 64);
	b->buf = rig_alloc(&b->rig, NV_SOFT_MDTS_BYTES + NV_PAGE_SIZE);
	b->list = rig_alloc(&b->rig, 2 * NV_PAGE_SIZE);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	rig_free(&b->rig, b->list);
	rig_free(&b->rig, b->buf);
	rig_fini(&b->rig);
	free(b);
	return 0;
}

static void fill(uint8_t *buf, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)(seed = seed * 1103515245 + 12345, seed >> 16);
}

static uint16_t rw(struct bench *b, uint8_t opcode, uint64_t slba, uint32_t blocks)
{
	return run(&b->rig, make_rw(opcode, slba, blocks, BLOCK, b->buf, b->list));
}

static void write_then_read_every_size(void **state)
{
	struct bench *b = *state;
	const uint32_t sizes[] = {1, 7, 8, 9, 16, 17, 100, MAX_BLOCKS - 1, MAX_BLOCKS};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *want = malloc(sizes[i] * BLOCK);

		assert_non_null(want);
		fill(want, sizes[i] * BLOCK, sizes[i]);
		memcpy(b->buf, want, sizes[i] * BLOCK);
		assert_int_equal(rw(b, nvme_cmd_write, i, sizes[i]), 0);
		memset(b->buf, 0, sizes[i] * BLOCK);
		assert_int_equal(rw(b, nvme_cmd_read, i, sizes[i]), 0);
		assert_memory_equal(b->buf, want, sizes[i] * BLOCK);
		free(want);
	}
}

static void transfer_larger_than_mdts_is_refused(void **state)
{
	struct bench *b = *state;

	assert_int_equal(rw(b, nvme_cmd_read, 0, MAX_BLOCKS + 1), DNR(NVME_SC_INVALID_FIELD));
	assert_int_equal(rw(b, nvme_cmd_write, 0, MAX_BLOCKS + 1), DNR(NVME_SC_INVALID_FIELD));
	assert_int_equal(rw(b, nvme_cmd_compare, 0, MAX_BLOCKS + 1), DNR(NVME_SC_INVALID_FIELD));
}

static void range_is_checked_without_overflow(void **state)
{
	const uint8_t opcodes[] = {nvme_cmd_read, nvme_cmd_write, nvme_cmd_compare,
				   nvme_cmd_write_zeroes, nvme_cmd_verify};
	struct bench *b = *state;

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		assert_int_equal(rw(b, opcodes[i], BLOCKS - 1, 2), DNR(NVME_SC_LBA_RANGE));
		assert_int_equal(rw(b, opcodes[i], BLOCKS, 1), DNR(NVME_SC_LBA_RANGE));
		assert_int_equal(rw(b, opcodes[i], UINT64_MAX, 1), DNR(NVME_SC_LBA_RANGE));
		assert_int_equal(rw(b, opcodes[i], UINT64_MAX - 1, 3), DNR(NVME_SC_LBA_RANGE));
		assert_int_equal(rw(b, opcodes[i], 1ull << 55, 1), DNR(NVME_SC_LBA_RANGE));
	}
	assert_int_equal(rw(b, nvme_cmd_read, BLOCKS - 1, 1), 0);
	assert_int_equal(rw(b, nvme_cmd_write, BLOCKS - 2, 2), 0);
}

static void opcode_namespace_and_flags_are_checked(void **state)
{
	struct bench *b = *state;
	struct nv_sqe sqe = make_rw(nvme_cmd_read, 0, 1, BLOCK, b->buf, b->list);

	sqe.nsid = 0;
	assert_int_equal(run(&b->rig, sqe), DNR(NVME_SC_INVALID_NS));
	sqe.nsid = htole32(2);
	assert_int_equal(run(&b->rig, sqe), DNR(NVME_SC_INVALID_NS));
	sqe.nsid = htole32(NV_NSID_ALL);
	assert_int_equal(run(&b->rig, sqe), DNR(NVME_SC_INVALID_NS));
	sqe.opcode = nvme_cmd_flush; /* VWC says: not for all namespaces at once */
	assert_int_equal(run(&b->rig, sqe), DNR(NVME_SC_INVALID_NS));

	sqe = make_rw(nvme_cmd_read, 0, 1, BLOCK, b->buf, b->list);
	sqe.flags = 0x01; /* first of a fused pair */
	assert_int_equal(run(&b->rig, sqe), DNR(NVME_SC_INVALID_FIELD));
	sqe.flags = 0x40; /* SGL */
	assert_int_equal(run(&b->rig, sqe), DNR(NVME_SC_INVALID_FIELD));
	sqe.flags = 0;
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		if (opcode < 0x0d && opcode != 3 && opcode != 4 && opcode != 6 && opcode != 7 &&
		    opcode != 0x0a && opcode != 0x0b)
			continue;
		sqe.opcode = (uint8_t)opcode;
		assert_int_equal(run(&b->rig, sqe), DNR(NVME_SC_INVALID_OPCODE));
	}
}

static void flush_without_cache_succeeds(void **state)
{
	struct bench *b = *state;
	const struct nv_sqe sqe = {.opcode = nvme_cmd_flush, .nsid = htole32(1)};

	assert_int_equal(run(&b->rig, sqe), 0);
}

static void write_zeroes_with_and_without_deallocate(void **state)
{
	struct bench *b = *state;
	const uint32_t flags[] = {0, DEAC, FUA, DEAC | FUA};

	for (size_t i = 0; i < 4; i++) {
		struct nv_sqe sqe = make_rw(nvme_cmd_write_zeroes, 3, 1000, BLOCK, NULL, NULL);

		memset(b->buf, 0xa5, 1010 * BLOCK);
		assert_int_equal(rw(b, nvme_cmd_write, 0, 1010), 0);
		sqe.cdw12 |= htole32(flags[i]);
		assert_int_equal(run(&b->rig, sqe), 0);
		assert_int_equal(rw(b, nvme_cmd_read, 0, 1010), 0);
		for (uint32_t pos = 0; pos < 1010 * BLOCK; pos++) {
			bool zero = pos >= 3 * BLOCK && pos < 1003 * BLOCK;

			assert_int_equal(b->buf[pos], zero ? 0 : 0xa5);
		}
	}
}

static void compare_finds_one_wrong_byte_anywhere(void **state)
{
	struct bench *b = *state;
	const uint32_t bytes = MAX_BLOCKS * BLOCK;
	const uint32_t places[] = {0, 1, 511, 4096, 131071, 131072, 500000, bytes - 1};

	fill(b->buf, bytes, 7);
	assert_int_equal(rw(b, nvme_cmd_write, 0, MAX_BLOCKS), 0);
	assert_int_equal(rw(b, nvme_cmd_compare, 0, MAX_BLOCKS), 0);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		b->buf[places[i]] ^= 0x10;
		assert_int_equal(rw(b, nvme_cmd_compare, 0, MAX_BLOCKS),
				 MEDIA(NVME_SC_COMPARE_FAILED));
		b->buf[places[i]] ^= 0x10;
	}
	assert_int_equal(MEDIA(NVME_SC_COMPARE_FAILED), 0x285);
	assert_int_equal(rw(b, nvme_cmd_compare, 0, MAX_BLOCKS), 0);
}

static void compare_with_host_data_at_an_offset(void **state)
{
	struct bench *b = *state;
	const uint32_t bytes = MAX_BLOCKS * BLOCK;

	fill(b->buf, bytes, 11);
	assert_int_equal(rw(b, nvme_cmd_write, 5, MAX_BLOCKS), 0);
	memmove(b->buf + 1234 * 4 % NV_PAGE_SIZE, b->buf, bytes);
	assert_int_equal(run(&b->rig, make_rw(nvme_cmd_compare, 5, MAX_BLOCKS, BLOCK,
					      b->buf + 1234 * 4 % NV_PAGE_SIZE, b->list)),
			 0);
}

static void verify_reads_more_than_mdts(void **state)
{
	struct bench *b = *state;

	assert_int_equal(run(&b->rig, make_rw(nvme_cmd_verify, 0, BLOCKS, BLOCK, NULL, NULL)), 0);
}

static struct nv_sqe make_dsm(struct bench *b, uint32_t ranges, uint32_t attributes)
{
	struct nv_sqe sqe = {.opcode = nvme_cmd_dsm, .nsid = htole32(1)};

	sqe.cdw10 = htole32(ranges - 1);
	sqe.cdw11 = htole32(attributes);
	sqe.prp1 = htole64((uintptr_t)b->buf);
	return sqe;
}

static void set_range(struct bench *b, uint32_t index, uint64_t slba, uint32_t blocks)
{
	struct nvme_dsm_range *range = (struct nvme_dsm_range *)b->buf + index;

	range->cattr = 0;
	range->slba = htole64(slba);
	range->nlb = htole32(blocks);
}

static void deallocate_all_256_ranges(void **state)
{
	struct bench *b = *state;

	memset(b->buf, 0x77, 1024 * BLOCK);
	assert_int_equal(rw(b, nvme_cmd_write, 0, 1024), 0);
	for (uint32_t i = 0; i < 256; i++)
		set_range(b, i, i * 4, i % 4); /* lengths 0 to 3 */
	assert_int_equal(run(&b->rig, make_dsm(b, 256, NVME_DSMGMT_AD)), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1024), 0);
	for (uint32_t lba = 0; lba < 1024; lba++)
		assert_int_equal(b->buf[lba * BLOCK], lba % 4 < lba / 4 % 4 ? 0 : 0x77);
}

static void deallocate_checks_all_ranges_first(void **state)
{
	struct bench *b = *state;

	memset(b->buf, 0x55, BLOCK);
	assert_int_equal(rw(b, nvme_cmd_write, 0, 1), 0);
	set_range(b, 0, 0, 1);
	set_range(b, 1, BLOCKS, 1);
	assert_int_equal(run(&b->rig, make_dsm(b, 2, NVME_DSMGMT_AD)), DNR(NVME_SC_LBA_RANGE));
	set_range(b, 1, UINT64_MAX, UINT32_MAX);
	assert_int_equal(run(&b->rig, make_dsm(b, 2, NVME_DSMGMT_AD)), DNR(NVME_SC_LBA_RANGE));
	set_range(b, 1, BLOCKS - 1, 1);
	assert_int_equal(run(&b->rig, make_dsm(b, 2, NVME_DSMGMT_IDR)), 0); /* a hint only */
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), 0);
	assert_int_equal(b->buf[0], 0x55);
}

static void addresses_from_nowhere_are_refused(void **state)
{
	struct bench *b = *state;
	struct nv_sqe sqe = make_rw(nvme_cmd_read, 0, 1, BLOCK, b->buf, b->list);
	struct nv_soft_stats stats;

	sqe.prp1 = 0;
	assert_int_equal(run(&b->rig, sqe), NVME_SC_DATA_XFER_ERROR);
	sqe.prp1 = htole64(0xdeadbeef000);
	assert_int_equal(run(&b->rig, sqe), NVME_SC_DATA_XFER_ERROR);
	sqe.prp1 = htole64(UINT64_MAX - 3);
	assert_int_equal(run(&b->rig, sqe), NVME_SC_DATA_XFER_ERROR);
	sqe = make_dsm(b, 1, NVME_DSMGMT_AD);
	sqe.prp1 = htole64(0x1000);
	assert_int_equal(run(&b->rig, sqe), NVME_SC_DATA_XFER_ERROR);
	nv_soft_get_stats(b->rig.soft, &stats);
	assert_int_equal(stats.bad_addresses, 4);
	assert_int_equal(stats.errors, 4);
}

static void statistics_count(void **state)
{
	struct bench *b = *state;
	struct nv_soft_stats stats;

	assert_int_equal(rw(b, nvme_cmd_write, 0, 8), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 0, 2), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), 0);
	nv_soft_get_stats(b->rig.soft, &stats);
	assert_int_equal(stats.write_commands, 1);
	assert_int_equal(stats.written_bytes, 8 * BLOCK);
	assert_int_equal(stats.read_commands, 2);
	assert_int_equal(stats.read_bytes, 3 * BLOCK);
	assert_int_equal(stats.errors, 0);
}

/* Many compares at once share one bounce buffer; each gets its own answer. */
static void compares_wait_for_their_turn(void **state)
{
	struct bench *b = *state;
	unsigned int wrong = 0;

	fill(b->buf, 32 * BLOCK, 3);
	assert_int_equal(rw(b, nvme_cmd_write, 0, 32), 0);
	for (uint16_t i = 0; i < 32; i++) {
		struct nv_sqe sqe = make_rw(nvme_cmd_compare, i, 1, BLOCK,
					    b->buf + (i % 3 ? i : 0) * BLOCK, NULL);

		sqe.cid = htole16(i);
		assert_int_equal(nv_queue_submit(b->rig.queue, &sqe), 0);
	}
	for (uint16_t i = 0; i < 32; i++) {
		struct nv_cqe cqe = wait_cqe(&b->rig);
		uint16_t cid = le16toh(cqe.cid);
		uint16_t want = cid % 3 || cid == 0 ? 0 : MEDIA(NVME_SC_COMPARE_FAILED);

		assert_int_equal(nv_cqe_status(&cqe), want);
		wrong += want != 0;
	}
	assert_int_equal(wrong, 10);
}

/* ---- rings -------------------------------------------------------------------------------- */

static void wrap(uint16_t entries, uint32_t commands)
{
	struct rig rig;
	uint8_t *buf;
	uint32_t sent = 0, seen = 0;

	rig_init(&rig, make_ram(BLOCKS, BLOCK), entries);
	assert_int_equal(rig.queue->entries, entries);
	buf = rig_alloc(&rig, BLOCK);
	while (seen < commands) {
		struct nv_cqe cqe;

		for (;;) {
			struct nv_sqe sqe = make_rw(nvme_cmd_read, 0, 1, BLOCK, buf, NULL);

			sqe.cid = htole16((uint16_t)sent);
			if (sent - seen == entries - 1u || nv_queue_submit(rig.queue, &sqe))
				break;
			sent++;
		}
		while (nv_queue_poll(rig.queue, &cqe)) {
			assert_int_equal(le16toh(cqe.cid), (uint16_t)seen);
			assert_int_equal(nv_cqe_status(&cqe), 0);
			seen++;
		}
	}
	rig_free(&rig, buf);
	rig_fini(&rig);
}

static void rings_wrap_thousands_of_times(void **state)
{
	(void)state;
	wrap(2, 10000);
	wrap(4, 20000);
	wrap(128, 200000);
}

/*
 * By raw memory, as libdoca_sta drives it. The host does not move its CQ head: the controller must
 * stop when the ring is full, keep the rest, and go on when the head moves.
 */
static void full_completion_queue_loses_nothing(void **state)
{
	struct rig rig;
	struct nv_queue *q;
	uint8_t *buf;
	uint16_t tail = 0, head = 0, seen = 0;
	uint16_t phase = 1;

	(void)state;
	rig_init(&rig, make_ram(BLOCKS, BLOCK), 4);
	q = rig.queue;
	buf = rig_alloc(&rig, BLOCK);
	for (uint16_t cid = 0; cid < 5; cid++) {
		q->sq[tail] = make_rw(nvme_cmd_read, 0, 1, BLOCK, buf, NULL);
		q->sq[tail].cid = htole16(cid);
		tail = (tail + 1) % 4;
		__atomic_store_n(q->sq_tail_doorbell, tail, __ATOMIC_RELEASE);
		rig.companion.doorbell(rig.companion.arg);
	}
	/* Three fit; the fourth slot of the ring must not be written. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(le16toh(q->cq[i].status) & NV_CQE_PHASE, 1);
	assert_int_equal(le16toh(q->cq[3].status) & NV_CQE_PHASE, 0);
	assert_int_equal(rig.companion.poll(rig.companion.arg), 0);

	while (seen < 5) {
		assert_int_equal(le16toh(q->cq[head].status) & NV_CQE_PHASE, phase);
		assert_int_equal(le16toh(q->cq[head].cid), seen++);
		if (++head == 4) {
			head = 0;
			phase ^= 1;
		}
		__atomic_store_n(q->cq_head_doorbell, head, __ATOMIC_RELEASE);
		rig.companion.poll(rig.companion.arg);
	}
	rig_free(&rig, buf);
	rig_fini(&rig);
}

static void doorbell_values_out_of_range_are_ignored(void **state)
{
	struct bench *b = *state;
	struct nv_queue *q = b->rig.queue;

	__atomic_store_n(q->sq_tail_doorbell, q->entries, __ATOMIC_RELEASE);
	b->rig.companion.doorbell(b->rig.companion.arg);
	__atomic_store_n(q->sq_tail_doorbell, UINT32_MAX, __ATOMIC_RELEASE);
	b->rig.companion.doorbell(b->rig.companion.arg);
	assert_int_equal(b->rig.companion.poll(b->rig.companion.arg), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(write_then_read_every_size),
		T(transfer_larger_than_mdts_is_refused),
		T(range_is_checked_without_overflow),
		T(opcode_namespace_and_flags_are_checked),
		T(flush_without_cache_succeeds),
		T(write_zeroes_with_and_without_deallocate),
		T(compare_finds_one_wrong_byte_anywhere),
		T(compare_with_host_data_at_an_offset),
		T(verify_reads_more_than_mdts),
		T(deallocate_all_256_ranges),
		T(deallocate_checks_all_ranges_first),
		T(addresses_from_nowhere_are_refused),
		T(statistics_count),
		T(compares_wait_for_their_turn),
		cmocka_unit_test(rings_wrap_thousands_of_times),
		cmocka_unit_test(full_completion_queue_loses_nothing),
		T(doorbell_values_out_of_range_are_ignored),
	};

	return cmocka_run_group_tests_name("nvme/io", tests, NULL, NULL);
}
