/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Get and Set Features (NVMe Base 2.0, 5.16 and 5.27). A feature that changes nothing here is still
 * stored and reported, since hosts read back what they set. Nothing is saved over a restart.
 */
#include "target/ctrlr.h"

#include <string.h>

enum {
	FID_MASK = 0xff,
	SAVE = 1U << 31, /* Set Features, dword 10 */
	SELECT_SHIFT = 8, /* Get Features, dword 10 */
	SELECT_MASK = 7,
	SELECT_CAPABILITIES = 3,
	CAP_CHANGEABLE = 1 << 2,
	HOSTID_EXTENDED = 1 << 0,
	POWER_STATE_MASK = 0x1f,
	TEMP_SENSOR_SHIFT = 16, /* TMPSEL, 4 bits */
	TEMP_UNDER = 1 << 20, /* THSEL 1 */
};

static bool for_discovery(uint8_t fid)
{
	return fid == NVME_FEAT_FID_KATO || fid == NVME_FEAT_FID_ASYNC_EVENT;
}

static uint32_t *stored(struct tgt_ctrlr *ctrlr, uint8_t fid)
{
	switch (fid) {
	case NVME_FEAT_FID_ARBITRATION:
		return &ctrlr->arbitration;
	case NVME_FEAT_FID_POWER_MGMT:
		return &ctrlr->power_state;
	case NVME_FEAT_FID_ERR_RECOVERY:
		return &ctrlr->error_recovery;
	case NVME_FEAT_FID_ASYNC_EVENT:
		return &ctrlr->event_config;
	default:
		return NULL;
	}
}

/* Threshold features name a sensor: only the composite one (0) exists, or all (15). */
static uint32_t *threshold(struct tgt_ctrlr *ctrlr, uint32_t cdw11)
{
	uint32_t sensor = cdw11 >> TEMP_SENSOR_SHIFT & 0xf;

	if (sensor != 0 && sensor != 0xf)
		return NULL;
	return cdw11 & TEMP_UNDER ? &ctrlr->temp_under : &ctrlr->temp_over;
}

/* Zero-based counts of I/O submission and completion queues, as many of one as of the other. */
static uint32_t queue_counts(const struct tgt_ctrlr *ctrlr)
{
	uint32_t n = ctrlr->tgt->limits.max_io_queues - 1U;

	return n << 16 | n;
}

static tgt_status_t get_hostid(struct tgt_req *req)
{
	const struct tgt_ctrlr *ctrlr = req->queue->ctrlr;
	tgt_status_t status = tgt_expect_data(req, sizeof(ctrlr->hostid));

	/* Fabrics know the 128-bit form only. */
	if (!(req->cmd.cdw11 & HOSTID_EXTENDED))
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	if (!status)
		memcpy(req->data, ctrlr->hostid, sizeof(ctrlr->hostid));
	return status;
}

static tgt_status_t get_write_protect(struct tgt_req *req)
{
	const struct tgt_ns *ns = tgt_ns_get(req->queue->ctrlr->subsys, req->cmd.nsid);

	if (!ns)
		return TGT_SC_DNR(GENERIC, INVALID_NS);
	req->result = ns->is_read_only;
	return TGT_SUCCESS;
}

static tgt_status_t get_current(struct tgt_req *req, uint8_t fid)
{
	struct tgt_ctrlr *ctrlr = req->queue->ctrlr;
	uint32_t *value = stored(ctrlr, fid);

	if (fid == NVME_FEAT_FID_TEMP_THRESH)
		value = threshold(ctrlr, req->cmd.cdw11);
	if (value) {
		req->result = *value;
		return TGT_SUCCESS;
	}
	switch (fid) {
	case NVME_FEAT_FID_KATO:
		req->result = ctrlr->kato_ms;
		return TGT_SUCCESS;
	case NVME_FEAT_FID_NUM_QUEUES:
		req->result = queue_counts(ctrlr);
		return TGT_SUCCESS;
	case NVME_FEAT_FID_VOLATILE_WC:
		req->result = ctrlr->subsys->write_cache;
		return TGT_SUCCESS;
	case NVME_FEAT_FID_HOST_ID:
		return get_hostid(req);
	case NVME_FEAT_FID_WRITE_PROTECT:
		return get_write_protect(req);
	default:
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	}
}

tgt_status_t tgt_get_features_exec(struct tgt_req *req)
{
	uint8_t fid = req->cmd.cdw10 & FID_MASK;
	uint32_t select = req->cmd.cdw10 >> SELECT_SHIFT & SELECT_MASK;
	tgt_status_t status;

	if (req->queue->ctrlr->subsys->is_discovery && !for_discovery(fid))
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	if (fid != NVME_FEAT_FID_HOST_ID) {
		status = tgt_expect_data(req, 0);
		if (status)
			return status;
	}
	if (select > SELECT_CAPABILITIES)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	status = get_current(req, fid);
	if (!status && select == SELECT_CAPABILITIES)
		req->result = stored(req->queue->ctrlr, fid) ? CAP_CHANGEABLE : 0;
	return status;
}

static tgt_status_t set_num_queues(struct tgt_req *req)
{
	const struct tgt_ctrlr *ctrlr = req->queue->ctrlr;
	uint32_t submission = req->cmd.cdw11 & 0xffff, completion = req->cmd.cdw11 >> 16;
	uint16_t qid;

	if (submission == 0xffff || completion == 0xffff)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	/* Not once I/O queues exist (NVMe Base 2.0, 5.27.1.5). */
	for (qid = 1; qid <= TGT_MAX_IO_QUEUES; qid++)
		if (ctrlr->queues[qid])
			return TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR);
	req->result = queue_counts(ctrlr);
	return TGT_SUCCESS;
}

/* The cache of a backend is what it is: a host may set what is there already. */
static tgt_status_t set_write_cache(struct tgt_req *req)
{
	if (!req->queue->ctrlr->subsys->write_cache)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	return req->cmd.cdw11 & 1 ? TGT_SUCCESS : TGT_SC_DNR(CMD_SPECIFIC, FEATURE_NOT_CHANGEABLE);
}

static tgt_status_t set_value(struct tgt_req *req, uint8_t fid)
{
	struct tgt_ctrlr *ctrlr = req->queue->ctrlr;
	uint32_t *value = stored(ctrlr, fid);

	if (fid == NVME_FEAT_FID_POWER_MGMT && (req->cmd.cdw11 & POWER_STATE_MASK))
		return TGT_SC_DNR(GENERIC, INVALID_FIELD); /* there is state 0 only */
	if (fid == NVME_FEAT_FID_TEMP_THRESH) {
		value = threshold(ctrlr, req->cmd.cdw11);
		if (value)
			*value = req->cmd.cdw11 & 0xffff;
		return value ? TGT_SUCCESS : TGT_SC_DNR(GENERIC, INVALID_FIELD);
	}
	if (!value)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	*value = req->cmd.cdw11;
	return TGT_SUCCESS;
}

tgt_status_t tgt_set_features_exec(struct tgt_req *req)
{
	uint8_t fid = req->cmd.cdw10 & FID_MASK;
	tgt_status_t status = tgt_expect_data(req, 0);

	if (req->queue->ctrlr->subsys->is_discovery && !for_discovery(fid))
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	if (req->cmd.cdw10 & SAVE)
		return TGT_SC_DNR(CMD_SPECIFIC, FEATURE_NOT_SAVEABLE);
	switch (fid) {
	case NVME_FEAT_FID_HOST_ID: /* fixed by Connect; comes with data, so before the check */
		return TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR);
	case NVME_FEAT_FID_WRITE_PROTECT:
		return TGT_SC_DNR(CMD_SPECIFIC, FEATURE_NOT_CHANGEABLE);
	}
	if (status)
		return status;
	switch (fid) {
	case NVME_FEAT_FID_KATO:
		tgt_keepalive_set(req->queue->ctrlr, req->cmd.cdw11);
		return TGT_SUCCESS;
	case NVME_FEAT_FID_NUM_QUEUES:
		return set_num_queues(req);
	case NVME_FEAT_FID_VOLATILE_WC:
		return set_write_cache(req);
	default:
		return set_value(req, fid);
	}
}
