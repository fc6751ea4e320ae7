/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every limit of the soft RoCE device in one place. What a program may ask is what
 * ibv_query_device reports from here; what a peer can make us hold is bounded from here.
 * Owns no code.
 */
#ifndef ROCE_LIMITS_H
#define ROCE_LIMITS_H

/* Devices and addresses. */
#define ROCE_MAX_DEVICES 32
#define ROCE_MAX_GIDS	 16
#define ROCE_UDP_PORT	 4791 /* RoCEv2 (Annex A17) */
#define ROCE_PKEY	 0xffff /* the one partition: full member of the default */

/* Objects. QP numbers are 24 bits; 0 and 1 are the management QPs, rxe starts at 17 too. */
#define ROCE_MAX_QPS	   16384
#define ROCE_FIRST_QPN	   17
#define ROCE_MAX_CQS	   16384
#define ROCE_MAX_PDS	   65536
#define ROCE_MAX_MRS	   (1u << 18)
#define ROCE_MAX_MR_BYTES  (1ull << 40)
#define ROCE_MAX_QP_WR	   16384
#define ROCE_MAX_CQE	   (1u << 20)
#define ROCE_MAX_SGE	   32
#define ROCE_MAX_INLINE	   1024
#define ROCE_MAX_RD_ATOM   16 /* RDMA READs outstanding on a QP, each direction */
#define ROCE_MAX_MSG_BYTES (1u << 31)

/* Received but not yet delivered; more than this is dropped and counted. */
#define ROCE_MAX_PENDING_MADS  1024
#define ROCE_MAX_PENDING_ASYNC 4096

#endif
