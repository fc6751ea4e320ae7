/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STA context: devices, execution units and the lists of everything made under it. Control
 * path; the engine sees it only for posting messages to its thread.
 */
#ifndef STA_STA_H
#define STA_STA_H

#include <pthread.h>

#include <doca_sta.h>
#include <doca_sta_event.h>

#include "core/ctx.h"
#include "sta/event.h"
#include "sta/eu.h"
#include "sta/ns.h"
#include "sta/task.h"

struct doca_sta_eu_handle {
	struct sta_eu eu;
	struct doca_sta_qp_handle *listed; /* held for who was told of them; guarded by the lock */
	struct doca_sta_eu_ctr_entry entries[STA_NUM_EU_COUNTERS];
};

/*
 * A verbs device as librdmacm opened it, which is another context than the one of doca_dev; the
 * two are matched by name. Made when the first connection comes in over it.
 */
struct sta_vdev {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	unsigned int idx;
	uint32_t max_wr, max_cqe;
	struct sta_vdev_eu {
		struct ibv_comp_channel *channel;
		struct sta_cq *cqs; /* all on this channel */
	} eu[STA_MAX_EUS];
};

/* Messages for the thread of a context, handled one a progress call. */
struct sta_inbox {
	struct sta_mbox box;
	struct sta_msg *todo;
	atomic_uint num_posting; /* threads between post and the end of the wake-up */
};

bool sta_inbox_run_one(struct sta_inbox *inbox, void *owner);
/* Before the context and its progress engine may go: until nobody is busy waking it. */
void sta_inbox_settle(struct sta_inbox *inbox);

/*
 * Owner: the thread of its progress engine.
 * Shared: inbox (any thread posts); events; eus[] are constant while RUNNING.
 * Lock: "lock" guards vdevs, and num_qps, regions and num_slots of the EUs, which the threads of
 * STA IO contexts use; is_open, and that num_io grows only while it is set. It is a leaf.
 * Life: destroyed when IDLE with no STA IO context, subsystem or back-end left.
 */
struct doca_sta {
	struct doca_ctx ctx; /* first */
	struct sta_inbox inbox;
	struct doca_dev *control_dev;
	struct doca_dev *devs[STA_MAX_DEVS];
	uint32_t num_devs;
	uint16_t max_io;
	bool is_open; /* to new STA IO contexts; as long as there is one, it is RUNNING */
	_Atomic uint32_t num_io;
	_Atomic uint32_t num_qps;
	uint32_t num_subsystems, num_backends;
	uint32_t next_backend_id;
	bool is_stopped; /* the EUs are, and core knows */
	uint64_t be_timeout_ns;
	struct sta_mem_ops mem;
	struct util_list subsystems, backends;

	struct sta_task_cbs rm_ns_cbs, destroy_queue_cbs;
	struct core_task_pool *rm_ns_pool, *destroy_queue_pool;
	struct sta_event_cbs event_cbs;
	struct sta_event_pool events;

	pthread_mutex_t lock;
	struct sta_vdev vdevs[STA_MAX_DEVS];
	uint32_t num_vdevs;

	struct doca_sta_eu_handle *eus;
	uint32_t num_eus;
};

/* Any thread. */
void sta_post(struct doca_sta *sta, struct sta_msg *msg);

/* The number of EUs that a context will start. */
uint32_t sta_num_eus(void);

static inline bool sta_is_running(const struct doca_sta *sta)
{
	return core_ctx_is_running(&sta->ctx);
}

/* caps.c: NOT_SUPPORTED, or what sta_error_from_device() gives */
doca_error_t sta_check_verbs(struct ibv_context *verbs);

/* stats.c: lets go of the QPs that the application was told of. */
void sta_stats_forget_qps(struct doca_sta *sta);

/* True when @dev was added to the context. */
bool sta_has_dev(const struct doca_sta *sta, const struct doca_dev *dev);

/* vdev.c; with the lock held */
doca_error_t sta_vdev_get(struct doca_sta *sta, struct ibv_context *verbs, struct sta_vdev **vdev);
/* A completion queue with room for @need entries, which are taken. */
doca_error_t sta_vdev_take_cq(struct sta_vdev *vdev, struct sta_eu *eu, uint32_t need,
			      struct sta_cq **cq);
/* Staging memory of @eu for one more QP, registered with @vdev; tells the EU about new memory. */
doca_error_t sta_vdev_add_memory(struct doca_sta *sta, struct sta_vdev *vdev, struct sta_eu *eu);
void sta_vdev_destroy_all(struct doca_sta *sta); /* EUs have stopped */
/* The last part of that. False when a device does not let go of its domain: that one stays, to be
 * used again or dropped later. */
bool sta_vdev_drop_domains(struct doca_sta *sta);

#endif
