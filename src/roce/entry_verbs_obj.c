/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibv_* entry points for protection domains, memory regions, completion and work queues: see
 * entry_verbs.c. Calls for objects that there are no soft ones of (SRQ, AH, multicast, imports) are
 * refused when they name a soft object, with EOPNOTSUPP.
 */
#include <errno.h>
#include <stdlib.h>

#include "roce/mr.h"
#include "roce/next.h"
#include "roce/objects.h"
#include "roce/qp.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

static void *null_with(int rc)
{
	errno = -rc;
	return NULL;
}

/* --- protection domains, memory regions ---------------------------------------------------- */

ROCE_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct roce_pd *pd;

	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_alloc_pd, NULL, context);
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->ibpd.context = context;
	roce_context_get(context);
	return &pd->ibpd;
}

ROCE_EXPORT int ibv_dealloc_pd(struct ibv_pd *ibpd)
{
	struct roce_pd *pd = roce_pd(ibpd);

	if (!roce_device_from_context(ibpd->context))
		ROCE_FORWARD(ibv_dealloc_pd, ENOSYS, ibpd);
	if (atomic_load(&pd->users))
		return EBUSY;
	roce_context_put(ibpd->context);
	free(pd);
	return 0;
}

static struct ibv_mr *reg_soft_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				  unsigned int access)
{
	struct ibv_mr *mr;
	int rc = roce_mr_reg(pd, addr, length, iova, access, &mr);

	return rc ? null_with(rc) : mr;
}

ROCE_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	if (!roce_device_from_context(pd->context))
		ROCE_FORWARD(ibv_reg_mr, NULL, pd, addr, length, access);
	return reg_soft_mr(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

ROCE_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
					   uint64_t iova, int access)
{
	if (!roce_device_from_context(pd->context))
		ROCE_FORWARD(ibv_reg_mr_iova, NULL, pd, addr, length, iova, access);
	return reg_soft_mr(pd, addr, length, iova, (unsigned int)access);
}

ROCE_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
					    uint64_t iova, unsigned int access)
{
	if (!roce_device_from_context(pd->context))
		ROCE_FORWARD(ibv_reg_mr_iova2, NULL, pd, addr, length, iova, access);
	return reg_soft_mr(pd, addr, length, iova, access);
}

ROCE_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					     uint64_t iova, int fd, int access)
{
	if (!roce_device_from_context(pd->context))
		ROCE_FORWARD(ibv_reg_dmabuf_mr, NULL, pd, offset, length, iova, fd, access);
	return null_with(-EOPNOTSUPP);
}

ROCE_EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			     size_t length, int access)
{
	if (!roce_device_from_context(mr->context))
		ROCE_FORWARD(ibv_rereg_mr, IBV_REREG_MR_ERR_INPUT, mr, flags, pd, addr, length,
			     access);
	errno = EOPNOTSUPP;
	return IBV_REREG_MR_ERR_INPUT; /* the old region is untouched */
}

ROCE_EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	if (!roce_device_from_context(mr->context))
		ROCE_FORWARD(ibv_dereg_mr, ENOSYS, mr);
	return -roce_mr_dereg(mr);
}

/* --- completion channels and queues -------------------------------------------------------- */

ROCE_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *ch;
	int rc;

	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_create_comp_channel, NULL, context);
	rc = roce_channel_create(context, &ch);
	return rc ? null_with(rc) : ch;
}

ROCE_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	if (!roce_device_from_context(channel->context))
		ROCE_FORWARD(ibv_destroy_comp_channel, ENOSYS, channel);
	return -roce_channel_destroy(channel);
}

ROCE_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
				 void **cq_context)
{
	int rc;

	if (!roce_device_from_context(channel->context))
		ROCE_FORWARD(ibv_get_cq_event, -1, channel, cq, cq_context);
	rc = roce_channel_get_event(channel, cq);
	if (rc) {
		errno = -rc;
		return -1;
	}
	*cq_context = (*cq)->cq_context;
	return 0;
}

ROCE_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	__typeof__(&ibv_ack_cq_events) next;

	if (!roce_device_from_context(cq->context)) {
		next = ROCE_NEXT(ibv_ack_cq_events);
		if (next)
			next(cq, nevents);
		return;
	}
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}

ROCE_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
					 struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq *cq;
	int rc;

	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_create_cq, NULL, context, cqe, cq_context, channel, comp_vector);
	rc = roce_cq_create(context, cqe, cq_context, channel, comp_vector, &cq);
	return rc ? null_with(rc) : cq;
}

ROCE_EXPORT int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	if (!roce_device_from_context(cq->context))
		ROCE_FORWARD(ibv_resize_cq, ENOSYS, cq, cqe);
	return -roce_cq_resize(cq, cqe);
}

ROCE_EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
	if (!roce_device_from_context(cq->context))
		ROCE_FORWARD(ibv_destroy_cq, ENOSYS, cq);
	return -roce_cq_destroy(cq);
}

/* --- queue pairs --------------------------------------------------------------------------- */

ROCE_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp;
	int rc;

	if (!roce_device_from_context(pd->context))
		ROCE_FORWARD(ibv_create_qp, NULL, pd, attr);
	rc = roce_qp_create(pd, attr, &qp);
	return rc ? null_with(rc) : qp;
}

ROCE_EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	if (!roce_qp_is_soft(qp))
		ROCE_FORWARD(ibv_modify_qp, ENOSYS, qp, attr, attr_mask);
	return -roce_qp_modify(qp, attr, attr_mask);
}

ROCE_EXPORT int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
			     struct ibv_qp_init_attr *init_attr)
{
	if (!roce_qp_is_soft(qp))
		ROCE_FORWARD(ibv_query_qp, ENOSYS, qp, attr, attr_mask, init_attr);
	return -roce_qp_query(qp, attr, attr_mask, init_attr);
}

ROCE_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	if (!roce_qp_is_soft(qp))
		ROCE_FORWARD(ibv_query_qp_data_in_order, 0, qp, op, flags);
	return 0; /* retransmission may write a byte again */
}

ROCE_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	if (!roce_qp_is_soft(qp))
		ROCE_FORWARD(ibv_qp_to_qp_ex, NULL, qp);
	return NULL; /* not created with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS */
}

ROCE_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	if (!roce_qp_is_soft(qp))
		ROCE_FORWARD(ibv_query_ece, ENOSYS, qp, ece);
	return EOPNOTSUPP;
}

ROCE_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	if (!roce_qp_is_soft(qp))
		ROCE_FORWARD(ibv_set_ece, ENOSYS, qp, ece);
	return EOPNOTSUPP;
}

ROCE_EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
	if (!roce_qp_is_soft(qp))
		ROCE_FORWARD(ibv_destroy_qp, ENOSYS, qp);
	return -roce_qp_destroy(qp);
}

/* --- what there is not --------------------------------------------------------------------- */

ROCE_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	if (!roce_device_from_context(pd->context))
		ROCE_FORWARD(ibv_create_srq, NULL, pd, attr);
	return null_with(-EOPNOTSUPP);
}

ROCE_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	if (!roce_device_from_context(pd->context))
		ROCE_FORWARD(ibv_create_ah, NULL, pd, attr);
	return null_with(-EOPNOTSUPP);
}

ROCE_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
						 struct ibv_grh *grh, uint8_t port_num)
{
	if (!roce_device_from_context(pd->context))
		ROCE_FORWARD(ibv_create_ah_from_wc, NULL, pd, wc, grh, port_num);
	return null_with(-EOPNOTSUPP);
}

ROCE_EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num,
				    struct ibv_wc *wc, struct ibv_grh *grh,
				    struct ibv_ah_attr *ah_attr)
{
	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_init_ah_from_wc, -1, context, port_num, wc, grh, ah_attr);
	errno = EOPNOTSUPP;
	return -1;
}

ROCE_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	if (!roce_qp_is_soft(qp))
		ROCE_FORWARD(ibv_attach_mcast, ENOSYS, qp, gid, lid);
	return EOPNOTSUPP;
}

ROCE_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	if (!roce_qp_is_soft(qp))
		ROCE_FORWARD(ibv_detach_mcast, ENOSYS, qp, gid, lid);
	return EOPNOTSUPP;
}

ROCE_EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_import_pd, NULL, context, pd_handle);
	return null_with(-EOPNOTSUPP);
}

ROCE_EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	if (!roce_device_from_context(pd->context))
		ROCE_FORWARD(ibv_import_mr, NULL, pd, mr_handle);
	return null_with(-EOPNOTSUPP);
}

ROCE_EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle)
{
	if (!roce_device_from_context(context))
		ROCE_FORWARD(ibv_import_dm, NULL, context, dm_handle);
	return null_with(-EOPNOTSUPP);
}
