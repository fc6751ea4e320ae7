/* SPDX-License-Identifier: Apache-2.0 */
/* Log pages but the discovery log, and the asynchronous events that point to them. */
#include "fake.h"

#include <stdlib.h>

#define RAE (1U << 15)

static uint8_t page[8192];

static tgt_status_t get_log(struct fake *f, uint32_t lid, uint64_t offset, uint32_t bytes)
{
	struct tgt_req req;

	fake_req(&req, &f->admin, nvme_admin_get_log_page, page, bytes);
	req.cmd.nsid = NVME_NSID_ALL;
	req.cmd.cdw10 = lid | (bytes / 4 - 1) << 16;
	req.cmd.cdw11 = (bytes / 4 - 1) >> 16;
	req.cmd.cdw12 = (uint32_t)offset;
	req.cmd.cdw13 = (uint32_t)(offset >> 32);
	return fake_exec(&req);
}

static void smart_and_firmware(void **state)
{
	const struct nvme_smart_log *smart = (const void *)page;
	const struct nvme_firmware_slot *fw = (const void *)page;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	f.tgt.now_ms += 3 * 3600 * 1000;
	assert_int_equal(get_log(&f, NVME_LOG_LID_SMART, 0, 512), 0);
	assert_int_equal(smart->critical_warning, 0);
	assert_int_equal(smart->avail_spare, 100);
	assert_int_equal(smart->power_on_hours[0], 3);
	assert_int_equal(get_log(&f, NVME_LOG_LID_FW_SLOT, 0, 512), 0);
	assert_int_equal(fw->afi, 1);
	assert_int_not_equal(fw->frs[0][0], 0);
	fake_fini(&f);
}

/* Namespace n: n reads of 1000 bytes, 10 n writes of 512,000 bytes in all and one more. */
static void usage_of(const struct tgt_subsys *subsys, const struct tgt_ns *ns,
		     struct tgt_usage *usage)
{
	assert_string_equal(subsys->nqn, FAKE_NQN);
	*usage = (struct tgt_usage){.read_commands = ns->nsid,
				    .read_bytes = 1000 * ns->nsid,
				    .write_commands = 10 * ns->nsid,
				    .written_bytes = 512000 * ns->nsid + 1,
				    .media_errors = 100 * ns->nsid};
}

static void smart_of(struct fake *f, uint32_t nsid)
{
	struct tgt_req req;

	fake_req(&req, &f->admin, nvme_admin_get_log_page, page, 512);
	req.cmd.nsid = nsid;
	req.cmd.cdw10 = NVME_LOG_LID_SMART | 127 << 16;
	assert_int_equal(fake_exec(&req), 0);
}

static void assert_smart(uint64_t reads, uint64_t units_read, uint64_t writes,
			 uint64_t units_written, uint64_t media_errors)
{
	const struct nvme_smart_log *smart = (const void *)page;

	assert_int_equal(util_get_le64(smart->host_reads), reads);
	assert_int_equal(util_get_le64(smart->data_units_read), units_read);
	assert_int_equal(util_get_le64(smart->host_writes), writes);
	assert_int_equal(util_get_le64(smart->data_units_written), units_written);
	assert_int_equal(util_get_le64(smart->media_errors), media_errors);
}

/* Namespaces 1, 2 and 5 together, and each of them. */
static void smart_counts(void **state)
{
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	smart_of(&f, NVME_NSID_ALL);
	assert_smart(0, 0, 0, 0, 0);
	f.tgt.ns_usage = usage_of;
	smart_of(&f, NVME_NSID_ALL);
	assert_smart(8, 1, 80, 9, 800);
	smart_of(&f, NVME_NSID_NONE);
	assert_smart(8, 1, 80, 9, 800);
	smart_of(&f, 5);
	assert_smart(5, 1, 50, 6, 500);
	fake_req(&req, &f.admin, nvme_admin_get_log_page, page, 512);
	req.cmd.nsid = 3;
	req.cmd.cdw10 = NVME_LOG_LID_SMART | 127 << 16;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, INVALID_NS));
	fake_fini(&f);
}

static void effects(void **state)
{
	const struct nvme_cmd_effects_log *log = (const void *)page;
	struct fake f;

	(void)state;
	fake_init(&f);
	f.subsys->oncs = NVME_CTRL_ONCS_WRITE_ZEROES;
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(get_log(&f, NVME_LOG_LID_CMD_EFFECTS, 0, 4096), 0);
	assert_int_equal(le32toh(log->acs[nvme_admin_identify]), 1);
	assert_int_equal(log->acs[nvme_admin_format_nvm], 0);
	assert_int_equal(le32toh(log->iocs[nvme_cmd_read]), 1);
	assert_int_equal(le32toh(log->iocs[nvme_cmd_write]), 3);
	assert_int_equal(le32toh(log->iocs[nvme_cmd_write_zeroes]), 3);
	assert_int_equal(log->iocs[nvme_cmd_dsm], 0);
	fake_fini(&f);
}

/* In pieces as in one: every 4-byte offset of every page. */
static void offsets(void **state)
{
	static const struct {
		uint8_t lid;
		uint32_t bytes;
	} pages[] = {{NVME_LOG_LID_ERROR, TGT_ERROR_LOG_ENTRIES * 64},
		     {NVME_LOG_LID_SMART, 512},
		     {NVME_LOG_LID_FW_SLOT, 512},
		     {NVME_LOG_LID_CMD_EFFECTS, 4096}};
	uint8_t whole[4096];
	struct fake f;
	uint32_t at;
	size_t i;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		uint32_t lid = pages[i].lid | RAE;

		assert_int_equal(get_log(&f, lid, 0, pages[i].bytes), 0);
		memcpy(whole, page, pages[i].bytes);
		for (at = 0; at < pages[i].bytes; at += 4) {
			assert_int_equal(get_log(&f, lid, at, 4), 0);
			assert_memory_equal(page, whole + at, 4);
		}
		/* at the end zeroes, behind it an error, between dwords too */
		assert_int_equal(get_log(&f, lid, pages[i].bytes, 16), 0);
		assert_int_equal(page[0] | page[15], 0);
		assert_int_equal(get_log(&f, lid, pages[i].bytes + 4, 16),
				 TGT_SC_DNR(GENERIC, INVALID_FIELD));
		assert_int_equal(get_log(&f, lid, 2, 16), TGT_SC_DNR(GENERIC, INVALID_FIELD));
		/* that these were errors is an entry in the error log */
		f.admin.queue.ctrlr->n_errors = 0;
		memset(f.admin.queue.ctrlr->errors, 0, sizeof(f.admin.queue.ctrlr->errors));
	}
	fake_fini(&f);
}

static void errors(void **state)
{
	const struct nvme_error_log_page *log = (const void *)page;
	struct tgt_req req;
	struct fake f;
	int i;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	for (i = 0; i < TGT_ERROR_LOG_ENTRIES + 3; i++) {
		fake_req(&req, &f.admin, 0xff, NULL, 0);
		req.cmd.cid = (uint16_t)i;
		fake_exec(&req);
	}
	assert_int_equal(get_log(&f, NVME_LOG_LID_ERROR, 0, 128), 0);
	assert_int_equal(le64toh(log[0].error_count), TGT_ERROR_LOG_ENTRIES + 3);
	assert_int_equal(le16toh(log[0].cmdid), TGT_ERROR_LOG_ENTRIES + 2);
	assert_int_equal(le16toh(log[0].status_field), TGT_SC_DNR(GENERIC, INVALID_OPCODE) << 1);
	assert_int_equal(le64toh(log[1].error_count), TGT_ERROR_LOG_ENTRIES + 2);
	fake_fini(&f);
}

static void refused(void **state)
{
	struct tgt_req req;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	assert_int_equal(get_log(&f, 0xc0, 0, 512), TGT_SC_DNR(CMD_SPECIFIC, INVALID_LOG_PAGE));
	assert_int_equal(get_log(&f, NVME_LOG_LID_DISCOVER, 0, 1024),
			 TGT_SC_DNR(CMD_SPECIFIC, INVALID_LOG_PAGE));
	assert_int_equal(get_log(&f, NVME_LOG_LID_ANA, 0, 16),
			 TGT_SC_DNR(CMD_SPECIFIC, INVALID_LOG_PAGE));
	fake_req(&req, &f.admin, nvme_admin_get_log_page, page, 512);
	req.cmd.cdw10 = NVME_LOG_LID_SMART | 126 << 16; /* 508 bytes for 512 */
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, SGL_INVALID_DATA));
	req.cmd.cdw10 = NVME_LOG_LID_SMART | 0xffffU << 16;
	req.cmd.cdw11 = 0xffff;
	assert_int_equal(fake_exec(&req), TGT_SC_DNR(GENERIC, SGL_INVALID_DATA));
	fake_queue_end(&f.admin);
	fake_connect(&f, NVME_DISC_SUBSYS_NAME);
	assert_int_equal(get_log(&f, NVME_LOG_LID_SMART, 0, 512),
			 TGT_SC_DNR(CMD_SPECIFIC, INVALID_LOG_PAGE));
	fake_fini(&f);
}

static void event_request(struct fake *f, struct tgt_req *req)
{
	fake_req(req, &f->admin, nvme_admin_async_event, NULL, 0);
	tgt_exec(req);
}

static void rm_ns(struct fake *f, uint32_t nsid)
{
	assert_int_equal(tgt_subsys_rm_ns(&f->tgt, f->subsys, nsid), 0);
}

/* Told once, masked until the log is read, told again if more changed (U57). */
static void namespace_changes(void **state)
{
	struct tgt_req aer[2];
	struct fake f;
	int before;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	f.admin.queue.ctrlr->event_config = NVME_CTRL_OAES_NA;
	event_request(&f, &aer[0]);
	before = f.admin.responses;
	rm_ns(&f, 1);
	assert_int_equal(f.admin.responses, before + 1);
	assert_int_equal(fake_result(&f.admin), 0x040002);
	event_request(&f, &aer[1]);
	rm_ns(&f, 2);
	assert_int_equal(f.admin.responses, before + 1);
	assert_int_equal(get_log(&f, NVME_LOG_LID_CHANGED_NS | RAE, 0, 4096), 0);
	assert_int_equal(util_get_le32(page), 1);
	assert_int_equal(util_get_le32(page + 4), 2);
	assert_int_equal(util_get_le32(page + 8), 0);
	before = f.admin.responses;
	assert_int_equal(get_log(&f, NVME_LOG_LID_CHANGED_NS, 0, 4096), 0);
	assert_int_equal(f.admin.responses, before + 1); /* all was in the list: nothing to add */
	rm_ns(&f, 5);
	assert_int_equal(f.admin.responses, before + 2);
	assert_int_equal(get_log(&f, NVME_LOG_LID_CHANGED_NS, 0, 4096), 0);
	assert_int_equal(util_get_le32(page), 5);
	assert_int_equal(util_get_le32(page + 4), 0);
	fake_fini(&f);
}

static void changes_before_a_request(void **state)
{
	struct tgt_req aer;
	struct fake f;
	int before;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	rm_ns(&f, 1); /* nobody enabled the event */
	event_request(&f, &aer);
	before = f.admin.responses;
	fake_queue_end(&f.admin);
	assert_int_equal(f.admin.drops, 1);
	fake_connect(&f, FAKE_NQN);
	f.admin.queue.ctrlr->event_config = NVME_CTRL_OAES_NA;
	rm_ns(&f, 2);
	before = f.admin.responses;
	event_request(&f, &aer);
	assert_int_equal(f.admin.responses, before + 1);
	fake_fini(&f);
}

static void too_many_changes(void **state)
{
	struct tgt_ctrlr *ctrlr;
	struct fake f;
	uint32_t i;

	(void)state;
	fake_init(&f);
	ctrlr = fake_connect(&f, FAKE_NQN);
	for (i = 1; i <= TGT_MAX_CHANGED_NS; i++) {
		tgt_aer_ns_changed(ctrlr, i);
		tgt_aer_ns_changed(ctrlr, i);
	}
	assert_int_equal(get_log(&f, NVME_LOG_LID_CHANGED_NS | RAE, 4092, 4), 0);
	assert_int_equal(util_get_le32(page), TGT_MAX_CHANGED_NS);
	tgt_aer_ns_changed(ctrlr, 1); /* in the list already */
	assert_int_equal(ctrlr->n_changed_ns, TGT_MAX_CHANGED_NS);
	tgt_aer_ns_changed(ctrlr, TGT_MAX_CHANGED_NS + 1);
	assert_int_equal(get_log(&f, NVME_LOG_LID_CHANGED_NS, 0, 8), 0);
	assert_true(util_get_le32(page) == 0xffffffff);
	assert_int_equal(util_get_le32(page + 4), 0);
	assert_int_equal(ctrlr->n_changed_ns, 0);
	fake_fini(&f);
}

static void event_request_limit(void **state)
{
	struct tgt_req aer[TGT_MAX_AER + 1];
	struct fake f;
	int i;

	(void)state;
	fake_init(&f);
	fake_connect(&f, FAKE_NQN);
	for (i = 0; i < TGT_MAX_AER; i++)
		event_request(&f, &aer[i]);
	fake_req(&aer[i], &f.admin, nvme_admin_async_event, NULL, 0);
	assert_int_equal(fake_exec(&aer[i]), TGT_SC_DNR(CMD_SPECIFIC, ASYNC_LIMIT));
	fake_queue_end(&f.admin);
	assert_int_equal(f.admin.drops, TGT_MAX_AER);
	fake_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smart_and_firmware),
		cmocka_unit_test(smart_counts),
		cmocka_unit_test(effects),
		cmocka_unit_test(offsets),
		cmocka_unit_test(errors),
		cmocka_unit_test(refused),
		cmocka_unit_test(namespace_changes),
		cmocka_unit_test(changes_before_a_request),
		cmocka_unit_test(too_many_changes),
		cmocka_unit_test(event_request_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
