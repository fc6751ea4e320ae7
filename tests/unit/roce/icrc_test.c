/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ICRC against what Linux kernels sent: every captured packet is right, with the IP header seen and
 * without it; flipped bits are not.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pcap.h"
#include "roce/proto/hdr.h"
#include "roce/proto/icrc.h"

static const char *const captures[] = {
	"rxe-io",      "rxe-mtu4096-io", "rxe-discover",       "rxe-admin",
	"rxe-refused", "host-socket",	 "host-socket-reject",
};

static void for_each_frame(void (*check)(const struct test_roce_frame *, struct roce_icrc_flow *))
{
	for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++) {
		struct test_pcap pcap;

		assert_int_equal(test_pcap_load(&pcap, captures[i]), 0);
		assert_true(pcap.num_frames > 0);
		for (size_t n = 0; n < pcap.num_frames; n++) {
			const struct test_roce_frame *f = &pcap.frames[n];
			struct roce_icrc_flow flow;

			roce_icrc_flow_v4(&flow, f->src, f->dst, f->sport, f->dport);
			check(f, &flow);
		}
		test_pcap_free(&pcap);
	}
}

static void check_full(const struct test_roce_frame *f, struct roce_icrc_flow *flow)
{
	struct iovec iov[3] = {
		{(void *)(uintptr_t)f->payload, 12},
		{(void *)(uintptr_t)(f->payload + 12), 3},
		{(void *)(uintptr_t)(f->payload + 15), f->len - 15 - 4},
	};
	uint8_t icrc[4];

	assert_true(roce_icrc_check_full(flow, f->payload, f->len, f->ip_id, f->frag_off));
	assert_false(roce_icrc_check_full(flow, f->payload, f->len, f->ip_id ^ 1, f->frag_off));
	if (f->frag_off == 0x4000) {
		roce_icrc_put(icrc, roce_icrc_compute(flow, iov, 3, f->ip_id));
		assert_memory_equal(icrc, f->payload + f->len - 4, 4);
	}
}

static void test_captures_seen_whole(void **state)
{
	(void)state;
	for_each_frame(check_full);
}

static void check_unseen_id(const struct test_roce_frame *f, struct roce_icrc_flow *flow)
{
	uint8_t copy[4200];
	uint16_t id = 0x1234;

	assert_true(roce_icrc_check(flow, f->payload, f->len, &id));
	assert_int_equal(id, f->ip_id); /* found, not only tolerated */
	assert_true(roce_icrc_check(flow, f->payload, f->len, &id));
	assert_int_equal(id, f->ip_id);

	/* Any burst of up to 15 flipped bits that is not the id itself is noticed. */
	memcpy(copy, f->payload, f->len);
	copy[f->len / 2] ^= 0x10;
	assert_false(roce_icrc_check(flow, copy, f->len, &id));
	memcpy(copy, f->payload, f->len);
	copy[f->len - 1] ^= 0x80;
	assert_false(roce_icrc_check(flow, copy, f->len, &id));
	assert_int_equal(id, f->ip_id);
}

static void test_captures_without_ip_header(void **state)
{
	(void)state;
	for_each_frame(check_unseen_id);
}

static size_t make_packet(uint8_t *buf, const struct roce_icrc_flow *flow, uint16_t ip_id)
{
	struct roce_pkt pkt = {.opcode = ROCE_RC_SEND_ONLY, .pkey = 0xffff, .dest_qpn = 18};
	struct iovec iov = {buf, ROCE_BTH_BYTES + 64};

	roce_hdr_build(buf, &pkt);
	memset(buf + ROCE_BTH_BYTES, 0x5a, 64);
	roce_icrc_put(buf + iov.iov_len, roce_icrc_compute(flow, &iov, 1, ip_id));
	return iov.iov_len + 4;
}

/* A GSO train counts 0, 1, 2: with the right guess, and with a wrong one, of any distance. */
static void test_every_id_is_found(void **state)
{
	struct in_addr a = {htonl(0x7f000001)}, b = {htonl(0x7f000002)};
	struct roce_icrc_flow flow;
	uint8_t buf[128];

	(void)state;
	roce_icrc_flow_v4(&flow, a, b, htons(50000), htons(4791));
	for (uint32_t id = 0; id < 65536; id += 7) {
		size_t len = make_packet(buf, &flow, (uint16_t)id);
		uint16_t guess = (uint16_t)(id * 31);

		assert_true(roce_icrc_check(&flow, buf, len, &guess));
		assert_int_equal(guess, id);
		buf[4] = 0x80; /* a switch set FECN: variant, still good */
		assert_true(roce_icrc_check(&flow, buf, len, &guess));
	}
}

/* CRC-32, one bit at a time, from its definition. */
static uint32_t plain_crc(const uint8_t *p, size_t len)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < len * 8; i++)
		crc = crc >> 1 ^ ((crc ^ p[i / 8] >> i % 8) & 1 ? 0xedb88320 : 0);
	return ~crc;
}

/* Another way to the same number, and without DF, as an odd sender may have it. */
static void test_df_may_be_clear(void **state)
{
	uint8_t img[8 + 20 + 8 + ROCE_BTH_BYTES + 64] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* LRH */
		0x45, 0xff, 0,	  108,	0x12, 0x34, 0,	  0, /* length, id, no DF */
		0xff, 17,   0xff, 0xff, 127,  0,    0,	  1,	127, 0, 0, 2, /* addresses */
		0xc3, 0x50, 0x12, 0xb7, 0,    88,   0xff, 0xff, /* UDP 50000 -> 4791 */
	};
	struct in_addr a = {htonl(0x7f000001)}, b = {htonl(0x7f000002)};
	struct roce_icrc_flow flow;
	uint8_t buf[128];
	uint16_t id = 9;
	size_t len;

	(void)state;
	roce_icrc_flow_v4(&flow, a, b, htons(50000), htons(4791));
	len = make_packet(buf, &flow, 0);
	memcpy(img + 36, buf, len - 4);
	img[36 + 4] = 0xff;
	roce_icrc_put(buf + len - 4, plain_crc(img, sizeof(img)));
	assert_true(roce_icrc_check_full(&flow, buf, len, 0x1234, 0));
	assert_false(roce_icrc_check_full(&flow, buf, len, 0x1234, 0x4000));
	assert_true(roce_icrc_check(&flow, buf, len, &id));
	assert_int_equal(id, 0x1234);
	/* More fragments: no whole packet has that. */
	img[8 + 6] = 0x20;
	roce_icrc_put(buf + len - 4, plain_crc(img, sizeof(img)));
	assert_false(roce_icrc_check(&flow, buf, len, &id));
}

static void test_ipv6_is_checked_whole(void **state)
{
	struct in6_addr a = IN6ADDR_LOOPBACK_INIT, b = IN6ADDR_LOOPBACK_INIT;
	struct roce_icrc_flow flow;
	uint8_t buf[128];
	size_t len;

	(void)state;
	b.s6_addr[0] = 0xfe;
	roce_icrc_flow_v6(&flow, &a, &b, htons(50000), htons(4791));
	len = make_packet(buf, &flow, 0);
	assert_true(roce_icrc_check(&flow, buf, len, NULL));
	for (size_t bit = 0; bit < len * 8; bit++) {
		if (bit / 8 == 4)
			continue; /* variant */
		buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(roce_icrc_check(&flow, buf, len, NULL));
		buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captures_seen_whole),
		cmocka_unit_test(test_captures_without_ip_header),
		cmocka_unit_test(test_every_id_is_found),
		cmocka_unit_test(test_df_may_be_clear),
		cmocka_unit_test(test_ipv6_is_checked_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
