/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Back-ends: NVMe controllers, and the queue pairs of theirs that the engine drives.
 *
 * The application creates a queue pair at the controller and gives its memory and doorbells to
 * doca_sta_be_add_queue(); from then on the engine alone uses it, until the destroy-queue task
 * has completed.
 *
 * Thread: the one that progresses the doca_sta's engine.
 */
#ifndef DOCA_STA_BE_H
#define DOCA_STA_BE_H

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_sta_handle.h>
#include <doca_sta_task.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sta;
struct doca_sta_eu_ctr_entry;

/**
 * doca_sta_be_create() - create a back-end
 * @sta: the object
 * @be_handle: where the handle is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or more than doca_sta_get_max_be()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_be_create(struct doca_sta *sta, struct doca_sta_be_handle **be_handle);

/**
 * doca_sta_be_destroy() - destroy a back-end
 * @be_handle: the back-end; the handle is invalid afterwards
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_IN_USE: it has a queue pair, or a namespace refers to it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_be_destroy(struct doca_sta_be_handle *be_handle);

/**
 * doca_sta_be_add_queue() - give the engine a queue pair of the back-end's controller
 * @be_handle: the back-end; the doca_sta RUNNING
 * @sq: submission queue: entries x 64 bytes, entries a power of two
 * @sq_db_reg: map with the submission tail doorbell
 * @sq_db_offset: where in it, in bytes
 * @cq: completion queue: the same number of entries x 16 bytes
 * @cq_db_reg: map with the completion head doorbell; may be the same map
 * @cq_db_offset: where in it, in bytes
 * @be_q_handle: where the handle is put
 *
 * The queue pair is fresh: indices 0, memory zeroed, nobody else uses it. The maps are on the
 * control device, started, local read and write; they stay started until the queue is
 * destroyed. A controller in this process attaches its companion first (doca_softsta.h).
 * When the doca_sta stops it lets go of all queues, and their handles are invalid.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, sizes that do not fit, a doorbell outside its
 *   map, or two of rings and doorbells overlap
 * - DOCA_ERROR_ALREADY_EXIST: another queue of the doca_sta has one of these rings or doorbells, or
 *   a part of one, and is not destroyed yet
 * - DOCA_ERROR_BAD_STATE: the doca_sta is not RUNNING, or a map is not started
 * - DOCA_ERROR_NOT_FOUND: a map lacks the control device
 * - DOCA_ERROR_NOT_PERMITTED: a map is not for local writing
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or more than doca_sta_get_max_qs_per_be()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_be_add_queue(struct doca_sta_be_handle *be_handle, struct doca_mmap *sq,
				   struct doca_mmap *sq_db_reg, uint16_t sq_db_offset,
				   struct doca_mmap *cq, struct doca_mmap *cq_db_reg,
				   uint16_t cq_db_offset,
				   struct doca_sta_be_q_handle **be_q_handle);

/**
 * doca_sta_be_task_destroy_queue_set_conf() - set the callbacks of tasks that destroy queue
 * pairs
 * @sta: the object, IDLE
 * @task_completion_cb: the engine has let go of the queue pair
 * @task_error_cb: it could not
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_be_task_destroy_queue_set_conf(
	struct doca_sta *sta, doca_sta_task_completion_cb_t task_completion_cb,
	doca_sta_task_completion_cb_t task_error_cb);

/**
 * doca_sta_be_destroy_queue_task_alloc_init() - make a task that takes a queue pair from the
 * engine
 * @be_q_handle: the queue; the handle is invalid once the task has completed
 * @user_data: passed to the callback
 * @task: where the task is put; owned by the caller until submitted
 *
 * New commands take another queue of the back-end; the task completes when those in flight on
 * this one have ended. Then the maps may be destroyed.
 *
 * Of several tasks for a queue one can be submitted, once; doca_task_submit() gives BAD_STATE for
 * the others, and for all when the queue is gone: such a task is good for nothing but to be freed.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not RUNNING, the callbacks were not set, or a task is taking the queue
 *   already
 * - DOCA_ERROR_NO_MEMORY: no task left
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_be_destroy_queue_task_alloc_init(struct doca_sta_be_q_handle *be_q_handle,
						       union doca_data user_data,
						       struct doca_sta_producer_task_send **task);

/**
 * doca_sta_get_be_queue_mapping_info() - which EU serves a queue pair
 * @be_q_handle: the queue
 * @entries: where the array is put; the library's, valid as long as the queue
 * @num_entries: where its length is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_be_queue_mapping_info(const struct doca_sta_be_q_handle *be_q_handle,
						const struct doca_sta_eu_ctr_entry **entries,
						uint16_t *num_entries);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_BE_H */
