/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: from the EU where something happened to the application's callback.
 */
#include "sta/event.h"

#include <string.h>

#include "sta/io.h"
#include "sta/sta.h"

doca_error_t doca_sta_io_event_transport_err_register_cb(struct doca_sta_io *io,
							 doca_sta_event_transport_err_cb_t event_cb,
							 union doca_data user_data)
{
	if (!io || !event_cb)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_idle(&io->ctx))
		return DOCA_ERROR_BAD_STATE;
	io->transport_err_cb = event_cb;
	io->transport_err_data = user_data;
	return DOCA_SUCCESS;
}

/* The three events of the STA context are registered alike. */
#define DEFINE_REGISTER(event)                                                                    \
	doca_error_t doca_sta_event_##event##_register_cb(struct doca_sta *sta,                   \
							  doca_sta_event_##event##_cb_t event_cb, \
							  union doca_data user_data)              \
	{                                                                                         \
		if (!sta || !event_cb)                                                            \
			return DOCA_ERROR_INVALID_VALUE;                                          \
		if (!core_ctx_is_idle(&sta->ctx))                                                 \
			return DOCA_ERROR_BAD_STATE;                                              \
		sta->event_cbs.event = event_cb;                                                  \
		sta->event_cbs.event##_data = user_data;                                          \
		return DOCA_SUCCESS;                                                              \
	}

DEFINE_REGISTER(be_timeout)
DEFINE_REGISTER(eu_err)
DEFINE_REGISTER(cqe_notify)

static enum ibv_wc_opcode operation_of(enum sta_wr_kind kind)
{
	switch (kind) {
	case STA_WR_RECV:
		return IBV_WC_RECV;
	case STA_WR_READ:
		return IBV_WC_RDMA_READ;
	case STA_WR_WRITE:
		return IBV_WC_RDMA_WRITE;
	case STA_WR_SEND:
		return IBV_WC_SEND;
	}
	__builtin_unreachable();
}

void sta_io_on_qp_error(void *owner, struct sta_msg *msg)
{
	struct doca_sta_qp_handle *qp =
		util_container_of(msg, struct doca_sta_qp_handle, error_msg);
	struct doca_sta_event_transport_err event = {
		.qp = qp,
		.operation = operation_of(qp->error_kind),
		.syndrome = qp->error_status,
		.vendor_syndrome = qp->error_vendor,
	};
	struct doca_sta_io *io = owner;

	if (io->transport_err_cb && !qp->is_destroyed)
		io->transport_err_cb(&event, io->transport_err_data);
}

void sta_event_be_timeout(struct doca_sta *sta, struct doca_sta_be_q_handle *beq)
{
	struct doca_sta_event_be_timeout event = {.be = beq->be, .beq = beq};

	/* From here on a next time-out is a new event. */
	atomic_store(&beq->is_timeout_posted, false);
	if (sta->event_cbs.be_timeout)
		sta->event_cbs.be_timeout(&event, sta->event_cbs.be_timeout_data);
}

static void tell_eu_error(void *owner, struct sta_msg *msg)
{
	struct doca_sta_event_eu_err *event =
		util_container_of(msg, struct doca_sta_event_eu_err, msg);
	struct doca_sta *sta = owner;

	sta->event_cbs.eu_err(event, sta->event_cbs.eu_err_data);
	atomic_store_explicit(&event->is_taken, false, memory_order_release);
}

void sta_event_eu_error(struct sta_eu *eu)
{
	struct doca_sta *sta = eu->sta;
	struct doca_sta_event_eu_err *event = &sta->events.eu_err[eu->idx];

	if (!sta->event_cbs.eu_err || atomic_exchange(&event->is_taken, true))
		return;
	/* The threads of a process fail together: what the rest does not survive, nobody tells. */
	event->is_fatal = false;
	event->eu = &sta->eus[eu->idx];
	event->msg.fn = tell_eu_error;
	sta_post(sta, &event->msg);
}

static void tell_cqe(void *owner, struct sta_msg *msg)
{
	struct doca_sta_event_cqe_notify *event =
		util_container_of(msg, struct doca_sta_event_cqe_notify, msg);
	struct doca_sta *sta = owner;

	sta->event_cbs.cqe_notify(event, sta->event_cbs.cqe_notify_data);
	sta_qp_put(event->qp);
	atomic_store_explicit(&event->is_taken, false, memory_order_release);
}

void sta_event_cqe_notify(struct sta_eu *eu, const struct sta_req *req,
			  enum doca_sta_cqe_notify_type type)
{
	struct doca_sta *sta = eu->sta;
	struct doca_sta_event_cqe_notify *event = NULL;

	if (!sta->event_cbs.cqe_notify)
		return;
	for (uint32_t i = 0; i < STA_MAX_PENDING_EVENTS && !event; i++) {
		if (!atomic_exchange(&sta->events.cqe[i].is_taken, true))
			event = &sta->events.cqe[i];
	}
	if (!event) {
		sta_count(&eu->stats.lost_events, 1);
		return;
	}
	event->type = type;
	atomic_store(&event->subsys, atomic_load(&req->qp->subsys));
	/* Its thread may destroy it before the event is told, on another. */
	sta_qp_get(req->qp);
	event->qp = req->qp;
	event->cqe = (struct sta_cqe){
		.dw0 = htole32(req->result.dw0),
		.dw1 = htole32(req->result.dw1),
		.sqid = htole16(req->qp->qid),
		.cid = req->sqe.cid,
		.status = htole16((uint16_t)(req->result.status << 1)),
	};
	event->opcode = req->sqe.opcode;
	event->cid = le16toh(req->sqe.cid);
	event->nsid = (uint16_t)le32toh(req->sqe.nsid);
	event->lba = (uint64_t)le32toh(req->sqe.cdw11) << 32 | le32toh(req->sqe.cdw10);
	event->err_byte = req->cap.err_byte;
	event->msg.fn = tell_cqe;
	sta_post(sta, &event->msg);
}

void sta_event_forget_subsystem(struct doca_sta *sta, const struct doca_sta_subs_handle *subsys)
{
	for (uint32_t i = 0; i < STA_MAX_PENDING_EVENTS; i++) {
		const struct doca_sta_subs_handle *mine = subsys;

		/* An EU may be filling in this one, with another. */
		atomic_compare_exchange_strong(&sta->events.cqe[i].subsys, &mine, NULL);
	}
}

void sta_event_reset(struct doca_sta *sta)
{
	sta->inbox.todo = NULL;
	(void)sta_mbox_take(&sta->inbox.box);
	for (uint32_t i = 0; i < STA_MAX_PENDING_EVENTS; i++) {
		if (atomic_exchange(&sta->events.cqe[i].is_taken, false))
			sta_qp_put(sta->events.cqe[i].qp);
	}
	for (uint32_t i = 0; i < STA_MAX_EUS; i++)
		atomic_store(&sta->events.eu_err[i].is_taken, false);
}

/* Getters: INVALID_VALUE for NULL, else the field. */
#define DEFINE_GET(event, name, type, field)                                                     \
	doca_error_t doca_sta_event_##event##_get_##name(const struct doca_sta_event_##event *e, \
							 type *ret)                              \
	{                                                                                        \
		if (!e || !ret)                                                                  \
			return DOCA_ERROR_INVALID_VALUE;                                         \
		*ret = e->field;                                                                 \
		return DOCA_SUCCESS;                                                             \
	}

DEFINE_GET(transport_err, qp_handle, const struct doca_sta_qp_handle *, qp)
DEFINE_GET(transport_err, operation, uint32_t, operation)
DEFINE_GET(transport_err, syndrome, uint32_t, syndrome)
DEFINE_GET(transport_err, vendor_syndrome, uint32_t, vendor_syndrome)
DEFINE_GET(be_timeout, be_handle, const struct doca_sta_be_handle *, be)
DEFINE_GET(be_timeout, be_queue_handle, const struct doca_sta_be_q_handle *, beq)
DEFINE_GET(eu_err, eu_handle, const struct doca_sta_eu_handle *, eu)
DEFINE_GET(cqe_notify, cqe_notify_type, enum doca_sta_cqe_notify_type, type)
DEFINE_GET(cqe_notify, qp_handle, const struct doca_sta_qp_handle *, qp)
DEFINE_GET(cqe_notify, param_err_location, uint16_t, err_byte)

doca_error_t doca_sta_event_eu_err_is_fatal_error(const struct doca_sta_event_eu_err *event,
						  bool *is_fatal_error)
{
	if (!event || !is_fatal_error)
		return DOCA_ERROR_INVALID_VALUE;
	*is_fatal_error = event->is_fatal;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_event_cqe_notify_get_subsystem_handle(
	const struct doca_sta_event_cqe_notify *event,
	const struct doca_sta_subs_handle **subs_handle)
{
	const struct doca_sta_subs_handle *subsys;

	if (!event || !subs_handle)
		return DOCA_ERROR_INVALID_VALUE;
	subsys = atomic_load(&event->subsys);
	if (!subsys)
		return DOCA_ERROR_NOT_FOUND;
	*subs_handle = subsys;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_event_cqe_notify_get_cqe(const struct doca_sta_event_cqe_notify *event,
					       doca_sta_nvme_completion_t cqe)
{
	if (!event || !cqe)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(cqe, &event->cqe, sizeof(event->cqe));
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_event_cqe_notify_get_capsule_params(
	const struct doca_sta_event_cqe_notify *event, uint8_t *opcode, uint16_t *cid,
	uint16_t *nsid, uint64_t *lba)
{
	if (!event || !opcode || !cid || !nsid || !lba)
		return DOCA_ERROR_INVALID_VALUE;
	*opcode = event->opcode;
	*cid = event->cid;
	*nsid = event->nsid;
	*lba = event->lba;
	return DOCA_SUCCESS;
}
