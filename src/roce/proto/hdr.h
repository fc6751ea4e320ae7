/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport headers from and to bytes: BTH, RETH, AETH, DETH, immediate data, invalidate (IBTA 9.2,
 * 9.3). Works on the UDP payload of a RoCEv2 packet: BTH .. payload .. pad .. ICRC. Checks sizes
 * against bounds and the opcode table; checks no state and no ICRC (icrc.h).
 */
#ifndef ROCE_PROTO_HDR_H
#define ROCE_PROTO_HDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roce/proto/opcode.h"
#include "roce/proto/psn.h"

#define ROCE_BTH_BYTES		  12
#define ROCE_RETH_BYTES		  16
#define ROCE_AETH_BYTES		  4
#define ROCE_DETH_BYTES		  8
#define ROCE_IMM_BYTES		  4
#define ROCE_IETH_BYTES		  4
#define ROCE_ATOMIC_ETH_BYTES	  28
#define ROCE_ATOMIC_ACK_ETH_BYTES 8
#define ROCE_ICRC_BYTES		  4
#define ROCE_HDR_MAX		  40 /* longest: BTH + AtomicETH */

/* AETH syndrome (IBTA 9.7.5.1.2 - 9.7.5.2.8): top bits say which kind, low five carry a value. */
#define ROCE_AETH_KIND_MASK	  0x60
#define ROCE_AETH_ACK		  0x00 /* low bits: credits, 0x1f for no limit */
#define ROCE_AETH_RNR		  0x20 /* low bits: RNR timer code */
#define ROCE_AETH_NAK		  0x60 /* low bits: enum roce_nak */
#define ROCE_AETH_VALUE_MASK	  0x1f
#define ROCE_AETH_NO_CREDIT_LIMIT 0x1f

enum roce_nak {
	ROCE_NAK_SEQUENCE = 0,
	ROCE_NAK_INVALID_REQUEST = 1,
	ROCE_NAK_REMOTE_ACCESS = 2,
	ROCE_NAK_REMOTE_OPERATION = 3,
	ROCE_NAK_INVALID_RD_REQUEST = 4,
	ROCE_NAK_KINDS = 5,
};

/* A packet as values. Parsing fills what the opcode has; building reads what the opcode has. */
struct roce_pkt {
	uint8_t opcode; /* enum roce_opcode */
	uint8_t pad; /* 0..3 bytes between payload and ICRC */
	bool solicited;
	bool mig_req;
	bool ack_req;
	uint8_t syndrome; /* AETH */
	uint16_t pkey;
	uint32_t dest_qpn;
	roce_psn psn;
	roce_psn msn; /* AETH; 24 bits that count like a PSN */
	uint64_t va; /* RETH */
	uint32_t rkey; /* RETH */
	uint32_t dma_len; /* RETH */
	uint32_t imm_be; /* immediate data as it stands on the wire */
	uint32_t inv_rkey; /* IETH */
	uint32_t qkey; /* DETH */
	uint32_t src_qpn; /* DETH */
	const uint8_t *payload;
	uint32_t payload_len; /* without pad */
};

/*
 * Reads the UDP payload buf[0..len), which includes the ICRC. pkt->payload points into buf.
 *  -EBADMSG         shorter than its headers, pad longer than the payload, not a multiple of four
 *                   bytes, payload where there can be none, or a transport version other than 0
 *  -EPROTONOSUPPORT an opcode that the table does not have
 * On error pkt is undefined but for dest_qpn, which is set when len is at least ROCE_BTH_BYTES.
 */
int roce_hdr_parse(struct roce_pkt *pkt, const void *buf, size_t len);

/*
 * Writes BTH and the opcode's extension headers to buf, which has room for ROCE_HDR_MAX bytes.
 * Returns how many bytes it wrote. The opcode must be one of the table that has no atomic header:
 * atomics are understood but never sent.
 */
size_t roce_hdr_build(uint8_t *buf, const struct roce_pkt *pkt);

/* Destination QP number at its fixed place; for steering a datagram before it is parsed. */
static inline uint32_t roce_hdr_dest_qpn(const uint8_t *bth)
{
	return (uint32_t)bth[5] << 16 | (uint32_t)bth[6] << 8 | bth[7];
}

static inline bool roce_hdr_is_ud(uint8_t opcode)
{
	return (opcode >> 5) == 3;
}

#endif
