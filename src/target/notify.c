/* SPDX-License-Identifier: Apache-2.0 */
/* The service manager's socket; see notify.h. */
#include "target/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int tgt_notify(const char *state)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	socklen_t to_bytes;
	int fd, rc = 0;

	if (!len)
		return 0;
	if ((path[0] != '/' && path[0] != '@') || len >= sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path, path, len);
	if (path[0] == '@')
		to.sun_path[0] = '\0'; /* the abstract namespace, where the length ends the name */
	to_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (const struct sockaddr *)&to, to_bytes) < 0)
		rc = -errno;
	close(fd);
	return rc;
}
