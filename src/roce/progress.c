/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The background thread: one epoll set with the sockets of watched lanes and an eventfd. See
 * progress.h for what it does; the rules of watching are at service_lane().
 */
#include "roce/progress.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "roce/lane.h"

/* How long a lane may go without anybody driving it. */
#define LOOK_AGAIN_NS 1000000ull
#define EPOLL_EVENTS  32

enum item_kind {
	ITEM_MAD,
	ITEM_COMM_EST,
	ITEM_QP_ERROR
};

/* Something for the CM hooks. */
struct item {
	STAILQ_ENTRY(item) link;
	enum item_kind kind;
	uint32_t qpn;
	struct roce_mad_path path; /* only dev but for a MAD */
	uint8_t mad[ROCE_MAD_BYTES];
};

/* What only the thread knows of a lane. */
struct lane_state {
	struct roce_lane *lane;
	unsigned int seen_polls;
	bool has_event;
};

/*
 * Lock: lock guards items and lanes[0..num_lanes); innermost.
 * Shared: sleep_until is when the thread will wake by itself, 0 while it is awake; is_kicked tells
 * it to look once more before it sleeps. Both are read and written in the opposite order by the
 * thread and by who wakes it, so that no wake-up is lost.
 */
static struct {
	pthread_mutex_t lock;
	bool is_running;
	int epoll_fd;
	int event_fd;
	_Atomic uint64_t sleep_until;
	atomic_bool is_kicked;
	_Atomic(const struct roce_cm_hooks *) hooks;
	STAILQ_HEAD(, item) items;
	unsigned int num_items;
	struct lane_state lanes[ROCE_MAX_DEVICES];
	size_t num_lanes;
} bg = {.lock = PTHREAD_MUTEX_INITIALIZER, .items = STAILQ_HEAD_INITIALIZER(bg.items)};

/* --- from other threads -------------------------------------------------------------------- */

void roce_kick(void)
{
	const uint64_t one = 1;

	atomic_store(&bg.is_kicked, true);
	if (atomic_exchange(&bg.sleep_until, 0) != 0)
		/* Fails only when the counter is full, that is, when it is readable anyway. */
		(void)!write(bg.event_fd, &one, sizeof(one));
}

void roce_progress_nudge(const struct roce_lane *lane)
{
	/* Who polls a lane that is not watched runs its timers too. */
	if (atomic_load(&lane->is_watched) &&
	    atomic_load(&lane->deadline) < atomic_load(&bg.sleep_until))
		roce_kick();
}

void roce_progress_armed(const struct roce_lane *lane)
{
	if (!atomic_load(&lane->is_watched))
		roce_kick();
}

void roce_set_cm_hooks(const struct roce_cm_hooks *hooks)
{
	atomic_store(&bg.hooks, hooks);
}

static bool post_item(const struct item *what)
{
	struct item *item = NULL;

	if (!atomic_load(&bg.hooks))
		return true; /* no CM in this program: nobody to tell */
	pthread_mutex_lock(&bg.lock);
	if (bg.num_items < ROCE_MAX_PENDING_MADS || what->kind != ITEM_MAD)
		item = malloc(sizeof(*item));
	if (item) {
		*item = *what;
		STAILQ_INSERT_TAIL(&bg.items, item, link);
		bg.num_items++;
	}
	pthread_mutex_unlock(&bg.lock);
	if (item)
		roce_kick();
	return item;
}

bool roce_progress_mad(const struct roce_mad_path *path, const uint8_t mad[ROCE_MAD_BYTES])
{
	struct item item = {.kind = ITEM_MAD, .path = *path};

	memcpy(item.mad, mad, sizeof(item.mad));
	return post_item(&item);
}

void roce_progress_comm_est(struct roce_device *dev, uint32_t qpn)
{
	(void)post_item(&(struct item){.kind = ITEM_COMM_EST, .path.dev = dev, .qpn = qpn});
}

void roce_progress_qp_error(struct roce_device *dev, uint32_t qpn)
{
	(void)post_item(&(struct item){.kind = ITEM_QP_ERROR, .path.dev = dev, .qpn = qpn});
}

/* --- the thread ---------------------------------------------------------------------------- */

/* EEXIST: one that stayed, see unwatch(). */
static void watch_socket(struct lane_state *state, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = state};

	(void)epoll_ctl(bg.epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

/* Puts the lane's sockets into the epoll set. */
static void watch(struct lane_state *state)
{
	struct roce_lane *lane = state->lane;

	pthread_mutex_lock(&lane->lock);
	for (unsigned int g = 0; lane->is_open && g < lane->dev->num_gids; g++) {
		if (lane->nets[g].fd >= 0)
			watch_socket(state, lane->nets[g].fd);
	}
	atomic_store(&lane->is_watched, true);
	pthread_mutex_unlock(&lane->lock);
}

/* Takes out the sockets that a poller reads: those with connected QPs. The others stay, always. */
static void unwatch(struct lane_state *state)
{
	struct roce_lane *lane = state->lane;

	pthread_mutex_lock(&lane->lock);
	for (unsigned int g = 0; lane->is_open && g < lane->dev->num_gids; g++) {
		if (lane->nets[g].fd >= 0 && lane->nets[g].users > 0)
			(void)epoll_ctl(bg.epoll_fd, EPOLL_CTL_DEL, lane->nets[g].fd, NULL);
	}
	atomic_store(&lane->is_watched, false);
	pthread_mutex_unlock(&lane->lock);
}

/*
 * A lane is left to its poller as long as it was polled since the last look and no CQ is armed (an
 * armed CQ means that its consumer may sleep). Looks come every LOOK_AGAIN_NS then. Otherwise it is
 * watched, and driven when a packet came or a timer is due.
 */
static void service_lane(struct lane_state *state, uint64_t now_ns)
{
	struct roce_lane *lane = state->lane;
	unsigned int polls = atomic_load(&lane->polls);
	bool is_polled = polls != state->seen_polls;
	bool has_work = state->has_event;

	state->seen_polls = polls;
	state->has_event = false;
	if (is_polled && atomic_load(&lane->armed) == 0) {
		if (atomic_load(&lane->is_watched))
			unwatch(state);
		/* Looked at again: a CQ armed just now saw a watched lane and did not kick. */
		is_polled = atomic_load(&lane->armed) == 0;
	} else {
		is_polled = false;
	}
	if (!is_polled && !atomic_load(&lane->is_watched)) {
		watch(state);
		has_work = true;
	}
	if (is_polled && !has_work)
		return;
	if (!has_work && atomic_load(&lane->deadline) > now_ns)
		return;
	pthread_mutex_lock(&lane->lock);
	roce_lane_drive(lane, ROCE_DRIVE_ALL, now_ns);
	pthread_mutex_unlock(&lane->lock);
}

static void run_item(const struct roce_cm_hooks *hooks, const struct item *item, uint64_t now_ns)
{
	switch (item->kind) {
	case ITEM_MAD:
		hooks->mad_input(&item->path, item->mad, now_ns);
		break;
	case ITEM_COMM_EST:
		hooks->comm_est(item->path.dev, item->qpn);
		break;
	case ITEM_QP_ERROR:
		hooks->qp_error(item->path.dev, item->qpn);
		break;
	}
}

static struct item *take_item(void)
{
	struct item *item;

	pthread_mutex_lock(&bg.lock);
	item = STAILQ_FIRST(&bg.items);
	if (item) {
		STAILQ_REMOVE_HEAD(&bg.items, link);
		bg.num_items--;
	}
	pthread_mutex_unlock(&bg.lock);
	return item;
}

/* Returns when the CM wants to be called next. */
static uint64_t run_cm(void)
{
	const struct roce_cm_hooks *hooks = atomic_load(&bg.hooks);
	uint64_t now_ns = roce_now_ns();
	struct item *item;

	/* Items that came since then wait for the next round, which their kick has ordered. */
	if (!hooks)
		return UINT64_MAX;
	while ((item = take_item())) {
		run_item(hooks, item, now_ns);
		free(item);
	}
	if (hooks->next_deadline() <= now_ns)
		hooks->timer(now_ns);
	return hooks->next_deadline();
}

/* The nearest of the CM's deadline, timers of watched lanes, and the next look at polled ones. */
static uint64_t next_wake(size_t num_lanes, uint64_t cm_deadline, uint64_t now_ns)
{
	uint64_t wake = cm_deadline;

	for (size_t i = 0; i < num_lanes; i++) {
		const struct roce_lane *lane = bg.lanes[i].lane;
		uint64_t at = now_ns + LOOK_AGAIN_NS;

		if (atomic_load(&lane->is_watched))
			at = atomic_load(&lane->deadline);
		if (at < wake)
			wake = at;
	}
	return wake;
}

static int timeout_ms(uint64_t wake, uint64_t now_ns)
{
	uint64_t ms;

	if (wake == UINT64_MAX)
		return -1;
	if (wake <= now_ns)
		return 0;
	ms = (wake - now_ns + 999999) / 1000000;
	return ms < 60000 ? (int)ms : 60000;
}

/* Sleeps until wake or until something happens; marks the lanes that have packets. */
static void sleep_until(size_t num_lanes, uint64_t cm_deadline)
{
	struct epoll_event events[EPOLL_EVENTS];
	uint64_t now_ns = roce_now_ns();
	uint64_t wake = next_wake(num_lanes, cm_deadline, now_ns);
	uint64_t count;
	int n;

	atomic_store(&bg.sleep_until, wake);
	/* Deadlines that moved before sleep_until was set were not worth a kick to their mover. */
	wake = next_wake(num_lanes, cm_deadline, now_ns);
	if (atomic_exchange(&bg.is_kicked, false))
		wake = 0;
	n = epoll_wait(bg.epoll_fd, events, EPOLL_EVENTS, timeout_ms(wake, now_ns));
	atomic_store(&bg.sleep_until, 0);
	for (int i = 0; i < n; i++) {
		struct lane_state *state = events[i].data.ptr;

		if (state)
			state->has_event = true;
		else
			(void)!read(bg.event_fd, &count, sizeof(count));
	}
}

static void *run(void *arg)
{
	(void)arg;
	for (;;) {
		uint64_t now_ns = roce_now_ns();
		uint64_t cm_deadline;
		size_t num_lanes;

		pthread_mutex_lock(&bg.lock);
		num_lanes = bg.num_lanes; /* entries never change once added */
		pthread_mutex_unlock(&bg.lock);
		for (size_t i = 0; i < num_lanes; i++)
			service_lane(&bg.lanes[i], now_ns);
		cm_deadline = run_cm();
		sleep_until(num_lanes, cm_deadline);
	}
	return NULL;
}

/* --- start --------------------------------------------------------------------------------- */

static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int rc;

	/* Signals are the program's business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, run, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		pthread_setname_np(thread, "softroce");
	return -rc;
}

static int start_locked(void)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int rc;

	bg.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (bg.epoll_fd < 0)
		return -errno;
	bg.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bg.event_fd < 0) {
		rc = -errno;
		goto err_close_epoll;
	}
	if (epoll_ctl(bg.epoll_fd, EPOLL_CTL_ADD, bg.event_fd, &ev)) {
		rc = -errno;
		goto err_close_event;
	}
	rc = start_thread();
	if (rc)
		goto err_close_event;
	bg.is_running = true;
	return 0;

err_close_event:
	close(bg.event_fd);
err_close_epoll:
	close(bg.epoll_fd);
	return rc;
}

static struct lane_state *find_locked(const struct roce_lane *lane)
{
	for (size_t i = 0; i < bg.num_lanes; i++) {
		if (bg.lanes[i].lane == lane)
			return &bg.lanes[i];
	}
	return NULL;
}

int roce_progress_add(struct roce_lane *lane)
{
	struct lane_state *state = NULL;
	int rc = 0;

	pthread_mutex_lock(&bg.lock);
	if (!bg.is_running)
		rc = start_locked();
	if (rc == 0) {
		state = find_locked(lane);
		if (!state) {
			state = &bg.lanes[bg.num_lanes++];
			state->lane = lane;
		}
	}
	pthread_mutex_unlock(&bg.lock);
	if (rc)
		return rc;
	/* By us, for the thread leaves a lane that is polled as it finds it. */
	watch(state);
	roce_kick(); /* one lane more */
	return 0;
}

void roce_progress_idle(struct roce_lane *lane, unsigned int gid_index)
{
	struct lane_state *state;

	pthread_mutex_lock(&bg.lock);
	state = find_locked(lane);
	pthread_mutex_unlock(&bg.lock);
	watch_socket(state, lane->nets[gid_index].fd);
}

void roce_progress_remove(struct roce_lane *lane)
{
	for (unsigned int g = 0; g < lane->dev->num_gids; g++) {
		if (lane->nets[g].fd >= 0)
			(void)epoll_ctl(bg.epoll_fd, EPOLL_CTL_DEL, lane->nets[g].fd, NULL);
	}
	atomic_store(&lane->is_watched, true); /* nothing left to look after */
}
