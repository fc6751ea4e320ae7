/* SPDX-License-Identifier: Apache-2.0 */
/* Identify: content, coherence with the limits, every CNS that Linux sends, what is refused. */
#include "fake.h"

static union {
	struct nvme_id_ctrl ctrl;
	struct nvme_id_ns ns;
	struct nvme_id_independent_id_ns independent;
	uint8_t bytes[4096];
	uint32_t list[1024];
} id;

static tgt_status_t identify(struct fake *f, uint8_t cns, uint32_t nsid, uint8_t csi)
{
	struct tgt_req req;

	fake_req(&req, &f->admin, nvme_admin_identify, &id, sizeof(id));
	req.cmd.cdw10 = cns;
	req.cmd.nsid = nsid;
	req.cmd.cdw11 = (uint32_t)csi << 24;
	return fake_exec(&req);
}

static void controller(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	f.subsys->oncs = NVME_CTRL_ONCS_DSM;
	f.subsys->write_cache = true;
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CTRL, 0, 0), 0);
	assert_int_equal(le16toh(id.ctrl.cntlid), f.admin.queue.ctrlr->cntlid);
	assert_int_equal(id.ctrl.mdts, 8); /* 1 MiB in pages of 4 KiB */
	assert_int_equal(le32toh(id.ctrl.ver), 0x10400);
	assert_int_equal(le32toh(id.ctrl.ioccsz), 260);
	assert_int_equal(le32toh(id.ctrl.iorcsz), 1);
	assert_int_equal(le16toh(id.ctrl.icdoff), 0);
	assert_int_equal(id.ctrl.msdbd, 1);
	assert_int_equal(le16toh(id.ctrl.maxcmd), 128);
	assert_int_equal(le32toh(id.ctrl.sgls), 0x100005);
	assert_int_equal(le32toh(id.ctrl.nn), FAKE_NN);
	assert_int_equal(le16toh(id.ctrl.kas), TGT_KAS);
	assert_int_equal(id.ctrl.sqes, 0x66);
	assert_int_equal(id.ctrl.cqes, 0x44);
	assert_int_equal(id.ctrl.aerl, TGT_MAX_AER - 1);
	assert_int_equal(le16toh(id.ctrl.oncs), NVME_CTRL_ONCS_DSM);
	assert_int_equal(id.ctrl.vwc & 1, 1);
	assert_int_equal(id.ctrl.cntrltype, NVME_CTRL_CNTRLTYPE_IO);
	assert_int_equal(le32toh(id.ctrl.oaes), NVME_CTRL_OAES_NA);
	assert_int_equal(id.ctrl.cmic & NVME_CTRL_CMIC_MULTI_ANA_REPORTING, 0);
	assert_int_equal(le32toh(id.ctrl.ctratt), NVME_CTRL_CTRATT_128_ID | NVME_CTRL_CTRATT_TBKAS);
	assert_string_equal(id.ctrl.subnqn, FAKE_NQN);
	assert_memory_equal(id.ctrl.sn, f.subsys->serial, 16);
	assert_memory_equal(id.ctrl.sn + 16, "    ", 4);
	assert_memory_equal(id.ctrl.mn, "softsta target      ", 20);
	fake_fini(&f);
}

static void controller_follows_limits(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	f.tgt.limits.max_io_bytes = 131072;
	f.tgt.limits.ioccsz_bytes = 64; /* no data in capsules */
	f.tgt.limits.io_queue_entries = 33;
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CTRL, 0, 0), 0);
	assert_int_equal(id.ctrl.mdts, 5);
	assert_int_equal(le32toh(id.ctrl.ioccsz), 4);
	assert_int_equal(le32toh(id.ctrl.sgls), 0x5);
	assert_int_equal(le16toh(id.ctrl.maxcmd), 33);
	assert_int_equal(id.ctrl.vwc & 1, 0);
	fake_fini(&f);
}

static void discovery_controller(void **state)
{
	const tgt_status_t invalid = TGT_SC_DNR(GENERIC, INVALID_FIELD);
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, NVME_DISC_SUBSYS_NAME);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CTRL, 0, 0), 0);
	assert_int_equal(id.ctrl.cntrltype, NVME_CTRL_CNTRLTYPE_DISCOVERY);
	assert_string_equal(id.ctrl.subnqn, NVME_DISC_SUBSYS_NAME);
	assert_int_equal(le32toh(id.ctrl.nn), 0);
	assert_true(le32toh(id.ctrl.oaes) == (uint32_t)NVME_CTRL_OAES_DL);
	assert_int_equal(le32toh(id.ctrl.sgls) & NVME_CTRL_SGLS_KEYED, NVME_CTRL_SGLS_KEYED);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, 0, 0), invalid);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS, 1, 0), invalid);
	fake_fini(&f);
}

static void namespaces(void **state)
{
	const tgt_status_t invalid = TGT_SC_DNR(GENERIC, INVALID_NS);
	static const uint8_t zero[4096];
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS, 2, 0), 0);
	assert_int_equal(le64toh(id.ns.nsze), 2000);
	assert_int_equal(le64toh(id.ns.ncap), 2000);
	assert_int_equal(le64toh(id.ns.nuse), 2000);
	assert_int_equal(id.ns.lbaf[0].ds, 12);
	assert_int_equal(id.ns.lbaf[0].ms, 0);
	assert_int_equal(id.ns.flbas, 0);
	assert_int_equal(id.ns.nlbaf, 0);
	assert_int_equal(id.ns.nmic, 1);
	assert_int_equal(id.ns.nsattr, 0);
	assert_int_equal(id.ns.nguid[0], 0x12);
	tgt_ns_get(f.subsys, 5)->is_read_only = true;
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS, 5, 0), 0);
	assert_int_equal(id.ns.lbaf[0].ds, 9);
	assert_int_equal(id.ns.nsattr, 1);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CSI_INDEPENDENT_ID_NS, 5, 0), 0);
	assert_int_equal(id.independent.nsattr, 1);
	assert_int_equal(id.independent.nstat, 1);
	/* within NN without a namespace: zeroes; outside: an error */
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS, 3, 0), 0);
	assert_memory_equal(id.bytes, zero, sizeof(zero));
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS, 0, 0), invalid);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS, FAKE_NN + 1, 0), invalid);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS, NVME_NSID_ALL, 0), invalid);
	fake_fini(&f);
}

static void active_list(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, 0, 0), 0);
	assert_int_equal(le32toh(id.list[0]), 1);
	assert_int_equal(le32toh(id.list[1]), 2);
	assert_int_equal(le32toh(id.list[2]), 5);
	assert_int_equal(id.list[3], 0);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CSI_NS_ACTIVE_LIST, 1, 0), 0);
	assert_int_equal(le32toh(id.list[0]), 2);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, 5, 0), 0);
	assert_int_equal(id.list[0], 0);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, 0xfffffffe, 0),
			 TGT_SC_DNR(GENERIC, INVALID_NS));
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, 0xffffffff, 0),
			 TGT_SC_DNR(GENERIC, INVALID_NS));
	fake_fini(&f);
}

static void descriptors(void **state)
{
	const uint8_t *p = id.bytes;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS_DESC_LIST, 1, 0), 0);
	assert_int_equal(p[0], NVME_NIDT_NGUID);
	assert_int_equal(p[1], 16);
	assert_int_equal(p[4], 0x11);
	p += 20;
	assert_int_equal(p[0], NVME_NIDT_UUID);
	assert_int_equal(p[1], 16);
	assert_int_equal(p[4], 0x01);
	p += 20;
	assert_int_equal(p[0], NVME_NIDT_CSI);
	assert_int_equal(p[1], 1);
	assert_int_equal(p[4], NVME_CSI_NVM);
	p += 5;
	assert_int_equal(p[1], 0); /* the end */
	memset(tgt_ns_get(f.subsys, 1)->eui64, 0x77, 8);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS_DESC_LIST, 1, 0), 0);
	assert_int_equal(id.bytes[0], NVME_NIDT_EUI64);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NS_DESC_LIST, 3, 0),
			 TGT_SC_DNR(GENERIC, INVALID_NS));
	fake_fini(&f);
}

static void command_sets(void **state)
{
	const tgt_status_t invalid = TGT_SC_DNR(GENERIC, INVALID_FIELD);
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CSI_NS, 1, NVME_CSI_NVM), 0);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CSI_CTRL, 0, NVME_CSI_NVM), 0);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CSI_CTRL, 0, NVME_CSI_ZNS), invalid);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CSI_NS, 1, NVME_CSI_ZNS), invalid);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_CSI_NS, FAKE_NN + 1, 0),
			 TGT_SC_DNR(GENERIC, INVALID_NS));
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_COMMAND_SET_STRUCTURE, 0, 0), 0);
	assert_int_equal(id.bytes[0], 1);
	assert_int_equal(id.bytes[8], 0);
	/* what belongs to namespace management, virtualization, ... */
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_ALLOCATED_NS_LIST, 0, 0), invalid);
	assert_int_equal(identify(&f, NVME_IDENTIFY_CNS_NVMSET_LIST, 0, 0), invalid);
	assert_int_equal(identify(&f, 0xff, 0, 0), invalid);
	fake_fini(&f);
}

static void length(void **state)
{
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	fake_req(&req, &f.admin, nvme_admin_identify, &id, 4095);
	req.cmd.cdw10 = NVME_IDENTIFY_CNS_CTRL;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, SGL_INVALID_DATA));
	fake_req(&req, &f.admin, nvme_admin_identify, NULL, 0);
	req.cmd.cdw10 = NVME_IDENTIFY_CNS_CTRL;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, SGL_INVALID_DATA));
	fake_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controller),		cmocka_unit_test(controller_follows_limits),
		cmocka_unit_test(discovery_controller), cmocka_unit_test(namespaces),
		cmocka_unit_test(active_list),		cmocka_unit_test(descriptors),
		cmocka_unit_test(command_sets),		cmocka_unit_test(length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
