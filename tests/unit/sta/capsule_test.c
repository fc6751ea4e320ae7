/* SPDX-License-Identifier: Apache-2.0 */
/* What a capsule is refused for, with which status and where the fault is said to be. */
#include "engine.h"

#include <string.h>

#include "sta/capsule.h"

#define COMPARE_FAILURE (NVME_SCT_MEDIA << 8 | NVME_SC_COMPARE_FAILED)
#define OFFSET(field)	offsetof(struct sta_sqe, field)

enum {
	ICD = STA_ICD_BYTES,
	MAX_IO = STA_MAX_IO_BYTES,
	BLOCK = 512,
	KEY = 0xfeedf00d,
};

static void expect(const struct sta_sqe *sqe, uint32_t got_bytes, sta_status_t status, size_t where)
{
	struct sta_capsule c;

	assert_int_equal(sta_capsule_parse(sqe, ICD, got_bytes, &c), status);
	if (status)
		assert_int_equal(c.err_byte, where);
}

/* ---- SGL ---- */

static void test_sgl_keyed(void **state)
{
	struct sta_sqe sqe = {0};
	struct sta_sgl sgl;
	void *addr = (void *)0x1122334455667788;

	(void)state;
	engine_set_keyed(&sqe, addr, 0xabcdef, KEY, false);
	assert_int_equal(sta_sgl_parse(&sqe, &sgl), 0);
	assert_true(sgl.is_keyed && !sgl.is_invalidate);
	assert_true(sgl.addr == 0x1122334455667788);
	assert_int_equal(sgl.bytes, 0xabcdef);
	assert_int_equal(sgl.key, KEY);
	engine_set_keyed(&sqe, addr, 1, KEY, true);
	assert_int_equal(sta_sgl_parse(&sqe, &sgl), 0);
	assert_true(sgl.is_keyed && sgl.is_invalidate);
}

/* Every type and subtype there can be: three are good. */
static void test_sgl_types(void **state)
{
	(void)state;
	for (unsigned int byte = 0; byte < 256; byte++) {
		unsigned int type = byte >> 4, subtype = byte & 0xf;
		struct sta_sqe sqe = {0};
		sta_status_t status, expected;
		struct sta_sgl sgl;

		engine_set_keyed(&sqe, NULL, 512, KEY, true);
		sqe.sgl[15] = (uint8_t)byte;
		if (type == 0x4)
			expected = subtype == 0x0 || subtype == 0xf ? 0 : STA_SC_DNR(INVALID_FIELD);
		else if (type == 0x0)
			expected = subtype == 0x1 ? 0 : STA_SC_DNR(INVALID_FIELD);
		else
			expected = STA_SC_DNR(SGL_INVALID_TYPE);
		status = sta_sgl_parse(&sqe, &sgl);
		assert_int_equal(status, expected);
		/* Only that one byte asks for an invalidation. */
		assert_int_equal(sgl.is_invalidate, byte == 0x4f);
		assert_int_equal(sgl.is_keyed, type == 0x4);
	}
}

static void test_sgl_in_capsule_bounds(void **state)
{
	static const struct {
		uint64_t offset;
		uint32_t bytes, got;
		sta_status_t status;
	} rows[] = {
		{0, 4096, 4096, 0},
		{0, 1, 1, 0},
		{4092, 4, 4096, 0},
		{4096, 0, 0, STA_SC_DNR(SGL_INVALID_DATA)}, /* would start behind what came */
		{4, 4096, 4096, STA_SC_DNR(SGL_INVALID_OFFSET)},
		{0, 4097, 4096, STA_SC_DNR(SGL_INVALID_OFFSET)},
		{4100, 1, 4096, STA_SC_DNR(SGL_INVALID_OFFSET)},
		{2, 512, 4096, STA_SC_DNR(SGL_INVALID_OFFSET)}, /* not a dword */
		{0, 512, 511, STA_SC_DNR(SGL_INVALID_DATA)},
		{512, 512, 1023, STA_SC_DNR(SGL_INVALID_DATA)},
		{512, 512, 1024, 0},
		{0, 512, 0, STA_SC_DNR(SGL_INVALID_DATA)},
		{UINT64_MAX - 3, 4, 4096, STA_SC_DNR(SGL_INVALID_OFFSET)},
		{0xfffffffc, 0xfffffffc, 4096, STA_SC_DNR(SGL_INVALID_OFFSET)},
		{0, UINT32_MAX, 4096, STA_SC_DNR(SGL_INVALID_OFFSET)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sta_sgl sgl = {.addr = rows[i].offset, .bytes = rows[i].bytes};

		assert_int_equal(sta_sgl_check_in_capsule(&sgl, ICD, rows[i].got), rows[i].status);
	}
}

/* ---- commands ---- */

static void test_who_serves(void **state)
{
	(void)state;
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		struct sta_sqe sqe = engine_io_sqe((uint8_t)opcode, 0, 1);
		enum sta_cmd_kind kind = STA_CMD_NON_OFFLOAD;
		struct sta_capsule c;

		switch (opcode) {
		case nvme_cmd_flush:
		case nvme_cmd_write:
		case nvme_cmd_read:
		case nvme_cmd_compare:
		case nvme_cmd_write_zeroes:
		case nvme_cmd_dsm:
		case nvme_cmd_verify:
			kind = STA_CMD_IO;
		}
		assert_int_equal(sta_capsule_parse(&sqe, ICD, 0, &c), 0);
		assert_int_equal(c.kind, kind);
		/* The opcode's own bits say where data goes, but for these two. */
		if (opcode == nvme_cmd_write_zeroes || opcode == nvme_cmd_verify ||
		    opcode == nvme_admin_fabrics)
			continue;
		assert_int_equal(c.dir, opcode & 1   ? STA_DATA_FROM_HOST
					: opcode & 2 ? STA_DATA_TO_HOST
						     : STA_DATA_NONE);
	}
}

static void test_fabrics_direction(void **state)
{
	static const struct {
		uint8_t fctype;
		enum sta_data_dir dir;
	} rows[] = {
		{0x00, STA_DATA_NONE}, /* Property Set */
		{0x01, STA_DATA_FROM_HOST}, /* Connect */
		{0x04, STA_DATA_NONE}, /* Property Get */
		{0x05, STA_DATA_FROM_HOST}, /* Authentication Send */
		{0x06, STA_DATA_TO_HOST}, /* Authentication Receive */
		{0x08, STA_DATA_NONE}, /* Disconnect */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sta_sqe sqe = engine_io_sqe(nvme_admin_fabrics, 0, 0);
		struct sta_capsule c;

		sqe.nsid = htole32(rows[i].fctype);
		assert_int_equal(sta_capsule_parse(&sqe, ICD, 0, &c), 0);
		assert_int_equal(c.kind, STA_CMD_NON_OFFLOAD);
		assert_int_equal(c.dir, rows[i].dir);
	}
}

static void test_flags(void **state)
{
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, 0, 1);

	(void)state;
	for (unsigned int fuse = 1; fuse < 4; fuse++) {
		sqe.flags = (uint8_t)(STA_SQE_PSDT_SGL | fuse);
		expect(&sqe, 0, STA_SC_DNR(INVALID_FIELD), OFFSET(flags));
	}
	for (unsigned int psdt = 0; psdt < 4; psdt++) {
		sqe.flags = (uint8_t)(psdt << 6);
		expect(&sqe, 0, psdt == 1 ? 0 : STA_SC_DNR(INVALID_FIELD), OFFSET(flags));
	}
	/* PSDT is reserved in Fabrics commands. */
	sqe.opcode = nvme_admin_fabrics;
	sqe.flags = 0;
	expect(&sqe, 0, 0, 0);
}

static void test_in_capsule_data(void **state)
{
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_write, 0, 1);

	(void)state;
	engine_set_in_capsule(&sqe, 0, BLOCK);
	expect(&sqe, BLOCK, 0, 0);
	expect(&sqe, BLOCK - 1, STA_SC_DNR(SGL_INVALID_DATA), OFFSET(sgl));
	engine_set_in_capsule(&sqe, 4, ICD);
	expect(&sqe, ICD, STA_SC_DNR(SGL_INVALID_OFFSET), OFFSET(sgl));
	/* A read has nowhere to put its data. */
	engine_set_in_capsule(&sqe, 0, BLOCK);
	sqe.opcode = nvme_cmd_read;
	expect(&sqe, BLOCK, STA_SC_DNR(INVALID_FIELD), OFFSET(opcode));
	sqe.opcode = nvme_cmd_flush;
	expect(&sqe, BLOCK, STA_SC_DNR(INVALID_FIELD), OFFSET(opcode));
	engine_set_in_capsule(&sqe, 0, 0);
	expect(&sqe, 0, 0, 0);
}

/* ---- transfer length ---- */

static void check_io(uint8_t opcode, uint32_t nlb_0b, uint32_t sgl_bytes, sta_status_t status)
{
	struct sta_sqe sqe = engine_io_sqe(opcode, 0, 0);
	struct sta_capsule c;

	/* the high half is flags, not blocks */
	sqe.cdw12 = htole32(nlb_0b | 0xabcd0000);
	engine_set_keyed(&sqe, NULL, sgl_bytes, KEY, true);
	assert_int_equal(sta_capsule_parse(&sqe, ICD, 0, &c), 0);
	assert_int_equal(sta_capsule_check_io(&sqe, BLOCK, MAX_IO, &c), status);
	if (!status)
		assert_true(c.data_bytes <= c.sgl.bytes && c.data_bytes <= MAX_IO);
	assert_true(c.sgl.is_invalidate);
}

static void test_transfer_length(void **state)
{
	const uint32_t most = MAX_IO / BLOCK;

	(void)state;
	for (int i = 0; i < 3; i++) {
		static const uint8_t opcodes[] = {nvme_cmd_read, nvme_cmd_write, nvme_cmd_compare};

		check_io(opcodes[i], 0, BLOCK, 0);
		check_io(opcodes[i], 0, BLOCK - 1, STA_SC_DNR(SGL_INVALID_DATA));
		check_io(opcodes[i], 0, BLOCK + 1, STA_SC_DNR(SGL_INVALID_DATA));
		check_io(opcodes[i], 0, 0, STA_SC_DNR(SGL_INVALID_DATA));
		check_io(opcodes[i], 9, 4096, STA_SC_DNR(SGL_INVALID_DATA));
		check_io(opcodes[i], most - 2, MAX_IO - BLOCK, 0);
		check_io(opcodes[i], most - 1, MAX_IO, 0);
		check_io(opcodes[i], most, MAX_IO + BLOCK, STA_SC_DNR(INVALID_FIELD));
		check_io(opcodes[i], 0xffff, 0xffffff, STA_SC_DNR(INVALID_FIELD));
		check_io(opcodes[i], 0, 0xffffff, STA_SC_DNR(INVALID_FIELD));
	}
	/* No data, whatever the number of blocks. */
	check_io(nvme_cmd_write_zeroes, 0xffff, 0, 0);
	check_io(nvme_cmd_verify, 0xffff, 0, 0);
	check_io(nvme_cmd_flush, 0, 0, 0);
	check_io(nvme_cmd_flush, 0, BLOCK, STA_SC_DNR(SGL_INVALID_DATA));
}

static void test_largest_blocks(void **state)
{
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, 0, 0);
	struct sta_capsule c;

	/* 65536 blocks of 4 KiB: more than 32 bits hold after a careless multiplication. */
	(void)state;
	sqe.cdw12 = htole32(0xffff);
	engine_set_keyed(&sqe, NULL, 0, KEY, false);
	assert_int_equal(sta_capsule_parse(&sqe, ICD, 0, &c), 0);
	assert_int_equal(sta_capsule_check_io(&sqe, 1u << 16, MAX_IO, &c),
			 STA_SC_DNR(INVALID_FIELD));
	assert_int_equal(c.err_byte, OFFSET(cdw12));
}

static void test_dsm_ranges(void **state)
{
	static const struct {
		uint32_t nr_0b, bytes, data_bytes;
		sta_status_t status;
	} rows[] = {
		{0, 16, 16, 0},
		{0, 4096, 16, 0}, /* hosts describe room for all 256 */
		{255, 4096, 4096, 0},
		{255, 4095, 0, STA_SC_DNR(SGL_INVALID_DATA)},
		{1, 16, 0, STA_SC_DNR(SGL_INVALID_DATA)},
		{0, 0, 0, STA_SC_DNR(SGL_INVALID_DATA)},
		{0xffffff00, 16, 16, 0}, /* reserved bits */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sta_sqe sqe = engine_io_sqe(nvme_cmd_dsm, 0, 0);
		struct sta_capsule c;

		sqe.cdw10 = htole32(rows[i].nr_0b);
		engine_set_keyed(&sqe, NULL, rows[i].bytes, KEY, false);
		assert_int_equal(sta_capsule_parse(&sqe, ICD, 0, &c), 0);
		assert_int_equal(sta_capsule_check_io(&sqe, BLOCK, MAX_IO, &c), rows[i].status);
		if (!rows[i].status)
			assert_int_equal(c.data_bytes, rows[i].data_bytes);
	}
}

static void test_connect(void **state)
{
	struct sta_sqe sqe = engine_io_sqe(nvme_admin_fabrics, 0, 0);
	struct sta_connect conn = {0};

	(void)state;
	sqe.nsid = htole32(STA_FABRICS_CONNECT);
	sqe.cdw10 = htole32(0x12340000); /* RECFMT 0, QID */
	sqe.cdw11 = htole32(0x001f); /* SQSIZE, CATTR 0 */
	assert_true(sta_capsule_is_connect(&sqe, &conn));
	assert_int_equal(conn.qid, 0x1234);
	assert_false(conn.is_flow_control_off);
	sqe.cdw11 = htole32(STA_CONNECT_CATTR_NO_FLOW << 16 | 0x1f);
	assert_true(sta_capsule_is_connect(&sqe, &conn));
	assert_true(conn.is_flow_control_off);
	sqe.nsid = htole32(0x00);
	assert_false(sta_capsule_is_connect(&sqe, &conn));
	sqe.nsid = htole32(STA_FABRICS_CONNECT);
	sqe.opcode = nvme_cmd_write;
	assert_false(sta_capsule_is_connect(&sqe, &conn));
}

/* ---- status of a back-end ---- */

static void test_status_from_backend(void **state)
{
	static const struct {
		uint16_t be, host;
	} rows[] = {
		{0, 0},
		{STA_SC_DNR(LBA_RANGE), STA_SC_DNR(LBA_RANGE)},
		{STA_SC_DNR(INVALID_FIELD), STA_SC_DNR(INVALID_FIELD)},
		{COMPARE_FAILURE, COMPARE_FAILURE},
		{COMPARE_FAILURE | NVME_SC_DNR, COMPARE_FAILURE | NVME_SC_DNR},
		/* what we did wrong at the back-end is not the host's fault */
		{STA_SC_DNR(PRP_INVALID_OFFSET), STA_SC(INTERNAL)},
		{STA_SC_DNR(CMDID_CONFLICT), STA_SC(INTERNAL)},
		{STA_SC(ABORT_QUEUE), STA_SC(INTERNAL)},
		/* the same code of another type is something else */
		{NVME_SCT_CMD_SPECIFIC << 8 | NVME_SC_CMDID_CONFLICT,
		 NVME_SCT_CMD_SPECIFIC << 8 | NVME_SC_CMDID_CONFLICT},
		/* retry delay and error log of a controller that the host does not know */
		{COMPARE_FAILURE | NVME_SC_CRD | NVME_SC_MORE, COMPARE_FAILURE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned int phase = 0; phase < 2; phase++)
			assert_int_equal(sta_status_from_backend(
						 (uint16_t)(rows[i].be << 1 | phase)),
					 rows[i].host);
}

/* Nothing but success becomes success. */
static void test_no_error_is_lost(void **state)
{
	(void)state;
	for (unsigned int word = 0; word < 0x10000; word++) {
		bool is_error = (word >> 1) & 0x7ff;

		if (is_error)
			assert_int_not_equal(sta_status_from_backend((uint16_t)word) & 0x7ff, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sgl_keyed),
		cmocka_unit_test(test_sgl_types),
		cmocka_unit_test(test_sgl_in_capsule_bounds),
		cmocka_unit_test(test_who_serves),
		cmocka_unit_test(test_fabrics_direction),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_in_capsule_data),
		cmocka_unit_test(test_transfer_length),
		cmocka_unit_test(test_largest_blocks),
		cmocka_unit_test(test_dsm_ranges),
		cmocka_unit_test(test_connect),
		cmocka_unit_test(test_status_from_backend),
		cmocka_unit_test(test_no_error_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
