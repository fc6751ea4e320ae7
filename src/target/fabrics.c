/* SPDX-License-Identifier: Apache-2.0 */
/* Fabrics commands other than Connect (connect.c): Property Get and Set, Disconnect. */
#include "target/ctrlr.h"

/* Property Get and Set: ATTRIB in the low byte of dword 10, its size in bits 2:0. */
enum {
	PROPERTY_SIZE_MASK = 7,
	PROPERTY_4_BYTES = 0,
	PROPERTY_8_BYTES = 1,
};

static tgt_status_t property_get(struct tgt_req *req)
{
	const struct tgt_ctrlr *ctrlr = req->queue->ctrlr;
	uint32_t size = req->cmd.cdw10 & PROPERTY_SIZE_MASK;

	if (size == PROPERTY_8_BYTES && req->cmd.cdw11 == NVME_REG_CAP) {
		req->result = tgt_ctrlr_cap(ctrlr);
		return TGT_SUCCESS;
	}
	if (size != PROPERTY_4_BYTES)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	switch (req->cmd.cdw11) {
	case NVME_REG_VS:
		req->result = TGT_VS;
		return TGT_SUCCESS;
	case NVME_REG_CC:
		req->result = ctrlr->cc;
		return TGT_SUCCESS;
	case NVME_REG_CSTS:
		req->result = ctrlr->csts;
		return TGT_SUCCESS;
	default:
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	}
}

static tgt_status_t property_set(struct tgt_req *req)
{
	if ((req->cmd.cdw10 & PROPERTY_SIZE_MASK) != PROPERTY_4_BYTES ||
	    req->cmd.cdw11 != NVME_REG_CC)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	tgt_ctrlr_set_cc(req->queue->ctrlr, req->cmd.cdw12);
	return TGT_SUCCESS;
}

static tgt_status_t exec_admin(struct tgt_req *req)
{
	tgt_keepalive_seen(req->queue->ctrlr);
	switch (tgt_cmd_fctype(&req->cmd)) {
	case nvme_fabrics_type_property_get:
		return property_get(req);
	case nvme_fabrics_type_property_set:
		return property_set(req);
	case nvme_fabrics_type_disconnect:
		return TGT_SC_DNR(CMD_SPECIFIC, DISCONNECT_INVALID_QTYPE);
	default:
		return TGT_SC_DNR(GENERIC, INVALID_OPCODE);
	}
}

static tgt_status_t exec_io(struct tgt_req *req)
{
	if (tgt_cmd_fctype(&req->cmd) != nvme_fabrics_type_disconnect)
		return TGT_SC_DNR(GENERIC, INVALID_OPCODE);
	if (req->cmd.cdw10 & 0xffff) /* RECFMT */
		return TGT_SC_DNR(CMD_SPECIFIC, CONNECT_FORMAT);
	req->queue->close_after_response = true;
	return TGT_SUCCESS;
}

tgt_status_t tgt_fabrics_exec(struct tgt_req *req)
{
	bool is_connect = tgt_cmd_fctype(&req->cmd) == nvme_fabrics_type_connect;

	/* Connect comes first and once (NVMe Base 2.0, 6.3). */
	if (is_connect != !req->queue->ctrlr || req->queue->parked)
		return TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR);
	if (is_connect)
		return tgt_connect_exec(req);
	return req->queue->qid == 0 ? exec_admin(req) : exec_io(req);
}
