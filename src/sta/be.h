/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Back-ends on the control path: what other files of it need.
 */
#ifndef STA_BE_H
#define STA_BE_H

struct doca_sta;

/* The EUs have stopped: lets go of all queues that are left. Their handles end. */
void sta_be_drop_queues(struct doca_sta *sta);

#endif
