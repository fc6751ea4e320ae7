/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pairs: the verbs object around one RC engine (proto/rc.h), its state machine and its
 * number. The engine belongs to the QP's lane and is touched with the lane's lock held only.
 *
 * Functions return 0 or -errno unless they say otherwise; entry_verbs*.c turns that into the verbs
 * convention.
 */
#ifndef ROCE_QP_H
#define ROCE_QP_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct roce_qp;

/*
 * ibv_create_qp for a soft protection domain: RC only. Opens the device if this is its first user.
 * attr->cap returns what was really given. Errors: -EINVAL beyond a limit of limits.h or CQs of
 * another device, -EOPNOTSUPP for other QP types and SRQs, -ENOMEM, and those of roce_device_get().
 */
int roce_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, struct ibv_qp **qp);

/*
 * ibv_modify_qp: RESET -> INIT -> RTR -> RTS, any -> ERR, any -> RESET, and attribute changes
 * within INIT and RTS. -EINVAL: transition not allowed, a required attribute missing from mask, one
 * that does not belong there, a path MTU above the port's active MTU, or a GID index without
 * address. attr->ah_attr names the peer by grh.dgid; grh.sgid_index the local address.
 */
int roce_qp_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask);

int roce_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr);

/* Waits for affiliated events to be acknowledged, then frees. Never fails for a valid QP. */
int roce_qp_destroy(struct ibv_qp *qp);

/* True when qp is one of ours. */
bool roce_qp_is_soft(const struct ibv_qp *qp);

#endif
