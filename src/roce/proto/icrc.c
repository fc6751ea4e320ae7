/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ICRC of RoCEv2 packets. The CRC itself is ISA-L's. Owns the masked header images and the algebra
 * that finds the IP identification and DF bit a UDP receiver cannot see.
 *
 * The CRC register is a polynomial over GF(2) modulo the CRC-32 generator, reflected: bit 31 is
 * x^0. Appending n bytes multiplies it by x^(8n). Two packets that differ in one aligned 32-bit
 * word W only, n bytes before the end, have CRCs that differ by W * x^(8(n + 4)); so the word is
 * found back by multiplying the difference by x^(-8(n + 4)).
 */
#include "roce/proto/icrc.h"

#include <isa-l/crc.h>
#include <string.h>

#include "roce/proto/hdr.h"

#define LRH_BYTES   8
#define IPV4_BYTES  20
#define IPV6_BYTES  40
#define UDP_BYTES   8
#define ID_AT	    (LRH_BYTES + 4) /* IPv4 identification, then flags and fragment offset */
#define BTH_RESV_AT 4 /* FECN, BECN, reserved: variant, IBTA A17.3.3 */
#define FRAG_DF	    0x4000

#define CRC_GENERATOR 0xedb88320u /* CRC-32 generator, reflected, x^32 left out */

/* x^(-8 * 2^k) */
static const uint32_t inverse_bytes[] = {
	0x6567cb95, 0xd7125358, 0x5b358fd3, 0x2e9bb40b, 0x12a59a49, 0x8df9403d, 0x5139de12,
	0xba340226, 0x29c45641, 0x12fbc105, 0xecd30c55, 0x3755ebd8, 0x24ee460c, 0x23783fcf,
};

#define MAX_UNSHIFT_BYTES ((1u << (sizeof(inverse_bytes) / sizeof(inverse_bytes[0]))) - 1)

static uint32_t poly_mul(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (int bit = 31; bit >= 0; bit--) {
		product ^= b & -(a >> bit & 1);
		b = b >> 1 ^ (CRC_GENERATOR & -(b & 1));
	}
	return product;
}

/* Multiplies by x^(-8 * bytes). */
static uint32_t poly_unshift(uint32_t v, uint32_t bytes)
{
	for (unsigned int k = 0; bytes; k++, bytes >>= 1)
		if (bytes & 1)
			v = poly_mul(v, inverse_bytes[k]);
	return v;
}

static void put_be16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void init_head(struct roce_icrc_flow *flow, size_t ip_bytes, in_port_t sport,
		      in_port_t dport)
{
	uint8_t *udp = flow->head + LRH_BYTES + ip_bytes;

	memset(flow->head, 0xff, sizeof(flow->head)); /* LRH, and all variant fields */
	memcpy(udp, &sport, 2);
	memcpy(udp + 2, &dport, 2);
	flow->udp_at = (uint8_t)(LRH_BYTES + ip_bytes + 4);
	flow->head_len = (uint8_t)(LRH_BYTES + ip_bytes + UDP_BYTES);
}

void roce_icrc_flow_v4(struct roce_icrc_flow *flow, struct in_addr src, struct in_addr dst,
		       in_port_t sport, in_port_t dport)
{
	uint8_t *ip = flow->head + LRH_BYTES;

	init_head(flow, IPV4_BYTES, sport, dport);
	flow->is_v4 = true;
	flow->ip_at = LRH_BYTES + 2;
	ip[0] = 0x45;
	ip[9] = IPPROTO_UDP;
	memcpy(ip + 12, &src, 4);
	memcpy(ip + 16, &dst, 4);
}

void roce_icrc_flow_v6(struct roce_icrc_flow *flow, const struct in6_addr *src,
		       const struct in6_addr *dst, in_port_t sport, in_port_t dport)
{
	uint8_t *ip = flow->head + LRH_BYTES;

	init_head(flow, IPV6_BYTES, sport, dport);
	flow->is_v4 = false;
	flow->ip_at = LRH_BYTES + 4;
	ip[0] = 0x6f; /* version; traffic class and flow label are variant */
	ip[6] = IPPROTO_UDP;
	memcpy(ip + 8, src, 16);
	memcpy(ip + 24, dst, 16);
}

void roce_icrc_flow_sockaddr(struct roce_icrc_flow *flow, const struct sockaddr *src,
			     const struct sockaddr *dst)
{
	if (src->sa_family == AF_INET6) {
		const struct sockaddr_in6 *s = (const void *)src, *d = (const void *)dst;

		roce_icrc_flow_v6(flow, &s->sin6_addr, &d->sin6_addr, s->sin6_port, d->sin6_port);
	} else {
		const struct sockaddr_in *s = (const void *)src, *d = (const void *)dst;

		roce_icrc_flow_v4(flow, s->sin_addr, d->sin_addr, s->sin_port, d->sin_port);
	}
}

/* CRC over the masked headers and the first bytes of the transport header, n of which are taken. */
static uint32_t crc_head(const struct roce_icrc_flow *flow, const uint8_t *bth, size_t n,
			 size_t udp_payload, uint32_t id_and_frag)
{
	uint8_t img[sizeof(flow->head) + ROCE_HDR_MAX];
	size_t udp_len = udp_payload + UDP_BYTES;

	memcpy(img, flow->head, sizeof(flow->head));
	put_be16(img + flow->udp_at, udp_len);
	put_be16(img + flow->ip_at, flow->is_v4 ? udp_len + IPV4_BYTES : udp_len);
	if (flow->is_v4) {
		put_be16(img + ID_AT, id_and_frag >> 16);
		put_be16(img + ID_AT + 2, id_and_frag);
	}
	memcpy(img + flow->head_len, bth, n);
	img[flow->head_len + BTH_RESV_AT] = 0xff;
	return crc32_gzip_refl(0, img, flow->head_len + n);
}

uint32_t roce_icrc_compute(const struct roce_icrc_flow *flow, const struct iovec *iov, size_t niov,
			   uint16_t ip_id)
{
	size_t total = ROCE_ICRC_BYTES, taken;
	uint32_t crc;

	for (size_t i = 0; i < niov; i++)
		total += iov[i].iov_len;
	taken = iov[0].iov_len < ROCE_HDR_MAX ? iov[0].iov_len : ROCE_HDR_MAX;
	crc = crc_head(flow, iov[0].iov_base, taken, total, (uint32_t)ip_id << 16 | FRAG_DF);
	if (iov[0].iov_len > taken)
		crc = crc32_gzip_refl(crc, (const uint8_t *)iov[0].iov_base + taken,
				      iov[0].iov_len - taken);
	for (size_t i = 1; i < niov; i++)
		crc = crc32_gzip_refl(crc, iov[i].iov_base, iov[i].iov_len);
	return crc;
}

/* What the ICRC of buf differs by from the one it should have; 0 if it is right. */
static uint32_t icrc_diff(const struct roce_icrc_flow *flow, const uint8_t *buf, size_t len,
			  uint32_t id_and_frag)
{
	const uint8_t *end = buf + len - ROCE_ICRC_BYTES;
	uint32_t wire = (uint32_t)end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 |
			(uint32_t)end[3] << 24;
	uint32_t crc = crc_head(flow, buf, ROCE_BTH_BYTES, len, id_and_frag);

	crc = crc32_gzip_refl(crc, buf + ROCE_BTH_BYTES, len - ROCE_BTH_BYTES - ROCE_ICRC_BYTES);
	return crc ^ wire;
}

bool roce_icrc_check_full(const struct roce_icrc_flow *flow, const void *buf, size_t len,
			  uint16_t ip_id, uint16_t frag_off)
{
	if (len < ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
		return false;
	return icrc_diff(flow, buf, len, (uint32_t)ip_id << 16 | frag_off) == 0;
}

bool roce_icrc_check(const struct roce_icrc_flow *flow, const void *buf, size_t len,
		     uint16_t *ip_id)
{
	uint32_t diff, word, id_diff, frag_diff;
	size_t after_word = IPV4_BYTES - 8 + UDP_BYTES + len - ROCE_ICRC_BYTES;

	if (!flow->is_v4)
		return roce_icrc_check_full(flow, buf, len, 0, 0);
	if (len < ROCE_BTH_BYTES + ROCE_ICRC_BYTES || after_word + 4 > MAX_UNSHIFT_BYTES)
		return false;
	diff = icrc_diff(flow, buf, len, (uint32_t)*ip_id << 16 | FRAG_DF);
	if (!diff)
		return true;
	word = __builtin_bswap32(poly_unshift(diff, (uint32_t)after_word + 4));
	id_diff = word >> 16;
	frag_diff = word & 0xffff;
	if (frag_diff & ~FRAG_DF)
		return false;
	*ip_id ^= (uint16_t)id_diff;
	return true;
}
