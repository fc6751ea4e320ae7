/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file as an NVMe controller in this process, with one I/O queue pair. What is called by way of
 * queue_ops runs on the thread of the execution unit that owns the queue, and nowhere else.
 */
#include <fcntl.h>
#include <nvme/types.h>
#include <stdlib.h>
#include <unistd.h>

#include <doca_mmap.h>
#include <doca_softsta.h>
#include <doca_sta_be.h>

#include "example.h"

enum {
	PAGE = 4096,
	ENTRIES = 256,
	FUA = 1 << 30,
};

struct disk {
	_Alignas(PAGE) struct sqe sq[ENTRIES];
	struct cqe cq[ENTRIES];
	uint32_t doorbells[2]; /* submission tail, completion head */
	uint32_t sq_head, cq_tail;
	uint16_t phase;
	int fd;
	uint64_t num_blocks;
	struct doca_mmap *maps[3];
};

/* Moves @n bytes at the offset @at of the file; each piece is part of one page. */
static bool move(const struct disk *disk, bool is_write, uint64_t address, size_t n, off_t at)
{
	void *memory = (void *)(uintptr_t)address;

	return (is_write ? pwrite(disk->fd, memory, n, at) : pread(disk->fd, memory, n, at)) ==
	       (ssize_t)n;
}

static uint16_t read_or_write(const struct disk *disk, const struct sqe *sqe)
{
	uint64_t lba = sqe->cdw10 | (uint64_t)sqe->cdw11 << 32, blocks = (sqe->cdw12 & 0xffff) + 1;
	uint64_t left = blocks * EXAMPLE_BLOCK_BYTES, page = sqe->data[0], n = PAGE - page % PAGE;
	const uint64_t *list = left > n + PAGE ? (void *)(uintptr_t)sqe->data[1] : &sqe->data[1];
	bool is_write = sqe->opcode == nvme_cmd_write;
	off_t at = (off_t)(lba * EXAMPLE_BLOCK_BYTES);

	if (lba >= disk->num_blocks || blocks > disk->num_blocks - lba)
		return NVME_SC_LBA_RANGE | NVME_SC_DNR;
	for (n = n < left ? n : left; left; n = left < PAGE ? left : PAGE) {
		if (!move(disk, is_write, page, n, at))
			return NVME_SCT_MEDIA << 8 |
			       (is_write ? NVME_SC_WRITE_FAULT : NVME_SC_READ_ERROR);
		at += (off_t)n;
		left -= n;
		page = left ? *list++ : 0;
	}
	if (is_write && sqe->cdw12 & FUA && fdatasync(disk->fd))
		return NVME_SCT_MEDIA << 8 | NVME_SC_WRITE_FAULT;
	return NVME_SC_SUCCESS;
}

static uint16_t execute(const struct disk *disk, const struct sqe *sqe)
{
	switch (sqe->opcode) {
	case nvme_cmd_read:
	case nvme_cmd_write:
		return read_or_write(disk, sqe);
	case nvme_cmd_flush:
		return fdatasync(disk->fd) ? NVME_SC_INTERNAL : NVME_SC_SUCCESS;
	default:
		return NVME_SC_INVALID_OPCODE | NVME_SC_DNR;
	}
}

/* Called when something was submitted; poll() follows. */
static void on_doorbell(void *arg)
{
	(void)arg;
}

static unsigned int on_poll(void *arg)
{
	struct disk *disk = arg;
	unsigned int n = 0;

	for (; disk->sq_head != disk->doorbells[0]; n++) {
		const struct sqe *sqe = &disk->sq[disk->sq_head];
		uint16_t status = execute(disk, sqe);

		disk->sq_head = (disk->sq_head + 1) % ENTRIES;
		disk->cq[disk->cq_tail] =
			(struct cqe){.sqhd = (uint16_t)disk->sq_head,
				     .cid = sqe->cid,
				     .status = (uint16_t)(status << 1 | disk->phase)};
		disk->cq_tail = (disk->cq_tail + 1) % ENTRIES;
		disk->phase ^= !disk->cq_tail;
	}
	return n;
}

static const struct doca_softsta_queue_ops queue_ops = {on_doorbell, on_poll};

static struct doca_mmap *map(struct doca_dev *dev, void *memory, size_t bytes)
{
	struct doca_mmap *map;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, memory, bytes));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_start(map));
	return map;
}

void disk_open(struct target *t, const char *path)
{
	struct disk *disk = aligned_alloc(PAGE, sizeof(*disk));
	off_t bytes;

	must(disk ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, path);
	*disk = (struct disk){.phase = 1, .fd = open(path, O_RDWR | O_CLOEXEC)};
	bytes = lseek(disk->fd, 0, SEEK_END); /* of a block device as well */
	must(bytes > 0 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED, path);
	disk->num_blocks = (uint64_t)bytes / EXAMPLE_BLOCK_BYTES;
	disk->maps[0] = map(t->dev, disk->sq, sizeof(disk->sq));
	disk->maps[1] = map(t->dev, disk->cq, sizeof(disk->cq));
	disk->maps[2] = map(t->dev, disk->doorbells, sizeof(disk->doorbells));
	MUST(doca_softsta_queue_attach(&disk->doorbells[0], &queue_ops, -1, disk));
	MUST(doca_sta_be_add_queue(t->backend, disk->maps[0], disk->maps[2], 0, disk->maps[1],
				   disk->maps[2], sizeof(disk->doorbells[0]), &t->queue));
	t->disk = disk;
	t->ctrl.num_blocks = disk->num_blocks;
}

void disk_close(struct disk *disk)
{
	MUST(doca_softsta_queue_detach(&disk->doorbells[0]));
	for (int i = 0; i < 3; i++)
		MUST(doca_mmap_destroy(disk->maps[i]));
	close(disk->fd);
	free(disk);
}
