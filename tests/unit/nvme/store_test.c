/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The storage engines below the controller: opening files with everything that can be wrong with
 * them, durability, and the fallbacks.
 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1u << 20)

static void make_file(const char *path, off_t size)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

/* Opening must fail with @rc, name the file and say @text. */
static void expect_failure(const struct nv_store_file_conf *conf, int rc, const char *text)
{
	struct nv_store *store = NULL;
	struct nv_err err = {0};

	assert_int_equal(nv_store_file_open(conf, &store, &err), rc);
	assert_null(store);
	assert_non_null(strstr(err.text, conf->path));
	if (!strstr(err.text, text))
		fail_msg("\"%s\" does not say \"%s\"", err.text, text);
	assert_null(strchr(err.text, '\n'));
}

static void missing_file(void **state)
{
	const struct nv_store_file_conf read_only = {.path = temp_path("missing"),
						     .size_bytes = MIB,
						     .read_only = true};
	struct nv_store *store = NULL;
	struct nv_err err = {0};

	(void)state;
	expect_failure(&(struct nv_store_file_conf){.path = temp_path("missing")}, -ENOENT,
		       "no such file (give a size");
	expect_failure(&(struct nv_store_file_conf){.path = temp_path("no/where"),
						    .size_bytes = MIB},
		       -ENOENT, "cannot create");
	expect_failure(&read_only, -ENOENT, "no such file");
	/* No size would create it. */
	assert_int_equal(nv_store_file_open(&read_only, &store, &err), -ENOENT);
	assert_null(strstr(err.text, "give a size"));
}

static void things_that_are_no_disk(void **state)
{
	const char *path;

	(void)state;
	path = temp_path("dir");
	assert_int_equal(mkdir(path, 0755), 0);
	expect_failure(&(struct nv_store_file_conf){.path = path}, -EISDIR, "is a directory");
	path = temp_path("fifo");
	assert_int_equal(mkfifo(path, 0644), 0);
	expect_failure(&(struct nv_store_file_conf){.path = path}, -EINVAL, "neither");
	expect_failure(&(struct nv_store_file_conf){.path = "/dev/null"}, -EINVAL, "neither");
	assert_int_equal(nv_store_file_open(&(struct nv_store_file_conf){.path = ""},
					    &(struct nv_store *){0}, NULL),
			 -EINVAL);
}

static void sizes_that_do_not_fit(void **state)
{
	const char *path = temp_path("odd");
	struct rlimit before, limit;
	struct stat st;

	(void)state;
	make_file(path, 1000);
	expect_failure(&(struct nv_store_file_conf){.path = path}, -EINVAL,
		       "not a multiple of the block size 512");
	make_file(path, 4096 + 512);
	expect_failure(&(struct nv_store_file_conf){.path = path, .block_bytes = 4096}, -EINVAL,
		       "not a multiple of the block size 4096");
	expect_failure(&(struct nv_store_file_conf){.path = path, .size_bytes = 4096}, -EINVAL,
		       "will not cut");
	expect_failure(&(struct nv_store_file_conf){.path = path, .block_bytes = 1024}, -EINVAL,
		       "neither 512 nor 4096");
	expect_failure(
		&(struct nv_store_file_conf){.path = path, .size_bytes = MIB, .read_only = true},
		-EINVAL, "read-only");
	make_file(path, 0);
	expect_failure(&(struct nv_store_file_conf){.path = path}, -EINVAL, "empty");

	/* A size that is refused leaves no file behind. */
	path = temp_path("never");
	expect_failure(&(struct nv_store_file_conf){.path = path, .size_bytes = 1000}, -EINVAL,
		       "multiple");
	/* Some file systems take any size: the limit is one of the process. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){.rlim_cur = MIB, .rlim_max = before.rlim_max};
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	expect_failure(&(struct nv_store_file_conf){.path = path, .size_bytes = 2 * MIB}, -EFBIG,
		       "cannot create");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(stat(path, &st), -1);
}

static void no_permission(void **state)
{
	const char *path = temp_path("secret");

	(void)state;
	if (geteuid() == 0)
		skip(); /* root may read everything */
	make_file(path, MIB);
	assert_int_equal(chmod(path, 0), 0);
	expect_failure(&(struct nv_store_file_conf){.path = path}, -EACCES, "Permission denied");
}

static void created_sparse_and_found_again(void **state)
{
	struct nv_store_file_conf conf = {.path = temp_path("new"), .size_bytes = 64 * MIB};
	struct nv_store *store;
	struct stat st;

	(void)state;
	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0);
	assert_int_equal(store->size_bytes, 64 * MIB);
	assert_int_equal(store->block_bytes, 512);
	assert_true(store->volatile_cache);
	assert_string_equal(store->kind, "file");
	assert_int_not_equal(store->note[0], '\0');
	nv_store_destroy(store);
	assert_int_equal(stat(conf.path, &st), 0);
	assert_int_equal(st.st_size, 64 * MIB);
	assert_true(st.st_blocks * 512 < MIB);

	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0); /* the same size again */
	nv_store_destroy(store);
	conf.size_bytes = 128 * MIB; /* grows */
	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0);
	assert_int_equal(store->size_bytes, 128 * MIB);
	nv_store_destroy(store);
}

static void one_writer_or_many_readers(void **state)
{
	struct nv_store_file_conf conf = {.path = temp_path("locked"), .size_bytes = MIB};
	struct nv_store_file_conf reader = {.path = conf.path, .read_only = true};
	struct nv_store *store, *other;

	(void)state;
	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0);
	expect_failure(&conf, -EBUSY, "in use by another target");
	expect_failure(&reader, -EBUSY, "in use by another target");
	nv_store_destroy(store);
	assert_int_equal(nv_store_file_open(&reader, &store, NULL), 0);
	assert_int_equal(nv_store_file_open(&reader, &other, NULL), 0);
	assert_true(store->read_only);
	expect_failure(&conf, -EBUSY, "in use by another target");
	nv_store_destroy(store);
	nv_store_destroy(other);
}

static void read_only_refuses_every_change(void **state)
{
	const char *path = temp_path("readonly");
	const struct nv_store_file_conf conf = {.path = path, .read_only = true};
	struct nv_sqe sqe = {.nsid = htole32(1), .opcode = nvme_cmd_flush};
	struct nvme_dsm_range *ranges;
	struct nv_ns_info info;
	struct nv_store *store;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	make_file(path, MIB);
	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0);
	rig_init(&rig, store, 8);
	buf = rig_alloc(&rig, 4096);
	assert_int_equal(nv_ctrl_ns_info(rig.ctrl, 1, &info), 0);
	assert_true(info.write_protected);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 0, 8, 512, buf, NULL)), 0);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_write, 0, 8, 512, buf, NULL)),
			 DNR(NVME_SC_NS_WRITE_PROTECTED));
	assert_int_equal(run(&rig, make_rw(nvme_cmd_write_zeroes, 0, 8, 512, NULL, NULL)),
			 DNR(NVME_SC_NS_WRITE_PROTECTED));
	assert_int_equal(run(&rig, sqe), 0); /* there is nothing to flush */
	ranges = (struct nvme_dsm_range *)buf;
	ranges[0].nlb = htole32(1);
	sqe.opcode = nvme_cmd_dsm;
	sqe.cdw11 = htole32(NVME_DSMGMT_AD);
	sqe.prp1 = htole64((uintptr_t)buf);
	assert_int_equal(run(&rig, sqe), DNR(NVME_SC_NS_WRITE_PROTECTED));
	rig_free(&rig, buf);
	rig_fini(&rig);
}

/* ---- durability --------------------------------------------------------------------------- */

struct durable {
	struct rig rig;
	const char *path;
	uint8_t *buf;
};

static int durable_setup(void **state)
{
	struct nv_store_file_conf conf = {.path = temp_path("durable"),
					  .size_bytes = MIB,
					  .direct = NV_STORE_DIRECT_OFF};
	struct durable *d = calloc(1, sizeof(*d));
	struct nv_store *store;

	assert_non_null(d);
	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0);
	assert_non_null(strstr(store->note, "page cache"));
	rig_init(&d->rig, store, 8);
	d->path = conf.path;
	d->buf = rig_alloc(&d->rig, 8192);
	*state = d;
	return 0;
}

static int durable_teardown(void **state)
{
	struct durable *d = *state;

	rig_free(&d->rig, d->buf);
	rig_fini(&d->rig);
	unlink(d->path);
	free(d);
	return 0;
}

/* Leaves dirty pages, or skips where the kernel cannot tell or writes through. */
static void make_dirty(struct durable *d)
{
	assert_int_equal(run(&d->rig, make_rw(nvme_cmd_write, 0, 16, 512, d->buf, NULL)), 0);
	if (dirty_pages(d->path) <= 0) {
		print_message("cachestat(2) does not show dirty pages here\n");
		skip();
	}
}

static void flush_reaches_the_medium(void **state)
{
	const struct nv_sqe flush = {.opcode = nvme_cmd_flush, .nsid = htole32(1)};
	struct durable *d = *state;

	make_dirty(d);
	assert_int_equal(run(&d->rig, flush), 0);
	assert_int_equal(dirty_pages(d->path), 0);
}

static void fua_reaches_the_medium(void **state)
{
	struct nv_sqe sqe;
	struct durable *d = *state;

	make_dirty(d);
	sqe = make_rw(nvme_cmd_write, 0, 16, 512, d->buf, NULL);
	sqe.cdw12 |= htole32(1u << 30);
	assert_int_equal(run(&d->rig, sqe), 0);
	assert_int_equal(dirty_pages(d->path), 0);

	make_dirty(d);
	sqe = make_rw(nvme_cmd_write_zeroes, 0, 16, 512, NULL, NULL);
	sqe.cdw12 |= htole32(1u << 30);
	assert_int_equal(run(&d->rig, sqe), 0);
	assert_int_equal(dirty_pages(d->path), 0);
}

static void write_cache_off_makes_every_write_durable(void **state)
{
	struct nv_sqe sqe = {.opcode = nvme_admin_set_features};
	struct durable *d = *state;

	make_dirty(d);
	sqe.cdw10 = htole32(NVME_FEAT_FID_VOLATILE_WC);
	assert_int_equal(admin(&d->rig, sqe, NULL, 0, NULL), 0);
	assert_int_equal(run(&d->rig, make_rw(nvme_cmd_write, 0, 16, 512, d->buf, NULL)), 0);
	assert_int_equal(dirty_pages(d->path), 0);
}

static void shutdown_flushes(void **state)
{
	struct durable *d = *state;

	make_dirty(d);
	nv_queue_destroy(d->rig.queue);
	nv_ctrl_destroy(d->rig.ctrl);
	assert_int_equal(dirty_pages(d->path), 0);
	d->rig.ctrl = NULL;
	d->rig.queue = NULL;
}

/* ---- O_DIRECT ----------------------------------------------------------------------------- */

static void unaligned_buffers_work_with_o_direct(void **state)
{
	struct nv_store_file_conf conf = {.path = temp_path("direct"),
					  .size_bytes = MIB,
					  .direct = NV_STORE_DIRECT_ONLY};
	struct nv_err err;
	struct nv_store *store;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	if (nv_store_file_open(&conf, &store, &err)) {
		print_message("no O_DIRECT here: %s\n", err.text);
		skip();
	}
	assert_string_equal(store->note, "O_DIRECT");
	rig_init(&rig, store, 8);
	buf = rig_alloc(&rig, 16384);
	for (uint32_t offset = 0; offset < 4096; offset += 252) {
		memset(buf, 0, 16384);
		memset(buf + offset, (int)offset / 4, 512 * 3);
		assert_int_equal(run(&rig, make_rw(nvme_cmd_write, 1, 3, 512, buf + offset, NULL)),
				 0);
		memset(buf, 0xff, 16384);
		assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 0, 8, 512, buf + 4096, NULL)), 0);
		assert_int_equal(buf[4096 + 511], 0);
		assert_int_equal(buf[4096 + 512], (uint8_t)(offset / 4));
		assert_int_equal(buf[4096 + 2047], (uint8_t)(offset / 4));
		assert_int_equal(buf[4096 + 2048], 0);
	}
	rig_free(&rig, buf);
	rig_fini(&rig);
}

/* Every place in a page that a PRP may name, with data that tell where they belong. */
static void every_offset_of_a_page(void **state)
{
	struct nv_store_file_conf conf = {.path = temp_path("offsets"), .size_bytes = MIB};
	struct nv_store *store;
	struct rig rig;
	uint8_t *buf, *back;

	(void)state;
	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0);
	rig_init(&rig, store, 8);
	buf = rig_alloc(&rig, 3 * NV_PAGE_SIZE);
	back = rig_alloc(&rig, 3 * NV_PAGE_SIZE);
	for (uint32_t offset = 0; offset < NV_PAGE_SIZE; offset += 4) {
		for (uint32_t i = 0; i < 3 * 512; i++)
			buf[offset + i] = (uint8_t)(i * 7 + i / 256 + offset / 4);
		memset(back, 0x99, 3 * NV_PAGE_SIZE);
		assert_int_equal(run(&rig, make_rw(nvme_cmd_write, 5, 3, 512, buf + offset, NULL)),
				 0);
		assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 5, 3, 512, back + offset, NULL)),
				 0);
		assert_memory_equal(buf + offset, back + offset, 3 * 512);
		assert_int_equal(back[offset + 3 * 512], 0x99);
		if (offset)
			assert_int_equal(back[offset - 1], 0x99);
	}
	rig_free(&rig, back);
	rig_free(&rig, buf);
	rig_fini(&rig);
	unlink(conf.path);
}

/* Block numbers of more than 32 bits: first, last, around the carry, and beyond the end. */
static void more_than_2_to_32_blocks(void **state)
{
	const uint64_t blocks = (1ull << 32) + 12345;
	const uint64_t places[] = {0, UINT32_MAX, 1ull << 32, blocks - 1};
	struct nv_store_file_conf conf = {.path = temp_path("huge"), .size_bytes = blocks * 512};
	struct nv_ns_info info;
	struct nv_store *store;
	struct nv_err err;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	if (nv_store_file_open(&conf, &store, &err)) {
		print_message("no file of 2 TiB here: %s\n", err.text);
		skip();
	}
	rig_init(&rig, store, 8);
	buf = rig_alloc(&rig, NV_PAGE_SIZE);
	assert_int_equal(nv_ctrl_ns_info(rig.ctrl, 1, &info), 0);
	assert_true(info.nsze == blocks);
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(places); i++) {
		memset(buf, (int)i + 1, 512);
		assert_int_equal(run(&rig, make_rw(nvme_cmd_write, places[i], 1, 512, buf, NULL)),
				 0);
	}
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(places); i++) {
		memset(buf, 0, 512);
		assert_int_equal(run(&rig, make_rw(nvme_cmd_read, places[i], 1, 512, buf, NULL)),
				 0);
		assert_int_equal(buf[0], i + 1);
		assert_int_equal(buf[511], i + 1);
	}
	/* Each in its own place, so not at its number's low half either. */
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 12344, 1, 512, buf, NULL)), 0);
	assert_int_equal(buf[0], 0);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, UINT32_MAX, 2, 512, buf, NULL)), 0);
	assert_int_equal(buf[0], 2);
	assert_int_equal(buf[512], 3);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, blocks - 1, 2, 512, buf, NULL)),
			 DNR(NVME_SC_LBA_RANGE));
	assert_int_equal(run(&rig, make_rw(nvme_cmd_write, blocks, 1, 512, buf, NULL)),
			 DNR(NVME_SC_LBA_RANGE));
	rig_free(&rig, buf);
	rig_fini(&rig);
	unlink(conf.path);
}

/* A file that somebody cuts below us: an error for what is gone, not zeroes, not a hang. */
static void a_file_cut_from_outside_reads_as_media_error(void **state)
{
	struct nv_store_file_conf conf = {.path = temp_path("cut"),
					  .size_bytes = MIB,
					  .direct = NV_STORE_DIRECT_OFF};
	struct nv_store *store;
	struct nv_soft_stats stats;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	assert_int_equal(nv_store_file_open(&conf, &store, NULL), 0);
	rig_init(&rig, store, 8);
	buf = rig_alloc(&rig, 8192);
	assert_int_equal(truncate(conf.path, 4096), 0);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 0, 8, 512, buf, NULL)), 0);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 4, 8, 512, buf, NULL)),
			 MEDIA(NVME_SC_READ_ERROR));
	assert_int_equal(run(&rig, make_rw(nvme_cmd_verify, 0, 16, 512, NULL, NULL)),
			 MEDIA(NVME_SC_READ_ERROR));
	nv_soft_get_stats(rig.soft, &stats);
	assert_int_equal(stats.media_errors, 2);
	rig_free(&rig, buf);
	rig_fini(&rig);
}

static void null_reads_as_zeroes(void **state)
{
	static const uint8_t zeroes[4096];
	struct nv_store *store;
	struct rig rig;
	uint8_t *buf;

	(void)state;
	assert_int_equal(nv_store_null_create(MIB, 512, &store, NULL), 0);
	rig_init(&rig, store, 8);
	buf = rig_alloc(&rig, 8192);
	memset(buf, 0xa5, 8192);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_write, 0, 16, 512, buf, NULL)), 0);
	assert_int_equal(buf[0], 0xa5);
	assert_int_equal(run(&rig, make_rw(nvme_cmd_read, 0, 8, 512, buf, NULL)), 0);
	assert_memory_equal(buf, zeroes, 4096);
	assert_int_equal(buf[4096], 0xa5);
	rig_free(&rig, buf);
	rig_fini(&rig);
}

static void ram_and_null_check_their_geometry(void **state)
{
	struct nv_store *store = NULL;
	struct nv_err err;

	(void)state;
	assert_int_equal(nv_store_ram_create(0, 512, &store, &err), -EINVAL);
	assert_int_equal(nv_store_ram_create(1000, 512, &store, &err), -EINVAL);
	assert_int_equal(nv_store_ram_create(4096, 256, &store, &err), -EINVAL);
	assert_int_equal(nv_store_ram_create(1ull << 62, 512, &store, &err), -ENOMEM);
	assert_int_equal(nv_store_null_create(4096 + 512, 4096, &store, &err), -EINVAL);
	assert_null(store);
	nv_store_destroy(NULL);
}

#define D(name) cmocka_unit_test_setup_teardown(name, durable_setup, durable_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_file),
		cmocka_unit_test(things_that_are_no_disk),
		cmocka_unit_test(sizes_that_do_not_fit),
		cmocka_unit_test(no_permission),
		cmocka_unit_test(created_sparse_and_found_again),
		cmocka_unit_test(one_writer_or_many_readers),
		cmocka_unit_test(read_only_refuses_every_change),
		D(flush_reaches_the_medium),
		D(fua_reaches_the_medium),
		D(write_cache_off_makes_every_write_durable),
		D(shutdown_flushes),
		cmocka_unit_test(unaligned_buffers_work_with_o_direct),
		cmocka_unit_test(every_offset_of_a_page),
		cmocka_unit_test(more_than_2_to_32_blocks),
		cmocka_unit_test(a_file_cut_from_outside_reads_as_media_error),
		cmocka_unit_test(null_reads_as_zeroes),
		cmocka_unit_test(ram_and_null_check_their_geometry),
	};

	return cmocka_run_group_tests_name("nvme/store", tests, NULL, NULL);
}
