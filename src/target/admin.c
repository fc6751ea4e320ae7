/* SPDX-License-Identifier: Apache-2.0 */
/* Admin commands: which there are for which kind of controller, and the small ones. */
#include "target/ctrlr.h"

/* Event requests may be aborted: they hold no other resource and the host wants its id back. */
static bool abort_event_request(struct tgt_ctrlr *ctrlr, uint16_t cid)
{
	size_t i;

	for (i = 0; i < ctrlr->n_aer; i++) {
		struct tgt_req *req = ctrlr->aer[i];

		if (req->cmd.cid != cid)
			continue;
		ctrlr->aer[i] = ctrlr->aer[--ctrlr->n_aer];
		tgt_complete(req, TGT_SC(GENERIC, ABORT_REQ));
		return true;
	}
	return false;
}

static tgt_status_t exec_abort(struct tgt_req *req)
{
	uint16_t sqid = (uint16_t)req->cmd.cdw10, cid = (uint16_t)(req->cmd.cdw10 >> 16);
	tgt_status_t status = tgt_expect_data(req, 0);

	if (status)
		return status;
	/*
	 * Other admin commands have been answered already. I/O commands are offloaded, and DOCA STA
	 * has nothing that takes one back: they end by themselves, which the back-end's time-out
	 * bounds. So "not aborted" (bit 0) is the truth for those, and for a command or a queue
	 * that is not there. It is a success all the same: an Abort is best effort and does not
	 * fail for what it did not find (NVMe Base 2.0, 5.1).
	 */
	req->result = !(sqid == 0 && abort_event_request(req->queue->ctrlr, cid));
	return TGT_SUCCESS;
}

tgt_status_t tgt_admin_exec(struct tgt_req *req)
{
	struct tgt_ctrlr *ctrlr = req->queue->ctrlr;

	tgt_keepalive_seen(ctrlr);
	if (!tgt_ctrlr_is_ready(ctrlr))
		return TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR);
	/* All but Abort serve discovery controllers too; the handlers know which of their kind. */
	switch (req->cmd.opcode) {
	case nvme_admin_abort_cmd:
		if (ctrlr->subsys->is_discovery)
			return TGT_SC_DNR(GENERIC, INVALID_OPCODE);
		return exec_abort(req);
	case nvme_admin_get_log_page:
		return tgt_log_exec(req);
	case nvme_admin_identify:
		return tgt_identify_exec(req);
	case nvme_admin_set_features:
		return tgt_set_features_exec(req);
	case nvme_admin_get_features:
		return tgt_get_features_exec(req);
	case nvme_admin_async_event:
		return tgt_aer_submit(ctrlr, req);
	case nvme_admin_keep_alive:
		return tgt_expect_data(req, 0);
	default:
		return TGT_SC_DNR(GENERIC, INVALID_OPCODE);
	}
}
