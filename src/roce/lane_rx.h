/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving half of a lane.
 */
#ifndef ROCE_LANE_RX_H
#define ROCE_LANE_RX_H

#include "roce/lane.h"

/* Lock held: takes a batch from every socket, or from those with connected QPs. */
void roce_lane_receive(struct roce_lane *lane, enum roce_drive which, uint64_t now_ns);

#endif
