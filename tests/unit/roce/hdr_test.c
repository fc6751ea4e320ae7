/* SPDX-License-Identifier: Apache-2.0 */
/* Header parsing and building: round trips, foreign bytes, bounds. PSN arithmetic. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pcap.h"
#include "roce/proto/hdr.h"

static const char *const captures[] = {
	"rxe-io",      "rxe-mtu4096-io", "rxe-discover",       "rxe-admin",
	"rxe-refused", "host-socket",	 "host-socket-reject",
};

/* What a Linux kernel sent, parsed and built again, gives the same bytes. */
static void test_captured_headers_round_trip(void **state)
{
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++) {
		struct test_pcap pcap;

		assert_int_equal(test_pcap_load(&pcap, captures[i]), 0);
		for (size_t n = 0; n < pcap.num_frames; n++) {
			const struct test_roce_frame *frame = &pcap.frames[n];
			uint8_t buf[ROCE_HDR_MAX];
			struct roce_pkt pkt;
			size_t len;

			assert_int_equal(roce_hdr_parse(&pkt, frame->payload, frame->len), 0);
			len = roce_hdr_build(buf, &pkt);
			assert_int_equal(len, roce_ops[pkt.opcode].hdr_bytes);
			assert_memory_equal(buf, frame->payload, len);
			assert_int_equal(len + pkt.payload_len + pkt.pad + ROCE_ICRC_BYTES,
					 frame->len);
			assert_int_equal(roce_hdr_dest_qpn(frame->payload), pkt.dest_qpn);
			seen++;
		}
		test_pcap_free(&pcap);
	}
	assert_true(seen > 1000);
}

static void test_every_opcode_round_trips(void **state)
{
	(void)state;
	for (unsigned int code = 0; code < 256; code++) {
		struct roce_pkt out = {
			.opcode = (uint8_t)code,
			.solicited = code & 1,
			.mig_req = true,
			.ack_req = code & 2,
			.pkey = 0xffff,
			.dest_qpn = 0x123456,
			.psn = roce_psn_make(0xfedcba),
			.syndrome = 0x63,
			.msn = roce_psn_make(0x777777),
			.va = 0x1122334455667788,
			.rkey = 0x99aabbcc,
			.dma_len = 0x10203040,
			.imm_be = 0xdeadbeef,
			.inv_rkey = 0xcafebabe,
			.qkey = 0x80010000,
			.src_qpn = 1,
		};
		uint8_t buf[ROCE_HDR_MAX + ROCE_ICRC_BYTES] = {0};
		struct roce_pkt in;
		uint32_t f = roce_ops[code].flags;

		if (!f || f & ROCE_OP_ATOMIC)
			continue;
		assert_int_equal(roce_hdr_build(buf, &out), roce_ops[code].hdr_bytes);
		assert_int_equal(
			roce_hdr_parse(&in, buf, roce_ops[code].hdr_bytes + ROCE_ICRC_BYTES), 0);
		assert_int_equal(in.opcode, out.opcode);
		assert_int_equal(in.solicited, out.solicited);
		assert_int_equal(in.ack_req, out.ack_req);
		assert_int_equal(in.dest_qpn, out.dest_qpn);
		assert_true(in.mig_req && roce_psn_eq(in.psn, out.psn));
		assert_int_equal(in.payload_len, 0);
		if (f & ROCE_OP_RETH)
			assert_true(in.va == out.va && in.rkey == out.rkey &&
				    in.dma_len == out.dma_len);
		if (f & ROCE_OP_AETH)
			assert_true(in.syndrome == out.syndrome && in.msn.v == out.msn.v);
		if (f & ROCE_OP_IMM)
			assert_int_equal(in.imm_be, out.imm_be);
		if (f & ROCE_OP_IETH)
			assert_int_equal(in.inv_rkey, out.inv_rkey);
		if (f & ROCE_OP_DETH)
			assert_true(in.qkey == out.qkey && in.src_qpn == out.src_qpn);
	}
}

/* No length makes the parser read past the end (ASan), and short packets are refused. */
static void test_every_length(void **state)
{
	(void)state;
	for (unsigned int code = 0; code < 256; code++) {
		for (size_t len = 0; len <= 64; len++) {
			uint8_t *buf = test_calloc(len + 1, 1);
			struct roce_pkt pkt;
			int err;

			if (len)
				buf[0] = (uint8_t)code;
			/* Exactly len bytes may be read. */
			err = roce_hdr_parse(&pkt, buf, len);
			if (len < ROCE_BTH_BYTES)
				assert_int_equal(err, -EBADMSG);
			else if (!roce_ops[code].flags)
				assert_int_equal(err, -EPROTONOSUPPORT);
			else if (len < roce_ops[code].hdr_bytes + 4u || len % 4)
				assert_int_equal(err, -EBADMSG);
			else if (len > roce_ops[code].hdr_bytes + 4u)
				assert_int_equal(err, roce_ops[code].flags & ROCE_OP_PAYLOAD
							      ? 0
							      : -EBADMSG);
			test_free(buf);
		}
	}
}

static void test_bad_packets(void **state)
{
	uint8_t buf[16 + 4] = {ROCE_RC_SEND_ONLY};
	struct roce_pkt pkt;

	(void)state;
	buf[1] = 3 << 4;
	assert_int_equal(roce_hdr_parse(&pkt, buf, 20), 0);
	assert_int_equal(pkt.payload_len, 1);
	assert_int_equal(roce_hdr_parse(&pkt, buf, 16), -EBADMSG); /* pad but no payload */
	buf[1] = 1; /* transport version 1 */
	assert_int_equal(roce_hdr_parse(&pkt, buf, 20), -EBADMSG);
}

static void test_psn_arithmetic(void **state)
{
	roce_psn last = roce_psn_make(ROCE_PSN_MASK), zero = roce_psn_make(0);

	(void)state;
	assert_int_equal(roce_psn_add(last, 1).v, 0);
	assert_int_equal(roce_psn_sub(zero, 1).v, ROCE_PSN_MASK);
	assert_int_equal(roce_psn_diff(zero, last), 1);
	assert_int_equal(roce_psn_diff(last, zero), -1);
	assert_int_equal(roce_psn_diff(roce_psn_make(0x7fffff), zero), 0x7fffff);
	assert_int_equal(roce_psn_diff(roce_psn_make(0x800000), zero), -0x800000);
	assert_true(roce_psn_in(zero, last, 2));
	assert_false(roce_psn_in(zero, last, 1));
	assert_false(roce_psn_in(last, zero, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captured_headers_round_trip),
		cmocka_unit_test(test_every_opcode_round_trips),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_bad_packets),
		cmocka_unit_test(test_psn_arithmetic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
