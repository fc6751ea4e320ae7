/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NVMe subsystems and their namespaces.
 *
 * May be created before the doca_sta is RUNNING; hosts reach it when it is. Discovery subsystems
 * are the application's own business and not created here.
 *
 * Thread: the one that progresses the doca_sta's engine.
 */
#ifndef DOCA_STA_SUBSYSTEM_H
#define DOCA_STA_SUBSYSTEM_H

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_sta_handle.h>
#include <doca_sta_task.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sta;
struct doca_dev;

/**
 * doca_sta_subsystem_create() - create a subsystem
 * @sta: the object
 * @nqn: NVMe qualified name, copied
 * @subs_handle: where the handle is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a name that is empty or longer than 223 bytes
 * - DOCA_ERROR_ALREADY_EXIST: there is one of this name
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or more than doca_sta_get_max_subsys()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_subsystem_create(struct doca_sta *sta, const char *nqn,
				       struct doca_sta_subs_handle **subs_handle);

/**
 * doca_sta_subsystem_add_dev() - make a subsystem reachable over a device
 * @subs_handle: the subsystem
 * @dev: one that was added to the doca_sta
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a device that is not the doca_sta's
 * - DOCA_ERROR_ALREADY_EXIST: was added before
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_subsystem_add_dev(struct doca_sta_subs_handle *subs_handle,
					const struct doca_dev *dev);

/**
 * doca_sta_subsystem_task_rm_ns_set_conf() - set the callbacks of tasks that remove namespaces
 * @sta: the object, IDLE
 * @task_completion_cb: the namespace is gone
 * @task_error_cb: it could not be removed
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_subsystem_task_rm_ns_set_conf(
	struct doca_sta *sta, doca_sta_task_completion_cb_t task_completion_cb,
	doca_sta_task_completion_cb_t task_error_cb);

/**
 * doca_sta_subsystem_destroy() - destroy a subsystem
 * @subs_handle: the subsystem; the handle is invalid afterwards
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_IN_USE: it has a namespace, or a queue pair is bound to it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_subsystem_destroy(struct doca_sta_subs_handle *subs_handle);

/**
 * doca_sta_subsystem_add_ns() - add a namespace
 * @subs_handle: the subsystem
 * @fe_ns_id: namespace identifier that hosts see, from 1
 * @ns_block_size: logical block size in bytes, the same on both sides
 * @be_ns_id: namespace identifier at the back-end's controller
 * @be_handle: the back-end; may serve several namespaces
 * @ns_handle: where the handle is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, an identifier out of range, or a back-end of
 *   another doca_sta
 * - DOCA_ERROR_NOT_SUPPORTED: doca_sta_is_logical_block_size_supported() says no
 * - DOCA_ERROR_ALREADY_EXIST: the subsystem has a namespace of this identifier
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_subsystem_add_ns(struct doca_sta_subs_handle *subs_handle, uint32_t fe_ns_id,
				       uint32_t ns_block_size, uint32_t be_ns_id,
				       struct doca_sta_be_handle *be_handle,
				       struct doca_sta_ns_handle **ns_handle);

/**
 * doca_sta_subsystem_rm_ns() - remove a namespace and wait for its commands
 * @subs_handle: the subsystem
 * @ns_handle: the namespace; the handle is invalid afterwards
 *
 * Commands in flight end first, so the call may block as long as the back-end takes. A program
 * that serves others on the same thread uses the task.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a namespace of another subsystem
 * - DOCA_ERROR_BAD_STATE: a task is removing it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_subsystem_rm_ns(struct doca_sta_subs_handle *subs_handle,
				      struct doca_sta_ns_handle *ns_handle);

/**
 * doca_sta_subsystem_task_rm_ns_alloc_init() - make a task that removes a namespace
 * @subs_handle: the subsystem
 * @ns_handle: the namespace; the handle is invalid once the task has completed
 * @user_data: passed to the callback
 * @task: where the task is put; owned by the caller until submitted
 *
 * Hosts get Invalid Namespace or Format from the submission on; the task completes when the
 * last command in flight has ended.
 *
 * Of several tasks for a namespace one can be submitted, once; doca_task_submit() gives BAD_STATE
 * for the others, and for all when the namespace is gone, by doca_sta_subsystem_rm_ns() as well:
 * such a task is good for nothing but to be freed.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a namespace of another subsystem
 * - DOCA_ERROR_BAD_STATE: not RUNNING, the callbacks were not set, or the namespace is being
 *   removed already
 * - DOCA_ERROR_NO_MEMORY: no task left
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_subsystem_task_rm_ns_alloc_init(struct doca_sta_subs_handle *subs_handle,
						      struct doca_sta_ns_handle *ns_handle,
						      union doca_data user_data,
						      struct doca_sta_producer_task_send **task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_SUBSYSTEM_H */
