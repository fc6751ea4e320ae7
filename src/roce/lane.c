/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: life, the table of QP numbers, timers and the driving loop. lane_rx.c takes packets apart,
 * lane_tx.c sends them.
 */
#include "roce/lane.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "roce/lane_rx.h"
#include "roce/progress.h"
#include "util/log.h"

#define QPN_MASK     0xffffffu
#define QPN_LAST     0xfffffeu /* 0xffffff is the multicast QP number */
#define LOOPBACK_MIN 1
#define LOOPBACK_MAX 254

/* --- life ---------------------------------------------------------------------------------- */

struct roce_lane *roce_lane_create(struct roce_device *dev)
{
	struct roce_lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return NULL;
	lane->dev = dev;
	/* Random: a peer that still holds a QP of our predecessor must not meet its number. */
	lane->next_qpn = roce_random32() & QPN_MASK;
	pthread_mutex_init(&lane->lock, NULL);
	TAILQ_INIT(&lane->active);
	TAILQ_INIT(&lane->ready);
	for (unsigned int g = 0; g < ROCE_MAX_GIDS; g++)
		lane->nets[g].fd = -1;
	atomic_store(&lane->deadline, UINT64_MAX);
	return lane;
}

void roce_lane_destroy(struct roce_lane *lane)
{
	pthread_mutex_destroy(&lane->lock);
	free(lane);
}

static void log_bind_error(const struct roce_device *dev, const union roce_addr *addr, int rc)
{
	char text[INET6_ADDRSTRLEN];
	const void *bytes = addr->sa.sa_family == AF_INET6 ? (const void *)&addr->in6.sin6_addr
							   : (const void *)&addr->in.sin_addr;

	inet_ntop(addr->sa.sa_family, bytes, text, sizeof(text));
	/* Another process has it, or an IPv6 address is tentative. Who asks for it gets the error.
	 */
	util_log(UTIL_LOG_DEBUG, "roce.lane", "%s: UDP port %d on %s: %s", dev->ibdev.name,
		 ROCE_UDP_PORT, text, strerror(-rc));
}

/* The first 127.0.0.x whose port is free: several processes share one loopback device. */
static int open_loopback(struct roce_lane *lane)
{
	struct roce_gid *row = &lane->dev->gids[0];
	int rc = -EADDRINUSE;

	for (uint32_t x = LOOPBACK_MIN; x <= LOOPBACK_MAX && rc == -EADDRINUSE; x++) {
		row->addr.in.sin_addr.s_addr = htonl((IN_LOOPBACKNET << 24) | x);
		rc = roce_net_open(&lane->nets[0], &row->addr);
	}
	row->bind_error = rc;
	if (rc)
		log_bind_error(lane->dev, &row->addr, rc);
	else
		(void)roce_gid_from_sockaddr(&row->addr.sa, &row->gid);
	return rc;
}

/* One address that works is enough; the others keep their error for who asks for them. */
static int open_sockets(struct roce_lane *lane)
{
	struct roce_device *dev = lane->dev;
	int first_error = 0;
	bool is_any_open = false;

	if (dev->is_loopback)
		return open_loopback(lane);
	for (unsigned int g = 0; g < dev->num_gids; g++) {
		int rc = roce_net_open(&lane->nets[g], &dev->gids[g].addr);

		dev->gids[g].bind_error = rc;
		if (rc == 0) {
			is_any_open = true;
			continue;
		}
		log_bind_error(dev, &dev->gids[g].addr, rc);
		if (first_error == 0)
			first_error = rc;
	}
	return is_any_open ? 0 : first_error;
}

static void close_sockets(struct roce_lane *lane)
{
	for (unsigned int g = 0; g < lane->dev->num_gids; g++)
		roce_net_close(&lane->nets[g]);
}

static int alloc_buffers(struct roce_lane *lane)
{
	lane->qps = calloc(ROCE_QP_SLOTS, sizeof(struct roce_qp *));
	lane->rx = roce_rx_create();
	lane->tx = malloc(sizeof(*lane->tx));
	if (!lane->qps || !lane->rx || !lane->tx)
		return -ENOMEM;
	lane->tx->batch = (struct roce_tx){.pkts = lane->tx->pkts,
					   .iov = lane->tx->iov,
					   .max_pkts = ROCE_TX_PKTS,
					   .max_iov = ROCE_TX_IOV};
	return 0;
}

static void free_buffers(struct roce_lane *lane)
{
	free(lane->qps);
	roce_rx_destroy(lane->rx);
	free(lane->tx);
	lane->qps = NULL;
	lane->rx = NULL;
	lane->tx = NULL;
}

int roce_lane_open(struct roce_lane *lane)
{
	int rc;

	pthread_mutex_lock(&lane->lock);
	rc = alloc_buffers(lane);
	if (rc)
		goto err_free;
	rc = open_sockets(lane);
	if (rc)
		goto err_free;
	lane->is_open = true;
	pthread_mutex_unlock(&lane->lock);

	rc = roce_progress_add(lane);
	if (rc)
		roce_lane_close(lane);
	return rc;

err_free:
	free_buffers(lane);
	pthread_mutex_unlock(&lane->lock);
	return rc;
}

void roce_lane_close(struct roce_lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	roce_progress_remove(lane);
	lane->is_open = false;
	close_sockets(lane);
	free_buffers(lane);
	atomic_store(&lane->deadline, UINT64_MAX);
	pthread_mutex_unlock(&lane->lock);
}

/* --- QPs ----------------------------------------------------------------------------------- */

int roce_lane_add_qp(struct roce_lane *lane, struct roce_qp *qp)
{
	for (uint32_t tries = 0; tries < 2 * ROCE_QP_SLOTS; tries++) {
		uint32_t qpn = lane->next_qpn;
		struct roce_qp **slot = &lane->qps[qpn % ROCE_QP_SLOTS];

		lane->next_qpn = qpn >= QPN_LAST ? ROCE_FIRST_QPN : qpn + 1;
		if (qpn < ROCE_FIRST_QPN || qpn > QPN_LAST || *slot)
			continue;
		*slot = qp;
		qp->ibqp.qp_num = qpn;
		return 0;
	}
	return -ENOMEM;
}

void roce_lane_remove_qp(struct roce_lane *lane, struct roce_qp *qp)
{
	roce_lane_disconnect_qp(lane, qp);
	lane->qps[qp->ibqp.qp_num % ROCE_QP_SLOTS] = NULL;
}

void roce_lane_connect_qp(struct roce_lane *lane, struct roce_qp *qp)
{
	if (qp->is_connected)
		return;
	TAILQ_INSERT_TAIL(&lane->active, qp, active_link);
	lane->nets[qp->gid_index].users++;
	qp->is_connected = true;
}

void roce_lane_disconnect_qp(struct roce_lane *lane, struct roce_qp *qp)
{
	if (qp->is_ready)
		TAILQ_REMOVE(&lane->ready, qp, ready_link);
	qp->is_ready = false;
	if (!qp->is_connected)
		return;
	TAILQ_REMOVE(&lane->active, qp, active_link);
	qp->is_connected = false;
	if (--lane->nets[qp->gid_index].users == 0)
		roce_progress_idle(lane, qp->gid_index);
}

static void note_deadline(struct roce_lane *lane, uint64_t deadline)
{
	if (deadline < atomic_load_explicit(&lane->deadline, memory_order_relaxed))
		atomic_store(&lane->deadline, deadline);
}

void roce_lane_touch(struct roce_lane *lane, struct roce_qp *qp)
{
	if (!qp->is_connected)
		return;
	if (!qp->is_ready && roce_rc_has_output(&qp->rc)) {
		TAILQ_INSERT_TAIL(&lane->ready, qp, ready_link);
		qp->is_ready = true;
	}
	note_deadline(lane, roce_rc_deadline(&qp->rc));
}

uint32_t roce_lane_window(const struct roce_lane *lane, unsigned int gid_index, uint32_t mtu)
{
	/*
	 * The kernel charges a datagram about twice its size. The peer's buffer is taken to be
	 * like ours; half of it is left to other QPs.
	 */
	uint32_t window = lane->nets[gid_index].rcvbuf_bytes / 2 / (2 * mtu + 256);

	if (window < ROCE_RC_WINDOW_MIN)
		return ROCE_RC_WINDOW_MIN;
	return window < ROCE_RC_WINDOW_MAX ? window : ROCE_RC_WINDOW_MAX;
}

/* --- driving ------------------------------------------------------------------------------- */

static void run_timers(struct roce_lane *lane, uint64_t now_ns)
{
	struct roce_qp *qp;

	atomic_store(&lane->deadline, UINT64_MAX);
	TAILQ_FOREACH(qp, &lane->active, active_link)
	{
		if (roce_rc_deadline(&qp->rc) <= now_ns)
			roce_rc_timer(&qp->rc, now_ns);
		roce_lane_touch(lane, qp);
	}
}

void roce_lane_drive(struct roce_lane *lane, enum roce_drive which, uint64_t now_ns)
{
	if (!lane->is_open)
		return;
	roce_lane_receive(lane, which, now_ns);
	if (atomic_load_explicit(&lane->deadline, memory_order_relaxed) <= now_ns)
		run_timers(lane, now_ns);
	roce_lane_flush(lane, now_ns);
}

void roce_lane_poll(struct roce_lane *lane)
{
	if (pthread_mutex_trylock(&lane->lock))
		return;
	roce_lane_drive(lane, ROCE_DRIVE_BUSY, roce_now_ns());
	pthread_mutex_unlock(&lane->lock);
	roce_progress_nudge(lane);
}

void roce_lane_mr_gone(struct roce_lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	lane->mr_epoch++;
	pthread_mutex_unlock(&lane->lock);
}
