/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ram engine: anonymous memory that takes pages only where something was written. Requests
 * are copies, done inside submit().
 */
#include "nvme/soft/store_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

/* From here on, dropping whole pages is cheaper than clearing them. */
#define DROP_MIN (16 * PAGE)

struct ram {
	struct nv_store store; /* first; the store is its own channel */
	uint8_t *base;
};

static int ram_open(struct nv_store *store, unsigned int depth, struct nv_store_chan **ret,
		    struct nv_err *err)
{
	(void)depth;
	(void)err;
	*ret = (struct nv_store_chan *)store;
	return 0;
}

static void clear(uint8_t *start, uint64_t len)
{
	uint8_t *first = (uint8_t *)(((uintptr_t)start + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	uint8_t *last = (uint8_t *)((uintptr_t)(start + len) & ~(uintptr_t)(PAGE - 1));

	if (len < DROP_MIN || madvise(first, (size_t)(last - first), MADV_DONTNEED)) {
		memset(start, 0, len);
		return;
	}
	memset(start, 0, (size_t)(first - start));
	memset(last, 0, (size_t)(start + len - last));
}

static void ram_submit(struct nv_store_chan *chan, struct nv_store_req *req)
{
	struct ram *ram = (struct ram *)chan;
	uint8_t *pos = ram->base + req->offset_bytes;

	switch (req->op) {
	case NV_STORE_READ:
		for (int i = 0; i < req->iovcnt; i++) {
			memcpy(req->iov[i].iov_base, pos, req->iov[i].iov_len);
			pos += req->iov[i].iov_len;
		}
		break;
	case NV_STORE_WRITE:
		for (int i = 0; i < req->iovcnt; i++) {
			memcpy(pos, req->iov[i].iov_base, req->iov[i].iov_len);
			pos += req->iov[i].iov_len;
		}
		break;
	case NV_STORE_ZERO:
	case NV_STORE_DISCARD:
		clear(pos, req->length_bytes);
		break;
	case NV_STORE_FLUSH:
		break;
	}
	req->done(req, 0);
}

static void ram_close(struct nv_store_chan *chan)
{
	(void)chan;
}

static void ram_destroy(struct nv_store *store)
{
	struct ram *ram = (struct ram *)store;

	munmap(ram->base, store->size_bytes);
	free(ram);
}

static const struct nv_store_ops ram_ops = {
	.chan_open = ram_open,
	.submit = ram_submit,
	.kick = nv_store_no_kick,
	.poll = nv_store_no_poll,
	.fd = nv_store_no_fd,
	.cancel = nv_store_no_cancel,
	.chan_close = ram_close,
	.size = nv_store_same_size,
	.destroy = ram_destroy,
};

int nv_store_ram_create(uint64_t size_bytes, uint32_t block_bytes, struct nv_store **ret,
			struct nv_err *err)
{
	struct ram *ram = calloc(1, sizeof(*ram));
	void *base;
	int rc;

	if (!ram)
		return nv_err(err, -ENOMEM, "out of memory");
	rc = nv_store_set_geometry(&ram->store, size_bytes, block_bytes, err);
	if (rc)
		goto free_ram;
	base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		rc = nv_err(err, -ENOMEM, "no address space for a ram disk of %" PRIu64 " bytes",
			    size_bytes);
		goto free_ram;
	}
	ram->base = base;
	ram->store.ops = &ram_ops;
	ram->store.kind = "ram";
	ram->store.thin = true;
	*ret = &ram->store;
	return 0;

free_ram:
	free(ram);
	return rc;
}
