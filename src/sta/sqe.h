/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts of the NVMe submission and completion queue entry, and of the SGL descriptor inside
 * the former, as bytes in little endian. Constants come from libnvme's <nvme/types.h>; it has no
 * type for the entries themselves.
 */
#ifndef STA_SQE_H
#define STA_SQE_H

#include <assert.h>
#include <endian.h>
#include <stdint.h>

/* NVMe Base 2.0, figure 87 (common command format) */
struct sta_sqe {
	uint8_t opcode;
	uint8_t flags; /* FUSE 1:0, PSDT 7:6 */
	uint16_t cid;
	uint32_t nsid;
	uint32_t cdw2;
	uint32_t cdw3;
	uint64_t mptr;
	union {
		struct {
			uint64_t prp1;
			uint64_t prp2;
		};
		uint8_t sgl[16];
	};
	uint32_t cdw10;
	uint32_t cdw11;
	uint32_t cdw12;
	uint32_t cdw13;
	uint32_t cdw14;
	uint32_t cdw15;
};
static_assert(sizeof(struct sta_sqe) == 64, "NVMe SQE");

/* NVMe Base 2.0, figure 89 */
struct sta_cqe {
	uint32_t dw0;
	uint32_t dw1;
	uint16_t sqhd;
	uint16_t sqid;
	uint16_t cid;
	uint16_t status; /* phase in bit 0, status field in 15:1 */
};
static_assert(sizeof(struct sta_cqe) == 16, "NVMe CQE");

/* Byte 1 of the command */
#define STA_SQE_FUSE	 0x03u
#define STA_SQE_PSDT	 0xc0u
#define STA_SQE_PSDT_PRP 0x00u
#define STA_SQE_PSDT_SGL 0x40u

/* SGL descriptor: type in the high nibble of its last byte, subtype in the low one.
 * NVMe Base 2.0, figures 106 and 107. */
enum sta_sgl_type {
	STA_SGL_DATA_BLOCK = 0x0,
	STA_SGL_KEYED_DATA_BLOCK = 0x4,
};

enum sta_sgl_subtype {
	STA_SGL_ADDRESS = 0x0,
	STA_SGL_OFFSET = 0x1,
	STA_SGL_INVALIDATE_KEY = 0xf, /* NVMe RDMA transport 1.0, figure 7 */
};

/* Fabrics command: FCTYPE is where the namespace would be. */
#define STA_FABRICS_CONNECT	  0x01u
#define STA_CONNECT_CATTR_NO_FLOW 0x04u /* SQ flow control disabled */

#endif
