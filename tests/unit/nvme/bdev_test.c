/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block devices: what sysfs says of them, on a made-up one, and real ones where the system lets us
 * make loop devices (root): identity, read-only devices, zeroes, discards, and the note for a file
 * that cannot be written.
 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvme/soft/store_priv.h"
#include "group.h"

#define MIB (1u << 20)

/* ---- a made-up sysfs ---------------------------------------------------------------------- */

static char root[] = "/tmp/nv-sysfs-XXXXXX";

static void make_dirs(const char *path)
{
	char full[256];

	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(full, sizeof(full), "%s/%.*s", root, (int)(p - path), path);
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
	}
}

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	make_dirs(path);
	snprintf(full, sizeof(full), "%s/%s", root, path);
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_root(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	put("dev/block/8:0/queue/write_cache", "write back\n");
	put("dev/block/8:0/queue/physical_block_size", "4096\n");
	put("dev/block/8:0/queue/minimum_io_size", "65536\n");
	put("dev/block/8:0/queue/optimal_io_size", "262144\n");
	put("dev/block/8:0/queue/discard_granularity", "2097152\n");
	put("dev/block/8:0/queue/chunk_sectors", "256\n");
	put("dev/block/8:0/queue/write_zeroes_max_bytes", "4294966784000\n");
	put("dev/block/8:0/8:1/partition", "1\n");
	put("dev/block/8:16/queue/write_cache", "write through\n");
	put("dev/block/8:16/queue/physical_block_size", "512\n");
	put("dev/block/8:16/queue/minimum_io_size", "nonsense\n");
	put("dev/block/8:16/queue/optimal_io_size", "99999999999\n");
	put("dev/block/8:16/queue/write_zeroes_max_bytes", "0\n");
	return 0;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void sysfs_is_read(void **state)
{
	struct nv_store_bdev bdev;

	(void)state;
	nv_store_bdev_read(root, 8, 0, &bdev);
	assert_true(bdev.has_write_cache);
	assert_true(bdev.can_zero);
	assert_int_equal(bdev.sizes.write_bytes, 65536);
	assert_int_equal(bdev.sizes.optimal_bytes, 262144);
	assert_int_equal(bdev.sizes.discard_bytes, 2097152);
	assert_int_equal(bdev.sizes.boundary_bytes, 256 * 512);
}

static void nonsense_is_not_known(void **state)
{
	struct nv_store_bdev bdev;

	(void)state;
	nv_store_bdev_read(root, 8, 16, &bdev);
	assert_false(bdev.has_write_cache);
	assert_false(bdev.can_zero);
	assert_int_equal(bdev.sizes.write_bytes, 512);
	assert_int_equal(bdev.sizes.optimal_bytes, 0);
	assert_int_equal(bdev.sizes.discard_bytes, 0);
}

/* sysfs has links from dev/block into the tree of devices, where a partition lies in its disk. */
static void a_partition_has_the_queue_of_its_disk(void **state)
{
	struct nv_store_bdev bdev;
	char full[256];

	(void)state;
	snprintf(full, sizeof(full), "%s/dev/block/8:1", root);
	assert_int_equal(symlink("8:0/8:1", full), 0);
	nv_store_bdev_read(root, 8, 1, &bdev);
	assert_int_equal(bdev.sizes.write_bytes, 65536);
}

/* A cache that nobody denies is there. */
static void an_unknown_device_may_have_a_cache(void **state)
{
	struct nv_store_bdev bdev;

	(void)state;
	nv_store_bdev_read(root, 9, 9, &bdev);
	assert_true(bdev.has_write_cache);
	assert_false(bdev.can_zero);
	assert_int_equal(bdev.sizes.write_bytes, 0);
}

/* ---- Identify ----------------------------------------------------------------------------- */

static void sizes_are_announced(void **state)
{
	struct nv_store *store = make_ram(4096, 512);
	struct nv_ns_info info;
	struct rig rig;

	(void)state;
	store->sizes = (struct nv_store_sizes){.write_bytes = 16384,
					       .optimal_bytes = 65536,
					       .discard_bytes = 32768,
					       .boundary_bytes = 131072};
	rig_init(&rig, store, 8);
	assert_int_equal(nv_ctrl_ns_info(rig.ctrl, 1, &info), 0);
	assert_int_equal(le16toh(info.id.npwg), 31);
	assert_int_equal(le16toh(info.id.npwa), 31);
	assert_int_equal(le16toh(info.id.npdg), 63);
	assert_int_equal(le16toh(info.id.npda), 63);
	assert_int_equal(le16toh(info.id.nows), 127);
	assert_int_equal(le16toh(info.id.noiob), 256);
	assert_true(info.id.nsfeat & NVME_NS_FEAT_IO_OPT);
	/* Smaller than a block, more than 64 Ki blocks: as if not known. */
	store->sizes = (struct nv_store_sizes){.write_bytes = 256,
					       .optimal_bytes = 1u << 31,
					       .boundary_bytes = 1u << 31};
	assert_int_equal(nv_ctrl_ns_info(rig.ctrl, 1, &info), 0);
	assert_int_equal(le16toh(info.id.npwg), 7);
	assert_int_equal(le16toh(info.id.nows), 7);
	assert_int_equal(le16toh(info.id.noiob), 0);
	rig_fini(&rig);
}

/* ---- loop devices ------------------------------------------------------------------------- */

struct loop {
	char path[32];
	char backing[512];
	int fd;
};

static bool set_cache(const struct loop *loop, const char *mode)
{
	char path[64];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "/sys/block/%s/queue/write_cache",
		 loop->path + strlen("/dev/"));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, mode, strlen(mode)) == (ssize_t)strlen(mode);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* @path of a device over a new file of 1 MiB; skips the test where there can be none. */
static void loop_open(struct loop *loop, uint32_t block_bytes, uint32_t flags)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	struct loop_config config = {.block_size = block_bytes, .info.lo_flags = flags};
	int number = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);

	if (control >= 0)
		close(control);
	snprintf(loop->path, sizeof(loop->path), "/dev/loop%d", number);
	snprintf(loop->backing, sizeof(loop->backing), "%s", temp_path("backing"));
	loop->fd = number < 0 ? -1 : open(loop->path, O_RDWR | O_CLOEXEC);
	if (loop->fd < 0) {
		print_message("no loop device can be made here\n");
		skip();
	}
	config.fd = (uint32_t)open(loop->backing, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
	assert_int_equal(ftruncate((int)config.fd, MIB), 0);
	/* Goes by itself when the last one closes it, whatever happens to this test. */
	config.info.lo_flags |= LO_FLAGS_AUTOCLEAR;
	assert_int_equal(ioctl(loop->fd, LOOP_CONFIGURE, &config), 0);
	close((int)config.fd);
	(void)set_cache(loop, "write back"); /* what somebody set stays with the device's number */
}

static void loop_close(struct loop *loop)
{
	(void)set_cache(loop, "write back");
	close(loop->fd);
	unlink(loop->backing);
}

static struct nv_store *open_store(const struct loop *loop)
{
	const struct nv_store_file_conf conf = {.path = loop->path};
	struct nv_store *store = NULL;
	struct nv_err err = {0};

	if (nv_store_file_open(&conf, &store, &err))
		fail_msg("%s", err.text);
	assert_string_equal(store->kind, "block");
	return store;
}

static void zeroes_and_discards_on(uint32_t block_bytes)
{
	struct nv_sqe dsm = {.opcode = nvme_cmd_dsm, .nsid = htole32(1)};
	struct nvme_dsm_range *range;
	struct nv_store *store;
	struct loop loop;
	struct stat before, after;
	struct rig rig;
	uint32_t blocks;
	uint8_t *buf;

	loop_open(&loop, block_bytes, 0);
	store = open_store(&loop);
	assert_int_equal(store->block_bytes, block_bytes);
	assert_int_equal(store->size_bytes, MIB);
	assert_true(store->sizes.write_bytes >= block_bytes);
	assert_true(store->volatile_cache);
	rig_init(&rig, store, 8);
	buf = rig_alloc(&rig, 65536 + NV_PAGE_SIZE);
	range = rig_alloc(&rig, NV_PAGE_SIZE);
	blocks = 65536 / block_bytes;
	memset(buf, 0xee, 65536);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_write, blocks, blocks, block_bytes, buf,
					   (uint64_t *)range)),
			 0);
	assert_int_equal(
		run(&rig, make_rw(nvme_cmd_write_zeroes, blocks, 1, block_bytes, NULL, NULL)), 0);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, blocks, 2, block_bytes, buf,
					   (uint64_t *)range)),
			 0);
	assert_int_equal(buf[block_bytes - 1], 0);
	assert_int_equal(buf[block_bytes], 0xee);

	/* A discard gives the backing file's space back. */
	assert_int_equal(run(&rig, (struct nv_sqe){.opcode = nvme_cmd_flush, .nsid = htole32(1)}),
			 0);
	assert_int_equal(stat(loop.backing, &before), 0);
	memset(range, 0, sizeof(*range));
	range->slba = htole64(blocks);
	range->nlb = htole32(blocks);
	dsm.cdw11 = htole32(NVME_DSMGMT_AD);
	dsm.prp1 = htole64((uintptr_t)range);
	assert_int_equal(run(&rig, dsm), 0);
	assert_int_equal(stat(loop.backing, &after), 0);
	assert_true(after.st_blocks < before.st_blocks);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 2 * blocks - 1, 1, block_bytes, buf,
					   (uint64_t *)range)),
			 0);
	assert_int_equal(buf[0], 0);
	rig_free(&rig, range);
	rig_free(&rig, buf);
	rig_fini(&rig);
	loop_close(&loop);
}

static void zeroes_and_discards(void **state)
{
	(void)state;
	zeroes_and_discards_on(512);
	zeroes_and_discards_on(4096);
}

/*
 * Without a volatile cache no Flush comes, and none is needed: what goes through the page cache,
 * since its buffer is not aligned, is written through it.
 */
static void without_a_cache_nothing_stays_dirty(void **state)
{
	struct nv_store *store;
	struct loop loop;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	loop_open(&loop, 512, 0);
	if (!set_cache(&loop, "write through")) {
		loop_close(&loop);
		print_message("the cache of a loop device cannot be set here\n");
		skip();
	}
	store = open_store(&loop);
	assert_false(store->volatile_cache);
	assert_non_null(strstr(store->note, "no volatile cache"));
	rig_init(&rig, store, 8);
	assert_false(nv_ctrl_info(rig.ctrl)->volatile_write_cache);
	buf = rig_alloc(&rig, 2 * NV_PAGE_SIZE);
	memset(buf, 0x3c, 2 * NV_PAGE_SIZE);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_write, 0, 1, 512, buf + 4, NULL)), 0);
	assert_true(dirty_pages(loop.path) <= 0);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_write, 8, 8, 512, buf, NULL)), 0);
	assert_true(dirty_pages(loop.path) <= 0);
	rig_free(&rig, buf);
	rig_fini(&rig);
	loop_close(&loop);
}

static void a_read_only_device_says_so(void **state)
{
	struct nv_store *store;
	struct nv_ns_info info;
	struct loop loop;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	loop_open(&loop, 512, LO_FLAGS_READ_ONLY);
	store = open_store(&loop);
	assert_true(store->read_only);
	if (!strstr(store->note, "read-only: "))
		fail_msg("\"%s\" does not say read-only", store->note);
	rig_init(&rig, store, 8);
	buf = rig_alloc(&rig, NV_PAGE_SIZE);
	assert_int_equal(nv_ctrl_ns_info(rig.ctrl, 1, &info), 0);
	assert_true(info.write_protected);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_write, 0, 1, 512, buf, NULL)),
			 DNR(NVME_SC_NS_WRITE_PROTECTED));
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 0, 1, 512, buf, NULL)), 0);
	rig_free(&rig, buf);
	rig_fini(&rig);
	loop_close(&loop);
}

/* ---- files that cannot be written --------------------------------------------------------- */

/* In a child that is nobody: root may write everything. Its exit status. */
static int as_nobody(const char *path)
{
	const struct nv_store_file_conf conf = {.path = path};
	struct nv_store *store;
	struct nv_err err = {0};

	if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
		return 2;
	if (nv_store_file_open(&conf, &store, &err)) {
		print_error("%s\n", err.text);
		return 3;
	}
	return store->read_only && strstr(store->note, "read-only: cannot be opened for writing")
		       ? 0
		       : 4;
}

static void a_file_without_write_permission(void **state)
{
	char path[] = "/tmp/nv-readable-XXXXXX";
	int fd = mkstemp(path);
	int status = -1;
	pid_t child;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, MIB), 0);
	assert_int_equal(fchmod(fd, 0444), 0);
	close(fd);
	child = fork();
	if (child == 0)
		_exit(as_nobody(path));
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(path);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sysfs_is_read),
		cmocka_unit_test(nonsense_is_not_known),
		cmocka_unit_test(a_partition_has_the_queue_of_its_disk),
		cmocka_unit_test(an_unknown_device_may_have_a_cache),
		cmocka_unit_test(sizes_are_announced),
		cmocka_unit_test(zeroes_and_discards),
		cmocka_unit_test(without_a_cache_nothing_stays_dirty),
		cmocka_unit_test(a_read_only_device_says_so),
		cmocka_unit_test(a_file_without_write_permission),
	};

	return group_run(tests, make_root, remove_root);
}
