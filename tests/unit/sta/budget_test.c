/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An EU has a budget of tasks that it has not taken yet: submit says AGAIN beyond it, and the task
 * stays the application's until a retry succeeds.
 */
#include "engine.h"

#include <doca_sta_io_non_offload.h>
#include <doca_sta_task.h>
#include <string.h>

enum {
	KEY = 0x77,
	VENDOR_NONE = 0xc0, /* opcodes: the low bits say where data goes */
	VENDOR_TO_TARGET = 0xc1,
	QPS = STA_MAX_TASKS_AT_EU / ENGINE_DEPTH + 1,
	COMMANDS = QPS * ENGINE_DEPTH,
	NUM_OVER = COMMANDS - STA_MAX_TASKS_AT_EU,
};

#define ASSERT_GOOD(call)  assert_int_equal(call, DOCA_SUCCESS)
#define ASSERT_AGAIN(call) assert_int_equal(call, DOCA_ERROR_AGAIN)

struct command {
	struct engine_qp *qp;
	union doca_data token;
	struct doca_task *task;
	unsigned int num_done, num_failed;
};

static struct command commands[COMMANDS];

static void on_done(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct command *c = user_data.ptr;

	assert_ptr_equal(c->task, doca_sta_producer_send_task_as_task(task));
	c->num_done++;
	doca_task_free(c->task);
}

static void on_failed(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct command *c = user_data.ptr;

	assert_ptr_equal(c->task, doca_sta_producer_send_task_as_task(task));
	assert_int_equal(doca_task_get_status(c->task), DOCA_ERROR_IO_FAILED);
	c->num_failed++;
	doca_task_free(c->task);
}

static void run(struct engine *e)
{
	engine_run(e);
	for (unsigned int i = 0; i < e->num_qps; i++) {
		engine_deliver(e->qps[i]);
		engine_run(e);
	}
}

/* The host sends a command, which comes up. */
static void offer(struct engine *e, struct engine_qp *qp, const struct sta_sqe *sqe,
		  struct command *c)
{
	unsigned int before = e->num_offered;

	assert_true(engine_send(qp, sqe, NULL, 0));
	engine_run(e);
	assert_int_equal(e->num_offered, before + 1);
	*c = (struct command){.qp = qp, .token = e->token};
}

static void make_send(struct engine *e, struct command *c)
{
	uint8_t cqe[DOCA_STA_COMPLETION_SIZE] = {0};
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = c};

	ASSERT_GOOD(doca_sta_io_task_non_offload_rdma_send_alloc_init(&e->io, self, c->qp->sta, cqe,
								      c->token, &task));
	c->task = doca_sta_producer_send_task_as_task(task);
}

static void make_write_send(struct engine *e, struct command *c)
{
	uint8_t cqe[DOCA_STA_COMPLETION_SIZE] = {0};
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = c};

	ASSERT_GOOD(doca_sta_io_task_non_offload_rdma_write_send_alloc_init(
		&e->io, self, c->qp->sta, cqe, c->token, &task));
	c->task = doca_sta_producer_send_task_as_task(task);
}

static void make_read(struct engine *e, struct command *c)
{
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = c};

	ASSERT_GOOD(doca_sta_io_task_non_offload_rdma_read_alloc_init(&e->io, self, c->qp->sta,
								      c->token, &task));
	c->task = doca_sta_producer_send_task_as_task(task);
}

static int setup(void **state)
{
	struct sta_sqe sqe = engine_io_sqe(VENDOR_NONE, 0, 0);
	struct engine *e;

	if (engine_setup(state))
		return -1;
	e = *state;
	engine_add_slots(e, 0, STA_SLOT_PAGE, 2);
	ASSERT_GOOD(
		doca_sta_io_task_non_offload_set_rdma_write_send_conf(&e->io, on_done, on_failed));
	ASSERT_GOOD(doca_sta_io_task_non_offload_set_rdma_read_conf(&e->io, on_done, on_failed));
	e->io.ctx.state = DOCA_CTX_STATE_RUNNING;
	for (unsigned int i = 0; i < COMMANDS; i++) {
		struct engine_qp *qp = i % ENGINE_DEPTH ? commands[i - 1].qp : engine_add_qp(e, 0);

		sqe.cid = htole16((uint16_t)i);
		offer(e, qp, &sqe, &commands[i]);
		make_send(e, &commands[i]);
	}
	return 0;
}

/* Whatever a test has done: no task is left, and none counts as on its way. */
static int teardown(void **state)
{
	struct engine *e = *state;

	assert_int_equal(e->io.ctx.num_tasks, 0);
	assert_int_equal(e->io.ctx.num_inflight, 0);
	for (unsigned int i = 0; i < ENGINE_EUS; i++)
		assert_int_equal(atomic_load(&e->eus[i].eu.num_tasks), 0);
	doca_priv_task_pool_destroy(e->io.send_pool);
	doca_priv_task_pool_destroy(e->io.read_pool);
	return engine_teardown(state);
}

static void submit_to_the_budget(struct engine *e)
{
	for (unsigned int i = 0; i < STA_MAX_TASKS_AT_EU; i++)
		ASSERT_GOOD(doca_task_submit(commands[i].task));
	assert_int_equal(e->io.ctx.num_inflight, STA_MAX_TASKS_AT_EU);
}

static void assert_each_is_answered_once(const struct engine *e)
{
	static bool is_answered[COMMANDS];

	memset(is_answered, 0, sizeof(is_answered));
	for (unsigned int i = 0; i < QPS; i++) {
		assert_int_equal(e->qps[i]->num_answers, ENGINE_DEPTH);
		for (unsigned int k = 0; k < ENGINE_DEPTH; k++)
			is_answered[le16toh(e->qps[i]->answers[k].cid)] = true;
	}
	for (unsigned int i = 0; i < COMMANDS; i++) {
		assert_true(is_answered[i]);
		assert_int_equal(commands[i].num_done, 1);
		assert_int_equal(commands[i].num_failed, 0);
	}
}

static void test_again(void **state)
{
	struct command *over = &commands[STA_MAX_TASKS_AT_EU];
	struct engine *e = *state;

	submit_to_the_budget(e);
	for (unsigned int k = 0; k < 2 * NUM_OVER; k++)
		ASSERT_AGAIN(doca_task_submit(over[k % NUM_OVER].task));
	ASSERT_AGAIN(doca_task_try_submit(over->task));
	assert_int_equal(e->io.ctx.num_inflight, STA_MAX_TASKS_AT_EU);
	/* A retry needs no call for the context: the EU's round makes the room. */
	engine_round(e, 0);
	for (unsigned int k = 0; k < NUM_OVER; k++)
		ASSERT_GOOD(doca_task_submit(over[k].task));
	run(e);
	assert_each_is_answered_once(e);
}

/* Room comes back task by task, not only from an EU that is idle. */
static void test_one_more_for_each_that_is_taken(void **state)
{
	struct engine *e = *state;

	for (unsigned int i = 0; i < COMMANDS; i++) {
		if (i == STA_MAX_TASKS_AT_EU / 2)
			engine_round(e, 0);
		ASSERT_GOOD(doca_task_submit(commands[i].task));
	}
	assert_int_equal(atomic_load(&e->eus[0].eu.num_tasks), COMMANDS - STA_MAX_TASKS_AT_EU / 2);
	run(e);
	assert_each_is_answered_once(e);
}

/* The application may give the task up: the command is open still, for another. */
static void test_the_task_stays_the_applications(void **state)
{
	struct command *over = &commands[STA_MAX_TASKS_AT_EU];
	struct engine *e = *state;

	submit_to_the_budget(e);
	ASSERT_AGAIN(doca_task_submit(over->task));
	doca_task_free(over->task);
	make_write_send(e, over);
	ASSERT_AGAIN(doca_task_submit(over->task));
	engine_round(e, 0);
	for (unsigned int k = 0; k < NUM_OVER; k++)
		ASSERT_GOOD(doca_task_submit(over[k].task));
	assert_int_equal(doca_task_submit(commands[0].task), DOCA_ERROR_BAD_STATE);
	run(e);
	assert_each_is_answered_once(e);
}

static void test_reads_count(void **state)
{
	struct command *over = &commands[STA_MAX_TASKS_AT_EU];
	struct sta_sqe sqe = engine_io_sqe(VENDOR_TO_TARGET, COMMANDS, 0);
	static char host[64] = "from the host";
	struct engine *e = *state;
	struct command read;

	engine_set_keyed(&sqe, host, sizeof(host), KEY, false);
	offer(e, engine_add_qp(e, 0), &sqe, &read);
	make_read(e, &read);
	submit_to_the_budget(e);
	ASSERT_AGAIN(doca_task_submit(read.task));
	engine_round(e, 0);
	ASSERT_GOOD(doca_task_submit(read.task));
	for (unsigned int k = 0; k < NUM_OVER; k++)
		ASSERT_GOOD(doca_task_submit(over[k].task));
	run(e);
	assert_int_equal(read.num_done, 1);
	assert_memory_equal(e->payload, host, sizeof(host));
	make_send(e, &read);
	ASSERT_GOOD(doca_task_submit(read.task));
	run(e);
	assert_int_equal(read.num_done, 2);
	assert_each_is_answered_once(e);
}

static void test_each_eu_has_its_own(void **state)
{
	struct command *over = &commands[STA_MAX_TASKS_AT_EU];
	struct sta_sqe sqe = engine_io_sqe(VENDOR_NONE, COMMANDS, 0);
	struct engine *e = *state;
	struct command elsewhere;

	offer(e, engine_add_qp(e, 1), &sqe, &elsewhere);
	make_send(e, &elsewhere);
	submit_to_the_budget(e);
	ASSERT_AGAIN(doca_task_submit(over->task));
	ASSERT_GOOD(doca_task_submit(elsewhere.task));
	engine_round(e, 1);
	ASSERT_AGAIN(doca_task_submit(over->task)); /* it is the other that has room */
	engine_round(e, 0);
	for (unsigned int k = 0; k < NUM_OVER; k++)
		ASSERT_GOOD(doca_task_submit(over[k].task));
	run(e);
	assert_int_equal(elsewhere.num_done, 1);
	assert_each_is_answered_once(e);
}

/* The command of a connection that has failed is to be ended all the same, and can be. */
static void test_after_a_failure(void **state)
{
	struct command *over = &commands[STA_MAX_TASKS_AT_EU];
	struct engine_qp *broken = over->qp;
	struct engine *e = *state;

	submit_to_the_budget(e);
	engine_flush(broken);
	ASSERT_AGAIN(doca_task_submit(over->task));
	engine_round(e, 0);
	for (unsigned int k = 0; k < NUM_OVER; k++)
		ASSERT_GOOD(doca_task_submit(over[k].task));
	run(e);
	for (unsigned int i = 0; i < COMMANDS; i++) {
		assert_int_equal(commands[i].num_failed, commands[i].qp == broken);
		assert_int_equal(commands[i].num_done, commands[i].qp != broken);
	}
	assert_int_equal(broken->sta->num_busy, 0);
}

/* A connection that has ended needs no EU for its tasks: there is always room. */
static void test_after_the_end(void **state)
{
	struct command *over = &commands[STA_MAX_TASKS_AT_EU];
	struct engine_qp *gone = over->qp;
	struct engine *e = *state;

	sta_eu_post(gone->sta->eu, &gone->sta->drain_msg);
	engine_run(e);
	assert_int_equal(gone->num_drained, 1);
	gone->sta->is_gone = true;
	submit_to_the_budget(e);
	for (unsigned int k = 0; k < NUM_OVER; k++)
		ASSERT_GOOD(doca_task_submit(over[k].task));
	assert_int_equal(atomic_load(&e->eus[0].eu.num_tasks), STA_MAX_TASKS_AT_EU);
	run(e);
	for (unsigned int k = 0; k < NUM_OVER; k++)
		assert_int_equal(over[k].num_failed, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_again),
		TEST(test_one_more_for_each_that_is_taken),
		TEST(test_the_task_stays_the_applications),
		TEST(test_reads_count),
		TEST(test_each_eu_has_its_own),
		TEST(test_after_a_failure),
		TEST(test_after_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
