/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receive queue: a ring of receive requests in memory that the owner gives. Belongs to one RC
 * endpoint, or is shared by several of one lane. Not thread safe.
 */
#ifndef ROCE_PROTO_RQ_H
#define ROCE_PROTO_RQ_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roce_rwqe {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t bytes; /* room in all SGEs */
};

struct roce_rq {
	struct roce_rwqe *wqes; /* mask + 1 of them */
	struct ibv_sge *sges; /* max_sge for each */
	uint32_t mask;
	uint32_t max_wr;
	uint32_t max_sge;
	uint32_t head; /* next to consume; counts without wrapping to the ring size */
	uint32_t tail; /* next free */
};

/* Bytes of memory, 16-byte aligned, that roce_rq_init needs. */
size_t roce_rq_mem_bytes(uint32_t max_wr, uint32_t max_sge);
void roce_rq_init(struct roce_rq *rq, void *mem, uint32_t max_wr, uint32_t max_sge);

/* Posts one request (wr->next is ignored). -EINVAL: too many SGEs; -ENOMEM: the ring is full. */
int roce_rq_post(struct roce_rq *rq, const struct ibv_recv_wr *wr);

static inline bool roce_rq_is_empty(const struct roce_rq *rq)
{
	return rq->head == rq->tail;
}

#endif
