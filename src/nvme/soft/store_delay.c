/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delay engine: a request waits its time here before the store below gets it, so that a write
 * which is not due yet is not on the medium either.
 *
 * A channel keeps its requests in a heap, the next one due on top, and a timerfd set to that time.
 * Its fd is an epoll fd over the timer and the channel below. Owner: the thread of the channel.
 */
#include "nvme/soft/store_priv.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "nvme/limits.h"
#include "util/time.h"

struct delay {
	struct nv_store store; /* first */
	struct nv_store *below;
	struct nv_store_delay_conf conf;
	uint64_t opened; /* channels so far: each has a sequence of its own */
};

struct held {
	uint64_t due_ns;
	uint64_t turn; /* orders those due at the same time */
	struct nv_store_req *req;
};

struct nv_store_chan {
	struct delay *delay;
	struct nv_store_chan *below;
	uint64_t random;
	uint64_t turn;
	uint64_t armed_ns; /* what the timer is set to; 0 = off */
	int timer_fd;
	int epoll_fd;
	unsigned int count;
	unsigned int room;
	struct held heap[];
};

/* ---- heap --------------------------------------------------------------------------------- */

static bool is_before(const struct held *a, const struct held *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->turn < b->turn;
}

static void swap(struct held *a, struct held *b)
{
	struct held old = *a;

	*a = *b;
	*b = old;
}

static void heap_push(struct nv_store_chan *chan, const struct held *held)
{
	unsigned int at = chan->count++;

	chan->heap[at] = *held;
	while (at && is_before(&chan->heap[at], &chan->heap[(at - 1) / 2])) {
		swap(&chan->heap[at], &chan->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

static struct nv_store_req *heap_pop(struct nv_store_chan *chan)
{
	struct nv_store_req *req = chan->heap[0].req;
	unsigned int at = 0;

	chan->heap[0] = chan->heap[--chan->count];
	for (;;) {
		unsigned int least = at;

		for (unsigned int child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < chan->count &&
			    is_before(&chan->heap[child], &chan->heap[least]))
				least = child;
		if (least == at)
			return req;
		swap(&chan->heap[at], &chan->heap[least]);
		at = least;
	}
}

/* ---- requests ----------------------------------------------------------------------------- */

static const struct nv_store_ops *below_ops(const struct nv_store_chan *chan)
{
	return chan->delay->below->ops;
}

/* The timer follows the top of the heap; setting it makes its fd unreadable. */
static void arm(struct nv_store_chan *chan)
{
	uint64_t due_ns = chan->count ? chan->heap[0].due_ns : 0;
	struct itimerspec when = {0};

	if (due_ns == chan->armed_ns)
		return;
	chan->armed_ns = due_ns;
	when.it_value.tv_sec = (time_t)(due_ns / UTIL_NS_PER_S);
	when.it_value.tv_nsec = (long)(due_ns % UTIL_NS_PER_S);
	(void)timerfd_settime(chan->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static uint64_t delay_of(struct nv_store_chan *chan, enum nv_store_op op)
{
	const struct nv_store_delay_conf *conf = &chan->delay->conf;
	uint64_t ns = conf->op[op].fixed_ns;

	if (conf->op[op].random_ns)
		ns += nv_store_random_below(&chan->random, conf->op[op].random_ns + 1);
	return ns;
}

static void delay_submit(struct nv_store_chan *chan, struct nv_store_req *req)
{
	uint64_t ns = delay_of(chan, req->op);
	struct held held = {.turn = chan->turn++, .req = req};

	if (ns == 0) {
		below_ops(chan)->submit(chan->below, req);
		return;
	}
	assert(chan->count < chan->room);
	held.due_ns = util_now_ns() + ns;
	heap_push(chan, &held);
}

static void delay_kick(struct nv_store_chan *chan)
{
	arm(chan);
	below_ops(chan)->kick(chan->below);
}

/*
 * A request that ends inside submit() may bring another one here, which goes into the heap: only
 * what was due when we looked is let go, so that this ends.
 */
static int let_go(struct nv_store_chan *chan, uint64_t until_ns)
{
	int count = 0;

	while (chan->count && chan->heap[0].due_ns <= until_ns) {
		below_ops(chan)->submit(chan->below, heap_pop(chan));
		count++;
	}
	arm(chan);
	if (count)
		below_ops(chan)->kick(chan->below);
	return count;
}

static int delay_poll(struct nv_store_chan *chan)
{
	int count = 0;

	if (chan->count)
		count = let_go(chan, util_now_ns());
	return count + below_ops(chan)->poll(chan->below);
}

static int delay_fd(struct nv_store_chan *chan)
{
	return chan->epoll_fd;
}

/* Their buffers may have got a new owner by now: not to be touched. */
static void delay_cancel(struct nv_store_chan *chan)
{
	unsigned int count = chan->count; /* what the ends of these bring is for the next call */

	while (count--) {
		struct nv_store_req *req = heap_pop(chan);

		req->done(req, -ECANCELED);
	}
	arm(chan);
	below_ops(chan)->cancel(chan->below);
}

/* ---- life --------------------------------------------------------------------------------- */

static void free_chan(struct nv_store_chan *chan)
{
	if (chan->timer_fd >= 0)
		close(chan->timer_fd);
	if (chan->epoll_fd >= 0)
		close(chan->epoll_fd);
	free(chan);
}

static int watch(struct nv_store_chan *chan, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (fd < 0)
		return 0;
	return epoll_ctl(chan->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_fds(struct nv_store_chan *chan)
{
	chan->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (chan->timer_fd < 0)
		return -errno;
	chan->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (chan->epoll_fd < 0)
		return -errno;
	return watch(chan, chan->timer_fd);
}

static int delay_open(struct nv_store *store, unsigned int depth, struct nv_store_chan **ret,
		      struct nv_err *err)
{
	struct delay *delay = (struct delay *)store;
	struct nv_store_chan *chan = calloc(1, sizeof(*chan) + depth * sizeof(chan->heap[0]));
	int rc;

	if (!chan)
		return nv_err(err, -ENOMEM, "out of memory");
	chan->delay = delay;
	chan->room = depth;
	chan->random = delay->conf.seed + delay->opened++;
	chan->timer_fd = -1;
	chan->epoll_fd = -1;
	rc = open_fds(chan);
	if (rc) {
		nv_err(err, rc, "no timer for delays");
		goto free_chan;
	}
	rc = delay->below->ops->chan_open(delay->below, depth, &chan->below, err);
	if (rc)
		goto free_chan;
	rc = watch(chan, delay->below->ops->fd(chan->below));
	if (rc) {
		nv_err(err, rc, "cannot wait for the store below");
		goto close_below;
	}
	*ret = chan;
	return 0;

close_below:
	delay->below->ops->chan_close(chan->below);
free_chan:
	free_chan(chan);
	return rc;
}

static void delay_close(struct nv_store_chan *chan)
{
	while (chan->count)
		(void)let_go(chan, UINT64_MAX);
	below_ops(chan)->chan_close(chan->below);
	free_chan(chan);
}

static int delay_size(struct nv_store *store, uint64_t *ret_bytes)
{
	struct delay *delay = (struct delay *)store;

	return delay->below->ops->size(delay->below, ret_bytes);
}

static void delay_destroy(struct nv_store *store)
{
	struct delay *delay = (struct delay *)store;

	nv_store_destroy(delay->below);
	free(delay);
}

static const struct nv_store_ops delay_ops = {
	.chan_open = delay_open,
	.submit = delay_submit,
	.kick = delay_kick,
	.poll = delay_poll,
	.fd = delay_fd,
	.cancel = delay_cancel,
	.chan_close = delay_close,
	.size = delay_size,
	.destroy = delay_destroy,
};

int nv_store_delay_create(const struct nv_store_delay_conf *conf, struct nv_store *below,
			  struct nv_store **ret, struct nv_err *err)
{
	struct delay *delay;

	for (unsigned int op = 0; op < NV_STORE_OPS; op++)
		if (conf->op[op].fixed_ns > NV_STORE_DELAY_MAX_NS ||
		    conf->op[op].random_ns > NV_STORE_DELAY_MAX_NS)
			return nv_err(err, -EINVAL, "a delay of more than an hour");
	delay = calloc(1, sizeof(*delay));
	if (!delay)
		return nv_err(err, -ENOMEM, "out of memory");
	delay->conf = *conf;
	delay->below = below;
	delay->store.ops = &delay_ops;
	delay->store.kind = "delay";
	nv_store_inherit(&delay->store, below);
	*ret = &delay->store;
	return 0;
}
