/* SPDX-License-Identifier: Apache-2.0 */
/* See level.h. */
#include "roce/level.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

int roce_level_open(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

void roce_level_set(int fd)
{
	(void)eventfd_write(fd, 1);
}

void roce_level_clear(int fd)
{
	eventfd_t count;

	(void)eventfd_read(fd, &count);
}

int roce_level_wait(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	if (flags & O_NONBLOCK)
		return -EAGAIN;
	return poll(&pfd, 1, -1) < 0 ? -errno : 0;
}
