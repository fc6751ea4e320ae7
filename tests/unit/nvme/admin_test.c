/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The soft controller's registers and admin commands, good and bad, each with its exact status.
 */
#include "fixture.h"

#include <errno.h>
#include <string.h>

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig_init(rig, make_ram(2048, 512), 16);
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	rig_fini(*state);
	free(*state);
	return 0;
}

/* ---- registers ---------------------------------------------------------------------------- */

static void start_with_bad_registers_is_fatal(void **state)
{
	struct rig *rig = *state;
	const struct nv_bar *bar = &rig->bar;
	uint64_t good = nv_bar_read64(bar, NVME_REG_ASQ);
	const uint32_t bad_cc[] = {1 | 1 << NVME_CC_MPS_SHIFT, 1 | 6 << NVME_CC_CSS_SHIFT,
				   1 | 1 << NVME_CC_AMS_SHIFT};

	assert_int_equal(nv_bar_read32(bar, NVME_REG_CSTS), 1);
	nv_bar_write32(bar, NVME_REG_AQA, 0); /* ignored while enabled */
	assert_int_equal(nv_bar_read32(bar, NVME_REG_AQA), 0x001f001f);
	nv_bar_write32(bar, NVME_REG_CC, 0);
	assert_int_equal(nv_bar_read32(bar, NVME_REG_CSTS), 0);
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(bad_cc); i++) {
		nv_bar_write32(bar, NVME_REG_CC, bad_cc[i]);
		assert_int_equal(nv_bar_read32(bar, NVME_REG_CSTS), 2); /* CFS */
		nv_bar_write32(bar, NVME_REG_CC, 0);
		assert_int_equal(nv_bar_read32(bar, NVME_REG_CSTS), 0);
	}
	nv_bar_write64(bar, NVME_REG_ASQ, 0x1000); /* memory that is nobody's */
	nv_bar_write32(bar, NVME_REG_CC, 1);
	assert_int_equal(nv_bar_read32(bar, NVME_REG_CSTS), 2);
	nv_bar_write32(bar, NVME_REG_CC, 0);
	nv_bar_write64(bar, NVME_REG_ASQ, good);
	nv_bar_write32(bar, NVME_REG_AQA, 0); /* one entry */
	nv_bar_write32(bar, NVME_REG_CC, 1);
	assert_int_equal(nv_bar_read32(bar, NVME_REG_CSTS), 2);
	nv_bar_write32(bar, NVME_REG_CC, 0);
	nv_bar_write32(bar, NVME_REG_AQA, 0x001f001f);
	nv_bar_write32(bar, NVME_REG_CC, 1);
	assert_int_equal(nv_bar_read32(bar, NVME_REG_CSTS), 1);
	/* The driver knows nothing of all this: do not let it wait for a queue that was reset. */
	nv_bar_write32(bar, NVME_REG_CC, 0);
}

static void registers_that_are_not_there(void **state)
{
	struct rig *rig = *state;

	nv_bar_write32(&rig->bar, NVME_REG_CAP, 0);
	assert_int_equal(NVME_CAP_MQES(nv_bar_read64(&rig->bar, NVME_REG_CAP)), 1023);
	assert_int_equal(nv_bar_read32(&rig->bar, NVME_REG_CMBSZ), 0);
	nv_bar_write32(&rig->bar, NVME_REG_INTMS, 5);
	nv_bar_write32(&rig->bar, NVME_REG_INTMC, 4);
	assert_int_equal(nv_bar_read32(&rig->bar, NVME_REG_INTMS), 1);
	/* Doorbells: between two, of no queue, beyond the end. */
	nv_bar_write32(&rig->bar, NV_DOORBELL_BASE + 4, 1);
	nv_bar_write32(&rig->bar, NV_DOORBELL_BASE + 64 * 5, 1);
	nv_bar_write32(&rig->bar, 0x7fffff00, 1);
	assert_null(rig->bar.ops->doorbell(rig->bar.arg, NV_DOORBELL_BASE + 4));
	assert_null(rig->bar.ops->doorbell(rig->bar.arg, 0));
	assert_null(rig->bar.ops->doorbell(rig->bar.arg, 0x7fffff00));
}

/* ---- queues ------------------------------------------------------------------------------- */

static struct nv_sqe queue_cmd(uint8_t opcode, uint16_t qid, uint16_t zero_based, uint32_t cdw11,
			       const void *mem)
{
	struct nv_sqe cmd = {.opcode = opcode};

	cmd.cdw10 = htole32(qid | (uint32_t)zero_based << 16);
	cmd.cdw11 = htole32(cdw11);
	cmd.prp1 = htole64((uintptr_t)mem);
	return cmd;
}

static void create_and_delete_queue_errors(void **state)
{
	struct rig *rig = *state;
	void *mem = rig_alloc(rig, 65536);
	const uint8_t cq = nvme_admin_create_cq, sq = nvme_admin_create_sq;
	const uint8_t del_cq = nvme_admin_delete_cq, del_sq = nvme_admin_delete_sq;
	const uint16_t bad_qid = DNR_SPECIFIC(NVME_SC_QID_INVALID);
	const struct {
		struct nv_sqe cmd;
		uint16_t status;
	} steps[] = {
		{queue_cmd(cq, 0, 7, 1, mem), bad_qid},
		{queue_cmd(cq, 1, 7, 1, mem), bad_qid}, /* exists */
		{queue_cmd(cq, 129, 7, 1, mem), bad_qid},
		{queue_cmd(cq, 2, 0, 1, mem), DNR_SPECIFIC(NVME_SC_QUEUE_SIZE)},
		{queue_cmd(cq, 2, 1024, 1, mem), DNR_SPECIFIC(NVME_SC_QUEUE_SIZE)},
		{queue_cmd(cq, 2, 7, 0, mem), DNR(NVME_SC_INVALID_FIELD)}, /* not contiguous */
		{queue_cmd(cq, 2, 7, 3, mem), DNR_SPECIFIC(NVME_SC_INVALID_VECTOR)},
		{queue_cmd(cq, 2, 7, 1, (char *)mem + 64), DNR(NVME_SC_PRP_INVALID_OFFSET)},
		{queue_cmd(cq, 2, 7, 1, (void *)0x1000), NVME_SC_DATA_XFER_ERROR},
		{queue_cmd(sq, 2, 7, 1 | 2 << 16, mem), DNR_SPECIFIC(NVME_SC_CQ_INVALID)},
		{queue_cmd(cq, 2, 7, 1, mem), 0},
		{queue_cmd(sq, 2, 7, 1, mem), bad_qid}, /* CQ 0 */
		{queue_cmd(sq, 2, 7, 1 | 1 << 16, mem), DNR_SPECIFIC(NVME_SC_CQ_INVALID)},
		{queue_cmd(sq, 2, 0, 1 | 2 << 16, mem), DNR_SPECIFIC(NVME_SC_QUEUE_SIZE)},
		{queue_cmd(sq, 0, 7, 1 | 2 << 16, mem), bad_qid},
		{queue_cmd(sq, 2, 7, 1 | 2 << 16, (char *)mem + 4096), 0},
		{queue_cmd(sq, 2, 7, 1 | 2 << 16, (char *)mem + 4096), bad_qid},
		{queue_cmd(del_cq, 2, 0, 0, NULL), DNR_SPECIFIC(NVME_SC_INVALID_QUEUE)},
		{queue_cmd(del_sq, 2, 0, 0, NULL), 0},
		{queue_cmd(del_sq, 2, 0, 0, NULL), bad_qid},
		{queue_cmd(del_cq, 2, 0, 0, NULL), 0},
		{queue_cmd(del_cq, 2, 0, 0, NULL), bad_qid},
		{queue_cmd(del_cq, 0, 0, 0, NULL), bad_qid},
		{queue_cmd(del_sq, 500, 0, 0, NULL), bad_qid},
	};

	for (size_t i = 0; i < UTIL_ARRAY_SIZE(steps); i++)
		if (admin(rig, steps[i].cmd, NULL, 0, NULL) != steps[i].status)
			fail_msg("step %zu", i);
	rig_free(rig, mem);
}

/* ---- Identify ----------------------------------------------------------------------------- */

static uint16_t identify(struct rig *rig, uint32_t cns, uint32_t nsid, void *buf)
{
	struct nv_sqe cmd = {.opcode = nvme_admin_identify};

	cmd.cdw10 = htole32(cns);
	cmd.nsid = htole32(nsid);
	return admin(rig, cmd, buf, NV_IDENTIFY_BYTES, NULL);
}

static void identify_what_exists_and_what_not(void **state)
{
	struct rig *rig = *state;
	uint8_t buf[NV_IDENTIFY_BYTES];
	static const uint8_t zero[NV_IDENTIFY_BYTES];

	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_NS, 2, buf), 0);
	assert_memory_equal(buf, zero, sizeof(buf)); /* inactive */
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_NS, 0, buf), DNR(NVME_SC_INVALID_NS));
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_NS, NV_NSID_ALL, buf),
			 DNR(NVME_SC_INVALID_NS));
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_NS_DESC_LIST, 2, buf),
			 DNR(NVME_SC_INVALID_NS));
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, 0xfffffffe, buf),
			 DNR(NVME_SC_INVALID_NS));
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_CSI_NS, 1, buf), 0);
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_CSI_NS, 9, buf), DNR(NVME_SC_INVALID_NS));
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_CSI_CTRL, 0, buf), 0);
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_CSI_NS_ACTIVE_LIST, 0, buf), 0);
	assert_int_equal(buf[0], 1);
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_COMMAND_SET_STRUCTURE, 0, buf), 0);
	assert_int_equal(buf[0], 1);
	assert_int_equal(identify(rig, NVME_IDENTIFY_CNS_ALLOCATED_NS_LIST, 0, buf),
			 DNR(NVME_SC_INVALID_FIELD));
	assert_int_equal(identify(rig, 0xff, 0, buf), DNR(NVME_SC_INVALID_FIELD));
}

static void flags_and_opcodes_are_checked(void **state)
{
	struct rig *rig = *state;
	struct nv_sqe cmd = {.opcode = nvme_admin_identify, .flags = 0x40};
	const uint8_t unknown[] = {
		0x03, 0x07, nvme_admin_format_nvm, nvme_admin_keep_alive, nvme_admin_fabrics, 0xff};
	uint8_t buf[NV_IDENTIFY_BYTES];

	cmd.cdw10 = htole32(NVME_IDENTIFY_CNS_CTRL);
	assert_int_equal(admin(rig, cmd, buf, sizeof(buf), NULL), DNR(NVME_SC_INVALID_FIELD));
	cmd.flags = 0x01;
	assert_int_equal(admin(rig, cmd, buf, sizeof(buf), NULL), DNR(NVME_SC_INVALID_FIELD));
	cmd.flags = 0;
	for (size_t i = 0; i < sizeof(unknown); i++) {
		cmd.opcode = unknown[i];
		assert_int_equal(admin(rig, cmd, NULL, 0, NULL), DNR(NVME_SC_INVALID_OPCODE));
	}
	/* A data pointer to nowhere. */
	cmd.opcode = nvme_admin_identify;
	cmd.prp1 = htole64(0x2000);
	assert_int_equal(admin(rig, cmd, NULL, 0, NULL), NVME_SC_DATA_XFER_ERROR);
	cmd.prp1 = htole64(0x2001);
	assert_int_equal(admin(rig, cmd, NULL, 0, NULL), DNR(NVME_SC_PRP_INVALID_OFFSET));
}

/* ---- features ----------------------------------------------------------------------------- */

static uint16_t get(struct rig *rig, uint8_t fid, uint32_t sel, uint32_t *value)
{
	struct nv_sqe cmd = {.opcode = nvme_admin_get_features};

	cmd.cdw10 = htole32(fid | sel << 8);
	return admin(rig, cmd, NULL, 0, value);
}

static uint16_t set(struct rig *rig, uint32_t dw10, uint32_t dw11, uint32_t nsid, uint32_t *dw0)
{
	struct nv_sqe cmd = {.opcode = nvme_admin_set_features};

	cmd.cdw10 = htole32(dw10);
	cmd.cdw11 = htole32(dw11);
	cmd.nsid = htole32(nsid);
	return admin(rig, cmd, NULL, 0, dw0);
}

static void features_keep_what_is_set(void **state)
{
	struct rig *rig = *state;
	const uint8_t fids[] = {NVME_FEAT_FID_ARBITRATION, NVME_FEAT_FID_ERR_RECOVERY,
				NVME_FEAT_FID_IRQ_COALESCE, NVME_FEAT_FID_ASYNC_EVENT};
	uint32_t value;

	for (size_t i = 0; i < sizeof(fids); i++) {
		assert_int_equal(set(rig, fids[i], 0x1234, 0, NULL), 0);
		assert_int_equal(get(rig, fids[i], NVME_GET_FEATURES_SEL_CURRENT, &value), 0);
		assert_int_equal(value, 0x1234);
		assert_int_equal(get(rig, fids[i], NVME_GET_FEATURES_SEL_DEFAULT, &value), 0);
		assert_int_equal(value, 0);
		assert_int_equal(get(rig, fids[i], NVME_GET_FEATURES_SEL_SUPPORTED, &value), 0);
		assert_int_equal(value & 4, 4);
		assert_int_equal(get(rig, fids[i], 5, &value), DNR(NVME_SC_INVALID_FIELD));
	}
	assert_int_equal(set(rig, NVME_FEAT_FID_TEMP_THRESH, 300, 0, NULL), 0);
	assert_int_equal(get(rig, NVME_FEAT_FID_TEMP_THRESH, 0, &value), 0);
	assert_int_equal(value, 300);
	assert_int_equal(set(rig, NVME_FEAT_FID_TEMP_THRESH, 3 << 16 | 300, 0, NULL),
			 DNR(NVME_SC_INVALID_FIELD)); /* a sensor that is not there */
	assert_int_equal(set(rig, NVME_FEAT_FID_POWER_MGMT, 0, 0, NULL), 0);
	assert_int_equal(set(rig, NVME_FEAT_FID_POWER_MGMT, 1, 0, NULL),
			 DNR(NVME_SC_INVALID_FIELD));
}

static void feature_errors(void **state)
{
	struct rig *rig = *state;
	uint32_t value;

	assert_int_equal(set(rig, 0x77, 0, 0, NULL), DNR(NVME_SC_INVALID_FIELD));
	assert_int_equal(get(rig, 0x77, 0, &value), DNR(NVME_SC_INVALID_FIELD));
	/* A ram disk has no volatile cache to switch. */
	assert_int_equal(set(rig, NVME_FEAT_FID_VOLATILE_WC, 1, 0, NULL),
			 DNR(NVME_SC_INVALID_FIELD));
	assert_int_equal(set(rig, NVME_FEAT_FID_ARBITRATION | 1u << 31, 0, 0, NULL),
			 DNR_SPECIFIC(NVME_SC_FEATURE_NOT_SAVEABLE));
	assert_int_equal(set(rig, NVME_FEAT_FID_ARBITRATION, 0, 1, NULL),
			 DNR_SPECIFIC(NVME_SC_FEATURE_NOT_PER_NS));
	assert_int_equal(set(rig, NVME_FEAT_FID_ERR_RECOVERY, 1 << 16, 1, NULL),
			 DNR(NVME_SC_INVALID_FIELD));
}

static void number_of_queues(void **state)
{
	struct rig *rig = *state;
	uint32_t value;

	assert_int_equal(set(rig, NVME_FEAT_FID_NUM_QUEUES, 0, 0, NULL),
			 DNR(NVME_SC_CMD_SEQ_ERROR)); /* a queue exists */
	assert_int_equal(set(rig, NVME_FEAT_FID_NUM_QUEUES, 0xffff, 0, NULL),
			 DNR(NVME_SC_INVALID_FIELD));
	nv_queue_destroy(rig->queue);
	rig->queue = NULL;
	assert_int_equal(set(rig, NVME_FEAT_FID_NUM_QUEUES, 4 << 16 | 9, 0, &value), 0);
	assert_int_equal(value, 4 << 16 | 4); /* pairs */
	assert_int_equal(set(rig, NVME_FEAT_FID_NUM_QUEUES, 0xfffefffe, 0, &value), 0);
	assert_int_equal(value, 127 << 16 | 127);
	assert_int_equal(get(rig, NVME_FEAT_FID_NUM_QUEUES, 0, &value), 0);
	assert_int_equal(value, 127 << 16 | 127);
}

/* ---- logs --------------------------------------------------------------------------------- */

static uint16_t get_log(struct rig *rig, uint8_t lid, uint64_t offset, uint32_t bytes, void *buf)
{
	struct nv_sqe cmd = {.opcode = nvme_admin_get_log_page};

	cmd.cdw10 = htole32(lid | (bytes / 4 - 1) << 16);
	cmd.cdw12 = htole32((uint32_t)offset);
	cmd.cdw13 = htole32((uint32_t)(offset >> 32));
	return admin(rig, cmd, buf, bytes, NULL);
}

static void error_log_has_the_newest_first(void **state)
{
	struct rig *rig = *state;
	struct nvme_error_log_page log[64];
	struct nv_sqe bad = {.opcode = 0x7e, .nsid = htole32(1)};

	for (int i = 0; i < 70; i++) {
		if (i == 69)
			bad.opcode = nvme_cmd_flush, bad.nsid = htole32(33);
		assert_int_not_equal(run(rig, bad), 0);
	}
	assert_int_equal(get_log(rig, NVME_LOG_LID_ERROR, 0, sizeof(log), log), 0);
	assert_int_equal(le64toh(log[0].error_count), 70);
	assert_int_equal(le16toh(log[0].status_field) >> 1, DNR(NVME_SC_INVALID_NS));
	assert_int_equal(le32toh(log[0].nsid), 33);
	assert_int_equal(le16toh(log[0].sqid), 1);
	assert_int_equal(le16toh(log[0].cmdid), 70);
	assert_int_equal(le16toh(log[1].status_field) >> 1, DNR(NVME_SC_INVALID_OPCODE));
	assert_int_equal(le64toh(log[63].error_count), 7);
	/* From an offset. */
	assert_int_equal(get_log(rig, NVME_LOG_LID_ERROR, 64, 64, log), 0);
	assert_int_equal(le64toh(log[0].error_count), 69);
}

static void other_logs(void **state)
{
	struct rig *rig = *state;
	struct nvme_smart_log smart;
	struct nvme_firmware_slot firmware;
	struct nvme_cmd_effects_log effects;
	uint8_t buf[4096];

	assert_int_equal(get_log(rig, NVME_LOG_LID_SMART, 0, sizeof(smart), &smart), 0);
	assert_int_equal(smart.avail_spare, 100);
	assert_int_equal(smart.critical_warning, 0);
	assert_int_equal(get_log(rig, NVME_LOG_LID_FW_SLOT, 0, sizeof(firmware), &firmware), 0);
	assert_int_equal(firmware.afi, 1);
	assert_memory_equal(firmware.frs[0], "1.0     ", 8);
	assert_int_equal(get_log(rig, NVME_LOG_LID_CMD_EFFECTS, 0, sizeof(effects), &effects), 0);
	assert_int_equal(le32toh(effects.iocs[nvme_cmd_write]) & 3, 3);
	assert_int_equal(le32toh(effects.iocs[nvme_cmd_copy]), 0);
	assert_int_equal(get_log(rig, NVME_LOG_LID_CHANGED_NS, 0, 4096, buf), 0);
	/* More than there is: zeroes behind the end. */
	memset(buf, 0xff, sizeof(buf));
	assert_int_equal(get_log(rig, NVME_LOG_LID_SMART, 508, 4096, buf), 0);
	assert_int_equal(buf[4], 0);
	assert_int_equal(buf[4095], 0);
	assert_int_equal(get_log(rig, NVME_LOG_LID_SMART, 516, 4, buf), DNR(NVME_SC_INVALID_FIELD));
	assert_int_equal(get_log(rig, NVME_LOG_LID_SMART, 2, 4, buf), DNR(NVME_SC_INVALID_FIELD));
	assert_int_equal(get_log(rig, 0x80, 0, 4, buf), DNR_SPECIFIC(NVME_SC_INVALID_LOG_PAGE));
}

/* ---- held commands ------------------------------------------------------------------------ */

/*
 * The driver's admin call waits for an answer that an AER does not get, so these go through a
 * driver of their own: the admin ring by hand.
 */
static void aers_are_held_and_can_be_aborted(void **state)
{
	struct rig *rig = *state;
	const struct nv_bar *bar = &rig->bar;
	struct nv_sqe *sq = rig_alloc(rig, 4096);
	struct nv_cqe *cq = rig_alloc(rig, 4096);
	uint32_t tail = 0;

	nv_bar_write32(bar, NVME_REG_CC, 0);
	nv_bar_write32(bar, NVME_REG_AQA, 31 << 16 | 31);
	nv_bar_write64(bar, NVME_REG_ASQ, (uintptr_t)sq);
	nv_bar_write64(bar, NVME_REG_ACQ, (uintptr_t)cq);
	nv_bar_write32(bar, NVME_REG_CC, 1);
	for (uint16_t cid = 0; cid < 5; cid++) {
		sq[tail].opcode = nvme_admin_async_event;
		sq[tail++].cid = htole16(cid);
		nv_bar_write32(bar, NV_DOORBELL_BASE, tail);
	}
	/* Four are held, the fifth is one too many. */
	assert_int_equal(le16toh(cq[0].cid), 4);
	assert_int_equal(nv_cqe_status(&cq[0]), DNR_SPECIFIC(NVME_SC_ASYNC_LIMIT));
	assert_int_equal(cq[1].status, 0);

	sq[tail].opcode = nvme_admin_abort_cmd;
	sq[tail].cid = htole16(100);
	sq[tail++].cdw10 = htole32(2 << 16);
	nv_bar_write32(bar, NV_DOORBELL_BASE, tail);
	assert_int_equal(le16toh(cq[1].cid), 2);
	assert_int_equal(nv_cqe_status(&cq[1]), NVME_SC_ABORT_REQ);
	assert_int_equal(le16toh(cq[2].cid), 100);
	assert_int_equal(nv_cqe_status(&cq[2]), 0);
	assert_int_equal(le32toh(cq[2].dw0), 0); /* aborted */

	/* Once more, and one that never was: the Abort succeeds and says "not aborted". */
	for (uint32_t i = 0; i < 2; i++) {
		sq[tail].opcode = nvme_admin_abort_cmd;
		sq[tail].cid = htole16(101);
		sq[tail++].cdw10 = htole32(2u << 16 | i);
		nv_bar_write32(bar, NV_DOORBELL_BASE, tail);
		assert_int_equal(nv_cqe_status(&cq[3 + i]), 0);
		assert_int_equal(le32toh(cq[3 + i].dw0), 1);
	}
	nv_bar_write32(bar, NVME_REG_CC, 0);
	rig_free(rig, sq);
	rig_free(rig, cq);
}

static void bad_configuration(void **state)
{
	struct rig *rig = *state;
	struct nv_soft_conf conf = {.mem = rig->mem};
	struct nv_soft_ns_conf ns = {.nsid = 2};
	struct nv_store *store = make_ram(8, 512);
	struct nv_soft *soft = NULL;
	struct nv_err err;

	assert_int_equal(nv_soft_create(&conf, &soft, &err), -EINVAL);
	conf.serial = "";
	assert_int_equal(nv_soft_create(&conf, &soft, &err), -EINVAL);
	conf.serial = "123456789012345678901";
	assert_int_equal(nv_soft_create(&conf, &soft, &err), -EINVAL);
	conf.serial = "tab\there";
	assert_int_equal(nv_soft_create(&conf, &soft, &err), -EINVAL);
	conf.serial = "good";
	conf.max_entries = 100;
	assert_int_equal(nv_soft_create(&conf, &soft, &err), -EINVAL);
	conf.max_entries = 0;
	conf.max_io_queues = NV_MAX_IO_QUEUES + 1;
	assert_int_equal(nv_soft_create(&conf, &soft, &err), -EINVAL);
	assert_null(soft);

	assert_int_equal(nv_soft_add_ns(rig->soft, &ns, store, &err), -EBUSY);
	ns.nsid = 1;
	assert_int_equal(nv_soft_add_ns(rig->soft, &ns, store, &err), -EEXIST);
	ns.nsid = 0;
	assert_int_equal(nv_soft_add_ns(rig->soft, &ns, store, &err), -EINVAL);
	ns.nsid = NV_SOFT_MAX_NS + 1;
	assert_int_equal(nv_soft_add_ns(rig->soft, &ns, store, &err), -EINVAL);
	nv_store_destroy(store);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(start_with_bad_registers_is_fatal),
		T(registers_that_are_not_there),
		T(create_and_delete_queue_errors),
		T(identify_what_exists_and_what_not),
		T(flags_and_opcodes_are_checked),
		T(features_keep_what_is_set),
		T(feature_errors),
		T(number_of_queues),
		T(error_log_has_the_newest_first),
		T(other_logs),
		T(aers_are_held_and_can_be_aborted),
		T(bad_configuration),
	};

	return cmocka_run_group_tests_name("nvme/admin", tests, NULL, NULL);
}
