/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for addresses; see await.h. */
#include "target/await.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "target/log.h"
#include "util/time.h"

enum {
	LOOK_EVERY_MS = 200,
};

bool tgt_addr_exists(const union tgt_sockaddr *addr)
{
	union tgt_sockaddr any_port = *addr;
	int fd = socket(addr->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool exists = true;

	if (fd < 0)
		return errno != EAFNOSUPPORT;
	if (addr->sa.sa_family == AF_INET6)
		any_port.in6.sin6_port = 0;
	else
		any_port.in.sin_port = 0;
	/* An IPv6 address whose duplicates are still looked for does not exist either. */
	if (bind(fd, &any_port.sa, sizeof(any_port)))
		exists = errno != EADDRNOTAVAIL && errno != ENODEV;
	close(fd);
	return exists;
}

struct look {
	size_t here, missing;
};

static struct look look(const struct tgt_config *config, bool say)
{
	struct look found = {0};
	char addr[TGT_ADDR_TEXT];
	size_t s, i;

	for (s = 0; s < config->n_subsystems; s++) {
		const struct tgt_subsys_conf *subsys = &config->subsystems[s];

		for (i = 0; i < subsys->n_listeners; i++) {
			if (tgt_addr_exists(&subsys->listeners[i])) {
				found.here++;
				continue;
			}
			found.missing++;
			tgt_addr_format(&subsys->listeners[i].sa, addr);
			if (say)
				tgt_log("no interface of this machine has the address %s yet,"
					" waiting for it",
					addr);
		}
	}
	return found;
}

bool tgt_await_addresses(const struct tgt_config *config, int stop_fd, unsigned int grace_ms)
{
	struct pollfd stop = {.fd = stop_fd, .events = POLLIN};
	uint64_t until_ns = util_now_ns() + (uint64_t)grace_ms * UTIL_NS_PER_MS;
	struct look found = look(config, true);

	while (found.missing && !(found.here && util_now_ns() >= until_ns)) {
		if (poll(&stop, 1, LOOK_EVERY_MS) > 0)
			return false;
		found = look(config, false);
	}
	return true;
}
