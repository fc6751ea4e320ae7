/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two queue entries of NVMe and the register facts that libnvme's <nvme/types.h> leaves out.
 * Opcodes, register offsets, Identify structures and status codes come from <nvme/types.h>.
 *
 * Entries lie in memory little-endian, as the specification says; read and write the fields with
 * le16toh()/htole16() and friends.
 */
#ifndef NV_SPEC_H
#define NV_SPEC_H

#include <assert.h>
#include <endian.h>
#include <stdint.h>

#include <nvme/types.h>

/* Submission queue entry: NVMe Base 2.0, 3.3.3.1 (figure 86, Common Command Format). */
struct nv_sqe {
	uint8_t opcode;
	uint8_t flags; /* bits 1:0 fused operation, bits 7:6 PRP or SGL */
	uint16_t cid;
	uint32_t nsid;
	uint32_t cdw2;
	uint32_t cdw3;
	uint64_t mptr;
	uint64_t prp1;
	uint64_t prp2;
	uint32_t cdw10;
	uint32_t cdw11;
	uint32_t cdw12;
	uint32_t cdw13;
	uint32_t cdw14;
	uint32_t cdw15;
};
static_assert(sizeof(struct nv_sqe) == 64, "submission queue entry is 64 bytes");

/* Completion queue entry: NVMe Base 2.0, 3.3.3.2. */
struct nv_cqe {
	uint32_t dw0;
	uint32_t dw1;
	uint16_t sq_head;
	uint16_t sq_id;
	uint16_t cid;
	uint16_t status; /* bit 0 phase tag, bits 15:1 status field */
};
static_assert(sizeof(struct nv_cqe) == 16, "completion queue entry is 16 bytes");

/* Bits of nv_sqe.flags. */
#define NV_SQE_FUSE_MASK 0x03
#define NV_SQE_PSDT_MASK 0xc0

/* The low bits of every opcode tell the direction of its data (NVMe Base 2.0, 3.3.3.1). */
#define NV_OPC_DATA_MASK 0x03
#define NV_OPC_DATA_OUT	 0x01 /* host to controller */
#define NV_OPC_DATA_IN	 0x02 /* controller to host */

/*
 * NVMe status as this project carries it: status code in bits 7:0, status code type in bits 10:8,
 * the flags below; the phase tag is not part of it. libnvme's NVME_SC_* are generic ones unless
 * they are combined with a type: NV_SC(NVME_SCT_CMD_SPECIFIC, NVME_SC_QID_INVALID).
 */
#define NV_SC(type, code)   ((uint16_t)(((type) << NVME_SCT_SHIFT) | (code)))
#define NV_SC_MORE	    0x2000
#define NV_SC_DNR	    0x4000
#define NV_SC_CODE_MASK	    0x07ff
#define NV_CQE_PHASE	    0x0001
#define NV_CQE_STATUS_SHIFT 1

/* Memory page size of CC.MPS = 0, the only one the driver sets and the soft controller takes. */
#define NV_PAGE_SIZE 4096u

/* First doorbell: NVMe over PCIe Transport 1.0, 3.1.2; stride is 4 << CAP.DSTRD bytes. */
#define NV_DOORBELL_BASE 0x1000u

#define NV_SQE_SHIFT 6 /* CC.IOSQES */
#define NV_CQE_SHIFT 4 /* CC.IOCQES */

#define NV_IDENTIFY_BYTES 4096u
#define NV_NSID_ALL	  0xffffffffu

#endif
