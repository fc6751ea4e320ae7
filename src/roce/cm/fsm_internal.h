/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsm_internal.h - what the two halves of the engine share: fsm.c (book-keeping, what the owner
 * asks for, timers) and input.c (what peers send). For these two files only.
 */
#ifndef ROCE_CM_FSM_INTERNAL_H
#define ROCE_CM_FSM_INTERNAL_H

#include "roce/cm/fsm.h"

/* Gives conn a new communication id and makes it findable. -ENOMEM: ROCE_CM_MAX_CONNS. */
int roce_cm_attach(struct roce_cm *cm, struct roce_cm_conn *conn);

/* The attached conn with this id and this peer; 0 as remote_id stands for "not said". */
struct roce_cm_conn *roce_cm_find(struct roce_cm *cm, const struct roce_cm_path *path,
				  uint32_t local_id, uint32_t remote_id);

/* The ghost of the conn that this REQ once made, or NULL. */
const struct roce_cm_ghost *roce_cm_find_ghost(const struct roce_cm *cm,
					       const struct roce_cm_path *path,
					       const struct roce_cm_req *req, uint64_t now);

void roce_cm_set_timer(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t deadline);
void roce_cm_send_msg(struct roce_cm *cm, const struct roce_cm_path *path,
		      const struct roce_cm_msg *msg);
/* Sends conn->tx again. */
void roce_cm_resend(struct roce_cm *cm, struct roce_cm_conn *conn);
void roce_cm_raise(struct roce_cm *cm, struct roce_cm_conn *conn, enum roce_cm_event_type type,
		   int status, const struct roce_cm_msg *msg);

/* A REJ about conn, worded for its state; the state does not change. */
void roce_cm_send_rej(struct roce_cm *cm, const struct roce_cm_conn *conn, uint16_t reason,
		      const void *private_data, size_t bytes);

/* No longer undecided: its listener may take another REQ. */
void roce_cm_decided(struct roce_cm_conn *conn);

/* The ways out of the middle states. The caller raises the event that tells the owner. */
void roce_cm_go_idle(struct roce_cm *cm, struct roce_cm_conn *conn);
void roce_cm_go_timewait(struct roce_cm *cm, struct roce_cm_conn *conn, uint64_t now);

#endif /* ROCE_CM_FSM_INTERNAL_H */
