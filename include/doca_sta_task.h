/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The task type that all STA tasks share.
 *
 * doca_task_submit() gives DOCA_ERROR_AGAIN for tasks of the non-offload path only, when an
 * execution unit has too many that it has not taken yet (doca_sta_io_non_offload.h). Tasks that
 * disconnect or remove something always find room.
 */
#ifndef DOCA_STA_TASK_H
#define DOCA_STA_TASK_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_task;
struct doca_sta;
struct doca_sta_producer_task_send;

/**
 * doca_sta_task_completion_cb_t() - a task has ended
 * @task: the task, the application's again: to free, to keep or, where its kind allows, to submit
 *   again; one that can do nothing more gives DOCA_ERROR_BAD_STATE
 * @task_user_data: given when it was allocated, or set since
 *
 * Runs inside doca_pe_progress(). doca_task_get_status() tells how the task ended.
 */
typedef void (*doca_sta_task_completion_cb_t)(struct doca_sta_producer_task_send *task,
					      union doca_data task_user_data);

/**
 * doca_sta_producer_send_task_as_task() - an STA task as a task
 * @task: the task
 *
 * Return: the same object as a task, for doca_task_submit() and the others; NULL for NULL.
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_sta_producer_send_task_as_task(struct doca_sta_producer_task_send *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_TASK_H */
