/* SPDX-License-Identifier: Apache-2.0 */
/* Properties, the enable and shut-down sequences, Disconnect, Abort, Keep Alive and its timer. */
#include "fake.h"

static tgt_status_t property(struct fake *f, uint8_t fctype, uint8_t attrib, uint32_t offset,
			     uint32_t value)
{
	struct tgt_req req;

	fake_req(&req, &f->admin, nvme_admin_fabrics, NULL, 0);
	req.cmd.nsid = fctype;
	req.cmd.cdw10 = attrib;
	req.cmd.cdw11 = offset;
	req.cmd.cdw12 = value;
	return fake_exec(&req);
}

static uint64_t get(struct fake *f, uint8_t attrib, uint32_t offset)
{
	assert_int_equal(property(f, nvme_fabrics_type_property_get, attrib, offset, 0), 0);
	return fake_result(&f->admin);
}

static void set_cc(struct fake *f, uint32_t cc)
{
	assert_int_equal(property(f, nvme_fabrics_type_property_set, 0, NVME_REG_CC, cc), 0);
}

static void connect_only(struct fake *f, const char *nqn)
{
	uint8_t data[1024];
	struct tgt_req req;

	fake_queue_init(f, &f->admin, 0);
	fake_connect_req(&req, &f->admin, data, nqn, 0xffff, 31);
	assert_int_equal(fake_exec(&req), 0);
}

static void properties(void **state)
{
	const tgt_status_t invalid = TGT_SC_DNR(GENERIC, INVALID_FIELD);
	const uint8_t read = nvme_fabrics_type_property_get, write = nvme_fabrics_type_property_set;
	struct fake f;
	uint64_t cap;

	(void)state;
	fake_init(&f);
	connect_only(&f, FAKE_NQN);
	cap = get(&f, 1, NVME_REG_CAP);
	assert_int_equal(NVME_CAP_MQES(cap), 127);
	assert_int_equal(NVME_CAP_CQR(cap), 1);
	assert_int_equal(NVME_CAP_CSS(cap), NVME_CAP_CSS_NVM | NVME_CAP_CSS_CSI);
	assert_int_equal(NVME_CAP_MPSMIN(cap), 0);
	assert_int_not_equal(NVME_CAP_TO(cap), 0);
	assert_int_equal(get(&f, 0, NVME_REG_VS), 0x10400);
	assert_int_equal(get(&f, 0, NVME_REG_CC), 0);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), 0);
	/* sizes and offsets that do not exist */
	assert_int_equal(property(&f, read, 0, NVME_REG_CAP, 0), invalid);
	assert_int_equal(property(&f, read, 1, NVME_REG_VS, 0), invalid);
	assert_int_equal(property(&f, read, 2, NVME_REG_VS, 0), invalid);
	assert_int_equal(property(&f, read, 0, NVME_REG_CC + 1, 0), invalid);
	assert_int_equal(property(&f, read, 0, 0x1000, 0), invalid);
	assert_int_equal(property(&f, write, 0, NVME_REG_CSTS, 0), invalid);
	assert_int_equal(property(&f, write, 1, NVME_REG_CC, 0), invalid);
	assert_int_equal(property(&f, 0x77, 0, 0, 0), TGT_SC_DNR(GENERIC, INVALID_OPCODE));
	fake_fini(&f);
}

static void enable_and_shut_down(void **state)
{
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	connect_only(&f, FAKE_NQN);
	fake_req(&req, &f.admin, nvme_admin_keep_alive, NULL, 0);
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR));
	set_cc(&f, 0x460060);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), 0);
	set_cc(&f, 0x460061);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), 1);
	assert_int_equal(get(&f, 0, NVME_REG_CC), 0x460061);
	assert_int_equal(fake_exec(&req), 0);
	set_cc(&f, 0x464061); /* normal shutdown */
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), 1 | NVME_CSTS_SHST_CMPLT << 2);
	set_cc(&f, 0x460060);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), 0);
	set_cc(&f, 0x460061);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), 1);
	fake_fini(&f);
}

/* A reset and a shutdown end the I/O queues, and say that they are done when those are gone. */
static void check_stop(uint32_t cc, uint32_t csts_meanwhile, uint32_t csts_after)
{
	struct tgt_req aer, req;
	struct fake_queue io[2];
	struct fake f;

	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	fake_connect_io(&f, &io[0], 1);
	fake_connect_io(&f, &io[1], 2);
	fake_req(&aer, &f.admin, nvme_admin_async_event, NULL, 0);
	tgt_exec(&aer);
	set_cc(&f, cc);
	assert_int_equal(io[0].disconnects, 1);
	assert_int_equal(io[1].disconnects, 1);
	assert_int_equal(f.admin.disconnects, 0);
	assert_int_equal(f.admin.drops, 1); /* the event request */
	assert_int_equal(f.admin.queue.ctrlr->n_aer, 0);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), csts_meanwhile);
	fake_req(&req, &f.admin, nvme_admin_keep_alive, NULL, 0);
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR));
	fake_queue_end(&io[0]);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), csts_meanwhile);
	fake_queue_end(&io[1]);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), csts_after);
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR));
	set_cc(&f, cc & ~0xc000U);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), csts_after); /* only a reset ends it */
	set_cc(&f, 0x460060);
	set_cc(&f, 0x460061);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), 1);
	assert_int_equal(fake_exec(&req), 0);
	fake_connect_io(&f, &io[0], 1);
	fake_queue_end(&io[0]);
	fake_fini(&f);
}

static void reset_and_shutdown_end_io(void **state)
{
	(void)state;
	check_stop(0x460060, 1, 0);
	check_stop(0x464061, 1 | NVME_CSTS_SHST_OCCUR << 2, 1 | NVME_CSTS_SHST_CMPLT << 2);
}

static void enable_with_bad_values(void **state)
{
	static const uint32_t bad[] = {
		0x450061, /* IOCQES 5 would do for nobody */
		0x470061, /* IOSQES 7 */
		0x4600e1, /* MPS 1 */
		0x460861, /* AMS 1 */
		0x460011, /* CSS 1 */
	};
	struct fake f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fake_init(&f);
		connect_only(&f, FAKE_NQN);
		set_cc(&f, bad[i]);
		assert_int_equal(get(&f, 0, NVME_REG_CSTS), 2); /* fatal, not ready */
		fake_fini(&f);
	}
	/* a discovery controller has no I/O queues whose entry sizes could matter */
	fake_init(&f);
	connect_only(&f, NVME_DISC_SUBSYS_NAME);
	set_cc(&f, 1);
	assert_int_equal(get(&f, 0, NVME_REG_CSTS), 1);
	fake_fini(&f);
}

static void disconnect_command(void **state)
{
	struct fake_queue io;
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	fake_connect_io(&f, &io, 1);
	fake_req(&req, &f.admin, nvme_admin_fabrics, NULL, 0);
	req.cmd.nsid = nvme_fabrics_type_disconnect;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(CMD_SPECIFIC, DISCONNECT_INVALID_QTYPE));
	assert_false(f.admin.queue.close_after_response);
	fake_req(&req, &io, nvme_admin_fabrics, NULL, 0);
	req.cmd.nsid = nvme_fabrics_type_disconnect;
	req.cmd.cdw10 = 1;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(CMD_SPECIFIC, CONNECT_FORMAT));
	req.cmd.cdw10 = 0;
	assert_int_equal(fake_exec(&req), 0);
	assert_true(io.queue.close_after_response);
	fake_queue_end(&io);
	fake_fini(&f);
}

static void unknown_commands(void **state)
{
	static const uint8_t opcodes[] = {nvme_admin_create_sq, nvme_admin_format_nvm,
					  nvme_admin_security_recv, 0xff};
	struct tgt_req req;
	struct fake f;
	size_t i;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	for (i = 0; i < sizeof(opcodes); i++) {
		fake_req(&req, &f.admin, opcodes[i], NULL, 0);
		assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, INVALID_OPCODE));
	}
	fake_fini(&f);
}

static void aborts(void **state)
{
	struct tgt_req aer, req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	fake_req(&aer, &f.admin, nvme_admin_async_event, NULL, 0);
	aer.cmd.cid = 0x55;
	tgt_exec(&aer);
	fake_req(&req, &f.admin, nvme_admin_abort_cmd, NULL, 0);
	req.cmd.cdw10 = 0x77 << 16;
	assert_int_equal(fake_exec(&req), 0);
	assert_int_equal(fake_result(&f.admin) & 1, 1); /* not aborted */
	req.cmd.cdw10 = 0x55 << 16 | 1;
	assert_int_equal(fake_exec(&req), 0);
	assert_int_equal(fake_result(&f.admin) & 1, 1); /* another queue's */
	req.cmd.cdw10 = 0x1234 << 16;
	assert_int_equal(fake_exec(&req), 0);
	assert_int_equal(fake_result(&f.admin) & 1, 1); /* itself */
	req.cmd.sgl.bytes = 512;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, SGL_INVALID_DATA));
	req.cmd.sgl.bytes = 0;
	assert_int_equal(f.admin.queue.ctrlr->n_aer, 1);
	req.cmd.cdw10 = 0x55 << 16;
	tgt_exec(&req);
	assert_ptr_equal(f.admin.answered, &req); /* after the aborted one */
	assert_int_equal(fake_result(&f.admin) & 1, 0);
	assert_int_equal(f.admin.queue.ctrlr->n_aer, 0);
	fake_fini(&f);
}

static void keep_alive_times_out(void **state)
{
	struct tgt_ctrlr *ctrlr;
	struct fake_queue io;
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	ctrlr = fake_connect(&f, FAKE_NQN); /* 5000 ms */
	fake_connect_io(&f, &io, 1);
	assert_true(tgt_next_deadline(&f.tgt) == f.tgt.now_ms + 5000);
	f.tgt.now_ms += 4999;
	tgt_tick(&f.tgt);
	assert_int_equal(f.admin.disconnects, 0);
	fake_req(&req, &f.admin, nvme_admin_keep_alive, NULL, 0);
	assert_int_equal(fake_exec(&req), 0);
	f.tgt.now_ms += 4999;
	tgt_tick(&f.tgt);
	assert_int_equal(f.admin.disconnects, 0);
	io.is_active = true; /* I/O counts for one time more */
	f.tgt.now_ms += 1;
	tgt_tick(&f.tgt);
	assert_int_equal(f.admin.disconnects, 0);
	assert_true(tgt_next_deadline(&f.tgt) == f.tgt.now_ms + 5000);
	f.tgt.now_ms += 5000;
	tgt_tick(&f.tgt);
	assert_int_equal(f.admin.disconnects, 1);
	assert_int_equal(io.disconnects, 1);
	assert_int_equal(ctrlr->csts & 2, 2);
	assert_null(tgt_ctrlr_find(&f.tgt, f.subsys, ctrlr->cntlid));
	assert_true(tgt_next_deadline(&f.tgt) == UINT64_MAX);
	fake_queue_end(&io);
	fake_fini(&f);
}

static void keep_alive_values(void **state)
{
	struct tgt_ctrlr *ctrlr;
	struct fake f;

	(void)state;
	fake_init(&f);
	ctrlr = fake_connect(&f, FAKE_NQN);
	tgt_keepalive_set(ctrlr, 1); /* rounded up to KAS */
	assert_int_equal(ctrlr->kato_ms, 1000);
	tgt_keepalive_set(ctrlr, 1001);
	assert_int_equal(ctrlr->kato_ms, 2000);
	tgt_keepalive_set(ctrlr, UINT32_MAX);
	assert_true(ctrlr->kato_ms > UINT32_MAX - 2000);
	tgt_keepalive_set(ctrlr, 0);
	assert_int_equal(ctrlr->kato_ms, 0);
	assert_true(ctrlr->alive_until_ms == UINT64_MAX);
	fake_queue_end(&f.admin);
	/* a discovery controller without keep-alive goes in the end */
	connect_only(&f, NVME_DISC_SUBSYS_NAME);
	f.tgt.now_ms += TGT_DISCOVERY_IDLE_MS;
	tgt_tick(&f.tgt);
	assert_int_equal(f.admin.disconnects, 1);
	fake_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(properties),
		cmocka_unit_test(enable_and_shut_down),
		cmocka_unit_test(reset_and_shutdown_end_io),
		cmocka_unit_test(enable_with_bad_values),
		cmocka_unit_test(disconnect_command),
		cmocka_unit_test(unknown_commands),
		cmocka_unit_test(aborts),
		cmocka_unit_test(keep_alive_times_out),
		cmocka_unit_test(keep_alive_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
