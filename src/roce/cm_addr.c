/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_addr.c - what ties an id to an address: the soft device that has it, the port number within
 * this process, the route to a peer, and listening.
 */
#include "roce/cm_id.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* The default protection domain of each device, for ids without one; kept for the process's life.
 */
static struct {
	struct roce_device *dev;
	struct ibv_pd *pd;
} default_pds[ROCE_MAX_DEVICES];

/* Where dynamic ports come from (RFC 6335, section 6). */
enum {
	PORT_FIRST = 49152,
	PORT_COUNT = 65536 - PORT_FIRST
};

/* --- sockaddrs ----------------------------------------------------------------------------- */

static bool is_wildcard(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr ==
		       INADDR_ANY;
	return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
}

static bool is_ip(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET || sa->sa_family == AF_INET6;
}

static uint16_t port_of(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return be16toh(((const struct sockaddr_in *)(const void *)sa)->sin_port);
	if (sa->sa_family == AF_INET6)
		return be16toh(((const struct sockaddr_in6 *)(const void *)sa)->sin6_port);
	return 0;
}

static void set_port(struct sockaddr *sa, uint16_t port)
{
	if (sa->sa_family == AF_INET)
		((struct sockaddr_in *)(void *)sa)->sin_port = htobe16(port);
	else
		((struct sockaddr_in6 *)(void *)sa)->sin6_port = htobe16(port);
}

static void copy_addr(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from,
	       from->sa_family == AF_INET ? sizeof(struct sockaddr_in)
					  : sizeof(struct sockaddr_in6));
}

/* --- ports --------------------------------------------------------------------------------- */

static bool is_port_taken(const struct roce_id *self, const struct sockaddr *addr, uint16_t port)
{
	struct roce_id *other = NULL;
	const struct sockaddr *theirs;

	while ((other = roce_id_next_locked(other))) {
		theirs = &other->id->route.addr.src_addr;
		if (other == self || !other->owns_port || other->id->ps != self->id->ps ||
		    port_of(theirs) != port || (self->is_reuseaddr && other->is_reuseaddr))
			continue;
		if (is_wildcard(addr) || is_wildcard(theirs) || roce_addr_equal(addr, theirs))
			return true;
	}
	return false;
}

/* Gives the id the port of addr, or a free one when it is 0, and writes addr as its source. */
static int claim_port(struct roce_id *rid, const struct sockaddr *addr)
{
	uint16_t port = port_of(addr);
	uint32_t start = roce_random32();

	if (port) {
		if (is_port_taken(rid, addr, port))
			return -EADDRINUSE;
	} else {
		for (uint32_t i = 0; i < PORT_COUNT && !port; i++) {
			port = (uint16_t)(PORT_FIRST + (start + i) % PORT_COUNT);
			if (is_port_taken(rid, addr, port))
				port = 0;
		}
		if (!port)
			return -EADDRNOTAVAIL;
	}
	copy_addr(&rid->id->route.addr.src_storage, addr);
	set_port(&rid->id->route.addr.src_addr, port);
	rid->owns_port = true;
	return 0;
}

/* --- devices ------------------------------------------------------------------------------- */

/*
 * A device whose socket cannot be opened: where there is kernel RDMA too, that is who has the
 * address, and librdmacm shall answer.
 */
static int unless_real(const struct roce_id *rid, int err)
{
	return err && rid->id != &rid->own ? -ENODEV : err;
}

static struct ibv_pd *default_pd(struct roce_device *dev, struct ibv_context *ctx)
{
	for (unsigned int i = 0; i < ROCE_MAX_DEVICES; i++) {
		if (default_pds[i].dev == dev)
			return default_pds[i].pd;
		if (default_pds[i].dev)
			continue;
		default_pds[i].pd = ibv_alloc_pd(ctx);
		if (default_pds[i].pd)
			default_pds[i].dev = dev;
		return default_pds[i].pd;
	}
	return NULL;
}

int roce_id_set_device_locked(struct roce_id *rid, struct roce_device *dev, unsigned int gid_index)
{
	struct rdma_cm_id *id = rid->id;
	int err = roce_device_get(dev);

	if (err)
		return err;
	err = dev->gids[gid_index].bind_error;
	if (err)
		goto err_put_device;
	id->verbs = roce_device_context(dev);
	if (!id->verbs) {
		err = -errno;
		goto err_put_device;
	}
	id->pd = default_pd(dev, id->verbs);
	if (!id->pd) {
		err = -ENOMEM;
		goto err_put_device;
	}
	rid->dev = dev;
	rid->gid_index = gid_index;
	id->port_num = 1;
	id->route.addr.addr.ibaddr.sgid = dev->gids[gid_index].gid;
	id->route.addr.addr.ibaddr.pkey = htobe16(ROCE_PKEY);
	return 0;

err_put_device:
	id->verbs = NULL;
	roce_device_put(dev);
	return err;
}

void roce_id_put_devices_locked(struct roce_id *rid)
{
	struct roce_device *devs;
	size_t n = roce_devices(&devs);

	if (rid->dev)
		roce_device_put(rid->dev);
	rid->dev = NULL;
	for (size_t i = 0; i < n && i < ROCE_MAX_DEVICES; i++) {
		if (rid->open_devices & 1u << i)
			roce_device_put(&devs[i]);
	}
	rid->open_devices = 0;
}

void roce_id_path_locked(const struct roce_id *rid, struct roce_cm_path *path)
{
	const struct roce_device *dev = rid->dev;

	*path = (struct roce_cm_path){
		.port = rid->dev,
		.gid_index = rid->gid_index,
		.mtu = (uint8_t)roce_device_link(dev).active_mtu,
		.traffic_class = rid->tos,
		.ca_guid = be64toh(dev->guid),
	};
	memcpy(path->local_gid, dev->gids[rid->gid_index].gid.raw, sizeof(path->local_gid));
	memcpy(path->remote_gid, rid->id->route.addr.addr.ibaddr.dgid.raw,
	       sizeof(path->remote_gid));
}

/* --- bind, resolve, listen ----------------------------------------------------------------- */

int roce_id_bind_locked(struct roce_id *rid, const struct sockaddr *addr)
{
	struct roce_device *dev;
	unsigned int gid_index;
	int err;

	if (rid->state != ROCE_ID_NEW)
		return -EINVAL;
	if (!is_ip(addr))
		return -EAFNOSUPPORT;
	if (!is_wildcard(addr)) {
		dev = roce_device_by_addr(addr, &gid_index);
		if (!dev)
			return -EADDRNOTAVAIL;
		err = unless_real(rid, roce_id_set_device_locked(rid, dev, gid_index));
		if (err)
			return err;
	}
	err = claim_port(rid, addr);
	if (err) {
		roce_id_put_devices_locked(rid);
		rid->id->verbs = NULL;
		return err;
	}
	rid->state = ROCE_ID_BOUND;
	return 0;
}

/* The device towards dst, and its address as the id's own, with the port that it may have. */
static int bind_to_route(struct roce_id *rid, const struct sockaddr *dst)
{
	struct rdma_addr *ra = &rid->id->route.addr;
	uint16_t port = rid->owns_port ? port_of(&ra->src_addr) : 0;
	struct roce_device *dev;
	unsigned int gid_index;
	union roce_addr src;
	int err;

	err = roce_device_by_route(dst, &dev, &gid_index);
	if (!err)
		err = unless_real(rid, roce_id_set_device_locked(rid, dev, gid_index));
	if (err)
		return err;
	src = dev->gids[gid_index].addr;
	set_port(&src.sa, port);
	return claim_port(rid, &src.sa);
}

int roce_id_resolve_locked(struct roce_id *rid, const struct sockaddr *src,
			   const struct sockaddr *dst)
{
	struct rdma_addr *ra = &rid->id->route.addr;
	int err = 0;

	if (rid->state != ROCE_ID_NEW && rid->state != ROCE_ID_BOUND)
		return -EINVAL;
	if (!is_ip(dst))
		return -EAFNOSUPPORT;
	if (rid->state == ROCE_ID_NEW && src && (!is_wildcard(src) || port_of(src)))
		err = roce_id_bind_locked(rid, src);
	if (!err && !rid->dev)
		err = bind_to_route(rid, dst);
	if (!err)
		err = roce_gid_from_sockaddr(dst, &ra->addr.ibaddr.dgid);
	if (err)
		return err;
	copy_addr(&ra->dst_storage, dst);
	rid->state = ROCE_ID_ADDR_RESOLVED;
	return 0;
}

void roce_id_resolve_route_locked(struct roce_id *rid)
{
	const struct rdma_ib_addr *addr = &rid->id->route.addr.addr.ibaddr;

	rid->path_rec = (struct ibv_sa_path_rec){
		.dgid = addr->dgid,
		.sgid = addr->sgid,
		.hop_limit = 64,
		.traffic_class = rid->tos,
		.reversible = 1,
		.numb_path = 1,
		.pkey = addr->pkey,
		.mtu_selector = 2, /* exactly */
		.mtu = (uint8_t)roce_device_link(rid->dev).active_mtu,
		.packet_life_time_selector = 2,
		.packet_life_time = ROCE_CM_ACK_TIMEOUT - 1,
	};
	rid->id->route.path_rec = &rid->path_rec;
	rid->id->route.num_paths = 1;
	rid->state = ROCE_ID_ROUTE_RESOLVED;
}

/* A wildcard listener hears what arrives on any device whose socket could be opened. */
static int open_all_devices(struct roce_id *rid)
{
	struct roce_device *devs;
	size_t n = roce_devices(&devs);
	int err, first_err = -ENODEV;

	for (size_t i = 0; i < n && i < ROCE_MAX_DEVICES; i++) {
		err = roce_device_get(&devs[i]);
		if (!err)
			rid->open_devices |= 1u << i;
		else if (first_err == -ENODEV)
			first_err = err;
	}
	return rid->open_devices ? 0 : first_err;
}

int roce_id_listen_locked(struct roce_id *rid, int backlog)
{
	const struct sockaddr *addr = &rid->id->route.addr.src_addr;
	struct roce_cm_listener *l = &rid->listener;
	int err;

	if (rid->state != ROCE_ID_BOUND)
		return -EINVAL;
	l->service_id = (uint64_t)rid->id->ps << 16 | port_of(addr);
	l->backlog = backlog;
	l->any_address = !rid->dev;
	if (rid->dev) {
		const struct roce_gid *gid = &rid->dev->gids[rid->gid_index];

		/* On loopback another process may have the address that was asked for. */
		if (!roce_addr_equal(addr, &gid->addr.sa))
			return -EADDRINUSE;
		memcpy(l->local_gid, gid->gid.raw, sizeof(l->local_gid));
	} else {
		err = open_all_devices(rid);
		if (err)
			return err;
	}
	err = roce_cm_listen(roce_cm_engine_locked(), l);
	if (err) {
		if (l->any_address)
			roce_id_put_devices_locked(rid);
		return err;
	}
	rid->state = ROCE_ID_LISTENING;
	return 0;
}
