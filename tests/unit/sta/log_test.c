/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine logs: each command with what was asked and answered, Connects, the life of a QP
 * on its EU, late commands; and that nothing is done for a message that nobody shows.
 */
#include "engine.h"

#include <doca_sta_io_non_offload.h>
#include <doca_sta_task.h>
#include <string.h>

#include "logged.h"
#include "sta/log.h"
#include "util/byteorder.h"

enum {
	CID = 0x42,
	QPN = 4711,
	QID = 3,
	SQSIZE_0B = 31,
	CNTLID = 9,
	KEY = 0x77,
	/* with their type, SCT 10:8 */
	READ_ERROR = 0x281,
	CONNECT_INVALID_HOST = 0x184,
};

static const union doca_data none;

static void on_task(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	(void)user_data;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

static int group_setup(void **state)
{
	(void)state;
	logged_open();
	return 0;
}

static int setup(void **state)
{
	struct engine *e;

	logged_start(DOCA_LOG_LEVEL_TRACE);
	if (engine_disk_setup(state))
		return -1;
	e = *state;
	assert_int_equal(doca_sta_io_task_non_offload_set_rdma_write_send_conf(&e->io, on_task,
									       on_task),
			 DOCA_SUCCESS);
	assert_int_equal(doca_sta_io_task_non_offload_set_rdma_read_conf(&e->io, on_task, on_task),
			 DOCA_SUCCESS);
	e->io.ctx.state = DOCA_CTX_STATE_RUNNING;
	return 0;
}

static int teardown(void **state)
{
	struct engine *e = *state;

	doca_priv_task_pool_destroy(e->io.send_pool);
	doca_priv_task_pool_destroy(e->io.read_pool);
	return engine_disk_teardown(state);
}

static struct engine_qp *add_qp(struct engine *e, unsigned int eu)
{
	struct engine_qp *qp = engine_add_qp(e, eu);

	qp->sta->qpn = QPN;
	qp->sta->qid = QID;
	return qp;
}

/* A Read of two blocks, to its end. */
static void read_blocks(struct engine *e, struct engine_qp *qp, uint16_t status)
{
	static uint8_t data[2 * ENGINE_BLOCK];
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 2);
	struct sta_sqe at_be;

	sqe.cdw10 = htole32(0x80000001);
	sqe.cdw11 = htole32(1);
	engine_set_keyed(&sqe, data, sizeof(data), KEY, false);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	engine_be_complete(&engine_disk, &at_be, status, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->sta->num_busy, 0);
}

static void test_each_command(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_qp(e, 1);

	read_blocks(e, qp, 0);
	ASSERT_LOGGED("][TRACE][sta.io] qp 4711: qid 3 cid 66 opcode 0x02 (read) nsid 1"
		      " slba 6442450945 blocks 2 length 1024: status 0x0000, eu 1\n");
	read_blocks(e, qp, READ_ERROR);
	ASSERT_LOGGED("length 1024: status 0x0281, eu 1\n");
}

static void test_command_without_blocks(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0), at_be;

	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_finish(e, qp);
	ASSERT_LOGGED(" cid 66 opcode 0x00 (flush) nsid 1 length 0: status 0x0000, eu 0\n");
	/* What never went to a back-end is answered, too. */
	sqe.nsid = htole32(5);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_finish(e, qp);
	ASSERT_LOGGED("(flush) nsid 5 length 0: status 0x400b, eu 0\n");
}

static void test_dropped_command(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0), at_be;

	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	engine_flush(qp);
	engine_run(e);
	ASSERT_LOGGED("][DEBUG][sta.qp] qp 4711: in error: a receive ended with status 5,"
		      " vendor error 0x0, eu 0\n");
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_run(e);
	ASSERT_LOGGED("(flush) nsid 1 length 0: status 0x0000, eu 0, dropped:");
}

static void test_life_on_the_eu(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_qp(e, 1);

	engine_run(e);
	ASSERT_LOGGED("][DEBUG][sta.qp] qp 4711: live on eu 1\n");
	sta_eu_post(qp->sta->eu, &qp->sta->quiesce_msg);
	engine_set_time(e, STA_QUIESCE_NS);
	engine_run(e);
	engine_set_time(e, 2 * STA_QUIESCE_NS);
	engine_run(e);
	ASSERT_LOGGED("qp 4711: quiet, 0 answers are still owed, eu 1\n");
	sta_eu_post(qp->sta->eu, &qp->sta->drain_msg);
	engine_run(e);
	ASSERT_LOGGED("qp 4711: drained, eu 1\n");
}

static void test_late_command(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0), at_be;

	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	engine_set_time(e, STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	ASSERT_LOGGED("][DEBUG][sta.be] back-end 0 queue 0: a command of qp 4711 is late,"
		      " cid 66 opcode 0x00\n");
	ASSERT_LOGGED("cid 66 opcode 0x00 (flush) nsid 1 length 0: status 0x0006, eu 0\n");
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_finish(e, qp);
	ASSERT_LOGGED("qp 4711: cid 66 is back from the back-end, late\n");
}

/* Memory is at risk: without any level set somebody hears of it. */
static void test_commands_taken_back_by_force(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0);

	logged_start(DOCA_LOG_LEVEL_WARNING);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	(void)engine_run_to_disk(e, qp);
	engine_close_beq(&engine_disk);
	engine_set_time(e, STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(engine_disk.num_closed, 1);
	ASSERT_LOGGED("][WARNING][sta.be] back-end 0 queue 0: closed with 1 commands that");
	assert_int_equal(logged_num_lines(), 1);
}

static struct sta_sqe connect_sqe(void)
{
	return (struct sta_sqe){
		.opcode = nvme_admin_fabrics,
		.flags = STA_SQE_PSDT_SGL,
		.cid = htole16(CID),
		.nsid = htole32(STA_FABRICS_CONNECT),
		.cdw10 = htole32(QID << 16),
		.cdw11 = htole32(SQSIZE_0B),
	};
}

static void fill_connect(uint8_t data[1024], const char *hostnqn)
{
	memset(data, 0, 1024);
	memset(data, 0xab, 16);
	util_put_le16(data + 16, CNTLID);
	memcpy(data + 256, "nqn.2014-08.org:s", 18);
	memcpy(data + 512, hostnqn, strlen(hostnqn));
}

static void answer(struct engine *e, struct engine_qp *qp, uint16_t status)
{
	struct sta_cqe cqe = {.dw0 = htole32(CNTLID), .status = htole16((uint16_t)(status << 1))};
	struct doca_sta_producer_task_send *task;

	assert_int_equal(doca_sta_io_task_non_offload_rdma_send_alloc_init(
				 &e->io, none, qp->sta, (uint8_t *)&cqe, e->token, &task),
			 DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(doca_sta_producer_send_task_as_task(task)), DOCA_SUCCESS);
	engine_finish(e, qp);
}

static void test_connect_in_capsule(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_qp(e, 0);
	struct sta_sqe sqe = connect_sqe();
	uint8_t data[1024];

	qp->sta->is_connected = false;
	engine_set_in_capsule(&sqe, 0, sizeof(data));
	/* A host's name is its choice; the log stays one line. */
	fill_connect(data, "nqn.x:\"h\n\x1b\xc3");
	assert_true(engine_send(qp, &sqe, data, sizeof(data)));
	engine_run(e);
	ASSERT_LOGGED("][DEBUG][sta.connect] qp 4711: connect qid 3 sqsize 31 cntlid 0x0009"
		      " hostnqn \"nqn.x:?h???\" subnqn \"nqn.2014-08.org:s\""
		      " hostid abababababababababababababababab, eu 0\n");
	answer(e, qp, CONNECT_INVALID_HOST);
	ASSERT_LOGGED("qp 4711: connect qid 3 refused with status 0x0184, eu 0\n");
	ASSERT_LOGGED("cid 66 opcode 0x7f (fabrics) fctype 1 length 1024: status 0x0184, eu 0\n");
	assert_false(qp->sta->is_connected);
}

static void test_connect_by_key(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = add_qp(e, 0);
	struct doca_sta_producer_task_send *task;
	struct sta_sqe sqe = connect_sqe();
	uint8_t data[1024];

	qp->sta->is_connected = false;
	engine_set_keyed(&sqe, data, sizeof(data), KEY, false);
	fill_connect(data, "nqn.h");
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_run(e);
	assert_false(logged_has("sta.connect"));
	assert_int_equal(doca_sta_io_task_non_offload_rdma_read_alloc_init(&e->io, none, qp->sta,
									   e->token, &task),
			 DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(doca_sta_producer_send_task_as_task(task)), DOCA_SUCCESS);
	engine_finish(e, qp);
	ASSERT_LOGGED("qp 4711: connect qid 3 sqsize 31 cntlid 0x0009 hostnqn \"nqn.h\"");
	answer(e, qp, 0);
	ASSERT_LOGGED("qp 4711: connect qid 3 accepted, cntlid 9, sq size 8, eu 0\n");
	assert_true(qp->sta->is_connected);
}

static unsigned int num_evaluated;

static unsigned int evaluate(void)
{
	return ++num_evaluated;
}

static void test_nothing_is_done_when_off(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp;

	logged_start(DOCA_LOG_LEVEL_INFO);
	qp = add_qp(e, 0);
	read_blocks(e, qp, READ_ERROR);
	sta_eu_post(qp->sta->eu, &qp->sta->drain_msg);
	engine_run(e);
	sta_debug("test", "%u", evaluate());
	assert_int_equal(num_evaluated, 0);
	assert_int_equal(logged_num_formatted(), 0);
	/* And both counts do count. */
	logged_start(DOCA_LOG_LEVEL_DEBUG);
	sta_trace("test", "%u", evaluate());
	sta_debug("test", "%u", evaluate());
	assert_int_equal(num_evaluated, 1);
	assert_int_equal(logged_num_formatted(), 1);
	ASSERT_LOGGED("][DEBUG][sta.test] 1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_command),
		TEST(test_command_without_blocks),
		TEST(test_dropped_command),
		TEST(test_life_on_the_eu),
		TEST(test_late_command),
		TEST(test_commands_taken_back_by_force),
		TEST(test_connect_in_capsule),
		TEST(test_connect_by_key),
		TEST(test_nothing_is_done_when_off),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
