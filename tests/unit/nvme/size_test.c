/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A medium that grows or shrinks below its namespace: the new size is there at once, and the driver
 * is told once for each time it looks.
 */
#include "fixture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MIB    (1u << 20)
#define BLOCKS (MIB / 512)

struct bench {
	struct rig rig;
	const char *path;
	uint8_t *buf;
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	const struct nv_store_file_conf conf = {.path = temp_path("grows"), .size_bytes = MIB};
	const struct nv_store_delay_conf no_delay = {0};
	const struct nv_store_fault_conf no_fault = {0};
	struct nv_store *store;

	assert_non_null(b);
	b->path = conf.path;
	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0);
	assert_int_equal(nv_store_delay_create(&no_delay, store, &store, NULL), 0);
	assert_int_equal(nv_store_fault_create(&no_fault, store, &store, NULL), 0);
	rig_init(&b->rig, store, 8);
	b->buf = rig_alloc(&b->rig, NV_PAGE_SIZE);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	rig_free(&b->rig, b->buf);
	rig_fini(&b->rig);
	unlink(b->path);
	free(b);
	return 0;
}

static void resize(struct bench *b, off_t bytes, unsigned int changes)
{
	assert_int_equal(truncate(b->path, bytes), 0);
	assert_int_equal(nv_soft_check_sizes(b->rig.soft), changes);
}

static uint64_t nsze(struct bench *b)
{
	struct nv_ns_info info;

	assert_int_equal(nv_ctrl_ns_info(b->rig.ctrl, 1, &info), 0);
	return info.nsze;
}

static void nothing_changed(struct bench *b)
{
	uint32_t ids[4];

	assert_int_equal(nv_ctrl_changed_ns(b->rig.ctrl, ids, 4), 0);
}

static void one_changed(struct bench *b)
{
	uint32_t ids[4] = {0};

	assert_int_equal(nv_ctrl_changed_ns(b->rig.ctrl, ids, 4), 1);
	assert_int_equal(ids[0], 1);
}

static uint16_t read_at(struct bench *b, uint64_t slba)
{
	return run(&b->rig, make_rw(nvme_cmd_read, slba, 1, 512, b->buf, NULL));
}

static void growing_and_shrinking(void **state)
{
	struct bench *b = *state;

	assert_int_equal(nv_ctrl_watch_ns(b->rig.ctrl), 0);
	assert_int_equal(nv_ctrl_watch_ns(b->rig.ctrl), 0); /* no second request */
	assert_int_equal(nv_soft_check_sizes(b->rig.soft), 0);
	nothing_changed(b);
	assert_int_equal(read_at(b, BLOCKS), DNR(NVME_SC_LBA_RANGE));
	resize(b, 2 * MIB, 1);
	assert_int_equal(read_at(b, BLOCKS), 0);
	assert_int_equal(read_at(b, 2 * BLOCKS), DNR(NVME_SC_LBA_RANGE));
	one_changed(b);
	assert_int_equal(nsze(b), 2 * BLOCKS);
	nothing_changed(b);
	resize(b, MIB / 2, 1);
	one_changed(b);
	assert_int_equal(nsze(b), BLOCKS / 2);
	assert_int_equal(read_at(b, BLOCKS / 2), DNR(NVME_SC_LBA_RANGE));
	assert_int_equal(read_at(b, BLOCKS / 2 - 1), 0);
}

/* Many changes between two looks are one. */
static void changes_are_told_once(void **state)
{
	struct bench *b = *state;

	assert_int_equal(nv_ctrl_watch_ns(b->rig.ctrl), 0);
	for (unsigned int i = 1; i < 40; i++)
		resize(b, (off_t)MIB + i * 4096, 1);
	assert_int_equal(nsze(b), BLOCKS + 39 * 8); /* the event comes with other answers */
	one_changed(b);
	nothing_changed(b);
	for (unsigned int i = 1; i < 100; i++) { /* round the admin ring */
		resize(b, (off_t)MIB + i * 512, 1);
		one_changed(b);
		nothing_changed(b);
	}
}

/* Part of a block is not there; an empty file changes nothing. */
static void sizes_that_are_none(void **state)
{
	struct bench *b = *state;

	assert_int_equal(nv_ctrl_watch_ns(b->rig.ctrl), 0);
	resize(b, MIB + 511, 0);
	assert_int_equal(nsze(b), BLOCKS);
	resize(b, 0, 0);
	assert_int_equal(nsze(b), BLOCKS);
	nothing_changed(b);
	resize(b, MIB + 512, 1);
	one_changed(b);
}

/* Who does not watch is not told, and sees the size all the same. */
static void without_a_watcher(void **state)
{
	struct bench *b = *state;

	resize(b, 2 * MIB, 1);
	nothing_changed(b);
	assert_int_equal(nsze(b), 2 * BLOCKS);
	/* What happened before is told when somebody asks. */
	assert_int_equal(nv_ctrl_watch_ns(b->rig.ctrl), 0);
	one_changed(b);
}

/* The log page keeps its list when it is read with Retain Asynchronous Event. */
static void the_log_page_is_cleared_by_reading(void **state)
{
	struct nv_sqe log = {.opcode = nvme_admin_get_log_page, .nsid = htole32(NV_NSID_ALL)};
	struct bench *b = *state;
	uint32_t list[4];

	resize(b, 2 * MIB, 1);
	log.cdw10 = htole32(NVME_LOG_LID_CHANGED_NS | 1u << 15 | 3u << 16);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(admin(&b->rig, log, list, sizeof(list), NULL), 0);
		assert_int_equal(le32toh(list[0]), 1);
		assert_int_equal(list[1], 0);
	}
	log.cdw10 &= htole32(~(1u << 15));
	assert_int_equal(admin(&b->rig, log, list, sizeof(list), NULL), 0);
	assert_int_equal(le32toh(list[0]), 1);
	assert_int_equal(admin(&b->rig, log, list, sizeof(list), NULL), 0);
	assert_int_equal(list[0], 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(growing_and_shrinking),
		T(changes_are_told_once),
		T(sizes_that_are_none),
		T(without_a_watcher),
		T(the_log_page_is_cleared_by_reading),
	};

	return cmocka_run_group_tests_name("nvme/size", tests, NULL, NULL);
}
