/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Statistics of execution units (EUs), back-end queues and namespaces.
 *
 * Only while the doca_sta is RUNNING. Arrays of counters belong to the library: names and value
 * pointers stay valid until the object they belong to is destroyed; values change under the
 * reader and are read one by one.
 *
 * Thread: the one of the doca_sta.
 */
#ifndef DOCA_STA_STATS_H
#define DOCA_STA_STATS_H

#include <doca_error.h>
#include <doca_sta_handle.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sta;

/** What an EU does. */
enum dpa_sta_eu_type {
	DOCA_STA_EU_TYPE_UNKNOWN = 0, /**< type not known */
	DOCA_STA_EU_COMP = 1, /**< completion-handler unit; owns connected network QPs */
	DOCA_STA_EU_TX = 2, /**< transmit-handler unit */
	DOCA_STA_EU_BEQ = 3, /**< back-end-queue handler unit */
	DOCA_STA_EU_MAX = 4, /**< stands for every type at once (selector), also the end marker */
};

/** What an EU is doing. */
enum dpa_sta_eu_state {
	DOCA_STA_EU_STATE_IDLE = 0, /**< execution unit not running */
	DOCA_STA_EU_STATE_STOPPING = 1, /**< execution unit going down */
	DOCA_STA_EU_STATE_STARTED = 2, /**< execution unit up */
	DOCA_STA_EU_STATE_SUSPENDED = 3, /**< execution unit paused */
	DOCA_STA_EU_STATE_STOPPED = 4, /**< execution unit halted */
};

/** A counter: its name and where its value is. */
struct doca_sta_eu_ctr_entry {
	const char *name;
	const uint64_t *val;
};

/**
 * doca_sta_get_eu_stats() - counters of an EU
 * @eu_handle: the EU
 * @entries: where the array is put; the library's
 * @num_entries: where its length is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_stats(struct doca_sta_eu_handle *eu_handle,
				   const struct doca_sta_eu_ctr_entry **entries,
				   uint16_t *num_entries);

/**
 * doca_sta_eu_reset_stats_handle() - set the counters of an EU to zero
 * @eu_handle: the EU
 *
 * The EU does it when it comes to it, shortly after the call.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_eu_reset_stats_handle(struct doca_sta_eu_handle *eu_handle);

/**
 * doca_sta_eu_reset_stats_type() - set the counters of all EUs of a type to zero
 * @sta: the object, RUNNING
 * @eu_type: the type; DOCA_STA_EU_MAX for all
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, or not a type
 * - DOCA_ERROR_BAD_STATE: not RUNNING
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_eu_reset_stats_type(struct doca_sta *sta, enum dpa_sta_eu_type eu_type);

/**
 * doca_sta_get_eu_connect_qp_stats() - the queue pairs that an EU serves
 * @eu_handle: the EU
 * @arr: filled with handles; NULL to be told the number only
 * @arr_size: room in the array; replaced by the number of queue pairs
 *
 * The queue pairs are other threads', which may destroy them meanwhile. The handles are good for
 * their id, port, group and index (doca_sta_io_qp.h) all the same, until the next call that fills
 * an array for this EU, or until the doca_sta stops. Anything else is for the thread of the I/O
 * context alone. When the room is not enough, the last list stays.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not room enough
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_connect_qp_stats(struct doca_sta_eu_handle *eu_handle,
					      struct doca_sta_qp_handle **arr, uint16_t *arr_size);

/**
 * doca_sta_get_be_queue_stats() - counters of a back-end queue
 * @be_handle: the back-end
 * @be_q_handle: a queue of it
 * @entries: where the array is put; the library's
 * @num_entries: where its length is put
 *
 * Of the commands that the controller was given, "completions" came back, and "taken_back" were
 * taken back without its answer: it was said to be stopped (doca_softsta.h), or the queue was
 * destroyed and all that was left had timed out. What remains is in flight.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a queue of another back-end
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_be_queue_stats(struct doca_sta_be_handle *be_handle,
					 struct doca_sta_be_q_handle *be_q_handle,
					 const struct doca_sta_eu_ctr_entry **entries,
					 uint16_t *num_entries);

/**
 * doca_sta_get_ns_stats() - counters of a namespace
 * @subs_handle: the subsystem
 * @ns_handle: a namespace of it
 * @entries: where the array is put; the library's
 * @num_entries: where its length is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a namespace of another subsystem
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_ns_stats(struct doca_sta_subs_handle *subs_handle,
				   struct doca_sta_ns_handle *ns_handle,
				   const struct doca_sta_eu_ctr_entry **entries,
				   uint16_t *num_entries);

/**
 * doca_sta_get_eu_handle() - the EUs
 * @sta: the object, RUNNING
 * @eu_handle_arr: filled with handles
 * @arr_size: room in the array, doca_sta_get_max_num_eus_available() is enough; replaced by the
 *   number of EUs
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not room enough
 * - DOCA_ERROR_BAD_STATE: not RUNNING
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_handle(const struct doca_sta *sta,
				    struct doca_sta_eu_handle **eu_handle_arr, uint32_t *arr_size);

/**
 * doca_sta_get_eu_name() - name of an EU
 * @eu_handle: the EU
 * @name: where the name is put; the library's
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_name(const struct doca_sta_eu_handle *eu_handle, const char **name);

/**
 * doca_sta_get_eu_type() - type of an EU
 * @eu_handle: the EU
 * @type: where the type is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_type(const struct doca_sta_eu_handle *eu_handle,
				  enum dpa_sta_eu_type *type);

/**
 * doca_sta_get_eu_id() - number of an EU
 * @eu_handle: the EU
 * @eu_id: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_id(const struct doca_sta_eu_handle *eu_handle, uint16_t *eu_id);

/**
 * doca_sta_get_eu_port() - device port of an EU
 * @eu_handle: the EU
 * @port: where the port number is put; an EU that serves every port has 0
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_port(const struct doca_sta_eu_handle *eu_handle, uint16_t *port);

/**
 * doca_sta_get_eu_state() - state of an EU
 * @eu_handle: the EU
 * @state: where the state is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_state(struct doca_sta_eu_handle *eu_handle,
				   enum dpa_sta_eu_state *state);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_STATS_H */
