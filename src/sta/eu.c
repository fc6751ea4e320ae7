/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of an execution unit: rounds of work, and sleep. An EU polls while there is something
 * to do and a little longer; then it arms its completion queues and sleeps on fds (completion
 * channels, companions of back-end queues, its own wake-up). Only a back-end queue without an fd
 * that has commands outstanding keeps it from sleeping long: a real drive is polled.
 */
#include "sta/eu.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sta/log.h"
#include "sta/ns.h"
#include "sta/sta.h"
#include "util/time.h"

#define MAX_EVENTS 16

void sta_eu_post(struct sta_eu *eu, struct sta_msg *msg)
{
	uint64_t one = 1;

	sta_mbox_post(&eu->mbox, msg);
	/* Pairs with the store of is_asleep and the look at the box in sleep_on_fds(). */
	if (atomic_load(&eu->is_asleep) && atomic_exchange(&eu->is_asleep, false))
		(void)!write(eu->wake_fd, &one, sizeof(one));
}

void sta_eu_watch(struct sta_eu *eu, int fd, void *what)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = what};

	(void)epoll_ctl(eu->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

void sta_eu_unwatch(struct sta_eu *eu, int fd)
{
	/* Queues of one controller may share an fd. */
	for (struct doca_sta_be_q_handle *beq = eu->beqs; beq; beq = beq->next) {
		if (beq->companion.fd == fd)
			return;
	}
	(void)epoll_ctl(eu->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void sta_eu_on_add_cq(void *owner, struct sta_msg *msg)
{
	struct sta_cq *cq = util_container_of(msg, struct sta_cq, add_msg);
	struct sta_eu *eu = owner;

	cq->next = eu->cqs;
	eu->cqs = cq;
	sta_eu_watch(eu, cq->channel->fd, cq->channel);
}

void sta_eu_on_add_region(void *owner, struct sta_msg *msg)
{
	struct sta_eu *eu = owner;

	sta_pool_add(&eu->pool, util_container_of(msg, struct sta_region, add_msg));
}

static void on_fence(void *owner, struct sta_msg *msg)
{
	struct sta_fence_part *part = util_container_of(msg, struct sta_fence_part, msg);
	struct sta_eu *eu = owner;

	part->next = eu->fences;
	eu->fences = part;
}

void sta_fence_post(struct doca_sta *sta, struct sta_fence *fence)
{
	atomic_store(&fence->num_left, sta->num_eus);
	for (uint32_t i = 0; i < sta->num_eus; i++) {
		fence->parts[i].fence = fence;
		fence->parts[i].msg.fn = on_fence;
		sta_eu_post(&sta->eus[i].eu, &fence->parts[i].msg);
	}
}

static void check_fences(struct sta_eu *eu)
{
	struct sta_fence_part *part, **p = &eu->fences;
	struct sta_fence *fence;

	while ((part = *p)) {
		fence = part->fence;
		if (fence->ns && fence->ns->eu[eu->idx].num_inflight) {
			p = &part->next;
			continue;
		}
		*p = part->next;
		if (atomic_fetch_sub(&fence->num_left, 1) == 1)
			fence->done(fence);
	}
}

static void grant_slots(struct sta_eu *eu)
{
	struct sta_buf_wait *w;

	while ((w = sta_pool_next_granted(&eu->pool)))
		sta_req_granted(eu, util_container_of(w, struct sta_req, wait));
	sta_count_set(&eu->stats.slot_waits, eu->pool.waited);
}

unsigned int sta_eu_run(struct sta_eu *eu)
{
	unsigned int n;

	n = sta_mbox_run(&eu->mbox, eu);
	n += sta_xfer_poll(eu);
	grant_slots(eu);
	n += sta_qp_admit(eu);
	sta_beq_ring(eu);
	n += sta_beq_poll(eu);
	sta_xfer_flush(eu);
	if (eu->now_ns >= eu->next_check_ns) {
		sta_beq_check_timeouts(eu);
		eu->next_check_ns = eu->now_ns + eu->sta->be_timeout_ns / 8;
	}
	if (eu->fences)
		check_fences(eu);
	if (eu->quiescing)
		sta_qp_check_quiescing(eu);
	if (eu->draining)
		sta_qp_report_drained(eu);
	return n;
}

/* How long the EU may sleep if no fd becomes readable, in ns; 0: for ever. */
static uint64_t longest_sleep(const struct sta_eu *eu)
{
	uint64_t longest = eu->quiescing ? STA_QUIESCE_NAP_NS : 0;

	for (struct doca_sta_be_q_handle *beq = eu->beqs; beq; beq = beq->next) {
		if (!beq->q.num_inflight)
			continue;
		if (beq->companion.fd < 0)
			return STA_NAP_NS;
		if (!longest)
			longest = eu->sta->be_timeout_ns / 8;
	}
	return longest;
}

static void handle_fd(struct sta_eu *eu, void *what)
{
	struct ibv_cq *cq;
	void *context;
	uint64_t count;

	if (what == eu)
		(void)!read(eu->wake_fd, &count, sizeof(count));
	else if (what && !ibv_get_cq_event(what, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	/* A companion's fd is made unreadable by its poll function. */
}

static int wait_on_fds(struct sta_eu *eu, struct epoll_event *events, const struct timespec *ts)
{
	struct pollfd any = {.fd = eu->epoll_fd, .events = POLLIN};
	int n = epoll_pwait2(eu->epoll_fd, events, MAX_EVENTS, ts, NULL);

	if (n >= 0 || errno != ENOSYS)
		return n;
	/* Before Linux 5.11, and under valgrind 3.19. */
	if (ppoll(&any, 1, ts, NULL) <= 0)
		return 0;
	return epoll_wait(eu->epoll_fd, events, MAX_EVENTS, 0);
}

static void sleep_on_fds(struct sta_eu *eu)
{
	struct epoll_event events[MAX_EVENTS];
	struct sta_cq *cq, *next;
	struct timespec ts;
	uint64_t longest;
	int n;

	for (cq = eu->cqs; cq; cq = next) {
		next = cq->next;
		if (ibv_req_notify_cq(cq->cq, 0))
			sta_eu_lose_cq(eu, cq);
	}
	/* What came in before a queue was armed makes no event. */
	if (sta_eu_run(eu))
		return;
	longest = longest_sleep(eu);
	ts.tv_sec = (time_t)(longest / UTIL_NS_PER_S);
	ts.tv_nsec = (long)(longest % UTIL_NS_PER_S);
	atomic_store(&eu->is_asleep, true);
	if (sta_mbox_is_empty(&eu->mbox)) {
		sta_count(&eu->stats.sleeps, 1);
		n = wait_on_fds(eu, events, longest ? &ts : NULL);
		if (n < 0 && errno != EINTR)
			sta_eu_lose_sleep(eu);
		for (int i = 0; i < n; i++)
			handle_fd(eu, events[i].data.ptr);
	}
	atomic_store(&eu->is_asleep, false);
}

static void poll_companions(struct sta_eu *eu)
{
	for (struct doca_sta_be_q_handle *beq = eu->beqs; beq; beq = beq->next)
		beq->companion.ops->poll(beq->companion.arg);
}

static void *eu_main(void *arg)
{
	struct sta_eu *eu = arg;
	uint64_t busy_ns;

	eu->now_ns = util_now_ns();
	busy_ns = eu->now_ns;
	while (!eu->is_stopping) {
		eu->now_ns = util_now_ns();
		if (sta_eu_run(eu)) {
			busy_ns = eu->now_ns;
		} else if (eu->now_ns - busy_ns > STA_SPIN_NS) {
			sleep_on_fds(eu);
			/* An fd may be readable for a queue with nothing outstanding. */
			poll_companions(eu);
			eu->now_ns = util_now_ns();
			busy_ns = eu->now_ns;
		}
	}
	atomic_store(&eu->state, DOCA_STA_EU_STATE_STOPPED);
	return NULL;
}

static void on_stop(void *owner, struct sta_msg *msg)
{
	struct sta_eu *eu = owner;

	(void)msg;
	eu->is_stopping = true;
}

static int start_thread(struct sta_eu *eu)
{
	sigset_t all, old;
	int err;

	/* Signals are the application's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&eu->thread, NULL, eu_main, eu);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_setname_np(eu->thread, eu->name);
	return err;
}

doca_error_t sta_eu_start(struct sta_eu *eu)
{
	snprintf(eu->name, sizeof(eu->name), "sta-eu%u", eu->idx);
	sta_pool_init(&eu->pool);
	eu->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (eu->wake_fd < 0)
		return DOCA_ERROR_INITIALIZATION;
	eu->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (eu->epoll_fd < 0)
		goto err_close_wake_fd;
	sta_eu_watch(eu, eu->wake_fd, eu);
	atomic_store(&eu->state, DOCA_STA_EU_STATE_STARTED);
	if (start_thread(eu))
		goto err_close_epoll_fd;
	sta_debug("eu", "eu %u: started", eu->idx);
	return DOCA_SUCCESS;

err_close_epoll_fd:
	close(eu->epoll_fd);
err_close_wake_fd:
	close(eu->wake_fd);
	return DOCA_ERROR_INITIALIZATION;
}

void sta_eu_stop(struct sta_eu *eu)
{
	struct sta_msg stop = {.fn = on_stop};

	atomic_store(&eu->state, DOCA_STA_EU_STATE_STOPPING);
	sta_eu_post(eu, &stop);
	pthread_join(eu->thread, NULL);
	sta_debug("eu", "eu %u: stopped", eu->idx);
}

void sta_eu_fini(struct sta_eu *eu)
{
	close(eu->epoll_fd);
	close(eu->wake_fd);
}
