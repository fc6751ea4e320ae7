/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A status of the back-end that speaks about the host's command passes through unchanged; one that
 * speaks about the queue pair or the PRPs, which are ours and which the host never saw, becomes an
 * internal error that the host may retry.
 */
#include "sta/status.h"

#include <errno.h>
#include <stdbool.h>

static bool is_about_our_queue(unsigned int sct, unsigned int sc)
{
	if (sct != NVME_SCT_GENERIC)
		return false;
	switch (sc) {
	case NVME_SC_CMDID_CONFLICT:
	case NVME_SC_DATA_XFER_ERROR:
	case NVME_SC_ABORT_QUEUE:
	case NVME_SC_CMD_SEQ_ERROR:
	case NVME_SC_SGL_INVALID_LAST:
	case NVME_SC_SGL_INVALID_COUNT:
	case NVME_SC_SGL_INVALID_DATA:
	case NVME_SC_SGL_INVALID_METADATA:
	case NVME_SC_SGL_INVALID_TYPE:
	case NVME_SC_CMB_INVALID_USE:
	case NVME_SC_PRP_INVALID_OFFSET:
	case NVME_SC_SGL_INVALID_OFFSET:
	case NVME_SC_SGL_INVALID_GRANULARITY:
	case NVME_SC_CMD_IN_CMBQ_NOT_SUPP:
		return true;
	default:
		return false;
	}
}

sta_status_t sta_status_from_backend(uint16_t cqe_status)
{
	sta_status_t status = cqe_status >> 1;

	if (is_about_our_queue((status >> 8) & 0x7, status & 0xff))
		return STA_SC(INTERNAL);
	/* CRD selects one of the controller's retry delays and More points to its error log; the
	 * host knows another controller's. */
	return status & (sta_status_t) ~(NVME_SC_CRD | NVME_SC_MORE);
}

doca_error_t sta_error_from_device(int err)
{
	switch (err) {
	case ENOMEM:
		return DOCA_ERROR_NO_MEMORY;
	case EPERM:
	case EACCES:
		return DOCA_ERROR_NOT_PERMITTED;
	default:
		return DOCA_ERROR_DRIVER;
	}
}
