/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the storage engines: geometry checks, and the file object that store_file.c opens and
 * store_uring.c does I/O on.
 */
#ifndef NV_STORE_PRIV_H
#define NV_STORE_PRIV_H

#include "nvme/soft/store.h"

/* @block_bytes 0 becomes 512. -EINVAL with the cause in @err. */
int nv_store_set_geometry(struct nv_store *store, uint64_t size_bytes, uint32_t block_bytes,
			  struct nv_err *err);

/* For engines whose requests end inside submit(). */
void nv_store_no_kick(struct nv_store_chan *chan);
int nv_store_no_poll(struct nv_store_chan *chan);
int nv_store_no_fd(struct nv_store_chan *chan);

/* For engines that hold nothing back. */
void nv_store_no_cancel(struct nv_store_chan *chan);

/* For engines whose size never changes. */
int nv_store_same_size(struct nv_store *store, uint64_t *ret_bytes);

/* For engines on top of another one: all that is true of @below is true of @store. */
void nv_store_inherit(struct nv_store *store, const struct nv_store *below);

/* A pseudo-random sequence (splitmix64): repeatable, nothing secret. */
static inline uint64_t nv_store_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Evenly spread over 0..@limit-1; @limit is far below 2^64, so that the remainder does no harm. */
static inline uint64_t nv_store_random_below(uint64_t *state, uint64_t limit)
{
	return nv_store_random(state) % limit;
}

/* store_bdev.c: what sysfs, mounted at @sysfs, says of the block device @major:@minor. */
struct nv_store_bdev {
	bool has_write_cache; /* true unless the device says that it has none */
	bool can_zero; /* writes zeroes without being sent them */
	struct nv_store_sizes sizes;
};
void nv_store_bdev_read(const char *sysfs, unsigned int major, unsigned int minor,
			struct nv_store_bdev *ret);

struct nv_store_file {
	struct nv_store store; /* first */
	int fd; /* through the page cache; also for sync and fallocate */
	int direct_fd; /* O_DIRECT, or -1 */
	uint32_t mem_align; /* what O_DIRECT asks of addresses... */
	uint32_t offset_align; /* ...and of offsets and lengths */
};

/* store_uring.c: the I/O half of the file engine. */
int nv_store_uring_open(struct nv_store *store, unsigned int depth, struct nv_store_chan **ret,
			struct nv_err *err);
void nv_store_uring_submit(struct nv_store_chan *chan, struct nv_store_req *req);
void nv_store_uring_kick(struct nv_store_chan *chan);
int nv_store_uring_poll(struct nv_store_chan *chan);
int nv_store_uring_fd(struct nv_store_chan *chan);
void nv_store_uring_close(struct nv_store_chan *chan);

/* May this system use io_uring at all (kernel, seccomp, io_uring_disabled)? 0 or -errno. */
int nv_store_uring_probe(void);

#endif
