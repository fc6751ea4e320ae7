/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of an EU itself: a device that gives up a completion queue. No completion comes any more;
 * the connections end all the same, and nothing of them is lost.
 */
#include "engine.h"

#include <string.h>

enum {
	KEY = 0x1234abcd,
	CID = 0x42,
};

static void submit(struct engine_qp *qp, uint8_t opcode, bool is_in_capsule)
{
	struct sta_sqe sqe = engine_io_sqe(opcode, CID, 1);
	static char host[ENGINE_BLOCK];

	if (is_in_capsule)
		engine_set_in_capsule(&sqe, 0, sizeof(host));
	else
		engine_set_keyed(&sqe, host, sizeof(host), KEY, false);
	assert_true(engine_send(qp, &sqe, host, is_in_capsule ? sizeof(host) : 0));
}

static void drain(struct engine *e, struct engine_qp *qp)
{
	sta_eu_post(qp->sta->eu, &qp->sta->drain_msg);
	engine_run(e);
}

static void assert_ended(const struct engine_qp *qp)
{
	assert_true(qp->is_error);
	assert_int_equal(qp->num_errors, 1);
	assert_int_equal(qp->sta->error_status, IBV_WC_FATAL_ERR);
	assert_int_equal(qp->num_drained, 1);
	assert_int_equal(qp->sta->num_busy, 0);
	assert_int_equal(qp->sta->num_posted_rx, 0);
	assert_int_equal(qp->sta->num_posted_tx, 0);
}

static uint32_t num_free(const struct engine *e)
{
	const struct sta_pool *pool = &e->eus[0].eu.pool;
	uint32_t n = 0;

	for (int i = 0; i < STA_SLOT_CLASSES; i++)
		n += pool->classes[i].num_free;
	return n;
}

/* With requests in every state: read from the host, at the disk, answered and not completed. */
static void test_lost_completion_queue(void **state)
{
	struct engine *e = *state;
	struct engine_qp *busy = engine_add_qp(e, 0), *idle = engine_add_qp(e, 0);
	struct engine_qp *other = engine_add_qp(e, 1);
	uint32_t all = num_free(e);
	struct sta_sqe held, answered;

	engine_run(e);
	submit(busy, nvme_cmd_write, true);
	held = engine_run_to_disk(e, busy);
	submit(busy, nvme_cmd_read, false);
	answered = engine_run_to_disk(e, busy);
	engine_be_complete(&engine_disk, &answered, 0, 0);
	engine_run(e);
	submit(busy, nvme_cmd_write, false); /* fetches */
	engine_run(e);
	assert_int_equal(busy->sta->num_posted_tx, 2);
	e->cqs[0].is_broken = true;
	engine_run(e);
	assert_int_equal(e->num_eu_errors, 1);
	assert_ptr_equal(e->faulty, &e->eus[0]);
	drain(e, idle);
	assert_ended(idle);
	/* What the disk has is waited for. */
	drain(e, busy);
	assert_int_equal(busy->num_drained, 0);
	engine_be_complete(&engine_disk, &held, 0, 0);
	engine_run(e);
	assert_ended(busy);
	assert_int_equal(num_free(e), all);
	assert_int_equal(e->ns->eu[0].num_inflight, 0);
	/* Told once, and the other EU does not know of it. */
	assert_int_equal(e->num_eu_errors, 1);
	assert_false(other->is_error);
}

/* All its receives are taken: nothing is posted that could tell. */
static void test_lost_under_commands_at_the_disk(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe at_be;
	uint32_t num = 0;

	engine_run(e);
	for (int i = 0; i < ENGINE_DEPTH; i++)
		submit(qp, nvme_cmd_write, true);
	engine_run(e);
	assert_int_equal(qp->sta->num_posted_rx, 0);
	e->cqs[0].is_broken = true;
	engine_run(e);
	assert_int_equal(e->num_eu_errors, 1);
	drain(e, qp);
	for (; engine_be_fetch(&engine_disk, &at_be); num++) {
		engine_be_complete(&engine_disk, &at_be, 0, 0);
		engine_run(e);
	}
	assert_int_equal(num, ENGINE_DEPTH);
	assert_ended(qp);
}

/* Between accept and established it is the control path's: it ends when the EU gets it. */
static void test_lost_before_established(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);

	e->cqs[0].is_broken = true;
	sta_eu_lose_cq(&e->eus[0].eu, &e->cqs[0].sta);
	assert_false(qp->is_error);
	engine_run(e);
	assert_true(qp->is_error);
	drain(e, qp);
	assert_ended(qp);
}

/* One that failed before and waits for its flush need not wait any more. */
static void test_lost_while_flushing(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);

	engine_run(e);
	sta_qp_fail(&e->eus[0].eu, qp->sta, STA_WR_SEND, IBV_WC_RETRY_EXC_ERR, 0);
	e->cqs[0].is_broken = true;
	drain(e, qp);
	assert_int_equal(qp->num_drained, 1);
	assert_int_equal(qp->num_errors, 1);
	assert_int_equal(qp->sta->error_status, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(e->num_eu_errors, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, engine_disk_setup, engine_disk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lost_completion_queue),
		TEST(test_lost_under_commands_at_the_disk),
		TEST(test_lost_before_established),
		TEST(test_lost_while_flushing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
