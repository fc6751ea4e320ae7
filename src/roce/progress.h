/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The background thread, one a process, started with the first open device and never stopped. It
 * drives lanes that nobody polls: a peer may READ while the program sleeps, timers run out, CQs are
 * armed. It keeps away from a lane that is polled, comes back within about a millisecond when
 * polling stops, and at once when a CQ is armed. It also runs the connection manager's hooks.
 */
#ifndef ROCE_PROGRESS_H
#define ROCE_PROGRESS_H

#include "roce/device.h"

struct roce_lane;

/* Starts the thread if there is none and gives it the lane, whose sockets are open. */
int roce_progress_add(struct roce_lane *lane);
/*
 * Lane lock held: the last connected QP of this socket has gone. Who polls the lane reads it no
 * more; the thread does.
 */
void roce_progress_idle(struct roce_lane *lane, unsigned int gid_index);
/* Lane lock held: its sockets will be closed. */
void roce_progress_remove(struct roce_lane *lane);

/* The lane was driven by somebody else: wakes the thread if it would sleep past a timer. */
void roce_progress_nudge(const struct roce_lane *lane);
/* A CQ of the lane was armed: its consumer may sleep from now on. */
void roce_progress_armed(const struct roce_lane *lane);

/* Hands things to the CM hooks, on the background thread. Any lock. False: too many wait. */
bool roce_progress_mad(const struct roce_mad_path *path, const uint8_t mad[ROCE_MAD_BYTES]);
void roce_progress_comm_est(struct roce_device *dev, uint32_t qpn);
void roce_progress_qp_error(struct roce_device *dev, uint32_t qpn);

#endif
