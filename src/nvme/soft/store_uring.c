/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file engine, I/O half. A request is a sequence of system-call-sized steps: next_step() says
 * what to do, advance() looks at the result and says whether there is more. A channel runs steps on
 * its own io_uring, many at a time; where io_uring is not allowed, one after another.
 *
 * Owner: the thread of the channel. Nothing here is shared but the (read-only) file object.
 */
#include "nvme/soft/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define RING_MAX    1024u
#define REAP_BATCH  64u
#define MAX_RETRIES 64
#define ZERO_BYTES  (64u << 10)

/* Indexes of the registered files. */
enum {
	FD_CACHED,
	FD_DIRECT
};

struct nv_store_chan {
	struct nv_store_file *file;
	struct io_uring ring;
	bool has_ring;
	unsigned int inflight; /* requests that the ring has */
	unsigned int depth; /* requests that it may have */
	unsigned int prepared; /* of them not yet submitted */
	struct nv_store_req *wait_head;
	struct nv_store_req *wait_tail;
};

enum step_kind {
	STEP_READ,
	STEP_WRITE,
	STEP_SYNC,
	STEP_ALLOC,
	STEP_DISCARD
};

struct step {
	enum step_kind kind;
	int fd_index;
	int flags; /* RWF_* or FALLOC_FL_* */
	uint64_t offset;
	uint64_t length;
	const struct iovec *iov;
	int iovcnt;
	struct iovec zero_iov;
};

/*
 * How far a ZERO or DISCARD request is, in req->step; each falls back to the next. DISCARD ends
 * with its own step: a device that cannot make zeroes may take a discard, which promises nothing.
 */
enum zero_step {
	ZERO_PUNCH,
	ZERO_RANGE,
	ZERO_WRITE,
	ZERO_SYNC,
	ZERO_DISCARD
};

/* <linux/blkdev.h> of Linux 6.12: the ioctl BLKDISCARD for io_uring. */
#define URING_CMD_DISCARD _IO(0x12, 0)

static const uint8_t zeroes[ZERO_BYTES] __attribute__((aligned(4096)));

/* ---- steps -------------------------------------------------------------------------------- */

static bool fits_direct(const struct nv_store_file *file, const struct nv_store_req *req,
			uint64_t offset)
{
	uint64_t bits = offset;

	if (file->direct_fd < 0 || req->tries > 0)
		return false;
	for (int i = 0; i < req->iovcnt; i++) {
		if ((uintptr_t)req->iov[i].iov_base & (file->mem_align - 1))
			return false;
		bits |= req->iov[i].iov_len;
	}
	return !(bits & (file->offset_align - 1));
}

/* No Flush comes for a store without a volatile cache, so none may be dirty in the page cache. */
static int write_through(const struct nv_store_file *file)
{
	return file->store.volatile_cache ? 0 : RWF_DSYNC;
}

static void transfer_step(const struct nv_store_chan *chan, const struct nv_store_req *req,
			  struct step *step)
{
	step->kind = req->op == NV_STORE_READ ? STEP_READ : STEP_WRITE;
	step->offset = req->offset_bytes + req->moved_bytes;
	step->length = req->length_bytes - req->moved_bytes;
	step->iov = req->iov;
	step->iovcnt = req->iovcnt;
	step->flags = req->flags & NV_STORE_FUA ? RWF_DSYNC : 0;
	step->fd_index = fits_direct(chan->file, req, step->offset) ? FD_DIRECT : FD_CACHED;
	if (step->kind == STEP_WRITE && step->fd_index == FD_CACHED)
		step->flags |= write_through(chan->file);
}

static void zero_step(const struct nv_store_chan *chan, const struct nv_store_req *req,
		      struct step *step)
{
	step->offset = req->offset_bytes + req->moved_bytes;
	step->length = req->length_bytes - req->moved_bytes;
	step->fd_index = FD_CACHED;
	switch ((enum zero_step)req->step) {
	case ZERO_PUNCH:
		step->kind = STEP_ALLOC;
		step->flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
		break;
	case ZERO_RANGE:
		step->kind = STEP_ALLOC;
		step->flags = FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE;
		break;
	case ZERO_WRITE:
		step->kind = STEP_WRITE;
		step->flags = write_through(chan->file);
		if (step->length > ZERO_BYTES)
			step->length = ZERO_BYTES;
		step->zero_iov.iov_base = (void *)(uintptr_t)zeroes;
		step->zero_iov.iov_len = step->length;
		step->iov = &step->zero_iov;
		step->iovcnt = 1;
		break;
	case ZERO_SYNC:
		step->kind = STEP_SYNC;
		break;
	case ZERO_DISCARD:
		step->kind = STEP_DISCARD;
		break;
	}
}

static void next_step(const struct nv_store_chan *chan, const struct nv_store_req *req,
		      struct step *step)
{
	step->flags = 0;
	switch (req->op) {
	case NV_STORE_READ:
	case NV_STORE_WRITE:
		transfer_step(chan, req, step);
		return;
	case NV_STORE_FLUSH:
		step->kind = STEP_SYNC;
		step->fd_index = FD_CACHED;
		return;
	case NV_STORE_ZERO:
	case NV_STORE_DISCARD:
		zero_step(chan, req, step);
		return;
	}
}

/* ---- results ------------------------------------------------------------------------------ */

static bool finish(struct nv_store_req *req, int result)
{
	req->done(req, result);
	return false;
}

/* Drop the first @bytes of the request's iovec. */
static void skip(struct nv_store_req *req, size_t bytes)
{
	while (bytes) {
		size_t part = req->iov->iov_len < bytes ? req->iov->iov_len : bytes;

		req->iov->iov_base = (char *)req->iov->iov_base + part;
		req->iov->iov_len -= part;
		bytes -= part;
		if (req->iov->iov_len == 0) {
			req->iov++;
			req->iovcnt--;
		}
	}
}

static bool advance_transfer(struct nv_store_req *req, int res)
{
	if (res == -EINVAL && req->tries == 0) {
		/* O_DIRECT wanted another alignment than it said: the page cache has none. */
		req->tries = 1;
		return true;
	}
	if ((res == -EINTR || res == -EAGAIN) && req->tries < MAX_RETRIES) {
		req->tries++;
		return true;
	}
	if (res < 0)
		return finish(req, res);
	if (res == 0) /* somebody cut the file */
		return finish(req, -EIO);
	req->moved_bytes += (unsigned int)res;
	if (req->moved_bytes >= req->length_bytes)
		return finish(req, 0);
	skip(req, (size_t)res);
	return true;
}

/* EINVAL: a device with larger blocks than ours. */
static bool not_supported(int res)
{
	return res == -EOPNOTSUPP || res == -ENOSYS || res == -ENODEV || res == -EINVAL ||
	       res == -ENOTTY;
}

static bool zeroed(struct nv_store_req *req)
{
	if (!(req->flags & NV_STORE_FUA))
		return finish(req, 0);
	req->step = ZERO_SYNC;
	return true;
}

static bool advance_zero(struct nv_store_req *req, int res)
{
	if ((res == -EINTR || res == -EAGAIN) && req->tries < MAX_RETRIES) {
		req->tries++;
		return true;
	}
	switch ((enum zero_step)req->step) {
	case ZERO_PUNCH:
		if (not_supported(res) && req->op == NV_STORE_DISCARD) {
			req->step = ZERO_DISCARD;
			return true;
		}
		__attribute__((fallthrough));
	case ZERO_RANGE:
		if (not_supported(res)) {
			req->step++;
			return true;
		}
		return res < 0 ? finish(req, res) : zeroed(req);
	case ZERO_WRITE:
		if (res <= 0)
			return finish(req, res ? res : -EIO);
		req->moved_bytes += (unsigned int)res;
		return req->moved_bytes < req->length_bytes ? true : zeroed(req);
	case ZERO_SYNC:
		return finish(req, res < 0 ? res : 0);
	case ZERO_DISCARD:
		return finish(req, not_supported(res) ? -EOPNOTSUPP : res);
	}
	return finish(req, -EINVAL);
}

/* True: the request needs its next step. False: it is done, and no longer ours. */
static bool advance(struct nv_store_req *req, int res)
{
	switch (req->op) {
	case NV_STORE_READ:
	case NV_STORE_WRITE:
		return advance_transfer(req, res);
	case NV_STORE_FLUSH:
		return finish(req, res < 0 ? res : 0);
	case NV_STORE_ZERO:
	case NV_STORE_DISCARD:
		return advance_zero(req, res);
	}
	return finish(req, -EINVAL);
}

/* ---- running steps ------------------------------------------------------------------------ */

static int run_inline(const struct nv_store_chan *chan, const struct step *step)
{
	int fd = step->fd_index == FD_DIRECT ? chan->file->direct_fd : chan->file->fd;
	uint64_t range[2] = {step->offset, step->length};
	ssize_t res = -1;

	switch (step->kind) {
	case STEP_READ:
		res = preadv2(fd, step->iov, step->iovcnt, (off_t)step->offset, step->flags);
		break;
	case STEP_WRITE:
		res = pwritev2(fd, step->iov, step->iovcnt, (off_t)step->offset, step->flags);
		break;
	case STEP_SYNC:
		res = fdatasync(fd);
		break;
	case STEP_ALLOC:
		res = fallocate(fd, step->flags, (off_t)step->offset, (off_t)step->length);
		break;
	case STEP_DISCARD:
		res = ioctl(fd, BLKDISCARD, range);
		break;
	}
	return res < 0 ? -errno : (int)res;
}

static void prepare(struct io_uring_sqe *sqe, const struct step *step)
{
	int fd = step->fd_index;

	switch (step->kind) {
	case STEP_READ:
		if (step->iovcnt == 1)
			io_uring_prep_read(sqe, fd, step->iov->iov_base,
					   (unsigned int)step->iov->iov_len, step->offset);
		else
			io_uring_prep_readv(sqe, fd, step->iov, (unsigned int)step->iovcnt,
					    step->offset);
		break;
	case STEP_WRITE:
		if (step->iovcnt == 1)
			io_uring_prep_write(sqe, fd, step->iov->iov_base,
					    (unsigned int)step->iov->iov_len, step->offset);
		else
			io_uring_prep_writev(sqe, fd, step->iov, (unsigned int)step->iovcnt,
					     step->offset);
		sqe->rw_flags = step->flags;
		break;
	case STEP_SYNC:
		io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
		break;
	case STEP_ALLOC:
		io_uring_prep_fallocate(sqe, fd, step->flags, (off_t)step->offset,
					(off_t)step->length);
		break;
	case STEP_DISCARD:
		io_uring_prep_rw(IORING_OP_URING_CMD, sqe, fd, NULL, 0, 0);
		sqe->cmd_op = URING_CMD_DISCARD;
		sqe->addr = step->offset;
		sqe->addr3 = step->length;
		break;
	}
	sqe->flags |= IOSQE_FIXED_FILE;
}

static struct io_uring_sqe *get_sqe(struct nv_store_chan *chan)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&chan->ring);

	if (sqe)
		return sqe;
	nv_store_uring_kick(chan);
	return io_uring_get_sqe(&chan->ring);
}

/* Give the next step of @req to the ring. False: no room. */
static bool issue(struct nv_store_chan *chan, struct nv_store_req *req)
{
	struct io_uring_sqe *sqe;
	struct step step;

	if (chan->inflight == chan->depth)
		return false;
	sqe = get_sqe(chan);
	if (!sqe)
		return false;
	next_step(chan, req, &step);
	prepare(sqe, &step);
	io_uring_sqe_set_data(sqe, req);
	chan->inflight++;
	chan->prepared++;
	return true;
}

static void wait_for_room(struct nv_store_chan *chan, struct nv_store_req *req)
{
	req->next = NULL;
	if (chan->wait_tail)
		chan->wait_tail->next = req;
	else
		chan->wait_head = req;
	chan->wait_tail = req;
}

static void issue_waiting(struct nv_store_chan *chan)
{
	while (chan->wait_head) {
		struct nv_store_req *req = chan->wait_head;

		if (!issue(chan, req))
			return;
		chan->wait_head = req->next;
		if (!chan->wait_head)
			chan->wait_tail = NULL;
	}
}

static void run_all_inline(struct nv_store_chan *chan, struct nv_store_req *req)
{
	struct step step;

	do {
		next_step(chan, req, &step);
	} while (advance(req, run_inline(chan, &step)));
}

void nv_store_uring_submit(struct nv_store_chan *chan, struct nv_store_req *req)
{
	req->moved_bytes = 0;
	req->tries = 0;
	req->step = req->op == NV_STORE_ZERO && !(req->flags & NV_STORE_UNMAP) ? ZERO_RANGE
									       : ZERO_PUNCH;
	if (!chan->has_ring)
		run_all_inline(chan, req);
	else if (chan->wait_head || !issue(chan, req))
		wait_for_room(chan, req);
}

void nv_store_uring_kick(struct nv_store_chan *chan)
{
	int tries = 0;

	while (chan->prepared) {
		int rc = io_uring_submit(&chan->ring);

		if (rc >= 0)
			chan->prepared -= (unsigned int)rc;
		/* What the kernel has no room for now stays in the ring for the next kick. */
		if (rc == 0 || (rc < 0 && (rc != -EINTR || ++tries > MAX_RETRIES)))
			return;
	}
}

int nv_store_uring_poll(struct nv_store_chan *chan)
{
	struct io_uring_cqe *cqes[REAP_BATCH];
	unsigned int count;

	if (!chan->has_ring)
		return 0;
	count = io_uring_peek_batch_cqe(&chan->ring, cqes, REAP_BATCH);
	for (unsigned int i = 0; i < count; i++) {
		struct nv_store_req *req = io_uring_cqe_get_data(cqes[i]);

		chan->inflight--;
		if (advance(req, cqes[i]->res) && !issue(chan, req))
			wait_for_room(chan, req);
	}
	io_uring_cq_advance(&chan->ring, count);
	issue_waiting(chan);
	nv_store_uring_kick(chan);
	return (int)count;
}

int nv_store_uring_fd(struct nv_store_chan *chan)
{
	return chan->has_ring ? chan->ring.ring_fd : -1;
}

/* ---- life --------------------------------------------------------------------------------- */

static int open_ring(struct io_uring *ring, unsigned int entries)
{
	/*
	 * Completions are collected by poll(), which enters the kernel when there are any; without
	 * this the kernel would interrupt the thread for each. Kernels before 5.19 do.
	 */
	struct io_uring_params params = {
		.flags = IORING_SETUP_CLAMP | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
	};
	int rc = io_uring_queue_init_params(entries, ring, &params);

	if (rc == -EINVAL) {
		params = (struct io_uring_params){.flags = IORING_SETUP_CLAMP};
		rc = io_uring_queue_init_params(entries, ring, &params);
	}
	return rc;
}

int nv_store_uring_probe(void)
{
	struct io_uring ring;
	int rc = open_ring(&ring, 1);

	if (!rc)
		io_uring_queue_exit(&ring);
	return rc;
}

int nv_store_uring_open(struct nv_store *store, unsigned int depth, struct nv_store_chan **ret,
			struct nv_err *err)
{
	struct nv_store_file *file = (struct nv_store_file *)store;
	struct nv_store_chan *chan = calloc(1, sizeof(*chan));
	int fds[2] = {file->fd, file->direct_fd};
	int rc;

	if (!chan)
		return nv_err(err, -ENOMEM, "out of memory");
	chan->file = file;
	chan->depth = depth < RING_MAX ? depth : RING_MAX;
	*ret = chan;
	if (open_ring(&chan->ring, chan->depth))
		return 0; /* the store's note says so */
	rc = io_uring_register_files(&chan->ring, fds, file->direct_fd >= 0 ? 2 : 1);
	if (rc) {
		io_uring_queue_exit(&chan->ring);
		free(chan);
		return nv_err(err, rc, "io_uring cannot register files");
	}
	chan->has_ring = true;
	return 0;
}

void nv_store_uring_close(struct nv_store_chan *chan)
{
	while (chan->has_ring && (chan->inflight || chan->wait_head)) {
		struct io_uring_cqe *cqe;

		nv_store_uring_kick(chan);
		(void)io_uring_wait_cqe(&chan->ring, &cqe);
		(void)nv_store_uring_poll(chan);
	}
	if (chan->has_ring)
		io_uring_queue_exit(&chan->ring);
	free(chan);
}
