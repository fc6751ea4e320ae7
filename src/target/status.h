/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe status on the command path: the 15-bit field as libnvme counts it (status code, type << 8,
 * DNR at bit 14), never an errno. On the wire it stands one bit higher, above the phase tag.
 */
#ifndef TGT_STATUS_H
#define TGT_STATUS_H

#include <stdint.h>

#include <nvme/types.h>

typedef uint16_t tgt_status_t;

/* A status of the given type ("do not retry": the same command would fail again). */
#define TGT_SC(type, code)     ((tgt_status_t)(NVME_SCT_##type << NVME_SCT_SHIFT | NVME_SC_##code))
#define TGT_SC_DNR(type, code) ((tgt_status_t)(TGT_SC(type, code) | NVME_SC_DNR))

#define TGT_SUCCESS ((tgt_status_t)0)
/* Not a status: the handler keeps the request and completes it later. */
#define TGT_PENDING ((tgt_status_t)0xffff)

#endif
