/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault engine: requests that a fault is meant for fail here, or are kept for ever; all others
 * go to the store below.
 *
 * Shared: the faults and their counts, by all channels and by whoever sets them. Lock: `lock`, held
 * for the decision only; the counts of strikes are written under it and read without.
 * A channel belongs to its thread.
 */
#include "nvme/soft/store_priv.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "nvme/limits.h"

enum verdict {
	PASS,
	FAIL,
	DROP
};

struct armed {
	struct nv_store_fault fault;
	uint64_t seen; /* requests that met the conditions before nth */
	uint32_t struck;
};

struct fault {
	struct nv_store store; /* first */
	struct nv_store *below;
	pthread_mutex_t lock;
	struct armed armed[NV_STORE_MAX_FAULTS];
	unsigned int count;
	uint64_t random;
	uint64_t failed;
	uint64_t dropped;
};

struct nv_store_chan {
	struct fault *fault;
	struct nv_store_chan *below;
	struct nv_store_req *kept; /* never to be answered */
};

/* ---- decisions ---------------------------------------------------------------------------- */

static bool is_in_range(const struct fault *fault, const struct nv_store_fault *f,
			const struct nv_store_req *req)
{
	uint64_t first, last;

	if (!f->first_block && !f->blocks)
		return true;
	if (!req->length_bytes) /* a Flush has no range */
		return false;
	first = req->offset_bytes / fault->store.block_bytes;
	last = first + req->length_bytes / fault->store.block_bytes - 1;
	return last >= f->first_block &&
	       (!f->blocks || first < f->first_block || first - f->first_block < f->blocks);
}

static bool strikes(struct fault *fault, struct armed *armed, const struct nv_store_req *req)
{
	const struct nv_store_fault *f = &armed->fault;

	if (f->ops && !(f->ops & 1u << req->op))
		return false;
	if (!is_in_range(fault, f, req))
		return false;
	if (++armed->seen < f->nth)
		return false;
	if (f->times && armed->struck == f->times)
		return false;
	if (f->probability_ppm &&
	    nv_store_random_below(&fault->random, NV_STORE_PPM) >= f->probability_ppm)
		return false;
	armed->struck++;
	return true;
}

static void count(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static enum verdict judge(struct fault *fault, const struct nv_store_req *req, int *ret_error)
{
	enum verdict verdict = PASS;

	pthread_mutex_lock(&fault->lock);
	for (unsigned int i = 0; i < fault->count && verdict == PASS; i++) {
		if (!strikes(fault, &fault->armed[i], req))
			continue;
		*ret_error = fault->armed[i].fault.error;
		verdict = *ret_error ? FAIL : DROP;
		count(verdict == FAIL ? &fault->failed : &fault->dropped);
	}
	pthread_mutex_unlock(&fault->lock);
	return verdict;
}

static int check(const struct nv_store_fault_conf *conf, struct nv_err *err)
{
	if (conf->count > NV_STORE_MAX_FAULTS)
		return nv_err(err, -EINVAL, "at most %u faults", NV_STORE_MAX_FAULTS);
	for (unsigned int i = 0; i < conf->count; i++) {
		const struct nv_store_fault *f = &conf->faults[i];

		if (f->ops >= 1u << NV_STORE_OPS)
			return nv_err(err, -EINVAL, "fault %u: no such operation (0x%x)", i,
				      f->ops);
		if (f->probability_ppm > NV_STORE_PPM)
			return nv_err(err, -EINVAL, "fault %u: a probability above 1", i);
		if (f->error < 0)
			return nv_err(err, -EINVAL, "fault %u: errno %d is not positive", i,
				      f->error);
	}
	return 0;
}

static void set(struct fault *fault, const struct nv_store_fault_conf *conf)
{
	memset(fault->armed, 0, sizeof(fault->armed));
	for (unsigned int i = 0; i < conf->count; i++)
		fault->armed[i].fault = conf->faults[i];
	fault->count = conf->count;
	fault->random = conf->seed;
}

/* ---- requests ----------------------------------------------------------------------------- */

static const struct nv_store_ops *below_ops(const struct nv_store_chan *chan)
{
	return chan->fault->below->ops;
}

static void fault_submit(struct nv_store_chan *chan, struct nv_store_req *req)
{
	int error = 0;

	switch (judge(chan->fault, req, &error)) {
	case PASS:
		below_ops(chan)->submit(chan->below, req);
		return;
	case FAIL:
		req->done(req, -error);
		return;
	case DROP:
		req->next = chan->kept;
		chan->kept = req;
		return;
	}
}

static void fault_kick(struct nv_store_chan *chan)
{
	below_ops(chan)->kick(chan->below);
}

static int fault_poll(struct nv_store_chan *chan)
{
	return below_ops(chan)->poll(chan->below);
}

static int fault_fd(struct nv_store_chan *chan)
{
	return below_ops(chan)->fd(chan->below);
}

/* What is dropped while these end is kept for the next call. */
static void fault_cancel(struct nv_store_chan *chan)
{
	struct nv_store_req *req = chan->kept;

	chan->kept = NULL;
	while (req) {
		struct nv_store_req *next = req->next;

		req->done(req, -ECANCELED);
		req = next;
	}
	below_ops(chan)->cancel(chan->below);
}

/* ---- life --------------------------------------------------------------------------------- */

static int fault_open(struct nv_store *store, unsigned int depth, struct nv_store_chan **ret,
		      struct nv_err *err)
{
	struct fault *fault = (struct fault *)store;
	struct nv_store_chan *chan = calloc(1, sizeof(*chan));
	int rc;

	if (!chan)
		return nv_err(err, -ENOMEM, "out of memory");
	chan->fault = fault;
	rc = fault->below->ops->chan_open(fault->below, depth, &chan->below, err);
	if (rc) {
		free(chan);
		return rc;
	}
	*ret = chan;
	return 0;
}

static void fault_close(struct nv_store_chan *chan)
{
	while (chan->kept)
		fault_cancel(chan);
	below_ops(chan)->chan_close(chan->below);
	free(chan);
}

static int fault_size(struct nv_store *store, uint64_t *ret_bytes)
{
	struct fault *fault = (struct fault *)store;

	return fault->below->ops->size(fault->below, ret_bytes);
}

static void fault_destroy(struct nv_store *store)
{
	struct fault *fault = (struct fault *)store;

	nv_store_destroy(fault->below);
	pthread_mutex_destroy(&fault->lock);
	free(fault);
}

static const struct nv_store_ops fault_ops = {
	.chan_open = fault_open,
	.submit = fault_submit,
	.kick = fault_kick,
	.poll = fault_poll,
	.fd = fault_fd,
	.cancel = fault_cancel,
	.chan_close = fault_close,
	.size = fault_size,
	.destroy = fault_destroy,
};

int nv_store_fault_create(const struct nv_store_fault_conf *conf, struct nv_store *below,
			  struct nv_store **ret, struct nv_err *err)
{
	struct fault *fault;
	int rc = check(conf, err);

	if (rc)
		return rc;
	fault = calloc(1, sizeof(*fault));
	if (!fault)
		return nv_err(err, -ENOMEM, "out of memory");
	fault->below = below;
	fault->store.ops = &fault_ops;
	fault->store.kind = "fault";
	nv_store_inherit(&fault->store, below);
	pthread_mutex_init(&fault->lock, NULL);
	set(fault, conf);
	*ret = &fault->store;
	return 0;
}

int nv_store_fault_set(struct nv_store *store, const struct nv_store_fault_conf *conf,
		       struct nv_err *err)
{
	struct fault *fault = (struct fault *)store;
	int rc;

	if (store->ops != &fault_ops)
		return nv_err(err, -EINVAL, "a %s store has no faults to set", store->kind);
	rc = check(conf, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&fault->lock);
	set(fault, conf);
	pthread_mutex_unlock(&fault->lock);
	return 0;
}

void nv_store_fault_count(const struct nv_store *store, uint64_t *ret_failed, uint64_t *ret_dropped)
{
	const struct fault *fault = (const struct fault *)store;

	*ret_failed = __atomic_load_n(&fault->failed, __ATOMIC_RELAXED);
	*ret_dropped = __atomic_load_n(&fault->dropped, __ATOMIC_RELAXED);
}
