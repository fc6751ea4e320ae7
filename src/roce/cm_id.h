/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_id.h - what stands behind a rdma_cm_id and a rdma_event_channel of ours. Shared by cm_*.c and
 * entry_cm*.c, for no one else.
 *
 * Every id that a program makes has a struct roce_id, because only its address decides whether it
 * is soft. Where the kernel has a rdma_cm device, the rdma_cm_id itself is librdmacm's and can
 * still become a real one; its private part stays unbound if it becomes soft. Elsewhere, and for
 * ids of incoming requests, it is `own`.
 *
 * Lock: one mutex (roce_cm_lock()) guards the engine, all ids, channels and events; everything
 * here is control path. It is above the locks of device.h, so QPs may be modified under it, and is
 * never held while a program's code could wait for something else of ours. Functions named
 * *_locked are called with it.
 */
#ifndef ROCE_CM_ID_H
#define ROCE_CM_ID_H

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "roce/cm/fsm.h"
#include "roce/device.h"

enum roce_id_state {
	ROCE_ID_NEW,
	ROCE_ID_REAL, /* served by librdmacm; the rest of struct roce_id is unused */
	ROCE_ID_BOUND,
	ROCE_ID_LISTENING,
	ROCE_ID_ADDR_RESOLVED,
	ROCE_ID_ROUTE_RESOLVED,
	ROCE_ID_CONNECTION, /* conn.state says more */
};

/* Life: from create to destroy, or to get_cm_event's failure if nobody has seen it. */
struct roce_channel_cm {
	struct rdma_event_channel ch; /* fd: wakes for events of ours and of real */
	int event_fd; /* readable while events is not empty */
	struct rdma_event_channel *real; /* NULL without kernel RDMA */
	TAILQ_HEAD(roce_event_queue, roce_event) events; /* not fetched yet */
	LIST_ENTRY(roce_channel_cm) link;
};

struct roce_event {
	struct rdma_cm_event ev; /* first: what the program gets */
	struct roce_id *owner; /* whose destruction waits for this event: the listener for a REQ */
	TAILQ_ENTRY(roce_event) link; /* channel's queue, then the list of fetched ones */
	uint8_t private_data[ROCE_CM_REP_PRIVATE];
};

struct roce_id {
	struct rdma_cm_id *id; /* own, or librdmacm's */
	struct rdma_cm_id own;
	enum roce_id_state state;
	LIST_ENTRY(roce_id) link; /* all ids, by address of *id */

	struct roce_channel_cm *channel;
	bool is_sync; /* made without a channel: the one it has is private */
	unsigned int fetched_events; /* not acknowledged yet */

	struct roce_device *dev; /* a reference; NULL for a wildcard */
	unsigned int gid_index;
	bool owns_port; /* the source port was bound, not inherited from a listener */
	uint32_t open_devices; /* wildcard listener: a reference on each of these */

	bool is_reuseaddr;
	uint8_t tos;
	uint8_t ack_timeout;

	struct roce_cm_conn conn;
	struct roce_cm_listener listener;
	uint32_t psn; /* what we ask the peer to start with */
	uint8_t req_initiator_depth; /* of the REQ event: accept without parameters uses them */
	uint8_t req_responder_resources;
	struct ibv_sa_path_rec path_rec;
	bool has_ep_attr; /* rdma_create_ep(): what QP its requests get */
	struct ibv_pd *ep_pd;
	struct ibv_qp_init_attr ep_attr;
};

/* --- cm_service.c: the engine, its lock, the device hooks ---------------------------------- */

void roce_cm_lock(void);
/* Also wakes the background thread if the engine has a new deadline. */
void roce_cm_unlock(void);
/* pthread_cond_wait() with the lock. */
void roce_cm_wait_locked(pthread_cond_t *cond);
/* The engine; the lock is held. */
struct roce_cm *roce_cm_engine_locked(void);
/* Brings conn's QP from INIT to RTS with what was negotiated. 0 or -errno; no QP is fine. */
int roce_id_qp_to_rts_locked(struct roce_id *rid);
void roce_id_qp_to_error_locked(struct roce_id *rid);
/* *attr for the state that attr->qp_state names: INIT, RTR or RTS. -EINVAL for others. */
int roce_id_qp_attr(const struct roce_id *rid, struct ibv_qp_attr *attr, int *mask);

/* --- cm_table.c: ids, and which of them is soft -------------------------------------------- */

/* A new id on channel; `real` is librdmacm's object or NULL. NULL: no memory. */
struct roce_id *roce_id_new_locked(struct roce_channel_cm *channel, struct rdma_cm_id *real,
				   void *context, enum rdma_port_space ps);
/* Unlinks and frees; drops its references and its private channel. */
void roce_id_free_locked(struct roce_id *rid);
struct roce_id *roce_id_find_locked(const struct rdma_cm_id *id);
/* All ids, in no order; NULL begins and ends. */
struct roce_id *roce_id_next_locked(struct roce_id *rid);
/*
 * Takes the lock and gives the soft (or undecided and never real) id behind id; NULL without the
 * lock when librdmacm has to answer.
 */
struct roce_id *roce_id_lock_soft(const struct rdma_cm_id *id);
/* Unlocks and turns 0 or -errno into the convention of rdma_*. */
int roce_cm_unlock_return(int err);
int roce_cm_return(int err);

/* --- cm_event.c: channels and events ------------------------------------------------------- */

/* True when the kernel has a rdma_cm device and librdmacm is there to use it. */
bool roce_cm_has_real(void);
struct roce_channel_cm *roce_channel_cm_new(bool with_real); /* NULL + errno */
void roce_channel_cm_free_locked(struct roce_channel_cm *channel);
/* NULL when channel is not one of ours. */
struct roce_channel_cm *roce_channel_cm_find_locked(const struct rdma_event_channel *channel);

/* An event about rid, with the whole private data field of a message. 0 or -ENOMEM. */
int roce_event_post_locked(struct roce_id *rid, const struct rdma_cm_event *ev,
			   const uint8_t *private_data, size_t bytes);
/* The same for an event that carries only a type and a status. */
int roce_event_post_simple_locked(struct roce_id *rid, enum rdma_cm_event_type type, int status);
/* Removes what rid has in its queue; ids of requests nobody saw are destroyed. */
void roce_event_forget_locked(struct roce_id *rid);
/* Acknowledges the event that a synchronous id shows as id->event. */
void roce_event_drop_sync_locked(struct roce_id *rid);
void roce_event_wait_acked_locked(struct roce_id *rid);
/* Moves rid and its unfetched events. */
void roce_event_migrate_locked(struct roce_id *rid, struct roce_channel_cm *to);
/* rdma_get_cm_event for a channel of ours. 0 or -errno. */
int roce_event_get(struct roce_channel_cm *channel, struct rdma_cm_event **event);
/* -ENOENT: not an event of ours. */
int roce_event_ack(struct rdma_cm_event *event);

/*
 * After an operation of a synchronous id succeeded: waits for its event, keeps it as id->event and
 * gives its status. For others: 0 at once. Lock not held.
 */
int roce_event_complete(struct rdma_cm_id *id);

/* --- cm_addr.c: addresses, ports, devices -------------------------------------------------- */

/* -ENODEV and -EADDRNOTAVAIL: not on a soft device, librdmacm may know better. */
int roce_id_bind_locked(struct roce_id *rid, const struct sockaddr *addr);
int roce_id_resolve_locked(struct roce_id *rid, const struct sockaddr *src,
			   const struct sockaddr *dst);
int roce_id_listen_locked(struct roce_id *rid, int backlog);
/* A reference on dev, its context and default PD, for rid. */
int roce_id_set_device_locked(struct roce_id *rid, struct roce_device *dev, unsigned int gid_index);
void roce_id_put_devices_locked(struct roce_id *rid);
void roce_id_resolve_route_locked(struct roce_id *rid);
void roce_id_path_locked(const struct roce_id *rid, struct roce_cm_path *path);

#endif /* ROCE_CM_ID_H */
