/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pairs: their memory and doorbells, the two ring positions, and the four admin commands
 * that create and delete them.
 */
#include "nvme/drv_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t doorbell_offset(const struct nv_ctrl *ctrl, uint16_t qid, unsigned int is_cq)
{
	return NV_DOORBELL_BASE + (2u * qid + is_cq) * (4u << NVME_CAP_DSTRD(ctrl->cap));
}

int nv_queue_init(struct nv_queue *queue, struct nv_ctrl *ctrl)
{
	size_t sq_bytes = (size_t)queue->entries << NV_SQE_SHIFT;
	size_t cq_bytes = (size_t)queue->entries << NV_CQE_SHIFT;

	queue->ctrl = ctrl;
	queue->phase = 1;
	queue->sq_tail_offset = doorbell_offset(ctrl, queue->qid, 0);
	queue->cq_head_offset = doorbell_offset(ctrl, queue->qid, 1);
	queue->sq_tail_doorbell = ctrl->bar.ops->doorbell(ctrl->bar.arg, queue->sq_tail_offset);
	queue->cq_head_doorbell = ctrl->bar.ops->doorbell(ctrl->bar.arg, queue->cq_head_offset);
	if (!queue->sq_tail_doorbell || !queue->cq_head_doorbell)
		return -ENODEV;
	queue->sq = nv_mem_zmalloc(&ctrl->mem, sq_bytes, NV_PAGE_SIZE, &queue->sq_phys);
	if (!queue->sq)
		return -ENOMEM;
	queue->cq = nv_mem_zmalloc(&ctrl->mem, cq_bytes, NV_PAGE_SIZE, &queue->cq_phys);
	if (!queue->cq)
		goto free_sq;
	return 0;

free_sq:
	nv_mem_free(&ctrl->mem, queue->sq);
	queue->sq = NULL;
	return -ENOMEM;
}

void nv_queue_fini(struct nv_queue *queue)
{
	if (!queue->ctrl)
		return;
	nv_mem_free(&queue->ctrl->mem, queue->sq);
	nv_mem_free(&queue->ctrl->mem, queue->cq);
}

static int queue_command(struct nv_ctrl *ctrl, uint8_t opcode, const struct nv_queue *queue,
			 uint32_t cdw11)
{
	struct nv_sqe cmd = {.opcode = opcode};
	uint16_t status;
	int rc;

	cmd.cdw10 = htole32(queue->qid | (queue->entries - 1u) << 16);
	if (opcode == nvme_admin_create_sq)
		cmd.prp1 = htole64(queue->sq_phys);
	else if (opcode == nvme_admin_create_cq)
		cmd.prp1 = htole64(queue->cq_phys);
	else
		cmd.cdw10 = htole32(queue->qid);
	cmd.cdw11 = htole32(cdw11);
	rc = nv_ctrl_admin(ctrl, &cmd, NULL, 0, &status, NULL);
	return rc ? rc : (status ? -EIO : 0);
}

static int create_at_controller(struct nv_ctrl *ctrl, struct nv_queue *queue)
{
	const uint32_t contiguous = 1;
	int rc;

	/* Polled, so without an interrupt. */
	rc = queue_command(ctrl, nvme_admin_create_cq, queue, contiguous);
	if (rc)
		return rc;
	rc = queue_command(ctrl, nvme_admin_create_sq, queue,
			   contiguous | (uint32_t)queue->qid << 16);
	if (rc)
		(void)queue_command(ctrl, nvme_admin_delete_cq, queue, 0);
	return rc;
}

static uint16_t free_qid(const struct nv_ctrl *ctrl)
{
	for (uint16_t qid = 1; qid <= ctrl->info.max_io_queues; qid++)
		if (!ctrl->queues[qid])
			return qid;
	return 0;
}

static uint16_t fit_entries(const struct nv_ctrl *ctrl, uint16_t entries)
{
	uint16_t fit = ctrl->info.max_entries;

	while (fit > entries)
		fit >>= 1;
	return fit;
}

int nv_queue_create(struct nv_ctrl *ctrl, uint16_t entries, struct nv_queue **ret,
		    struct nv_err *err)
{
	struct nv_queue *queue;
	uint16_t qid = free_qid(ctrl);
	int rc;

	if (entries < 2)
		return nv_err(err, -EINVAL, "an I/O queue needs at least 2 entries");
	if (!qid)
		return nv_err(err, -ENOSPC, "controller has no I/O queue left (it granted %u)",
			      ctrl->info.max_io_queues);
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return nv_err(err, -ENOMEM, "out of memory");
	queue->qid = qid;
	queue->entries = fit_entries(ctrl, entries);
	rc = nv_queue_init(queue, ctrl);
	if (rc) {
		nv_err(err, rc, "no memory or doorbell for I/O queue %u", qid);
		goto free_queue;
	}
	rc = create_at_controller(ctrl, queue);
	if (rc) {
		nv_err(err, rc, "controller refused I/O queue %u of %u entries: %s", qid,
		       queue->entries, strerror(-rc));
		goto fini_queue;
	}
	ctrl->queues[qid] = queue;
	*ret = queue;
	return 0;

fini_queue:
	if (ctrl->dead) {
		/* It may have taken the queue and still write to it: kept until its reset. */
		ctrl->queues[qid] = queue;
		return rc;
	}
	nv_queue_fini(queue);
free_queue:
	free(queue);
	return rc;
}

void nv_queue_destroy(struct nv_queue *queue)
{
	struct nv_ctrl *ctrl;

	if (!queue)
		return;
	ctrl = queue->ctrl;
	(void)queue_command(ctrl, nvme_admin_delete_sq, queue, 0);
	(void)queue_command(ctrl, nvme_admin_delete_cq, queue, 0);
	if (ctrl->dead)
		return; /* memory stays with the controller until nv_ctrl_destroy() has reset it */
	ctrl->queues[queue->qid] = NULL;
	nv_queue_fini(queue);
	free(queue);
}

int nv_queue_submit(struct nv_queue *queue, const struct nv_sqe *sqe)
{
	uint16_t mask = queue->entries - 1;
	uint16_t next = (queue->sq_tail + 1) & mask;

	if (next == queue->sq_head)
		return -EAGAIN;
	queue->sq[queue->sq_tail] = *sqe;
	queue->sq_tail = next;
	nv_bar_write32(&queue->ctrl->bar, queue->sq_tail_offset, next);
	return 0;
}

bool nv_queue_poll(struct nv_queue *queue, struct nv_cqe *ret)
{
	struct nv_cqe *cqe = &queue->cq[queue->cq_head];
	uint16_t status = le16toh(__atomic_load_n(&cqe->status, __ATOMIC_ACQUIRE));

	if ((status & NV_CQE_PHASE) != queue->phase)
		return false;
	*ret = *cqe;
	queue->sq_head = le16toh(ret->sq_head) & (queue->entries - 1);
	if (++queue->cq_head == queue->entries) {
		queue->cq_head = 0;
		queue->phase ^= 1;
	}
	nv_bar_write32(&queue->ctrl->bar, queue->cq_head_offset, queue->cq_head);
	return true;
}
