/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What durability rests on. strace does not see what goes through an io_uring, so the entries are
 * looked at where they are handed to the kernel: a Write with FUA carries RWF_DSYNC, a Flush is an
 * fdatasync. Then a process that is killed with writes completed and others not: what was flushed,
 * or written with FUA, is in the file.
 */
#include "fixture.h"

#include <fcntl.h>
#include <liburing.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1u << 20)
#define FUA (1u << 30)

/* ---- what the kernel is asked for --------------------------------------------------------- */

static struct io_uring_sqe seen[64];
static unsigned int seen_count;

int __real_io_uring_submit(struct io_uring *ring);
int __wrap_io_uring_submit(struct io_uring *ring);

/* The linker puts this before liburing's: --wrap in meson.build. */
int __wrap_io_uring_submit(struct io_uring *ring)
{
	for (unsigned int at = ring->sq.sqe_head; at != ring->sq.sqe_tail; at++)
		if (seen_count < UTIL_ARRAY_SIZE(seen))
			seen[seen_count++] = ring->sq.sqes[at & ring->sq.ring_mask];
	return __real_io_uring_submit(ring);
}

struct disk {
	struct rig rig;
	const char *path;
	uint8_t *buf;
};

/* False: this system has no io_uring, and the engine does without. */
static bool disk_open(struct disk *d, enum nv_store_direct direct)
{
	const struct nv_store_file_conf conf = {.path = temp_path("power"),
						.size_bytes = MIB,
						.direct = direct};
	struct nv_store *store;
	bool has_ring;

	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0);
	has_ring = !strstr(store->note, "synchronous I/O");
	rig_init(&d->rig, store, 8);
	d->path = conf.path;
	d->buf = rig_alloc(&d->rig, 2 * NV_PAGE_SIZE);
	seen_count = 0;
	return has_ring;
}

static void disk_close(struct disk *d)
{
	rig_free(&d->rig, d->buf);
	rig_fini(&d->rig);
	unlink(d->path);
}

/* One command; what it asked the kernel for is in seen[]. */
static void command(struct disk *d, struct nv_sqe sqe, uint32_t dw12)
{
	seen_count = 0;
	sqe.cdw12 |= htole32(dw12);
	assert_int_equal(run(&d->rig, sqe), 0);
	assert_true(seen_count > 0);
}

static void check_entries(enum nv_store_direct direct)
{
	const struct nv_sqe flush = {.opcode = nvme_cmd_flush, .nsid = htole32(1)};
	struct nv_sqe cache_off = {.opcode = nvme_admin_set_features};
	struct disk d;

	if (!disk_open(&d, direct)) {
		disk_close(&d);
		print_message("no io_uring here\n");
		skip();
	}
	command(&d, make_rw(nvme_cmd_write, 0, 8, 512, d.buf, NULL), 0);
	assert_int_equal(seen[0].opcode, IORING_OP_WRITE);
	assert_int_equal(seen[0].rw_flags, 0);
	command(&d, make_rw(nvme_cmd_write, 0, 8, 512, d.buf, NULL), FUA);
	assert_int_equal(seen[0].opcode, IORING_OP_WRITE);
	assert_int_equal(seen[0].rw_flags, RWF_DSYNC);
	command(&d, flush, 0);
	assert_int_equal(seen_count, 1);
	assert_int_equal(seen[0].opcode, IORING_OP_FSYNC);
	assert_int_equal(seen[0].fsync_flags, IORING_FSYNC_DATASYNC);
	/* Zeroes have no such flag: an fdatasync follows. */
	command(&d, make_rw(nvme_cmd_write_zeroes, 0, 8, 512, NULL, NULL), FUA);
	assert_true(seen_count >= 2);
	assert_int_equal(seen[seen_count - 1].opcode, IORING_OP_FSYNC);
	/* The cache is switched off: each write is like one with FUA. */
	cache_off.cdw10 = htole32(NVME_FEAT_FID_VOLATILE_WC);
	assert_int_equal(admin(&d.rig, cache_off, NULL, 0, NULL), 0);
	command(&d, make_rw(nvme_cmd_write, 0, 8, 512, d.buf, NULL), 0);
	assert_int_equal(seen[0].rw_flags, RWF_DSYNC);
	disk_close(&d);
}

static void entries_with_the_page_cache(void **state)
{
	(void)state;
	check_entries(NV_STORE_DIRECT_OFF);
}

static void entries_with_o_direct(void **state)
{
	(void)state;
	check_entries(NV_STORE_DIRECT_AUTO);
}

/* ---- a process that is killed ------------------------------------------------------------- */

static void write_byte(struct disk *d, uint64_t slba, uint8_t byte, uint32_t dw12)
{
	struct nv_sqe sqe = make_rw(nvme_cmd_write, slba, 8, 512, d->buf, NULL);

	memset(d->buf, byte, NV_PAGE_SIZE);
	sqe.cdw12 |= htole32(dw12);
	if (run(&d->rig, sqe))
		_exit(1);
}

/* Never returns: killed with writes completed, and one submitted and not waited for. */
static void live_and_die(void)
{
	const struct nv_sqe flush = {.opcode = nvme_cmd_flush, .nsid = htole32(1)};
	struct nv_sqe last;
	struct disk d;

	(void)disk_open(&d, NV_STORE_DIRECT_AUTO);
	write_byte(&d, 0, 0xa1, FUA);
	write_byte(&d, 8, 0xb2, 0);
	write_byte(&d, 16, 0xb3, 0);
	if (run(&d.rig, flush))
		_exit(1);
	write_byte(&d, 24, 0xc4, 0);
	last = make_rw(nvme_cmd_write, 0, 8, 512, d.buf + NV_PAGE_SIZE, NULL);
	last.cdw10 = htole32(32);
	(void)nv_queue_submit(d.rig.queue, &last);
	(void)kill(getpid(), SIGKILL);
}

static void expect_block(int fd, uint64_t slba, uint8_t byte)
{
	uint8_t page[NV_PAGE_SIZE], want[NV_PAGE_SIZE];

	memset(want, byte, sizeof(want));
	assert_int_equal(pread(fd, page, sizeof(page), (off_t)slba * 512), sizeof(page));
	assert_memory_equal(page, want, sizeof(page));
}

static void killed(void **state)
{
	const char *path = temp_path("power");
	int status = 0;
	pid_t child;
	int fd;

	(void)state;
	child = fork();
	if (child == 0) {
		live_and_die();
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	expect_block(fd, 0, 0xa1);
	expect_block(fd, 8, 0xb2);
	expect_block(fd, 16, 0xb3);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_with_the_page_cache),
		cmocka_unit_test(entries_with_o_direct),
		cmocka_unit_test(killed),
	};

	return cmocka_run_group_tests_name("nvme/power", tests, NULL, NULL);
}
