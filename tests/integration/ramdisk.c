/* SPDX-License-Identifier: Apache-2.0 */
#include "ramdisk.h"

#include <endian.h>
#include <nvme/types.h>
#include <stdlib.h>
#include <string.h>

#include <doca_softsta.h>

enum {
	PAGE = 4096
};

static void *page_of(const struct ramdisk_sqe *sqe, uint32_t n)
{
	uint32_t pages = (((le32toh(sqe->cdw12) & 0xffff) + 1) * RAMDISK_BLOCK + PAGE - 1) / PAGE;
	const uint64_t *list = (void *)(uintptr_t)le64toh(sqe->prp2);

	if (n == 0)
		return (void *)(uintptr_t)le64toh(sqe->prp1);
	return pages == 2 ? (void *)(uintptr_t)list : (void *)(uintptr_t)le64toh(list[n - 1]);
}

static uint16_t execute(struct ramdisk *disk, const struct ramdisk_sqe *sqe)
{
	uint32_t lba = le32toh(sqe->cdw10), blocks = (le32toh(sqe->cdw12) & 0xffff) + 1;
	size_t bytes = (size_t)blocks * RAMDISK_BLOCK, offset = (size_t)lba * RAMDISK_BLOCK;
	uint16_t failure = atomic_load(&disk->failure);

	if (sqe->opcode == nvme_cmd_flush)
		return NVME_SC_SUCCESS;
	if (sqe->opcode != nvme_cmd_read && sqe->opcode != nvme_cmd_write)
		return NVME_SC_INVALID_OPCODE | NVME_SC_DNR;
	if (failure)
		return failure;
	if (sqe->cdw11 || lba >= disk->blocks || blocks > disk->blocks - lba)
		return NVME_SC_LBA_RANGE | NVME_SC_DNR;
	for (size_t at = 0; at < bytes; at += PAGE) {
		size_t n = bytes - at < PAGE ? bytes - at : PAGE;
		void *page = page_of(sqe, (uint32_t)(at / PAGE));

		if (sqe->opcode == nvme_cmd_read)
			memcpy(page, disk->data + offset + at, n);
		else
			memcpy(disk->data + offset + at, page, n);
	}
	return NVME_SC_SUCCESS;
}

static void on_doorbell(void *arg)
{
	(void)arg;
}

static unsigned int on_poll(void *arg)
{
	struct ramdisk_queue *q = arg;
	uint32_t tail = le32toh(q->doorbells[0]);
	unsigned int n = 0;

	atomic_store(&q->num_fetched, (tail - q->head) % RAMDISK_RING);
	if (atomic_load(&q->disk->is_held))
		return 0;
	for (; q->head != tail; n++) {
		const struct ramdisk_sqe *sqe = &q->sq[q->head];
		struct ramdisk_cqe *cqe = &q->cq[q->cq_tail];
		uint16_t status = execute(q->disk, sqe);

		*cqe = (struct ramdisk_cqe){.cid = sqe->cid,
					    .status = htole16((uint16_t)(status << 1 | q->phase))};
		q->head = (q->head + 1) % RAMDISK_RING;
		q->cq_tail = (q->cq_tail + 1) % RAMDISK_RING;
		if (!q->cq_tail)
			q->phase ^= 1;
	}
	return n;
}

static const struct doca_softsta_queue_ops queue_ops = {on_doorbell, on_poll};

doca_error_t ramdisk_init(struct ramdisk *disk, uint32_t blocks)
{
	*disk = (struct ramdisk){.blocks = blocks, .data = calloc(blocks, RAMDISK_BLOCK)};
	return disk->data ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

void ramdisk_fini(struct ramdisk *disk)
{
	free(disk->data);
}

static doca_error_t make_map(struct doca_dev *dev, void *addr, size_t len, struct doca_mmap **map)
{
	doca_error_t rc = doca_mmap_create(map);

	if (rc == DOCA_SUCCESS)
		rc = doca_mmap_add_dev(*map, dev);
	if (rc == DOCA_SUCCESS)
		rc = doca_mmap_set_memrange(*map, addr, len);
	if (rc == DOCA_SUCCESS)
		rc = doca_mmap_set_permissions(*map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	return rc == DOCA_SUCCESS ? doca_mmap_start(*map) : rc;
}

doca_error_t ramdisk_open(struct ramdisk *disk, struct doca_dev *dev, struct doca_sta_be_handle *be,
			  struct ramdisk_queue **queue, struct doca_sta_be_q_handle **handle)
{
	struct ramdisk_queue *q =
		aligned_alloc(PAGE, (sizeof(*q) + PAGE - 1) & ~(size_t)(PAGE - 1));
	doca_error_t rc;

	if (!q)
		return DOCA_ERROR_NO_MEMORY;
	memset(q, 0, sizeof(*q));
	q->phase = 1;
	q->disk = disk;
	*queue = q;
	rc = make_map(dev, q->sq, sizeof(q->sq), &q->maps[0]);
	if (rc == DOCA_SUCCESS)
		rc = make_map(dev, q->cq, sizeof(q->cq), &q->maps[1]);
	if (rc == DOCA_SUCCESS)
		rc = make_map(dev, q->doorbells, sizeof(q->doorbells), &q->maps[2]);
	if (rc == DOCA_SUCCESS && disk)
		rc = doca_softsta_queue_attach(&q->doorbells[0], &queue_ops, -1, q);
	return rc == DOCA_SUCCESS ? doca_sta_be_add_queue(be, q->maps[0], q->maps[2], 0, q->maps[1],
							  q->maps[2], 4, handle)
				  : rc;
}

doca_error_t ramdisk_close(struct ramdisk_queue *q)
{
	doca_error_t rc = q->disk ? doca_softsta_queue_detach(&q->doorbells[0]) : DOCA_SUCCESS;

	for (int i = 0; i < 3 && rc == DOCA_SUCCESS; i++)
		rc = doca_mmap_destroy(q->maps[i]);
	free(q);
	return rc;
}
