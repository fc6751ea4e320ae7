/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the kernel's network devices into soft RoCE devices: which are usable, their GIDs, GUID
 * and MTU. Addresses are read once; link state is read whenever a port is queried.
 */
#include "roce/netdev.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEVICE_PREFIX "sr_"
#define DEVICES_ENV   "SOFTROCE_DEVICES"

/* Most that RoCEv2 puts around a path MTU of payload: IPv6 40, UDP 8, BTH 12, RETH 16, ICRC 4. */
#define HEADER_BYTES 80

bool roce_netdev_is_selected(const char *list, const char *netdev)
{
	size_t len;

	if (!list)
		return true;
	if (strcmp(list, "none") == 0)
		return false;
	for (; *list; list += len + (list[len] == ',')) {
		const char *name = list;
		size_t name_len;

		len = strcspn(list, ",");
		name_len = len;
		if (strncmp(name, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) == 0) {
			name += strlen(DEVICE_PREFIX);
			name_len -= strlen(DEVICE_PREFIX);
		}
		if (strlen(netdev) == name_len && memcmp(name, netdev, name_len) == 0)
			return true;
	}
	return false;
}

enum ibv_mtu roce_netdev_path_mtu(unsigned int netdev_mtu)
{
	enum ibv_mtu mtu = IBV_MTU_4096;

	while (mtu > IBV_MTU_256 && netdev_mtu < (128u << mtu) + HEADER_BYTES)
		mtu--;
	return mtu;
}

/* One ioctl on the interface; false when it is gone. */
static bool query_interface(const char *netdev, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0)
		return false;
	*ifr = (struct ifreq){0};
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", netdev);
	ok = ioctl(fd, request, ifr) == 0;
	close(fd);
	return ok;
}

struct roce_link roce_device_link(const struct roce_device *dev)
{
	const short up = IFF_UP | IFF_RUNNING;
	struct roce_link link = {.active_mtu = IBV_MTU_256};
	struct ifreq ifr;

	if (query_interface(dev->netdev, SIOCGIFFLAGS, &ifr))
		link.is_up = (ifr.ifr_flags & up) == up;
	if (query_interface(dev->netdev, SIOCGIFMTU, &ifr) && ifr.ifr_mtu > 0)
		link.active_mtu = roce_netdev_path_mtu((unsigned int)ifr.ifr_mtu);
	return link;
}

/*
 * A number made from the MAC address, but not its EUI-64: that is the GUID of the netdev's real
 * RDMA device, and librdmacm tells devices apart by it. A netdev without MAC gets a local number.
 */
static __be64 make_guid(const struct ifaddrs *list, const struct roce_device *dev)
{
	static const uint8_t no_mac[6];
	uint8_t eui[8] = {0x02, 0, 0, 'S', 'R', 0, 0, (uint8_t)dev->ifindex};
	__be64 guid;

	for (const struct ifaddrs *ifa = list; ifa; ifa = ifa->ifa_next) {
		struct sockaddr_ll ll;

		if (!ifa->ifa_addr || ifa->ifa_addr->sa_family != AF_PACKET ||
		    strcmp(ifa->ifa_name, dev->netdev) != 0)
			continue;
		memcpy(&ll, ifa->ifa_addr, sizeof(ll));
		if (ll.sll_halen != sizeof(no_mac) || memcmp(ll.sll_addr, no_mac, 6) == 0)
			continue;
		memcpy(eui, ll.sll_addr, 3);
		memcpy(eui + 5, ll.sll_addr + 3, 3);
		eui[0] ^= 0x02; /* universal/local bit, RFC 4291 appendix A */
	}
	memcpy(&guid, eui, sizeof(guid));
	return guid;
}

static void add_gid(struct roce_device *dev, const struct sockaddr *sa)
{
	struct roce_gid *row = &dev->gids[dev->num_gids];

	if (dev->num_gids == ROCE_MAX_GIDS || roce_gid_from_sockaddr(sa, &row->gid))
		return;
	roce_gid_to_addr(&row->gid, dev->ifindex, &row->addr);
	dev->num_gids++;
}

/* IPv4 first, then IPv6. On loopback only IPv4: 127.0.0.1 until a free 127.0.0.x is taken. */
static void add_gids(struct roce_device *dev, const struct ifaddrs *list)
{
	static const sa_family_t families[] = {AF_INET, AF_INET6};

	for (size_t f = 0; f < (dev->is_loopback ? 1 : 2); f++) {
		for (const struct ifaddrs *ifa = list; ifa; ifa = ifa->ifa_next) {
			if (!ifa->ifa_addr || ifa->ifa_addr->sa_family != families[f] ||
			    strcmp(ifa->ifa_name, dev->netdev) != 0)
				continue;
			if (dev->is_loopback && dev->num_gids == 1)
				return;
			add_gid(dev, ifa->ifa_addr);
		}
	}
}

static bool is_known(const struct roce_device *devs, size_t count, const char *netdev)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(devs[i].netdev, netdev) == 0)
			return true;
	}
	return false;
}

/* Fills *dev from the entries of ifa's netdev in list; false when it has no address. */
static bool fill_device(struct roce_device *dev, const struct ifaddrs *ifa,
			const struct ifaddrs *list)
{
	*dev = (struct roce_device){.ifindex = if_nametoindex(ifa->ifa_name),
				    .is_loopback = ifa->ifa_flags & IFF_LOOPBACK,
				    .num_lanes = 1};
	snprintf(dev->netdev, sizeof(dev->netdev), "%s", ifa->ifa_name);
	snprintf(dev->ibdev.name, sizeof(dev->ibdev.name), DEVICE_PREFIX "%s", dev->netdev);
	dev->ibdev.node_type = IBV_NODE_CA;
	dev->ibdev.transport_type = IBV_TRANSPORT_IB;
	dev->guid = make_guid(list, dev);
	add_gids(dev, list);
	return dev->num_gids > 0;
}

static int by_index_loopback_last(const void *a, const void *b)
{
	const struct roce_device *x = a;
	const struct roce_device *y = b;

	if (x->is_loopback != y->is_loopback)
		return x->is_loopback ? 1 : -1;
	return x->ifindex < y->ifindex ? -1 : x->ifindex > y->ifindex;
}

size_t roce_netdev_scan(struct roce_device *devs, size_t max)
{
	const char *selected = getenv(DEVICES_ENV);
	struct ifaddrs *list;
	size_t count = 0;

	if (getifaddrs(&list))
		return 0;
	for (const struct ifaddrs *ifa = list; ifa && count < max; ifa = ifa->ifa_next) {
		if (!(ifa->ifa_flags & IFF_UP) || is_known(devs, count, ifa->ifa_name) ||
		    !roce_netdev_is_selected(selected, ifa->ifa_name))
			continue;
		if (fill_device(&devs[count], ifa, list))
			count++;
	}
	freeifaddrs(list);
	qsort(devs, count, sizeof(*devs), by_index_loopback_last);
	return count;
}

int roce_netdev_source_for(const struct sockaddr *dst, union roce_addr *src)
{
	socklen_t len = sizeof(*src);
	union roce_addr to;
	union ibv_gid gid;
	int rc = roce_gid_from_sockaddr(dst, &gid);
	int fd;

	if (rc)
		return rc;
	memset(&to, 0, sizeof(to));
	memcpy(&to, dst, dst->sa_family == AF_INET6 ? sizeof(to.in6) : sizeof(to.in));
	/* The port stands at the same place in both families. A connected UDP socket sends nothing.
	 */
	to.in.sin_port = htons(ROCE_UDP_PORT);
	fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	memset(src, 0, sizeof(*src));
	if (connect(fd, &to.sa, roce_addr_len(&to)) || getsockname(fd, &src->sa, &len))
		rc = -errno;
	close(fd);
	src->in.sin_port = 0;
	return rc;
}
