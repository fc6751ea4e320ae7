/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibv_* entry points for devices, queries and asynchronous events. Each looks at its object: a soft
 * one is served, everything else goes to the system's libibverbs. The verbs conventions (positive
 * errno, or -1 or NULL with errno, as the man page of each says) begin and end here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "roce/next.h"
#include "roce/objects.h"
#include "roce/query.h"
#include "util/compiler.h"

#undef ibv_query_port

static int fail(int rc)
{
	errno = -rc;
	return -1;
}

/* --- devices ------------------------------------------------------------------------------- */

/* What ibv_get_device_list returns is devs of one of these. */
struct device_list {
	struct ibv_device **system; /* the system's own list, or NULL */
	struct ibv_device *devs[];
};

ROCE_EXPORT struct ibv_device **ibv_get_device_list(int *num_devices)
{
	__typeof__(&ibv_get_device_list) next = ROCE_NEXT(ibv_get_device_list);
	struct roce_device *soft;
	size_t num_soft = roce_devices(&soft);
	struct ibv_device **system;
	struct device_list *list;
	int num_system = 0;

	/* Fails with ENOSYS on a machine without kernel RDMA: then there are just the soft ones. */
	errno = ENOSYS;
	system = next ? next(&num_system) : NULL;
	if (!system && num_soft == 0) {
		if (num_devices)
			*num_devices = 0;
		return NULL;
	}
	list = calloc(1, sizeof(*list) + ((size_t)num_system + num_soft + 1) * sizeof(system[0]));
	if (!list) {
		if (system)
			ROCE_NEXT(ibv_free_device_list)(system);
		errno = ENOMEM;
		return NULL;
	}
	list->system = system;
	for (int i = 0; i < num_system; i++)
		list->devs[i] = system[i];
	for (size_t i = 0; i < num_soft; i++)
		list->devs[(size_t)num_system + i] = &soft[i].ibdev;
	if (num_devices)
		*num_devices = num_system + (int)num_soft;
	return list->devs;
}

ROCE_EXPORT void ibv_free_device_list(struct ibv_device **devs)
{
	struct device_list *list;

	if (!devs)
		return;
	list = util_container_of(devs, struct device_list, devs);
	if (list->system)
		ROCE_NEXT(ibv_free_device_list)(list->system);
	free(list);
}

ROCE_EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	if (roce_device_from_ibdev(device))
		return device->name;
	ROCE_FORWARD(ibv_get_device_name, NULL, device);
}

ROCE_EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	const struct roce_device *dev = roce_device_from_ibdev(device);

	if (dev)
		return dev->guid;
	ROCE_FORWARD(ibv_get_device_guid, 0, device);
}

/* A kernel number, which a soft device has not. */
ROCE_EXPORT int ibv_get_device_index(struct ibv_device *device)
{
	if (roce_device_from_ibdev(device))
		return -1;
	ROCE_FORWARD(ibv_get_device_index, -1, device);
}

ROCE_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct roce_device *dev = roce_device_from_ibdev(device);

	if (dev)
		return roce_context_create(dev);
	ROCE_FORWARD(ibv_open_device, NULL, device);
}

ROCE_EXPORT int ibv_close_device(struct ibv_context *context)
{
	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_close_device, -1, context);
	roce_context_put(context);
	return 0;
}

/* --- queries ------------------------------------------------------------------------------- */

ROCE_EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr)
{
	const struct roce_device *dev = roce_device_from_context(context);

	if (!dev)
		ROCE_FORWARD(ibv_query_device, ENOSYS, context, device_attr);
	roce_query_device(dev, device_attr);
	return 0;
}

/* The function behind the macro of the same name: programs built against old headers. */
ROCE_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port_num,
			       struct _compat_ibv_port_attr *port_attr)
{
	const struct roce_device *dev = roce_device_from_context(context);
	struct ibv_port_attr full;
	int rc;

	if (!dev)
		ROCE_FORWARD(ibv_query_port, ENOSYS, context, port_num, port_attr);
	rc = roce_query_port(dev, port_num, &full);
	if (rc)
		return -rc;
	/* The old structure ends before port_cap_flags2. */
	memcpy(port_attr, &full, offsetof(struct ibv_port_attr, port_cap_flags2));
	return 0;
}

ROCE_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
			      union ibv_gid *gid)
{
	struct ibv_gid_entry entry = {.gid_index = 0};
	int rc;

	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_query_gid, -1, context, port_num, index, gid);
	rc = index < 0 ? -EINVAL : roce_query_gid(context, port_num, (unsigned int)index, &entry);
	/* An empty row reads as zeros here, and as an error in the newer calls. */
	if (rc && rc != -ENODATA)
		return fail(rc);
	*gid = entry.gid;
	return 0;
}

ROCE_EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
				  uint32_t gid_index, struct ibv_gid_entry *entry, uint32_t flags,
				  size_t entry_size)
{
	struct ibv_gid_entry full;
	int rc;

	if (!roce_device_from_context(context))
		ROCE_FORWARD(_ibv_query_gid_ex, ENOSYS, context, port_num, gid_index, entry, flags,
			     entry_size);
	if (flags || entry_size > sizeof(full))
		return EOPNOTSUPP;
	rc = roce_query_gid(context, port_num, gid_index, &full);
	if (rc)
		return -rc;
	memcpy(entry, &full, entry_size);
	return 0;
}

ROCE_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
					 size_t max_entries, uint32_t flags, size_t entry_size)
{
	const struct roce_device *dev = roce_device_from_context(context);
	struct ibv_gid_entry full;
	ssize_t count = 0;

	if (!dev)
		ROCE_FORWARD(_ibv_query_gid_table, -ENOSYS, context, entries, max_entries, flags,
			     entry_size);
	if (flags || entry_size > sizeof(full))
		return -EOPNOTSUPP;
	if (max_entries < dev->num_gids)
		return -EINVAL;
	for (unsigned int i = 0; i < dev->num_gids; i++) {
		int rc = roce_query_gid(context, 1, i, &full);

		if (rc)
			return rc;
		memcpy((char *)entries + (size_t)count++ * entry_size, &full, entry_size);
	}
	return count;
}

ROCE_EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index,
			       __be16 *pkey)
{
	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_query_pkey, -1, context, port_num, index, pkey);
	if (port_num != 1 || index != 0)
		return fail(-EINVAL);
	*pkey = htons(ROCE_PKEY);
	return 0;
}

ROCE_EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_get_pkey_index, -1, context, port_num, pkey);
	return port_num == 1 && pkey == htons(ROCE_PKEY) ? 0 : -1;
}

/* --- asynchronous events ------------------------------------------------------------------- */

ROCE_EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	int rc;

	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_get_async_event, -1, context, event);
	rc = roce_async_get(context, event);
	return rc ? fail(rc) : 0;
}

/* The context an event came from; NULL for port and device events, which name no object. */
static const struct ibv_context *event_context(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return event->element.cq->context;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return event->element.qp->context;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return event->element.srq->context;
	case IBV_EVENT_WQ_FATAL:
		return event->element.wq->context;
	default:
		return NULL;
	}
}

ROCE_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	__typeof__(&ibv_ack_async_event) next;

	if (roce_device_from_context(event_context(event))) {
		roce_async_ack(event);
		return;
	}
	next = ROCE_NEXT(ibv_ack_async_event);
	if (next)
		next(event);
}
