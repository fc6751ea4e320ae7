/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See fixture.h.
 */
#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void rig_init(struct rig *rig, struct nv_store *store, uint16_t entries)
{
	const struct nv_soft_ns_conf ns = {.nsid = 1};
	struct nv_soft_conf conf = {.serial = "TEST0001"};
	struct nv_err err = {0};

	memset(rig, 0, sizeof(*rig));
	assert_int_equal(nv_soft_mem_create(NULL, &rig->mem), 0);
	nv_soft_mem_allocator(rig->mem, &rig->allocator);
	conf.mem = rig->mem;
	assert_int_equal(nv_soft_create(&conf, &rig->soft, &err), 0);
	assert_int_equal(nv_soft_add_ns(rig->soft, &ns, store, &err), 0);
	nv_soft_bar(rig->soft, &rig->bar);
	assert_int_equal(nv_ctrl_create(&rig->bar, &rig->allocator, NULL, &rig->ctrl, &err), 0);
	assert_int_equal(nv_queue_create(rig->ctrl, entries, &rig->queue, &err), 0);
	assert_int_equal(nv_soft_companion(rig->soft, rig->queue->qid, &rig->companion), 0);
}

void rig_fini(struct rig *rig)
{
	nv_queue_destroy(rig->queue);
	nv_ctrl_destroy(rig->ctrl);
	nv_soft_destroy(rig->soft);
	nv_soft_mem_destroy(rig->mem);
}

void *rig_alloc(struct rig *rig, size_t bytes)
{
	void *ptr = nv_mem_zmalloc(&rig->allocator, bytes, NV_PAGE_SIZE, NULL);

	assert_non_null(ptr);
	return ptr;
}

void rig_free(struct rig *rig, void *ptr)
{
	nv_mem_free(&rig->allocator, ptr);
}

struct nv_store *make_ram(uint64_t blocks, uint32_t block_bytes)
{
	struct nv_store *store;

	assert_int_equal(nv_store_ram_create(blocks * block_bytes, block_bytes, &store, NULL), 0);
	return store;
}

void set_prps(struct nv_sqe *sqe, void *buf, uint32_t bytes, uint64_t *list)
{
	uint64_t addr = (uintptr_t)buf;
	uint32_t first = NV_PAGE_SIZE - (uint32_t)(addr & (NV_PAGE_SIZE - 1));
	uint32_t pages;
	size_t slot = 0;

	sqe->prp1 = htole64(addr);
	sqe->prp2 = 0;
	if (bytes <= first)
		return;
	addr += first;
	pages = (bytes - first + NV_PAGE_SIZE - 1) / NV_PAGE_SIZE;
	if (pages == 1) {
		sqe->prp2 = htole64(addr);
		return;
	}
	sqe->prp2 = htole64((uintptr_t)list);
	while (pages--) {
		list[slot++] = htole64(addr);
		addr += NV_PAGE_SIZE;
	}
	assert_true(slot <= NV_PAGE_SIZE / sizeof(uint64_t));
}

struct nv_sqe make_rw(uint8_t opcode, uint64_t slba, uint32_t blocks, uint32_t block_bytes,
		      void *buf, uint64_t *list)
{
	struct nv_sqe sqe = {.opcode = opcode, .nsid = htole32(1)};

	sqe.cdw10 = htole32((uint32_t)slba);
	sqe.cdw11 = htole32((uint32_t)(slba >> 32));
	sqe.cdw12 = htole32(blocks - 1);
	if (buf)
		set_prps(&sqe, buf, blocks * block_bytes, list);
	return sqe;
}

/* As a sleeping execution unit does it: the fd says when there is something to find. */
struct nv_cqe wait_cqe(struct rig *rig)
{
	struct pollfd pfd = {.fd = rig->companion.fd, .events = POLLIN};
	struct nv_cqe cqe;

	for (int round = 0; round < 10; round++) {
		if (nv_queue_poll(rig->queue, &cqe))
			return cqe;
		(void)poll(&pfd, 1, 2000);
		rig->companion.poll(rig->companion.arg);
	}
	fail_msg("no completion came");
	return (struct nv_cqe){0};
}

uint16_t run(struct rig *rig, struct nv_sqe sqe)
{
	struct nv_cqe cqe;

	sqe.cid = htole16(++rig->next_cid);
	assert_int_equal(nv_queue_submit(rig->queue, &sqe), 0);
	cqe = wait_cqe(rig);
	assert_int_equal(cqe.cid, sqe.cid);
	assert_int_equal(le16toh(cqe.sq_id), rig->queue->qid);
	return nv_cqe_status(&cqe);
}

uint16_t admin(struct rig *rig, struct nv_sqe cmd, void *data, size_t bytes, uint32_t *dw0)
{
	uint16_t status = 0xffff;

	assert_int_equal(nv_ctrl_admin(rig->ctrl, &cmd, data, bytes, &status, dw0), 0);
	return status;
}

/* ---- the page cache ----------------------------------------------------------------------- */

/* cachestat(2), Linux 6.5. */
int dirty_pages(const char *path)
{
#ifndef SYS_cachestat
#define SYS_cachestat 451 /* the same number on every architecture */
#endif
	struct {
		uint64_t cache, dirty, writeback, evicted, recently_evicted;
	} stat = {0};
	struct {
		uint64_t off, len;
	} range = {0};
	int fd = open(path, O_RDONLY);
	long rc;

	assert_true(fd >= 0);
	rc = syscall(SYS_cachestat, fd, &range, &stat, 0);
	close(fd);
	return rc ? -1 : (int)(stat.dirty + stat.writeback);
}

/* ---- temporary files ---------------------------------------------------------------------- */

static char temp_dir[] = "/tmp/nv-test-XXXXXX";
static bool have_temp_dir;

static void remove_temp_dir(void)
{
	DIR *dir = opendir(temp_dir);
	struct dirent *entry;
	char path[512];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", temp_dir, entry->d_name);
		if (unlink(path))
			rmdir(path);
	}
	if (dir)
		closedir(dir);
	rmdir(temp_dir);
}

const char *temp_path(const char *name)
{
	static char paths[4][512];
	static unsigned int turn;
	char *path = paths[turn++ % 4];

	if (!have_temp_dir) {
		assert_non_null(mkdtemp(temp_dir));
		have_temp_dir = true;
		atexit(remove_temp_dir);
	}
	snprintf(path, sizeof(paths[0]), "%s/%s", temp_dir, name);
	return path;
}
