/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion queues and channels. A CQ is a ring under a small lock of its own, so that a consumer
 * gets at completions while somebody else drives the lane. A channel is the list of CQs that have
 * events, and an fd that is readable while there are some.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roce/lane.h"
#include "roce/level.h"
#include "roce/objects.h"
#include "roce/progress.h"

/* --- channels ------------------------------------------------------------------------------ */

int roce_channel_create(struct ibv_context *ctx, struct ibv_comp_channel **out)
{
	struct roce_channel *ch = calloc(1, sizeof(*ch));
	int rc;

	if (!ch)
		return -ENOMEM;
	ch->ibch.context = ctx;
	ch->ibch.fd = roce_level_open();
	if (ch->ibch.fd < 0) {
		rc = ch->ibch.fd;
		free(ch);
		return rc;
	}
	pthread_mutex_init(&ch->lock, NULL);
	TAILQ_INIT(&ch->ready);
	roce_context_get(ctx);
	*out = &ch->ibch;
	return 0;
}

int roce_channel_destroy(struct ibv_comp_channel *ibch)
{
	struct roce_channel *ch = roce_channel(ibch);

	if (atomic_load(&ch->users))
		return -EBUSY;
	close(ibch->fd);
	pthread_mutex_destroy(&ch->lock);
	roce_context_put(ibch->context);
	free(ch);
	return 0;
}

static void channel_add_event(struct roce_channel *ch, struct roce_cq *cq)
{
	pthread_mutex_lock(&ch->lock);
	if (cq->num_ready++ == 0)
		TAILQ_INSERT_TAIL(&ch->ready, cq, ready_link);
	roce_level_set(ch->ibch.fd);
	pthread_mutex_unlock(&ch->lock);
}

static void channel_drop_events(struct roce_channel *ch, struct roce_cq *cq)
{
	pthread_mutex_lock(&ch->lock);
	if (cq->num_ready) {
		TAILQ_REMOVE(&ch->ready, cq, ready_link);
		if (TAILQ_EMPTY(&ch->ready))
			roce_level_clear(ch->ibch.fd);
	}
	cq->num_ready = 0;
	pthread_mutex_unlock(&ch->lock);
}

/* The CQ whose turn it is; NULL: there is no event. */
static struct roce_cq *channel_take_event(struct roce_channel *ch)
{
	struct roce_cq *cq;

	pthread_mutex_lock(&ch->lock);
	cq = TAILQ_FIRST(&ch->ready);
	if (cq) {
		TAILQ_REMOVE(&ch->ready, cq, ready_link);
		if (--cq->num_ready)
			TAILQ_INSERT_TAIL(&ch->ready, cq, ready_link);
		if (TAILQ_EMPTY(&ch->ready))
			roce_level_clear(ch->ibch.fd);
		/* Counted under the lock: see channel_drop_events() in destruction. */
		pthread_mutex_lock(&cq->ibcq.mutex);
		cq->comp_events++;
		pthread_mutex_unlock(&cq->ibcq.mutex);
	}
	pthread_mutex_unlock(&ch->lock);
	return cq;
}

int roce_channel_get_event(struct ibv_comp_channel *ibch, struct ibv_cq **out)
{
	struct roce_cq *cq;
	int rc;

	while (!(cq = channel_take_event(roce_channel(ibch)))) {
		rc = roce_level_wait(ibch->fd);
		if (rc)
			return rc;
	}
	*out = &cq->ibcq;
	return 0;
}

/* --- life ---------------------------------------------------------------------------------- */

/* A power of two that holds cqe; 0 when cqe is out of range. */
static uint32_t ring_size(int cqe)
{
	uint32_t size = 1;

	if (cqe < 1 || (uint32_t)cqe > ROCE_MAX_CQE)
		return 0;
	while (size < (uint32_t)cqe)
		size *= 2;
	return size;
}

int roce_cq_create(struct ibv_context *ctx, int cqe, void *cq_context, struct ibv_comp_channel *ch,
		   int comp_vector, struct ibv_cq **out)
{
	uint32_t size = ring_size(cqe);
	struct roce_cq *cq;

	if (!size || comp_vector < 0 || comp_vector >= ctx->num_comp_vectors ||
	    (ch && ch->context != ctx))
		return -EINVAL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->ring = calloc(size, sizeof(*cq->ring));
	if (!cq->ring) {
		free(cq);
		return -ENOMEM;
	}
	cq->mask = size - 1;
	cq->lane = roce_context(ctx)->dev->lane;
	cq->ibcq.context = ctx;
	cq->ibcq.channel = ch;
	cq->ibcq.cq_context = cq_context;
	cq->ibcq.cqe = (int)size;
	pthread_mutex_init(&cq->lock, NULL);
	pthread_mutex_init(&cq->ibcq.mutex, NULL);
	pthread_cond_init(&cq->ibcq.cond, NULL);
	if (ch)
		atomic_fetch_add(&roce_channel(ch)->users, 1);
	roce_context_get(ctx);
	*out = &cq->ibcq;
	return 0;
}

static void disarm_locked(struct roce_cq *cq)
{
	if (cq->arm != ROCE_CQ_IDLE)
		atomic_fetch_sub(&cq->lane->armed, 1);
	cq->arm = ROCE_CQ_IDLE;
}

int roce_cq_destroy(struct ibv_cq *ibcq)
{
	struct roce_cq *cq = roce_cq(ibcq);

	if (atomic_load(&cq->users))
		return -EBUSY;
	pthread_mutex_lock(&cq->lock);
	disarm_locked(cq);
	pthread_mutex_unlock(&cq->lock);
	if (ibcq->channel)
		channel_drop_events(roce_channel(ibcq->channel), cq);
	roce_async_forget_cq(cq);
	if (ibcq->channel)
		atomic_fetch_sub(&roce_channel(ibcq->channel)->users, 1);
	roce_context_put(ibcq->context);
	pthread_mutex_destroy(&cq->lock);
	pthread_mutex_destroy(&ibcq->mutex);
	pthread_cond_destroy(&ibcq->cond);
	free(cq->ring);
	free(cq);
	return 0;
}

int roce_cq_resize(struct ibv_cq *ibcq, int cqe)
{
	struct roce_cq *cq = roce_cq(ibcq);
	uint32_t size = ring_size(cqe);
	struct ibv_wc *ring, *old;
	uint32_t count;
	int rc = 0;

	if (!size)
		return -EINVAL;
	ring = calloc(size, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	pthread_mutex_lock(&cq->lock);
	count = cq->tail - cq->head;
	if (count > size) {
		rc = -EINVAL;
	} else {
		for (uint32_t i = 0; i < count; i++)
			ring[i] = cq->ring[(cq->head + i) & cq->mask];
		cq->head = 0;
		cq->tail = count;
		cq->mask = size - 1;
		ibcq->cqe = (int)size;
		old = cq->ring;
		cq->ring = ring;
		ring = old;
	}
	pthread_mutex_unlock(&cq->lock);
	free(ring);
	return rc;
}

/* --- entries ------------------------------------------------------------------------------- */

static bool is_wakened_by(const struct roce_cq *cq, const struct ibv_wc *wc, bool is_solicited)
{
	switch (cq->arm) {
	case ROCE_CQ_IDLE:
		return false;
	case ROCE_CQ_ARMED_SOLICITED:
		/* IBTA 11.4.2.2: one that failed counts as solicited. */
		return is_solicited || wc->status != IBV_WC_SUCCESS;
	case ROCE_CQ_ARMED:
		return true;
	}
	return false;
}

void roce_cq_push(struct roce_cq *cq, const struct ibv_wc *wc, bool is_solicited)
{
	bool is_first_overrun = false;
	bool wakes;

	pthread_mutex_lock(&cq->lock);
	if (cq->tail - cq->head > cq->mask) {
		is_first_overrun = !cq->is_overrun;
		cq->is_overrun = true;
	} else {
		cq->ring[cq->tail++ & cq->mask] = *wc;
		atomic_store_explicit(&cq->num_wcs, cq->tail - cq->head, memory_order_release);
	}
	wakes = is_wakened_by(cq, wc, is_solicited);
	if (wakes)
		disarm_locked(cq);
	pthread_mutex_unlock(&cq->lock);
	if (wakes)
		channel_add_event(roce_channel(cq->ibcq.channel), cq);
	if (is_first_overrun)
		roce_async_post(cq->ibcq.context,
				&(struct ibv_async_event){.element.cq = &cq->ibcq,
							  .event_type = IBV_EVENT_CQ_ERR});
}

int roce_cq_pop(struct roce_cq *cq, int max, struct ibv_wc *wc)
{
	int count = 0;

	if (atomic_load_explicit(&cq->num_wcs, memory_order_acquire) == 0)
		return 0;
	pthread_mutex_lock(&cq->lock);
	while (count < max && cq->head != cq->tail)
		wc[count++] = cq->ring[cq->head++ & cq->mask];
	atomic_store_explicit(&cq->num_wcs, cq->tail - cq->head, memory_order_release);
	pthread_mutex_unlock(&cq->lock);
	return count;
}

void roce_cq_purge(struct roce_cq *cq, uint32_t qpn)
{
	uint32_t kept;

	pthread_mutex_lock(&cq->lock);
	kept = cq->head;
	for (uint32_t i = cq->head; i != cq->tail; i++) {
		const struct ibv_wc *wc = &cq->ring[i & cq->mask];

		if (wc->qp_num != qpn)
			cq->ring[kept++ & cq->mask] = *wc;
	}
	cq->tail = kept;
	atomic_store_explicit(&cq->num_wcs, cq->tail - cq->head, memory_order_release);
	pthread_mutex_unlock(&cq->lock);
}

void roce_cq_arm(struct roce_cq *cq, bool solicited_only)
{
	enum roce_cq_arm arm = solicited_only ? ROCE_CQ_ARMED_SOLICITED : ROCE_CQ_ARMED;

	if (!cq->ibcq.channel)
		return;
	pthread_mutex_lock(&cq->lock);
	if (cq->arm == ROCE_CQ_IDLE)
		atomic_fetch_add(&cq->lane->armed, 1);
	if (arm > cq->arm)
		cq->arm = arm;
	pthread_mutex_unlock(&cq->lock);
	roce_progress_armed(cq->lane);
}
