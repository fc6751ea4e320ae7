/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commands that the engine hands up to the application.
 *
 * Fabrics commands, commands of an opcode or a namespace that is not offloaded, and everything
 * on a queue that is not bound to a subsystem. Each arrives by the registered callback with a
 * token; the application ends it with exactly one send or write-send task for that token, also
 * when the connection is failing.
 *
 * An execution unit has a budget of 1024 such tasks that were submitted and that it has not taken
 * yet, those of all I/O contexts together. Beyond it doca_task_submit() gives DOCA_ERROR_AGAIN: the
 * task stays the application's, to submit again after doca_pe_progress(). The unit takes tasks
 * whatever the application does, so there is room soon.
 *
 * Thread: the one of the doca_sta_io.
 */
#ifndef DOCA_STA_IO_NON_OFFLOAD_H
#define DOCA_STA_IO_NON_OFFLOAD_H

#include <doca_error.h>
#include <doca_sta_compat.h>
#include <doca_sta_handle.h>
#include <doca_sta_task.h>
#include <doca_types.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sta_io;

/**
 * doca_sta_io_non_offload_cb_t() - a command that the engine does not execute
 * @qp_handle: where it came from
 * @user_data: given at doca_sta_io_non_offload_register_cb()
 * @nvme_cmd: the 64-byte submission queue entry
 * @payload: room for the command's data, NULL if it has none
 * @payload_len: bytes of data that the command says
 * @payload_valid: the host's data is in payload already; false for a command to the controller
 *   with a keyed SGL: a read task fetches it
 * @non_offload_user_data: token of this command, for its tasks
 *
 * Command and payload stay valid until the task that ends the token has completed.
 */
typedef void (*doca_sta_io_non_offload_cb_t)(struct doca_sta_qp_handle *qp_handle,
					     union doca_data user_data, const uint8_t *nvme_cmd,
					     uint8_t *payload, uint32_t payload_len,
					     bool payload_valid,
					     union doca_data non_offload_user_data);

/**
 * doca_sta_io_non_offload_register_cb() - set the callback for commands that the engine does
 * not execute
 * @sta_io: the I/O context, IDLE
 * @non_offload_cb: the callback
 * @user_data: passed to it
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_non_offload_register_cb(struct doca_sta_io *sta_io,
						 doca_sta_io_non_offload_cb_t non_offload_cb,
						 union doca_data user_data);

/**
 * doca_sta_io_task_non_offload_set_rdma_write_send_conf() - set the callbacks of the tasks that
 * end a command: write-send and send
 * @sta_io: the I/O context, IDLE
 * @task_completion_cb: the response has been sent
 * @task_error_cb: it could not be, since the connection has failed: the status of the task is
 *   DOCA_ERROR_IO_FAILED; the connection is to be brought down
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_task_non_offload_set_rdma_write_send_conf(
	struct doca_sta_io *sta_io, doca_sta_task_completion_cb_t task_completion_cb,
	doca_sta_task_completion_cb_t task_error_cb);

/**
 * doca_sta_io_task_non_offload_set_rdma_read_conf() - set the callbacks of read tasks
 * @sta_io: the I/O context, IDLE
 * @task_completion_cb: the host's data is in the payload
 * @task_error_cb: it could not be fetched, since the connection has failed: the status of the task
 *   is DOCA_ERROR_IO_FAILED; the connection is to be brought down
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_task_non_offload_set_rdma_read_conf(
	struct doca_sta_io *sta_io, doca_sta_task_completion_cb_t task_completion_cb,
	doca_sta_task_completion_cb_t task_error_cb);

/**
 * doca_sta_io_task_non_offload_rdma_write_send_alloc_init() - make a task that writes the
 * payload to the host, then sends the response
 * @sta_io: the I/O context
 * @user_data: passed to the callback
 * @qp_handle: the queue pair that the command came from
 * @completion: the 16-byte response, copied
 * @non_offload_user_data: the command's token, which this task ends
 * @task: where the task is put; owned by the caller until submitted
 *
 * doca_task_submit() gives BAD_STATE while another task for the token is in flight, BAD_STATE once
 * one has ended it (this or another: such a task is good for nothing but to be freed), and AGAIN at
 * the budget of the execution unit.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, a queue pair that is not of this I/O context, or
 *   a token that is none of its open ones
 * - DOCA_ERROR_BAD_STATE: not RUNNING, or the callbacks were not set
 * - DOCA_ERROR_NO_MEMORY: no task left
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_task_non_offload_rdma_write_send_alloc_init(
	struct doca_sta_io *sta_io, union doca_data user_data, struct doca_sta_qp_handle *qp_handle,
	doca_sta_nvmef_completion_t completion, union doca_data non_offload_user_data,
	struct doca_sta_producer_task_send **task);

/**
 * doca_sta_io_task_non_offload_rdma_send_alloc_init() - make a task that sends the response
 * alone
 * @sta_io: the I/O context
 * @user_data: passed to the callback
 * @qp_handle: the queue pair that the command came from
 * @completion: the 16-byte response, copied
 * @non_offload_user_data: the command's token, which this task ends
 * @task: where the task is put; owned by the caller until submitted
 *
 * doca_task_submit() gives BAD_STATE while another task for the token is in flight, BAD_STATE once
 * one has ended it (this or another: such a task is good for nothing but to be freed), and AGAIN at
 * the budget of the execution unit.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, a queue pair that is not of this I/O context, or
 *   a token that is none of its open ones
 * - DOCA_ERROR_BAD_STATE: not RUNNING, or the callbacks were not set
 * - DOCA_ERROR_NO_MEMORY: no task left
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_task_non_offload_rdma_send_alloc_init(
	struct doca_sta_io *sta_io, union doca_data user_data, struct doca_sta_qp_handle *qp_handle,
	doca_sta_nvmef_completion_t completion, union doca_data non_offload_user_data,
	struct doca_sta_producer_task_send **task);

/**
 * doca_sta_io_task_non_offload_rdma_read_alloc_init() - make a task that fetches the host's
 * data into the payload
 * @sta_io: the I/O context
 * @user_data: passed to the callback
 * @qp_handle: the queue pair that the command came from
 * @non_offload_user_data: the command's token, which stays open
 * @task: where the task is put; owned by the caller until submitted
 *
 * doca_task_submit() gives BAD_STATE while another task for the token is in flight, BAD_STATE once
 * one has ended it, and AGAIN at the budget of the execution unit. Until then a read task that has
 * completed may be submitted again.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, a queue pair that is not of this I/O context, or
 *   a token that is none of its open ones
 * - DOCA_ERROR_BAD_STATE: not RUNNING, or the callbacks were not set
 * - DOCA_ERROR_NO_MEMORY: no task left
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_task_non_offload_rdma_read_alloc_init(
	struct doca_sta_io *sta_io, union doca_data user_data, struct doca_sta_qp_handle *qp_handle,
	union doca_data non_offload_user_data, struct doca_sta_producer_task_send **task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_IO_NON_OFFLOAD_H */
