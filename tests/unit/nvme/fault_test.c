/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault engine below a controller: which requests a fault is meant for, what the host sees of
 * it, and that what is never answered ends with its queue.
 */
#include "fixture.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define BLOCKS 256u

static struct nv_store *make_fault(const struct nv_store_fault *faults, unsigned int count)
{
	const struct nv_store_fault_conf conf = {.faults = faults, .count = count, .seed = 11};
	struct nv_store *store;

	assert_int_equal(nv_store_fault_create(&conf, make_ram(BLOCKS, 512), &store, NULL), 0);
	return store;
}

struct bench {
	struct rig rig;
	struct nv_store *store;
	uint8_t *buf;
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->store = make_fault(NULL, 0);
	rig_init(&b->rig, b->store, 16);
	b->buf = rig_alloc(&b->rig, NV_PAGE_SIZE);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	rig_free(&b->rig, b->buf);
	rig_fini(&b->rig);
	free(b);
	return 0;
}

static void set(struct bench *b, struct nv_store_fault fault)
{
	const struct nv_store_fault_conf conf = {.faults = &fault, .count = 1, .seed = 11};

	assert_int_equal(nv_store_fault_set(b->store, &conf, NULL), 0);
}

static uint16_t rw(struct bench *b, uint8_t opcode, uint64_t slba, uint32_t blocks)
{
	return run(&b->rig, make_rw(opcode, slba, blocks, 512, b->buf, NULL));
}

static void none_is_none(void **state)
{
	struct bench *b = *state;

	memset(b->buf, 0x21, 512);
	assert_int_equal(rw(b, nvme_cmd_write, 3, 1), 0);
	memset(b->buf, 0, 512);
	assert_int_equal(rw(b, nvme_cmd_read, 3, 1), 0);
	assert_int_equal(b->buf[511], 0x21);
	assert_string_equal(b->store->kind, "fault");
	assert_int_equal(b->store->size_bytes, BLOCKS * 512);
}

static void an_errno_becomes_a_status(void **state)
{
	static const struct {
		int error;
		uint16_t read, write;
	} cases[] = {
		{EIO, MEDIA(NVME_SC_READ_ERROR), MEDIA(NVME_SC_WRITE_FAULT)},
		{EILSEQ, MEDIA(NVME_SC_READ_ERROR), MEDIA(NVME_SC_WRITE_FAULT)},
		{ERANGE, DNR(NVME_SC_LBA_RANGE), DNR(NVME_SC_LBA_RANGE)},
		{ENOSPC, DNR(NVME_SC_CAP_EXCEEDED), DNR(NVME_SC_CAP_EXCEEDED)},
		{EROFS, DNR(NVME_SC_NS_WRITE_PROTECTED), DNR(NVME_SC_NS_WRITE_PROTECTED)},
		{EFAULT, NVME_SC_DATA_XFER_ERROR, NVME_SC_DATA_XFER_ERROR},
		{EINVAL, NVME_SC_INTERNAL, NVME_SC_INTERNAL},
	};
	struct bench *b = *state;

	for (size_t i = 0; i < UTIL_ARRAY_SIZE(cases); i++) {
		set(b, (struct nv_store_fault){.error = cases[i].error});
		assert_int_equal(rw(b, nvme_cmd_read, 0, 1), cases[i].read);
		assert_int_equal(rw(b, nvme_cmd_write, 0, 1), cases[i].write);
		assert_int_equal(rw(b, nvme_cmd_write_zeroes, 0, 1), cases[i].write);
		assert_int_equal(rw(b, nvme_cmd_compare, 0, 1), cases[i].read);
		assert_int_equal(rw(b, nvme_cmd_verify, 0, 1), cases[i].read);
	}
}

/* A write that failed has not changed a byte. */
static void a_failed_write_is_not_done(void **state)
{
	struct bench *b = *state;

	set(b, (struct nv_store_fault){.ops = 1u << NV_STORE_WRITE, .error = EIO});
	memset(b->buf, 0x42, 512);
	assert_int_equal(rw(b, nvme_cmd_write, 0, 1), MEDIA(NVME_SC_WRITE_FAULT));
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), 0);
	assert_int_equal(b->buf[0], 0);
	assert_int_equal(rw(b, nvme_cmd_write_zeroes, 0, 1), 0);
}

static void a_range_is_exact(void **state)
{
	struct bench *b = *state;

	set(b, (struct nv_store_fault){.first_block = 8, .blocks = 2, .error = EIO});
	assert_int_equal(rw(b, nvme_cmd_read, 0, 8), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 10, 1), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 7, 2), MEDIA(NVME_SC_READ_ERROR));
	assert_int_equal(rw(b, nvme_cmd_read, 8, 1), MEDIA(NVME_SC_READ_ERROR));
	assert_int_equal(rw(b, nvme_cmd_read, 9, 4), MEDIA(NVME_SC_READ_ERROR));
	assert_int_equal(rw(b, nvme_cmd_read, 4, 8), MEDIA(NVME_SC_READ_ERROR));
	set(b, (struct nv_store_fault){.first_block = BLOCKS - 1, .error = EIO});
	assert_int_equal(rw(b, nvme_cmd_read, BLOCKS - 2, 1), 0);
	assert_int_equal(rw(b, nvme_cmd_read, BLOCKS - 1, 1), MEDIA(NVME_SC_READ_ERROR));
	set(b, (struct nv_store_fault){.blocks = 1, .error = EIO});
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), MEDIA(NVME_SC_READ_ERROR));
	assert_int_equal(rw(b, nvme_cmd_read, 1, 1), 0);
}

static void the_nth_and_so_often(void **state)
{
	struct bench *b = *state;
	uint64_t failed, dropped;

	set(b, (struct nv_store_fault){
		       .ops = 1u << NV_STORE_READ, .nth = 3, .times = 2, .error = EIO});
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), 0);
	assert_int_equal(rw(b, nvme_cmd_write, 0, 1), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), MEDIA(NVME_SC_READ_ERROR));
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), MEDIA(NVME_SC_READ_ERROR));
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), 0);
	nv_store_fault_count(b->store, &failed, &dropped);
	assert_int_equal(failed, 2);
	assert_int_equal(dropped, 0);
}

static unsigned int draw(struct bench *b, uint32_t ppm, uint64_t *ret_pattern)
{
	unsigned int hits = 0;

	set(b, (struct nv_store_fault){.probability_ppm = ppm, .error = EIO});
	*ret_pattern = 0;
	for (unsigned int i = 0; i < 64; i++)
		if (rw(b, nvme_cmd_read, 0, 1)) {
			*ret_pattern |= 1ull << i;
			hits++;
		}
	return hits;
}

static void a_probability_follows_the_seed(void **state)
{
	struct bench *b = *state;
	uint64_t first, again;
	unsigned int hits = draw(b, NV_STORE_PPM / 4, &first);

	assert_in_range(hits, 6, 28);
	draw(b, NV_STORE_PPM / 4, &again);
	assert_true(first == again);
	assert_int_equal(draw(b, NV_STORE_PPM, &first), 64);
}

static void the_first_that_applies_strikes(void **state)
{
	const struct nv_store_fault faults[] = {
		{.ops = 1u << NV_STORE_READ, .blocks = 1, .error = ENOSPC},
		{.error = EIO},
	};
	const struct nv_store_fault_conf conf = {.faults = faults, .count = 2};
	struct bench *b = *state;

	assert_int_equal(nv_store_fault_set(b->store, &conf, NULL), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), DNR(NVME_SC_CAP_EXCEEDED));
	assert_int_equal(rw(b, nvme_cmd_read, 1, 1), MEDIA(NVME_SC_READ_ERROR));
}

static void what_makes_no_sense_is_refused(void **state)
{
	struct nv_store_fault fault = {.ops = 1u << NV_STORE_OPS, .error = EIO};
	struct nv_store_fault_conf conf = {.faults = &fault, .count = 1};
	struct nv_store *other = make_ram(BLOCKS, 512);
	struct bench *b = *state;
	struct nv_store *store;
	struct nv_err err;

	assert_int_equal(nv_store_fault_create(&conf, other, &store, &err), -EINVAL);
	fault = (struct nv_store_fault){.probability_ppm = NV_STORE_PPM + 1, .error = EIO};
	assert_int_equal(nv_store_fault_set(b->store, &conf, &err), -EINVAL);
	fault = (struct nv_store_fault){.error = -EIO};
	assert_int_equal(nv_store_fault_set(b->store, &conf, &err), -EINVAL);
	conf.count = NV_STORE_MAX_FAULTS + 1;
	assert_int_equal(nv_store_fault_set(b->store, &conf, &err), -EINVAL);
	conf.count = 0;
	assert_int_equal(nv_store_fault_set(other, &conf, &err), -EINVAL);
	assert_non_null(strstr(err.text, "ram"));
	nv_store_destroy(other);
}

/* No completion comes, others are not held up, and the queue's deletion ends it. */
static void what_is_never_answered_ends_with_the_queue(void **state)
{
	struct bench *b = *state;
	struct nv_sqe sqe = make_rw(nvme_cmd_read, 0, 1, 512, b->buf, NULL);
	struct pollfd pfd = {.fd = b->rig.companion.fd, .events = POLLIN};
	struct nv_soft_stats stats;
	uint64_t failed, dropped;
	struct nv_cqe cqe;

	set(b, (struct nv_store_fault){.times = 2});
	sqe.cid = htole16(0x1111);
	assert_int_equal(nv_queue_submit(b->rig.queue, &sqe), 0);
	sqe.opcode = nvme_cmd_compare;
	sqe.cid = htole16(0x2222);
	assert_int_equal(nv_queue_submit(b->rig.queue, &sqe), 0);
	assert_int_equal(poll(&pfd, 1, 20), 0);
	b->rig.companion.poll(b->rig.companion.arg);
	assert_false(nv_queue_poll(b->rig.queue, &cqe));
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), 0);
	nv_store_fault_count(b->store, &failed, &dropped);
	assert_int_equal(failed, 0);
	assert_int_equal(dropped, 2);

	nv_queue_destroy(b->rig.queue);
	nv_soft_get_stats(b->rig.soft, &stats);
	assert_int_equal(stats.errors, 2); /* aborted by the deletion */
	assert_int_equal(stats.media_errors, 0);
	assert_int_equal(nv_queue_create(b->rig.ctrl, 16, &b->rig.queue, NULL), 0);
	assert_int_equal(nv_soft_companion(b->rig.soft, b->rig.queue->qid, &b->rig.companion), 0);
	assert_int_equal(rw(b, nvme_cmd_read, 0, 1), 0);
}

/* A Flush at a shutdown that is never answered does not keep the shutdown. */
static void a_lost_flush_does_not_keep_a_shutdown(void **state)
{
	const struct nv_store_fault fault = {.ops = 1u << NV_STORE_FLUSH};
	const struct nv_store_fault_conf conf = {.faults = &fault, .count = 1};
	struct nv_store *below = make_ram(BLOCKS, 512);
	struct nv_store *store;
	uint64_t failed, dropped;
	struct rig rig;

	(void)state;
	below->volatile_cache = true;
	assert_int_equal(nv_store_fault_create(&conf, below, &store, NULL), 0);
	rig_init(&rig, store, 8);
	nv_queue_destroy(rig.queue);
	nv_ctrl_destroy(rig.ctrl);
	nv_store_fault_count(store, &failed, &dropped);
	assert_int_equal(dropped, 1);
	rig.queue = NULL;
	rig.ctrl = NULL;
	rig_fini(&rig);
}

/* On a delay: a fault above it strikes at once, one below it after the delay. */
static void faults_and_delays_stack(void **state)
{
	const struct nv_store_delay_conf slow = {.op[NV_STORE_READ].fixed_ns = 30 * UTIL_NS_PER_MS};
	const struct nv_store_fault fault = {.error = EIO};
	uint64_t start = util_now_ns();
	struct nv_store *store;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	assert_int_equal(nv_store_delay_create(&slow, make_fault(&fault, 1), &store, NULL), 0);
	rig_init(&rig, store, 8);
	buf = rig_alloc(&rig, 4096);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 0, 1, 512, buf, NULL)),
			 MEDIA(NVME_SC_READ_ERROR));
	assert_true(util_now_ns() - start >= 30 * UTIL_NS_PER_MS);
	rig_free(&rig, buf);
	rig_fini(&rig);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(none_is_none),
		T(an_errno_becomes_a_status),
		T(a_failed_write_is_not_done),
		T(a_range_is_exact),
		T(the_nth_and_so_often),
		T(a_probability_follows_the_seed),
		T(the_first_that_applies_strikes),
		T(what_makes_no_sense_is_refused),
		T(what_is_never_answered_ends_with_the_queue),
		cmocka_unit_test(a_lost_flush_does_not_keep_a_shutdown),
		cmocka_unit_test(faults_and_delays_stack),
	};

	return cmocka_run_group_tests_name("nvme/fault", tests, NULL, NULL);
}
