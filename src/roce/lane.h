/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane: the sockets of a device (one for each of its addresses), the QPs that live there and
 * their timers, under one mutex that is taken once per batch. Whoever polls drives it; the
 * background thread (progress.c) drives it when nobody does.
 *
 * A QP number carries its lane in the low bits, so that later lanes can be steered to without a
 * table; with one lane that is no bit.
 */
#ifndef ROCE_LANE_H
#define ROCE_LANE_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "roce/counters.h"
#include "roce/net.h"
#include "roce/objects.h"

/* One slot for each QP, found by the low bits of its number. */
#define ROCE_QP_SLOTS ROCE_MAX_QPS
static_assert((ROCE_QP_SLOTS & (ROCE_QP_SLOTS - 1)) == 0, "QP slots are found by mask");

/* Most packets of one send batch, and iovecs: header, payload, tail are three a packet. */
#define ROCE_TX_PKTS 128
#define ROCE_TX_IOV  (4 * ROCE_TX_PKTS + ROCE_RC_PKT_IOV_MAX)

struct roce_lane_tx {
	struct roce_tx batch;
	struct roce_tx_pkt pkts[ROCE_TX_PKTS];
	struct iovec iov[ROCE_TX_IOV];
	struct roce_qp *qp_of[ROCE_TX_PKTS];
};

/*
 * Lock: lock guards all but the atomics. Order: see device.h.
 * Shared without the lock: the atomics. polls counts how often consumers polled its CQs; armed
 * counts CQs armed for an event; is_watched tells whether the background thread has the sockets in
 * its epoll set; deadline is a lower bound of when a timer is due.
 */
struct roce_lane {
	pthread_mutex_t lock;
	struct roce_device *dev;
	bool is_open;
	struct roce_net nets[ROCE_MAX_GIDS];
	struct roce_qp **qps; /* ROCE_QP_SLOTS; NULL while closed */
	uint32_t next_qpn;
	uint32_t mr_epoch; /* see struct roce_rc_cfg */
	TAILQ_HEAD(, roce_qp) active; /* connected QPs: have timers */
	TAILQ_HEAD(, roce_qp) ready; /* QPs with something to send */
	struct roce_rx *rx;
	struct roce_lane_tx *tx;
	struct roce_lane_counters counters;

	_Atomic uint64_t deadline;
	atomic_uint polls;
	atomic_uint armed;
	atomic_bool is_watched;
};

/* Closed; for the life of the device. */
struct roce_lane *roce_lane_create(struct roce_device *dev);
void roce_lane_destroy(struct roce_lane *lane);

/* Sockets and QP table; see roce_device_get() for errors. Fills dev->gids[].bind_error. */
int roce_lane_open(struct roce_lane *lane);
void roce_lane_close(struct roce_lane *lane);

/* --- QPs, lock held ------------------------------------------------------------------------ */

/* Gives qp a number and a slot. -ENOMEM when ROCE_MAX_QPS exist. */
int roce_lane_add_qp(struct roce_lane *lane, struct roce_qp *qp);
void roce_lane_remove_qp(struct roce_lane *lane, struct roce_qp *qp);
/* From now (RTR) until roce_lane_disconnect_qp() (RESET, destruction) packets and timers reach it.
 */
void roce_lane_connect_qp(struct roce_lane *lane, struct roce_qp *qp);
void roce_lane_disconnect_qp(struct roce_lane *lane, struct roce_qp *qp);
/* After anything was done to qp's engine: notes output and deadline. */
void roce_lane_touch(struct roce_lane *lane, struct roce_qp *qp);
/* How many PSNs a QP of path MTU mtu on this address may have in flight. */
uint32_t roce_lane_window(const struct roce_lane *lane, unsigned int gid_index, uint32_t mtu);

/* --- driving ------------------------------------------------------------------------------- */

enum roce_drive {
	ROCE_DRIVE_BUSY, /* sockets with connected QPs only: one system call less for each other */
	ROCE_DRIVE_ALL,
};

/* Lock held: receives, runs due timers, sends; bounded work. */
void roce_lane_drive(struct roce_lane *lane, enum roce_drive which, uint64_t now_ns);
/* Lock held: sends what is ready; what does not fit one go is left to the next driver. */
void roce_lane_flush(struct roce_lane *lane, uint64_t now_ns);
/* A consumer polls: drives the lane unless somebody else is just doing so. */
void roce_lane_poll(struct roce_lane *lane);

/* A memory region was removed from the device's table: afterwards no byte of it is touched. */
void roce_lane_mr_gone(struct roce_lane *lane);

#endif
