/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many commands an EU holds at once (doca_sta_get_max_io_num_per_dev()): at the limit it takes
 * no more, and goes on in turn as commands are answered. A test makes the EU nearly full by hand.
 */
#include "engine.h"

#include <doca_sta_io_non_offload.h>
#include <string.h>

enum {
	CID = 0x42,
	IO_LIMIT = STA_MAX_IOS_PER_EU - STA_CONNECT_IOS_PER_EU,
	VENDOR = 0xc0, /* goes to the application */
};

/* Room for so many commands of connected queues. */
static void leave_room(struct engine *e, uint32_t num)
{
	e->eus[0].eu.num_held = IO_LIMIT - num;
}

static uint32_t num_held(const struct engine *e)
{
	return e->eus[0].eu.num_held;
}

static void send_io(struct engine_qp *qp, uint8_t opcode, uint16_t cid)
{
	struct sta_sqe sqe = engine_io_sqe(opcode, cid, 0);

	assert_true(engine_send(qp, &sqe, NULL, 0));
}

/* The disk has one command, which it completes; all goes on. */
static uint16_t complete_one(struct engine *e)
{
	struct sta_sqe sqe;

	assert_true(engine_be_fetch(&engine_disk, &sqe));
	engine_be_complete(&engine_disk, &sqe, 0, 0);
	for (unsigned int i = 0; i < e->num_qps; i++)
		engine_finish(e, e->qps[i]);
	return sqe.cid;
}

static unsigned int num_at_disk(const struct engine_beq *q)
{
	return q->h.q.num_inflight;
}

static void test_limit(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);

	leave_room(e, 2);
	for (uint16_t i = 0; i < 3; i++)
		send_io(qp, nvme_cmd_flush, CID + i);
	engine_run(e);
	assert_int_equal(num_held(e), IO_LIMIT);
	assert_int_equal(num_at_disk(&engine_disk), 2);
	/* Its receive is not posted: the host has no credit for another. */
	assert_int_equal(qp->num_recvs, ENGINE_DEPTH - 1);
	complete_one(e);
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(num_at_disk(&engine_disk), 2);
	assert_int_equal(num_held(e), IO_LIMIT);
	complete_one(e);
	complete_one(e);
	assert_int_equal(qp->num_answers, 3);
	assert_int_equal(le16toh(qp->answers[2].cid), CID + 2);
	assert_int_equal(num_held(e), IO_LIMIT - 2);
	assert_null(e->eus[0].eu.held_up);
}

/* One with many commands does not keep out one with few. */
static void test_in_turn(void **state)
{
	struct engine *e = *state;
	struct engine_qp *many = engine_add_qp(e, 0), *few = engine_add_qp(e, 0);

	leave_room(e, 1);
	for (uint16_t i = 0; i < 5; i++)
		send_io(many, nvme_cmd_flush, i);
	engine_run(e);
	send_io(few, nvme_cmd_flush, 100);
	send_io(few, nvme_cmd_flush, 101);
	engine_run(e);
	assert_int_equal(num_at_disk(&engine_disk), 1);
	for (int i = 0; i < 5; i++) {
		complete_one(e);
		assert_int_equal(num_held(e), IO_LIMIT);
	}
	assert_int_equal(few->num_answers, 2);
	assert_int_equal(many->num_answers, 3);
	complete_one(e);
	complete_one(e);
	assert_int_equal(many->num_answers, 5);
}

/* A queue before its Connect gets in where I/O does not, up to the limit itself. */
static void test_connect_gets_in(void **state)
{
	struct engine *e = *state;
	struct engine_qp *io = engine_add_qp(e, 0), *fresh = engine_add_qp(e, 0);

	fresh->sta->is_connected = false;
	leave_room(e, 0);
	send_io(io, nvme_cmd_flush, 1);
	engine_run(e);
	send_io(fresh, VENDOR, 2);
	engine_run(e);
	assert_int_equal(num_at_disk(&engine_disk), 0);
	assert_int_equal(e->num_offered, 1);
	e->eus[0].eu.num_held = STA_MAX_IOS_PER_EU;
	send_io(fresh, VENDOR, 3);
	engine_run(e);
	assert_int_equal(e->num_offered, 1);
	/* It is first, though it came last. */
	e->eus[0].eu.num_held = STA_MAX_IOS_PER_EU - 1;
	engine_run(e);
	assert_int_equal(e->num_offered, 2);
	assert_int_equal(num_held(e), STA_MAX_IOS_PER_EU);
	leave_room(e, 1);
	engine_run(e);
	complete_one(e);
	assert_int_equal(io->num_answers, 1);
}

static void on_reaped(void *io, struct sta_msg *msg)
{
	(void)io;
	(void)msg;
}

/* What waits goes with its connection; what the application has open counts until it is taken back.
 */
static void test_broken_while_held_up(void **state)
{
	struct engine *e = *state;
	struct engine_qp *open = engine_add_qp(e, 0), *broken = engine_add_qp(e, 0);
	struct engine_qp *last = engine_add_qp(e, 0);

	leave_room(e, 1);
	send_io(open, VENDOR, 1);
	engine_run(e);
	assert_int_equal(e->num_offered, 1);
	send_io(broken, nvme_cmd_flush, 2);
	send_io(last, nvme_cmd_flush, 3);
	engine_run(e);
	assert_ptr_equal(e->eus[0].eu.held_up, broken->sta);
	engine_flush(broken);
	engine_run(e);
	assert_ptr_equal(e->eus[0].eu.held_up, last->sta);
	sta_eu_post(open->sta->eu, &open->sta->drain_msg);
	engine_run(e);
	assert_int_equal(open->num_drained, 1);
	assert_int_equal(num_at_disk(&engine_disk), 0);
	open->sta->reaped_msg.fn = on_reaped;
	sta_eu_post(open->sta->eu, &open->sta->reap_msg);
	engine_run(e);
	complete_one(e);
	assert_int_equal(last->num_answers, 1);
	assert_int_equal(broken->num_answers, 0);
	assert_int_equal(num_held(e), IO_LIMIT - 1);
}

/* A drive that does not answer takes no place for longer than the time-out. */
static void test_late_commands_do_not_count(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe;

	leave_room(e, 1);
	send_io(qp, nvme_cmd_flush, 1);
	engine_run(e);
	assert_true(engine_be_fetch(&engine_disk, &sqe));
	assert_int_equal(num_held(e), IO_LIMIT);
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(num_held(e), IO_LIMIT - 1);
	engine_be_complete(&engine_disk, &sqe, 0, 0);
	engine_finish(e, qp);
	assert_int_equal(num_held(e), IO_LIMIT - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, engine_disk_setup, engine_disk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_limit),
		TEST(test_in_turn),
		TEST(test_connect_gets_in),
		TEST(test_broken_while_held_up),
		TEST(test_late_commands_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
