/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MR table: a growing array of slots with a free list, under one read-write lock. Memory is not
 * pinned: there is no DMA, the bytes are copied by this process.
 */
#include "roce/mr.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "roce/lane.h"
#include "roce/limits.h"
#include "roce/objects.h"

#define TAG_BITS    8
#define FIRST_SLOTS 64
#define NO_SLOT	    UINT32_MAX

#define REMOTE_RIGHTS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

struct slot {
	struct roce_mr *mr; /* NULL: free */
	uint32_t next_free;
	uint8_t tag;
};

/* Lock: everything. Readers: lanes; writers: registration. Taken below a lane's lock. */
struct roce_mr_table {
	pthread_rwlock_t lock;
	struct slot *slots;
	uint32_t num_slots;
	uint32_t first_free;
};

struct roce_mr_table *roce_mr_table_create(void)
{
	struct roce_mr_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	pthread_rwlock_init(&table->lock, NULL);
	table->first_free = NO_SLOT;
	return table;
}

void roce_mr_table_destroy(struct roce_mr_table *table)
{
	if (!table)
		return;
	pthread_rwlock_destroy(&table->lock);
	free(table->slots);
	free(table);
}

static int grow_locked(struct roce_mr_table *table)
{
	uint32_t count = table->num_slots ? table->num_slots * 2 : FIRST_SLOTS;
	struct slot *slots;

	if (count > ROCE_MAX_MRS)
		return -ENOMEM;
	slots = realloc(table->slots, count * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	/* Lowest index first; index 0 stays unused, key 0 is what programs leave unset. */
	for (uint32_t i = count; i-- > table->num_slots;) {
		slots[i] = (struct slot){.tag = (uint8_t)roce_random32(),
					 .next_free = table->first_free};
		if (i != 0)
			table->first_free = i;
	}
	table->slots = slots;
	table->num_slots = count;
	return 0;
}

static int insert(struct roce_mr_table *table, struct roce_mr *mr)
{
	struct slot *slot;
	uint32_t index;
	int rc = 0;

	pthread_rwlock_wrlock(&table->lock);
	if (table->first_free == NO_SLOT)
		rc = grow_locked(table);
	if (rc == 0) {
		index = table->first_free;
		slot = &table->slots[index];
		table->first_free = slot->next_free;
		slot->mr = mr;
		mr->ibmr.lkey = mr->ibmr.rkey = index << TAG_BITS | ++slot->tag;
		mr->ibmr.handle = index;
	}
	pthread_rwlock_unlock(&table->lock);
	return rc;
}

int roce_mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		struct ibv_mr **mr)
{
	struct roce_device *dev = roce_device_from_context(pd->context);
	struct roce_mr *new_mr;
	int rc;

	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (access & IBV_ACCESS_ON_DEMAND)
		return -EOPNOTSUPP;
	if (access & IBV_ACCESS_ZERO_BASED)
		iova = 0;
	if (length > ROCE_MAX_MR_BYTES || (uintptr_t)addr + length < (uintptr_t)addr ||
	    iova + length < iova)
		return -EINVAL;

	new_mr = calloc(1, sizeof(*new_mr));
	if (!new_mr)
		return -ENOMEM;
	new_mr->ibmr =
		(struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = length};
	new_mr->iova = iova;
	new_mr->access = access;
	new_mr->is_remote_open = access & REMOTE_RIGHTS;
	rc = insert(dev->mrs, new_mr);
	if (rc) {
		free(new_mr);
		return rc;
	}
	atomic_fetch_add(&roce_pd(pd)->users, 1);
	*mr = &new_mr->ibmr;
	return 0;
}

int roce_mr_dereg(struct ibv_mr *ibmr)
{
	struct roce_device *dev = roce_device_from_context(ibmr->context);
	struct roce_mr_table *table = dev->mrs;
	struct slot *slot;

	pthread_rwlock_wrlock(&table->lock);
	slot = &table->slots[ibmr->handle];
	slot->mr = NULL;
	slot->next_free = table->first_free;
	table->first_free = ibmr->handle;
	pthread_rwlock_unlock(&table->lock);

	/* A lane that resolved the key before may still be copying, with its lock held. */
	roce_lane_mr_gone(dev->lane);
	atomic_fetch_sub(&roce_pd(ibmr->pd)->users, 1);
	free((struct roce_mr *)ibmr);
	return 0;
}

static struct roce_mr *find_locked(struct roce_mr_table *table, const struct ibv_pd *pd,
				   uint32_t key)
{
	uint32_t index = key >> TAG_BITS;
	struct roce_mr *mr;

	if (index >= table->num_slots)
		return NULL;
	mr = table->slots[index].mr;
	return mr && mr->ibmr.lkey == key && mr->ibmr.pd == pd ? mr : NULL;
}

static bool allows(const struct roce_mr *mr, uint64_t iova, uint64_t length, int access)
{
	if ((access & REMOTE_RIGHTS) && !mr->is_remote_open)
		return false;
	return (mr->access & (unsigned int)access) == (unsigned int)access && iova >= mr->iova &&
	       length <= mr->ibmr.length && iova - mr->iova <= mr->ibmr.length - length;
}

void *roce_mr_map(struct roce_mr_table *table, const struct ibv_pd *pd, uint32_t key, uint64_t iova,
		  uint64_t length, int access)
{
	const struct roce_mr *mr;
	void *host = NULL;

	pthread_rwlock_rdlock(&table->lock);
	mr = find_locked(table, pd, key);
	if (mr && allows(mr, iova, length, access))
		host = (char *)mr->ibmr.addr + (iova - mr->iova);
	pthread_rwlock_unlock(&table->lock);
	return host;
}

int roce_mr_invalidate(struct roce_mr_table *table, const struct ibv_pd *pd, uint32_t key)
{
	struct roce_mr *mr;
	int rc = -EACCES;

	pthread_rwlock_wrlock(&table->lock);
	mr = find_locked(table, pd, key);
	if (mr && (mr->access & REMOTE_RIGHTS)) {
		mr->is_remote_open = false;
		rc = 0;
	}
	pthread_rwlock_unlock(&table->lock);
	return rc;
}
