/* SPDX-License-Identifier: Apache-2.0 */
/* Connect: every check with its status and the place it names; queues that come and go. */
#include <errno.h>
#include <stdio.h>

#include "fake.h"

#define AT_DATA 0x10000

static tgt_status_t admin_connect(struct fake *f, const char *subnqn, uint16_t cntlid,
				  uint16_t sqsize)
{
	uint8_t data[1024];
	struct tgt_req req;

	fake_connect_req(&req, &f->admin, data, subnqn, cntlid, sqsize);
	return fake_exec(&req);
}

static void admin_good(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_queue_init(&f, &f.admin, 0);
	assert_int_equal(admin_connect(&f, FAKE_NQN, 0xffff, 31), 0);
	assert_int_equal(f.tgt.n_ctrlrs, 1);
	assert_int_equal(fake_result(&f.admin), f.tgt.ctrlrs[0]->cntlid);
	assert_int_not_equal(f.tgt.ctrlrs[0]->cntlid, 0);
	assert_int_equal(fake_sqhd(&f.admin), 1);
	assert_int_equal(f.admin.queue.sq_entries, 32);
	assert_string_equal(f.tgt.ctrlrs[0]->hostnqn, FAKE_HOST);
	assert_int_equal(f.tgt.n_waiting, 0);
	/* a second Connect on the same queue */
	assert_int_equal(admin_connect(&f, FAKE_NQN, 0xffff, 31),
			 TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR));
	fake_fini(&f);
}

static void admin_refused(void **state)
{
	const tgt_status_t invalid = TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_PARAM);
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_queue_init(&f, &f.admin, 0);
	assert_int_equal(admin_connect(&f, FAKE_NQN, 1, 31), invalid);
	assert_int_equal(fake_result(&f.admin), AT_DATA | 16);
	assert_int_equal(admin_connect(&f, "nqn.2024-01.test:none", 0xffff, 31), invalid);
	assert_int_equal(fake_result(&f.admin), AT_DATA | 256);
	assert_int_equal(admin_connect(&f, FAKE_NQN, 0xffff, 0), invalid);
	assert_int_equal(fake_result(&f.admin), 44);
	assert_int_equal(admin_connect(&f, FAKE_NQN, 0xffff, 32), invalid);
	assert_int_equal(fake_result(&f.admin), 44);
	assert_int_equal(admin_connect(&f, "", 0xffff, 31), invalid);
	assert_int_equal(fake_result(&f.admin), AT_DATA | 256);
	assert_int_equal(fake_sqhd(&f.admin), 0);
	assert_int_equal(f.tgt.n_ctrlrs, 0);
	/* and the queue is still good for a right one */
	assert_int_equal(admin_connect(&f, FAKE_NQN, 0xffff, 31), 0);
	fake_fini(&f);
}

static void admin_malformed(void **state)
{
	uint8_t data[1024];
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_queue_init(&f, &f.admin, 0);
	fake_connect_req(&req, &f.admin, data, FAKE_NQN, 0xffff, 31);
	req.cmd.sgl.bytes = 1023;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, SGL_INVALID_DATA));
	fake_connect_req(&req, &f.admin, data, FAKE_NQN, 0xffff, 31);
	req.cmd.cdw10 |= 1;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(CMD_SPECIFIC, CONNECT_FORMAT));
	fake_connect_req(&req, &f.admin, data, FAKE_NQN, 0xffff, 31);
	req.cmd.cdw10 |= 1 << 16; /* not the queue id of the private data */
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_PARAM));
	assert_int_equal(fake_result(&f.admin), 42);
	fake_connect_req(&req, &f.admin, data, FAKE_NQN, 0xffff, 31);
	memset(data + 256, 'n', 256); /* a name without an end */
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_PARAM));
	assert_int_equal(fake_result(&f.admin), AT_DATA | 256);
	fake_connect_req(&req, &f.admin, data, FAKE_NQN, 0xffff, 31);
	memset(data + 512, 'n', 512);
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_PARAM));
	assert_int_equal(fake_result(&f.admin), AT_DATA | 512);
	fake_fini(&f);
}

static void host_not_allowed(void **state)
{
	uint8_t data[1024];
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_queue_init(&f, &f.admin, 0);
	fake_connect_req(&req, &f.admin, data, FAKE_NQN, 0xffff, 31);
	snprintf((char *)data + 512, 256, "%s", "nqn.2024-01.test:stranger");
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_HOST));
	assert_int_equal(fake_result(&f.admin), 0);
	f.subsys->allow_any_host = true;
	assert_int_equal(fake_exec(&req), 0);
	fake_fini(&f);
}

static void subsystem_not_on_port(void **state)
{
	union tgt_sockaddr addr;
	struct fake f;

	(void)state;
	fake_init(&f);
	assert_int_equal(tgt_addr_parse("10.0.0.1:4421", 0, &addr, NULL), 0);
	f.port = tgt_add_port(&f.tgt, &addr);
	fake_queue_init(&f, &f.admin, 0);
	assert_int_equal(admin_connect(&f, FAKE_NQN, 0xffff, 31),
			 TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_PARAM));
	/* discovery is on every port, for every host */
	assert_int_equal(admin_connect(&f, NVME_DISC_SUBSYS_NAME, 0xffff, 31), 0);
	fake_fini(&f);
}

static void connect_first(void **state)
{
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_queue_init(&f, &f.admin, 0);
	fake_req(&req, &f.admin, nvme_admin_identify, NULL, 0);
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR));
	fake_req(&req, &f.admin, nvme_admin_fabrics, NULL, 0);
	req.cmd.nsid = nvme_fabrics_type_property_get;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR));
	fake_fini(&f);
}

static void io_good(void **state)
{
	struct fake_queue io;
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	fake_connect_io(&f, &io, 3);
	assert_int_equal(io.binds, 1);
	assert_int_equal(io.bound_entries, 128);
	assert_ptr_equal(f.admin.queue.ctrlr->queues[3], &io.queue);
	assert_int_equal(fake_result(&io), f.admin.queue.ctrlr->cntlid);
	/* what is not offloaded */
	fake_req(&req, &io, 0xc0, NULL, 0);
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, INVALID_OPCODE));
	fake_req(&req, &io, nvme_admin_fabrics, NULL, 0);
	req.cmd.nsid = nvme_fabrics_type_property_get;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, INVALID_OPCODE));
	fake_queue_end(&io);
	assert_null(f.admin.queue.ctrlr->queues[3]);
	fake_fini(&f);
}

static void io_refused(void **state)
{
	const tgt_status_t invalid = TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_PARAM);
	struct tgt_ctrlr *ctrlr;
	struct fake_queue io;
	uint8_t data[1024];
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	ctrlr = fake_connect(&f, FAKE_NQN);
	fake_queue_init(&f, &io, 1);
	fake_connect_req(&req, &io, data, FAKE_NQN, (uint16_t)(ctrlr->cntlid + 1), 127);
	assert_int_equal(fake_exec(&req), invalid);
	assert_int_equal(fake_result(&io), AT_DATA | 16);
	fake_connect_req(&req, &io, data, FAKE_NQN, ctrlr->cntlid, 127);
	data[0] ^= 1; /* another host id */
	assert_int_equal(fake_exec(&req), invalid);
	assert_int_equal(fake_result(&io), AT_DATA | 16);
	fake_connect_req(&req, &io, data, FAKE_NQN, ctrlr->cntlid, 127);
	data[512 + 4] ^= 1; /* another host name */
	assert_int_equal(fake_exec(&req), invalid);
	fake_connect_req(&req, &io, data, FAKE_NQN, ctrlr->cntlid, 128);
	assert_int_equal(fake_exec(&req), invalid);
	assert_int_equal(fake_result(&io), 44);
	fake_connect_req(&req, &io, data, "nqn.2024-01.test:none", ctrlr->cntlid, 127);
	assert_int_equal(fake_exec(&req), invalid);
	assert_int_equal(fake_result(&io), AT_DATA | 256);
	io.bind_result = -5;
	fake_connect_req(&req, &io, data, FAKE_NQN, ctrlr->cntlid, 127);
	assert_int_equal(fake_exec(&req), TGT_SC(GENERIC, INTERNAL));
	io.bind_result = 0;
	tgt_ctrlr_set_cc(ctrlr, 0); /* not enabled any more */
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR));
	fake_queue_end(&io);
	fake_fini(&f);
}

/* A host that reconnects before its old connection has ended here (U11). */
static void io_parked_then_accepted(void **state)
{
	struct fake_queue old, again;
	uint8_t data[1024];
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	fake_connect_io(&f, &old, 1);
	fake_queue_init(&f, &again, 1);
	fake_connect_req(&req, &again, data, FAKE_NQN, f.admin.queue.ctrlr->cntlid, 127);
	tgt_exec(&req);
	assert_int_equal(again.responses, 0);
	fake_queue_end(&old);
	assert_int_equal(again.responses, 1);
	assert_int_equal(fake_status(&again), 0);
	assert_ptr_equal(f.admin.queue.ctrlr->queues[1], &again.queue);
	fake_queue_end(&again);
	fake_fini(&f);
}

static void io_parked_too_long(void **state)
{
	struct fake_queue old, again;
	uint8_t data[1024];
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	fake_connect_io(&f, &old, 1);
	fake_queue_init(&f, &again, 1);
	fake_connect_req(&req, &again, data, FAKE_NQN, f.admin.queue.ctrlr->cntlid, 127);
	tgt_exec(&req);
	assert_true(tgt_next_deadline(&f.tgt) <= f.tgt.now_ms + TGT_PARK_TIMEOUT_MS);
	f.tgt.now_ms += TGT_PARK_TIMEOUT_MS - 1;
	tgt_tick(&f.tgt);
	assert_int_equal(again.responses, 0);
	f.tgt.now_ms++;
	tgt_tick(&f.tgt);
	assert_int_equal(again.responses, 1);
	assert_int_equal(fake_status(&again), TGT_SC(CMD_SPECIFIC, CONNECT_CTRL_BUSY));
	/* a parked request of a queue that ends is given back */
	tgt_exec(&req);
	fake_queue_end(&again);
	assert_int_equal(again.drops, 1);
	fake_queue_end(&old);
	fake_fini(&f);
}

static void no_connect_comes(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_queue_init(&f, &f.admin, 0);
	f.tgt.now_ms += TGT_CONNECT_TIMEOUT_MS - 1;
	tgt_tick(&f.tgt);
	assert_int_equal(f.admin.disconnects, 0);
	f.tgt.now_ms++;
	tgt_tick(&f.tgt);
	assert_int_equal(f.admin.disconnects, 1);
	assert_true(tgt_next_deadline(&f.tgt) == UINT64_MAX);
	fake_fini(&f);
}

/* One address cannot take all places of connections that wait for their Connect. */
static void many_without_connect(void **state)
{
	static struct fake_queue q[TGT_MAX_UNBOUND_OF_PEER], last;
	struct fake f;
	int i;

	(void)state;
	fake_init(&f);
	for (i = 0; i < TGT_MAX_UNBOUND_OF_PEER; i++)
		fake_queue_init(&f, &q[i], 0);
	last = q[0];
	assert_int_equal(tgt_queue_init(&last.queue, &f.tgt), -ENOSPC);
	snprintf(last.queue.peer_addr, sizeof(last.queue.peer_addr), "10.0.0.3");
	assert_int_equal(tgt_queue_init(&last.queue, &f.tgt), 0);
	fake_queue_end(&last);
	fake_queue_end(&q[7]);
	fake_queue_init(&f, &q[7], 0);
	for (i = 0; i < TGT_MAX_UNBOUND_OF_PEER; i++)
		fake_queue_end(&q[i]);
	fake_fini(&f);
}

/* The admin queue takes its I/O queues along, and nobody else's. */
static void controller_ends(void **state)
{
	struct fake_queue io[3], other_admin;
	uint8_t data[1024];
	struct tgt_req req;
	struct fake f;
	int i;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	for (i = 0; i < 3; i++)
		fake_connect_io(&f, &io[i], (uint16_t)(i + 1));
	fake_queue_init(&f, &other_admin, 0);
	fake_connect_req(&req, &other_admin, data, FAKE_NQN, 0xffff, 31);
	assert_int_equal(fake_exec(&req), 0);
	assert_int_equal(f.tgt.n_ctrlrs, 2);
	fake_queue_end(&f.admin);
	for (i = 0; i < 3; i++)
		assert_int_equal(io[i].disconnects, 1);
	assert_int_equal(other_admin.disconnects, 0);
	assert_int_equal(f.tgt.n_ctrlrs, 2);
	for (i = 0; i < 3; i++)
		fake_queue_end(&io[i]);
	assert_int_equal(f.tgt.n_ctrlrs, 1);
	fake_queue_end(&other_admin);
	fake_fini(&f);
}

/* Ids: none twice at a time, none again at once, all within the range (U63). */
static void controller_ids(void **state)
{
	struct fake_queue q[8];
	uint8_t data[1024];
	struct tgt_req req;
	uint16_t last = 0;
	struct fake f;
	int i, j;

	(void)state;
	fake_init(&f);
	f.subsys->min_cntlid = 10;
	f.subsys->max_cntlid = 17;
	for (i = 0; i < 8; i++) {
		fake_queue_init(&f, &q[i], 0);
		fake_connect_req(&req, &q[i], data, FAKE_NQN, 0xffff, 31);
		assert_int_equal(fake_exec(&req), 0);
		assert_in_range(q[i].queue.ctrlr->cntlid, 10, 17);
		for (j = 0; j < i; j++)
			assert_int_not_equal(q[i].queue.ctrlr->cntlid, q[j].queue.ctrlr->cntlid);
	}
	fake_queue_init(&f, &f.admin, 0);
	assert_int_equal(admin_connect(&f, FAKE_NQN, 0xffff, 31),
			 TGT_SC(CMD_SPECIFIC, CONNECT_CTRL_BUSY));
	fake_queue_end(&f.admin);
	for (i = 0; i < 8; i++)
		fake_queue_end(&q[i]);
	for (i = 0; i < 7; i++) {
		fake_queue_init(&f, &f.admin, 0);
		assert_int_equal(admin_connect(&f, FAKE_NQN, 0xffff, 31), 0);
		assert_int_not_equal(f.admin.queue.ctrlr->cntlid, last);
		last = f.admin.queue.ctrlr->cntlid;
		fake_queue_end(&f.admin);
	}
	fake_fini(&f);
}

static void sq_head_wraps_at_the_queue_size(void **state)
{
	struct tgt_req req;
	struct fake f;
	int i;

	(void)state;
	fake_init(&f);
	fake_queue_init(&f, &f.admin, 0);
	assert_int_equal(admin_connect(&f, FAKE_NQN, 0xffff, 4), 0); /* five entries */
	for (i = 2; i < 12; i++) {
		fake_req(&req, &f.admin, 0xff, NULL, 0);
		fake_exec(&req);
		assert_int_equal(fake_sqhd(&f.admin), i % 5);
	}
	f.admin.queue.no_sq_flow = true;
	fake_exec(&req);
	assert_int_equal(fake_sqhd(&f.admin), 0xffff);
	fake_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(admin_good),
		cmocka_unit_test(admin_refused),
		cmocka_unit_test(admin_malformed),
		cmocka_unit_test(host_not_allowed),
		cmocka_unit_test(subsystem_not_on_port),
		cmocka_unit_test(connect_first),
		cmocka_unit_test(io_good),
		cmocka_unit_test(io_refused),
		cmocka_unit_test(io_parked_then_accepted),
		cmocka_unit_test(io_parked_too_long),
		cmocka_unit_test(no_connect_comes),
		cmocka_unit_test(many_without_connect),
		cmocka_unit_test(controller_ends),
		cmocka_unit_test(controller_ids),
		cmocka_unit_test(sq_head_wraps_at_the_queue_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
