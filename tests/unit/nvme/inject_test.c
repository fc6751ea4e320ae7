/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torn queues and controllers that stop, seen through the driver: what each of its functions
 * returns, that nothing is written to memory that was given back, and how a controller comes back.
 */
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "nvme/soft/inject.h"

#define BLOCKS 256u

struct bench {
	struct rig rig;
	uint8_t *buf;
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	rig_init(&b->rig, make_ram(BLOCKS, 512), 8);
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

static void submit(struct bench *b, uint16_t cid)
{
	struct nv_sqe sqe = make_rw(nvme_cmd_read, 0, 1, 512, b->buf, NULL);

	sqe.cid = htole16(cid);
	assert_int_equal(nv_queue_submit(b->rig.queue, &sqe), 0);
	b->rig.companion.poll(b->rig.companion.arg);
}

/* The cid of the completion that is there. */
static uint16_t next_cid(struct bench *b)
{
	struct nv_cqe cqe;

	assert_true(nv_queue_poll(b->rig.queue, &cqe));
	assert_int_equal(nv_cqe_status(&cqe), 0);
	return le16toh(cqe.cid);
}

static void nothing_there(struct bench *b)
{
	struct nv_cqe cqe;

	b->rig.companion.poll(b->rig.companion.arg);
	assert_false(nv_queue_poll(b->rig.queue, &cqe));
}

static void tear(struct bench *b, enum nv_soft_torn kind, uint32_t times)
{
	assert_int_equal(nv_soft_tear(b->rig.soft, kind, b->rig.queue->qid, times), 0);
}

/* A controller as after a power-on, with a driver on it that reads. */
static void bring_back(struct bench *b)
{
	assert_int_equal(nv_ctrl_create(&b->rig.bar, &b->rig.allocator, NULL, &b->rig.ctrl, NULL),
			 0);
	assert_int_equal(nv_queue_create(b->rig.ctrl, 8, &b->rig.queue, NULL), 0);
	assert_int_equal(nv_soft_companion(b->rig.soft, b->rig.queue->qid, &b->rig.companion), 0);
	assert_int_equal(run(&b->rig, make_rw(nvme_cmd_read, 0, 1, 512, b->buf, NULL)), 0);
}

/* ---- I/O queues --------------------------------------------------------------------------- */

static void silence_is_for_one_command(void **state)
{
	struct bench *b = *state;

	tear(b, NV_SOFT_TORN_SILENT, 1);
	submit(b, 1);
	nothing_there(b);
	submit(b, 2);
	assert_int_equal(next_cid(b), 2);
	nothing_there(b);
}

static void an_unknown_identifier_is_ffff(void **state)
{
	struct bench *b = *state;

	tear(b, NV_SOFT_TORN_CID, 1);
	submit(b, 1);
	assert_int_equal(next_cid(b), 0xffff);
	submit(b, 2);
	assert_int_equal(next_cid(b), 2);
}

static void twice_is_twice(void **state)
{
	struct bench *b = *state;

	tear(b, NV_SOFT_TORN_TWICE, 100);
	for (uint16_t cid = 0; cid < 20; cid++) { /* round the ring more than once */
		submit(b, cid);
		assert_int_equal(next_cid(b), cid);
		assert_int_equal(next_cid(b), cid);
		nothing_there(b);
	}
	tear(b, NV_SOFT_TORN_TWICE, 0);
	submit(b, 9);
	assert_int_equal(next_cid(b), 9);
	nothing_there(b);
}

/* The second one finds no room: the ring does not overflow. */
static void twice_does_not_overflow_the_ring(void **state)
{
	struct bench *b = *state;
	struct nv_cqe cqe;
	unsigned int count = 0;

	tear(b, NV_SOFT_TORN_TWICE, 100);
	for (uint16_t cid = 0; cid < 7; cid++)
		submit(b, cid);
	for (unsigned int round = 0; round < 4; round++) {
		while (nv_queue_poll(b->rig.queue, &cqe))
			count++;
		b->rig.companion.poll(b->rig.companion.arg);
	}
	assert_in_range(count, 8, 14);
	nothing_there(b);
}

/* The host waits at that entry, and gets no other one either. */
static void a_wrong_phase_blocks_the_ring(void **state)
{
	struct bench *b = *state;

	tear(b, NV_SOFT_TORN_PHASE, 1);
	submit(b, 1);
	nothing_there(b);
	for (uint16_t cid = 2; cid < 7; cid++)
		submit(b, cid);
	nothing_there(b);
	nv_queue_destroy(b->rig.queue);
	b->rig.queue = NULL;
	assert_int_equal(nv_queue_create(b->rig.ctrl, 8, &b->rig.queue, NULL), 0);
	assert_int_equal(nv_soft_companion(b->rig.soft, b->rig.queue->qid, &b->rig.companion), 0);
	submit(b, 1);
	assert_int_equal(next_cid(b), 1);
}

static void queues_are_named_by_number(void **state)
{
	struct bench *b = *state;

	assert_int_equal(nv_soft_tear(b->rig.soft, NV_SOFT_TORN_CID, NV_MAX_IO_QUEUES + 1, 1),
			 -EINVAL);
	assert_int_equal(nv_soft_tear(b->rig.soft, NV_SOFT_TORN_CID, 2, 1), 0);
	submit(b, 1);
	assert_int_equal(next_cid(b), 1);
	assert_int_equal(nv_soft_tear(b->rig.soft, NV_SOFT_TORN_CID, NV_SOFT_EVERY_QUEUE, 1), 0);
	submit(b, 1);
	assert_int_equal(next_cid(b), 0xffff);
}

/* ---- the admin queue ---------------------------------------------------------------------- */

/* The driver waits for its answer, then gives the controller up. */
static void admin_is_torn(void **state)
{
	const enum nv_soft_torn kinds[] = {NV_SOFT_TORN_SILENT, NV_SOFT_TORN_PHASE,
					   NV_SOFT_TORN_CID};
	const struct nv_ctrl_opts opts = {.admin_timeout_ms = 20};
	struct bench *b = *state;
	struct nv_err err = {0};

	for (size_t i = 0; i < UTIL_ARRAY_SIZE(kinds); i++) {
		struct nv_queue *queue = NULL;

		nv_queue_destroy(b->rig.queue);
		b->rig.queue = NULL;
		nv_ctrl_destroy(b->rig.ctrl);
		assert_int_equal(nv_ctrl_create(&b->rig.bar, &b->rig.allocator, &opts, &b->rig.ctrl,
						NULL),
				 0);
		assert_int_equal(nv_soft_tear(b->rig.soft, kinds[i], 0, 1), 0);
		assert_int_equal(nv_queue_create(b->rig.ctrl, 8, &queue, &err), -ETIMEDOUT);
		assert_null(queue);
		/* Dead from here on, whatever the controller would answer. */
		assert_int_equal(nv_ctrl_identify(b->rig.ctrl, NVME_IDENTIFY_CNS_CTRL, 0, b->buf),
				 -EIO);
		nv_ctrl_destroy(b->rig.ctrl);
		bring_back(b);
	}
}

static void an_admin_answer_twice_is_taken_once(void **state)
{
	struct bench *b = *state;
	struct nv_ns_info info;

	assert_int_equal(nv_soft_tear(b->rig.soft, NV_SOFT_TORN_TWICE, 0, 40), 0);
	for (int i = 0; i < 30; i++) {
		assert_int_equal(nv_ctrl_ns_info(b->rig.ctrl, 1, &info), 0);
		assert_int_equal(info.nsze, BLOCKS);
	}
}

/* ---- controllers that stop ---------------------------------------------------------------- */

static void stopped(struct bench *b)
{
	struct nv_sqe identify = {.opcode = nvme_admin_identify};
	struct nv_queue *queue = NULL;
	struct nv_ns_info info;
	uint16_t status = 0x1234;
	struct nv_err err = {0};

	submit(b, 1);
	nothing_there(b);
	assert_int_equal(nv_ctrl_admin(b->rig.ctrl, &identify, b->buf, 4096, &status, NULL), -EIO);
	assert_int_equal(status, 0x1234);
	assert_int_equal(nv_ctrl_ns_info(b->rig.ctrl, 1, &info), -EIO);
	assert_int_equal(nv_queue_create(b->rig.ctrl, 8, &queue, &err), -EIO);
	assert_null(queue);
	nothing_there(b);
}

static void a_fatal_status_ends_with_a_reset(void **state)
{
	struct bench *b = *state;

	nv_soft_halt(b->rig.soft, NV_SOFT_FATAL);
	assert_true(NVME_CSTS_CFS(nv_bar_read32(&b->rig.bar, NVME_REG_CSTS)));
	stopped(b);
	nv_queue_destroy(b->rig.queue);
	nv_ctrl_destroy(b->rig.ctrl);
	assert_int_equal(nv_bar_read32(&b->rig.bar, NVME_REG_CSTS), 0);
	bring_back(b);
}

static void a_reset_below_us(void **state)
{
	struct bench *b = *state;
	struct nv_soft_companion companion;

	nv_soft_halt(b->rig.soft, NV_SOFT_RESET);
	assert_int_equal(nv_bar_read32(&b->rig.bar, NVME_REG_CSTS), 0);
	assert_int_equal(nv_bar_read32(&b->rig.bar, NVME_REG_CC), 0);
	stopped(b);
	nv_queue_destroy(b->rig.queue);
	nv_ctrl_destroy(b->rig.ctrl);
	bring_back(b);
	/* The queue of before went when the controller was enabled. */
	assert_int_equal(b->rig.queue->qid, 1);
	assert_int_equal(nv_soft_companion(b->rig.soft, 2, &companion), -ENOENT);
}

static void a_controller_that_is_pulled_out(void **state)
{
	struct bench *b = *state;
	struct nv_ctrl *ctrl = NULL;
	struct nv_err err = {0};

	nv_soft_halt(b->rig.soft, NV_SOFT_GONE);
	assert_int_equal(nv_bar_read32(&b->rig.bar, NVME_REG_CAP), UINT32_MAX);
	assert_int_equal(nv_bar_read32(&b->rig.bar, NVME_REG_CSTS), UINT32_MAX);
	nv_bar_write32(&b->rig.bar, NVME_REG_CC, 0);
	stopped(b);
	nv_queue_destroy(b->rig.queue);
	nv_ctrl_destroy(b->rig.ctrl);
	assert_int_equal(nv_ctrl_create(&b->rig.bar, &b->rig.allocator, NULL, &ctrl, &err),
			 -ENODEV);
	assert_non_null(strstr(err.text, "all ones"));

	nv_soft_halt(b->rig.soft, NV_SOFT_RUNNING);
	bring_back(b);
}

/* Pulled out with a command under way, and nobody brings it back. */
static void pulled_out_for_good(void **state)
{
	const struct nv_store_delay_conf slow = {.op[NV_STORE_READ].fixed_ns = UTIL_NS_PER_S * 600};
	struct nv_store *store;
	struct bench b;

	(void)state;
	assert_int_equal(nv_store_delay_create(&slow, make_ram(BLOCKS, 512), &store, NULL), 0);
	rig_init(&b.rig, store, 8);
	b.buf = rig_alloc(&b.rig, 4096);
	submit(&b, 1);
	nv_soft_halt(b.rig.soft, NV_SOFT_GONE);
	nv_queue_destroy(b.rig.queue);
	nv_ctrl_destroy(b.rig.ctrl);
	nv_soft_destroy(b.rig.soft); /* ends the read, so its buffer had to stay until here */
	rig_free(&b.rig, b.buf);
	nv_soft_mem_destroy(b.rig.mem);
}

/* ---- threads ------------------------------------------------------------------------------ */

struct worker {
	struct bench *b;
	bool stop;
	uint64_t taken;
};

/* A queue's thread: reads until it is told to stop; what is lost is lost. */
static void *work(void *arg)
{
	struct worker *worker = arg;
	struct rig *rig = &worker->b->rig;
	struct nv_cqe cqe;

	while (!__atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE)) {
		struct nv_sqe sqe = make_rw(nvme_cmd_read, 0, 1, 512, worker->b->buf, NULL);
		uint64_t taken = worker->taken;

		if ((uint16_t)(rig->queue->sq_tail - rig->queue->sq_head) % 8 < 4)
			(void)nv_queue_submit(rig->queue, &sqe);
		rig->companion.poll(rig->companion.arg);
		while (nv_queue_poll(rig->queue, &cqe))
			taken++;
		__atomic_store_n(&worker->taken, taken, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void wait_for_more(struct worker *worker)
{
	uint64_t until = util_now_ns() + 10 * UTIL_NS_PER_S;
	uint64_t want = __atomic_load_n(&worker->taken, __ATOMIC_ACQUIRE) + 100;
	const struct timespec nap = {.tv_nsec = 100 * 1000};

	while (__atomic_load_n(&worker->taken, __ATOMIC_ACQUIRE) < want) {
		assert_true(util_now_ns() < until);
		nanosleep(&nap, NULL);
	}
}

/* Set by one thread while another one drives the queue; run it under TSan, too. */
static void set_while_the_queue_runs(void **state)
{
	struct bench *b = *state;
	struct worker worker = {.b = b};
	uint64_t before;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, work, &worker), 0);
	for (int i = 0; i < 20; i++) {
		wait_for_more(&worker);
		tear(b, i % 2 ? NV_SOFT_TORN_TWICE : NV_SOFT_TORN_CID, 5);
	}
	wait_for_more(&worker);
	nv_soft_halt(b->rig.soft, NV_SOFT_FATAL);
	nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
	before = __atomic_load_n(&worker.taken, __ATOMIC_ACQUIRE);
	nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
	/* A completion that was posted before the halt may have been taken after our look. */
	assert_true(__atomic_load_n(&worker.taken, __ATOMIC_ACQUIRE) <= before + 8);
	__atomic_store_n(&worker.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	nv_soft_halt(b->rig.soft, NV_SOFT_RUNNING);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(silence_is_for_one_command),
		T(an_unknown_identifier_is_ffff),
		T(twice_is_twice),
		T(twice_does_not_overflow_the_ring),
		T(a_wrong_phase_blocks_the_ring),
		T(queues_are_named_by_number),
		T(admin_is_torn),
		T(an_admin_answer_twice_is_taken_once),
		T(a_fatal_status_ends_with_a_reset),
		T(a_reset_below_us),
		T(a_controller_that_is_pulled_out),
		cmocka_unit_test(pulled_out_for_good),
		T(set_while_the_queue_runs),
	};

	return cmocka_run_group_tests_name("nvme/inject", tests, NULL, NULL);
}
