/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous events: requests that wait for something to tell, and what waits to be told. An
 * event that was told is masked until its log page is read with RAE 0, so a host that has not
 * looked yet is not told twice; what happens meanwhile is kept (NVMe Base 2.0, 5.2).
 */
#include "target/ctrlr.h"

/* Event of each type: what the completion says, and the bit of feature 0Bh that enables it. */
static const struct {
	uint8_t type, info, log_page;
	uint32_t config_bit;
} events[TGT_EVENT_COUNT] = {
	[TGT_EVENT_NS_CHANGED] = {NVME_AER_NOTICE, NVME_AER_NOTICE_NS_CHANGED,
				  NVME_LOG_LID_CHANGED_NS, NVME_CTRL_OAES_NA},
	[TGT_EVENT_DISCOVERY_CHANGED] = {NVME_AER_NOTICE, NVME_AER_NOTICE_DISC_CHANGED,
					 NVME_LOG_LID_DISCOVER, NVME_CTRL_OAES_DL},
};

static void tell(struct tgt_ctrlr *ctrlr, enum tgt_event event)
{
	struct tgt_req *req = ctrlr->aer[--ctrlr->n_aer];

	ctrlr->event_pending[event] = false;
	ctrlr->event_masked[event] = true;
	req->result = (uint32_t)events[event].type | (uint32_t)events[event].info << 8 |
		      (uint32_t)events[event].log_page << 16;
	tgt_complete(req, TGT_SUCCESS);
}

/* Match what is pending with who waits. */
static void pump(struct tgt_ctrlr *ctrlr)
{
	int event;

	for (event = 0; event < TGT_EVENT_COUNT && ctrlr->n_aer; event++)
		if (ctrlr->event_pending[event] && !ctrlr->event_masked[event])
			tell(ctrlr, event);
}

tgt_status_t tgt_aer_submit(struct tgt_ctrlr *ctrlr, struct tgt_req *req)
{
	tgt_status_t status = tgt_expect_data(req, 0);

	if (status)
		return status;
	if (ctrlr->n_aer >= TGT_MAX_AER)
		return TGT_SC_DNR(CMD_SPECIFIC, ASYNC_LIMIT);
	ctrlr->aer[ctrlr->n_aer++] = req;
	pump(ctrlr);
	return TGT_PENDING;
}

void tgt_aer_drop(struct tgt_ctrlr *ctrlr)
{
	while (ctrlr->n_aer) {
		tgt_abandon(ctrlr->aer[--ctrlr->n_aer]);
	}
}

void tgt_aer_raise(struct tgt_ctrlr *ctrlr, enum tgt_event event)
{
	if (!(ctrlr->event_config & events[event].config_bit))
		return;
	ctrlr->event_pending[event] = true;
	pump(ctrlr);
}

void tgt_aer_ns_changed(struct tgt_ctrlr *ctrlr, uint32_t nsid)
{
	size_t i;

	for (i = 0; i < ctrlr->n_changed_ns && i < TGT_MAX_CHANGED_NS; i++)
		if (ctrlr->changed_ns[i] == nsid)
			break;
	if (i == ctrlr->n_changed_ns && i < TGT_MAX_CHANGED_NS)
		ctrlr->changed_ns[ctrlr->n_changed_ns++] = nsid;
	else if (i == TGT_MAX_CHANGED_NS)
		ctrlr->n_changed_ns = TGT_MAX_CHANGED_NS + 1;
	tgt_aer_raise(ctrlr, TGT_EVENT_NS_CHANGED);
}

void tgt_aer_log_read(struct tgt_ctrlr *ctrlr, enum tgt_event event)
{
	ctrlr->event_masked[event] = false;
	pump(ctrlr);
}
