/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STA IO context: one application thread's share of QPs and its non-offload path.
 */
#ifndef STA_IO_H
#define STA_IO_H

#include <doca_sta_event.h>
#include <doca_sta_io.h>
#include <doca_sta_io_non_offload.h>
#include <doca_sta_io_qp.h>

#include "core/ctx.h"
#include "sta/sta.h"

/*
 * Owner: the thread of its progress engine. Shared: inbox (EUs post).
 * Life: destroyed when IDLE and nobody is posting; IDLE is reached when no QP is left.
 */
struct doca_sta_io {
	struct doca_ctx ctx; /* first */
	struct doca_sta *sta;
	struct sta_inbox inbox;
	struct doca_sta_qp_handle *qps;
	uint32_t num_qps;
	uint16_t next_index;
	bool is_stopped; /* the QPs are gone, and core knows */

	struct sta_task_cbs disconnect_cbs, send_cbs, read_cbs;
	struct core_task_pool *disconnect_pool, *send_pool, *read_pool;
	doca_sta_io_non_offload_cb_t non_offload_cb;
	union doca_data non_offload_data;
	uint64_t num_offered; /* callbacks so far */
	doca_sta_event_transport_err_cb_t transport_err_cb;
	union doca_data transport_err_data;
};

/* Any thread: a message for the context's. */
void sta_io_post(struct doca_sta_io *io, struct sta_msg *msg);

/* qp.c; on the context's thread */
/* True when @qp is one of @io's that the application has not destroyed. */
bool sta_io_has_qp(const struct doca_sta_io *io, const struct doca_sta_qp_handle *qp);
void sta_qp_start_drain(struct doca_sta_qp_handle *qp);
/* A task is about the QP, which lives until the application has freed the task. */
void sta_qp_hold_task(struct doca_sta_qp_handle *qp, struct sta_task *task);
void sta_qp_release_task(struct doca_sta_qp_handle *qp);
/* Frees the QP if it was destroyed and nothing refers to it any more. */
void sta_qp_free_if_unused(struct doca_sta_qp_handle *qp);
/* Destroys what the application left, for the end of the context. */
void sta_qp_destroy_all(struct doca_sta_io *io);

/* nonoffload.c: delivers an open request to the application. */
void sta_io_on_deliver(void *io, struct sta_msg *msg);
/* A task of the non-offload path came back from the EU. */
void sta_io_on_task_done(void *io, struct sta_msg *msg);
/* event.c */
void sta_io_on_qp_error(void *io, struct sta_msg *msg);

#endif
