/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of what a target refuses with: NVMe status, NVMe/RDMA reject status, IB CM reject reason.
 */
#include <stddef.h>

#include <nvme/util.h>

#include "wire.h"

/* NVMe-oF RDMA transport binding, status of an RDMA_CM_REJECT. */
static const char *const rdma_status[] = {
	[INI_RDMA_OK] = "no status",
	[INI_RDMA_INVALID_LENGTH] = "invalid private data length",
	[INI_RDMA_INVALID_RECFMT] = "invalid record format",
	[INI_RDMA_INVALID_QID] = "invalid queue id",
	[INI_RDMA_INVALID_HSQSIZE] = "invalid host send queue size",
	[INI_RDMA_INVALID_HRQSIZE] = "invalid host receive queue size",
	[INI_RDMA_NO_RESOURCES] = "no resources",
	[INI_RDMA_INVALID_IRD] = "invalid inbound read depth",
	[INI_RDMA_INVALID_ORD] = "invalid outbound read depth",
	[INI_RDMA_INVALID_CNTLID] = "invalid controller id",
};

/* IBTA volume 1, clause 12.6.7.2, table of REJ reasons. */
static const char *const cm_reason[] = {
	[1] = "no QP available",
	[2] = "no EEC available",
	[3] = "no resources available",
	[4] = "time-out",
	[5] = "unsupported request",
	[6] = "invalid communication id",
	[7] = "invalid communication instance",
	[8] = "invalid service id (nobody listens there)",
	[9] = "invalid transport service type",
	[10] = "stale connection",
	[11] = "RDC does not exist",
	[12] = "primary remote port GID rejected",
	[13] = "primary remote port LID rejected",
	[14] = "invalid primary SL",
	[15] = "invalid primary traffic class",
	[16] = "invalid primary hop limit",
	[17] = "invalid primary packet rate",
	[18] = "alternate remote port GID rejected",
	[19] = "alternate remote port LID rejected",
	[20] = "invalid alternate SL",
	[21] = "invalid alternate traffic class",
	[22] = "invalid alternate hop limit",
	[23] = "invalid alternate packet rate",
	[24] = "port and CM redirection",
	[25] = "port redirection",
	[26] = "invalid path MTU",
	[27] = "insufficient responder resources",
	[28] = "refused by the target",
	[29] = "RNR retry count rejected",
	[30] = "duplicate local communication id",
	[31] = "invalid class version",
	[32] = "invalid flow label",
	[33] = "invalid alternate flow label",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *ini_nvme_status_str(uint16_t status, bool fabrics)
{
	const char *name = nvme_status_to_string(status & 0x7ff, fabrics);

	return name ? name : "unknown status";
}

const char *ini_rdma_status_str(uint16_t status)
{
	return status < COUNT(rdma_status) ? rdma_status[status] : "unknown status";
}

const char *ini_cm_reason_str(int reason)
{
	if (reason < 0 || (size_t)reason >= COUNT(cm_reason) || !cm_reason[reason])
		return "unknown reason";
	return cm_reason[reason];
}
