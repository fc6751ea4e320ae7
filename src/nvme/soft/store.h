/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The storage seam of the soft controller, and the engines behind it.
 *
 * A store is a fixed number of bytes that can be read, written, flushed, zeroed and discarded.
 * All I/O goes through a channel; each I/O queue opens its own channel to each store, and uses it
 * from its one thread, so a store needs no lock on the I/O path. Requests are asynchronous:
 * submit() takes them, kick() starts the batch, poll() finishes what is done by calling
 * req->done(). An engine that needs no waiting may call done() inside submit().
 */
#ifndef NV_STORE_H
#define NV_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "nvme/err.h"

struct nv_store;
struct nv_store_chan;

enum nv_store_op {
	NV_STORE_READ,
	NV_STORE_WRITE,
	NV_STORE_FLUSH, /* everything completed so far is on the medium when this is done */
	NV_STORE_ZERO, /* range reads back as zeroes */
	NV_STORE_DISCARD, /* hint that the range is not needed; reads back old data or zeroes */
};

enum nv_store_flags {
	NV_STORE_FUA = 1 << 0, /* WRITE, ZERO: on the medium when done */
	NV_STORE_UNMAP = 1 << 1, /* ZERO: give the space back if that is possible */
};

struct nv_store_req {
	/* Set by the caller. The range lies within the store and is a multiple of its block. */
	enum nv_store_op op;
	uint32_t flags;
	uint64_t offset_bytes;
	uint64_t length_bytes;
	struct iovec *iov; /* READ, WRITE: sums to length_bytes; the store may change it */
	int iovcnt;

	/* Called once, from submit() or poll(), with 0 or -errno. The request may be freed in it.
	 */
	void (*done)(struct nv_store_req *req, int result);

	/* For the engine while it holds the request. */
	struct nv_store_req *next;
	uint64_t moved_bytes;
	int tries;
	int step;
};

struct nv_store_ops {
	/* Open a channel for at most @depth requests at a time. -errno with the cause in @err. */
	int (*chan_open)(struct nv_store *store, unsigned int depth, struct nv_store_chan **ret,
			 struct nv_err *err);

	void (*submit)(struct nv_store_chan *chan, struct nv_store_req *req);

	/* Start what was submitted since the last kick. */
	void (*kick)(struct nv_store_chan *chan);

	/* Call done() of what has finished. Returns how many. */
	int (*poll)(struct nv_store_chan *chan);

	/* Level-triggered: readable when poll() would find work. -1: all is done inside submit().
	 */
	int (*fd)(struct nv_store_chan *chan);

	/* Wait for what is in flight (done() is called), then free. */
	void (*chan_close)(struct nv_store_chan *chan);

	/* After the last channel is closed. */
	void (*destroy)(struct nv_store *store);
};

struct nv_store {
	const struct nv_store_ops *ops;
	const char *kind; /* "file", "block", "ram", "null" */
	uint32_t block_bytes;
	uint64_t size_bytes;
	bool read_only;
	bool volatile_cache; /* FLUSH and FUA mean something */
	bool thin; /* DISCARD gives space back, and the range reads as zeroes then */
	char note[NV_ERR_MAX]; /* what was chosen and why, for the log; "" if nothing to say */
};

/* ---- engines ------------------------------------------------------------------------------ */

enum nv_store_direct {
	NV_STORE_DIRECT_AUTO, /* O_DIRECT when the file takes it, page cache otherwise */
	NV_STORE_DIRECT_OFF,
	NV_STORE_DIRECT_ONLY, /* fail instead of using the page cache */
};

struct nv_store_file_conf {
	const char *path; /* regular file or block device */
	uint64_t size_bytes; /* not 0: create the file sparse, or set its size; 0: as it is */
	uint32_t block_bytes; /* 512 or 4096; 0 = 512 */
	bool read_only;
	enum nv_store_direct direct;
};

/*
 * Open a file or block device. An existing file is never shrunk by a size: -EINVAL tells.
 *
 * -errno with one clear line in @err: missing without a size (-ENOENT), a directory or other
 * special file (-EISDIR, -EINVAL), no permission (-EACCES, -EROFS), size not a multiple of the
 * block
 * (-EINVAL), O_DIRECT demanded and not possible (-EOPNOTSUPP), used by another target (-EBUSY).
 */
int nv_store_file_open(const struct nv_store_file_conf *conf, struct nv_store **ret,
		       struct nv_err *err);

/* Memory of this process; gone with it. -EINVAL, -ENOMEM. */
int nv_store_ram_create(uint64_t size_bytes, uint32_t block_bytes, struct nv_store **ret,
			struct nv_err *err);

/* Takes writes and forgets them, reads leave buffers as they are: for measuring what is above. */
int nv_store_null_create(uint64_t size_bytes, uint32_t block_bytes, struct nv_store **ret,
			 struct nv_err *err);

/* NULL is fine. A store given to nv_soft_add_ns() is destroyed by the controller. */
void nv_store_destroy(struct nv_store *store);

#endif
