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

enum dpa_sta_eu_type {
	DOCA_STA_EU_TYPE_UNKNOWN = 0, /**< type not known */
	DOCA_STA_EU_COMP = 1, /**< completion-handler unit; owns connected network QPs */
	DOCA_STA_EU_TX = 2, /**< transmit-handler unit */
	DOCA_STA_EU_BEQ = 3, /**< back-end-queue handler unit */
	DOCA_STA_EU_MAX = 4, /**< stands for every type at once (selector), also the end marker */
};

enum dpa_sta_eu_state {
	DOCA_STA_EU_STATE_IDLE = 0, /**< execution unit not running */
	DOCA_STA_EU_STATE_STOPPING = 1, /**< execution unit going down */
	DOCA_STA_EU_STATE_STARTED = 2, /**< execution unit up */
	DOCA_STA_EU_STATE_SUSPENDED = 3, /**< execution unit paused */
	DOCA_STA_EU_STATE_STOPPED = 4, /**< execution unit halted */
};

struct doca_sta_eu_ctr_entry {
	const char *name;
	const uint64_t *val;
};

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_stats(struct doca_sta_eu_handle *eu_handle,
				   const struct doca_sta_eu_ctr_entry **entries,
				   uint16_t *num_entries);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_eu_reset_stats_handle(struct doca_sta_eu_handle *eu_handle);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_eu_reset_stats_type(struct doca_sta *sta, enum dpa_sta_eu_type eu_type);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_connect_qp_stats(struct doca_sta_eu_handle *eu_handle,
					      struct doca_sta_qp_handle **arr, uint16_t *arr_size);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_be_queue_stats(struct doca_sta_be_handle *be_handle,
					 struct doca_sta_be_q_handle *be_q_handle,
					 const struct doca_sta_eu_ctr_entry **entries,
					 uint16_t *num_entries);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_ns_stats(struct doca_sta_subs_handle *subs_handle,
				   struct doca_sta_ns_handle *ns_handle,
				   const struct doca_sta_eu_ctr_entry **entries,
				   uint16_t *num_entries);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_handle(const struct doca_sta *sta,
				    struct doca_sta_eu_handle **eu_handle_arr, uint32_t *arr_size);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_name(const struct doca_sta_eu_handle *eu_handle, const char **name);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_type(const struct doca_sta_eu_handle *eu_handle,
				  enum dpa_sta_eu_type *type);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_id(const struct doca_sta_eu_handle *eu_handle, uint16_t *eu_id);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_port(const struct doca_sta_eu_handle *eu_handle, uint16_t *port);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_eu_state(struct doca_sta_eu_handle *eu_handle,
				   enum dpa_sta_eu_state *state);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_STATS_H */
