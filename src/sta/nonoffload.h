/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks of the non-offload path, as messages to the EU of their QP.
 */
#ifndef STA_NONOFFLOAD_H
#define STA_NONOFFLOAD_H

#include "sta/msg.h"
#include "sta/task.h"

void sta_nonoff_on_send(void *eu, struct sta_msg *msg);
void sta_nonoff_on_read(void *eu, struct sta_msg *msg);

#endif
