/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which attributes ibv_modify_qp takes for which transition of an RC QP (IBTA 11.2.5.2), and which
 * values they may have. Pure; the engine's states are proto/'s.
 */
#ifndef ROCE_QP_STATE_H
#define ROCE_QP_STATE_H

#include <infiniband/verbs.h>

/*
 * Checks that mask brings what from -> to needs and nothing else. -EINVAL: no such transition, or
 * a bit too few or too many; -EOPNOTSUPP: send queue drain, path migration.
 */
int roce_qp_state_check(enum ibv_qp_state from, enum ibv_qp_state to, int mask);

/* Checks the values that mask names against a port of path MTU active_mtu. -EINVAL. */
int roce_qp_attr_check(const struct ibv_qp_attr *attr, int mask, enum ibv_mtu active_mtu);

#endif
