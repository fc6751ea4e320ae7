/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The initiator's wire structures against bytes that a Linux 6.1 host sent (capture rxe-io: frames
 * 1, 4, 7, 10, 14, 38 and a READ), and the names and strings it reports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <endian.h>

#include "initiator/wire.h"

static void from_hex(uint8_t *out, const char *hex, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < bytes; i++)
		out[i] = (uint8_t)((strchr(digits, hex[2 * i]) - digits) << 4 |
				   (strchr(digits, hex[2 * i + 1]) - digits));
}

static void assert_sqe(const struct ini_sqe *sqe, const char *hex)
{
	uint8_t want[sizeof(*sqe)];

	assert_int_equal(strlen(hex), 2 * sizeof(want));
	from_hex(want, hex, sizeof(want));
	assert_memory_equal(sqe, want, sizeof(want));
}

static void connect_capsule(void **state)
{
	struct ini_sqe sqe;

	(void)state;
	ini_sqe_connect(&sqe, 0, 31, 5000);
	sqe.flags = INI_SQE_FLAG_SGL;
	ini_sgl_keyed(sqe.sgl, 0xffff88803d252400, 1024, 0x66f6, true);
	assert_sqe(&sqe, "7f40000001000000000000000000000000000000000000000024253d8088ffff"
			 "000400f66600004f000000001f00000088130000000000000000000000000000");
	ini_sqe_connect(&sqe, 0x1234, 127, 0);
	assert_int_equal(((uint8_t *)&sqe)[INI_CONNECT_OFF_QID], 0x34);
	assert_int_equal(((uint8_t *)&sqe)[INI_CONNECT_OFF_QID + 1], 0x12);
	assert_int_equal(((uint8_t *)&sqe)[INI_CONNECT_OFF_SQSIZE], 127);
}

static void property_capsules(void **state)
{
	struct ini_sqe sqe;

	(void)state;
	ini_sqe_property_get(&sqe, NVME_REG_CAP, true);
	sqe.flags = INI_SQE_FLAG_SGL;
	sqe.cid = htole16(1);
	ini_sgl_none(sqe.sgl);
	assert_sqe(&sqe, "7f40010004000000000000000000000000000000000000000000000000000000"
			 "0000000000000040010000000000000000000000000000000000000000000000");
	ini_sqe_property_set(&sqe, NVME_REG_CC, false, 0x460060);
	sqe.flags = INI_SQE_FLAG_SGL;
	sqe.cid = htole16(0x1000);
	ini_sgl_none(sqe.sgl);
	assert_sqe(&sqe, "7f40001000000000000000000000000000000000000000000000000000000000"
			 "0000000000000040000000001400000060004600000000000000000000000000");
}

static void identify_capsule(void **state)
{
	struct ini_sqe sqe;

	(void)state;
	ini_sqe_identify(&sqe, 0, NVME_IDENTIFY_CNS_CTRL);
	sqe.flags = INI_SQE_FLAG_SGL;
	sqe.cid = htole16(0x0e);
	ini_sgl_keyed(sqe.sgl, 0xffff88800628c000, 4096, 0x66f7, true);
	assert_sqe(&sqe, "06400e00000000000000000000000000000000000000000000c028068088ffff"
			 "001000f76600004f010000000000000000000000000000000000000000000000");
}

static void log_and_rw_fields(void **state)
{
	struct ini_sqe sqe;

	(void)state;
	/* 300 KiB at 5 GiB: both halves of NUMD and of the offset are needed. */
	ini_sqe_get_log(&sqe, NVME_LOG_LID_DISCOVER, 0, 5ull << 30, 300 * 1024);
	assert_int_equal(le32toh(sqe.cdw10), 0x2bff0070);
	assert_int_equal(le32toh(sqe.cdw11), 1);
	assert_int_equal(le32toh(sqe.cdw12), 0x40000000);
	assert_int_equal(le32toh(sqe.cdw13), 1);

	ini_sqe_rw(&sqe, nvme_cmd_read, 1, 0x123456789aull, 65536);
	assert_int_equal(sqe.opcode, nvme_cmd_read);
	assert_int_equal(le32toh(sqe.nsid), 1);
	assert_int_equal(le32toh(sqe.cdw10), 0x3456789a);
	assert_int_equal(le32toh(sqe.cdw11), 0x12);
	assert_int_equal(le32toh(sqe.cdw12), 0xffff);
}

static void sgl_bounds(void **state)
{
	uint8_t sgl[16];

	(void)state;
	/* A length above 24 bits must not run into the key. */
	ini_sgl_keyed(sgl, 0, 0x1000001, 0xaabbccdd, false);
	assert_int_equal(sgl[8], 1);
	assert_int_equal(sgl[10], 0);
	assert_int_equal(sgl[11], 0xdd);
	assert_int_equal(sgl[14], 0xaa);
	assert_int_equal(sgl[15], 0x40);
	memset(sgl, 0xff, sizeof(sgl));
	ini_sgl_incapsule(sgl, 512, 0x01020304);
	assert_int_equal(sgl[1], 2);
	assert_int_equal(sgl[8], 4);
	assert_int_equal(sgl[11], 1);
	assert_int_equal(sgl[12] | sgl[13] | sgl[14], 0);
	assert_int_equal(sgl[15], 0x01);
}

static void connect_data(void **state)
{
	static const uint8_t hostid[16] = {0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33,
					   0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55};
	struct nvmf_connect_data data;
	const uint8_t *bytes = (const uint8_t *)&data;
	char too_long[NVME_NQN_LENGTH + 10];

	(void)state;
	memset(&data, 0xff, sizeof(data));
	ini_connect_data(&data, hostid, INI_CNTLID_DYNAMIC, "nqn.2024-01.test:golden", "nqn.host");
	assert_memory_equal(bytes, hostid, 16);
	assert_int_equal(bytes[16], 0xff);
	assert_int_equal(bytes[17], 0xff);
	assert_int_equal(bytes[18], 0);
	assert_string_equal((const char *)bytes + 256, "nqn.2024-01.test:golden");
	assert_string_equal((const char *)bytes + 512, "nqn.host");
	assert_int_equal(bytes[1023], 0);

	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	ini_connect_data(&data, hostid, 1, too_long, "h");
	assert_int_equal(strlen(data.subsysnqn), NVME_NQN_LENGTH - 1);
	assert_string_equal(data.hostnqn, "h");
}

static void status_and_names(void **state)
{
	/* Frame 12 of rxe-refused: Connect to a subsystem that does not exist. */
	const struct ini_cqe cqe = {.status = htole16(0x8304)};

	(void)state;
	assert_int_equal(ini_cqe_status(&cqe), 0x4182);
	assert_int_equal(ini_cqe_sc(&cqe), 0x182);
	assert_true(ini_cqe_status(&cqe) & NVME_SC_DNR);
	assert_non_null(strstr(ini_nvme_status_str(0x4182, true), "Connect"));
	assert_string_equal(ini_rdma_status_str(INI_RDMA_INVALID_RECFMT), "invalid record format");
	assert_string_equal(ini_rdma_status_str(999), "unknown status");
	assert_string_equal(ini_cm_reason_str(10), "stale connection");
	assert_string_equal(ini_cm_reason_str(0), "unknown reason");
	assert_string_equal(ini_cm_reason_str(-1), "unknown reason");
	assert_string_equal(ini_cm_reason_str(34), "unknown reason");
}

static void field_strings(void **state)
{
	char out[8];

	(void)state;
	ini_field_str(out, sizeof(out), "abc     ", 8);
	assert_string_equal(out, "abc");
	ini_field_str(out, sizeof(out), "abcdefghij", 10);
	assert_string_equal(out, "abcdefg");
	ini_field_str(out, sizeof(out), "a\x1b[m\0zz", 7);
	assert_string_equal(out, "a?[m");
	ini_field_str(out, sizeof(out), "    ", 4);
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connect_capsule),  cmocka_unit_test(property_capsules),
		cmocka_unit_test(identify_capsule), cmocka_unit_test(log_and_rw_fields),
		cmocka_unit_test(sgl_bounds),	    cmocka_unit_test(connect_data),
		cmocka_unit_test(status_and_names), cmocka_unit_test(field_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
