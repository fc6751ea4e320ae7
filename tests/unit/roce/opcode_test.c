/* SPDX-License-Identifier: Apache-2.0 */
/* Opcode table: complete, and each row consistent with itself and with IBTA table 38. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "roce/proto/hdr.h"
#include "roce/proto/opcode.h"

static void test_known_opcodes(void **state)
{
	unsigned int rc = 0, ud = 0;

	(void)state;
	for (unsigned int code = 0; code < 256; code++) {
		if (!roce_ops[code].flags)
			continue;
		assert_true(code < 0x20 || code >> 5 == 3);
		*(code < 0x20 ? &rc : &ud) += 1;
	}
	assert_int_equal(rc, 0x18 - 1); /* 0x00 .. 0x17 without the reserved 0x15 */
	assert_int_equal(ud, 2);
	assert_int_equal(roce_ops[0x15].flags, 0);
}

static void test_rows_are_consistent(void **state)
{
	(void)state;
	for (unsigned int code = 0; code < 256; code++) {
		uint32_t f = roce_ops[code].flags;

		if (!f)
			continue;
		assert_true(!(f & ROCE_OP_REQUEST) != !(f & ROCE_OP_RESPONSE));
		assert_in_range(roce_ops[code].hdr_bytes, ROCE_BTH_BYTES, ROCE_HDR_MAX);
		assert_int_equal(roce_ops[code].hdr_bytes % 4, 0);
		assert_non_null(roce_ops[code].name);
		if (f & (ROCE_OP_IMM | ROCE_OP_IETH))
			assert_true(f & ROCE_OP_END);
		if (f & ROCE_OP_WRITE)
			assert_int_equal(!(f & ROCE_OP_RETH), !(f & ROCE_OP_START));
	}
}

static void test_header_lengths(void **state)
{
	(void)state;
	assert_int_equal(roce_ops[ROCE_RC_SEND_MIDDLE].hdr_bytes, 12);
	assert_int_equal(roce_ops[ROCE_RC_SEND_ONLY_INV].hdr_bytes, 16);
	assert_int_equal(roce_ops[ROCE_RC_WRITE_ONLY].hdr_bytes, 28);
	assert_int_equal(roce_ops[ROCE_RC_WRITE_ONLY_IMM].hdr_bytes, 32);
	assert_int_equal(roce_ops[ROCE_RC_READ_REQUEST].hdr_bytes, 28);
	assert_int_equal(roce_ops[ROCE_RC_READ_RESP_MIDDLE].hdr_bytes, 12);
	assert_int_equal(roce_ops[ROCE_RC_READ_RESP_LAST].hdr_bytes, 16);
	assert_int_equal(roce_ops[ROCE_RC_ATOMIC_ACK].hdr_bytes, 24);
	assert_int_equal(roce_ops[ROCE_RC_CMP_SWAP].hdr_bytes, 40);
	assert_int_equal(roce_ops[ROCE_UD_SEND_ONLY].hdr_bytes, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_opcodes),
		cmocka_unit_test(test_rows_are_consistent),
		cmocka_unit_test(test_header_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
