/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An orderly disconnect on a made-up device, controller and clock: who is waited for, and how long.
 */
#include "engine.h"

enum {
	CID = 0x42,
};

/* What is at the back-end is answered first, however long it takes within the bound. */
static void test_quiesce_waits_for_answers(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0), at_be;

	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	sta_eu_post(qp->sta->eu, &qp->sta->quiesce_msg);
	engine_run(e);
	/* A command that was on its way still counts. */
	sqe.cid = htole16(CID + 1);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_run(e);
	engine_set_time(e, STA_QUIESCE_NS - 1);
	engine_run(e);
	assert_int_equal(qp->num_quiesced, 0);
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	assert_true(engine_be_fetch(&engine_disk, &at_be));
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_run(e);
	assert_int_equal(qp->num_quiesced, 0); /* not acknowledged yet */
	engine_deliver(qp);
	engine_run(e);
	assert_int_equal(qp->num_answers, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(qp->answers[i].status, 0);
	assert_int_equal(qp->num_quiesced, 1);
	assert_int_equal(qp->sta->num_busy, 0);
}

/* A host that goes on sending does not put it off: its new commands are not taken. */
static void test_quiesce_takes_no_more(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0), at_be;

	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	sta_eu_post(qp->sta->eu, &qp->sta->quiesce_msg);
	engine_run(e);
	engine_set_time(e, STA_QUIESCE_TAKE_NS);
	engine_run(e);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_run(e);
	assert_int_equal(qp->sta->num_busy, 1);
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(qp->num_quiesced, 1);
	assert_int_equal(qp->sta->num_busy, 0);
}

/* An idle host: its last commands get a moment to arrive. */
static void test_quiesce_of_an_idle_host(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);

	sta_eu_post(qp->sta->eu, &qp->sta->quiesce_msg);
	engine_set_time(e, 0);
	engine_run(e);
	engine_set_time(e, STA_QUIESCE_QUIET_NS - 1);
	engine_run(e);
	assert_int_equal(qp->num_quiesced, 0);
	engine_set_time(e, STA_QUIESCE_QUIET_NS);
	engine_run(e);
	assert_int_equal(qp->num_quiesced, 1);
}

static void test_quiesce_is_bounded(void **state)
{
	struct engine *e = *state;
	struct engine_qp *held = engine_add_qp(e, 0), *deaf = engine_add_qp(e, 0);
	struct engine_qp *broken = engine_add_qp(e, 0), *taken = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0), at_be;

	/* One is held by the back-end, one host does not acknowledge its answer. */
	assert_true(engine_send(held, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, held);
	sqe.nsid = htole32(2);
	assert_true(engine_send(deaf, &sqe, NULL, 0));
	engine_run(e);
	sta_eu_post(held->sta->eu, &held->sta->quiesce_msg);
	sta_eu_post(deaf->sta->eu, &deaf->sta->quiesce_msg);
	engine_run(e);
	/* These two end by other ways: nobody to answer, and an application that does not wait. */
	engine_flush(broken);
	sta_eu_post(broken->sta->eu, &broken->sta->quiesce_msg);
	sta_eu_post(taken->sta->eu, &taken->sta->quiesce_msg);
	sta_eu_post(taken->sta->eu, &taken->sta->drain_msg);
	engine_run(e);
	assert_int_equal(broken->num_quiesced, 1);
	assert_int_equal(taken->num_drained, 1);
	engine_set_time(e, STA_QUIESCE_STALL_NS);
	engine_run(e);
	assert_int_equal(deaf->num_quiesced, 1);
	assert_int_equal(held->num_quiesced, 0);
	engine_set_time(e, STA_QUIESCE_NS);
	engine_run(e);
	assert_int_equal(held->num_quiesced, 1);
	assert_int_equal(taken->num_quiesced, 0);
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_finish(e, held);
	engine_finish(e, deaf);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, engine_disk_setup, engine_disk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_quiesce_waits_for_answers),
		TEST(test_quiesce_takes_no_more),
		TEST(test_quiesce_of_an_idle_host),
		TEST(test_quiesce_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
