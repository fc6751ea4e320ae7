/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all storage engines share.
 */
#include "nvme/soft/store_priv.h"

#include <errno.h>
#include <inttypes.h>

int nv_store_set_geometry(struct nv_store *store, uint64_t size_bytes, uint32_t block_bytes,
			  struct nv_err *err)
{
	if (block_bytes == 0)
		block_bytes = 512;
	if (block_bytes != 512 && block_bytes != 4096)
		return nv_err(err, -EINVAL, "block size %u is neither 512 nor 4096", block_bytes);
	if (size_bytes == 0)
		return nv_err(err, -EINVAL, "size is zero");
	if (size_bytes > INT64_MAX)
		return nv_err(err, -EINVAL, "size %" PRIu64 " is beyond 2^63", size_bytes);
	if (size_bytes % block_bytes)
		return nv_err(err, -EINVAL,
			      "size %" PRIu64 " is not a multiple of the block size %u", size_bytes,
			      block_bytes);
	store->size_bytes = size_bytes;
	store->block_bytes = block_bytes;
	return 0;
}

void nv_store_no_kick(struct nv_store_chan *chan)
{
	(void)chan;
}

int nv_store_no_poll(struct nv_store_chan *chan)
{
	(void)chan;
	return 0;
}

int nv_store_no_fd(struct nv_store_chan *chan)
{
	(void)chan;
	return -1;
}

void nv_store_no_cancel(struct nv_store_chan *chan)
{
	(void)chan;
}

int nv_store_same_size(struct nv_store *store, uint64_t *ret_bytes)
{
	*ret_bytes = store->size_bytes;
	return 0;
}

void nv_store_inherit(struct nv_store *store, const struct nv_store *below)
{
	const struct nv_store_ops *ops = store->ops;
	const char *kind = store->kind;

	*store = *below;
	store->ops = ops;
	store->kind = kind;
}

void nv_store_destroy(struct nv_store *store)
{
	if (store)
		store->ops->destroy(store);
}
