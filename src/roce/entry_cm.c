/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_cm.c - rdma_* of channels, ids, addresses and events. Each looks whether its object is
 * soft, does the work under the CM lock or hands the call to librdmacm, and speaks its convention:
 * 0, or -1 with errno.
 */
#include "roce/cm_id.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "roce/entry_cm.h"

/* --- channels ------------------------------------------------------------------------------ */

ROCE_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct roce_channel_cm *channel = roce_channel_cm_new(roce_cm_has_real());

	return channel ? &channel->ch : NULL;
}

ROCE_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *ch)
{
	struct roce_channel_cm *channel;

	roce_cm_lock();
	channel = roce_channel_cm_find_locked(ch);
	if (channel)
		roce_channel_cm_free_locked(channel);
	roce_cm_unlock();
	if (!channel && ROCE_NEXT(rdma_destroy_event_channel))
		ROCE_NEXT(rdma_destroy_event_channel)(ch);
}

ROCE_EXPORT int rdma_get_cm_event(struct rdma_event_channel *ch, struct rdma_cm_event **event)
{
	struct roce_channel_cm *channel;

	if (!ch || !event)
		return roce_cm_return(-EINVAL);
	roce_cm_lock();
	channel = roce_channel_cm_find_locked(ch);
	roce_cm_unlock();
	if (!channel)
		return CM_FORWARD(rdma_get_cm_event, ch, event);
	return roce_cm_return(roce_event_get(channel, event));
}

ROCE_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	if (!event)
		return roce_cm_return(-EINVAL);
	if (roce_event_ack(event) == 0)
		return 0;
	return CM_FORWARD(rdma_ack_cm_event, event);
}

/* --- ids ----------------------------------------------------------------------------------- */

/* librdmacm's object for an id that may become a real one; NULL where there is no kernel RDMA. */
static int create_real(struct roce_channel_cm *channel, bool is_sync, void *context,
		       enum rdma_port_space ps, struct rdma_cm_id **ret_id)
{
	*ret_id = NULL;
	if (!channel->real && !(is_sync && roce_cm_has_real()))
		return 0;
	return CM_FORWARD(rdma_create_id, is_sync ? NULL : channel->real, ret_id, context, ps)
		       ? -errno
		       : 0;
}

static int create_id(struct roce_channel_cm *channel, bool is_sync, void *context,
		     enum rdma_port_space ps, struct rdma_cm_id **ret_id)
{
	struct rdma_cm_id *real;
	struct roce_id *rid;
	int err;

	err = create_real(channel, is_sync, context, ps, &real);
	if (err)
		return err;
	/* Soft devices have reliable connections only. */
	if (!real && ps != RDMA_PS_TCP && ps != RDMA_PS_IB)
		return -EPROTONOSUPPORT;
	roce_cm_lock();
	rid = roce_id_new_locked(channel, real, context, ps);
	if (rid) {
		rid->is_sync = is_sync;
		*ret_id = rid->id;
	}
	roce_cm_unlock();
	if (rid)
		return 0;
	if (real)
		(void)CM_FORWARD(rdma_destroy_id, real);
	return -ENOMEM;
}

ROCE_EXPORT int rdma_create_id(struct rdma_event_channel *ch, struct rdma_cm_id **id, void *context,
			       enum rdma_port_space ps)
{
	struct roce_channel_cm *channel;
	int err;

	if (!id)
		return roce_cm_return(-EINVAL);
	if (!ch) {
		channel = roce_channel_cm_new(false);
	} else {
		roce_cm_lock();
		channel = roce_channel_cm_find_locked(ch);
		roce_cm_unlock();
		if (!channel)
			return CM_FORWARD(rdma_create_id, ch, id, context, ps);
	}
	if (!channel)
		return -1;
	err = create_id(channel, !ch, context, ps, id);
	if (err && !ch) {
		roce_cm_lock();
		roce_channel_cm_free_locked(channel);
		roce_cm_unlock();
	}
	return roce_cm_return(err);
}

ROCE_EXPORT int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct roce_id *rid;
	struct rdma_cm_id *real;

	if (!id)
		return roce_cm_return(-EINVAL);
	roce_cm_lock();
	rid = roce_id_find_locked(id);
	if (!rid) {
		roce_cm_unlock();
		return CM_FORWARD(rdma_destroy_id, id);
	}
	real = rid->id == &rid->own ? NULL : rid->id;
	/* From here on nothing new comes for it. */
	roce_cm_detach(roce_cm_engine_locked(), &rid->conn, roce_now_ns());
	if (rid->state == ROCE_ID_LISTENING) {
		roce_cm_unlisten(roce_cm_engine_locked(), &rid->listener);
		rid->state = ROCE_ID_BOUND;
	}
	roce_event_forget_locked(rid);
	if (rid->is_sync)
		roce_event_drop_sync_locked(rid);
	roce_event_wait_acked_locked(rid);
	if (real && rid->state != ROCE_ID_REAL)
		real->route.path_rec = NULL;
	roce_id_free_locked(rid);
	roce_cm_unlock();
	return real ? CM_FORWARD(rdma_destroy_id, real) : 0;
}

ROCE_EXPORT int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *ch)
{
	struct roce_channel_cm *to = ch ? NULL : roce_channel_cm_new(false);
	struct roce_channel_cm *old = NULL;
	bool has_real = false;
	struct roce_id *rid;

	roce_cm_lock();
	rid = roce_id_find_locked(id);
	if (ch)
		to = roce_channel_cm_find_locked(ch);
	if (rid && to) {
		has_real = rid->id != &rid->own;
		if (rid->is_sync) {
			roce_event_drop_sync_locked(rid);
			old = rid->channel;
		}
		roce_event_wait_acked_locked(rid);
		roce_event_migrate_locked(rid, to);
		rid->is_sync = !ch;
		if (old)
			roce_channel_cm_free_locked(old);
	}
	roce_cm_unlock();
	if (!rid)
		return CM_FORWARD(rdma_migrate_id, id, ch);
	if (!to)
		return roce_cm_return(-EINVAL);
	return has_real ? CM_FORWARD(rdma_migrate_id, id, to->real) : 0;
}

/* --- addresses ----------------------------------------------------------------------------- */

/*
 * Whether an undecided id whose address is on no soft device goes to librdmacm for good. The lock
 * is held before, and given back if so.
 */
static bool becomes_real(struct roce_id *rid, int err)
{
	if (err != -EADDRNOTAVAIL && err != -ENODEV && err != -ENETUNREACH && err != -EAFNOSUPPORT)
		return false;
	if (rid->id == &rid->own || rid->state != ROCE_ID_NEW)
		return false;
	rid->state = ROCE_ID_REAL;
	roce_cm_unlock();
	return true;
}

/* The id, locked, while it may still be decided or is soft; NULL and unlocked when it is real. */
static struct roce_id *lock_undecided(const struct rdma_cm_id *id)
{
	struct roce_id *rid;

	roce_cm_lock();
	rid = roce_id_find_locked(id);
	if (rid && rid->state != ROCE_ID_REAL)
		return rid;
	roce_cm_unlock();
	return NULL;
}

ROCE_EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct roce_id *rid;
	bool is_shared;
	int err;

	if (!id || !addr)
		return roce_cm_return(-EINVAL);
	rid = lock_undecided(id);
	if (!rid)
		return CM_FORWARD(rdma_bind_addr, id, addr);
	err = roce_id_bind_locked(rid, addr);
	if (err && becomes_real(rid, err))
		return CM_FORWARD(rdma_bind_addr, id, addr);
	/* A wildcard means the real devices too, if there are any. */
	is_shared = !err && !rid->dev && rid->id != &rid->own;
	roce_cm_unlock();
	if (is_shared)
		(void)CM_FORWARD(rdma_bind_addr, id, &id->route.addr.src_addr);
	return roce_cm_return(err);
}

ROCE_EXPORT int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct roce_id *rid = roce_id_lock_soft(id);
	bool is_shared;
	int err;

	if (!rid)
		return CM_FORWARD(rdma_listen, id, backlog);
	err = roce_id_listen_locked(rid, backlog);
	is_shared = !rid->dev && rid->id != &rid->own && rid->state != ROCE_ID_NEW;
	if (is_shared && err) {
		/* No soft device could be opened: the real ones are left. */
		rid->state = ROCE_ID_REAL;
		roce_cm_unlock();
		return CM_FORWARD(rdma_listen, id, backlog);
	}
	roce_cm_unlock();
	if (is_shared)
		(void)CM_FORWARD(rdma_listen, id, backlog);
	return roce_cm_return(err);
}

ROCE_EXPORT int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
				  struct sockaddr *dst_addr, int timeout_ms)
{
	struct roce_id *rid;
	int err;

	if (!id || !dst_addr)
		return roce_cm_return(-EINVAL);
	rid = lock_undecided(id);
	if (!rid)
		return CM_FORWARD(rdma_resolve_addr, id, src_addr, dst_addr, timeout_ms);
	err = roce_id_resolve_locked(rid, src_addr, dst_addr);
	if (err && becomes_real(rid, err))
		return CM_FORWARD(rdma_resolve_addr, id, src_addr, dst_addr, timeout_ms);
	if (!err)
		err = roce_event_post_simple_locked(rid, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	roce_cm_unlock();
	return roce_cm_return(err ? err : roce_event_complete(id));
}

ROCE_EXPORT int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	struct roce_id *rid = roce_id_lock_soft(id);
	int err = -EINVAL;

	if (!rid)
		return CM_FORWARD(rdma_resolve_route, id, timeout_ms);
	if (rid->state == ROCE_ID_ADDR_RESOLVED) {
		roce_id_resolve_route_locked(rid);
		err = roce_event_post_simple_locked(rid, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	}
	roce_cm_unlock();
	return roce_cm_return(err ? err : roce_event_complete(id));
}

static __be16 port_of(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)sa)->sin_port;
	if (sa->sa_family == AF_INET6)
		return ((const struct sockaddr_in6 *)(const void *)sa)->sin6_port;
	return 0;
}

ROCE_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return port_of(&id->route.addr.src_addr);
}

ROCE_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return port_of(&id->route.addr.dst_addr);
}
