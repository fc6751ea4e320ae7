/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_cm_misc.c - rdma_* around connections: devices, options, names, address look-up, and the
 * endpoint calls that bundle the others.
 */
#include "roce/entry_cm.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "roce/cm_id.h"

/* --- devices ------------------------------------------------------------------------------- */

ROCE_EXPORT struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **real = NULL, **all;
	struct roce_device *devs;
	size_t n = roce_devices(&devs), used = 0;
	int num_real = 0;

	if (roce_cm_has_real() && ROCE_NEXT(rdma_get_devices))
		real = ROCE_NEXT(rdma_get_devices)(&num_real);
	all = calloc(n + (size_t)num_real + 1, sizeof(*all));
	for (size_t i = 0; all && i < n; i++) {
		all[used] = roce_device_context(&devs[i]);
		if (all[used])
			used++;
	}
	if (all && real) {
		memcpy(all + used, real, (size_t)num_real * sizeof(*all));
		used += (size_t)num_real;
	}
	/* The contexts stay open while librdmacm is loaded; only its list goes. */
	if (real)
		ROCE_NEXT(rdma_free_devices)(real);
	if (num_devices)
		*num_devices = (int)used;
	return all;
}

ROCE_EXPORT void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}

/* --- names --------------------------------------------------------------------------------- */

static const char *const event_names[] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
	[RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
	[RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
	[RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
	[RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
	[RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
	[RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
	[RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
	[RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
	[RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
	[RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
	[RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
	[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
};

ROCE_EXPORT const char *rdma_event_str(enum rdma_cm_event_type event)
{
	size_t n = sizeof(event_names) / sizeof(event_names[0]);

	return (unsigned int)event < n ? event_names[event] : "UNKNOWN EVENT";
}

/* --- options ------------------------------------------------------------------------------- */

static int set_int(bool *flag, const void *value, size_t len)
{
	if (len != sizeof(int))
		return -EINVAL;
	*flag = *(const int *)value != 0;
	return 0;
}

static int set_byte(uint8_t *byte, const void *value, size_t len)
{
	if (len != sizeof(uint8_t))
		return -EINVAL;
	*byte = *(const uint8_t *)value;
	return 0;
}

static int set_option(struct roce_id *rid, int level, int name, const void *value, size_t len)
{
	bool is_v6only;

	if (!value)
		return -EINVAL;
	if (level != RDMA_OPTION_ID)
		return -EOPNOTSUPP;
	switch (name) {
	case RDMA_OPTION_ID_TOS:
		return set_byte(&rid->tos, value, len);
	case RDMA_OPTION_ID_REUSEADDR:
		return set_int(&rid->is_reuseaddr, value, len);
	case RDMA_OPTION_ID_AFONLY:
		/* Soft listeners never share a port between families anyway. */
		return set_int(&is_v6only, value, len);
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return set_byte(&rid->ack_timeout, value, len);
	default:
		return -EOPNOTSUPP;
	}
}

ROCE_EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
				size_t optlen)
{
	struct roce_id *rid;
	bool has_real;
	int err = 0;

	roce_cm_lock();
	rid = roce_id_find_locked(id);
	has_real = !rid || rid->id != &rid->own;
	if (rid)
		err = set_option(rid, level, optname, optval, optlen);
	roce_cm_unlock();
	/* An undecided id keeps the option on both sides. */
	if (has_real)
		return CM_FORWARD(rdma_set_option, id, level, optname, optval, optlen);
	return roce_cm_return(err);
}

/* --- address look-up ----------------------------------------------------------------------- */

static int add_addr(struct sockaddr **to, socklen_t *to_len, const struct addrinfo *ai)
{
	*to = malloc(ai->ai_addrlen);
	if (!*to)
		return -ENOMEM;
	memcpy(*to, ai->ai_addr, ai->ai_addrlen);
	*to_len = ai->ai_addrlen;
	return 0;
}

static struct rdma_addrinfo *make_addrinfo(const struct addrinfo *ai,
					   const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *rai = calloc(1, sizeof(*rai));
	int err;

	if (!rai)
		return NULL;
	rai->ai_family = ai->ai_family;
	rai->ai_flags = hints ? hints->ai_flags : 0;
	rai->ai_qp_type = hints && hints->ai_qp_type ? hints->ai_qp_type : IBV_QPT_RC;
	rai->ai_port_space = hints && hints->ai_port_space ? hints->ai_port_space : RDMA_PS_TCP;
	if (rai->ai_flags & RAI_PASSIVE)
		err = add_addr(&rai->ai_src_addr, &rai->ai_src_len, ai);
	else
		err = add_addr(&rai->ai_dst_addr, &rai->ai_dst_len, ai);
	if (!err && hints && hints->ai_src_len && !rai->ai_src_addr) {
		rai->ai_src_addr = malloc(hints->ai_src_len);
		if (rai->ai_src_addr) {
			memcpy(rai->ai_src_addr, hints->ai_src_addr, hints->ai_src_len);
			rai->ai_src_len = hints->ai_src_len;
		}
	}
	if (!err)
		return rai;
	free(rai);
	return NULL;
}

/* librdmacm's needs a kernel device even for IP addresses, so those are looked up here. */
ROCE_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
				 const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	struct addrinfo want = {.ai_socktype = SOCK_STREAM}, *ai;
	int err;

	if (roce_cm_has_real() && ROCE_NEXT(rdma_getaddrinfo))
		return ROCE_NEXT(rdma_getaddrinfo)(node, service, hints, res);
	if (hints) {
		want.ai_family = hints->ai_family;
		if (hints->ai_flags & RAI_PASSIVE)
			want.ai_flags |= AI_PASSIVE;
		if (hints->ai_flags & RAI_NUMERICHOST)
			want.ai_flags |= AI_NUMERICHOST;
	}
	err = getaddrinfo(node, service, &want, &ai);
	if (err)
		return err;
	*res = make_addrinfo(ai, hints);
	freeaddrinfo(ai);
	return *res ? 0 : EAI_MEMORY;
}

/* librdmacm's results are made of the same malloc()ed pieces, so this serves both. */
ROCE_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	struct rdma_addrinfo *next;

	for (; res; res = next) {
		next = res->ai_next;
		free(res->ai_route);
		free(res->ai_connect);
		free(res->ai_src_canonname);
		free(res->ai_dst_canonname);
		free(res->ai_src_addr);
		free(res->ai_dst_addr);
		free(res);
	}
}

/* --- endpoints ----------------------------------------------------------------------------- */

static int set_up_ep(struct rdma_cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		     struct ibv_qp_init_attr *attr)
{
	if (res->ai_flags & RAI_PASSIVE)
		return rdma_bind_addr(id, res->ai_src_addr);
	if (rdma_resolve_addr(id, res->ai_src_addr, res->ai_dst_addr, 2000) ||
	    rdma_resolve_route(id, 2000))
		return -1;
	return attr ? rdma_create_qp(id, pd, attr) : 0;
}

ROCE_EXPORT int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr)
{
	struct rdma_cm_id *ep;
	struct roce_id *rid;
	int err;

	if (roce_cm_has_real())
		return CM_FORWARD(rdma_create_ep, id, res, pd, attr);
	if (rdma_create_id(NULL, &ep, NULL, (enum rdma_port_space)res->ai_port_space))
		return -1;
	if (set_up_ep(ep, res, pd, attr)) {
		err = errno;
		rdma_destroy_ep(ep);
		return roce_cm_return(-err);
	}
	/* rdma_get_request() makes the same QP for each request. */
	rid = res->ai_flags & RAI_PASSIVE && attr ? roce_id_lock_soft(ep) : NULL;
	if (rid) {
		rid->ep_pd = pd;
		rid->ep_attr = *attr;
		rid->has_ep_attr = true;
		roce_cm_unlock();
	}
	*id = ep;
	return 0;
}

ROCE_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (id->srq)
		rdma_destroy_srq(id);
	(void)rdma_destroy_id(id);
}

ROCE_EXPORT int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct roce_id *rid = roce_id_lock_soft(listen);
	struct ibv_qp_init_attr attr;
	struct ibv_pd *pd;
	bool makes_qp, is_sync;
	int err;

	if (!rid)
		return CM_FORWARD(rdma_get_request, listen, id);
	is_sync = rid->is_sync;
	makes_qp = rid->has_ep_attr;
	attr = rid->ep_attr;
	pd = rid->ep_pd;
	roce_cm_unlock();
	if (!is_sync)
		return roce_cm_return(-EINVAL);
	err = roce_event_complete(listen);
	if (err)
		return roce_cm_return(err);
	if (listen->event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return roce_cm_return(-EINVAL);
	*id = listen->event->id;
	/* The request stays readable as listen->event; the id waits on a channel of its own. */
	if (rdma_migrate_id(*id, NULL))
		goto err_destroy_id;
	if (makes_qp && rdma_create_qp(*id, pd, &attr))
		goto err_destroy_id;
	return 0;

err_destroy_id:
	err = -errno;
	(void)rdma_destroy_id(*id);
	return roce_cm_return(err);
}
