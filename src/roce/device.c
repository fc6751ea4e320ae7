/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of soft devices: which there are, who has which address, and the counting of users
 * that opens and closes a device's sockets. What a netdev looks like is asked in netdev.c.
 */
#include "roce/device.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "roce/lane.h"
#include "roce/mr.h"
#include "roce/netdev.h"

/*
 * Lock: lock guards the scan and every device's users and GIDs. devs[0..count) are
 * immortal after the scan.
 */
static struct {
	pthread_mutex_t lock;
	bool is_scanned;
	size_t count;
	struct roce_device devs[ROCE_MAX_DEVICES];
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The parts that live as long as the device. */
static int fill_device(struct roce_device *dev)
{
	dev->mrs = roce_mr_table_create();
	if (!dev->mrs)
		return -ENOMEM;
	dev->lane = roce_lane_create(dev);
	if (!dev->lane) {
		roce_mr_table_destroy(dev->mrs);
		return -ENOMEM;
	}
	return 0;
}

static void scan_locked(void)
{
	size_t kept = 0;
	size_t found;

	if (registry.is_scanned)
		return;
	found = roce_netdev_scan(registry.devs, ROCE_MAX_DEVICES);
	for (size_t i = 0; i < found; i++) {
		struct roce_device *dev = &registry.devs[i];

		if (fill_device(dev))
			continue;
		if (kept != i)
			registry.devs[kept] = *dev;
		registry.devs[kept].lane->dev = &registry.devs[kept];
		kept++;
	}
	registry.count = kept;
	registry.is_scanned = true;
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

struct roce_device *roce_device_by_addr(const struct sockaddr *addr, unsigned int *gid_index)
{
	bool is_lo = is_ipv4_loopback(addr);
	struct roce_device *devs;
	size_t count = roce_devices(&devs);

	for (size_t d = 0; d < count; d++) {
		for (unsigned int g = 0; g < devs[d].num_gids; g++) {
			if (devs[d].is_loopback ? !is_lo
						: !roce_addr_equal(addr, &devs[d].gids[g].addr.sa))
				continue;
			if (gid_index)
				*gid_index = g;
			return &devs[d];
		}
	}
	return NULL;
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
