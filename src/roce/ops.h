/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function table of a soft context: what ibv_post_send(), ibv_poll_cq() and the other inline
 * calls of <infiniband/verbs.h> run. Verbs convention: positive errno.
 */
#ifndef ROCE_OPS_H
#define ROCE_OPS_H

#include <infiniband/verbs.h>

/* Also the mark of a soft context, see roce_device_from_context(). */
int roce_op_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

void roce_ops_fill(struct verbs_context *vctx);

#endif
