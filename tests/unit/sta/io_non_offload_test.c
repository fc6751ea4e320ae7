/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doca_sta_io_non_offload.h, both halves of the path: callbacks, payloads, tasks, and what a broken
 * QP leaves.
 */
#include "engine.h"

#include <doca_sta_io_non_offload.h>
#include <doca_sta_task.h>
#include <string.h>

enum {
	KEY = 0x77,
	VENDOR_NONE = 0xc0, /* opcodes: the low bits say where data goes */
	VENDOR_TO_TARGET = 0xc1,
	VENDOR_TO_HOST = 0xc2,
};

#define ASSERT_GOOD(call)    assert_int_equal(call, DOCA_SUCCESS)
#define ASSERT_INVALID(call) assert_int_equal(call, DOCA_ERROR_INVALID_VALUE)

static const union doca_data none;
static unsigned int num_done, num_failed;

static void on_done(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	(void)user_data;
	num_done++;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

static void on_failed(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct doca_task *t = doca_sta_producer_send_task_as_task(task);

	(void)user_data;
	num_failed++;
	assert_int_equal(doca_task_get_status(t), DOCA_ERROR_IO_FAILED);
	doca_task_free(t);
}

static int setup(void **state)
{
	struct engine *e;

	if (engine_setup(state))
		return -1;
	e = *state;
	num_done = 0;
	num_failed = 0;
	engine_add_slots(e, 0, STA_SLOT_PAGE, 2);
	engine_add_slots(e, 0, STA_SLOT_SMALL, 2);
	assert_int_equal(doca_sta_io_task_non_offload_set_rdma_write_send_conf(&e->io, on_done,
									       on_failed),
			 DOCA_SUCCESS);
	assert_int_equal(doca_sta_io_task_non_offload_set_rdma_read_conf(&e->io, on_done,
									 on_failed),
			 DOCA_SUCCESS);
	e->io.ctx.state = DOCA_CTX_STATE_RUNNING;
	return 0;
}

static int teardown(void **state)
{
	struct engine *e = *state;

	assert_int_equal(e->io.ctx.num_tasks, 0);
	doca_priv_task_pool_destroy(e->io.send_pool);
	doca_priv_task_pool_destroy(e->io.read_pool);
	return engine_teardown(state);
}

static uint32_t free_slots(const struct engine *e)
{
	return e->eus[0].eu.pool.classes[STA_SLOT_PAGE].num_free +
	       e->eus[0].eu.pool.classes[STA_SLOT_SMALL].num_free;
}

static doca_error_t submit(struct doca_sta_producer_task_send *task)
{
	struct doca_task *t = doca_sta_producer_send_task_as_task(task);
	doca_error_t err = doca_task_submit(t);

	if (err != DOCA_SUCCESS)
		doca_task_free(t);
	return err;
}

static doca_error_t answer(struct engine *e, struct engine_qp *qp, uint16_t status, bool with_data)
{
	struct sta_cqe cqe = {.dw0 = htole32(0xabc),
			      .sqhd = 0xffff, /* the transport's to fill in */
			      .cid = 0xffff,
			      .status = htole16((uint16_t)(status << 1))};
	struct doca_sta_producer_task_send *task;
	doca_error_t err;

	if (with_data)
		err = doca_sta_io_task_non_offload_rdma_write_send_alloc_init(&e->io, none, qp->sta,
									      (uint8_t *)&cqe,
									      e->token, &task);
	else
		err = doca_sta_io_task_non_offload_rdma_send_alloc_init(&e->io, none, qp->sta,
									(uint8_t *)&cqe, e->token,
									&task);
	return err == DOCA_SUCCESS ? submit(task) : err;
}

static doca_error_t read_payload(struct engine *e, struct engine_qp *qp)
{
	struct doca_sta_producer_task_send *task;
	doca_error_t err = doca_sta_io_task_non_offload_rdma_read_alloc_init(&e->io, none, qp->sta,
									     e->token, &task);

	return err == DOCA_SUCCESS ? submit(task) : err;
}

static void run(struct engine *e, struct engine_qp *qp)
{
	engine_run(e);
	engine_deliver(qp);
	engine_run(e);
}

static void offer(struct engine *e, struct engine_qp *qp, const struct sta_sqe *sqe)
{
	unsigned int before = e->num_offered;

	assert_true(engine_send(qp, sqe, NULL, 0));
	run(e, qp);
	assert_int_equal(e->num_offered, before + 1);
}

/* ---- configuration ---- */

static void on_command(struct doca_sta_qp_handle *qp, union doca_data user_data, const uint8_t *sqe,
		       uint8_t *payload, uint32_t bytes, bool is_valid, union doca_data token)
{
	(void)qp;
	(void)user_data;
	(void)sqe;
	(void)payload;
	(void)bytes;
	(void)is_valid;
	(void)token;
}

static void test_is_configured_while_idle(void **state)
{
	struct engine *e = *state;
	struct doca_sta_io *io = &e->io;

	assert_int_equal(doca_sta_io_non_offload_register_cb(io, on_command, none),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_task_non_offload_set_rdma_read_conf(io, on_done, on_failed),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_task_non_offload_set_rdma_write_send_conf(io, on_done,
									       on_failed),
			 DOCA_ERROR_BAD_STATE);
	io->ctx.state = DOCA_CTX_STATE_IDLE;
	ASSERT_INVALID(doca_sta_io_non_offload_register_cb(NULL, on_command, none));
	ASSERT_INVALID(doca_sta_io_non_offload_register_cb(io, NULL, none));
	ASSERT_GOOD(doca_sta_io_non_offload_register_cb(io, on_command, none));
	ASSERT_INVALID(doca_sta_io_task_non_offload_set_rdma_read_conf(NULL, on_done, on_failed));
	ASSERT_INVALID(doca_sta_io_task_non_offload_set_rdma_read_conf(io, NULL, on_failed));
	ASSERT_INVALID(doca_sta_io_task_non_offload_set_rdma_read_conf(io, on_done, NULL));
	ASSERT_GOOD(doca_sta_io_task_non_offload_set_rdma_read_conf(io, on_done, on_failed));
	ASSERT_INVALID(
		doca_sta_io_task_non_offload_set_rdma_write_send_conf(NULL, on_done, on_failed));
	ASSERT_INVALID(doca_sta_io_task_non_offload_set_rdma_write_send_conf(io, NULL, on_failed));
	ASSERT_INVALID(doca_sta_io_task_non_offload_set_rdma_write_send_conf(io, on_done, NULL));
	ASSERT_GOOD(doca_sta_io_task_non_offload_set_rdma_write_send_conf(io, on_done, on_failed));
}

static void test_no_pointers(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_NONE, 1, 0);
	struct doca_sta_producer_task_send *task;
	uint8_t cqe[DOCA_STA_COMPLETION_SIZE] = {0};

#define WRITE_SEND doca_sta_io_task_non_offload_rdma_write_send_alloc_init
#define SEND	   doca_sta_io_task_non_offload_rdma_send_alloc_init
#define READ	   doca_sta_io_task_non_offload_rdma_read_alloc_init
	offer(e, qp, &sqe);
	ASSERT_INVALID(WRITE_SEND(NULL, none, qp->sta, cqe, e->token, &task));
	ASSERT_INVALID(WRITE_SEND(&e->io, none, NULL, cqe, e->token, &task));
	ASSERT_INVALID(WRITE_SEND(&e->io, none, qp->sta, NULL, e->token, &task));
	ASSERT_INVALID(WRITE_SEND(&e->io, none, qp->sta, cqe, none, &task));
	ASSERT_INVALID(WRITE_SEND(&e->io, none, qp->sta, cqe, e->token, NULL));
	ASSERT_INVALID(SEND(NULL, none, qp->sta, cqe, e->token, &task));
	ASSERT_INVALID(SEND(&e->io, none, NULL, cqe, e->token, &task));
	ASSERT_INVALID(SEND(&e->io, none, qp->sta, NULL, e->token, &task));
	ASSERT_INVALID(SEND(&e->io, none, qp->sta, cqe, none, &task));
	ASSERT_INVALID(SEND(&e->io, none, qp->sta, cqe, e->token, NULL));
	ASSERT_INVALID(READ(NULL, none, qp->sta, e->token, &task));
	ASSERT_INVALID(READ(&e->io, none, NULL, e->token, &task));
	ASSERT_INVALID(READ(&e->io, none, qp->sta, none, &task));
	ASSERT_INVALID(READ(&e->io, none, qp->sta, e->token, NULL));
	assert_int_equal(answer(e, qp, 0, false), DOCA_SUCCESS);
	run(e, qp);
}

/* Tasks that are made and not submitted go back as they came. */
static void test_tasks(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_NONE, 1, 0);
	struct doca_sta_producer_task_send *tasks[3];
	uint8_t cqe[DOCA_STA_COMPLETION_SIZE] = {0};

	offer(e, qp, &sqe);
	ASSERT_GOOD(READ(&e->io, none, qp->sta, e->token, &tasks[0]));
	ASSERT_GOOD(SEND(&e->io, none, qp->sta, cqe, e->token, &tasks[1]));
	ASSERT_GOOD(WRITE_SEND(&e->io, none, qp->sta, cqe, e->token, &tasks[2]));
	for (int i = 0; i < 3; i++)
		doca_task_free(doca_sta_producer_send_task_as_task(tasks[i]));
	assert_int_equal(answer(e, qp, 0, false), DOCA_SUCCESS);
	run(e, qp);
	assert_int_equal(num_done, 1);
}

/* As many tasks as there can be commands, and some; what is freed is there again. */
static void test_tasks_are_bounded(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_NONE, 1, 0);
	static struct doca_sta_producer_task_send *sends[4 * STA_MAX_IOS_PER_EU], *more;
	static struct doca_sta_producer_task_send *reads[4 * STA_MAX_IOS_PER_EU];
	uint8_t cqe[DOCA_STA_COMPLETION_SIZE] = {0};

	offer(e, qp, &sqe);
	for (unsigned int i = 0; i < UTIL_ARRAY_SIZE(sends); i++) {
		ASSERT_GOOD(SEND(&e->io, none, qp->sta, cqe, e->token, &sends[i]));
		ASSERT_GOOD(READ(&e->io, none, qp->sta, e->token, &reads[i]));
	}
	assert_int_equal(SEND(&e->io, none, qp->sta, cqe, e->token, &more), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(WRITE_SEND(&e->io, none, qp->sta, cqe, e->token, &more),
			 DOCA_ERROR_NO_MEMORY);
	assert_int_equal(READ(&e->io, none, qp->sta, e->token, &more), DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < UTIL_ARRAY_SIZE(sends); i++) {
		doca_task_free(doca_sta_producer_send_task_as_task(sends[i]));
		doca_task_free(doca_sta_producer_send_task_as_task(reads[i]));
	}
	assert_int_equal(answer(e, qp, 0, false), DOCA_SUCCESS);
	run(e, qp);
	assert_int_equal(num_done, 1);
}

/* Without callbacks there is nobody to tell. */
static void test_no_callbacks(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_NONE, 1, 0);
	struct doca_sta_producer_task_send *task;
	uint8_t cqe[DOCA_STA_COMPLETION_SIZE] = {0};

	e->io.ctx.state = DOCA_CTX_STATE_RUNNING;
	offer(e, qp, &sqe);
	assert_int_equal(SEND(&e->io, none, qp->sta, cqe, e->token, &task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(WRITE_SEND(&e->io, none, qp->sta, cqe, e->token, &task),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(READ(&e->io, none, qp->sta, e->token, &task), DOCA_ERROR_BAD_STATE);
}

/* ---- Connect ---- */

static void connect_with(struct engine *e, struct engine_qp *qp, uint16_t status)
{
	struct sta_sqe sqe = engine_io_sqe(nvme_admin_fabrics, 9, 0);
	uint8_t data[1024];

	memset(data, 'd', sizeof(data));
	sqe.nsid = htole32(STA_FABRICS_CONNECT);
	sqe.cdw10 = htole32(5u << 16);
	sqe.cdw11 = htole32(STA_CONNECT_CATTR_NO_FLOW << 16);
	engine_set_in_capsule(&sqe, 0, sizeof(data));
	assert_true(engine_send(qp, &sqe, data, sizeof(data)));
	run(e, qp);
	assert_true(e->is_payload_valid);
	assert_int_equal(e->payload_bytes, sizeof(data));
	assert_memory_equal(e->payload, data, sizeof(data));
	/* The receive does not wait for the application. */
	assert_int_equal(qp->num_recvs, ENGINE_DEPTH);
	assert_int_equal(answer(e, qp, status, false), DOCA_SUCCESS);
	run(e, qp);
}

static void test_connect(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, 1, 1);
	static char host[ENGINE_BLOCK];

	qp->sta->is_connected = false;
	connect_with(e, qp, STA_SC_DNR(CONNECT_INVALID_PARAM));
	assert_false(qp->sta->is_connected);
	/* Nothing is offloaded before Connect was answered with success. */
	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	offer(e, qp, &sqe);
	assert_int_equal(answer(e, qp, STA_SC_DNR(CMD_SEQ_ERROR), false), DOCA_SUCCESS);
	run(e, qp);
	connect_with(e, qp, 0);
	assert_true(qp->sta->is_connected);
	assert_int_equal(qp->num_answers, 3);
	assert_int_equal(le32toh(qp->answers[2].dw0), 0xabc);
	assert_int_equal(le16toh(qp->answers[2].cid), 9);
	assert_int_equal(le16toh(qp->answers[2].sqid), 5);
	assert_int_equal(le16toh(qp->answers[2].sqhd), 0xffff); /* no flow control */
	assert_int_equal(num_done, 3);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	run(e, qp);
	assert_int_equal(e->num_offered, 3);
	assert_int_equal(le16toh(qp->answers[3].status) >> 1, STA_SC_NO_PATH);
	assert_int_equal(free_slots(e), 4);
}

/* ---- payloads ---- */

static void test_data_from_host(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_TO_TARGET, 1, 0);
	static char host[5000];

	memset(host, 'h', sizeof(host));
	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	offer(e, qp, &sqe);
	assert_false(e->is_payload_valid);
	assert_int_equal(e->payload_bytes, sizeof(host));
	assert_int_equal(read_payload(e, qp), DOCA_SUCCESS);
	/* One task at a time. */
	assert_int_equal(read_payload(e, qp), DOCA_ERROR_BAD_STATE);
	assert_int_equal(answer(e, qp, 0, false), DOCA_ERROR_BAD_STATE);
	run(e, qp);
	assert_int_equal(num_done, 1);
	assert_memory_equal(e->payload, host, sizeof(host));
	assert_int_equal(answer(e, qp, 0, false), DOCA_SUCCESS);
	run(e, qp);
	assert_int_equal(num_done, 2);
	assert_int_equal(qp->invalidated[0], KEY);
	/* The token has ended. */
	assert_int_equal(answer(e, qp, 0, false), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(free_slots(e), 4);
	assert_int_equal(qp->sta->num_busy, 0);
}

static void test_data_to_host(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_TO_HOST, 1, 0);
	static char host[64];

	for (int round = 0; round < 2; round++) {
		memset(host, 'x', sizeof(host));
		engine_set_keyed(&sqe, host, sizeof(host), KEY, false);
		offer(e, qp, &sqe);
		/* The last user's data is not to be seen. */
		for (size_t i = 0; i < sizeof(host); i++)
			assert_int_equal(e->payload[i], 0);
		memset(e->payload, 'p', 10);
		assert_int_equal(answer(e, qp, 0, true), DOCA_SUCCESS);
		run(e, qp);
		for (size_t i = 0; i < sizeof(host); i++)
			assert_int_equal(host[i], i < 10 ? 'p' : 0);
		assert_int_equal(qp->invalidated[round], 0);
	}
	assert_int_equal(num_done, 2);
	assert_int_equal(free_slots(e), 4);
}

static void test_data_against_the_opcode(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_TO_TARGET, 1, 0);
	static char host[64], untouched[64];

	/* A write-and-send for data that goes the other way sends only. */
	engine_set_keyed(&sqe, host, sizeof(host), KEY, false);
	offer(e, qp, &sqe);
	memset(e->payload, 'p', sizeof(host));
	assert_int_equal(answer(e, qp, 0, true), DOCA_SUCCESS);
	run(e, qp);
	assert_memory_equal(host, untouched, sizeof(host));
	sqe.opcode = VENDOR_NONE;
	engine_set_keyed(&sqe, NULL, 0, 0, false);
	offer(e, qp, &sqe);
	assert_null(e->payload);
	assert_true(e->is_payload_valid);
	assert_int_equal(answer(e, qp, STA_SC_DNR(INVALID_OPCODE), true), DOCA_SUCCESS);
	run(e, qp);
	assert_int_equal(qp->num_answers, 2);
}

static void test_too_much_data(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_TO_TARGET, 1, 0);

	engine_set_keyed(&sqe, NULL, STA_MAX_IO_BYTES + 1, KEY, true);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	run(e, qp);
	assert_int_equal(e->num_offered, 0);
	assert_int_equal(le16toh(qp->answers[0].status) >> 1, STA_SC_DNR(INVALID_FIELD));
	assert_int_equal(qp->invalidated[0], KEY);
}

/* I/O that took every slot does not keep Connect and its kind from theirs. */
static void test_reserve(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe io = engine_io_sqe(nvme_cmd_read, 1, 1);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_TO_HOST, 1, 0);
	static struct engine_beq beq;
	static char host[ENGINE_BLOCK];

	engine_add_beq(e, &beq, 0);
	engine_set_keyed(&io, host, sizeof(host), KEY, true);
	for (int i = 0; i < 4; i++)
		assert_true(engine_send(qp, &io, NULL, 0));
	run(e, qp);
	assert_int_equal(e->eus[0].eu.pool.waited, 2);
	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	offer(e, qp, &sqe);
	assert_int_equal(answer(e, qp, 0, false), DOCA_SUCCESS);
	run(e, qp);
	assert_int_equal(qp->num_answers, 1);
	engine_free_beq(&beq);
}

/* ---- broken connections ---- */

static void test_bad_tokens(void **state)
{
	struct engine *e = *state;
	struct engine_qp *a = engine_add_qp(e, 0), *b = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_NONE, 1, 0);
	union doca_data token;

	offer(e, a, &sqe);
	assert_int_equal(answer(e, b, 0, false), DOCA_ERROR_INVALID_VALUE);
	token = e->token;
	e->token.u64 = 0;
	assert_int_equal(answer(e, a, 0, false), DOCA_ERROR_INVALID_VALUE);
	/* Any that differs in a bit, those of other requests among them. */
	for (int bit = 0; bit < 64; bit++) {
		e->token.u64 = token.u64 ^ 1ull << bit;
		assert_int_equal(answer(e, a, 0, false), DOCA_ERROR_INVALID_VALUE);
	}
	e->token = token;
	assert_int_equal(answer(e, a, 0, false), DOCA_SUCCESS);
	run(e, a);
	assert_int_equal(a->num_answers, 1);
}

static void on_kept(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	(void)task;
	(void)user_data;
	num_done++;
}

/* A request is used again and again: what is left of a command must not reach the next. */
static void test_kept_beyond_the_answer(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_NONE, 1, 0);
	struct doca_sta_producer_task_send *tasks[3], *more;
	uint8_t cqe[DOCA_STA_COMPLETION_SIZE] = {0};
	const struct sta_req *req;
	union doca_data token;

	e->io.send_cbs.completion = on_kept;
	e->io.read_cbs.completion = on_kept;
	offer(e, qp, &sqe);
	token = e->token;
	req = &qp->sta->reqs[token.u64 & 0xffff];
	assert_int_equal(req->token, token.u64);
	ASSERT_GOOD(READ(&e->io, none, qp->sta, token, &tasks[0]));
	ASSERT_GOOD(SEND(&e->io, none, qp->sta, cqe, token, &tasks[1]));
	ASSERT_GOOD(WRITE_SEND(&e->io, none, qp->sta, cqe, token, &tasks[2]));
	for (int i = 0; i < 3; i++) { /* a read may be repeated */
		ASSERT_GOOD(doca_task_submit(doca_sta_producer_send_task_as_task(tasks[i / 2])));
		run(e, qp);
		assert_int_equal(num_done, i + 1);
	}
	assert_int_equal(qp->num_answers, 1);

	sqe.cid = htole16(2);
	offer(e, qp, &sqe);
	assert_int_equal(req->token, e->token.u64);
	assert_int_not_equal(token.u64, e->token.u64);
	for (int i = 0; i < 3; i++) {
		struct doca_task *t = doca_sta_producer_send_task_as_task(tasks[i]);

		assert_int_equal(doca_task_submit(t), DOCA_ERROR_BAD_STATE);
		assert_int_equal(doca_task_try_submit(t), DOCA_ERROR_BAD_STATE);
		doca_task_free(t);
	}
	ASSERT_INVALID(READ(&e->io, none, qp->sta, token, &more));
	ASSERT_INVALID(SEND(&e->io, none, qp->sta, cqe, token, &more));
	ASSERT_INVALID(WRITE_SEND(&e->io, none, qp->sta, cqe, token, &more));
	engine_run(e);
	assert_int_equal(qp->num_answers, 1);

	e->io.send_cbs.completion = on_done;
	assert_int_equal(answer(e, qp, 0, false), DOCA_SUCCESS);
	run(e, qp);
	assert_int_equal(qp->num_answers, 2);
	assert_int_equal(le16toh(qp->answers[1].cid), 2);
}

static void test_broken_while_open(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_TO_TARGET, 1, 0);
	static char host[64];

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	offer(e, qp, &sqe);
	assert_int_equal(read_payload(e, qp), DOCA_SUCCESS);
	engine_run(e);
	engine_flush(qp);
	engine_run(e);
	assert_int_equal(num_failed, 1);
	/* The command is the application's still; the connection ends without it. */
	sta_eu_post(qp->sta->eu, &qp->sta->drain_msg);
	engine_run(e);
	assert_int_equal(qp->num_drained, 1);
	assert_int_equal(free_slots(e), 3);
	assert_int_equal(answer(e, qp, 0, false), DOCA_SUCCESS);
	engine_run(e);
	assert_int_equal(num_failed, 2);
	assert_int_equal(qp->num_answers, 0);
	assert_int_equal(free_slots(e), 4);
	assert_int_equal(qp->sta->num_busy, 0);
	assert_int_equal(qp->sta->num_tokens, 0);
}

static void on_reaped(void *io, struct sta_msg *msg)
{
	(void)io;
	(void)msg;
	num_done++;
}

static void test_answer_after_the_end(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_TO_HOST, 1, 0);
	static char host[64];

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	offer(e, qp, &sqe);
	offer(e, qp, &sqe);
	sta_eu_post(qp->sta->eu, &qp->sta->drain_msg);
	engine_run(e);
	assert_int_equal(qp->num_drained, 1);
	qp->sta->is_gone = true;
	/* The EU has forgotten the QP: the task ends by itself, the slot later. */
	assert_int_equal(answer(e, qp, 0, true), DOCA_SUCCESS);
	assert_int_equal(num_failed, 0); /* never inside submit */
	engine_run(e);
	assert_int_equal(num_failed, 1);
	assert_true(qp->sta->has_leftovers);
	assert_int_equal(qp->sta->num_tokens, 1);
	assert_int_equal(free_slots(e), 2);
	qp->sta->reaped_msg.fn = on_reaped;
	sta_eu_post(qp->sta->eu, &qp->sta->reap_msg);
	engine_run(e);
	assert_int_equal(num_done, 1);
	assert_int_equal(free_slots(e), 4);
}

static void test_not_offered_after_disconnect(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(VENDOR_NONE, 1, 0);

	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_round(e, 0);
	engine_round(e, 0);
	qp->sta->is_draining = true; /* while the command is on its way up */
	engine_run(e);
	assert_int_equal(e->num_offered, 0);
	assert_int_equal(qp->sta->num_tokens, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_is_configured_while_idle),
		TEST(test_no_pointers),
		TEST(test_tasks),
		TEST(test_tasks_are_bounded),
		cmocka_unit_test_setup_teardown(test_no_callbacks, engine_setup, engine_teardown),
		TEST(test_connect),
		TEST(test_data_from_host),
		TEST(test_data_to_host),
		TEST(test_data_against_the_opcode),
		TEST(test_too_much_data),
		TEST(test_reserve),
		TEST(test_bad_tokens),
		TEST(test_kept_beyond_the_answer),
		TEST(test_broken_while_open),
		TEST(test_answer_after_the_end),
		TEST(test_not_offered_after_disconnect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
