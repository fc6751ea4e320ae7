/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport headers from and to bytes. Layouts: BTH IBTA 9.2, RETH 9.3.3, AETH 9.3.5, DETH 9.3.2,
 * ImmDt 9.3.6, IETH 9.3.7. Owns no state.
 */
#include "roce/proto/hdr.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define BTH_SOLICITED 0x80
#define BTH_MIGREQ    0x40
#define BTH_ACKREQ    0x80

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static uint64_t get64(const uint8_t *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

static uint8_t *put24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)v;
	return p + 3;
}

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
	return p + 4;
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "byte swapping is for little endian");

/* Extension headers stand in this order (IBTA 9.3.1); the caller checked that they are all there.
 */
static void parse_ext(struct roce_pkt *pkt, uint32_t flags, const uint8_t *p)
{
	if (flags & ROCE_OP_RETH) {
		pkt->va = get64(p);
		pkt->rkey = get32(p + 8);
		pkt->dma_len = get32(p + 12);
		p += ROCE_RETH_BYTES;
	}
	if (flags & ROCE_OP_AETH) {
		pkt->syndrome = p[0];
		pkt->msn = roce_psn_make(get24(p + 1));
		p += ROCE_AETH_BYTES;
	}
	if (flags & ROCE_OP_DETH) {
		pkt->qkey = get32(p);
		pkt->src_qpn = get24(p + 5);
		p += ROCE_DETH_BYTES;
	}
	if (flags & ROCE_OP_IMM)
		memcpy(&pkt->imm_be, p, sizeof(pkt->imm_be));
	if (flags & ROCE_OP_IETH)
		pkt->inv_rkey = get32(p);
}

int roce_hdr_parse(struct roce_pkt *pkt, const void *buf, size_t len)
{
	const uint8_t *p = buf;
	const struct roce_op *op;
	size_t rest;

	if (len < ROCE_BTH_BYTES)
		return -EBADMSG;
	pkt->opcode = p[0];
	pkt->solicited = p[1] & BTH_SOLICITED;
	pkt->mig_req = p[1] & BTH_MIGREQ;
	pkt->pad = p[1] >> 4 & 3;
	pkt->pkey = get16(p + 2);
	pkt->dest_qpn = get24(p + 5);
	pkt->ack_req = p[8] & BTH_ACKREQ;
	pkt->psn = roce_psn_make(get24(p + 9));
	op = &roce_ops[pkt->opcode];
	if (!op->flags)
		return -EPROTONOSUPPORT;
	if (p[1] & 0x0f) /* transport version, IBTA 9.2.5 */
		return -EBADMSG;
	if (len < (size_t)op->hdr_bytes + ROCE_ICRC_BYTES || len % 4)
		return -EBADMSG;
	rest = len - op->hdr_bytes - ROCE_ICRC_BYTES;
	if (pkt->pad > rest || (rest && !(op->flags & ROCE_OP_PAYLOAD)))
		return -EBADMSG;
	pkt->payload = p + op->hdr_bytes;
	pkt->payload_len = (uint32_t)(rest - pkt->pad);
	parse_ext(pkt, op->flags, p + ROCE_BTH_BYTES);
	return 0;
}

size_t roce_hdr_build(uint8_t *buf, const struct roce_pkt *pkt)
{
	const struct roce_op *op = &roce_ops[pkt->opcode];
	uint8_t *p = buf;

	p[0] = pkt->opcode;
	p[1] = (uint8_t)((pkt->solicited ? BTH_SOLICITED : 0) | (pkt->mig_req ? BTH_MIGREQ : 0) |
			 pkt->pad << 4);
	p[2] = (uint8_t)(pkt->pkey >> 8);
	p[3] = (uint8_t)pkt->pkey;
	p = put32(p + 4, pkt->dest_qpn);
	p[0] = pkt->ack_req ? BTH_ACKREQ : 0;
	p = put24(p + 1, pkt->psn.v);
	if (op->flags & ROCE_OP_RETH) {
		p = put32(p, (uint32_t)(pkt->va >> 32));
		p = put32(p, (uint32_t)pkt->va);
		p = put32(p, pkt->rkey);
		p = put32(p, pkt->dma_len);
	}
	if (op->flags & ROCE_OP_AETH) {
		*p++ = pkt->syndrome;
		p = put24(p, pkt->msn.v);
	}
	if (op->flags & ROCE_OP_DETH) {
		p = put32(p, pkt->qkey);
		p = put32(p, pkt->src_qpn);
	}
	if (op->flags & ROCE_OP_IMM) {
		memcpy(p, &pkt->imm_be, sizeof(pkt->imm_be));
		p += sizeof(pkt->imm_be);
	}
	if (op->flags & ROCE_OP_IETH)
		p = put32(p, pkt->inv_rkey);
	return (size_t)(p - buf);
}
