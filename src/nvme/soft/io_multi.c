/* SPDX-License-Identifier: Apache-2.0 */
/*
 * I/O commands that take several store requests one after another in the same slot: Compare and
 * Verify read through the queue's bounce buffer piece by piece, Dataset Management discards range
 * by range.
 *
 * A store may finish a request inside submit(), so steps are driven by a loop, not by recursion:
 * whoever finds the loop idle runs it.
 */
#include "nvme/soft/priv.h"

#include <errno.h>
#include <string.h>

#define MORE 0xffff /* the next step was submitted */

/* Looks at the result of the step before and submits the next one, or says how it ended. */
typedef uint16_t step_fn(struct nv_soft_io *io);

static step_fn scan_step;
static step_fn dsm_step;
static void scan_next(struct nv_soft_queue *queue);

static void run(struct nv_soft_io *io)
{
	struct nv_soft_queue *queue = io->queue;
	bool is_dsm = io->opcode == nvme_cmd_dsm;
	uint16_t status = MORE;

	io->running = true;
	while (io->step_done && status == MORE) {
		io->step_done = false;
		status = is_dsm ? dsm_step(io) : scan_step(io);
	}
	io->running = false;
	if (status == MORE)
		return;
	nv_soft_io_complete(io, status);
	if (!is_dsm) {
		queue->scanning = NULL;
		scan_next(queue);
	}
}

static void step_done(struct nv_store_req *req, int result)
{
	struct nv_soft_io *io = util_container_of(req, struct nv_soft_io, req);

	io->result = result;
	io->step_done = true;
	if (!io->running)
		run(io);
}

static uint16_t submit_step(struct nv_soft_io *io, enum nv_store_op op, uint64_t offset,
			    uint64_t length)
{
	io->req.op = op;
	io->req.flags = 0;
	io->req.offset_bytes = offset;
	io->req.length_bytes = length;
	io->req.iov = &io->step_iov;
	io->req.iovcnt = op == NV_STORE_READ;
	io->req.done = step_done;
	io->ns->store->ops->submit(io->chan, &io->req);
	return MORE;
}

static void start(struct nv_soft_io *io)
{
	io->result = 0;
	io->step_done = true;
	run(io);
}

/* ---- Compare and Verify ------------------------------------------------------------------- */

/* Compare the bounce buffer with the host's data from where the last piece ended. */
static bool same_as_host(struct nv_soft_io *io, const uint8_t *medium, size_t len)
{
	while (len) {
		const struct iovec *iov = &io->iov[io->data_index];
		size_t part = iov->iov_len - io->data_offset;

		if (part > len)
			part = len;
		if (memcmp(medium, (const uint8_t *)iov->iov_base + io->data_offset, part))
			return false;
		medium += part;
		len -= part;
		io->data_offset += part;
		if (io->data_offset == iov->iov_len) {
			io->data_offset = 0;
			io->data_index++;
		}
	}
	return true;
}

static uint16_t scan_step(struct nv_soft_io *io)
{
	uint64_t length = io->left_bytes;

	if (io->result)
		return nv_soft_io_status(NV_STORE_READ, io->result);
	if (io->opcode == nvme_cmd_compare && !same_as_host(io, io->queue->bounce, io->piece_bytes))
		return NV_SC(NVME_SCT_MEDIA, NVME_SC_COMPARE_FAILED);
	if (length == 0)
		return NVME_SC_SUCCESS;
	if (length > NV_SOFT_BOUNCE_BYTES)
		length = NV_SOFT_BOUNCE_BYTES;
	io->piece_bytes = (uint32_t)length;
	io->step_iov.iov_base = io->queue->bounce;
	io->step_iov.iov_len = length;
	io->left_bytes -= length;
	io->offset_bytes += length;
	return submit_step(io, NV_STORE_READ, io->offset_bytes - length, length);
}

/* The bounce buffer goes to the next in line. A loop: an ended scan comes back here. */
static void scan_next(struct nv_soft_queue *queue)
{
	if (queue->scan_loop)
		return;
	queue->scan_loop = true;
	while (!queue->scanning && queue->scan_wait.head) {
		queue->scanning = nv_soft_io_pop(&queue->scan_wait);
		start(queue->scanning);
	}
	queue->scan_loop = false;
}

void nv_soft_scan_start(struct nv_soft_io *io)
{
	io->offset_bytes = io->req.offset_bytes;
	io->left_bytes = io->req.length_bytes;
	io->piece_bytes = 0;
	io->data_index = 0;
	io->data_offset = 0;
	nv_soft_io_push(&io->queue->scan_wait, io);
	scan_next(io->queue);
}

/* ---- Dataset Management ------------------------------------------------------------------- */

uint16_t nv_soft_dsm_read_ranges(struct nv_soft_io *io, uint64_t prp1, uint64_t prp2,
				 uint32_t count)
{
	struct nv_soft_queue *queue = io->queue;
	struct iovec iov[2]; /* 256 ranges of 16 bytes touch two pages at most */
	uint8_t *to = (uint8_t *)io->ranges;
	uint16_t status;
	int pieces;

	status = nv_soft_prp(queue->soft->mem, &queue->region_hint, prp1, prp2,
			     count * (uint32_t)sizeof(struct nvme_dsm_range), iov, &pieces);
	if (status)
		return status;
	for (int i = 0; i < pieces; i++) {
		memcpy(to, iov[i].iov_base, iov[i].iov_len);
		to += iov[i].iov_len;
	}
	/* All ranges are checked before the first one is touched. */
	for (uint32_t i = 0; i < count && !status; i++)
		status = nv_soft_io_check_range(io->ns, le64toh(io->ranges[i].slba),
						le32toh(io->ranges[i].nlb));
	io->step_count = count;
	return status;
}

static uint16_t dsm_step(struct nv_soft_io *io)
{
	unsigned int shift = io->ns->block_shift;

	/* A store that cannot deallocate has not failed: this is a hint. */
	if (io->result && io->result != -EOPNOTSUPP)
		return nv_soft_io_status(NV_STORE_DISCARD, io->result);
	while (io->step < io->step_count) {
		const struct nvme_dsm_range *range = &io->ranges[io->step++];
		uint64_t blocks = le32toh(range->nlb);

		if (blocks)
			return submit_step(io, NV_STORE_DISCARD, le64toh(range->slba) << shift,
					   blocks << shift);
	}
	return NVME_SC_SUCCESS;
}

void nv_soft_dsm_start(struct nv_soft_io *io)
{
	io->step = 0;
	start(io);
}
