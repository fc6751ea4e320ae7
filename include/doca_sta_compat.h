/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Older names of the STA API, so that sources written for them compile. The headers that have the
 * present names include this one. There are no symbols of the older names in the library.
 *
 * | until | older name | present name |
 * |---|---|---|
 * | 2024 | doca_sta_as_doca_ctx(), doca_sta_io_as_doca_ctx() | doca_sta_as_ctx(), ... |
 * | 2.10 | doca_sta_event_back_end_timeout and what begins so | doca_sta_event_be_timeout, ... |
 * | 3.0 | doca_sta_nvmef_completion_t | doca_sta_nvme_completion_t |
 * | 3.0 | DOCA_STA_NVMEF_COMPLETION_SIZE | DOCA_STA_COMPLETION_SIZE |
 */
#ifndef DOCA_STA_COMPAT_H
#define DOCA_STA_COMPAT_H

#include <doca_sta_handle.h>

#ifdef __cplusplus
extern "C" {
#endif

#define doca_sta_as_doca_ctx	doca_sta_as_ctx
#define doca_sta_io_as_doca_ctx doca_sta_io_as_ctx

#define doca_sta_event_back_end_timeout		      doca_sta_event_be_timeout
#define doca_sta_event_back_end_timeout_cb_t	      doca_sta_event_be_timeout_cb_t
#define doca_sta_event_back_end_timeout_register_cb   doca_sta_event_be_timeout_register_cb
#define doca_sta_event_back_end_timeout_get_be_handle doca_sta_event_be_timeout_get_be_handle
#define doca_sta_event_back_end_timeout_get_be_queue_handle \
	doca_sta_event_be_timeout_get_be_queue_handle

/** Bytes in an NVMe completion entry. */
#define DOCA_STA_NVMEF_COMPLETION_SIZE DOCA_STA_COMPLETION_SIZE

/** An NVMe completion queue entry. */
typedef doca_sta_nvme_completion_t doca_sta_nvmef_completion_t;

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_COMPAT_H */
