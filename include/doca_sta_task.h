/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The task type that all STA tasks share.
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

typedef void (*doca_sta_task_completion_cb_t)(struct doca_sta_producer_task_send *task,
					      union doca_data task_user_data);

DOCA_EXPERIMENTAL
struct doca_task *doca_sta_producer_send_task_as_task(struct doca_sta_producer_task_send *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_TASK_H */
