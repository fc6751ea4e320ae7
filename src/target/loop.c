/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop; see loop.h. */
#include "target/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "util/time.h"

enum {
	EVENTS_PER_WAIT = 16,
};

int tgt_loop_init(struct tgt_loop *loop)
{
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return loop->epoll_fd < 0 ? -errno : 0;
}

void tgt_loop_fini(struct tgt_loop *loop)
{
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	loop->epoll_fd = -1;
}

int tgt_loop_add(struct tgt_loop *loop, struct tgt_loop_source *source)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, source->fd, &ev) ? -errno : 0;
}

void tgt_loop_watch(struct tgt_loop *loop, struct tgt_loop_source *source, bool readable,
		    bool writable)
{
	struct epoll_event ev = {.events = (readable ? EPOLLIN : 0u) | (writable ? EPOLLOUT : 0u),
				 .data.ptr = source};

	(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, source->fd, &ev);
}

void tgt_loop_remove(struct tgt_loop *loop, struct tgt_loop_source *source)
{
	(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
}

uint64_t tgt_loop_now_ms(void)
{
	return util_now_ns() / UTIL_NS_PER_MS;
}

static int timeout_ms(uint64_t deadline_ms)
{
	uint64_t now = tgt_loop_now_ms();

	if (deadline_ms == UINT64_MAX)
		return -1;
	if (deadline_ms <= now)
		return 0;
	return deadline_ms - now > INT_MAX ? INT_MAX : (int)(deadline_ms - now);
}

int tgt_loop_wait(struct tgt_loop *loop, uint64_t deadline_ms, uint64_t *now_ms)
{
	struct epoll_event events[EVENTS_PER_WAIT];
	int n, i;

	n = epoll_wait(loop->epoll_fd, events, EVENTS_PER_WAIT, timeout_ms(deadline_ms));
	*now_ms = tgt_loop_now_ms();
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < n; i++) {
		struct tgt_loop_source *source = events[i].data.ptr;

		source->ready(source->arg);
	}
	return 0;
}

int tgt_fd_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}
