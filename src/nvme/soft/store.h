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

#define NV_STORE_OPS 5 /* how many there are */

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

	/*
	 * The queue is being deleted, so nobody may be left to own the buffers: end what is held
	 * back on purpose with -ECANCELED, without touching them.
	 */
	void (*cancel)(struct nv_store_chan *chan);

	/*
	 * Wait for what is in flight (done() is called; -ECANCELED if it would never end), then
	 * free.
	 */
	void (*chan_close)(struct nv_store_chan *chan);

	/*
	 * How large the medium is now, which may differ from size_bytes: somebody may have grown
	 * the file or the device. Any thread. -errno: it cannot be said.
	 */
	int (*size)(struct nv_store *store, uint64_t *ret_bytes);

	/* After the last channel is closed. */
	void (*destroy)(struct nv_store *store);
};

/* Sizes that the medium likes; 0 = not known. Hints, not limits. */
struct nv_store_sizes {
	uint32_t write_bytes; /* smallest write without a read before it, and its alignment */
	uint32_t optimal_bytes; /* writes of a multiple are fastest */
	uint32_t discard_bytes; /* smallest discard that has an effect, and its alignment */
	uint32_t boundary_bytes; /* I/O that crosses a multiple is slower */
};

struct nv_store {
	const struct nv_store_ops *ops;
	const char *kind; /* "file", "block", "ram", "null", "delay", "fault" */
	uint32_t block_bytes;
	uint64_t size_bytes; /* when it was opened */
	bool read_only;
	bool volatile_cache; /* FLUSH and FUA mean something */
	struct nv_store_sizes sizes;
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
	uint32_t block_bytes; /* 512 or 4096; 0 = that of the device, 512 for a file */
	bool read_only; /* what cannot be written is opened read-only without it, too; see note */
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

/*
 * Stores that stand on another one, @below: as large as that, and destroyed with it. They own
 * @below when they return 0. The same seed, the same channels opened in the same order and the same
 * requests give the same sequence.
 */

/* How long a request is held back before @below gets it. */
struct nv_store_delay_conf {
	struct {
		uint64_t fixed_ns;
		uint64_t random_ns; /* 0 up to here in addition, evenly spread */
	} op[NV_STORE_OPS]; /* by enum nv_store_op */
	uint64_t seed;
};

/* -EINVAL: a delay of more than NV_STORE_DELAY_MAX_NS. -ENOMEM. */
int nv_store_delay_create(const struct nv_store_delay_conf *conf, struct nv_store *below,
			  struct nv_store **ret, struct nv_err *err);

#define NV_STORE_PPM 1000000u /* certain */

/*
 * When a request fails. It must meet all conditions; a condition that is zero is none. Requests
 * that fail do not reach the store below.
 */
struct nv_store_fault {
	uint32_t ops; /* 1u << enum nv_store_op, ored */
	uint64_t first_block; /* the range touches first_block .. first_block + blocks - 1 */
	uint64_t blocks; /* 0 = up to the end */
	uint64_t nth; /* not before the n-th request that meets the conditions above */
	uint32_t probability_ppm; /* 0 = always */
	uint32_t times; /* this often, then never again; 0 = for ever */
	/*
	 * A positive errno, which the controller turns into a status: EIO (media error), ERANGE
	 * (LBA out of range), ENOSPC (capacity exceeded), EROFS (write protected), others (internal
	 * error). 0: the request is never answered.
	 */
	int error;
};

struct nv_store_fault_conf {
	const struct nv_store_fault *faults; /* copied; the first that applies strikes */
	unsigned int count; /* at most NV_STORE_MAX_FAULTS */
	uint64_t seed;
};

/* -EINVAL, -ENOMEM. */
int nv_store_fault_create(const struct nv_store_fault_conf *conf, struct nv_store *below,
			  struct nv_store **ret, struct nv_err *err);

/*
 * Other faults, from now on; their counts begin anew. What is held as never answered stays so. Safe
 * from any thread while the store is in use. -EINVAL: not a fault store, too many faults.
 */
int nv_store_fault_set(struct nv_store *store, const struct nv_store_fault_conf *conf,
		       struct nv_err *err);

/* Requests that failed and that were never answered, since creation. Safe from any thread. */
void nv_store_fault_count(const struct nv_store *store, uint64_t *ret_failed,
			  uint64_t *ret_dropped);

/* NULL is fine. A store given to nv_soft_add_ns() is destroyed by the controller. */
void nv_store_destroy(struct nv_store *store);

#endif
