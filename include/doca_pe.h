/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Progress engine and tasks: the heartbeat of an application thread.
 *
 * A progress engine (PE) serves the contexts that are connected to it: completions, events and
 * state changes reach the application by callbacks that run inside doca_pe_progress(), and only
 * there.
 *
 * A thread that does not want to poll sleeps on the engine's notification handle, a file
 * descriptor that is readable while something is pending:
 *  doca_pe_request_notification(pe); poll(handle); doca_pe_clear_notification(pe, handle);
 * while (doca_pe_progress(pe)); and again.
 * Whatever was pending already when the engine was armed makes the handle readable at once.
 *
 * Thread: an engine and everything connected to it belong to one thread at a time.
 */
#ifndef DOCA_PE_H
#define DOCA_PE_H

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;
struct doca_task_batch;
struct doca_devinfo;

enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0, /**< up to 16 tasks in a batch */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1, /**< up to 32 tasks in a batch */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2, /**< up to 64 tasks in a batch */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3, /**< up to 128 tasks in a batch */
};

enum doca_event_batch_events_number {
	DOCA_EVENT_BATCH_EVENTS_NUMBER_1 = 0, /**< 1 events per batch */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_2 = 1, /**< 2 events per batch */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_4 = 2, /**< 4 events per batch; in 2.7 the value was 0 */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_8 = 3, /**< 8 events per batch; in 2.7 the value was 1 */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_16 = 4, /**< 16 events per batch; in 2.7 the value was 2 */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_32 = 5, /**< 32 events per batch; in 2.7 the value was 3 */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_64 = 6, /**< 64 events per batch; in 2.7 the value was 4 */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_128 = 7, /**< 128 events per batch; in 2.7 the value was 5 */
};

enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0, /**< queue only; device may be told later */
	DOCA_TASK_SUBMIT_FLAG_FLUSH = 1, /**< tell device now about this and earlier queued tasks */
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS =
		2, /**< completion report may be delayed and merged with a later one */
};

enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE =
		0, /**< default; armed engine visits only contexts with pending events */
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1, /**< progress always visits every connected context */
};

typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data,
					  union doca_data ctx_user_data);

DOCA_STABLE
doca_error_t doca_pe_create(struct doca_pe **pe);

DOCA_STABLE
doca_error_t doca_pe_destroy(struct doca_pe *pe);

DOCA_STABLE
uint8_t doca_pe_progress(struct doca_pe *pe);

DOCA_STABLE
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
					     doca_notification_handle_t *handle);

#ifdef _WIN32
DOCA_STABLE
doca_error_t doca_pe_set_notification_handle(struct doca_pe *pe, doca_notification_handle_t handle,
					     union doca_data completion_key);
#endif

DOCA_STABLE
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

DOCA_STABLE
doca_error_t doca_pe_request_notification(struct doca_pe *pe);

DOCA_STABLE
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks);

DOCA_STABLE
doca_error_t doca_task_submit(struct doca_task *task);

DOCA_EXPERIMENTAL
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);

DOCA_STABLE
doca_error_t doca_task_try_submit(struct doca_task *task);

DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);

DOCA_STABLE
void doca_task_free(struct doca_task *task);

DOCA_EXPERIMENTAL
void doca_task_batch_free(struct doca_task_batch *task_batch);

DOCA_STABLE
doca_error_t doca_task_get_status(const struct doca_task *task);

DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);

DOCA_STABLE
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

DOCA_EXPERIMENTAL
void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data);

DOCA_STABLE
union doca_data doca_task_get_user_data(const struct doca_task *task);

DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);

DOCA_STABLE
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

DOCA_EXPERIMENTAL
struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch);

DOCA_STABLE
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PE_H */
