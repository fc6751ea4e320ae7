/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The null engine: every request succeeds at once; writes go nowhere, reads give zeroes. It
 * measures the layers above.
 */
#include "nvme/soft/store_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* There is no state: the store is its own channel. */
static int null_open(struct nv_store *store, unsigned int depth, struct nv_store_chan **ret,
		     struct nv_err *err)
{
	(void)depth;
	(void)err;
	*ret = (struct nv_store_chan *)store;
	return 0;
}

static void null_submit(struct nv_store_chan *chan, struct nv_store_req *req)
{
	(void)chan;
	/* Left alone, a buffer would show a host what it held before: another host's data. */
	for (int i = 0; req->op == NV_STORE_READ && i < req->iovcnt; i++)
		memset(req->iov[i].iov_base, 0, req->iov[i].iov_len);
	req->done(req, 0);
}

static void null_close(struct nv_store_chan *chan)
{
	(void)chan;
}

static void null_destroy(struct nv_store *store)
{
	free(store);
}

static const struct nv_store_ops null_ops = {
	.chan_open = null_open,
	.submit = null_submit,
	.kick = nv_store_no_kick,
	.poll = nv_store_no_poll,
	.fd = nv_store_no_fd,
	.cancel = nv_store_no_cancel,
	.chan_close = null_close,
	.size = nv_store_same_size,
	.destroy = null_destroy,
};

int nv_store_null_create(uint64_t size_bytes, uint32_t block_bytes, struct nv_store **ret,
			 struct nv_err *err)
{
	struct nv_store *store = calloc(1, sizeof(*store));
	int rc;

	if (!store)
		return nv_err(err, -ENOMEM, "out of memory");
	rc = nv_store_set_geometry(store, size_bytes, block_bytes, err);
	if (rc) {
		free(store);
		return rc;
	}
	store->ops = &null_ops;
	store->kind = "null";
	*ret = store;
	return 0;
}
