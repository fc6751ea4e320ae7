/* SPDX-License-Identifier: Apache-2.0 */
/* Capsule layout; see cmd.h. Offsets are those of NVMe Base 2.0 figure 87 and 4.1.2. */
#include "target/cmd.h"

#include <string.h>

#include "util/byteorder.h"

enum {
	SQE_OPCODE = 0,
	SQE_FLAGS = 1,
	SQE_CID = 2,
	SQE_NSID = 4,
	SQE_SGL = 24,
	SQE_CDW10 = 40,

	SGL_BYTES = 8,
	SGL_KEY = 11, /* keyed descriptors: 3 bytes of length, then the key */
	SGL_KIND = 15,

	CQE_SQ_HEAD = 8,
	CQE_CID = 12,
	CQE_STATUS = 14,
	CQE_PHASE_BITS = 1,

	FLAGS_FUSE_MASK = 3,
	FLAGS_PSDT_SHIFT = 6,
	FLAGS_PSDT_SGL = 1, /* SGL, metadata pointer is an address: all that Fabrics allows */
};

static bool kind_is_keyed(uint8_t kind)
{
	return kind >> 4 == TGT_SGL_KEYED >> 4;
}

void tgt_cmd_parse(struct tgt_cmd *cmd, const uint8_t sqe[TGT_SQE_BYTES])
{
	const uint8_t *sgl = sqe + SQE_SGL;

	cmd->opcode = sqe[SQE_OPCODE];
	cmd->flags = sqe[SQE_FLAGS];
	cmd->cid = util_get_le16(sqe + SQE_CID);
	cmd->nsid = util_get_le32(sqe + SQE_NSID);
	cmd->sgl.kind = sgl[SGL_KIND];
	cmd->sgl.addr = util_get_le64(sgl);
	cmd->sgl.bytes = util_get_le32(sgl + SGL_BYTES);
	cmd->sgl.key = 0;
	if (kind_is_keyed(cmd->sgl.kind)) {
		cmd->sgl.bytes &= 0xffffff;
		cmd->sgl.key = util_get_le32(sgl + SGL_KEY);
	}
	cmd->cdw10 = util_get_le32(sqe + SQE_CDW10);
	cmd->cdw11 = util_get_le32(sqe + SQE_CDW10 + 4);
	cmd->cdw12 = util_get_le32(sqe + SQE_CDW10 + 8);
	cmd->cdw13 = util_get_le32(sqe + SQE_CDW10 + 12);
	cmd->cdw14 = util_get_le32(sqe + SQE_CDW10 + 16);
	cmd->cdw15 = util_get_le32(sqe + SQE_CDW10 + 20);
}

enum tgt_dir tgt_cmd_dir(const struct tgt_cmd *cmd)
{
	return (enum tgt_dir)((tgt_cmd_is_fabrics(cmd) ? tgt_cmd_fctype(cmd) : cmd->opcode) & 3);
}

static tgt_status_t plan_in_capsule(const struct tgt_sgl *sgl, uint32_t behind,
				    struct tgt_xfer *xfer)
{
	if (!sgl->bytes) {
		xfer->dir = TGT_DIR_NONE;
		return TGT_SUCCESS;
	}
	if (xfer->dir != TGT_DIR_FROM_HOST)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	if (sgl->addr > behind || sgl->bytes > behind - sgl->addr)
		return TGT_SC_DNR(GENERIC, SGL_INVALID_OFFSET);
	xfer->in_capsule = true;
	xfer->capsule_offset = (uint32_t)sgl->addr;
	xfer->bytes = sgl->bytes;
	return TGT_SUCCESS;
}

static tgt_status_t plan_keyed(const struct tgt_sgl *sgl, uint32_t max_bytes, struct tgt_xfer *xfer)
{
	if (!sgl->bytes) {
		xfer->dir = TGT_DIR_NONE;
		return TGT_SUCCESS;
	}
	if (sgl->bytes > max_bytes)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	xfer->bytes = sgl->bytes;
	if (xfer->dir != TGT_DIR_FROM_HOST && xfer->dir != TGT_DIR_TO_HOST)
		xfer->dir = TGT_DIR_NONE; /* left to the command: its opcode, or its data length */
	xfer->addr = sgl->addr;
	xfer->key = sgl->key;
	return TGT_SUCCESS;
}

tgt_status_t tgt_xfer_plan(const struct tgt_cmd *cmd, uint32_t behind, uint32_t max_bytes,
			   struct tgt_xfer *xfer)
{
	const struct tgt_sgl *sgl = &cmd->sgl;

	memset(xfer, 0, sizeof(*xfer));
	xfer->dir = tgt_cmd_dir(cmd);
	if (sgl->kind == TGT_SGL_KEYED_INVALIDATE) {
		xfer->invalidate = true;
		xfer->key = sgl->key;
	}
	if (cmd->flags >> FLAGS_PSDT_SHIFT != FLAGS_PSDT_SGL || (cmd->flags & FLAGS_FUSE_MASK))
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	switch (sgl->kind) {
	case TGT_SGL_OFFSET:
		return plan_in_capsule(sgl, behind, xfer);
	case TGT_SGL_KEYED:
	case TGT_SGL_KEYED_INVALIDATE:
		return plan_keyed(sgl, max_bytes, xfer);
	}
	if (sgl->kind >> 4 == TGT_SGL_OFFSET >> 4 || kind_is_keyed(sgl->kind))
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	return TGT_SC_DNR(GENERIC, SGL_INVALID_TYPE);
}

void tgt_cqe_fill(uint8_t cqe[TGT_CQE_BYTES], uint64_t result, uint16_t sq_head, uint16_t cid,
		  tgt_status_t status)
{
	memset(cqe, 0, TGT_CQE_BYTES);
	util_put_le64(cqe, result);
	util_put_le16(cqe + CQE_SQ_HEAD, sq_head);
	util_put_le16(cqe + CQE_CID, cid);
	util_put_le16(cqe + CQE_STATUS, (uint16_t)(status << CQE_PHASE_BITS));
}

tgt_status_t tgt_cqe_status(const uint8_t cqe[TGT_CQE_BYTES])
{
	return (tgt_status_t)(util_get_le16(cqe + CQE_STATUS) >> CQE_PHASE_BITS);
}
