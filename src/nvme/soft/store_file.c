/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file engine, opening half: which file or block device, how large, page cache or O_DIRECT,
 * and a clear line for everything that can be wrong with it. I/O is in store_uring.c.
 */
#include "nvme/soft/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int open_failed(const struct nv_store_file_conf *conf, int error, struct nv_err *err)
{
	switch (error) {
	case ENOENT:
		return nv_err(err, -error, "%s: no such file%s", conf->path,
			      conf->read_only ? "" : " (give a size to create it)");
	case EISDIR:
		return nv_err(err, -error, "%s: is a directory", conf->path);
	case EBUSY:
		return nv_err(err, -error, "%s: device is in use (mounted, or part of another one)",
			      conf->path);
	default:
		return nv_err(err, -error, "%s: cannot open for %s: %s", conf->path,
			      conf->read_only ? "reading" : "reading and writing", strerror(error));
	}
}

/* One more thing to say about what was chosen. */
__attribute__((format(printf, 2, 3))) static void note(struct nv_store *store, const char *fmt, ...)
{
	size_t used = strlen(store->note);
	va_list args;

	if (used && used + 2 < sizeof(store->note)) {
		memcpy(store->note + used, "; ", 3);
		used += 2;
	}
	va_start(args, fmt);
	vsnprintf(store->note + used, sizeof(store->note) - used, fmt, args);
	va_end(args);
}

/* Make the name of a new file as durable as its contents are going to be. */
static int sync_parent(const char *path)
{
	char *copy = strdup(path);
	int fd, rc = 0;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		rc = -errno;
	if (fd >= 0)
		close(fd);
	free(copy);
	return rc;
}

static int create_file(const struct nv_store_file_conf *conf, int *ret_fd, struct nv_err *err)
{
	int fd = open(conf->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int rc;

	if (fd < 0)
		return nv_err(err, -errno, "%s: cannot create: %s", conf->path, strerror(errno));
	rc = ftruncate(fd, (off_t)conf->size_bytes) ? -errno : sync_parent(conf->path);
	if (rc) {
		nv_err(err, rc, "%s: cannot create with %" PRIu64 " bytes: %s", conf->path,
		       conf->size_bytes, strerror(-rc));
		close(fd);
		unlink(conf->path);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

/* Opens what is there. What cannot be written, but can be read, is read-only, with a note. */
static int open_existing(struct nv_store_file *file, const struct nv_store_file_conf *conf,
			 bool is_block, struct nv_err *err)
{
	const int flags = O_CLOEXEC | O_NONBLOCK;
	int exclusive = is_block ? O_EXCL : 0; /* refuses a device that is mounted */
	int error = 0;

	if (!conf->read_only) {
		file->fd = open(conf->path, O_RDWR | flags | exclusive);
		if (file->fd >= 0)
			return 0;
		error = errno;
		if (error != EACCES && error != EROFS && error != EPERM)
			return open_failed(conf, error, err);
	}
	file->fd = open(conf->path, O_RDONLY | flags);
	if (file->fd < 0)
		return open_failed(conf, error ? error : errno, err);
	file->store.read_only = true;
	if (error)
		note(&file->store, "read-only: cannot be opened for writing (%s)", strerror(error));
	return 0;
}

static int open_or_create(struct nv_store_file *file, const struct nv_store_file_conf *conf,
			  struct nv_err *err)
{
	struct stat st;

	if (stat(conf->path, &st)) {
		if (errno == ENOENT && conf->size_bytes && !conf->read_only)
			return create_file(conf, &file->fd, err);
		return open_failed(conf, errno, err);
	}
	if (S_ISDIR(st.st_mode))
		return open_failed(conf, EISDIR, err);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return nv_err(err, -EINVAL, "%s: neither a regular file nor a block device",
			      conf->path);
	return open_existing(file, conf, S_ISBLK(st.st_mode), err);
}

/* Two targets writing to one file would ruin it. The lock goes with the process. */
static int lock_file(const struct nv_store_file_conf *conf, int fd, bool read_only,
		     struct nv_err *err)
{
	if (!flock(fd, (read_only ? LOCK_SH : LOCK_EX) | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return nv_err(err, -EBUSY, "%s: is in use by another target", conf->path);
	if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS)
		return 0; /* a filesystem without locks */
	return nv_err(err, -errno, "%s: cannot lock: %s", conf->path, strerror(errno));
}

static int block_device_size(const struct nv_store_file_conf *conf, int fd, uint64_t *ret,
			     struct nv_err *err)
{
	uint64_t size;

	if (ioctl(fd, BLKGETSIZE64, &size))
		return nv_err(err, -errno, "%s: cannot read its size: %s", conf->path,
			      strerror(errno));
	if (conf->size_bytes && conf->size_bytes != size)
		return nv_err(err, -EINVAL, "%s: device has %" PRIu64 " bytes, not %" PRIu64,
			      conf->path, size, conf->size_bytes);
	*ret = size;
	return 0;
}

static int regular_file_size(const struct nv_store_file_conf *conf,
			     const struct nv_store_file *file, uint64_t size, uint64_t *ret,
			     struct nv_err *err)
{
	*ret = size;
	if (!conf->size_bytes) {
		if (size)
			return 0;
		return nv_err(err, -EINVAL, "%s: file is empty (give a size)", conf->path);
	}
	if (conf->size_bytes == size)
		return 0;
	if (conf->size_bytes < size)
		return nv_err(err, -EINVAL,
			      "%s: file has %" PRIu64 " bytes already, will not cut it to %" PRIu64,
			      conf->path, size, conf->size_bytes);
	if (file->store.read_only)
		return nv_err(err, -EINVAL,
			      "%s: read-only file has %" PRIu64 " bytes, not %" PRIu64, conf->path,
			      size, conf->size_bytes);
	if (ftruncate(file->fd, (off_t)conf->size_bytes))
		return nv_err(err, -errno, "%s: cannot grow to %" PRIu64 " bytes: %s", conf->path,
			      conf->size_bytes, strerror(errno));
	*ret = conf->size_bytes;
	return 0;
}

/* ---- O_DIRECT ----------------------------------------------------------------------------- */

/* What O_DIRECT asks for, from the kernel where it tells (6.1), else from the device. */
static void read_alignment(struct nv_store_file *file, bool is_block)
{
	int sector = 0;

	file->mem_align = 512;
	file->offset_align = 512;
#ifdef STATX_DIOALIGN
	struct statx stx;

	if (!statx(file->direct_fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) &&
	    stx.stx_mask & STATX_DIOALIGN && stx.stx_dio_mem_align && stx.stx_dio_offset_align) {
		file->mem_align = stx.stx_dio_mem_align;
		file->offset_align = stx.stx_dio_offset_align;
		return;
	}
#endif
	if (is_block && !ioctl(file->direct_fd, BLKSSZGET, &sector) && sector >= 512) {
		file->mem_align = (uint32_t)sector;
		file->offset_align = (uint32_t)sector;
	}
}

/* A second file description: the first one stays for what is not aligned. */
static int open_direct(const struct nv_store_file_conf *conf, bool read_only,
		       const struct stat *first)
{
	int fd = open(conf->path, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_DIRECT);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_dev != first->st_dev || st.st_ino != first->st_ino) {
		close(fd);
		return -ESTALE; /* the name means another file by now */
	}
	return fd;
}

static int choose_direct(struct nv_store_file *file, const struct nv_store_file_conf *conf,
			 const struct stat *st, struct nv_err *err)
{
	struct nv_store *store = &file->store;
	int fd;

	file->direct_fd = -1;
	if (conf->direct == NV_STORE_DIRECT_OFF) {
		note(store, "page cache, as configured");
		return 0;
	}
	fd = open_direct(conf, store->read_only, st);
	if (fd < 0 && conf->direct == NV_STORE_DIRECT_ONLY)
		return nv_err(err, -EOPNOTSUPP, "%s: O_DIRECT is not possible: %s", conf->path,
			      strerror(-fd));
	if (fd < 0) {
		note(store, "page cache: O_DIRECT is not possible here (%s)", strerror(-fd));
		return 0;
	}
	file->direct_fd = fd;
	read_alignment(file, S_ISBLK(st->st_mode));
	if (file->offset_align <= file->store.block_bytes) {
		note(store, "O_DIRECT");
		return 0;
	}
	if (conf->direct == NV_STORE_DIRECT_ONLY)
		return nv_err(err, -EOPNOTSUPP, "%s: O_DIRECT needs blocks of %u bytes", conf->path,
			      file->offset_align);
	note(store, "O_DIRECT for what is aligned to %u bytes, page cache for the rest",
	     file->offset_align);
	return 0;
}

static void note_engine(struct nv_store_file *file)
{
	int rc = nv_store_uring_probe();

	if (rc)
		note(&file->store, "synchronous I/O: io_uring is not available (%s)",
		     strerror(-rc));
}

/* ---- life --------------------------------------------------------------------------------- */

static int file_size(struct nv_store *store, uint64_t *ret_bytes)
{
	struct nv_store_file *file = (struct nv_store_file *)store;
	struct stat st;

	if (fstat(file->fd, &st))
		return -errno;
	if (S_ISBLK(st.st_mode))
		return ioctl(file->fd, BLKGETSIZE64, ret_bytes) ? -errno : 0;
	*ret_bytes = (uint64_t)st.st_size;
	return 0;
}

static void file_destroy(struct nv_store *store)
{
	struct nv_store_file *file = (struct nv_store_file *)store;

	if (file->direct_fd >= 0)
		close(file->direct_fd);
	close(file->fd);
	free(file);
}

static const struct nv_store_ops file_ops = {
	.chan_open = nv_store_uring_open,
	.submit = nv_store_uring_submit,
	.kick = nv_store_uring_kick,
	.poll = nv_store_uring_poll,
	.fd = nv_store_uring_fd,
	.cancel = nv_store_no_cancel,
	.chan_close = nv_store_uring_close,
	.size = file_size,
	.destroy = file_destroy,
};

static void set_up_block_device(struct nv_store_file *file, const struct stat *st)
{
	struct nv_store *store = &file->store;
	struct nv_store_bdev bdev;

	nv_store_bdev_read("/sys", major(st->st_rdev), minor(st->st_rdev), &bdev);
	store->kind = "block";
	store->sizes = bdev.sizes;
	/*
	 * The page cache is volatile, too. Beside O_DIRECT it gets what is not aligned only, which
	 * store_uring.c writes through it when the store says that nothing is volatile.
	 */
	store->volatile_cache = bdev.has_write_cache || file->direct_fd < 0;
	store->thin = bdev.can_zero;
	if (!store->volatile_cache)
		note(store, "the device has no volatile cache");
}

/* A device may be open for writing and refuse every write all the same. */
static void check_read_only(struct nv_store_file *file, const struct nv_store_file_conf *conf)
{
	int ro = 0;

	if (conf->read_only || file->store.read_only || ioctl(file->fd, BLKROGET, &ro) || !ro)
		return;
	file->store.read_only = true;
	note(&file->store, "read-only: the device is");
}

static uint32_t device_block_bytes(int fd)
{
	int sector = 0;

	return !ioctl(fd, BLKSSZGET, &sector) && sector == 4096 ? 4096 : 512;
}

static int set_up(struct nv_store_file *file, const struct nv_store_file_conf *conf,
		  struct nv_err *err)
{
	uint32_t block_bytes = conf->block_bytes;
	struct nv_err why;
	struct stat st;
	uint64_t size = 0;
	bool is_block;
	int rc;

	if (fstat(file->fd, &st))
		return nv_err(err, -errno, "%s: %s", conf->path, strerror(errno));
	is_block = S_ISBLK(st.st_mode);
	if (is_block)
		check_read_only(file, conf);
	rc = lock_file(conf, file->fd, file->store.read_only, err);
	if (rc)
		return rc;
	if (is_block)
		rc = block_device_size(conf, file->fd, &size, err);
	else
		rc = regular_file_size(conf, file, (uint64_t)st.st_size, &size, err);
	if (rc)
		return rc;
	if (is_block && !block_bytes)
		block_bytes = device_block_bytes(file->fd);
	rc = nv_store_set_geometry(&file->store, size, block_bytes, &why);
	if (rc)
		return nv_err(err, rc, "%s: %s", conf->path, why.text);
	rc = choose_direct(file, conf, &st, err);
	if (rc)
		return rc;
	file->store.ops = &file_ops;
	file->store.kind = "file";
	file->store.volatile_cache = true;
	file->store.thin = true; /* punching a hole leaves zeroes */
	if (is_block)
		set_up_block_device(file, &st);
	note_engine(file);
	return 0;
}

/* Refused before a file is created that would have to be removed again. */
static int check_wanted_size(const struct nv_store_file_conf *conf, struct nv_err *err)
{
	struct nv_store probe;
	struct nv_err why;
	int rc;

	if (!conf->size_bytes)
		return 0;
	rc = nv_store_set_geometry(&probe, conf->size_bytes, conf->block_bytes, &why);
	return rc ? nv_err(err, rc, "%s: %s", conf->path, why.text) : 0;
}

int nv_store_file_open(const struct nv_store_file_conf *conf, struct nv_store **ret,
		       struct nv_err *err)
{
	struct nv_store_file *file;
	int rc;

	if (!conf->path || !conf->path[0])
		return nv_err(err, -EINVAL, "no file name given");
	rc = check_wanted_size(conf, err);
	if (rc)
		return rc;
	file = calloc(1, sizeof(*file));
	if (!file)
		return nv_err(err, -ENOMEM, "out of memory");
	file->direct_fd = -1;
	rc = open_or_create(file, conf, err);
	if (rc)
		goto free_file;
	rc = set_up(file, conf, err);
	if (rc)
		goto close_file;
	*ret = &file->store;
	return 0;

close_file:
	if (file->direct_fd >= 0)
		close(file->direct_fd);
	close(file->fd);
free_file:
	free(file);
	return rc;
}
