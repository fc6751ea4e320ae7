/* SPDX-License-Identifier: Apache-2.0 */
/* Capsule layout against a capsule of the Linux host, the table of SGL statuses, responses. */
#include "fake.h"

/* First 64 bytes of an I/O Connect as Linux 6.1 sends it (data in the capsule). */
static const uint8_t linux_connect[64] = {
	0x7f, 0x40, 0x00, 0x00, 0x01, [32] = 0x00, 0x04, [39] = 0x01, [42] = 0x01, 0x00, 0x7f, 0x00,
};

static void connect_layout(void **state)
{
	struct tgt_cmd cmd;

	(void)state;
	tgt_cmd_parse(&cmd, linux_connect);
	assert_true(tgt_cmd_is_fabrics(&cmd));
	assert_int_equal(tgt_cmd_fctype(&cmd), nvme_fabrics_type_connect);
	assert_int_equal(tgt_cmd_dir(&cmd), TGT_DIR_FROM_HOST);
	assert_int_equal(cmd.sgl.kind, TGT_SGL_OFFSET);
	assert_int_equal(cmd.sgl.bytes, 1024);
	assert_int_equal(cmd.cdw10 >> 16, 1);
	assert_int_equal(cmd.cdw11, 127);
}

static void keyed_layout(void **state)
{
	uint8_t sqe[64] = {0x06, 0x40, 0x02, 0x10, 1, 0, 0, 0};
	struct tgt_cmd cmd;
	int i;

	(void)state;
	for (i = 0; i < 8; i++)
		sqe[24 + i] = (uint8_t)(i + 1);
	sqe[32] = 0x00;
	sqe[33] = 0x10;
	sqe[34] = 0x00;
	sqe[35] = 0x8a;
	sqe[36] = 0x07;
	sqe[37] = 0x01;
	sqe[39] = 0x4f;
	sqe[40] = 0x01;
	tgt_cmd_parse(&cmd, sqe);
	assert_int_equal(cmd.cid, 0x1002);
	assert_int_equal(cmd.nsid, 1);
	assert_true(cmd.sgl.addr == 0x0807060504030201ULL);
	assert_int_equal(cmd.sgl.bytes, 4096);
	assert_int_equal(cmd.sgl.key, 0x0001078a);
	assert_int_equal(cmd.cdw10, 1);
	assert_int_equal(tgt_cmd_dir(&cmd), TGT_DIR_TO_HOST);
}

#define OPC_IN	0x02 /* to the host */
#define OPC_OUT 0x01 /* from the host */
#define DNR(c)	(NVME_SC_##c | NVME_SC_DNR)

static const struct {
	uint8_t opcode, flags, kind;
	uint64_t addr;
	uint32_t bytes;
	tgt_status_t status;
	enum tgt_dir dir;
	bool in_capsule, invalidate;
} plans[] = {
	{OPC_IN, 0x40, 0x40, 0x1000, 4096, 0, TGT_DIR_TO_HOST, false, false},
	{OPC_IN, 0x40, 0x4f, 0x1000, 4096, 0, TGT_DIR_TO_HOST, false, true},
	{OPC_OUT, 0x40, 0x4f, 0x1000, 8192, 0, TGT_DIR_FROM_HOST, false, true},
	{OPC_OUT, 0x40, 0x4f, 0x1000, 8193, DNR(INVALID_FIELD), 0, false, true},
	{OPC_OUT, 0x40, 0x01, 0, 1024, 0, TGT_DIR_FROM_HOST, true, false},
	{OPC_OUT, 0x40, 0x01, 1, 1023, 0, TGT_DIR_FROM_HOST, true, false},
	{OPC_OUT, 0x40, 0x01, 1, 1024, DNR(SGL_INVALID_OFFSET), 0, false, false},
	{OPC_OUT, 0x40, 0x01, 1025, 1, DNR(SGL_INVALID_OFFSET), 0, false, false},
	{OPC_OUT, 0x40, 0x01, UINT64_MAX, 2, DNR(SGL_INVALID_OFFSET), 0, false, false},
	{OPC_IN, 0x40, 0x01, 0, 1024, DNR(INVALID_FIELD), 0, false, false},
	{OPC_IN, 0x40, 0x01, 0, 0, 0, TGT_DIR_NONE, false, false},
	{0x0c, 0x40, 0x40, 0, 0, 0, TGT_DIR_NONE, false, false},
	{0x0c, 0x40, 0x40, 0x1000, 64, 0, TGT_DIR_NONE, false, false},
	{0x83, 0x40, 0x40, 0x1000, 64, 0, TGT_DIR_NONE, false, false},
	{OPC_OUT, 0x00, 0x40, 0x1000, 64, DNR(INVALID_FIELD), 0, false, false},
	{OPC_OUT, 0x80, 0x40, 0x1000, 64, DNR(INVALID_FIELD), 0, false, false},
	{OPC_OUT, 0x41, 0x40, 0x1000, 64, DNR(INVALID_FIELD), 0, false, false},
	{OPC_OUT, 0x40, 0x00, 0x1000, 64, DNR(INVALID_FIELD), 0, false, false},
	{OPC_OUT, 0x40, 0x41, 0x1000, 64, DNR(INVALID_FIELD), 0, false, false},
	{OPC_OUT, 0x40, 0x10, 0x1000, 64, DNR(SGL_INVALID_TYPE), 0, false, false},
	{OPC_OUT, 0x40, 0x30, 0x1000, 64, DNR(SGL_INVALID_TYPE), 0, false, false},
	{OPC_OUT, 0x40, 0x5a, 0x1000, 64, DNR(SGL_INVALID_TYPE), 0, false, false},
};

static void xfer_table(void **state)
{
	struct tgt_cmd cmd;
	struct tgt_xfer x;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		memset(&cmd, 0, sizeof(cmd));
		cmd.opcode = plans[i].opcode;
		cmd.flags = plans[i].flags;
		cmd.sgl.kind = plans[i].kind;
		cmd.sgl.addr = plans[i].addr;
		cmd.sgl.bytes = plans[i].bytes;
		cmd.sgl.key = 77;
		assert_int_equal(tgt_xfer_plan(&cmd, 1024, 8192, &x), plans[i].status);
		assert_int_equal(x.invalidate, plans[i].invalidate);
		if (x.invalidate)
			assert_int_equal(x.key, 77);
		if (plans[i].status)
			continue;
		assert_int_equal(x.dir, plans[i].dir);
		assert_int_equal(x.in_capsule, plans[i].in_capsule);
		if (x.dir != TGT_DIR_NONE)
			assert_int_equal(x.bytes, plans[i].bytes);
	}
}

static void response_layout(void **state)
{
	uint8_t cqe[TGT_CQE_BYTES];
	static const uint8_t expected[TGT_CQE_BYTES] = {0x0f, 0, 0, 0x12, 0,	0,    0,    0,
							0x03, 0, 0, 0,	  0x02, 0x10, 0x02, 0xc0};

	(void)state;
	tgt_cqe_fill(cqe, 0x1200000f, 3, 0x1002, TGT_SC_DNR(GENERIC, INVALID_OPCODE) | 0x2000);
	assert_memory_equal(cqe, expected, sizeof(cqe));
	assert_int_equal(TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_PARAM), 0x4182);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connect_layout),
		cmocka_unit_test(keyed_layout),
		cmocka_unit_test(xfer_table),
		cmocka_unit_test(response_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
