/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to the application: what happened on an EU, told on the thread of a context. An event
 * object lives for the callback only. Time-outs, transport errors and errors of EUs ride on their
 * queue, QP or EU, once until told; completions come from a pool, and are counted when it is empty.
 */
#ifndef STA_EVENT_H
#define STA_EVENT_H

#include <stdatomic.h>

#include <doca_sta_event.h>

#include "sta/limits.h"
#include "sta/msg.h"
#include "sta/sqe.h"

struct doca_sta;
struct sta_eu;
struct sta_req;
struct doca_sta_subs_handle;

#define STA_MAX_PENDING_EVENTS 64u

struct doca_sta_event_transport_err {
	const struct doca_sta_qp_handle *qp;
	uint32_t operation; /* enum ibv_wc_opcode */
	uint32_t syndrome; /* enum ibv_wc_status */
	uint32_t vendor_syndrome;
};

struct doca_sta_event_be_timeout {
	const struct doca_sta_be_handle *be;
	const struct doca_sta_be_q_handle *beq;
};

struct doca_sta_event_eu_err {
	struct sta_msg msg;
	atomic_bool is_taken;
	bool is_fatal;
	const struct doca_sta_eu_handle *eu;
};

struct doca_sta_event_cqe_notify {
	struct sta_msg msg;
	atomic_bool is_taken;
	enum doca_sta_cqe_notify_type type;
	/* NULL when it was destroyed: control, which does that, clears it. */
	const struct doca_sta_subs_handle *_Atomic subsys;
	struct doca_sta_qp_handle *qp; /* a reference */
	struct sta_cqe cqe;
	uint8_t opcode;
	uint16_t cid, nsid, err_byte;
	uint64_t lba;
};

struct sta_event_cbs {
	doca_sta_event_be_timeout_cb_t be_timeout;
	union doca_data be_timeout_data;
	doca_sta_event_eu_err_cb_t eu_err;
	union doca_data eu_err_data;
	doca_sta_event_cqe_notify_cb_t cqe_notify;
	union doca_data cqe_notify_data;
};

/* Taken by any EU, given back by the context's thread. */
struct sta_event_pool {
	struct doca_sta_event_cqe_notify cqe[STA_MAX_PENDING_EVENTS];
	struct doca_sta_event_eu_err eu_err[STA_MAX_EUS]; /* each EU has its own */
};

/* Control: tells of a time-out of @beq. */
void sta_event_be_timeout(struct doca_sta *sta, struct doca_sta_be_q_handle *beq);
/* Control: @subsys is about to go, and no QP has it any more. */
void sta_event_forget_subsystem(struct doca_sta *sta, const struct doca_sta_subs_handle *subsys);
/* Control: forgets what was not told; the EUs have stopped. */
void sta_event_reset(struct doca_sta *sta);

/* Engine: tells that @eu has lost something and goes on without it. */
void sta_event_eu_error(struct sta_eu *eu);
/* Engine: tells of @req, with its status, if the application wants to know. */
void sta_event_cqe_notify(struct sta_eu *eu, const struct sta_req *req,
			  enum doca_sta_cqe_notify_type type);

#endif
