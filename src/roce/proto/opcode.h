/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BTH opcodes of the RC and UD services as one table: which headers follow the BTH, where in a
 * message the packet stands, how long it may be (IBTA 9.2.1, table 38). Nothing else in the engine
 * knows an opcode's headers.
 */
#ifndef ROCE_PROTO_OPCODE_H
#define ROCE_PROTO_OPCODE_H

#include <stdint.h>

/* IBTA table 38; the top three bits are the service: 000 RC, 011 UD. */
enum roce_opcode {
	ROCE_RC_SEND_FIRST = 0x00,
	ROCE_RC_SEND_MIDDLE = 0x01,
	ROCE_RC_SEND_LAST = 0x02,
	ROCE_RC_SEND_LAST_IMM = 0x03,
	ROCE_RC_SEND_ONLY = 0x04,
	ROCE_RC_SEND_ONLY_IMM = 0x05,
	ROCE_RC_WRITE_FIRST = 0x06,
	ROCE_RC_WRITE_MIDDLE = 0x07,
	ROCE_RC_WRITE_LAST = 0x08,
	ROCE_RC_WRITE_LAST_IMM = 0x09,
	ROCE_RC_WRITE_ONLY = 0x0a,
	ROCE_RC_WRITE_ONLY_IMM = 0x0b,
	ROCE_RC_READ_REQUEST = 0x0c,
	ROCE_RC_READ_RESP_FIRST = 0x0d,
	ROCE_RC_READ_RESP_MIDDLE = 0x0e,
	ROCE_RC_READ_RESP_LAST = 0x0f,
	ROCE_RC_READ_RESP_ONLY = 0x10,
	ROCE_RC_ACK = 0x11,
	ROCE_RC_ATOMIC_ACK = 0x12,
	ROCE_RC_CMP_SWAP = 0x13,
	ROCE_RC_FETCH_ADD = 0x14,
	ROCE_RC_SEND_LAST_INV = 0x16,
	ROCE_RC_SEND_ONLY_INV = 0x17,
	ROCE_UD_SEND_ONLY = 0x64,
	ROCE_UD_SEND_ONLY_IMM = 0x65,
};

/* What kind of packet, which headers, which place in its message, which length rule. */
enum roce_op_flags {
	ROCE_OP_SEND = 1 << 0,
	ROCE_OP_WRITE = 1 << 1,
	ROCE_OP_READ = 1 << 2,
	ROCE_OP_ATOMIC = 1 << 3,
	ROCE_OP_REQUEST = 1 << 4, /* for the responder */
	ROCE_OP_RESPONSE = 1 << 5, /* for the requester */
	ROCE_OP_START = 1 << 6, /* first or only packet of its message */
	ROCE_OP_END = 1 << 7, /* last or only packet of its message */
	ROCE_OP_RETH = 1 << 8,
	ROCE_OP_AETH = 1 << 9,
	ROCE_OP_DETH = 1 << 10,
	ROCE_OP_IMM = 1 << 11,
	ROCE_OP_IETH = 1 << 12,
	ROCE_OP_ATOMIC_ETH = 1 << 13,
	ROCE_OP_ATOMIC_ACK_ETH = 1 << 14,
	ROCE_OP_PAYLOAD = 1 << 15, /* may carry payload */
};

struct roce_op {
	uint32_t flags; /* enum roce_op_flags; 0: no such opcode */
	uint8_t hdr_bytes; /* BTH and all extension headers */
	const char *name;
};

extern const struct roce_op roce_ops[256];

#endif
