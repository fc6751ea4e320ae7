/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to an EU itself, rather than to one of its connections: the device gives a
 * completion queue up, or the fds that it sleeps on are of no use. It goes on with what is left,
 * and the application is told.
 */
#include "sta/eu.h"

#include <time.h>

#include "sta/event.h"
#include "sta/log.h"
#include "sta/sta.h"

/* No completion comes any more, also not those that would say so. */
static void lose_qp(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	sta_qp_fail(eu, qp, STA_WR_RECV, IBV_WC_FATAL_ERR, 0);
	sta_xfer_forget(eu, qp);
}

/*
 * Control is at work on those not established yet: see sta_eu_check_cq(). One that has failed and
 * has nothing posted may be drained: only its place in the list is sure to be there.
 */
static bool is_ours(const struct doca_sta_qp_handle *qp)
{
	return qp->state == STA_QP_LIVE ||
	       (qp->state == STA_QP_FAILED && (qp->num_posted_rx || qp->num_posted_tx));
}

void sta_eu_lose_cq(struct sta_eu *eu, struct sta_cq *cq)
{
	struct doca_sta *sta = eu->sta;
	struct sta_cq **p;

	for (p = &eu->cqs; *p != cq; p = &(*p)->next)
		;
	*p = cq->next;
	sta_warn("eu", "eu %u: a completion queue is lost, its connections end", eu->idx);
	pthread_mutex_lock(&sta->lock);
	/* The next QP gets a new one. */
	cq->is_lost = true;
	for (struct doca_sta_qp_handle *qp = eu->qps; qp; qp = qp->next_of_eu) {
		if (qp->cq == cq && is_ours(qp))
			lose_qp(eu, qp);
	}
	pthread_mutex_unlock(&sta->lock);
	sta_event_eu_error(eu);
}

void sta_eu_check_cq(struct sta_eu *eu, struct doca_sta_qp_handle *qp)
{
	if (qp->cq->is_lost)
		lose_qp(eu, qp);
}

void sta_eu_lose_sleep(struct sta_eu *eu)
{
	const struct timespec nap = {.tv_nsec = STA_NAP_NS};

	if (!eu->is_sleepless) {
		sta_warn("eu", "eu %u: its fds are of no use, it polls from now on", eu->idx);
		sta_event_eu_error(eu);
	}
	eu->is_sleepless = true;
	/* It polls from now on, without a whole processor. */
	(void)nanosleep(&nap, NULL);
}
