/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe status values on the command path, and what a host may see of a back-end's status; and what
 * the application is told of a verb that failed.
 *
 * sta_status_t is the 15-bit status field (SC 7:0, SCT 10:8, CRD, M, DNR 14), without phase.
 */
#ifndef STA_STATUS_H
#define STA_STATUS_H

#include <doca_error.h>
#include <stdint.h>
#include <nvme/types.h>

typedef uint16_t sta_status_t;

/* Status codes with Do Not Retry: the same command would fail again. */
#define STA_SC(code)	 ((sta_status_t)(NVME_SC_##code))
#define STA_SC_DNR(code) ((sta_status_t)(NVME_SC_##code | NVME_SC_DNR))

/*
 * The way to the disk is shut, for now: the host keeps the command and comes again, by another path
 * if it has one (NVMe Base 2.0, 3.3.3.2.1, path related status).
 */
#define STA_SC_NO_PATH ((sta_status_t)(NVME_SCT_PATH << 8 | NVME_SC_ANA_INTERNAL_PATH_ERROR))

/* What the host is told for the status word (with phase) of a back-end completion. */
sta_status_t sta_status_from_backend(uint16_t cqe_status);

/* What a call that the device or its connection manager refused means: NO_MEMORY, NOT_PERMITTED or
 * DRIVER. */
doca_error_t sta_error_from_device(int err);

#endif
