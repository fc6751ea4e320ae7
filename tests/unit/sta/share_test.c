/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging slots are shared by connections: one whose host takes no answers keeps its own commands
 * waiting, not those of others.
 */
#include "engine.h"

#include <string.h>

enum {
	SLOTS = 8,
	NUM_QPS = 4,
	IO_BYTES = 256 * 1024, /* only the largest slots will do */
	KEY = 0x77,
};

static uint8_t data[IO_BYTES];

static int setup(void **state)
{
	if (engine_disk_setup(state))
		return -1;
	engine_add_slots(*state, 0, STA_SLOT_LARGE, SLOTS);
	return 0;
}

static struct sta_buf_class *large(struct engine *e)
{
	return &e->eus[0].eu.pool.classes[STA_SLOT_LARGE];
}

static uint32_t held_by(const struct engine_qp *qp)
{
	return qp->sta->slots.shares[STA_SLOT_LARGE].num_held;
}

static uint64_t num_waits(const struct engine *e)
{
	return e->eus[0].eu.pool.waited;
}

static void send_read(struct engine_qp *qp, uint16_t cid)
{
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, cid, IO_BYTES / ENGINE_BLOCK);

	engine_set_keyed(&sqe, data, sizeof(data), KEY, false);
	assert_true(engine_send(qp, &sqe, NULL, 0));
}

/* The disk does all that it is given. */
static void serve(struct engine *e)
{
	struct sta_sqe sqe;

	engine_run(e);
	while (engine_be_fetch(&engine_disk, &sqe)) {
		engine_be_complete(&engine_disk, &sqe, 0, 0);
		engine_run(e);
	}
}

/* As many large reads as the queue takes, whose data the host does not acknowledge. */
static struct engine_qp *add_stalled(struct engine *e)
{
	struct engine_qp *qp = engine_add_qp(e, 0);

	for (uint16_t cid = 0; cid < ENGINE_DEPTH; cid++)
		send_read(qp, cid);
	serve(e);
	assert_true(held_by(qp) > 0 && held_by(qp) < ENGINE_DEPTH);
	return qp;
}

/* Two large reads at a time, @n times; none of them waits. */
static void read_at_full_speed(struct engine *e, struct engine_qp *qp, unsigned int n)
{
	uint64_t waits = num_waits(e);
	unsigned int answers = qp->num_answers;

	for (unsigned int i = 0; i < n; i++) {
		send_read(qp, 1);
		send_read(qp, 2);
		serve(e);
		engine_deliver(qp);
		engine_run(e);
	}
	assert_int_equal(qp->num_answers, answers + 2 * n);
	assert_int_equal(num_waits(e), waits);
}

static void test_stalled_host_is_in_nobodys_way(void **state)
{
	struct engine *e = *state;
	struct engine_qp *other = engine_add_qp(e, 0);
	struct engine_qp *stalled = add_stalled(e);

	read_at_full_speed(e, other, 40);
	assert_int_equal(stalled->num_answers, 0);
	/* Its commands are as they were, and go on when it does. */
	engine_deliver(stalled);
	serve(e);
	engine_deliver(stalled);
	engine_run(e);
	assert_int_equal(stalled->num_answers, ENGINE_DEPTH);
	assert_int_equal(large(e)->num_free, SLOTS);
}

/* Two of them, and a connection that is new. */
static void test_several_stalled_hosts(void **state)
{
	struct engine *e = *state;
	struct engine_qp *other = engine_add_qp(e, 0), *late;

	(void)add_stalled(e);
	(void)add_stalled(e);
	send_read(other, 1);
	serve(e);
	engine_deliver(other);
	engine_run(e);
	assert_int_equal(other->num_answers, 1);
	late = engine_add_qp(e, 0);
	for (uint16_t cid = 0; cid < ENGINE_DEPTH; cid++)
		send_read(late, cid);
	/* One slot does for all of them. */
	for (unsigned int i = 0; i < ENGINE_DEPTH; i++) {
		serve(e);
		engine_deliver(late);
	}
	engine_run(e);
	assert_int_equal(late->num_answers, ENGINE_DEPTH);
}

static void test_alone_it_has_most(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_stalled(e);

	assert_in_range(held_by(qp), SLOTS * 3 / 4, SLOTS);
}

static void test_order_within_a_connection(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_stalled(e);

	for (unsigned int i = 0; i < ENGINE_DEPTH; i++) {
		engine_deliver(qp);
		serve(e);
	}
	assert_int_equal(qp->num_answers, ENGINE_DEPTH);
	for (uint16_t cid = 0; cid < ENGINE_DEPTH; cid++)
		assert_int_equal(le16toh(qp->answers[cid].cid), cid);
}

static void test_all_comes_back_from_who_ends(void **state)
{
	struct engine *e = *state;
	struct engine_qp *other = engine_add_qp(e, 0);
	struct engine_qp *stalled = add_stalled(e);
	const struct sta_pool *pool = &e->eus[0].eu.pool;

	assert_int_equal(pool->num_users, 2);
	assert_int_equal(pool->num_blocked, 1);
	sta_eu_post(stalled->sta->eu, &stalled->sta->drain_msg);
	engine_run(e);
	assert_int_equal(stalled->num_drained, 1);
	assert_int_equal(large(e)->num_free, SLOTS);
	assert_int_equal(large(e)->num_holders, 0);
	assert_int_equal(pool->num_users, 1);
	assert_int_equal(pool->num_blocked, 0);
	read_at_full_speed(e, other, 1);
}

/* All slots are out and everybody wants more: what comes back goes to each in turn, in one round.
 */
static void test_each_gets_a_slot_in_one_round(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qps[NUM_QPS];

	for (unsigned int i = 0; i < NUM_QPS; i++)
		qps[i] = engine_add_qp(e, 0);
	engine_run(e);
	for (uint16_t cid = 0; cid < ENGINE_DEPTH; cid++) {
		for (unsigned int i = 0; i < NUM_QPS; i++)
			send_read(qps[i], cid);
		engine_run(e);
	}
	for (unsigned int i = 0; i < NUM_QPS; i++)
		assert_true(held_by(qps[i]) > 0);
	serve(e);
	for (unsigned int i = 0; i < NUM_QPS; i++)
		engine_deliver(qps[i]);
	engine_round(e, 0);
	for (unsigned int i = 0; i < NUM_QPS; i++)
		assert_true(held_by(qps[i]) > 0);
	/* To the end: nobody is left behind. */
	for (unsigned int n = 0; n < ENGINE_DEPTH; n++) {
		serve(e);
		for (unsigned int i = 0; i < NUM_QPS; i++)
			engine_deliver(qps[i]);
	}
	engine_run(e);
	for (unsigned int i = 0; i < NUM_QPS; i++)
		assert_int_equal(qps[i]->num_answers, ENGINE_DEPTH);
	assert_int_equal(large(e)->num_free, SLOTS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, engine_disk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stalled_host_is_in_nobodys_way),
		TEST(test_several_stalled_hosts),
		TEST(test_alone_it_has_most),
		TEST(test_order_within_a_connection),
		TEST(test_all_comes_back_from_who_ends),
		TEST(test_each_gets_a_slot_in_one_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
