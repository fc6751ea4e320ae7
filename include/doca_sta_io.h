/* SPDX-License-Identifier: Apache-2.0 */
/**
 * I/O contexts: one per application thread that owns connections.
 *
 * Created while the doca_sta is RUNNING; a context of its own (doca_sta_io_as_ctx()) on a
 * progress engine of its own. Connections: doca_sta_io_qp.h. Commands that the engine does not
 * execute: doca_sta_io_non_offload.h, whose callback is registered before the start (else that
 * gives DOCA_ERROR_INVALID_VALUE): a connection's first command comes that way.
 *
 * Thread: all calls for an I/O context and its queue pairs on the thread that progresses its
 * engine.
 */
#ifndef DOCA_STA_IO_H
#define DOCA_STA_IO_H

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_sta_compat.h>
#include <doca_sta_handle.h>
#include <doca_sta_task.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_pe;
struct doca_dev;
struct doca_sta;
struct doca_sta_io;

/**
 * doca_sta_io_create() - create an I/O context
 * @sta: the object, RUNNING
 * @sta_io: where the I/O context is put; IDLE, owned by the caller
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: the doca_sta is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or more than doca_sta_get_max_sta_io()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_create(struct doca_sta *sta, struct doca_sta_io **sta_io);

/**
 * doca_sta_io_destroy() - destroy an I/O context
 * @sta_io: the I/O context, IDLE
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_destroy(struct doca_sta_io *sta_io);

/**
 * doca_sta_io_as_ctx() - the I/O context as a context
 * @sta_io: the I/O context
 *
 * Return: the context, part of the object; NULL for NULL.
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sta_io_as_ctx(struct doca_sta_io *sta_io);

/**
 * doca_sta_io_task_disconnect_set_conf() - set the callbacks of tasks that disconnect
 * @sta_io: the I/O context, IDLE
 * @task_completion_cb: the connection is down
 * @task_error_cb: it could not be brought down in order
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_task_disconnect_set_conf(struct doca_sta_io *sta_io,
						  doca_sta_task_completion_cb_t task_completion_cb,
						  doca_sta_task_completion_cb_t task_error_cb);

/**
 * doca_sta_io_task_disconnect_alloc_init() - make a task that disconnects a queue pair
 * @sta_io: the I/O context that made it
 * @user_data: passed to the callback
 * @qp_handle: the queue pair
 * @task: where the task is put; owned by the caller until submitted
 *
 * After the callback, of either kind, the application ends what it has from the non-offload
 * callback and destroys the queue pair.
 *
 * doca_task_submit() never gives AGAIN for it: a connection can always be brought down.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a queue pair that is not of this I/O context
 * - DOCA_ERROR_BAD_STATE: not RUNNING, or the callbacks were not set
 * - DOCA_ERROR_NO_MEMORY: no task left
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_task_disconnect_alloc_init(struct doca_sta_io *sta_io,
						    union doca_data user_data,
						    struct doca_sta_qp_handle *qp_handle,
						    struct doca_sta_producer_task_send **task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_IO_H */
