/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Handles of the objects inside a doca_sta. All are opaque, owned by the library, and valid
 * from the call that gave them to the one that destroys the object.
 */
#ifndef DOCA_STA_HANDLE_H
#define DOCA_STA_HANDLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sta_qp_handle;
struct doca_sta_subs_handle;
struct doca_sta_ns_handle;
struct doca_sta_eu_handle;
struct doca_sta_be_handle;
struct doca_sta_be_q_handle;

/** Bytes in an NVMe completion entry. */
#define DOCA_STA_COMPLETION_SIZE 16

/** An NVMe completion queue entry, in the byte order of the wire. */
typedef uint8_t doca_sta_nvme_completion_t[DOCA_STA_COMPLETION_SIZE];

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_HANDLE_H */
