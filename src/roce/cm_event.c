/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_event.c - event channels and their queues. A channel of ours has an eventfd for soft events;
 * where the kernel has RDMA too, it has a channel of librdmacm beside it and an epoll fd over both,
 * so one fd and one rdma_get_cm_event() serve soft and real ids together.
 */
#include "roce/cm_id.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "roce/level.h"
#include "roce/next.h"

#define RDMA_CM_NODE "/dev/infiniband/rdma_cm"

/* All under the CM lock. */
static LIST_HEAD(, roce_channel_cm) channels = LIST_HEAD_INITIALIZER(channels);
static TAILQ_HEAD(, roce_event) fetched = TAILQ_HEAD_INITIALIZER(fetched);
static pthread_cond_t acked = PTHREAD_COND_INITIALIZER;

bool roce_cm_has_real(void)
{
	return access(RDMA_CM_NODE, R_OK | W_OK) == 0 && ROCE_NEXT(rdma_create_event_channel);
}

/* --- channels ------------------------------------------------------------------------------ */

static int add_to_epoll(int epoll_fd, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* Puts librdmacm's channel beside ours. Ours never blocks in it. */
static int add_real(struct roce_channel_cm *channel)
{
	int err;

	channel->real = ROCE_NEXT(rdma_create_event_channel)();
	if (!channel->real)
		return -errno;
	channel->ch.fd = epoll_create1(EPOLL_CLOEXEC);
	if (channel->ch.fd < 0) {
		err = -errno;
		goto err_destroy_real;
	}
	if (fcntl(channel->real->fd, F_SETFL, O_NONBLOCK)) {
		err = -errno;
		goto err_close;
	}
	err = add_to_epoll(channel->ch.fd, channel->event_fd);
	if (!err)
		err = add_to_epoll(channel->ch.fd, channel->real->fd);
	if (err)
		goto err_close;
	return 0;

err_close:
	close(channel->ch.fd);
err_destroy_real:
	ROCE_NEXT(rdma_destroy_event_channel)(channel->real);
	channel->real = NULL;
	return err;
}

struct roce_channel_cm *roce_channel_cm_new(bool with_real)
{
	struct roce_channel_cm *channel = calloc(1, sizeof(*channel));
	int err;

	if (!channel)
		return NULL;
	TAILQ_INIT(&channel->events);
	channel->event_fd = roce_level_open();
	if (channel->event_fd < 0) {
		errno = -channel->event_fd;
		goto err_free;
	}
	channel->ch.fd = channel->event_fd;
	if (with_real) {
		err = add_real(channel);
		if (err) {
			errno = -err;
			goto err_close;
		}
	}
	roce_cm_lock();
	LIST_INSERT_HEAD(&channels, channel, link);
	roce_cm_unlock();
	return channel;

err_close:
	close(channel->event_fd);
err_free:
	free(channel);
	return NULL;
}

void roce_channel_cm_free_locked(struct roce_channel_cm *channel)
{
	LIST_REMOVE(channel, link);
	if (channel->real) {
		ROCE_NEXT(rdma_destroy_event_channel)(channel->real);
		close(channel->ch.fd);
	}
	close(channel->event_fd);
	free(channel);
}

struct roce_channel_cm *roce_channel_cm_find_locked(const struct rdma_event_channel *ch)
{
	struct roce_channel_cm *channel;

	LIST_FOREACH(channel, &channels, link)
	{
		if (&channel->ch == ch || (ch && channel->real == ch))
			return channel;
	}
	return NULL;
}

/* --- queue --------------------------------------------------------------------------------- */

static void append_locked(struct roce_channel_cm *channel, struct roce_event *event)
{
	TAILQ_INSERT_TAIL(&channel->events, event, link);
	roce_level_set(channel->event_fd);
}

static void remove_locked(struct roce_channel_cm *channel, struct roce_event *event)
{
	TAILQ_REMOVE(&channel->events, event, link);
	if (TAILQ_EMPTY(&channel->events))
		roce_level_clear(channel->event_fd);
}

int roce_event_post_locked(struct roce_id *rid, const struct rdma_cm_event *ev,
			   const uint8_t *private_data, size_t bytes)
{
	struct roce_event *event = calloc(1, sizeof(*event));

	if (!event)
		return -ENOMEM;
	event->ev = *ev;
	event->owner = rid;
	if (bytes) {
		memcpy(event->private_data, private_data, bytes);
		event->ev.param.conn.private_data = event->private_data;
		event->ev.param.conn.private_data_len = (uint8_t)bytes;
	}
	append_locked(rid->channel, event);
	return 0;
}

int roce_event_post_simple_locked(struct roce_id *rid, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event ev = {.id = rid->id, .event = type, .status = status};

	return roce_event_post_locked(rid, &ev, NULL, 0);
}

void roce_event_forget_locked(struct roce_id *rid)
{
	struct roce_channel_cm *channel = rid->channel;
	struct roce_event *event, *next;
	struct roce_id *child;

	for (event = TAILQ_FIRST(&channel->events); event; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->owner != rid)
			continue;
		remove_locked(channel, event);
		child = event->ev.id == rid->id ? NULL : roce_id_find_locked(event->ev.id);
		free(event);
		if (child) {
			/* Its own events go too, among them maybe the next one. */
			roce_event_forget_locked(child);
			roce_id_free_locked(child);
			next = TAILQ_FIRST(&channel->events);
		}
	}
}

void roce_event_wait_acked_locked(struct roce_id *rid)
{
	while (rid->fetched_events)
		roce_cm_wait_locked(&acked);
}

void roce_event_migrate_locked(struct roce_id *rid, struct roce_channel_cm *to)
{
	struct roce_event *event, *next;

	for (event = TAILQ_FIRST(&rid->channel->events); event; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->owner == rid) {
			remove_locked(rid->channel, event);
			append_locked(to, event);
		}
	}
	rid->channel = to;
	if (rid->id == &rid->own)
		rid->own.channel = &to->ch;
}

/* --- what a program fetches ---------------------------------------------------------------- */

static struct roce_event *take_locked(struct roce_channel_cm *channel)
{
	struct roce_event *event = TAILQ_FIRST(&channel->events);

	if (!event)
		return NULL;
	remove_locked(channel, event);
	TAILQ_INSERT_TAIL(&fetched, event, link);
	event->owner->fetched_events++;
	return event;
}

int roce_event_get(struct roce_channel_cm *channel, struct rdma_cm_event **ret_event)
{
	struct roce_event *event;
	int err;

	for (;;) {
		roce_cm_lock();
		event = take_locked(channel);
		roce_cm_unlock();
		if (event) {
			*ret_event = &event->ev;
			return 0;
		}
		if (channel->real && !ROCE_NEXT(rdma_get_cm_event)(channel->real, ret_event))
			return 0;
		if (channel->real && errno != EAGAIN)
			return -errno;
		err = roce_level_wait(channel->ch.fd);
		if (err)
			return err;
	}
}

static int ack_locked(struct rdma_cm_event *ev)
{
	struct roce_event *event;

	TAILQ_FOREACH(event, &fetched, link)
	{
		if (&event->ev == ev)
			break;
	}
	if (!event)
		return -ENOENT;
	TAILQ_REMOVE(&fetched, event, link);
	if (--event->owner->fetched_events == 0)
		pthread_cond_broadcast(&acked);
	free(event);
	return 0;
}

int roce_event_ack(struct rdma_cm_event *ev)
{
	int err;

	roce_cm_lock();
	err = ack_locked(ev);
	roce_cm_unlock();
	return err;
}

/* --- synchronous ids ----------------------------------------------------------------------- */

void roce_event_drop_sync_locked(struct roce_id *rid)
{
	if (rid->id->event && ack_locked(rid->id->event) == 0)
		rid->id->event = NULL;
}

/* What a call that waited for this event returns. */
static int status_of(const struct rdma_cm_event *ev)
{
	if (!ev->status)
		return 0;
	if (ev->event == RDMA_CM_EVENT_REJECTED)
		return -ECONNREFUSED;
	return ev->status < 0 ? ev->status : -ECONNREFUSED;
}

int roce_event_complete(struct rdma_cm_id *id)
{
	struct roce_channel_cm *channel = NULL;
	struct roce_id *rid;
	int err;

	roce_cm_lock();
	rid = roce_id_find_locked(id);
	if (rid && rid->is_sync)
		channel = rid->channel;
	roce_cm_unlock();
	if (!channel)
		return 0;
	if (id->event) {
		(void)roce_event_ack(id->event);
		id->event = NULL;
	}
	err = roce_event_get(channel, &id->event);
	return err ? err : status_of(id->event);
}
