/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lane counts: every packet that is dropped has a reason here. Counters of one QP are its
 * engine's (struct roce_rc_counters).
 */
#ifndef ROCE_COUNTERS_H
#define ROCE_COUNTERS_H

#include <stdint.h>

/* Lock: the lane's. */
struct roce_lane_counters {
	uint64_t rx_datagrams; /* receive buffers: one for a whole GRO train */
	uint64_t rx_packets;
	uint64_t rx_mads;
	uint64_t drop_header; /* not a RoCEv2 packet, or an opcode nobody here takes */
	uint64_t drop_icrc;
	uint64_t drop_no_qp; /* destination QP unknown or not connected yet */
	uint64_t drop_wrong_peer; /* came from another address than the QP's peer */
	uint64_t drop_mad; /* QP1: wrong Q_Key or length, or too many waiting */
	uint64_t tx_packets;
	uint64_t tx_trains; /* send calls' messages: one for a whole GSO train */
	uint64_t tx_lost; /* the kernel did not take them */
};

#endif
