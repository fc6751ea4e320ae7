/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subsystems, their namespaces and the way from a namespace to a back-end queue, as both the
 * control path and the engine see them.
 */
#ifndef STA_NS_H
#define STA_NS_H

#include <semaphore.h>
#include <stdatomic.h>

#include <doca_sta_stats.h>
#include <doca_sta_subsystem.h>

#include "sta/capsule.h"
#include "sta/eu.h"
#include "sta/limits.h"
#include "sta/stats.h"
#include "util/list.h"

struct doca_sta_be_q_handle;

/*
 * Owner: control. Shared: route, read by the EUs.
 * Life: destroyed when it has neither queues nor namespaces.
 */
struct doca_sta_be_handle {
	struct doca_sta *sta;
	struct util_list node; /* in sta->backends */
	uint32_t id; /* in the log: the n-th that the context got */
	struct util_list queues;
	uint32_t num_queues, num_namespaces;
	uint32_t next_eu; /* round robin of the queues */
	uint32_t next_queue_id;
	/* The queue that an EU uses, its own if there is one; NULL: none. */
	struct doca_sta_be_q_handle *_Atomic route[STA_MAX_EUS];
};

/*
 * Owner: control; constant while it is in its subsystem's table, but eu[], whose elements belong
 * to one EU each.
 * Life: out of the table first, then until every EU has passed a fence and holds no command of it.
 */
struct doca_sta_ns_handle {
	struct doca_sta_subs_handle *subsys;
	struct doca_sta_be_handle *be;
	uint32_t fe_nsid, be_nsid;
	uint32_t block_bytes;
	bool is_leaving;
	struct sta_fence fence;
	struct util_list tasks; /* made for it and not freed */
	struct sta_task *task; /* that waits for the fence, or NULL */
	struct sta_msg left_msg; /* fence passed, to the STA context */
	sem_t *has_left; /* posted for the synchronous form */
	struct sta_ns_stats total; /* snapshot for doca_sta_get_ns_stats() */
	struct doca_sta_eu_ctr_entry entries[STA_NUM_NS_COUNTERS];
	struct sta_ns_eu {
		uint32_t num_inflight;
		struct sta_ns_stats stats;
	} __attribute__((aligned(64))) eu[STA_MAX_EUS];
};

/*
 * Owner: control. Shared: the table, read by the EUs.
 * Life: destroyed when it has no namespaces and no QP refers to it.
 */
struct doca_sta_subs_handle {
	struct doca_sta *sta;
	struct util_list node; /* in sta->subsystems */
	char nqn[STA_MAX_NQN_BYTES + 1];
	const struct doca_dev *devs[STA_MAX_DEVS];
	uint32_t num_devs, num_namespaces;
	_Atomic uint32_t num_qps;
	struct doca_sta_ns_handle *_Atomic ns[STA_MAX_NS_PER_SUBSYS]; /* [fe_nsid - 1] */
};

/* Engine. NULL when there is no such namespace (or no subsystem). */
static inline struct doca_sta_ns_handle *sta_subsys_find_ns(struct doca_sta_subs_handle *subsys,
							    uint32_t nsid)
{
	if (!subsys || nsid == 0 || nsid > STA_MAX_NS_PER_SUBSYS)
		return NULL;
	return atomic_load_explicit(&subsys->ns[nsid - 1], memory_order_acquire);
}

static inline struct doca_sta_be_q_handle *sta_ns_route(struct doca_sta_ns_handle *ns,
							unsigned int eu_idx)
{
	return atomic_load_explicit(&ns->be->route[eu_idx], memory_order_acquire);
}

/* Engine: counts a command that the back-end has completed. */
void sta_ns_count(struct doca_sta_ns_handle *ns, unsigned int eu_idx, const struct sta_capsule *cap,
		  uint8_t opcode, sta_status_t status);

#endif
