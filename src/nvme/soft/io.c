/* SPDX-License-Identifier: Apache-2.0 */
/*
 * I/O commands: what is checked, with which status it fails, and which store request it becomes.
 * One function per command; those of several steps end in io_multi.c.
 *
 * A function returns a status to complete the command with at once, or PENDING when the store has
 * it. NVM Command Set 1.0, chapter 3.
 */
#include "nvme/soft/priv.h"

#include <errno.h>

#define PENDING 0xffff

#define DW12_NLB_MASK 0xffffu
#define DW12_DEAC     (1u << 25)
#define DW12_FUA      (1u << 30)

uint16_t nv_soft_io_status(enum nv_store_op op, int result)
{
	switch (-result) {
	case 0:
		return NVME_SC_SUCCESS;
	case EIO:
	case ENODATA:
	case EILSEQ:
	case EBADMSG:
	case EREMOTEIO:
		return op == NV_STORE_READ ? NV_SC(NVME_SCT_MEDIA, NVME_SC_READ_ERROR)
					   : NV_SC(NVME_SCT_MEDIA, NVME_SC_WRITE_FAULT);
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return DNR(NVME_SC_CAP_EXCEEDED);
	case ERANGE:
		return DNR(NVME_SC_LBA_RANGE);
	case ECANCELED: /* the queue is being deleted */
		return NVME_SC_ABORT_QUEUE;
	case EROFS:
		return DNR(NVME_SC_NS_WRITE_PROTECTED);
	case EFAULT:
		return NVME_SC_DATA_XFER_ERROR;
	default:
		return NVME_SC_INTERNAL;
	}
}

uint16_t nv_soft_io_check_range(const struct nv_soft_ns *ns, uint64_t slba, uint64_t blocks)
{
	uint64_t end = nv_soft_blocks(ns);

	if (slba > end || blocks > end - slba)
		return DNR(NVME_SC_LBA_RANGE);
	return 0;
}

static void store_done(struct nv_store_req *req, int result)
{
	struct nv_soft_io *io = util_container_of(req, struct nv_soft_io, req);

	nv_soft_io_complete(io, nv_soft_io_status(req->op, result));
}

static uint16_t submit(struct nv_soft_io *io, enum nv_store_op op, uint32_t flags)
{
	io->req.op = op;
	io->req.flags = flags;
	io->req.iov = io->iov;
	io->req.iovcnt = op == NV_STORE_READ || op == NV_STORE_WRITE ? io->data_count : 0;
	io->req.done = store_done;
	io->ns->store->ops->submit(io->chan, &io->req);
	return PENDING;
}

static uint64_t start_lba(const struct nv_sqe *sqe)
{
	return le32toh(sqe->cdw10) | (uint64_t)le32toh(sqe->cdw11) << 32;
}

/* Range from dwords 10 to 12 into the request. */
static uint16_t parse_range(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	uint64_t slba = start_lba(sqe);
	uint64_t blocks = (le32toh(sqe->cdw12) & DW12_NLB_MASK) + 1;
	uint16_t status = nv_soft_io_check_range(io->ns, slba, blocks);

	if (status)
		return status;
	io->req.offset_bytes = slba << io->ns->block_shift;
	io->req.length_bytes = blocks << io->ns->block_shift;
	return 0;
}

/* Range and data pointer of Read, Write and Compare. */
static uint16_t parse_transfer(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	struct nv_soft_queue *queue = io->queue;
	uint64_t bytes = (uint64_t)((le32toh(sqe->cdw12) & DW12_NLB_MASK) + 1)
			 << io->ns->block_shift;
	uint16_t status;

	if (bytes > NV_SOFT_MDTS_BYTES)
		return DNR(NVME_SC_INVALID_FIELD);
	status = parse_range(io, sqe);
	if (status)
		return status;
	return nv_soft_prp(queue->soft->mem, &queue->region_hint, le64toh(sqe->prp1),
			   le64toh(sqe->prp2), (uint32_t)bytes, io->iov, &io->data_count);
}

/* FUA of the command, or of all writes when the volatile cache is switched off. */
static uint32_t durable(const struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	const uint32_t *cache = &io->queue->soft->features.write_cache;

	if (!io->ns->store->volatile_cache)
		return 0;
	if (le32toh(sqe->cdw12) & DW12_FUA || !__atomic_load_n(cache, __ATOMIC_RELAXED))
		return NV_STORE_FUA;
	return 0;
}

static uint16_t do_read(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	uint16_t status = parse_transfer(io, sqe);

	if (status)
		return status;
	/* FUA on a Read asks for data from the medium: the page cache is coherent with it. */
	nv_soft_count(&io->queue->count->read_commands, 1);
	nv_soft_count(&io->queue->count->read_bytes, io->req.length_bytes);
	return submit(io, NV_STORE_READ, 0);
}

static uint16_t do_write(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	uint16_t status = parse_transfer(io, sqe);

	if (status)
		return status;
	if (io->ns->store->read_only)
		return DNR(NVME_SC_NS_WRITE_PROTECTED);
	nv_soft_count(&io->queue->count->write_commands, 1);
	nv_soft_count(&io->queue->count->written_bytes, io->req.length_bytes);
	return submit(io, NV_STORE_WRITE, durable(io, sqe));
}

static uint16_t do_flush(struct nv_soft_io *io)
{
	nv_soft_count(&io->queue->count->flushes, 1);
	if (!io->ns->store->volatile_cache || io->ns->store->read_only)
		return 0;
	io->req.offset_bytes = 0;
	io->req.length_bytes = 0;
	return submit(io, NV_STORE_FLUSH, 0);
}

static uint16_t do_write_zeroes(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	uint32_t unmap = le32toh(sqe->cdw12) & DW12_DEAC ? NV_STORE_UNMAP : 0;
	uint16_t status = parse_range(io, sqe);

	if (status)
		return status;
	if (io->ns->store->read_only)
		return DNR(NVME_SC_NS_WRITE_PROTECTED);
	return submit(io, NV_STORE_ZERO, durable(io, sqe) | unmap);
}

static uint16_t do_compare(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	uint16_t status = parse_transfer(io, sqe);

	if (status)
		return status;
	nv_soft_count(&io->queue->count->read_commands, 1);
	nv_soft_scan_start(io);
	return PENDING;
}

static uint16_t do_verify(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	uint16_t status = parse_range(io, sqe);

	if (status)
		return status;
	nv_soft_scan_start(io);
	return PENDING;
}

static uint16_t do_dsm(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	uint32_t ranges = (le32toh(sqe->cdw10) & 0xff) + 1;
	bool deallocate = le32toh(sqe->cdw11) & NVME_DSMGMT_AD;
	uint16_t status;

	io->req.offset_bytes = 0;
	status = nv_soft_dsm_read_ranges(io, le64toh(sqe->prp1), le64toh(sqe->prp2), ranges);
	if (status || !deallocate) /* the other attributes are hints that we have no use for */
		return status;
	if (io->ns->store->read_only)
		return DNR(NVME_SC_NS_WRITE_PROTECTED);
	nv_soft_dsm_start(io);
	return PENDING;
}

static uint16_t execute(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	if (sqe->flags & (NV_SQE_FUSE_MASK | NV_SQE_PSDT_MASK))
		return DNR(NVME_SC_INVALID_FIELD); /* no fused commands (FUSES = 0), no SGLs */
	switch (sqe->opcode) {
	case nvme_cmd_flush:
	case nvme_cmd_write:
	case nvme_cmd_read:
	case nvme_cmd_compare:
	case nvme_cmd_write_zeroes:
	case nvme_cmd_dsm:
	case nvme_cmd_verify:
		break;
	default:
		return DNR(NVME_SC_INVALID_OPCODE);
	}
	io->ns = nv_soft_find_ns(io->queue->soft, io->nsid);
	if (!io->ns)
		return DNR(NVME_SC_INVALID_NS);
	io->chan = io->queue->chan[io->nsid - 1];
	switch (sqe->opcode) {
	case nvme_cmd_flush:
		return do_flush(io);
	case nvme_cmd_write:
		return do_write(io, sqe);
	case nvme_cmd_read:
		return do_read(io, sqe);
	case nvme_cmd_compare:
		return do_compare(io, sqe);
	case nvme_cmd_write_zeroes:
		return do_write_zeroes(io, sqe);
	case nvme_cmd_dsm:
		return do_dsm(io, sqe);
	default:
		return do_verify(io, sqe);
	}
}

void nv_soft_io_start(struct nv_soft_io *io, const struct nv_sqe *sqe)
{
	uint16_t status;

	io->cid = sqe->cid;
	io->opcode = sqe->opcode;
	io->nsid = le32toh(sqe->nsid);
	io->ns = NULL;
	io->req.offset_bytes = 0;
	status = execute(io, sqe);
	/* PENDING: the command may be complete already, and its slot in use for another. */
	if (status != PENDING)
		nv_soft_io_complete(io, status);
}
