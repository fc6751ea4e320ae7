/* SPDX-License-Identifier: Apache-2.0 */
/* Get and Set Features, for both kinds of controller. */
#include "fake.h"

static tgt_status_t set(struct fake *f, uint8_t fid, uint32_t value)
{
	struct tgt_req req;

	fake_req(&req, &f->admin, nvme_admin_set_features, NULL, 0);
	req.cmd.cdw10 = fid;
	req.cmd.cdw11 = value;
	return fake_exec(&req);
}

static tgt_status_t get(struct fake *f, uint8_t fid, uint32_t cdw11)
{
	struct tgt_req req;

	fake_req(&req, &f->admin, nvme_admin_get_features, NULL, 0);
	req.cmd.cdw10 = fid;
	req.cmd.cdw11 = cdw11;
	req.cmd.nsid = 1;
	return fake_exec(&req);
}

static void stored(void **state)
{
	static const uint8_t fids[] = {NVME_FEAT_FID_ARBITRATION, NVME_FEAT_FID_ERR_RECOVERY,
				       NVME_FEAT_FID_ASYNC_EVENT};
	struct fake f;
	size_t i;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	for (i = 0; i < sizeof(fids); i++) {
		assert_int_equal(set(&f, fids[i], 0x102 + (uint32_t)i), 0);
		assert_int_equal(get(&f, fids[i], 0), 0);
		assert_int_equal(fake_result(&f.admin), 0x102 + i);
	}
	assert_int_equal(set(&f, NVME_FEAT_FID_POWER_MGMT, 0), 0);
	assert_int_equal(set(&f, NVME_FEAT_FID_POWER_MGMT, 1), TGT_SC_DNR(GENERIC, INVALID_FIELD));
	fake_fini(&f);
}

static void number_of_queues(void **state)
{
	struct fake_queue io;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(set(&f, NVME_FEAT_FID_NUM_QUEUES, 0x00030003), 0);
	assert_int_equal(fake_result(&f.admin), 0x000f000f);
	assert_int_equal(get(&f, NVME_FEAT_FID_NUM_QUEUES, 0), 0);
	assert_int_equal(fake_result(&f.admin), 0x000f000f);
	assert_int_equal(set(&f, NVME_FEAT_FID_NUM_QUEUES, 0xffff0001),
			 TGT_SC_DNR(GENERIC, INVALID_FIELD));
	fake_connect_io(&f, &io, 1);
	assert_int_equal(set(&f, NVME_FEAT_FID_NUM_QUEUES, 1), TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR));
	fake_queue_end(&io);
	fake_fini(&f);
}

static void keep_alive(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(get(&f, NVME_FEAT_FID_KATO, 0), 0);
	assert_int_equal(fake_result(&f.admin), 5000);
	assert_int_equal(set(&f, NVME_FEAT_FID_KATO, 10001), 0);
	assert_int_equal(get(&f, NVME_FEAT_FID_KATO, 0), 0);
	assert_int_equal(fake_result(&f.admin), 11000);
	assert_true(f.admin.queue.ctrlr->alive_until_ms == f.tgt.now_ms + 11000);
	fake_fini(&f);
}

static void temperature(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(set(&f, NVME_FEAT_FID_TEMP_THRESH, 350), 0);
	assert_int_equal(set(&f, NVME_FEAT_FID_TEMP_THRESH, 1 << 20 | 270), 0);
	assert_int_equal(get(&f, NVME_FEAT_FID_TEMP_THRESH, 0), 0);
	assert_int_equal(fake_result(&f.admin), 350);
	assert_int_equal(get(&f, NVME_FEAT_FID_TEMP_THRESH, 1 << 20), 0);
	assert_int_equal(fake_result(&f.admin), 270);
	assert_int_equal(get(&f, NVME_FEAT_FID_TEMP_THRESH, 1 << 16),
			 TGT_SC_DNR(GENERIC, INVALID_FIELD));
	fake_fini(&f);
}

static void fixed(void **state)
{
	uint8_t hostid[16], expected[16];
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	memset(expected, 0xaa, sizeof(expected));
	fake_req(&req, &f.admin, nvme_admin_get_features, hostid, 16);
	req.cmd.cdw10 = NVME_FEAT_FID_HOST_ID;
	req.cmd.cdw11 = 1;
	assert_int_equal(fake_exec(&req), 0);
	assert_memory_equal(hostid, expected, 16);
	req.cmd.cdw11 = 0; /* the 64-bit form */
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, INVALID_FIELD));
	assert_int_equal(set(&f, NVME_FEAT_FID_HOST_ID, 1), TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR));
	assert_int_equal(get(&f, NVME_FEAT_FID_WRITE_PROTECT, 0), 0);
	assert_int_equal(fake_result(&f.admin), 0);
	assert_int_equal(set(&f, NVME_FEAT_FID_WRITE_PROTECT, 1),
			 TGT_SC_DNR(CMD_SPECIFIC, FEATURE_NOT_CHANGEABLE));
	assert_int_equal(set(&f, NVME_FEAT_FID_VOLATILE_WC, 1), TGT_SC_DNR(GENERIC, INVALID_FIELD));
	f.subsys->write_cache = true;
	assert_int_equal(set(&f, NVME_FEAT_FID_VOLATILE_WC, 1), 0);
	assert_int_equal(set(&f, NVME_FEAT_FID_VOLATILE_WC, 0),
			 TGT_SC_DNR(CMD_SPECIFIC, FEATURE_NOT_CHANGEABLE));
	assert_int_equal(get(&f, NVME_FEAT_FID_VOLATILE_WC, 0), 0);
	assert_int_equal(fake_result(&f.admin), 1);
	fake_fini(&f);
}

static void refused(void **state)
{
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(get(&f, 0x7f, 0), TGT_SC_DNR(GENERIC, INVALID_FIELD));
	assert_int_equal(set(&f, 0x7f, 0), TGT_SC_DNR(GENERIC, INVALID_FIELD));
	fake_req(&req, &f.admin, nvme_admin_set_features, NULL, 0);
	req.cmd.cdw10 = 1U << 31 | NVME_FEAT_FID_ARBITRATION;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(CMD_SPECIFIC, FEATURE_NOT_SAVEABLE));
	fake_req(&req, &f.admin, nvme_admin_get_features, NULL, 0);
	req.cmd.cdw10 = 3 << 8 | NVME_FEAT_FID_ARBITRATION;
	assert_int_equal(fake_exec(&req), 0);
	assert_int_equal(fake_result(&f.admin), 4); /* changeable */
	req.cmd.cdw10 = 4 << 8 | NVME_FEAT_FID_ARBITRATION;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, INVALID_FIELD));
	fake_queue_end(&f.admin);
	fake_connect(&f, NVME_DISC_SUBSYS_NAME);
	assert_int_equal(get(&f, NVME_FEAT_FID_KATO, 0), 0);
	assert_int_equal(set(&f, NVME_FEAT_FID_ASYNC_EVENT, 1U << 31), 0);
	assert_int_equal(get(&f, NVME_FEAT_FID_NUM_QUEUES, 0), TGT_SC_DNR(GENERIC, INVALID_FIELD));
	fake_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stored),     cmocka_unit_test(number_of_queues),
		cmocka_unit_test(keep_alive), cmocka_unit_test(temperature),
		cmocka_unit_test(fixed),      cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
