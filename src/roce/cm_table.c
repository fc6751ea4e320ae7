/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_table.c - all rdma_cm_ids that a program got from us: creation, look-up, end, and the lock and
 * errno conventions of the entry points.
 */
#include "roce/cm_id.h"

#include <errno.h>
#include <stdlib.h>

enum {
	ID_BUCKETS = 256
};

/* Under the CM lock. */
static LIST_HEAD(, roce_id) ids[ID_BUCKETS];

static unsigned int bucket(const struct rdma_cm_id *id)
{
	uintptr_t bits = (uintptr_t)id;

	return (unsigned int)((bits >> 5) ^ (bits >> 13)) % ID_BUCKETS;
}

struct roce_id *roce_id_new_locked(struct roce_channel_cm *channel, struct rdma_cm_id *real,
				   void *context, enum rdma_port_space ps)
{
	struct roce_id *rid = calloc(1, sizeof(*rid));

	if (!rid)
		return NULL;
	rid->id = real ? real : &rid->own;
	rid->channel = channel;
	if (!real) {
		rid->own.channel = &channel->ch;
		rid->own.context = context;
		rid->own.ps = ps;
		rid->own.qp_type = IBV_QPT_RC;
	}
	LIST_INSERT_HEAD(&ids[bucket(rid->id)], rid, link);
	return rid;
}

void roce_id_free_locked(struct roce_id *rid)
{
	struct roce_cm *cm = roce_cm_engine_locked();

	roce_cm_detach(cm, &rid->conn, roce_now_ns());
	if (rid->state == ROCE_ID_LISTENING)
		roce_cm_unlisten(cm, &rid->listener);
	roce_id_put_devices_locked(rid);
	LIST_REMOVE(rid, link);
	if (rid->is_sync)
		roce_channel_cm_free_locked(rid->channel);
	free(rid);
}

struct roce_id *roce_id_find_locked(const struct rdma_cm_id *id)
{
	struct roce_id *rid;

	LIST_FOREACH(rid, &ids[bucket(id)], link)
	{
		if (rid->id == id)
			return rid;
	}
	return NULL;
}

struct roce_id *roce_id_next_locked(struct roce_id *rid)
{
	unsigned int i = rid ? bucket(rid->id) + 1 : 0;

	if (rid && LIST_NEXT(rid, link))
		return LIST_NEXT(rid, link);
	for (; i < ID_BUCKETS; i++) {
		if (!LIST_EMPTY(&ids[i]))
			return LIST_FIRST(&ids[i]);
	}
	return NULL;
}

struct roce_id *roce_id_lock_soft(const struct rdma_cm_id *id)
{
	struct roce_id *rid;

	roce_cm_lock();
	rid = roce_id_find_locked(id);
	if (rid && rid->state != ROCE_ID_REAL &&
	    (rid->state != ROCE_ID_NEW || rid->id == &rid->own))
		return rid;
	roce_cm_unlock();
	return NULL;
}

int roce_cm_return(int err)
{
	if (!err)
		return 0;
	errno = -err;
	return -1;
}

int roce_cm_unlock_return(int err)
{
	roce_cm_unlock();
	return roce_cm_return(err);
}
