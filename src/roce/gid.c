/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses in the two shapes that verbs programs use, sockaddr and GID, and the source
 * of randomness that the device needs. No state.
 */
#include "roce/device.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static const uint8_t v4_mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

int roce_gid_from_sockaddr(const struct sockaddr *sa, union ibv_gid *gid)
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	switch (sa->sa_family) {
	case AF_INET:
		memcpy(&in, sa, sizeof(in));
		memcpy(gid->raw, v4_mapped_prefix, sizeof(v4_mapped_prefix));
		memcpy(gid->raw + sizeof(v4_mapped_prefix), &in.sin_addr, sizeof(in.sin_addr));
		return 0;
	case AF_INET6:
		memcpy(&in6, sa, sizeof(in6));
		memcpy(gid->raw, &in6.sin6_addr, sizeof(gid->raw));
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

void roce_gid_to_addr(const union ibv_gid *gid, uint32_t scope_id, union roce_addr *addr)
{
	*addr = (union roce_addr){0};
	if (memcmp(gid->raw, v4_mapped_prefix, sizeof(v4_mapped_prefix)) == 0) {
		addr->in.sin_family = AF_INET;
		memcpy(&addr->in.sin_addr, gid->raw + sizeof(v4_mapped_prefix),
		       sizeof(addr->in.sin_addr));
		return;
	}
	addr->in6.sin6_family = AF_INET6;
	memcpy(&addr->in6.sin6_addr, gid->raw, sizeof(gid->raw));
	if (IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr))
		addr->in6.sin6_scope_id = scope_id;
}

bool roce_addr_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	union ibv_gid ga, gb;

	return roce_gid_from_sockaddr(a, &ga) == 0 && roce_gid_from_sockaddr(b, &gb) == 0 &&
	       memcmp(&ga, &gb, sizeof(ga)) == 0;
}

socklen_t roce_addr_len(const union roce_addr *addr)
{
	return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6) : sizeof(addr->in);
}

uint32_t roce_random32(void)
{
	uint32_t value;

	/* Short reads do not happen below 256 bytes (getrandom(2)), only an early-boot EINTR. */
	while (getrandom(&value, sizeof(value), 0) != (ssize_t)sizeof(value))
		;
	return value;
}
