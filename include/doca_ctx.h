/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Contexts: what every DOCA library object that does work has in common.
 *
 * A context is configured while IDLE, connected to one progress engine, started, used, stopped
 * and destroyed. States:
 * IDLE -> start -> [STARTING ->] RUNNING -> stop -> [STOPPING ->] IDLE
 * The states in brackets are passed inside doca_pe_progress(), which has to be called until
 * they are left.
 *
 * Thread: all calls for a context, and doca_pe_progress() of its engine, on one thread at a
 * time.
 */
#ifndef DOCA_CTX_H
#define DOCA_CTX_H

#include <doca_error.h>
#include <doca_types.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_devinfo;
struct doca_gpu;
struct doca_dpa;

/** States of a context; the picture is at the top of this file. */
enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0, /**< configurable, no resources held */
	DOCA_CTX_STATE_STARTING = 1, /**< start requested, waiting for progress */
	DOCA_CTX_STATE_RUNNING = 2, /**< tasks and events usable */
	DOCA_CTX_STATE_STOPPING = 3, /**< stop requested, in-flight work draining */
};

/**
 * doca_ctx_state_changed_callback_t() - a context has changed its state
 * @user_data: given to doca_ctx_set_user_data()
 * @ctx: the context, in next_state already
 * @prev_state: the state before
 * @next_state: the state now
 *
 * Runs inside doca_pe_progress(), or inside doca_ctx_start() and doca_ctx_stop() for the states
 * that these reach before they return. When IDLE was reached inside doca_pe_progress() the
 * context may be destroyed in it.
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data,
						  struct doca_ctx *ctx,
						  enum doca_ctx_states prev_state,
						  enum doca_ctx_states next_state);

/**
 * doca_ctx_start() - start a context
 * @ctx: the context, IDLE, connected to a progress engine
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_IN_PROGRESS: now STARTING; RUNNING is reached inside doca_pe_progress()
 * - DOCA_ERROR_INVALID_VALUE: NULL, or the configuration lacks something, such as a device
 * - DOCA_ERROR_BAD_STATE: not IDLE
 * - DOCA_ERROR_NOT_CONNECTED: no progress engine
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it
 * - DOCA_ERROR_INITIALIZATION: a resource could not be made
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 */
DOCA_STABLE
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * doca_ctx_stop() - stop a context
 * @ctx: the context, STARTING or RUNNING
 *
 * What is in flight is flushed: its tasks come back by their error callbacks. IDLE is reached
 * when all tasks are freed.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_IN_PROGRESS: now STOPPING, or was before; IDLE is reached inside
 *   doca_pe_progress()
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_BAD_STATE: IDLE already
 * - DOCA_ERROR_IN_USE: something that has to end first, such as an I/O context of a doca_sta,
 *   is left; nothing changed
 */
DOCA_STABLE
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/**
 * doca_ctx_get_num_inflight_tasks() - how many tasks are submitted and not completed
 * @ctx: the context
 * @num_inflight_tasks: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
					     size_t *num_inflight_tasks);

/**
 * doca_ctx_set_datapath_on_gpu() - let a GPU drive the context
 * @ctx: the context, IDLE
 * @gpu_dev: the GPU
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: always besides; contexts run on threads of the host
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

/**
 * doca_ctx_set_user_data() - set the application's word on a context
 * @ctx: the context, in any state
 * @user_data: passed to its callbacks
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

/**
 * doca_ctx_get_user_data() - get the application's word on a context
 * @ctx: the context
 * @user_data: where it is put; zero if it was never set
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

/**
 * doca_ctx_set_state_changed_cb() - set the callback for changes of state
 * @ctx: the context, in any state
 * @cb: the callback; replaces the one before
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
					   doca_ctx_state_changed_callback_t cb);

/**
 * doca_ctx_get_state() - the state of a context
 * @ctx: the context
 * @state: where the state is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/**
 * doca_ctx_flush_tasks() - start what was submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH
 * @ctx: the context; nothing happens for NULL or while IDLE
 */
DOCA_EXPERIMENTAL
void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/**
 * doca_ctx_set_datapath_on_dpa() - let a DPA drive the context
 * @ctx: the context, IDLE
 * @dpa_dev: the DPA
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: always besides; contexts run on threads of the host
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev);

/**
 * doca_ctx_set_completion_vector() - choose the device's completion vector for a context
 * @ctx: the context, IDLE
 * @comp_vector: from 0 to one less than doca_ctx_cap_get_num_completion_vectors(); not looked at
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_BAD_STATE: not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: always besides; no context here has one completion queue that a
 *   vector could be chosen for
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector);

/**
 * doca_ctx_cap_get_num_completion_vectors() - how many completion vectors a device has
 * @devinfo: the device
 * @num_comp_vectors: where the number is put, as verbs has it
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_DRIVER: the device cannot be asked
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo,
						     uint32_t *num_comp_vectors);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CTX_H */
