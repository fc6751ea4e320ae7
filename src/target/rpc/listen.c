/* SPDX-License-Identifier: Apache-2.0 */
/* The socket's name; see listen.h. */
#include "target/rpc/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	BACKLOG = 16,
	LOCK_TRIES = 100,
	LOCK_NAP_MS = 20,
};

static int fail(struct tgt_err *err, int rc, const char *path)
{
	return tgt_err_set(err, rc, "control socket %.150s: %s", path, strerror(-rc));
}

/*
 * Two targets that start at a time must not both find a dead one's socket and replace each other's.
 * The directory's lock leaves no file behind. -errno, or a descriptor to close.
 */
static int lock_directory(const char *path)
{
	const struct timespec nap = {.tv_nsec = LOCK_NAP_MS * 1000000L};
	char copy[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int fd, i, rc = -EWOULDBLOCK;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		rc = -errno;
		if (rc != -EWOULDBLOCK)
			break;
		nanosleep(&nap, NULL);
	}
	close(fd);
	return rc;
}

static int socket_new(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Does somebody listen? A full queue is a sign of life, too. */
static bool is_live(const struct sockaddr_un *addr)
{
	int fd = socket_new();
	bool is_dead;

	if (fd < 0)
		return true;
	is_dead = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) &&
		  (errno == ECONNREFUSED || errno == ENOENT);
	close(fd);
	return !is_dead;
}

/* Make room for the new name. With the lock. */
static int clear_name(const struct sockaddr_un *addr, struct tgt_err *err)
{
	const char *path = addr->sun_path;
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : fail(err, -errno, path);
	if (!S_ISSOCK(st.st_mode))
		return tgt_err_set(err, -EEXIST,
				   "control socket %.150s: there is something else of that name",
				   path);
	if (is_live(addr))
		return tgt_err_set(
			err, -EADDRINUSE,
			"control socket %.150s: another target, which is running, has it", path);
	return unlink(path) ? fail(err, -errno, path) : 0;
}

static int bind_and_listen(int fd, const struct sockaddr_un *addr)
{
	/* What is set before bind() is the mode of the file from its first moment on (unix(7)). */
	if (fchmod(fd, S_IRUSR | S_IWUSR) ||
	    bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) || listen(fd, BACKLOG))
		return -errno;
	return 0;
}

static int open_locked(struct tgt_rpc_listen *l, const struct sockaddr_un *addr,
		       struct tgt_err *err)
{
	struct stat st;
	int rc = clear_name(addr, err);

	if (rc)
		return rc;
	l->fd = socket_new();
	if (l->fd < 0)
		return fail(err, -errno, addr->sun_path);
	rc = bind_and_listen(l->fd, addr);
	if (!rc && lstat(addr->sun_path, &st))
		rc = -errno;
	if (rc) {
		close(l->fd);
		l->fd = -1;
		return fail(err, rc, addr->sun_path);
	}
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return 0;
}

int tgt_rpc_listen_open(struct tgt_rpc_listen *l, const char *path, struct tgt_err *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int lock, rc;

	l->fd = -1;
	if (!path[0] || strlen(path) >= sizeof(addr.sun_path))
		return tgt_err_set(err, -ENAMETOOLONG,
				   "control socket %.150s: a name has 1 to %zu characters", path,
				   sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path));
	lock = lock_directory(path);
	if (lock < 0)
		return fail(err, lock, path);
	rc = open_locked(l, &addr, err);
	close(lock);
	return rc;
}

void tgt_rpc_listen_close(struct tgt_rpc_listen *l, const char *path)
{
	struct stat st;

	if (l->fd < 0)
		return;
	if (!lstat(path, &st) && st.st_dev == l->dev && st.st_ino == l->ino)
		(void)unlink(path);
	close(l->fd);
	l->fd = -1;
}
