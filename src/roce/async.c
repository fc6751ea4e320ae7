/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous events of a context: a bounded queue, and an fd that is readable while it has some.
 * Destroying an object waits until events about it that were fetched are acknowledged.
 */
#include <errno.h>
#include <stdlib.h>

#include "roce/level.h"
#include "roce/objects.h"

struct roce_async_event {
	STAILQ_ENTRY(roce_async_event) link;
	struct ibv_async_event event;
};

void roce_async_post(struct ibv_context *ibctx, const struct ibv_async_event *event)
{
	struct roce_context *ctx = roce_context(ibctx);
	struct roce_async_event *entry = NULL;

	pthread_mutex_lock(&ctx->lock);
	if (ctx->num_events < ROCE_MAX_PENDING_ASYNC)
		entry = malloc(sizeof(*entry));
	if (entry) {
		entry->event = *event;
		STAILQ_INSERT_TAIL(&ctx->events, entry, link);
		ctx->num_events++;
		roce_level_set(ibctx->async_fd);
	}
	pthread_mutex_unlock(&ctx->lock);
}

static bool is_about_cq(enum ibv_event_type type)
{
	return type == IBV_EVENT_CQ_ERR;
}

static bool is_about_qp(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return true;
	default:
		return false;
	}
}

/* Counted while the queue is locked: destruction sees an event queued or fetched, never neither. */
static void count_fetched_locked(const struct ibv_async_event *event)
{
	if (is_about_cq(event->event_type)) {
		pthread_mutex_lock(&event->element.cq->mutex);
		roce_cq(event->element.cq)->async_events++;
		pthread_mutex_unlock(&event->element.cq->mutex);
	} else if (is_about_qp(event->event_type)) {
		pthread_mutex_lock(&event->element.qp->mutex);
		roce_qp(event->element.qp)->async_events++;
		pthread_mutex_unlock(&event->element.qp->mutex);
	}
}

static void remove_locked(struct roce_context *ctx, struct roce_async_event *entry)
{
	STAILQ_REMOVE(&ctx->events, entry, roce_async_event, link);
	if (--ctx->num_events == 0)
		roce_level_clear(ctx->vctx.context.async_fd);
}

static struct roce_async_event *take_event(struct roce_context *ctx)
{
	struct roce_async_event *entry;

	pthread_mutex_lock(&ctx->lock);
	entry = STAILQ_FIRST(&ctx->events);
	if (entry) {
		remove_locked(ctx, entry);
		count_fetched_locked(&entry->event);
	}
	pthread_mutex_unlock(&ctx->lock);
	return entry;
}

int roce_async_get(struct ibv_context *ibctx, struct ibv_async_event *event)
{
	struct roce_async_event *entry;
	int rc;

	while (!(entry = take_event(roce_context(ibctx)))) {
		rc = roce_level_wait(ibctx->async_fd);
		if (rc)
			return rc;
	}
	*event = entry->event;
	free(entry);
	return 0;
}

void roce_async_ack(const struct ibv_async_event *event)
{
	if (is_about_cq(event->event_type)) {
		struct ibv_cq *cq = event->element.cq;

		pthread_mutex_lock(&cq->mutex);
		cq->async_events_completed++;
		pthread_cond_broadcast(&cq->cond);
		pthread_mutex_unlock(&cq->mutex);
	} else if (is_about_qp(event->event_type)) {
		struct ibv_qp *qp = event->element.qp;

		pthread_mutex_lock(&qp->mutex);
		qp->events_completed++;
		pthread_cond_broadcast(&qp->cond);
		pthread_mutex_unlock(&qp->mutex);
	}
}

static void drop_queued(struct ibv_context *ibctx, const void *object)
{
	struct roce_context *ctx = roce_context(ibctx);
	struct roce_async_event *entry, *next;

	pthread_mutex_lock(&ctx->lock);
	for (entry = STAILQ_FIRST(&ctx->events); entry; entry = next) {
		next = STAILQ_NEXT(entry, link);
		/* cq, qp: one union; a port number is no object's address. */
		if ((const void *)entry->event.element.qp != object)
			continue;
		remove_locked(ctx, entry);
		free(entry);
	}
	pthread_mutex_unlock(&ctx->lock);
}

void roce_async_forget_cq(struct roce_cq *cq)
{
	drop_queued(cq->ibcq.context, &cq->ibcq);
	pthread_mutex_lock(&cq->ibcq.mutex);
	while (cq->ibcq.comp_events_completed != cq->comp_events ||
	       cq->ibcq.async_events_completed != cq->async_events)
		pthread_cond_wait(&cq->ibcq.cond, &cq->ibcq.mutex);
	pthread_mutex_unlock(&cq->ibcq.mutex);
}

void roce_async_forget_qp(struct roce_qp *qp)
{
	drop_queued(qp->ibqp.context, &qp->ibqp);
	pthread_mutex_lock(&qp->ibqp.mutex);
	while (qp->ibqp.events_completed != qp->async_events)
		pthread_cond_wait(&qp->ibqp.cond, &qp->ibqp.mutex);
	pthread_mutex_unlock(&qp->ibqp.mutex);
}
