/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory maps: one range, the devices that may use it, and how. Nothing is registered with a device
 * here: whoever needs a memory region makes it, so that a map of device memory (doorbells) costs
 * nothing and cannot fail for want of it.
 */
#include "core/mmap.h"

#include <stdlib.h>

#include "core/dev.h"
#include "core/limits.h"

#define MMAP_ACCESS_PCI (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)
#define MMAP_ACCESS_MASK                                                                \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |               \
	 DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC | MMAP_ACCESS_PCI | \
	 DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)

/* Owner: the application, one thread at a time. */
struct doca_mmap {
	void *addr;
	size_t len;
	bool has_range;
	bool is_range_fixed; /* set since the last stop: a second range is refused */
	bool is_started;
	bool was_started;
	uint32_t access;
	uint32_t max_devs;
	uint32_t num_devs;
	struct doca_dev **devs;
	unsigned int users; /* doca_priv_mmap_get() without put */
	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	union doca_data user_data;
};

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
	*mmap = m;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->users)
		return DOCA_ERROR_NOT_PERMITTED;
	for (uint32_t i = 0; i < mmap->num_devs; i++)
		doca_priv_dev_release(mmap->devs[i]);
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
	if (!mmap->is_started || mmap->users)
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->is_started = false;
	mmap->is_range_fixed = false;
	return DOCA_SUCCESS;
}

/* Index of dev, or num_devs. */
static uint32_t mmap_find_dev(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	uint32_t i;

	for (i = 0; i < mmap->num_devs && mmap->devs[i] != dev; i++)
		;
	return i;
}

doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct doca_dev **devs;

	if (!mmap || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started)
		return DOCA_ERROR_NOT_PERMITTED;
	if (mmap_find_dev(mmap, dev) < mmap->num_devs)
		return DOCA_ERROR_ALREADY_EXIST;
	if (mmap->num_devs >= mmap->max_devs)
		return DOCA_ERROR_NO_MEMORY;
	devs = reallocarray(mmap->devs, mmap->num_devs + 1, sizeof(struct doca_dev *));
	if (!devs)
		return DOCA_ERROR_NO_MEMORY;
	devs[mmap->num_devs++] = dev;
	mmap->devs = devs;
	doca_priv_dev_hold(dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	uint32_t i;

	if (!mmap || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started)
		return DOCA_ERROR_NOT_PERMITTED;
	i = mmap_find_dev(mmap, dev);
	if (i == mmap->num_devs)
		return DOCA_ERROR_NOT_FOUND;
	mmap->devs[i] = mmap->devs[--mmap->num_devs];
	doca_priv_dev_release(dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	if (!mmap || !addr || !len || (uintptr_t)addr > UINTPTR_MAX - len)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started)
		return DOCA_ERROR_BAD_STATE;
	if (mmap->is_range_fixed)
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->addr = addr;
	mmap->len = len;
	mmap->has_range = true;
	mmap->is_range_fixed = true;
	return DOCA_SUCCESS;
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

doca_error_t doca_priv_mmap_get(struct doca_mmap *mmap, const struct doca_dev *dev, uint32_t access,
				void **addr, size_t *len)
{
	if (!mmap->is_started)
		return DOCA_ERROR_BAD_STATE;
	if (dev && mmap_find_dev(mmap, dev) == mmap->num_devs)
		return DOCA_ERROR_NOT_FOUND;
	if ((mmap->access & access) != access)
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->users++;
	*addr = mmap->addr;
	*len = mmap->len;
	return DOCA_SUCCESS;
}

void doca_priv_mmap_put(struct doca_mmap *mmap)
{
	mmap->users--;
}
