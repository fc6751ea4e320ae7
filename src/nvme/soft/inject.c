/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See inject.h. A queue looks at its `armed` flag only; everything else is behind the lock.
 */
#include "nvme/soft/inject.h"

#include <errno.h>

#include "nvme/soft/priv.h"

/* With the lock held. */
static void update_armed(struct nv_soft *soft, uint16_t qid)
{
	struct nv_soft_tears *tears = &soft->inject.tears[qid];
	bool armed = soft->inject.halt != NV_SOFT_RUNNING;

	for (unsigned int kind = 0; kind < NV_SOFT_TORN_KINDS; kind++)
		armed |= tears->left[kind] != 0;
	__atomic_store_n(&tears->armed, armed, __ATOMIC_RELAXED);
}

int nv_soft_tear(struct nv_soft *soft, enum nv_soft_torn kind, uint16_t qid, uint32_t times)
{
	uint16_t first = qid == NV_SOFT_EVERY_QUEUE ? 1 : qid;
	uint16_t last = qid == NV_SOFT_EVERY_QUEUE ? soft->max_io_queues : qid;

	if (last > soft->max_io_queues)
		return -EINVAL;
	pthread_mutex_lock(&soft->inject.lock);
	for (uint16_t i = first; i <= last; i++) {
		soft->inject.tears[i].left[kind] = times;
		update_armed(soft, i);
	}
	pthread_mutex_unlock(&soft->inject.lock);
	return 0;
}

uint32_t nv_soft_take_tears(struct nv_soft *soft, uint16_t qid)
{
	struct nv_soft_tears *tears = &soft->inject.tears[qid];
	uint32_t kinds = 0;

	pthread_mutex_lock(&soft->inject.lock);
	if (soft->inject.halt != NV_SOFT_RUNNING)
		kinds = 1u << NV_SOFT_TORN_SILENT;
	for (unsigned int kind = 0; kind < NV_SOFT_TORN_KINDS && !kinds; kind++) {
		if (!tears->left[kind])
			continue;
		tears->left[kind]--;
		kinds = 1u << kind;
	}
	update_armed(soft, qid);
	pthread_mutex_unlock(&soft->inject.lock);
	return kinds;
}

void nv_soft_set_halt(struct nv_soft *soft, enum nv_soft_halt how)
{
	pthread_mutex_lock(&soft->inject.lock);
	__atomic_store_n(&soft->inject.halt, how, __ATOMIC_RELAXED);
	for (uint16_t qid = 0; qid <= soft->max_io_queues; qid++)
		update_armed(soft, qid);
	pthread_mutex_unlock(&soft->inject.lock);
}
