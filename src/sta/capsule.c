/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capsule validation. The order of checks decides which status a host sees when several things
 * are wrong: command format, SGL, namespace (by the caller), transfer length.
 */
#include "sta/capsule.h"

#include <stddef.h>
#include <string.h>

#define DSM_RANGE_BYTES 16u

/* Offloaded I/O commands: they map one to one on the back-end's own command. */
struct io_op {
	bool is_offloaded;
	enum sta_data_dir dir;
	enum {
		LEN_NONE, /* no data */
		LEN_BLOCKS, /* NLB (cdw12 15:0, zero based) blocks */
		LEN_RANGES, /* NR (cdw10 7:0, zero based) ranges of 16 bytes */
	} len;
};

static const struct io_op io_ops[256] = {
	[nvme_cmd_flush] = {true, STA_DATA_NONE, LEN_NONE},
	[nvme_cmd_write] = {true, STA_DATA_FROM_HOST, LEN_BLOCKS},
	[nvme_cmd_read] = {true, STA_DATA_TO_HOST, LEN_BLOCKS},
	[nvme_cmd_compare] = {true, STA_DATA_FROM_HOST, LEN_BLOCKS},
	[nvme_cmd_write_zeroes] = {true, STA_DATA_NONE, LEN_NONE},
	[nvme_cmd_dsm] = {true, STA_DATA_FROM_HOST, LEN_RANGES},
	[nvme_cmd_verify] = {true, STA_DATA_NONE, LEN_NONE},
};

static sta_status_t fail(struct sta_capsule *c, size_t err_byte, sta_status_t status)
{
	c->err_byte = (uint16_t)err_byte;
	return status;
}

/* Data transfer direction as the opcode (or FCTYPE) encodes it: bit 0 to, bit 1 from controller. */
static enum sta_data_dir dir_of_code(unsigned int code)
{
	if (code & 1)
		return STA_DATA_FROM_HOST;
	return code & 2 ? STA_DATA_TO_HOST : STA_DATA_NONE;
}

static void classify(const struct sta_sqe *sqe, struct sta_capsule *c)
{
	const struct io_op *op = &io_ops[sqe->opcode];

	if (op->is_offloaded) {
		c->kind = STA_CMD_IO;
		c->dir = op->dir;
		return;
	}
	c->kind = STA_CMD_NON_OFFLOAD;
	c->dir = dir_of_code(sqe->opcode == nvme_admin_fabrics ? le32toh(sqe->nsid) & 0xff
							       : sqe->opcode);
}

sta_status_t sta_capsule_parse(const struct sta_sqe *sqe, uint32_t icd_bytes, uint32_t got_bytes,
			       struct sta_capsule *c)
{
	sta_status_t status;

	memset(c, 0, sizeof(*c));
	classify(sqe, c);
	status = sta_sgl_parse(sqe, &c->sgl);
	if (status)
		return fail(c, offsetof(struct sta_sqe, sgl), status);
	if (sqe->opcode != nvme_admin_fabrics) {
		/* Fused commands are not announced (FUSES 0); data is by SGL only. */
		if (sqe->flags & STA_SQE_FUSE)
			return fail(c, offsetof(struct sta_sqe, flags), STA_SC_DNR(INVALID_FIELD));
		if ((sqe->flags & STA_SQE_PSDT) != STA_SQE_PSDT_SGL)
			return fail(c, offsetof(struct sta_sqe, flags), STA_SC_DNR(INVALID_FIELD));
	}
	if (c->sgl.is_keyed || c->sgl.bytes == 0)
		return 0;
	/* Data in the capsule goes one way only. */
	if (c->dir != STA_DATA_FROM_HOST)
		return fail(c, offsetof(struct sta_sqe, opcode), STA_SC_DNR(INVALID_FIELD));
	status = sta_sgl_check_in_capsule(&c->sgl, icd_bytes, got_bytes);
	return status ? fail(c, offsetof(struct sta_sqe, sgl), status) : 0;
}

sta_status_t sta_capsule_check_io(const struct sta_sqe *sqe, uint32_t block_bytes,
				  uint32_t max_io_bytes, struct sta_capsule *c)
{
	const struct io_op *op = &io_ops[sqe->opcode];
	uint64_t need = 0;

	if (op->len == LEN_BLOCKS)
		need = ((uint64_t)(le32toh(sqe->cdw12) & 0xffff) + 1) * block_bytes;
	else if (op->len == LEN_RANGES)
		need = ((uint64_t)(le32toh(sqe->cdw10) & 0xff) + 1) * DSM_RANGE_BYTES;

	if (need > max_io_bytes)
		return fail(c, offsetof(struct sta_sqe, cdw12), STA_SC_DNR(INVALID_FIELD));
	if (c->sgl.bytes > max_io_bytes)
		return fail(c, offsetof(struct sta_sqe, sgl), STA_SC_DNR(INVALID_FIELD));
	/* Hosts describe room for 256 ranges whatever their number is. */
	if (op->len == LEN_RANGES ? c->sgl.bytes < need : c->sgl.bytes != need)
		return fail(c, offsetof(struct sta_sqe, sgl), STA_SC_DNR(SGL_INVALID_DATA));
	c->data_bytes = (uint32_t)need;
	return 0;
}

bool sta_capsule_is_connect(const struct sta_sqe *sqe, struct sta_connect *conn)
{
	/* NVMe Base 2.0 figure 380: RECFMT 41:40, QID 43:42, SQSIZE 45:44, CATTR 46 */
	if (sqe->opcode != nvme_admin_fabrics || (le32toh(sqe->nsid) & 0xff) != STA_FABRICS_CONNECT)
		return false;
	conn->qid = (uint16_t)(le32toh(sqe->cdw10) >> 16);
	conn->is_flow_control_off = (le32toh(sqe->cdw11) >> 16) & STA_CONNECT_CATTR_NO_FLOW;
	return true;
}
