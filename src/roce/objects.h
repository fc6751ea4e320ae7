/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs objects as this folder sees them: ours with rdma-core's structure first, so a handle
 * that a program holds is turned back by a cast. Private to this folder; cm/ uses device.h, qp.h.
 *
 * Life: a PD counts the MRs and QPs on it, a CQ its QPs, a channel its CQs; destroying one that is
 * counted gives EBUSY. A context lives until it is closed and everything made on it is gone.
 */
#ifndef ROCE_OBJECTS_H
#define ROCE_OBJECTS_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "roce/device.h"
#include "roce/proto/rc.h"

struct roce_async_event;

/* Lock: lock guards events. The rest is constant but for the counters. */
struct roce_context {
	struct roce_device *dev;
	atomic_uint users; /* the handle itself and the objects made on it */
	atomic_bool has_device; /* holds a device reference, see roce_context_pin_device() */
	pthread_mutex_t lock;
	STAILQ_HEAD(, roce_async_event) events;
	unsigned int num_events;
	struct verbs_context vctx; /* ends with what programs see */
};

struct roce_pd {
	struct ibv_pd ibpd;
	atomic_uint users;
};

struct roce_mr {
	struct ibv_mr ibmr;
	uint64_t iova; /* name of the first byte */
	unsigned int access; /* enum ibv_access_flags */
	bool is_remote_open; /* false once invalidated; guarded by the table's lock */
};

struct roce_cq;

/* Lock: ready is guarded by lock; below a CQ's lock. */
struct roce_channel {
	struct ibv_comp_channel ibch; /* fd: readable while ready is not empty */
	atomic_uint users;
	pthread_mutex_t lock;
	TAILQ_HEAD(, roce_cq) ready; /* CQs with events not fetched yet */
};

enum roce_cq_arm {
	ROCE_CQ_IDLE,
	ROCE_CQ_ARMED_SOLICITED,
	ROCE_CQ_ARMED
};

/*
 * Owner: producers are the drivers of its lane, consumers any thread.
 * Lock: lock guards ring, arm and is_overrun, below the lane's lock. num_ready and the link are
 * the channel's.
 */
struct roce_cq {
	struct ibv_cq ibcq;
	struct roce_lane *lane;
	atomic_uint users;
	pthread_mutex_t lock;
	struct ibv_wc *ring; /* mask + 1 entries; ibcq.cqe of them are used */
	uint32_t mask;
	uint32_t head, tail; /* count on without wrapping to the ring size */
	_Atomic uint32_t num_wcs; /* tail - head, for a look without the lock */
	enum roce_cq_arm arm;
	bool is_overrun;
	unsigned int num_ready;
	TAILQ_ENTRY(roce_cq) ready_link;
	unsigned int comp_events; /* fetched by ibv_get_cq_event; guarded by ibcq.mutex */
	unsigned int async_events; /* fetched by ibv_get_async_event; guarded by ibcq.mutex */
};

/*
 * Owner: its lane. Lock: the lane's lock guards everything that changes after creation but
 * async_events (ibqp.mutex).
 */
struct roce_qp {
	struct ibv_qp ibqp;
	struct roce_lane *lane;
	struct roce_rc rc;
	struct roce_rq rq;
	void *mem; /* of rc and rq */
	struct ibv_qp_attr attr; /* as modified so far, for query */
	struct ibv_qp_init_attr init; /* with the capabilities given */
	unsigned int gid_index; /* our address, valid from RTR */
	union roce_addr peer; /* its address, port 4791 */
	struct roce_icrc_flow tx_flow;
	struct roce_icrc_flow rx_flow; /* for packets from rx_from */
	union roce_addr rx_from; /* peer with the source port it really uses */
	uint16_t rx_ip_id; /* of the last packet */
	bool rx_starts_at_0; /* the last datagram or train did */
	bool is_connected; /* from RTR on: in lane's active list */
	bool is_ready; /* in lane's ready list: has output */
	TAILQ_ENTRY(roce_qp) active_link;
	TAILQ_ENTRY(roce_qp) ready_link;
	unsigned int async_events; /* fetched by ibv_get_async_event; guarded by ibqp.mutex */
};

static inline struct roce_context *roce_context(struct ibv_context *ctx)
{
	return (struct roce_context *)((char *)ctx - offsetof(struct roce_context, vctx.context));
}

static inline struct roce_pd *roce_pd(struct ibv_pd *pd)
{
	return (struct roce_pd *)pd;
}

static inline struct roce_channel *roce_channel(struct ibv_comp_channel *ch)
{
	return (struct roce_channel *)ch;
}

static inline struct roce_cq *roce_cq(struct ibv_cq *cq)
{
	return (struct roce_cq *)cq;
}

static inline struct roce_qp *roce_qp(struct ibv_qp *qp)
{
	return (struct roce_qp *)qp;
}

/* --- context.c ----------------------------------------------------------------------------- */

/* NULL + errno. */
struct ibv_context *roce_context_create(struct roce_device *dev);
/* One more, or one less, object on it. The last one frees it: programs close devices too early. */
void roce_context_get(struct ibv_context *ctx);
void roce_context_put(struct ibv_context *ctx);
/* Opens the device on behalf of the context, until it is closed. For sr_lo, whose GID it fixes. */
int roce_context_pin_device(struct ibv_context *ctx);

/* --- async.c ------------------------------------------------------------------------------- */

/* Queues an event for ibv_get_async_event. Any lock may be held. */
void roce_async_post(struct ibv_context *ctx, const struct ibv_async_event *event);
int roce_async_get(struct ibv_context *ctx, struct ibv_async_event *event);
void roce_async_ack(const struct ibv_async_event *event);
/* Before an object goes: drops its queued events, waits until fetched ones are acknowledged. */
void roce_async_forget_cq(struct roce_cq *cq);
void roce_async_forget_qp(struct roce_qp *qp);

/* --- cq.c ---------------------------------------------------------------------------------- */

int roce_channel_create(struct ibv_context *ctx, struct ibv_comp_channel **ch);
int roce_channel_destroy(struct ibv_comp_channel *ch);
/* Blocks unless the fd is non-blocking: then -EAGAIN. */
int roce_channel_get_event(struct ibv_comp_channel *ch, struct ibv_cq **cq);

int roce_cq_create(struct ibv_context *ctx, int cqe, void *cq_context, struct ibv_comp_channel *ch,
		   int comp_vector, struct ibv_cq **cq);
int roce_cq_resize(struct ibv_cq *cq, int cqe);
int roce_cq_destroy(struct ibv_cq *cq);
/* Producer side, lane lock held. solicited: wakes consumers that asked for solicited events. */
void roce_cq_push(struct roce_cq *cq, const struct ibv_wc *wc, bool is_solicited);
/* Takes up to max entries; does not drive the lane. */
int roce_cq_pop(struct roce_cq *cq, int max, struct ibv_wc *wc);
/* The next entry that qualifies puts one event into the channel. Without a channel: nothing. */
void roce_cq_arm(struct roce_cq *cq, bool solicited_only);
/* Forgets the entries of a QP that goes. */
void roce_cq_purge(struct roce_cq *cq, uint32_t qpn);

#endif
