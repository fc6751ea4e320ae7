/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drive_test WHAT BDF...: the driver on real (QEMU's) NVMe controllers, by way of VFIO; runs in a
 * guest, see drive.sh.
 *
 *   refused BDF       is bound to the kernel's driver: says so, and names the remedy
 *   locked BDF        with a memory limit that is too small: says so
 *   io BDF...         brings all up at once, writes and reads every namespace through every queue,
 *                     comes up again; leaves a pattern for the test to compare with the images
 *   astray BDF        commands with addresses that were never mapped
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "nvme/drv.h"
#include "nvme/vfio/vfio.h"
#include "util/compiler.h"
#include "util/time.h"

enum {
	MAX_DRIVES = 4,
	MAX_QUEUES = 4,
	IO_TIMEOUT_MS = 20000,
	DATA_PAGES = 32, /* of a large transfer */
};

#define CHECK(cond)                                                                              \
	do {                                                                                     \
		if (!(cond)) {                                                                   \
			fprintf(stderr, "%s:%d: %s: %s\n", __func__, __LINE__, #cond, err.text); \
			exit(1);                                                                 \
		}                                                                                \
	} while (0)

static struct nv_err err;
static struct nv_pool *pool;
static struct nv_mem mem;
static struct nv_vfio *vfio;

struct disk {
	struct nv_drive *drive;
	struct nv_ctrl *ctrl;
	struct nv_queue *queues[MAX_QUEUES];
	unsigned int n_queues;
};

static void disk_open(struct disk *disk, const char *bdf)
{
	struct nv_bar bar;

	memset(disk, 0, sizeof(*disk));
	CHECK(!nv_drive_open(vfio, bdf, &disk->drive, &err));
	nv_drive_bar(disk->drive, &bar);
	CHECK(!nv_ctrl_create(&bar, &mem, NULL, &disk->ctrl, &err));
	while (disk->n_queues < MAX_QUEUES &&
	       disk->n_queues < nv_ctrl_info(disk->ctrl)->max_io_queues) {
		CHECK(!nv_queue_create(disk->ctrl, 64, &disk->queues[disk->n_queues], &err));
		disk->n_queues++;
	}
	CHECK(disk->n_queues > 1);
}

static void disk_close(struct disk *disk)
{
	nv_ctrl_destroy(disk->ctrl); /* its queues, too */
	nv_drive_close(disk->drive);
}

/* Sends one command and waits for its end; its status, or -1 when none came. */
static int execute(struct nv_queue *queue, struct nv_sqe *sqe)
{
	uint64_t deadline = util_now_ns() + IO_TIMEOUT_MS * UTIL_NS_PER_MS;
	struct nv_cqe cqe;

	CHECK(!nv_queue_submit(queue, sqe));
	while (!nv_queue_poll(queue, &cqe))
		if (util_now_ns() > deadline)
			return -1;
	return nv_cqe_status(&cqe);
}

struct transfer {
	struct nv_queue *queue;
	uint32_t nsid;
	uint8_t opcode;
	uint64_t lba;
	uint32_t blocks;
	uint8_t *data; /* page-aligned, but for @offset */
	uint64_t *list; /* a page for PRPs */
};

/* Every page by its own entry, as STA writes them. */
static int transfer(const struct transfer *t, uint32_t bytes)
{
	struct nv_sqe sqe = {.opcode = t->opcode, .nsid = htole32(t->nsid)};
	uintptr_t page = (uintptr_t)t->data & ~(uintptr_t)(NV_PAGE_SIZE - 1);
	uintptr_t end = (uintptr_t)t->data + bytes;
	unsigned int n = 0;

	sqe.prp1 = htole64((uintptr_t)t->data);
	for (page += NV_PAGE_SIZE; page < end; page += NV_PAGE_SIZE)
		t->list[n++] = htole64(page);
	if (n == 1)
		sqe.prp2 = t->list[0];
	else if (n)
		sqe.prp2 = htole64((uintptr_t)t->list);
	sqe.cdw10 = htole32((uint32_t)t->lba);
	sqe.cdw11 = htole32((uint32_t)(t->lba >> 32));
	sqe.cdw12 = htole32(t->blocks - 1);
	return execute(t->queue, &sqe);
}

static void fill(uint8_t *data, uint32_t bytes, uint64_t lba, uint32_t block_bytes, uint32_t nsid)
{
	for (uint32_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)((lba + i / block_bytes) * 7 + nsid * 31 + i % 251);
}

static void write_and_read(struct transfer *t, const struct nv_ns_info *ns, uint8_t *expected)
{
	uint32_t bytes = t->blocks * ns->block_bytes;

	fill(expected, bytes, t->lba, ns->block_bytes, ns->nsid);
	memcpy(t->data, expected, bytes);
	t->opcode = nvme_cmd_write;
	CHECK(transfer(t, bytes) == 0);
	memset(t->data, 0, bytes);
	t->opcode = nvme_cmd_read;
	CHECK(transfer(t, bytes) == 0);
	CHECK(!memcmp(t->data, expected, bytes));
}

/* First and last block, and transfers that begin at every 512 bytes of a page. */
static void namespace_io(struct disk *disk, const struct nv_ns_info *ns)
{
	uint8_t *expected = malloc(DATA_PAGES * NV_PAGE_SIZE);
	uint8_t *data = nv_mem_zmalloc(&mem, (DATA_PAGES + 1) * NV_PAGE_SIZE, NV_PAGE_SIZE, NULL);
	uint64_t *list = nv_mem_zmalloc(&mem, NV_PAGE_SIZE, NV_PAGE_SIZE, NULL);
	struct transfer t = {.nsid = ns->nsid, .list = list};
	struct nv_sqe flush = {.opcode = nvme_cmd_flush, .nsid = htole32(ns->nsid)};

	CHECK(expected && data && list);
	for (unsigned int q = 0; q < disk->n_queues; q++) {
		t.queue = disk->queues[q];
		t.data = data;
		t.blocks = 1;
		t.lba = 0;
		write_and_read(&t, ns, expected);
		t.lba = ns->nsze - 1;
		write_and_read(&t, ns, expected);
		for (uint32_t offset = 0; offset < NV_PAGE_SIZE; offset += 512) {
			t.data = data + offset;
			t.blocks = DATA_PAGES * NV_PAGE_SIZE / ns->block_bytes;
			t.lba = (q * 8ull + offset / 512) * t.blocks + 1;
			write_and_read(&t, ns, expected);
		}
		/* Behind the end: an error, not a hang, and the queue goes on. */
		t.lba = ns->nsze;
		t.blocks = 1;
		CHECK((transfer(&t, ns->block_bytes) & NV_SC_CODE_MASK) == NVME_SC_LBA_RANGE);
		CHECK(execute(t.queue, &flush) == 0);
	}
	nv_mem_free(&mem, list);
	nv_mem_free(&mem, data);
	free(expected);
}

static void disk_io(struct disk *disk)
{
	const struct nv_ctrl_info *info = nv_ctrl_info(disk->ctrl);
	uint32_t ids[16];
	int n = nv_ctrl_active_ns(disk->ctrl, 0, ids, UTIL_ARRAY_SIZE(ids));

	CHECK(n > 0);
	printf("%s: serial %s, %u queues\n", nv_drive_bdf(disk->drive), info->serial,
	       info->max_io_queues);
	for (int i = 0; i < n; i++) {
		struct nv_ns_info ns;

		CHECK(!nv_ctrl_ns_info(disk->ctrl, ids[i], &ns));
		printf("  namespace %u: %" PRIu64 " blocks of %u bytes\n", ids[i], ns.nsze,
		       ns.block_bytes);
		namespace_io(disk, &ns);
	}
}

static void test_io(char **bdfs, int n)
{
	struct disk disks[MAX_DRIVES];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < n; i++)
			disk_open(&disks[i], bdfs[i]);
		for (int i = 0; i < n; i++)
			disk_io(&disks[i]);
		for (int i = 0; i < n; i++)
			disk_close(&disks[i]);
	}
}

/* A drive's view ends where the pool ends. */
static void test_astray(const char *bdf)
{
	/* Where the IOMMU could reach, and the pool is not. */
	uint8_t *secret =
		mmap((void *)(256ul << 30), NV_PAGE_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED_NOREPLACE, -1, 0);
	uint8_t *data = nv_mem_zmalloc(&mem, NV_PAGE_SIZE, NV_PAGE_SIZE, NULL);
	struct transfer t = {.nsid = 1, .blocks = 1, .opcode = nvme_cmd_read};
	struct nv_ns_info ns;
	struct disk disk;

	CHECK(secret != MAP_FAILED && data);
	memset(secret, 0x5a, NV_PAGE_SIZE);
	disk_open(&disk, bdf);
	CHECK(!nv_ctrl_ns_info(disk.ctrl, 1, &ns));
	t.queue = disk.queues[0];
	t.data = data;
	t.opcode = nvme_cmd_write;
	memset(data, 0x11, NV_PAGE_SIZE);
	CHECK(transfer(&t, ns.block_bytes) == 0);
	/* A read to memory of this process that is not the pool's. */
	t.opcode = nvme_cmd_read;
	t.data = secret;
	(void)transfer(&t, ns.block_bytes);
	for (unsigned int i = 0; i < NV_PAGE_SIZE; i++)
		CHECK(secret[i] == 0x5a);
	/* A write from there: what lands on the medium is not what lies there. */
	t.opcode = nvme_cmd_write;
	(void)transfer(&t, ns.block_bytes);
	t.opcode = nvme_cmd_read;
	t.data = data;
	CHECK(transfer(&t, ns.block_bytes) == 0);
	CHECK(data[0] != 0x5a);
	disk_close(&disk);
	nv_mem_free(&mem, data);
	munmap(secret, NV_PAGE_SIZE);
}

static void test_refused(const char *bdf, int rc, const char *says)
{
	struct nv_drive *drive;

	CHECK(nv_drive_open(vfio, bdf, &drive, &err) == rc);
	printf("%s\n", err.text);
	CHECK(strstr(err.text, says));
}

static void test_locked(const char *bdf)
{
	const struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
	void *data = nv_mem_zmalloc(&mem, 4 << 20, 0, NULL);

	CHECK(data && !setrlimit(RLIMIT_MEMLOCK, &limit));
	test_refused(bdf, -ENOMEM, "locked");
	nv_mem_free(&mem, data);
}

int main(int argc, char **argv)
{
	struct nv_pool_stats stats;

	CHECK(argc > 2 && argc - 2 <= MAX_DRIVES);
	CHECK(!nv_pool_create(&pool));
	nv_pool_allocator(pool, &mem);
	CHECK(!nv_vfio_create(pool, &vfio));
	if (!strcmp(argv[1], "io"))
		test_io(argv + 2, argc - 2);
	else if (!strcmp(argv[1], "astray"))
		test_astray(argv[2]);
	else if (!strcmp(argv[1], "locked"))
		test_locked(argv[2]);
	else if (!strcmp(argv[1], "refused"))
		test_refused(argv[2], -EBUSY, "stactl drive bind");
	else
		return 2;
	nv_vfio_destroy(vfio);
	nv_pool_get_stats(pool, &stats);
	CHECK(!stats.bytes);
	nv_pool_destroy(pool);
	return 0;
}
