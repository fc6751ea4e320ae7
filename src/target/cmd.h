/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command capsule's 64 bytes in host order, its data descriptor, and the 16 bytes of a response.
 * Byte layout only; what a command means is in fabrics.c and admin.c.
 */
#ifndef TGT_CMD_H
#define TGT_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "target/status.h"

enum {
	TGT_SQE_BYTES = 64,
	TGT_CQE_BYTES = 16,
};

/* SGL descriptor type and subtype as they stand in its last byte (NVMe Base 2.0, 4.1.2). */
enum tgt_sgl_kind {
	TGT_SGL_OFFSET = 0x01, /* data block, offset: data behind the capsule */
	TGT_SGL_KEYED = 0x40, /* keyed data block, address */
	TGT_SGL_KEYED_INVALIDATE = 0x4f, /* keyed data block, invalidate the key when done */
};

struct tgt_sgl {
	uint8_t kind; /* enum tgt_sgl_kind, or whatever the peer sent */
	uint64_t addr; /* address, or offset into the capsule's data */
	uint32_t bytes; /* 24 bits for keyed descriptors */
	uint32_t key; /* keyed descriptors only */
};

struct tgt_cmd {
	uint8_t opcode;
	uint8_t flags; /* FUSE and PSDT */
	uint16_t cid;
	uint32_t nsid; /* Fabrics commands: fctype in the low byte */
	struct tgt_sgl sgl;
	uint32_t cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
};

enum tgt_dir {
	TGT_DIR_NONE = 0,
	TGT_DIR_FROM_HOST = 1,
	TGT_DIR_TO_HOST = 2,
	TGT_DIR_BOTH = 3,
};

/* What a descriptor asks the transport to do. */
struct tgt_xfer {
	enum tgt_dir dir; /* NONE: no data moves */
	bool in_capsule; /* data is at capsule_offset behind the 64 bytes */
	uint32_t capsule_offset;
	uint32_t bytes;
	bool invalidate; /* answer with SEND with Invalidate of key */
	uint64_t addr;
	uint32_t key;
};

/** tgt_cmd_parse() - read the 64 bytes of a submission queue entry. */
void tgt_cmd_parse(struct tgt_cmd *cmd, const uint8_t sqe[TGT_SQE_BYTES]);

static inline bool tgt_cmd_is_fabrics(const struct tgt_cmd *cmd)
{
	return cmd->opcode == nvme_admin_fabrics;
}

static inline uint8_t tgt_cmd_fctype(const struct tgt_cmd *cmd)
{
	return (uint8_t)cmd->nsid;
}

/** tgt_cmd_dir() - data direction: bits 1:0 of the opcode, of fctype for Fabrics commands. */
enum tgt_dir tgt_cmd_dir(const struct tgt_cmd *cmd);

/**
 * tgt_xfer_plan() - check a command's descriptor.
 * @behind:    bytes that came behind the 64 of the capsule
 * @max_bytes: largest transfer of this queue
 * @xfer:      filled on success; on failure only invalidate and key are meaningful, since a
 *             response that reports an error invalidates the key as well
 *
 * Return: TGT_SUCCESS; SGL Descriptor Type Invalid (unknown type); Invalid Field (PSDT, FUSE,
 * unknown subtype, data to the host inside the capsule, more than @max_bytes); SGL Offset Invalid
 * (points behind the capsule's data). All with DNR.
 */
tgt_status_t tgt_xfer_plan(const struct tgt_cmd *cmd, uint32_t behind, uint32_t max_bytes,
			   struct tgt_xfer *xfer);

/** tgt_cqe_fill() - a response: dword 0, dword 1, SQ head, command id, status. */
void tgt_cqe_fill(uint8_t cqe[TGT_CQE_BYTES], uint64_t result, uint16_t sq_head, uint16_t cid,
		  tgt_status_t status);

/** tgt_cqe_status() - the status of a response. */
tgt_status_t tgt_cqe_status(const uint8_t cqe[TGT_CQE_BYTES]);

#endif
