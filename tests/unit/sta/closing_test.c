/* SPDX-License-Identifier: Apache-2.0 */
/* Back-end queues that end while hosts use them: in order, with a dead controller, with a stopped.
 */
#include "engine.h"

enum {
	KEY = 0x1234abcd,
	CID = 0x42,
};

/* Of every command that the controller was given, it is known where it went. */
static void assert_adds_up(uint64_t commands, uint64_t completions, uint64_t taken_back)
{
	const struct sta_beq_stats *stats = &engine_disk.h.stats;

	assert_int_equal(stats->commands, commands);
	assert_int_equal(stats->completions, completions);
	assert_int_equal(stats->taken_back, taken_back);
	assert_int_equal(engine_disk.h.q.num_inflight, commands - completions - taken_back);
}

static void test_under_load(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, 0, 0), at_be;

	for (uint16_t i = 0; i < ENGINE_RING; i++) {
		sqe.cid = htole16(i);
		assert_true(engine_send(qp, &sqe, NULL, 0));
	}
	engine_run(e);
	engine_close_beq(&engine_disk);
	engine_finish(e, qp);
	/* The one that waited; those in the ring are the controller's. */
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(engine_answer_status(qp), STA_SC_NO_PATH);
	assert_int_equal(engine_disk.num_closed, 0);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_finish(e, qp);
	assert_int_equal(engine_answer_status(qp), STA_SC_NO_PATH);
	while (engine_be_fetch(&engine_disk, &at_be))
		engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, ENGINE_RING + 1);
	assert_int_equal(engine_disk.num_closed, 1);
	/* The one that waited was never the controller's. */
	assert_adds_up(ENGINE_RING - 1, ENGINE_RING - 1, 0);
	engine_assert_at_rest(e, qp);
}

/* A controller that never answers does not keep its queue from being closed. */
static void test_dead(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0);

	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_run(e);
	engine_close_beq(&engine_disk);
	engine_finish(e, qp);
	assert_int_equal(engine_disk.num_closed, 0);
	assert_adds_up(1, 0, 0);
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(engine_answer_status(qp), STA_SC(INTERNAL));
	assert_int_equal(engine_disk.num_closed, 1);
	assert_adds_up(1, 0, 1);
	engine_assert_at_rest(e, qp);
}

/* What a controller that was stopped has, and what waits for it, is the hosts' again at once. */
static void test_halted(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, 0, 0);
	uint32_t tail;

	for (uint16_t i = 0; i < ENGINE_RING; i++) {
		sqe.cid = htole16(i);
		assert_true(engine_send(qp, &sqe, NULL, 0));
	}
	engine_run(e);
	tail = engine_disk.doorbells[0];
	sta_eu_post(engine_disk.h.eu, &engine_disk.h.halt_msg);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, ENGINE_RING);
	for (unsigned int i = 0; i < ENGINE_RING; i++)
		assert_int_equal(le16toh(qp->answers[i].status) >> 1, STA_SC_NO_PATH);
	/* More do not reach it, and its doorbells are left alone. */
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, ENGINE_RING + 1);
	assert_int_equal(engine_answer_status(qp), STA_SC_NO_PATH);
	assert_adds_up(ENGINE_RING - 1, 0, ENGINE_RING - 1);
	assert_int_equal(engine_disk.doorbells[0], tail);
	engine_close_beq(&engine_disk);
	engine_finish(e, qp);
	assert_int_equal(engine_disk.num_closed, 1);
	assert_int_equal(engine_disk.doorbells[1], 0);
	engine_assert_at_rest(e, qp);
}

/* Late commands were answered: what comes back of them is their memory. */
static void test_halted_with_late_commands(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 1);
	static char host[ENGINE_BLOCK];

	engine_set_keyed(&sqe, host, sizeof(host), KEY, false);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_run_to_disk(e, qp);
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(engine_answer_status(qp), STA_SC(INTERNAL));
	assert_int_equal(qp->sta->num_busy, 1);
	sta_eu_post(engine_disk.h.eu, &engine_disk.h.halt_msg);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	engine_assert_at_rest(e, qp);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, engine_disk_setup, engine_disk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_under_load),
		TEST(test_dead),
		TEST(test_halted),
		TEST(test_halted_with_late_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
