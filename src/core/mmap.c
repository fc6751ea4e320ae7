/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory maps: one range, the devices that may use it, and how. Nothing is registered with a device
 * here: a memory region is made for the first key or export (mmap_key.c), so that a map of device
 * memory (doorbells) costs nothing and cannot fail for want of it.
 */
#include "core/mmap.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/dev.h"
#include "core/limits.h"
#include "core/mmap_priv.h"

#define MMAP_ACCESS_PCI (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)
#define MMAP_ACCESS_MASK                                                                \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |               \
	 DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC | MMAP_ACCESS_PCI | \
	 DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)

doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
	struct doca_mmap *m;

	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	m = calloc(1, sizeof(*m));
	if (!m)
		return DOCA_ERROR_NO_MEMORY;
	m->access = DOCA_ACCESS_FLAG_LOCAL_READ_ONLY;
	m->max_devs = CORE_DEFAULT_MMAP_DEVS;
	m->dmabuf_fd = -1;
	*mmap = m;
	return DOCA_SUCCESS;
}

/* The range is not the map's any more. */
static void mmap_forget_dmabuf(struct doca_mmap *mmap)
{
	if (mmap->dmabuf_fd >= 0)
		close(mmap->dmabuf_fd);
	mmap->dmabuf_fd = -1;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (atomic_load(&mmap->users) || !core_mmap_drop_keys(mmap))
		return DOCA_ERROR_NOT_PERMITTED;
	for (uint32_t i = 0; i < mmap->num_devs; i++)
		doca_priv_dev_release(mmap->devs[i].dev);
	mmap_forget_dmabuf(mmap);
	if (mmap->was_started && mmap->free_cb)
		mmap->free_cb(mmap->addr, mmap->len, mmap->free_cookie);
	free(mmap->devs);
	free(mmap);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	if (!mmap || !mmap->has_range || !mmap->num_devs)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started)
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->is_started = true;
	mmap->was_started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->is_started || mmap->is_from_export || atomic_load(&mmap->users) ||
	    !core_mmap_drop_keys(mmap))
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->is_started = false;
	mmap->is_range_fixed = false;
	return DOCA_SUCCESS;
}

struct core_mmap_dev *core_mmap_find_dev(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	for (uint32_t i = 0; i < mmap->num_devs; i++) {
		if (mmap->devs[i].dev == dev)
			return &mmap->devs[i];
	}
	return NULL;
}

doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct core_mmap_dev *devs;

	if (!mmap || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started)
		return DOCA_ERROR_NOT_PERMITTED;
	if (core_mmap_find_dev(mmap, dev))
		return DOCA_ERROR_ALREADY_EXIST;
	if (mmap->num_devs >= mmap->max_devs)
		return DOCA_ERROR_NO_MEMORY;
	devs = reallocarray(mmap->devs, mmap->num_devs + 1, sizeof(*devs));
	if (!devs)
		return DOCA_ERROR_NO_MEMORY;
	devs[mmap->num_devs++] = (struct core_mmap_dev){.dev = dev};
	mmap->devs = devs;
	doca_priv_dev_hold(dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct core_mmap_dev *d;

	if (!mmap || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started)
		return DOCA_ERROR_NOT_PERMITTED;
	d = core_mmap_find_dev(mmap, dev);
	if (!d)
		return DOCA_ERROR_NOT_FOUND;
	*d = mmap->devs[--mmap->num_devs];
	doca_priv_dev_release(dev);
	return DOCA_SUCCESS;
}

static bool is_range(const void *addr, size_t len)
{
	return addr && len && (uintptr_t)addr <= UINTPTR_MAX - len;
}

/* May the range be set now? */
static doca_error_t mmap_check_range(const struct doca_mmap *mmap)
{
	if (mmap->is_started)
		return DOCA_ERROR_BAD_STATE;
	return mmap->is_range_fixed ? DOCA_ERROR_NOT_PERMITTED : DOCA_SUCCESS;
}

static void mmap_take_range(struct doca_mmap *mmap, void *addr, size_t len)
{
	mmap_forget_dmabuf(mmap);
	mmap->addr = addr;
	mmap->len = len;
	mmap->has_range = true;
	mmap->is_range_fixed = true;
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	doca_error_t result;

	if (!mmap || !is_range(addr, len))
		return DOCA_ERROR_INVALID_VALUE;
	result = mmap_check_range(mmap);
	if (result == DOCA_SUCCESS)
		mmap_take_range(mmap, addr, len);
	return result;
}

/* A dmabuf is a file of a file system of its own, and as long as seeking to its end says. */
static bool is_in_dmabuf(int fd, size_t offset, size_t len)
{
	struct statfs fs;
	off_t size;

	if (fstatfs(fd, &fs) || fs.f_type != DMA_BUF_MAGIC)
		return false;
	size = lseek(fd, 0, SEEK_END);
	return size >= 0 && len <= (size_t)size && offset <= (size_t)size - len;
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len)
{
	doca_error_t result;
	int fd;

	if (!mmap || !is_range(addr, len) || !is_in_dmabuf(dmabuf_fd, dmabuf_offset, len))
		return DOCA_ERROR_INVALID_VALUE;
	result = mmap_check_range(mmap);
	if (result != DOCA_SUCCESS)
		return result;
	fd = fcntl(dmabuf_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return DOCA_ERROR_NO_MEMORY;
	mmap_take_range(mmap, addr, len);
	mmap->dmabuf_fd = fd;
	mmap->dmabuf_offset = dmabuf_offset;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa,
					uint64_t dpa_addr, size_t len)
{
	doca_error_t result;

	if (!mmap || !dpa || !len || dpa_addr > UINT64_MAX - len)
		return DOCA_ERROR_INVALID_VALUE;
	result = mmap_check_range(mmap);
	return result == DOCA_SUCCESS ? DOCA_ERROR_NOT_SUPPORTED : result;
}

doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
	if (!mmap || !addr || !len)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->has_range)
		return DOCA_ERROR_BAD_STATE;
	*addr = mmap->addr;
	*len = mmap->len;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	if (!mmap || (access_mask & ~(uint32_t)MMAP_ACCESS_MASK) ||
	    (access_mask & MMAP_ACCESS_PCI) == MMAP_ACCESS_PCI)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started)
		return DOCA_ERROR_BAD_STATE;
	mmap->access = access_mask;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb,
				   void *opaque)
{
	if (!mmap || !free_cb)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started)
		return DOCA_ERROR_BAD_STATE;
	mmap->free_cb = free_cb;
	mmap->free_cookie = opaque;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started)
		return DOCA_ERROR_BAD_STATE;
	mmap->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data)
{
	if (!mmap || !user_data)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = mmap->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
	if (!mmap || !max_num_devices || max_num_devices > CORE_MAX_MMAP_DEVS ||
	    max_num_devices < mmap->num_devs)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->was_started)
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->max_devs = max_num_devices;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices)
{
	if (!mmap || !max_num_devices)
		return DOCA_ERROR_INVALID_VALUE;
	*max_num_devices = mmap->max_devs;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs)
{
	if (!mmap || !num_bufs)
		return DOCA_ERROR_INVALID_VALUE;
	*num_bufs = atomic_load(&mmap->users);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	/* Users are counted atomically in any case; there is nothing to switch. */
	return mmap->was_started ? DOCA_ERROR_NOT_PERMITTED : DOCA_SUCCESS;
}

doca_error_t doca_priv_mmap_get(struct doca_mmap *mmap, const struct doca_dev *dev, uint32_t access,
				void **addr, size_t *len)
{
	if (!mmap->is_started)
		return DOCA_ERROR_BAD_STATE;
	if (dev && !core_mmap_find_dev(mmap, dev))
		return DOCA_ERROR_NOT_FOUND;
	/* The memory of a map from an export is in another address space. */
	if (mmap->is_from_export || (mmap->access & access) != access)
		return DOCA_ERROR_NOT_PERMITTED;
	atomic_fetch_add(&mmap->users, 1);
	*addr = mmap->addr;
	*len = mmap->len;
	return DOCA_SUCCESS;
}

void doca_priv_mmap_put(struct doca_mmap *mmap)
{
	atomic_fetch_sub(&mmap->users, 1);
}
