/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys and exports of memory maps. A memory region is made when the first key or export of a device
 * is asked for, and lives until the map stops: that is what ends the access of those who imported
 * it.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/dev.h"
#include "core/mmap.h"
#include "core/mmap_priv.h"
#include "util/byteorder.h"

#define MMAP_ACCESS_RDMA \
	(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/* Control path only, so one for all maps. */
static pthread_mutex_t mmap_key_lock = PTHREAD_MUTEX_INITIALIZER;

/* The description that an export is: little endian, no padding. */
enum {
	EXPORT_MAGIC_AT = 0, /* 32 bits */
	EXPORT_VERSION_AT = 4, /* 16 bits */
	EXPORT_KIND_AT = 6, /* 16 bits */
	EXPORT_ADDR_AT = 8, /* 64 bits, in the exporter's address space */
	EXPORT_LEN_AT = 16, /* 64 bits, bytes */
	EXPORT_RKEY_AT = 24, /* 32 bits */
	EXPORT_ACCESS_AT = 28, /* 32 bits, of enum doca_access_flag */
	EXPORT_BYTES = 32,
};

#define EXPORT_MAGIC	 UINT32_C(0x50414d44) /* "DMAP" */
#define EXPORT_VERSION	 1
#define EXPORT_KIND_RDMA 1

static unsigned int mmap_verbs_access(uint32_t access)
{
	unsigned int verbs = 0;

	if (access & DOCA_ACCESS_FLAG_LOCAL_READ_WRITE)
		verbs |= IBV_ACCESS_LOCAL_WRITE;
	if (access & DOCA_ACCESS_FLAG_RDMA_READ)
		verbs |= IBV_ACCESS_REMOTE_READ;
	/* Whoever lets a peer write has to be able to write himself (IBA 10.6.3.1). */
	if (access & DOCA_ACCESS_FLAG_RDMA_WRITE)
		verbs |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	if (access & DOCA_ACCESS_FLAG_RDMA_ATOMIC)
		verbs |= IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE;
	if (access & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)
		verbs |= IBV_ACCESS_RELAXED_ORDERING;
	return verbs;
}

/* With the lock held. 0 or an errno. */
static int mmap_register(const struct doca_mmap *mmap, struct core_mmap_dev *d)
{
	struct ibv_pd *pd = doca_priv_dev_get_pd(d->dev);
	unsigned int access = mmap_verbs_access(mmap->access);

	if (d->mr)
		return 0;
	errno = EIO;
	if (mmap->dmabuf_fd >= 0)
		d->mr = ibv_reg_dmabuf_mr(pd, mmap->dmabuf_offset, mmap->len, (uintptr_t)mmap->addr,
					  mmap->dmabuf_fd, (int)access);
	else
		d->mr = ibv_reg_mr(pd, mmap->addr, mmap->len, access);
	return d->mr ? 0 : errno;
}

bool core_mmap_drop_keys(struct doca_mmap *mmap)
{
	bool all_gone = true;

	pthread_mutex_lock(&mmap_key_lock);
	for (uint32_t i = 0; i < mmap->num_devs && all_gone; i++) {
		struct core_mmap_dev *d = &mmap->devs[i];

		if (d->mr && ibv_dereg_mr(d->mr)) {
			all_gone = false;
			continue;
		}
		d->mr = NULL;
		free(d->export);
		d->export = NULL;
	}
	pthread_mutex_unlock(&mmap_key_lock);
	return all_gone;
}

doca_error_t doca_priv_mmap_get_mkey(const struct doca_mmap *mmap, const struct ibv_pd *pd,
				     uint32_t *mkey)
{
	doca_error_t result = DOCA_ERROR_NOT_FOUND;

	if (!mmap->is_started)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&mmap_key_lock);
	for (uint32_t i = 0; i < mmap->num_devs; i++) {
		struct core_mmap_dev *d = &mmap->devs[i];

		if (doca_priv_dev_get_pd(d->dev) != pd)
			continue;
		result = DOCA_SUCCESS;
		if (mmap->is_from_export)
			*mkey = mmap->peer_rkey;
		else if (mmap_register(mmap, d))
			result = DOCA_ERROR_OPERATING_SYSTEM;
		else
			*mkey = d->mr->lkey;
		break;
	}
	pthread_mutex_unlock(&mmap_key_lock);
	return result;
}

/* What every export needs. */
static doca_error_t mmap_check_export(const struct doca_mmap *mmap, const struct doca_dev *dev,
				      uint32_t permissions, struct core_mmap_dev **ret)
{
	struct core_mmap_dev *d;

	if (!mmap->is_started || mmap->is_from_export)
		return DOCA_ERROR_NOT_PERMITTED;
	d = core_mmap_find_dev(mmap, dev);
	if (!d)
		return DOCA_ERROR_NOT_FOUND;
	if (!(mmap->access & permissions))
		return DOCA_ERROR_NOT_PERMITTED;
	*ret = d;
	return DOCA_SUCCESS;
}

/* With the lock held. */
static doca_error_t mmap_describe(const struct doca_mmap *mmap, struct core_mmap_dev *d)
{
	int err = mmap_register(mmap, d);

	if (err)
		return err == ENOMEM	   ? DOCA_ERROR_NO_MEMORY
		       : err == EOPNOTSUPP ? DOCA_ERROR_NOT_SUPPORTED
					   : DOCA_ERROR_DRIVER;
	d->export = malloc(EXPORT_BYTES);
	if (!d->export)
		return DOCA_ERROR_NO_MEMORY;
	util_put_le32(d->export + EXPORT_MAGIC_AT, EXPORT_MAGIC);
	util_put_le16(d->export + EXPORT_VERSION_AT, EXPORT_VERSION);
	util_put_le16(d->export + EXPORT_KIND_AT, EXPORT_KIND_RDMA);
	util_put_le64(d->export + EXPORT_ADDR_AT, (uintptr_t)mmap->addr);
	util_put_le64(d->export + EXPORT_LEN_AT, mmap->len);
	util_put_le32(d->export + EXPORT_RKEY_AT, d->mr->rkey);
	util_put_le32(d->export + EXPORT_ACCESS_AT, mmap->access & MMAP_ACCESS_RDMA);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
				   const void **export_desc, size_t *export_desc_len)
{
	struct core_mmap_dev *d;
	doca_error_t result;

	if (!mmap || !dev || !export_desc || !export_desc_len)
		return DOCA_ERROR_INVALID_VALUE;
	result = mmap_check_export(mmap, dev, MMAP_ACCESS_RDMA, &d);
	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&mmap_key_lock);
	if (!d->export)
		result = mmap_describe(mmap, d);
	if (result == DOCA_SUCCESS) {
		*export_desc = d->export;
		*export_desc_len = EXPORT_BYTES;
	}
	pthread_mutex_unlock(&mmap_key_lock);
	return result;
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
				  const void **export_desc, size_t *export_desc_len)
{
	struct core_mmap_dev *d;
	doca_error_t result;

	if (!mmap || !dev || !export_desc || !export_desc_len)
		return DOCA_ERROR_INVALID_VALUE;
	result = mmap_check_export(mmap, dev,
				   DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE,
				   &d);
	return result == DOCA_SUCCESS ? DOCA_ERROR_NOT_SUPPORTED : result;
}

doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported)
{
	if (!mmap || !exported)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&mmap_key_lock);
	*exported = 0;
	for (uint32_t i = 0; i < mmap->num_devs; i++)
		*exported |= mmap->devs[i].export != NULL;
	pthread_mutex_unlock(&mmap_key_lock);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export)
{
	if (!mmap || !from_export)
		return DOCA_ERROR_INVALID_VALUE;
	*from_export = mmap->is_from_export;
	return DOCA_SUCCESS;
}

/* Bytes from a peer: anything may be in them. */
static doca_error_t mmap_import(struct doca_mmap *mmap, const uint8_t *desc, size_t desc_len)
{
	uint64_t addr, len;

	if (desc_len < EXPORT_KIND_AT || util_get_le32(desc + EXPORT_MAGIC_AT) != EXPORT_MAGIC)
		return DOCA_ERROR_INVALID_VALUE;
	if (util_get_le16(desc + EXPORT_VERSION_AT) != EXPORT_VERSION)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (desc_len != EXPORT_BYTES || util_get_le16(desc + EXPORT_KIND_AT) != EXPORT_KIND_RDMA)
		return DOCA_ERROR_INVALID_VALUE;
	addr = util_get_le64(desc + EXPORT_ADDR_AT);
	len = util_get_le64(desc + EXPORT_LEN_AT);
	mmap->access = util_get_le32(desc + EXPORT_ACCESS_AT);
	if (!len || addr > UINTPTR_MAX || len > UINTPTR_MAX - addr || !mmap->access ||
	    (mmap->access & ~(uint32_t)MMAP_ACCESS_RDMA))
		return DOCA_ERROR_INVALID_VALUE;
	mmap->addr = (void *)(uintptr_t)addr;
	mmap->len = len;
	mmap->has_range = true;
	mmap->peer_rkey = util_get_le32(desc + EXPORT_RKEY_AT);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev,
					  struct doca_mmap **mmap)
{
	struct doca_mmap *m;
	doca_error_t result;

	if (!export_desc || !dev || !mmap)
		return DOCA_ERROR_INVALID_VALUE;
	result = doca_mmap_create(&m);
	if (result != DOCA_SUCCESS)
		return result;
	result = mmap_import(m, export_desc, export_desc_len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(m, dev);
	if (result != DOCA_SUCCESS) {
		(void)doca_mmap_destroy(m);
		return result;
	}
	if (user_data)
		m->user_data = *user_data;
	m->is_started = m->was_started = m->is_from_export = true;
	*mmap = m;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *dpa_mmap_handle)
{
	if (!mmap || !dev || !dpa_mmap_handle)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->is_started || mmap->is_from_export)
		return DOCA_ERROR_NOT_PERMITTED;
	return core_mmap_find_dev(mmap, dev) ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_NOT_FOUND;
}
