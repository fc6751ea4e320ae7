/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe over Fabrics and NVMe/RDMA on the wire, as a host writes and reads it: 64-byte commands,
 * 16-byte completions, SGL descriptors, Connect data, and the private data of the connection
 * manager. Pure functions over memory; no queue, no verbs, no I/O.
 *
 * Structures are in wire (little-endian) order. What libnvme's <nvme/types.h> already describes
 * (Connect data, Identify, log pages, opcodes, status codes) is taken from there.
 */
#ifndef TOOLS_INITIATOR_WIRE_H
#define TOOLS_INITIATOR_WIRE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <linux/types.h>
#include <nvme/types.h>

/* Fabrics commands share one opcode, NVMe base 2.0 clause 6. */
#define INI_OPC_FABRICS 0x7f
/* PSDT 01b: the data pointer is an SGL; all that a fabric knows. Base 2.0 figure 86, bits 7:6. */
#define INI_SQE_FLAG_SGL 0x40

/* Offsets in a Connect command / Connect data that "Connect Invalid Parameters" points at. */
#define INI_CONNECT_OFF_QID	42
#define INI_CONNECT_OFF_SQSIZE	44
#define INI_CONNECT_OFF_CNTLID	16
#define INI_CONNECT_OFF_SUBNQN	256
#define INI_CONNECT_OFF_HOSTNQN 512
#define INI_CNTLID_DYNAMIC	0xffff

/* A submission queue entry. For Fabrics commands the low byte of nsid is the command type. */
struct ini_sqe {
	uint8_t opcode;
	uint8_t flags;
	__le16 cid;
	__le32 nsid;
	__le32 cdw2;
	__le32 cdw3;
	__le64 mptr;
	uint8_t sgl[16];
	__le32 cdw10;
	__le32 cdw11;
	__le32 cdw12;
	__le32 cdw13;
	__le32 cdw14;
	__le32 cdw15;
};
static_assert(sizeof(struct ini_sqe) == 64, "submission queue entry");

/* A completion queue entry. A Property Get returns its value in dw0 and dw1. */
struct ini_cqe {
	__le32 dw0;
	__le32 dw1;
	__le16 sqhd;
	__le16 sqid;
	__le16 cid;
	__le16 status; /* status field << 1; the phase bit means nothing on a fabric */
};
static_assert(sizeof(struct ini_cqe) == 16, "completion queue entry");

/* Private data of the CM request, NVMe-oF RDMA transport binding, "RDMA_CM_REQUEST". */
struct ini_cm_req {
	__le16 recfmt;
	__le16 qid;
	__le16 hrqsize; /* a size */
	__le16 hsqsize; /* a size minus one */
	__le16 cntlid;
	uint8_t rsvd[22];
};
static_assert(sizeof(struct ini_cm_req) == 32, "CM request private data");

/* "RDMA_CM_ACCEPT" and "RDMA_CM_REJECT". */
struct ini_cm_rep {
	__le16 recfmt;
	__le16 crqsize; /* a size */
	uint8_t rsvd[28];
};
static_assert(sizeof(struct ini_cm_rep) == 32, "CM reply private data");

struct ini_cm_rej {
	__le16 recfmt;
	__le16 sts; /* enum ini_rdma_status */
};
static_assert(sizeof(struct ini_cm_rej) == 4, "CM reject private data");

/* Why a target refuses a CM request, NVMe-oF RDMA transport binding, "RDMA_CM_REJECT". */
enum ini_rdma_status {
	INI_RDMA_OK = 0,
	INI_RDMA_INVALID_LENGTH = 1,
	INI_RDMA_INVALID_RECFMT = 2,
	INI_RDMA_INVALID_QID = 3,
	INI_RDMA_INVALID_HSQSIZE = 4,
	INI_RDMA_INVALID_HRQSIZE = 5,
	INI_RDMA_NO_RESOURCES = 6,
	INI_RDMA_INVALID_IRD = 7,
	INI_RDMA_INVALID_ORD = 8,
	INI_RDMA_INVALID_CNTLID = 9,
};

/* SGL descriptors, base 2.0 clause 4.1.2. Each writes 16 bytes. */
void ini_sgl_none(uint8_t sgl[16]);
/* Data behind the command in the capsule: data block with an offset address. */
void ini_sgl_incapsule(uint8_t sgl[16], uint64_t offset, uint32_t bytes);
/* Data in host memory. @invalidate asks for remote invalidation of @rkey. Only 24 bits of @bytes.
 */
void ini_sgl_keyed(uint8_t sgl[16], uint64_t addr, uint32_t bytes, uint32_t rkey, bool invalidate);

/* Commands without their data pointer and id, which the queue fills in on submission. */
void ini_sqe_connect(struct ini_sqe *sqe, uint16_t qid, uint16_t sqsize_0b, uint32_t kato_ms);
void ini_sqe_property_get(struct ini_sqe *sqe, uint32_t offset, bool is_64bit);
void ini_sqe_property_set(struct ini_sqe *sqe, uint32_t offset, bool is_64bit, uint64_t value);
void ini_sqe_identify(struct ini_sqe *sqe, uint32_t nsid, uint8_t cns);
/* @bytes must be a multiple of 4 and not 0. */
void ini_sqe_get_log(struct ini_sqe *sqe, uint8_t lid, uint32_t nsid, uint64_t offset,
		     uint32_t bytes);
/* Read, Write, Compare and their like. @blocks is a count, 1 to 65536. */
void ini_sqe_rw(struct ini_sqe *sqe, uint8_t opcode, uint32_t nsid, uint64_t lba, uint32_t blocks);

/* The 1024 bytes of Connect data. Names longer than the field are cut. */
void ini_connect_data(struct nvmf_connect_data *data, const uint8_t hostid[16], uint16_t cntlid,
		      const char *subnqn, const char *hostnqn);

/* Status field of a completion: SC in bits 7:0, SCT in 10:8, More 13, DNR 14. */
uint16_t ini_cqe_status(const struct ini_cqe *cqe);
/* The same without CRD, More and DNR: what a test compares with NVME_SC_*. */
uint16_t ini_cqe_sc(const struct ini_cqe *cqe);

/* Copy a space- or NUL-padded field of a foreign structure as a printable C string. */
void ini_field_str(char *out, size_t out_bytes, const char *field, size_t field_bytes);

/* Names for people. Never NULL. */
const char *ini_nvme_status_str(uint16_t status, bool fabrics);
const char *ini_rdma_status_str(uint16_t status);
const char *ini_cm_reason_str(int reason);

#endif
