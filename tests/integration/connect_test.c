/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that must be refused, with the exact status that the specification gives, and the
 * target serving the others all the while.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "group.h"
#include "host.h"

#define REJ_CONSUMER   28
#define REJ_SERVICE_ID 8

#define ALLOWED_HOST "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-000000000001"
#define OTHER_HOST   "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-000000000002"

static struct host bystander;

static struct ini_params admin_params(void)
{
	return (struct ini_params){.addr = tgt.addr, .port = tgt.port, .subnqn = TGTPROC_NQN};
}

/* ---- CM requests ---- */

static void assert_rejected(const struct ini_cm_req *req, size_t bytes, uint16_t status)
{
	struct ini_params params = admin_params();
	struct ini_error error = {0};
	struct ini_queue *queue;

	params.private_data = req;
	params.private_bytes = (uint8_t)bytes;
	assert_int_equal(ini_open(&queue, &params, &error), -ECONNREFUSED);
	assert_int_equal(error.cm_reason, REJ_CONSUMER);
	assert_int_equal(error.rdma_status, status);
}

static void private_data_format(void **state)
{
	struct ini_cm_req req = {.recfmt = htole16(1),
				 .hrqsize = htole16(32),
				 .hsqsize = htole16(31)};

	(void)state;
	assert_rejected(&req, sizeof(req), INI_RDMA_INVALID_RECFMT);
	req.recfmt = htole16(0xffff);
	assert_rejected(&req, sizeof(req), INI_RDMA_INVALID_RECFMT);
	host_check_served(&tgt);
}

static void private_data_sizes(void **state)
{
	static const struct {
		uint16_t qid, hrqsize, hsqsize, status;
	} wrong[] = {
		/* A send queue of one entry can hold no command, for one stays empty. */
		{0, 32, 0, INI_RDMA_INVALID_HSQSIZE},
		{1, 32, 0, INI_RDMA_INVALID_HSQSIZE},
		/* An admin queue beyond what is offered, by one and by far. */
		{0, 33, 32, INI_RDMA_INVALID_HSQSIZE},
		{0, 32, 0xffff, INI_RDMA_INVALID_HSQSIZE},
		{0, 0, 31, INI_RDMA_INVALID_HRQSIZE},
		{1, 0, 31, INI_RDMA_INVALID_HRQSIZE},
		{999, 32, 31, INI_RDMA_INVALID_QID},
		{0xffff, 32, 31, INI_RDMA_INVALID_QID},
	};
	struct ini_error error = {0};
	struct ini_cm_req req = {0};
	uint64_t cap;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		req.qid = htole16(wrong[i].qid);
		req.hrqsize = htole16(wrong[i].hrqsize);
		req.hsqsize = htole16(wrong[i].hsqsize);
		assert_rejected(&req, sizeof(req), wrong[i].status);
	}
	/* An I/O queue may have MQES + 1 entries; HSQSIZE and MQES are zero-based both (U21). */
	assert_ok(ini_property_get(bystander.admin, NVME_REG_CAP, true, &cap, &error));
	req.qid = htole16(1);
	req.hrqsize = htole16(32);
	req.hsqsize = htole16((uint16_t)((uint16_t)cap + 1));
	assert_rejected(&req, sizeof(req), INI_RDMA_INVALID_HSQSIZE);
	host_check_served(&tgt);
}

/* A REQ's private data has a fixed length on the wire: none is 56 zeroes (U10), which is a record
 * of the right format. That a shorter one is refused is a unit test (cmpriv). */
static void private_data_missing(void **state)
{
	static const uint8_t zeroes[56];
	struct ini_params params = admin_params();
	struct ini_error error = {0};
	struct ini_queue *queue;

	(void)state;
	params.private_data = zeroes;
	params.private_bytes = 0;
	assert_int_equal(ini_open(&queue, &params, &error), -ECONNREFUSED);
	assert_int_equal(error.cm_reason, REJ_CONSUMER);
	assert_int_equal(error.rdma_status, INI_RDMA_INVALID_HSQSIZE);
	host_check_served(&tgt);
}

static void no_listener(void **state)
{
	struct ini_params params = admin_params();
	struct ini_error error = {0};
	struct ini_queue *queue;

	(void)state;
	params.port = (uint16_t)(tgt.port + 1);
	assert_int_equal(ini_open(&queue, &params, &error), -ECONNREFUSED);
	/* An answer, not the time-outs of the CM (U04). */
	assert_int_equal(error.cm_reason, REJ_SERVICE_ID);
}

/* ---- Connect ---- */

static void assert_connect_param(const struct ini_params *params, bool is_data, uint16_t offset)
{
	struct ini_error error = {0};
	struct ini_queue *queue;

	assert_status(ini_open_connect(&queue, params, NULL, &error),
		      SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM));
	assert_int_equal(error.nvme_dw0, offset | (uint32_t)is_data << 16);
}

static void unknown_subsystem(void **state)
{
	struct ini_params params = admin_params();

	(void)state;
	params.subnqn = "nqn.2014-08.org.example:none";
	assert_connect_param(&params, true, INI_CONNECT_OFF_SUBNQN);
	host_check_served(&tgt);
}

static void unknown_controller(void **state)
{
	struct ini_params params = host_io_params(&bystander, 3, 32, 4096);

	(void)state;
	params.cntlid = (uint16_t)(bystander.cntlid + 100);
	assert_connect_param(&params, true, INI_CONNECT_OFF_CNTLID);
	/* Another host must not join a controller that is not its own. */
	params.cntlid = bystander.cntlid;
	params.hostnqn = OTHER_HOST;
	assert_connect_param(&params, true, INI_CONNECT_OFF_CNTLID);
}

/* Connect on an open queue with a queue size of its own; the error in *error. */
static int connect_with(struct ini_queue *queue, uint16_t qid, uint16_t cntlid, uint16_t sqsize_0b,
			struct ini_error *error)
{
	struct ini_cmd cmd = {.tag = 0,
			      .data = INI_DATA_KEYED,
			      .bytes = sizeof(struct nvmf_connect_data)};
	char hostnqn[NVME_NQN_LENGTH];
	uint8_t hostid[16];

	ini_host_identity(hostnqn, hostid);
	ini_sqe_connect(&cmd.sqe, qid, sqsize_0b, 0);
	ini_connect_data(ini_data(queue, 0), hostid, cntlid, TGTPROC_NQN, hostnqn);
	return ini_exec(queue, &cmd, NULL, error);
}

/* SQSIZE is zero-based: 0 is too small, CAP.MQES the largest (U21). */
static void queue_sizes(void **state)
{
	struct ini_params params = host_io_params(&bystander, 4, 32, 4096);
	struct ini_error error = {0};
	struct ini_queue *queue;
	uint64_t cap;
	uint16_t mqes, bad[3], i;

	(void)state;
	assert_ok(ini_property_get(bystander.admin, NVME_REG_CAP, true, &cap, &error));
	mqes = (uint16_t)cap;
	assert_true(mqes >= 128); /* so many commands at a time without any configuration */
	bad[0] = 0;
	bad[1] = (uint16_t)(mqes + 1);
	bad[2] = 32; /* fits, but HSQSIZE was 31 and no more receives are posted */
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_ok(ini_open(&queue, &params, &error));
		assert_status(connect_with(queue, 4, bystander.cntlid, bad[i], &error),
			      SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM));
		assert_int_equal(error.nvme_dw0, INI_CONNECT_OFF_SQSIZE);
		/* The connection is as good as before: the right size is taken. */
		assert_ok(connect_with(queue, 4, bystander.cntlid, 31, &error));
		ini_close(queue);
	}
	params.qid = 0;
	assert_ok(ini_open(&queue, &params, &error));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_status(connect_with(queue, 0, INI_CNTLID_DYNAMIC, bad[i], &error),
			      SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM));
		assert_int_equal(error.nvme_dw0, INI_CONNECT_OFF_SQSIZE);
	}
	assert_ok(connect_with(queue, 0, INI_CNTLID_DYNAMIC, 31, &error));
	ini_close(queue);
	params.qid = 4;
	params.entries = (uint16_t)(mqes + 1);
	assert_ok(ini_open_connect(&queue, &params, NULL, &error));
	ini_close(queue);
	params.entries = 2;
	assert_ok(ini_open_connect(&queue, &params, NULL, &error));
	ini_close(queue);
}

static void wrong_queue_id(void **state)
{
	struct ini_params params = host_io_params(&bystander, 5, 32, 4096);
	struct ini_error error = {0};
	struct ini_queue *queue;

	(void)state;
	/* Not the one of the CM request. */
	assert_ok(ini_open(&queue, &params, &error));
	assert_status(connect_with(queue, 6, bystander.cntlid, 31, &error),
		      SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM));
	assert_int_equal(error.nvme_dw0, INI_CONNECT_OFF_QID);
	ini_close(queue);
}

static void second_connect(void **state)
{
	struct ini_params params = host_io_params(&bystander, 6, 32, 4096);
	struct ini_error error = {0};
	struct ini_queue *queue;

	(void)state;
	assert_ok(ini_open_connect(&queue, &params, NULL, &error));
	assert_status(connect_with(queue, 6, bystander.cntlid, 31, &error),
		      GENERIC(NVME_SC_CMD_SEQ_ERROR));
	assert_ok(ini_flush(queue, bystander.nsid, &error)); /* and goes on as before */
	ini_close(queue);
	assert_status(connect_with(bystander.admin, 0, INI_CNTLID_DYNAMIC, 31, &error),
		      GENERIC(NVME_SC_CMD_SEQ_ERROR));
	assert_ok(ini_keep_alive(bystander.admin, &error));
}

static void commands_before_connect(void **state)
{
	struct ini_params params = host_io_params(&bystander, 7, 32, 4096);
	const struct ini_rw rw = {.opcode = nvme_cmd_read,
				  .data = INI_DATA_KEYED,
				  .nsid = 1,
				  .blocks = 1,
				  .block_bytes = 512};
	struct ini_error error = {0};
	struct ini_queue *queue;
	uint8_t block[4096];
	uint64_t value;

	(void)state;
	assert_ok(ini_open(&queue, &params, &error));
	assert_status(ini_rw(queue, &rw, block, &error), GENERIC(NVME_SC_CMD_SEQ_ERROR));
	ini_close(queue);

	params = admin_params();
	assert_ok(ini_open(&queue, &params, &error));
	assert_status(ini_property_get(queue, NVME_REG_CAP, true, &value, &error),
		      GENERIC(NVME_SC_CMD_SEQ_ERROR));
	assert_status(ini_identify(queue, 0, NVME_IDENTIFY_CNS_CTRL, block, &error),
		      GENERIC(NVME_SC_CMD_SEQ_ERROR));
	/* Then it connects as if nothing had happened. */
	assert_ok(ini_connect(queue, NULL, &error));
	ini_close(queue);
}

/* ---- who may ---- */

static void host_not_allowed(void **state)
{
	struct tgtproc closed;
	const char *args[] = {"--export",     closed.disk,  "--nqn", TGTPROC_NQN,
			      "--allow-host", ALLOWED_HOST, NULL};
	struct ini_error error = {0};
	struct ini_params params;
	struct ini_queue *queue;

	(void)state;
	assert_int_equal(tgtproc_init(&closed, MIB), 0);
	assert_int_equal(tgtproc_start(&closed, args), 0);
	params = (struct ini_params){.addr = closed.addr,
				     .port = closed.port,
				     .subnqn = TGTPROC_NQN,
				     .hostnqn = OTHER_HOST};
	assert_status(ini_open_connect(&queue, &params, NULL, &error),
		      SPECIFIC(NVME_SC_CONNECT_INVALID_HOST));
	assert_int_equal(error.nvme_dw0, 0); /* reserved: IPO and IATTR are another status' */
	params.hostnqn = ALLOWED_HOST;
	assert_ok(ini_open_connect(&queue, &params, NULL, &error));
	ini_close(queue);
	/* The operator is told whom to allow (U70). */
	assert_int_equal(tgtproc_wait_log(&closed, "--allow-host " OTHER_HOST, 2000), 0);
	assert_int_equal(tgtproc_stop(&closed, SIGTERM, TGTPROC_STOP_MS), 0);

	/* Nothing is allowed until it is configured. */
	args[4] = NULL;
	assert_int_equal(tgtproc_start(&closed, args), 0);
	params.addr = closed.addr;
	params.port = closed.port;
	assert_status(ini_open_connect(&queue, &params, NULL, &error),
		      SPECIFIC(NVME_SC_CONNECT_INVALID_HOST));
	tgtproc_fini(&closed);
}

static int setup(void **state)
{
	int rc = tgt_setup(state);

	if (rc == 0)
		host_connect(&bystander, &tgt, 8, 4096);
	return rc;
}

/* One host was there all the time and was not disturbed. */
static int teardown(void **state)
{
	struct ini_error error = {0};
	uint8_t block[4096];
	int rc = host_rw(&bystander, nvme_cmd_read, INI_DATA_KEYED, 0, 1, block, &error);

	if (rc)
		fprintf(stderr, "the bystander: %s: %s\n", error.step, error.text);
	host_disconnect(&bystander);
	return tgt_teardown(state) || rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_data_format),	cmocka_unit_test(private_data_sizes),
		cmocka_unit_test(private_data_missing), cmocka_unit_test(no_listener),
		cmocka_unit_test(unknown_subsystem),	cmocka_unit_test(unknown_controller),
		cmocka_unit_test(queue_sizes),		cmocka_unit_test(wrong_queue_id),
		cmocka_unit_test(second_connect),	cmocka_unit_test(commands_before_connect),
		cmocka_unit_test(host_not_allowed),
	};

	return group_run(tests, setup, teardown);
}
