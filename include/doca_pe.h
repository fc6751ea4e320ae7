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
 * A batch of tasks is submitted, completed and freed as one, and counts as many tasks as it has. No
 * task of STA comes in batches; the functions are here for libraries that have such tasks.
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

/** Room in a batch of tasks. */
enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0, /**< up to 16 tasks in a batch */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1, /**< up to 32 tasks in a batch */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2, /**< up to 64 tasks in a batch */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3, /**< up to 128 tasks in a batch */
};

/** Events that one report covers. */
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

/** How a task is submitted; may be combined. */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0, /**< queue only; device may be told later */
	DOCA_TASK_SUBMIT_FLAG_FLUSH = 1, /**< tell device now about this and earlier queued tasks */
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS =
		2, /**< completion report may be delayed and merged with a later one */
};

/** Which contexts an armed engine visits. */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE =
		0, /**< default; armed engine visits only contexts with pending events */
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1, /**< progress always visits every connected context */
};

/**
 * doca_task_completion_cb_t() - a task has ended
 * @task: the task, the application's again
 * @task_user_data: given when it was allocated, or set since
 * @ctx_user_data: given to doca_ctx_set_user_data()
 */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data,
					  union doca_data ctx_user_data);

/**
 * doca_pe_create() - create a progress engine
 * @pe: where the engine is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NO_MEMORY: memory or file descriptors are used up
 */
DOCA_STABLE
doca_error_t doca_pe_create(struct doca_pe **pe);

/**
 * doca_pe_destroy() - destroy a progress engine
 * @pe: the engine; destroy its contexts first
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_IN_USE: a context is connected, or called from a callback
 */
DOCA_STABLE
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * doca_pe_progress() - do the next piece of work
 * @pe: the engine
 *
 * Visits the contexts in turn until one had something to do, and runs the callbacks of that.
 * Not to be called from a callback.
 *
 * Return: 1 if something was done, 0 if not (also for NULL, or inside a callback).
 */
DOCA_STABLE
uint8_t doca_pe_progress(struct doca_pe *pe);

/**
 * doca_pe_get_notification_handle() - the file descriptor to wait on
 * @pe: the engine
 * @handle: where the descriptor is put; the engine's, the same for its whole life, fit for poll
 *   and epoll
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
					     doca_notification_handle_t *handle);

#ifdef _WIN32
/**
 * doca_pe_set_notification_handle() - attach the engine to a completion port
 * @pe: the engine
 * @handle: the port
 * @completion_key: the application's key
 */
DOCA_STABLE
doca_error_t doca_pe_set_notification_handle(struct doca_pe *pe, doca_notification_handle_t handle,
					     union doca_data completion_key);
#endif

/**
 * doca_pe_clear_notification() - take note that the descriptor was readable
 * @pe: the engine
 * @handle: from doca_pe_get_notification_handle(); not looked at, since an engine has only one
 *
 * The descriptor is not readable afterwards, and the engine not armed. Call doca_pe_progress()
 * until it returns 0, then arm again.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_OPERATING_SYSTEM: the descriptor could not be read
 */
DOCA_STABLE
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/**
 * doca_pe_request_notification() - arm the engine
 * @pe: the engine
 *
 * The next event, or one that is pending already, makes the descriptor readable, once. In
 * between doca_pe_progress() visits what the event mode says.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_OPERATING_SYSTEM: the descriptor could not be read
 */
DOCA_STABLE
doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/**
 * doca_pe_get_num_inflight_tasks() - how many tasks of all its contexts are submitted and not
 * completed
 * @pe: the engine
 * @num_inflight_tasks: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks);

/**
 * doca_task_submit() - submit a task and start it
 * @task: the task; not NULL, its values not checked
 *
 * On success the task is the library's until its callback runs; otherwise it stays the
 * caller's.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_AGAIN: no room at this moment; submit again
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, the task is in flight already, or it cannot
 * be submitted now
 */
DOCA_STABLE
doca_error_t doca_task_submit(struct doca_task *task);

/**
 * doca_task_submit_ex() - submit a task with flags
 * @task: the task; not NULL, its values not checked
 * @flags: of enum doca_task_submit_flag
 *
 * Without DOCA_TASK_SUBMIT_FLAG_FLUSH it may not start before doca_ctx_flush_tasks() or a task
 * with the flag. The last of a run must not have DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_AGAIN: no room at this moment; submit again
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, the task is in flight already, or it cannot
 * be submitted now
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/**
 * doca_task_batch_submit() - submit a batch of tasks
 * @task_batch: the batch; not NULL, its values not checked
 *
 * All of it, or nothing: on success it is the library's until its callback runs, otherwise it stays
 * the caller's.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_AGAIN: no room at this moment; submit again
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the batch is in flight already
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);

/**
 * doca_task_try_submit() - check a task, then submit it
 * @task: the task
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, in flight, or a value of the task is not valid
 * - DOCA_ERROR_AGAIN: no room at this moment; submit again
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the task cannot be submitted now
 */
DOCA_STABLE
doca_error_t doca_task_try_submit(struct doca_task *task);

/**
 * doca_task_batch_try_submit() - check a batch of tasks, then submit it
 * @task_batch: the batch
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, in flight, or a value of a task is not valid
 * - DOCA_ERROR_AGAIN: no room at this moment; submit again
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);

/**
 * doca_task_free() - give a task back to its context
 * @task: the task; nothing happens for NULL or while it is in flight
 */
DOCA_STABLE
void doca_task_free(struct doca_task *task);

/**
 * doca_task_batch_free() - give a batch back to its context
 * @task_batch: the batch; nothing happens for NULL or while it is in flight
 */
DOCA_EXPERIMENTAL
void doca_task_batch_free(struct doca_task_batch *task_batch);

/**
 * doca_task_get_status() - how a task ended
 * @task: a task that has completed; DOCA_SUCCESS before
 *
 * Return: DOCA_SUCCESS, or what its kind may end with, such as
 * - DOCA_ERROR_IO_FAILED: it was not carried out, or not to its end
 */
DOCA_STABLE
doca_error_t doca_task_get_status(const struct doca_task *task);

/**
 * doca_task_batch_get_status() - how a batch ended
 * @task_batch: a batch that has completed; DOCA_SUCCESS before
 *
 * Return: DOCA_SUCCESS when all tasks of it were good, or what the first that was not ended with,
 * such as
 * - DOCA_ERROR_IO_FAILED: it was not carried out, or not to its end
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);

/**
 * doca_task_set_user_data() - set the application's word on a task
 * @task: the task, not in flight
 * @user_data: passed to its callback
 */
DOCA_STABLE
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

/**
 * doca_task_batch_set_user_data() - set the application's word on a batch
 * @task_batch: the batch, not in flight
 * @user_data: passed to its callback
 */
DOCA_EXPERIMENTAL
void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data);

/**
 * doca_task_get_user_data() - get the application's word on a task
 * @task: the task
 *
 * Return: the word.
 */
DOCA_STABLE
union doca_data doca_task_get_user_data(const struct doca_task *task);

/**
 * doca_task_batch_get_user_data() - get the application's word on a batch
 * @task_batch: the batch
 *
 * Return: the word.
 */
DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);

/**
 * doca_task_get_ctx() - the context of a task
 * @task: the task
 *
 * Return: the context.
 */
DOCA_STABLE
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

/**
 * doca_task_batch_get_ctx() - the context of a batch
 * @task_batch: the batch
 *
 * Return: the context.
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);

/**
 * doca_task_batch_get_ctx_user_data() - the application's word on the context of a batch
 * @task_batch: the batch
 *
 * Return: the word.
 */
DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);

/**
 * doca_task_batch_get_tasks_num() - how many tasks a batch has
 * @task_batch: the batch
 *
 * Return: the number.
 */
DOCA_EXPERIMENTAL
uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch);

/**
 * doca_pe_connect_ctx() - connect a context to the engine that is to serve it
 * @pe: the engine
 * @ctx: the context, IDLE; connected until it is destroyed
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 * - DOCA_ERROR_NOT_PERMITTED: connected already
 */
DOCA_STABLE
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/**
 * doca_pe_set_event_mode() - choose which contexts an armed engine visits
 * @pe: the engine; not from a callback
 * @event_mode: selective (the default): those with an event; or all of them
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, or not a mode
 */
DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PE_H */
