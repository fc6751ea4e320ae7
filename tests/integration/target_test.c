/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softsta-tgt and an initiator, two processes over the loopback device: what works, every way a
 * peer can be wrong with the status it gets, and that the target goes on serving.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "initiator/ini.h"
#include "target_proc.h"

#define NQN	 "nqn.2024-01.test:disk"
#define HOST	 "nqn.2024-01.test:host"
#define STRANGER "nqn.2024-01.test:stranger"
#define MIB	 (1u << 20)
#define WAIT_MS	 15000
#define DNR	 NVME_SC_DNR
#define SPECIFIC (NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT)

struct host {
	struct ini_queue *admin, *io;
	uint16_t cntlid;
};

static struct ini_params params(const struct target_proc *t)
{
	struct ini_params p = {
		.addr = t->addr, .subnqn = NQN, .hostnqn = HOST, .timeout_ms = WAIT_MS};

	return p;
}

#define CHECK_OK(call, error)                                                           \
	do {                                                                            \
		int rc_ = (call);                                                       \
		if (rc_)                                                                \
			fail_msg("%s: %s: %s", #call, (error).step ? (error).step : "", \
				 (error).text);                                         \
	} while (0)

static void host_admin(struct host *h, const struct target_proc *t)
{
	struct ini_params p = params(t);
	struct ini_error e = {0};

	memset(h, 0, sizeof(*h));
	CHECK_OK(ini_open_connect(&h->admin, &p, &h->cntlid, &e), e);
	CHECK_OK(ini_enable(h->admin, &e), e);
}

static void host_io(struct host *h, const struct target_proc *t, uint16_t entries)
{
	struct ini_params p = params(t);
	struct ini_error e = {0};

	p.qid = 1;
	p.cntlid = h->cntlid;
	p.entries = entries;
	p.slot_bytes = entries <= 8 ? 2 * MIB : 4096;
	CHECK_OK(ini_open_connect(&h->io, &p, NULL, &e), e);
}

static void host_open(struct host *h, const struct target_proc *t)
{
	host_admin(h, t);
	host_io(h, t, 8);
}

static void host_close(struct host *h)
{
	ini_close(h->io);
	ini_close(h->admin);
}

/* The NVMe status of one command, DNR included. */
static uint16_t status_of(struct ini_queue *q, struct ini_cmd *cmd)
{
	struct ini_error e = {0};
	int rc = ini_exec(q, cmd, NULL, &e);

	if (rc && rc != -EREMOTEIO)
		fail_msg("no answer: %s: %s", e.step, e.text);
	return rc ? e.nvme_status : 0;
}

static void rw(struct host *h, uint8_t opcode, enum ini_data how, uint64_t lba, uint32_t bytes,
	       void *data)
{
	struct ini_rw op = {.opcode = opcode,
			    .data = how,
			    .nsid = 1,
			    .lba = lba,
			    .blocks = bytes / 512,
			    .block_bytes = 512};
	struct ini_error e = {0};

	CHECK_OK(ini_rw(h->io, &op, data, &e), e);
}

static void fill(uint8_t *data, size_t bytes, uint32_t seed)
{
	size_t i;

	for (i = 0; i < bytes; i++) {
		seed = seed * 1664525 + 1013904223;
		data[i] = (uint8_t)(seed >> 24);
	}
}

/* Every way of moving data, read back by every other. */
static void data_moves(void **state)
{
	static const struct {
		enum ini_data how;
		uint32_t bytes;
	} writes[] = {{INI_DATA_INCAPSULE, 512},  {INI_DATA_INCAPSULE, 4096},
		      {INI_DATA_KEYED, 512},	  {INI_DATA_KEYED, 8192},
		      {INI_DATA_KEYED_INV, 4096}, {INI_DATA_KEYED_INV, 65536},
		      {INI_DATA_KEYED, MIB},	  {INI_DATA_KEYED_INV, MIB}};
	uint8_t *out = malloc(MIB), *in = malloc(MIB);
	struct ini_error e = {0};
	struct target_proc t;
	struct host h;
	size_t i;

	(void)state;
	assert_true(out && in);
	target_start(&t, "--export", "ram:16M", "--nqn", NQN, "--allow-host", HOST, NULL);
	host_open(&h, &t);
	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		fill(out, writes[i].bytes, (uint32_t)i);
		rw(&h, nvme_cmd_write, writes[i].how, i * 2048, writes[i].bytes, out);
		CHECK_OK(ini_flush(h.io, 1, &e), e);
		memset(in, 0, writes[i].bytes);
		rw(&h, nvme_cmd_read, i % 2 ? INI_DATA_KEYED : INI_DATA_KEYED_INV, i * 2048,
		   writes[i].bytes, in);
		assert_memory_equal(in, out, writes[i].bytes);
	}
	host_close(&h);
	assert_int_equal(target_stop(&t), 0);
	free(out);
	free(in);
}

static void io_statuses(struct host *h)
{
	struct ini_cmd cmd = {.tag = INI_TAG_ANY, .data = INI_DATA_KEYED, .bytes = 4096};

	/* the last blocks and those behind them: 32768 in all */
	ini_sqe_rw(&cmd.sqe, nvme_cmd_read, 1, 32760, 8);
	assert_int_equal(status_of(h->io, &cmd), 0);
	cmd.tag = INI_TAG_ANY;
	ini_sqe_rw(&cmd.sqe, nvme_cmd_read, 1, 32761, 8);
	assert_int_equal(status_of(h->io, &cmd), NVME_SC_LBA_RANGE | DNR);
	/* a namespace that is not there */
	cmd.tag = INI_TAG_ANY;
	ini_sqe_rw(&cmd.sqe, nvme_cmd_read, 7, 0, 8);
	assert_int_equal(status_of(h->io, &cmd) & ~DNR, NVME_SC_INVALID_NS);
	/* more than MDTS: 1 MiB and one block */
	cmd.tag = INI_TAG_ANY;
	cmd.bytes = MIB + 512;
	ini_sqe_rw(&cmd.sqe, nvme_cmd_read, 1, 0, MIB / 512 + 1);
	assert_int_equal(status_of(h->io, &cmd), NVME_SC_INVALID_FIELD | DNR);
	/* a descriptor shorter than the blocks */
	cmd.tag = INI_TAG_ANY;
	cmd.bytes = 4096;
	ini_sqe_rw(&cmd.sqe, nvme_cmd_read, 1, 0, 9);
	assert_int_equal(status_of(h->io, &cmd), NVME_SC_SGL_INVALID_DATA | DNR);
	/* data to the host inside the capsule */
	cmd.tag = INI_TAG_ANY;
	cmd.data = INI_DATA_INCAPSULE;
	ini_sqe_rw(&cmd.sqe, nvme_cmd_read, 1, 0, 8);
	assert_int_equal(status_of(h->io, &cmd), NVME_SC_INVALID_FIELD | DNR);
	/* an opcode that there is not */
	memset(&cmd, 0, sizeof(cmd));
	cmd.tag = INI_TAG_ANY;
	cmd.sqe.opcode = 0xc0;
	assert_int_equal(status_of(h->io, &cmd), NVME_SC_INVALID_OPCODE | DNR);
}

static void second_connect(struct ini_queue *q, uint16_t qid)
{
	struct ini_cmd cmd = {.tag = INI_TAG_ANY, .data = INI_DATA_KEYED, .bytes = 1024};

	ini_sqe_connect(&cmd.sqe, qid, 31, 0);
	assert_int_equal(status_of(q, &cmd), NVME_SC_CMD_SEQ_ERROR | DNR);
}

static void wrong_commands(void **state)
{
	struct ini_cmd cmd = {.tag = INI_TAG_ANY};
	struct nvme_id_ctrl id;
	struct ini_error e = {0};
	struct target_proc t;
	struct host h;

	(void)state;
	target_start(&t, "--export", "ram:16M", "--nqn", NQN, "--allow-host", HOST, NULL);
	host_open(&h, &t);
	io_statuses(&h);
	second_connect(h.io, 1);
	second_connect(h.admin, 0);
	cmd.sqe.opcode = 0xff;
	assert_int_equal(status_of(h.admin, &cmd), NVME_SC_INVALID_OPCODE | DNR);
	/* both queues are as good as before */
	CHECK_OK(ini_identify_ctrl(h.admin, &id, &e), e);
	CHECK_OK(ini_flush(h.io, 1, &e), e);
	host_close(&h);
	assert_int_equal(target_stop(&t), 0);
}

/* A capsule below 64 bytes ends the queue it came on, and no other host notices. */
static void short_capsules(void **state)
{
	uint8_t bytes[63] = {0};
	struct ini_error e = {0};
	struct target_proc t;
	struct host a, b;

	(void)state;
	target_start(&t, "--export", "ram:16M", "--nqn", NQN, "--allow-host", HOST, NULL);
	host_open(&a, &t);
	host_open(&b, &t);
	CHECK_OK(ini_send_raw(a.io, bytes, sizeof(bytes), &e), e);
	CHECK_OK(ini_wait_disconnect(a.io, WAIT_MS, &e), e);
	CHECK_OK(ini_flush(b.io, 1, &e), e);
	CHECK_OK(ini_send_raw(a.admin, bytes, 1, &e), e);
	CHECK_OK(ini_wait_disconnect(a.admin, WAIT_MS, &e), e);
	CHECK_OK(ini_flush(b.io, 1, &e), e);
	host_close(&a);
	host_close(&b);
	assert_int_equal(target_stop(&t), 0);
}

static void check_refused(const struct ini_params *p, uint16_t nvme_status, uint32_t dw0)
{
	struct ini_queue *q;
	struct ini_error e = {0};
	int rc = ini_open_connect(&q, p, NULL, &e);

	assert_int_equal(rc, -EREMOTEIO);
	assert_int_equal(e.nvme_status, nvme_status);
	assert_int_equal(e.nvme_dw0, dw0);
}

static void check_rejected(const struct ini_params *p, uint16_t status)
{
	struct ini_queue *q;
	struct ini_error e = {0};

	assert_int_equal(ini_open(&q, p, &e), -ECONNREFUSED);
	assert_int_equal(e.rdma_status, status);
}

static void check_raw(struct ini_params p, uint16_t recfmt, uint16_t qid, uint16_t hrqsize,
		      uint16_t hsqsize, uint16_t status)
{
	struct ini_cm_req req = {.recfmt = htole16(recfmt),
				 .qid = htole16(qid),
				 .hrqsize = htole16(hrqsize),
				 .hsqsize = htole16(hsqsize)};

	p.private_data = &req;
	p.private_bytes = sizeof(req);
	check_rejected(&p, status);
}

static void refused_hosts(void **state)
{
	struct ini_error e = {0};
	struct target_proc t;
	struct ini_params p;
	struct host h;

	(void)state;
	target_start(&t, "--export", "ram:16M", "--nqn", NQN, "--allow-host", HOST, NULL);
	p = params(&t);
	p.hostnqn = STRANGER;
	check_refused(&p, SPECIFIC | NVME_SC_CONNECT_INVALID_HOST | DNR, 0);
	target_expect_log(&t, "--allow-host " STRANGER);
	p = params(&t);
	p.subnqn = "nqn.2024-01.test:nothing";
	check_refused(&p, SPECIFIC | NVME_SC_CONNECT_INVALID_PARAM | DNR, 0x10000 | 256);
	p = params(&t);
	check_raw(p, 1, 0, 32, 31, INI_RDMA_INVALID_RECFMT);
	check_raw(p, 0, 999, 32, 31, INI_RDMA_INVALID_QID);
	check_raw(p, 0, 0, 64, 63, INI_RDMA_INVALID_HSQSIZE);
	check_raw(p, 0, 1, 2000, 1999, INI_RDMA_INVALID_HSQSIZE);
	check_raw(p, 0, 1, 0, 31, INI_RDMA_INVALID_HRQSIZE);
	/* an I/O queue of a controller that does not exist */
	p.qid = 1;
	p.cntlid = 0x1111;
	check_refused(&p, SPECIFIC | NVME_SC_CONNECT_INVALID_PARAM | DNR, 0x10000 | 16);
	/* and who is welcome still is */
	host_open(&h, &t);
	CHECK_OK(ini_flush(h.io, 1, &e), e);
	host_close(&h);
	assert_int_equal(target_stop(&t), 0);
}

static void discovery(void **state)
{
	struct nvmf_disc_log_entry *records;
	struct ini_error e = {0};
	struct ini_params p;
	struct target_proc t;
	struct ini_queue *q;
	uint64_t genctr;
	uint32_t count;

	(void)state;
	target_start(&t, "--export", "ram:16M", "--nqn", NQN, "--allow-host", HOST, NULL);
	p = params(&t);
	p.subnqn = INI_DISCOVERY_NQN;
	CHECK_OK(ini_open_connect(&q, &p, NULL, &e), e);
	CHECK_OK(ini_enable(q, &e), e);
	CHECK_OK(ini_discover(q, &records, &count, &genctr, &e), e);
	assert_int_equal(count, 2);
	assert_string_equal(records[1].subnqn, NQN);
	assert_string_equal(records[1].traddr, t.addr); /* not the wildcard */
	assert_string_equal(records[1].trsvcid, "4420");
	free(records);
	ini_close(q);
	p.hostnqn = STRANGER; /* sees nothing to connect to */
	CHECK_OK(ini_open_connect(&q, &p, NULL, &e), e);
	CHECK_OK(ini_enable(q, &e), e);
	CHECK_OK(ini_discover(q, &records, &count, &genctr, &e), e);
	assert_int_equal(count, 1);
	free(records);
	ini_close(q);
	assert_int_equal(target_stop(&t), 0);
}

/* A host that dies without a word: its controller goes when keep-alive says so. */
static void dead_host(void **state)
{
	struct ini_error e = {0};
	struct target_proc t;
	struct ini_params p;
	struct host a, b;

	(void)state;
	target_start(&t, "--export", "ram:16M", "--nqn", NQN, "--allow-host", HOST, NULL);
	p = params(&t);
	p.kato_ms = 1000;
	memset(&a, 0, sizeof(a));
	CHECK_OK(ini_open_connect(&a.admin, &p, &a.cntlid, &e), e);
	CHECK_OK(ini_enable(a.admin, &e), e);
	host_io(&a, &t, 8);
	host_open(&b, &t);
	/* silence, while the connection is fine */
	CHECK_OK(ini_wait_disconnect(a.admin, WAIT_MS, &e), e);
	CHECK_OK(ini_wait_disconnect(a.io, WAIT_MS, &e), e);
	target_expect_log(&t, "nothing heard");
	CHECK_OK(ini_flush(b.io, 1, &e), e);
	ini_abandon(a.io);
	ini_abandon(a.admin);
	host_close(&b);
	assert_int_equal(target_stop(&t), 0);
}

/* An I/O queue goes and comes again at once under the same controller (U11). */
static void fast_reconnect(void **state)
{
	struct ini_error e = {0};
	struct target_proc t;
	struct host h;
	int i;

	(void)state;
	target_start(&t, "--export", "ram:16M", "--nqn", NQN, "--allow-host", HOST, NULL);
	host_open(&h, &t);
	for (i = 0; i < 20; i++) {
		if (i % 2)
			ini_abandon(h.io);
		else
			ini_close(h.io);
		host_io(&h, &t, 8);
		CHECK_OK(ini_flush(h.io, 1, &e), e);
	}
	host_close(&h);
	for (i = 0; i < 50; i++) {
		host_open(&h, &t);
		host_close(&h);
	}
	assert_int_equal(target_stop(&t), 0);
}

static void stop_with_hosts(void **state)
{
	struct ini_cmd cmd = {.data = INI_DATA_KEYED, .bytes = 4096};
	struct ini_error e = {0};
	struct target_proc t;
	struct host h;
	int i;

	(void)state;
	target_start(&t, "--export", "ram:16M", "--nqn", NQN, "--allow-host", HOST, NULL);
	host_admin(&h, &t);
	host_io(&h, &t, 64);
	for (i = 0; i < 60; i++) {
		cmd.tag = INI_TAG_ANY;
		ini_sqe_rw(&cmd.sqe, nvme_cmd_write, 1, (uint64_t)i * 8, 8);
		CHECK_OK(ini_submit(h.io, &cmd, &e), e);
	}
	assert_int_equal(target_stop(&t), 0);
	/* the target has told us, so nobody waits for a time-out */
	CHECK_OK(ini_wait_disconnect(h.io, 2000, &e), e);
	CHECK_OK(ini_wait_disconnect(h.admin, 2000, &e), e);
	ini_abandon(h.io);
	ini_abandon(h.admin);
}

/* What was flushed is there after SIGKILL. */
static void killed_and_started_again(void **state)
{
	char path[] = "/tmp/softsta-target-test-XXXXXX";
	uint8_t out[65536], in[65536];
	struct ini_error e = {0};
	int fd = mkstemp(path), round;
	struct target_proc t;
	struct host h;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 16 * MIB), 0);
	close(fd);
	for (round = 0; round < 3; round++) {
		target_start(&t, "--export", path, "--nqn", NQN, "--allow-any-host", NULL);
		host_open(&h, &t);
		if (round) {
			rw(&h, nvme_cmd_read, INI_DATA_KEYED, 1000, sizeof(in), in);
			assert_memory_equal(in, out, sizeof(in));
		}
		fill(out, sizeof(out), (uint32_t)round + 77);
		rw(&h, nvme_cmd_write, INI_DATA_KEYED, 1000, sizeof(out), out);
		CHECK_OK(ini_flush(h.io, 1, &e), e);
		target_kill(&t);
		ini_abandon(h.io);
		ini_abandon(h.admin);
	}
	unlink(path);
}

static void check_fails(int status, const char *says, const char *a, const char *b, const char *c,
			const char *d)
{
	struct target_proc t;

	assert_int_equal(target_run(&t, a, b, c, d, NULL), status);
	if (!strstr(t.log, says))
		fail_msg("it does not say \"%s\" but: %s", says, t.log);
}

static void start_errors(void **state)
{
	char path[] = "/tmp/softsta-target-test-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1000), 0);
	close(fd);
	check_fails(1, "/nowhere/disk.img", "--export", "/nowhere/disk.img", NULL, NULL);
	check_fails(1, "multiple", "--export", path, NULL, NULL);
	check_fails(1, "192.0.2.1", "--export", "ram:1M", "--listen", "192.0.2.1");
	check_fails(1, "--size", "--export", path, "--size", "many");
	check_fails(1, "--nqn", "--export", path, "--nqn", "disk");
	check_fails(2, "--help", "--exprot", path, NULL, NULL);
	unlink(path);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_moves),
		cmocka_unit_test(wrong_commands),
		cmocka_unit_test(short_capsules),
		cmocka_unit_test(refused_hosts),
		cmocka_unit_test(discovery),
		cmocka_unit_test(dead_host),
		cmocka_unit_test(fast_reconnect),
		cmocka_unit_test(stop_with_hosts),
		cmocka_unit_test(killed_and_started_again),
		cmocka_unit_test(start_errors),
	};

	if (argc < 2) {
		fprintf(stderr, "usage: %s SOFTSTA-TGT\n", argv[0]);
		return 2;
	}
	target_program = argv[1];
	setenv("SOFTROCE_DEVICES", "sr_lo", 1);
	if (argc > 2)
		cmocka_set_test_filter(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
