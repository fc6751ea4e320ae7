/* SPDX-License-Identifier: Apache-2.0 */
/*
 * I/O queue pairs: creation and deletion, taking commands from the submission ring, putting
 * completions into the completion ring, and the companion that a queue's thread calls.
 *
 * Commands are taken only while a slot is free, so what does not fit waits in the submission ring;
 * completions that find the completion ring full wait in their slots.
 */
#include "nvme/soft/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* ---- completions -------------------------------------------------------------------------- */

static uint16_t next_index(uint16_t index, uint16_t entries)
{
	return index + 1 == entries ? 0 : (uint16_t)(index + 1);
}

static bool cq_is_full(struct nv_soft_queue *queue)
{
	uint16_t next = next_index(queue->cq_tail, queue->cq_entries);

	if (next != queue->cq_head)
		return false;
	/* A value that is no index is ignored, as if it had not been written. */
	uint32_t head = __atomic_load_n(queue->cq_head_doorbell, __ATOMIC_ACQUIRE);

	if (head < queue->cq_entries)
		queue->cq_head = (uint16_t)head;
	return next == queue->cq_head;
}

static void put(struct nv_soft_queue *queue, const struct nv_soft_posting *posting)
{
	nv_soft_write_cqe(&queue->cq[queue->cq_tail], posting);
	queue->cq_tail = next_index(queue->cq_tail, queue->cq_entries);
	if (queue->cq_tail == 0)
		queue->phase ^= 1;
	queue->posted++;
}

static void put_torn(struct nv_soft_queue *queue, struct nv_soft_posting *posting)
{
	uint32_t kinds = nv_soft_take_tears(queue->soft, queue->qid);

	if (kinds & 1u << NV_SOFT_TORN_SILENT)
		return;
	nv_soft_tear_posting(posting, kinds);
	put(queue, posting);
	if (!(kinds & 1u << NV_SOFT_TORN_TWICE) || cq_is_full(queue))
		return;
	posting->phase = queue->phase;
	put(queue, posting);
}

static void post(struct nv_soft_queue *queue, const struct nv_soft_io *io)
{
	struct nv_soft_posting posting = {
		.sq_head = queue->sq_head,
		.sq_id = queue->qid,
		.cid = io->cid,
		.status = io->status,
		.phase = queue->phase,
	};

	if (nv_soft_is_armed(queue->soft, queue->qid))
		put_torn(queue, &posting);
	else
		put(queue, &posting);
}

static void release(struct nv_soft_queue *queue, struct nv_soft_io *io)
{
	io->next = queue->free;
	queue->free = io;
	queue->inflight--;
}

static void post_waiting(struct nv_soft_queue *queue)
{
	while (queue->done.head && !cq_is_full(queue)) {
		struct nv_soft_io *io = nv_soft_io_pop(&queue->done);

		post(queue, io);
		release(queue, io);
	}
}

static void note_error(struct nv_soft_queue *queue, const struct nv_soft_io *io)
{
	uint64_t lba = io->ns ? io->req.offset_bytes >> io->ns->block_shift : 0;

	nv_soft_count(&queue->count->errors, 1);
	if ((io->status >> NVME_SCT_SHIFT & NVME_SCT_MASK) == NVME_SCT_MEDIA &&
	    (io->status & NV_SC_CODE_MASK) != NV_SC(NVME_SCT_MEDIA, NVME_SC_COMPARE_FAILED))
		nv_soft_count(&queue->count->media_errors, 1);
	if ((io->status & NV_SC_CODE_MASK) == NVME_SC_DATA_XFER_ERROR)
		nv_soft_count(&queue->count->bad_addresses, 1);
	nv_soft_log_error(queue->soft, queue->qid, le16toh(io->cid), io->status, io->nsid, lba);
}

void nv_soft_io_complete(struct nv_soft_io *io, uint16_t status)
{
	struct nv_soft_queue *queue = io->queue;

	io->status = status;
	if (status)
		note_error(queue, io);
	if (queue->done.head || cq_is_full(queue)) {
		nv_soft_io_push(&queue->done, io);
		return;
	}
	post(queue, io);
	release(queue, io);
}

/* ---- commands ----------------------------------------------------------------------------- */

static struct nv_soft_io *take_slot(struct nv_soft_queue *queue)
{
	struct nv_soft_io *io = queue->free;

	if (io) {
		queue->free = io->next;
		queue->inflight++;
	}
	return io;
}

static void fetch(struct nv_soft_queue *queue)
{
	uint32_t tail = __atomic_load_n(queue->sq_tail_doorbell, __ATOMIC_ACQUIRE);

	if (tail >= queue->sq_entries)
		return; /* no index: ignored */
	if (nv_soft_is_armed(queue->soft, queue->qid) &&
	    nv_soft_halted(queue->soft) != NV_SOFT_RUNNING)
		return;
	while (queue->sq_head != tail) {
		struct nv_soft_io *io = take_slot(queue);
		struct nv_sqe sqe;

		if (!io)
			return;
		/* A copy, since its slot in the ring is free again from here on. */
		sqe = queue->sq[queue->sq_head];
		queue->sq_head = next_index(queue->sq_head, queue->sq_entries);
		nv_soft_io_start(io, &sqe);
	}
}

static void kick(struct nv_soft_queue *queue)
{
	for (unsigned int i = 0; i < queue->top_nsid; i++)
		if (queue->chan[i])
			queue->chan_store[i]->ops->kick(queue->chan[i]);
}

void nv_soft_queue_doorbell(void *arg)
{
	struct nv_soft_queue *queue = arg;

	post_waiting(queue);
	fetch(queue);
	kick(queue);
}

unsigned int nv_soft_queue_poll(void *arg)
{
	struct nv_soft_queue *queue = arg;

	queue->posted = 0;
	post_waiting(queue);
	for (unsigned int i = 0; i < queue->top_nsid; i++)
		if (queue->chan[i])
			queue->chan_store[i]->ops->poll(queue->chan[i]);
	fetch(queue);
	kick(queue);
	return queue->posted;
}

int nv_soft_companion(struct nv_soft *soft, uint16_t qid, struct nv_soft_companion *ret)
{
	struct nv_soft_queue *queue = qid && qid <= NV_MAX_IO_QUEUES ? soft->queues[qid] : NULL;

	if (!queue || !queue->sq)
		return -ENOENT;
	ret->doorbell = nv_soft_queue_doorbell;
	ret->poll = nv_soft_queue_poll;
	ret->fd = queue->epoll_fd;
	ret->arg = queue;
	return 0;
}

/* ---- life --------------------------------------------------------------------------------- */

uint16_t nv_soft_queue_create_cq(struct nv_soft *soft, uint16_t qid, const struct nv_soft_ring *cq)
{
	struct nv_soft_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NVME_SC_INTERNAL;
	queue->soft = soft;
	queue->qid = qid;
	queue->cq = cq->base;
	queue->cq_entries = cq->entries;
	queue->phase = 1;
	queue->cq_head_doorbell = nv_soft_doorbell(soft, qid, true);
	queue->epoll_fd = -1;
	queue->count = &soft->stats[qid].count;
	__atomic_store_n(nv_soft_doorbell(soft, qid, true), 0, __ATOMIC_RELAXED);
	soft->queues[qid] = queue;
	return 0;
}

static void close_channels(struct nv_soft_queue *queue)
{
	for (unsigned int i = 0; i < queue->top_nsid; i++) {
		if (queue->chan[i])
			queue->chan_store[i]->ops->chan_close(queue->chan[i]);
		queue->chan[i] = NULL;
	}
}

static int watch(struct nv_soft_queue *queue, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (fd < 0)
		return 0;
	return epoll_ctl(queue->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_channels(struct nv_soft_queue *queue)
{
	queue->top_nsid = nv_soft_top_nsid(queue->soft);
	for (unsigned int i = 0; i < queue->top_nsid; i++) {
		struct nv_store *store = queue->soft->ns[i].store;
		int rc;

		if (!store)
			continue;
		rc = store->ops->chan_open(store, queue->io_count, &queue->chan[i], NULL);
		if (rc)
			return rc;
		queue->chan_store[i] = store;
		rc = watch(queue, store->ops->fd(queue->chan[i]));
		if (rc)
			return rc;
	}
	return 0;
}

static int alloc_slots(struct nv_soft_queue *queue)
{
	/* calloc() of this size is fresh memory: an iovec that is never long takes no page. */
	queue->ios = calloc(queue->io_count, sizeof(*queue->ios));
	if (!queue->ios)
		return -ENOMEM;
	if (posix_memalign((void **)&queue->bounce, NV_PAGE_SIZE, NV_SOFT_BOUNCE_BYTES))
		return -ENOMEM;
	queue->free = NULL;
	for (unsigned int i = queue->io_count; i-- > 0;) {
		queue->ios[i].queue = queue;
		queue->ios[i].next = queue->free;
		queue->free = &queue->ios[i];
	}
	return 0;
}

static void free_sq(struct nv_soft_queue *queue)
{
	close_channels(queue);
	if (queue->epoll_fd >= 0)
		close(queue->epoll_fd);
	queue->epoll_fd = -1;
	free(queue->bounce);
	free(queue->ios);
	queue->bounce = NULL;
	queue->ios = NULL;
	queue->free = NULL;
	queue->sq = NULL;
}

uint16_t nv_soft_queue_create_sq(struct nv_soft *soft, uint16_t qid, const struct nv_soft_ring *sq)
{
	struct nv_soft_queue *queue = soft->queues[qid];

	queue->sq_entries = sq->entries;
	queue->sq_head = 0;
	queue->sq_tail_doorbell = nv_soft_doorbell(soft, qid, false);
	__atomic_store_n(nv_soft_doorbell(soft, qid, false), 0, __ATOMIC_RELAXED);
	queue->io_count = sq->entries; /* one more than an SQ can hold: fetching runs ahead */
	queue->inflight = 0;
	queue->done = (struct nv_soft_io_list){0};
	queue->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (queue->epoll_fd < 0 || alloc_slots(queue) || open_channels(queue)) {
		free_sq(queue);
		return NVME_SC_INTERNAL;
	}
	queue->sq = sq->base;
	return 0;
}

/* One round of waiting for the end of all commands. */
static void cancel_held(struct nv_soft_queue *queue)
{
	for (unsigned int i = 0; i < queue->top_nsid; i++) {
		if (!queue->chan[i])
			continue;
		queue->chan_store[i]->ops->cancel(queue->chan[i]);
		queue->chan_store[i]->ops->poll(queue->chan[i]);
	}
	kick(queue);
}

void nv_soft_queue_delete_sq(struct nv_soft_queue *queue)
{
	if (!queue->sq)
		return;
	/*
	 * Commands that were taken run to their end and are completed where there is room; a
	 * Compare or DSM in the middle submits its next step, so go round until nothing is left.
	 */
	while (queue->inflight) {
		struct epoll_event event;
		unsigned int waiting = 0;

		cancel_held(queue);
		post_waiting(queue);
		for (struct nv_soft_io *io = queue->done.head; io; io = io->next)
			waiting++;
		if (waiting == queue->inflight)
			break; /* all done; nobody makes room in the CQ any more */
		(void)epoll_wait(queue->epoll_fd, &event, 1, 1);
	}
	free_sq(queue);
}

void nv_soft_queue_delete_cq(struct nv_soft_queue *queue)
{
	queue->soft->queues[queue->qid] = NULL;
	free(queue);
}

void nv_soft_get_stats(const struct nv_soft *soft, struct nv_soft_stats *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (unsigned int qid = 0; qid <= soft->max_io_queues; qid++) {
		const struct nv_soft_stats *from = &soft->stats[qid].count;

		ret->read_commands += __atomic_load_n(&from->read_commands, __ATOMIC_RELAXED);
		ret->write_commands += __atomic_load_n(&from->write_commands, __ATOMIC_RELAXED);
		ret->read_bytes += __atomic_load_n(&from->read_bytes, __ATOMIC_RELAXED);
		ret->written_bytes += __atomic_load_n(&from->written_bytes, __ATOMIC_RELAXED);
		ret->flushes += __atomic_load_n(&from->flushes, __ATOMIC_RELAXED);
		ret->errors += __atomic_load_n(&from->errors, __ATOMIC_RELAXED);
		ret->media_errors += __atomic_load_n(&from->media_errors, __ATOMIC_RELAXED);
		ret->bad_addresses += __atomic_load_n(&from->bad_addresses, __ATOMIC_RELAXED);
	}
}
