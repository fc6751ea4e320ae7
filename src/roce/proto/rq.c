/* SPDX-License-Identifier: Apache-2.0 */
/* Receive queue ring, see rq.h. */
#include "roce/proto/rq.h"

#include <errno.h>
#include <string.h>

#include "roce/proto/rc_priv.h"

size_t roce_rq_mem_bytes(uint32_t max_wr, uint32_t max_sge)
{
	size_t ring = roce_ring_size(max_wr);

	return ring * sizeof(struct roce_rwqe) + ring * max_sge * sizeof(struct ibv_sge);
}

void roce_rq_init(struct roce_rq *rq, void *mem, uint32_t max_wr, uint32_t max_sge)
{
	uint32_t ring = roce_ring_size(max_wr);

	*rq = (struct roce_rq){
		.wqes = mem,
		.sges = (struct ibv_sge *)((struct roce_rwqe *)mem + ring),
		.mask = ring - 1,
		.max_wr = max_wr,
		.max_sge = max_sge,
	};
}

int roce_rq_post(struct roce_rq *rq, const struct ibv_recv_wr *wr)
{
	uint32_t slot = rq->tail & rq->mask;
	struct roce_rwqe *wqe = &rq->wqes[slot];
	uint64_t bytes = 0;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (rq->tail - rq->head >= rq->max_wr)
		return -ENOMEM;
	for (int i = 0; i < wr->num_sge; i++) {
		rq->sges[slot * rq->max_sge + (uint32_t)i] = wr->sg_list[i];
		bytes += wr->sg_list[i].length;
	}
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = (uint32_t)wr->num_sge;
	wqe->bytes = bytes < ROCE_MAX_MSG_BYTES ? (uint32_t)bytes : ROCE_MAX_MSG_BYTES;
	rq->tail++;
	return 0;
}

bool roce_rq_pop(struct roce_rq *rq, struct roce_rwqe *wqe, struct ibv_sge *sges)
{
	uint32_t slot = rq->head & rq->mask;

	if (roce_rq_is_empty(rq))
		return false;
	*wqe = rq->wqes[slot];
	memcpy(sges, &rq->sges[slot * rq->max_sge], wqe->num_sge * sizeof(*sges));
	rq->head++;
	return true;
}
