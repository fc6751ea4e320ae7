/* SPDX-License-Identifier: Apache-2.0 */
/* What reaches a service manager's socket, by path and by abstract name. */
#include "fake.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "target/notify.h"

/* A socket that is called @name ("@..." abstract), and NOTIFY_SOCKET set to that. */
static int manager(const char *name)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	size_t len = strlen(name);

	assert_true(fd >= 0 && len < sizeof(addr.sun_path));
	memcpy(addr.sun_path, name, len);
	if (name[0] == '@')
		addr.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&addr,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
			 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
	return fd;
}

static void assert_hears(int fd, const char *text)
{
	char said[64];
	ssize_t n = recv(fd, said, sizeof(said) - 1, 0);

	assert_true(n >= 0);
	said[n] = '\0';
	assert_string_equal(said, text);
}

static void by_path_and_by_name(void **state)
{
	char dir[] = "/tmp/softsta-notify.XXXXXX", path[64], name[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/socket", dir);
	fd = manager(path);
	assert_int_equal(tgt_notify("READY=1"), 0);
	assert_hears(fd, "READY=1");
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(tgt_notify("STOPPING=1"), -ENOENT);

	snprintf(name, sizeof(name), "@softsta-notify-%d", (int)getpid());
	fd = manager(name);
	assert_int_equal(tgt_notify("STOPPING=1"), 0);
	assert_hears(fd, "STOPPING=1");
	close(fd);
}

static void without_a_manager(void **state)
{
	char name[256] = "/";

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(tgt_notify("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "", 1);
	assert_int_equal(tgt_notify("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "relative", 1);
	assert_int_equal(tgt_notify("READY=1"), -EINVAL);
	memset(name + 1, 'a', sizeof(name) - 2);
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(tgt_notify("READY=1"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_path_and_by_name),
		cmocka_unit_test(without_a_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
