/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of soft devices: which there are, who has which address, and the counting of users
 * that opens and closes a device's sockets. What a netdev looks like is asked in netdev.c.
 */
#include "roce/device.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "roce/lane.h"
#include "roce/mr.h"
#include "roce/netdev.h"

/*
 * Lock: lock guards count and every device's users and GIDs. devs[0..count) never move or go away;
 * a netdev that appears later is appended.
 */
static struct {
	pthread_mutex_t lock;
	size_t count;
	struct roce_device devs[ROCE_MAX_DEVICES];
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- what there is ------------------------------------------------------------------------- */

static struct roce_device *find_locked(const char *netdev)
{
	for (size_t i = 0; i < registry.count; i++) {
		if (strcmp(registry.devs[i].netdev, netdev) == 0)
			return &registry.devs[i];
	}
	return NULL;
}

static void add_locked(const struct roce_device *found)
{
	struct roce_device *dev = &registry.devs[registry.count];

	if (registry.count == ROCE_MAX_DEVICES)
		return;
	*dev = *found;
	dev->mrs = roce_mr_table_create();
	if (!dev->mrs)
		return;
	dev->lane = roce_lane_create(dev);
	if (!dev->lane) {
		roce_mr_table_destroy(dev->mrs);
		return;
	}
	registry.count++;
}

/* Adds netdevs that are new, and gives devices that nobody uses the addresses of today. */
static void scan_locked(void)
{
	struct roce_device *found = calloc(ROCE_MAX_DEVICES, sizeof(*found));
	size_t count;

	if (!found)
		return;
	count = roce_netdev_scan(found, ROCE_MAX_DEVICES);
	for (size_t i = 0; i < count; i++) {
		struct roce_device *known = find_locked(found[i].netdev);

		if (!known) {
			add_locked(&found[i]);
		} else if (known->users == 0 && !known->is_loopback) {
			memcpy(known->gids, found[i].gids, sizeof(known->gids));
			known->num_gids = found[i].num_gids;
		}
	}
	free(found);
}

size_t roce_devices(struct roce_device **devs)
{
	size_t count;

	pthread_mutex_lock(&registry.lock);
	scan_locked();
	count = registry.count;
	pthread_mutex_unlock(&registry.lock);
	*devs = registry.devs;
	return count;
}

int roce_device_gid(const struct roce_device *dev, unsigned int index, struct roce_gid *row)
{
	int rc = -ENODATA;

	pthread_mutex_lock(&registry.lock);
	if (index < dev->num_gids) {
		*row = dev->gids[index];
		rc = 0;
	}
	pthread_mutex_unlock(&registry.lock);
	return rc;
}

struct roce_device *roce_device_from_ibdev(const struct ibv_device *ibdev)
{
	uintptr_t offset = (uintptr_t)ibdev - (uintptr_t)registry.devs;

	/* Handles are pointers into the registry: no foreign memory is looked at. */
	if (!ibdev || (uintptr_t)ibdev < (uintptr_t)registry.devs ||
	    offset >= sizeof(registry.devs) || offset % sizeof(registry.devs[0]))
		return NULL;
	return &registry.devs[offset / sizeof(registry.devs[0])];
}

static bool is_ipv4_loopback(const struct sockaddr *addr)
{
	struct sockaddr_in in;

	if (addr->sa_family != AF_INET)
		return false;
	memcpy(&in, addr, sizeof(in));
	return (ntohl(in.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
}

static struct roce_device *find_addr_locked(const struct sockaddr *addr, unsigned int *gid_index)
{
	bool is_lo = is_ipv4_loopback(addr);

	for (size_t d = 0; d < registry.count; d++) {
		struct roce_device *dev = &registry.devs[d];

		for (unsigned int g = 0; g < dev->num_gids; g++) {
			if (dev->is_loopback ? !is_lo
					     : !roce_addr_equal(addr, &dev->gids[g].addr.sa))
				continue;
			if (gid_index)
				*gid_index = g;
			return dev;
		}
	}
	return NULL;
}

struct roce_device *roce_device_by_addr(const struct sockaddr *addr, unsigned int *gid_index)
{
	struct roce_device *dev;

	pthread_mutex_lock(&registry.lock);
	dev = find_addr_locked(addr, gid_index);
	if (!dev) {
		/* A daemon may start before its address is configured, and ask again. */
		scan_locked();
		dev = find_addr_locked(addr, gid_index);
	}
	pthread_mutex_unlock(&registry.lock);
	return dev;
}

int roce_device_by_route(const struct sockaddr *dst, struct roce_device **dev,
			 unsigned int *gid_index)
{
	struct roce_device *found;
	union roce_addr src;
	int rc = roce_netdev_source_for(dst, &src);

	if (rc)
		return rc;
	found = roce_device_by_addr(&src.sa, gid_index);
	if (!found)
		return -ENODEV;
	*dev = found;
	return 0;
}

/* --- use ----------------------------------------------------------------------------------- */

int roce_device_get(struct roce_device *dev)
{
	int rc = 0;

	pthread_mutex_lock(&registry.lock);
	if (dev->users == 0)
		rc = roce_lane_open(dev->lane);
	if (rc == 0)
		dev->users++;
	pthread_mutex_unlock(&registry.lock);
	return rc;
}

bool roce_device_get_open(struct roce_device *dev)
{
	bool is_open;

	pthread_mutex_lock(&registry.lock);
	is_open = dev->users > 0;
	dev->users += is_open;
	pthread_mutex_unlock(&registry.lock);
	return is_open;
}

void roce_device_put(struct roce_device *dev)
{
	pthread_mutex_lock(&registry.lock);
	if (--dev->users == 0)
		roce_lane_close(dev->lane);
	pthread_mutex_unlock(&registry.lock);
}

struct ibv_context *roce_device_context(struct roce_device *dev)
{
	struct ibv_context *ctx;

	pthread_mutex_lock(&registry.lock);
	if (!dev->shared_ctx)
		dev->shared_ctx = roce_context_create(dev);
	ctx = dev->shared_ctx;
	pthread_mutex_unlock(&registry.lock);
	return ctx;
}
