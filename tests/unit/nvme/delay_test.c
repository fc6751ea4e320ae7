/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delay engine below a controller: how long what takes, in which order it ends, that waiting
 * costs no CPU time, and that a queue's end does not wait.
 */
#include "fixture.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define MS	   UTIL_NS_PER_MS
#define BLOCKS	   256u
#define LONG_DELAY (600 * UTIL_NS_PER_S)

static struct nv_store *make_delay(const struct nv_store_delay_conf *conf)
{
	struct nv_store *store;

	assert_int_equal(nv_store_delay_create(conf, make_ram(BLOCKS, 512), &store, NULL), 0);
	return store;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * UTIL_NS_PER_S + (uint64_t)ts.tv_nsec;
}

static void is_like_the_store_below(void **state)
{
	const struct nv_store_delay_conf conf = {0};
	struct nv_store *store = make_delay(&conf);

	(void)state;
	assert_string_equal(store->kind, "delay");
	assert_int_equal(store->size_bytes, BLOCKS * 512);
	assert_int_equal(store->block_bytes, 512);
	assert_true(store->thin);
	assert_false(store->volatile_cache);
	nv_store_destroy(store);
}

static void an_hour_is_the_most(void **state)
{
	struct nv_store_delay_conf conf = {.op[NV_STORE_READ].fixed_ns = NV_STORE_DELAY_MAX_NS + 1};
	struct nv_store *below = make_ram(BLOCKS, 512);
	struct nv_store *store;
	struct nv_err err;

	(void)state;
	assert_int_equal(nv_store_delay_create(&conf, below, &store, &err), -EINVAL);
	conf.op[NV_STORE_READ].fixed_ns = 0;
	conf.op[NV_STORE_FLUSH].random_ns = NV_STORE_DELAY_MAX_NS + 1;
	assert_int_equal(nv_store_delay_create(&conf, below, &store, &err), -EINVAL);
	nv_store_destroy(below);
}

/* Only the operation that it is set for is late; the thread sleeps meanwhile. */
static void each_operation_has_its_own_delay(void **state)
{
	const struct nv_store_delay_conf conf = {.op[NV_STORE_READ].fixed_ns = 60 * MS};
	uint64_t start, cpu, took;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	rig_init(&rig, make_delay(&conf), 8);
	buf = rig_alloc(&rig, 4096);
	memset(buf, 0x5a, 4096);
	start = util_now_ns();
	assert_int_equal(run(&rig, make_rw(nvme_cmd_write, 0, 8, 512, buf, NULL)), 0);
	assert_true(util_now_ns() - start < 60 * MS);
	memset(buf, 0, 4096);
	start = util_now_ns();
	cpu = cpu_ns();
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 0, 8, 512, buf, NULL)), 0);
	took = util_now_ns() - start;
	assert_true(took >= 60 * MS);
	assert_true(cpu_ns() - cpu < took / 4);
	assert_int_equal(buf[4095], 0x5a);
	rig_free(&rig, buf);
	rig_fini(&rig);
}

/* Nothing of a write is there before its time: a read beside it, which does not wait, proves it. */
static void a_write_is_not_there_before_its_time(void **state)
{
	const struct nv_store_delay_conf conf = {.op[NV_STORE_WRITE].fixed_ns = 40 * MS};
	struct nv_sqe sqe;
	struct nv_cqe cqe;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	rig_init(&rig, make_delay(&conf), 8);
	buf = rig_alloc(&rig, 8192);
	memset(buf, 1, 4096);
	buf[4096] = 0xff;
	sqe = make_rw(nvme_cmd_write, 0, 8, 512, buf, NULL);
	sqe.cid = htole16(1);
	assert_int_equal(nv_queue_submit(rig.queue, &sqe), 0);
	sqe = make_rw(nvme_cmd_read, 0, 8, 512, buf + 4096, NULL);
	sqe.cid = htole16(2);
	assert_int_equal(nv_queue_submit(rig.queue, &sqe), 0);
	cqe = wait_cqe(&rig);
	assert_int_equal(le16toh(cqe.cid), 2);
	assert_int_equal(buf[4096], 0);
	cqe = wait_cqe(&rig);
	assert_int_equal(le16toh(cqe.cid), 1);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 0, 8, 512, buf + 4096, NULL)), 0);
	assert_int_equal(buf[4096], 1);
	rig_free(&rig, buf);
	rig_fini(&rig);
}

/* The order in which a full queue of reads with a random delay ends. */
static void random_order(uint64_t seed, uint16_t *order, unsigned int count)
{
	const struct nv_store_delay_conf conf = {.op[NV_STORE_READ].random_ns = 200 * MS,
						 .seed = seed};
	uint64_t due[16] = {0};
	struct rig rig;
	uint8_t *buf;

	rig_init(&rig, make_delay(&conf), 32);
	buf = rig_alloc(&rig, 4096);
	for (unsigned int i = 0; i < count; i++) {
		struct nv_sqe sqe = make_rw(nvme_cmd_read, 0, 1, 512, buf, NULL);

		sqe.cid = htole16((uint16_t)i);
		assert_int_equal(nv_queue_submit(rig.queue, &sqe), 0);
	}
	for (unsigned int i = 0; i < count; i++) {
		order[i] = le16toh(wait_cqe(&rig).cid);
		due[i] = util_now_ns();
		assert_true(i == 0 || due[i] >= due[i - 1]);
	}
	rig_free(&rig, buf);
	rig_fini(&rig);
}

static void random_delays_follow_the_seed(void **state)
{
	uint16_t first[12], again[12], other[12];

	(void)state;
	random_order(7, first, 12);
	random_order(7, again, 12);
	random_order(8, other, 12);
	assert_memory_equal(first, again, sizeof(first));
	assert_memory_not_equal(first, other, sizeof(first));
}

/* A Compare takes its steps one after another, a Dataset Management, too. */
static void commands_of_several_steps_wait_for_each(void **state)
{
	const struct nv_store_delay_conf conf = {.op[NV_STORE_DISCARD].fixed_ns = 20 * MS};
	struct nv_sqe sqe = {.opcode = nvme_cmd_dsm, .nsid = htole32(1)};
	struct nvme_dsm_range *ranges;
	uint64_t start;
	struct rig rig;

	(void)state;
	rig_init(&rig, make_delay(&conf), 8);
	ranges = rig_alloc(&rig, 4096);
	for (unsigned int i = 0; i < 3; i++) {
		ranges[i].slba = htole64(8 * i);
		ranges[i].nlb = htole32(8);
	}
	sqe.cdw10 = htole32(2);
	sqe.cdw11 = htole32(NVME_DSMGMT_AD);
	sqe.prp1 = htole64((uintptr_t)ranges);
	start = util_now_ns();
	assert_int_equal(run(&rig, sqe), 0);
	assert_true(util_now_ns() - start >= 60 * MS);
	rig_free(&rig, ranges);
	rig_fini(&rig);
}

/*
 * Deleting a queue ends what is held, and neither medium nor buffers are touched any more: the
 * buffer is freed before.
 */
static void a_queue_that_is_deleted_does_not_wait(void **state)
{
	const struct nv_store_delay_conf conf = {.op[NV_STORE_WRITE].fixed_ns = LONG_DELAY};
	uint64_t start = util_now_ns();
	struct nv_soft_stats stats;
	struct nv_sqe sqe;
	struct nv_cqe cqe;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	rig_init(&rig, make_delay(&conf), 8);
	buf = rig_alloc(&rig, 4096);
	buf[0] = 0x77;
	sqe = make_rw(nvme_cmd_write, 0, 1, 512, buf, NULL);
	assert_int_equal(nv_queue_submit(rig.queue, &sqe), 0);
	rig.companion.poll(rig.companion.arg);
	assert_false(nv_queue_poll(rig.queue, &cqe));
	rig_free(&rig, buf);
	nv_queue_destroy(rig.queue);
	nv_soft_get_stats(rig.soft, &stats);
	assert_int_equal(stats.errors, 1); /* aborted */
	buf = rig_alloc(&rig, 4096);
	assert_int_equal(nv_queue_create(rig.ctrl, 8, &rig.queue, NULL), 0);
	assert_int_equal(nv_soft_companion(rig.soft, rig.queue->qid, &rig.companion), 0);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 0, 1, 512, buf, NULL)), 0);
	assert_int_equal(buf[0], 0);
	rig_free(&rig, buf);
	rig_fini(&rig);
	assert_true(util_now_ns() - start < LONG_DELAY);
}

/* A Flush at a shutdown is done before its time rather than not at all. */
static void a_shutdown_flushes_at_once(void **state)
{
	const struct nv_store_delay_conf conf = {.op[NV_STORE_FLUSH].fixed_ns = LONG_DELAY};
	const struct nv_store_fault watch = {.ops = 1u << NV_STORE_FLUSH, .error = EIO};
	const struct nv_store_fault_conf faults = {.faults = &watch, .count = 1};
	struct nv_store *below = make_ram(BLOCKS, 512);
	struct nv_store *flushes, *store;
	uint64_t count, dropped;
	struct rig rig;

	(void)state;
	below->volatile_cache = true;
	assert_int_equal(nv_store_fault_create(&faults, below, &flushes, NULL), 0);
	assert_int_equal(nv_store_delay_create(&conf, flushes, &store, NULL), 0);
	rig_init(&rig, store, 8);
	nv_queue_destroy(rig.queue);
	nv_ctrl_destroy(rig.ctrl);
	nv_store_fault_count(flushes, &count, &dropped);
	assert_int_equal(count, 1);
	rig.queue = NULL;
	rig.ctrl = NULL;
	rig_fini(&rig);
}

/* The fd is quiet while nothing is due. */
static void nothing_due_nothing_to_read(void **state)
{
	const struct nv_store_delay_conf conf = {.op[NV_STORE_READ].fixed_ns = LONG_DELAY};
	struct pollfd pfd = {.events = POLLIN};
	struct nv_sqe sqe;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	rig_init(&rig, make_delay(&conf), 8);
	buf = rig_alloc(&rig, 4096);
	pfd.fd = rig.companion.fd;
	assert_int_equal(poll(&pfd, 1, 0), 0);
	sqe = make_rw(nvme_cmd_read, 0, 1, 512, buf, NULL);
	assert_int_equal(nv_queue_submit(rig.queue, &sqe), 0);
	assert_int_equal(poll(&pfd, 1, 5), 0);
	rig_free(&rig, buf);
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_like_the_store_below),
		cmocka_unit_test(an_hour_is_the_most),
		cmocka_unit_test(each_operation_has_its_own_delay),
		cmocka_unit_test(a_write_is_not_there_before_its_time),
		cmocka_unit_test(random_delays_follow_the_seed),
		cmocka_unit_test(commands_of_several_steps_wait_for_each),
		cmocka_unit_test(a_queue_that_is_deleted_does_not_wait),
		cmocka_unit_test(a_shutdown_flushes_at_once),
		cmocka_unit_test(nothing_due_nothing_to_read),
	};

	return cmocka_run_group_tests_name("nvme/delay", tests, NULL, NULL);
}
