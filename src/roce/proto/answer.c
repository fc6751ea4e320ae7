/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responder, sending side: READ responses in PSN order, then the one ACK or NAK that waits (IBTA
 * 9.7.5.1). Owns the queue of READ requests.
 */
#include "roce/proto/rc_priv.h"

#include <string.h>

void roce_answer_set(struct roce_rc *rc, uint8_t syndrome, roce_psn psn)
{
	struct roce_responder *resp = &rc->resp;

	if (resp->answer_pending && roce_psn_diff(psn, resp->answer_psn) < 0)
		return;
	resp->answer_pending = true;
	resp->answer_syndrome = syndrome;
	resp->answer_psn = psn;
}

void roce_answer_refuse(struct roce_rc *rc, enum roce_nak code, roce_psn psn)
{
	static const enum ibv_wc_status reason[ROCE_NAK_KINDS] = {
		[ROCE_NAK_INVALID_REQUEST] = IBV_WC_REM_INV_REQ_ERR,
		[ROCE_NAK_REMOTE_ACCESS] = IBV_WC_REM_ACCESS_ERR,
		[ROCE_NAK_REMOTE_OPERATION] = IBV_WC_REM_OP_ERR,
	};

	rc->counters.tx_nak[code]++;
	roce_answer_set(rc, ROCE_AETH_NAK | code, psn);
	roce_rc_break(rc, reason[code]);
}

/* --- the queue of READ requests ------------------------------------------------------------ */

static roce_psn read_end(const struct roce_read_req *read)
{
	return roce_psn_add(read->psn, read->pkts_left);
}

static void remove_read(struct roce_responder *resp, uint32_t at)
{
	resp->num_dup_reads -= resp->reads[at].is_dup;
	resp->num_reads--;
	memmove(&resp->reads[at], &resp->reads[at + 1],
		(resp->num_reads - at) * sizeof(resp->reads[0]));
}

/* Room for a READ request before those that begin later; NULL: there is none. */
static struct roce_read_req *insert_read(struct roce_responder *resp, roce_psn psn, bool is_dup)
{
	uint32_t at = resp->num_reads;

	if (is_dup && resp->num_dup_reads == ROCE_RC_DUP_READS)
		return NULL;
	while (at && roce_psn_diff(psn, resp->reads[at - 1].start) < 0)
		at--;
	memmove(&resp->reads[at + 1], &resp->reads[at],
		(resp->num_reads - at) * sizeof(resp->reads[0]));
	resp->num_reads++;
	resp->num_dup_reads += is_dup;
	resp->reads[at].is_dup = is_dup;
	return &resp->reads[at];
}

/* The queued request of whose answer psn is a part. */
static struct roce_read_req *find_read(struct roce_responder *resp, roce_psn psn)
{
	for (uint32_t i = 0; i < resp->num_reads; i++) {
		struct roce_read_req *read = &resp->reads[i];

		if (roce_psn_diff(psn, read->start) >= 0 && roce_psn_diff(psn, read_end(read)) < 0)
			return read;
	}
	return NULL;
}

bool roce_answer_read(struct roce_rc *rc, const struct roce_pkt *pkt, uint8_t *ptr, bool is_dup)
{
	struct roce_responder *resp = &rc->resp;
	struct roce_read_req *read = is_dup ? find_read(resp, pkt->psn) : NULL;

	if (!read)
		read = insert_read(resp, pkt->psn, is_dup);
	if (!read)
		return false;
	is_dup = read->is_dup;
	*read = (struct roce_read_req){
		.start = pkt->psn,
		.psn = pkt->psn,
		.pkts_left = roce_rc_num_pkts(rc, pkt->dma_len),
		.va = pkt->va,
		.bytes_left = pkt->dma_len,
		.rkey = pkt->rkey,
		.ptr = ptr,
		.mr_epoch = *rc->cfg.mr_epoch,
		.is_first = true,
		.is_dup = is_dup,
	};
	return true;
}

/* --- output -------------------------------------------------------------------------------- */

/* A region may have gone since the request came. */
static bool remap_read(struct roce_rc *rc, struct roce_read_req *read)
{
	if (read->mr_epoch == *rc->cfg.mr_epoch || !read->bytes_left)
		return true;
	read->mr_epoch = *rc->cfg.mr_epoch;
	read->ptr = rc->cfg.ops->map(rc->cfg.owner, read->rkey, read->va, read->bytes_left,
				     IBV_ACCESS_REMOTE_READ);
	return read->ptr != NULL;
}

static uint8_t response_opcode(const struct roce_read_req *read)
{
	if (read->pkts_left == 1)
		return read->is_first ? ROCE_RC_READ_RESP_ONLY : ROCE_RC_READ_RESP_LAST;
	return read->is_first ? ROCE_RC_READ_RESP_FIRST : ROCE_RC_READ_RESP_MIDDLE;
}

static void emit_response(struct roce_rc *rc, struct roce_read_req *read, struct roce_tx *tx)
{
	struct roce_responder *resp = &rc->resp;
	uint32_t len = read->bytes_left < rc->mtu ? read->bytes_left : rc->mtu;
	struct roce_pkt hdr = roce_rc_pkt(rc, response_opcode(read), read->psn, len);
	struct roce_tx_pkt *pkt;

	hdr.syndrome = ROCE_AETH_ACK | ROCE_AETH_NO_CREDIT_LIMIT;
	hdr.msn = resp->msn;
	pkt = roce_tx_begin(tx, &hdr);
	if (len) {
		roce_tx_add(tx, pkt, read->ptr, len);
		read->ptr += len;
	}
	roce_tx_end(tx, pkt);
	read->va += len;
	read->bytes_left -= len;
	read->psn = roce_psn_add(read->psn, 1);
	read->pkts_left--;
	read->is_first = false;
}

/*
 * The region of the first READ is gone. A peer that has asked twice may have its answer, and have
 * said that it is done with the region (SEND with invalidate) since: a duplicate is dropped, as it
 * is when it comes that late.
 */
static void refuse_read(struct roce_rc *rc)
{
	struct roce_responder *resp = &rc->resp;
	roce_psn psn = resp->reads[0].psn;

	if (resp->reads[0].is_dup) {
		rc->counters.dup_reads_dropped++;
		remove_read(resp, 0);
		return;
	}
	resp->num_reads = 0;
	resp->num_dup_reads = 0;
	resp->answer_pending = false; /* nothing after this READ is answered any more */
	roce_answer_refuse(rc, ROCE_NAK_REMOTE_ACCESS, psn);
}

static void emit_read(struct roce_rc *rc, struct roce_tx *tx)
{
	struct roce_responder *resp = &rc->resp;
	struct roce_read_req *read = &resp->reads[0];

	if (!remap_read(rc, read)) {
		refuse_read(rc);
		return;
	}
	/* A response acknowledges what comes before it. */
	if (resp->answer_pending && !(resp->answer_syndrome & ROCE_AETH_KIND_MASK) &&
	    roce_psn_diff(read->psn, resp->answer_psn) > 0)
		resp->answer_pending = false;
	emit_response(rc, read, tx);
	if (!read->pkts_left)
		remove_read(resp, 0);
}

static void emit_answer(struct roce_rc *rc, struct roce_tx *tx)
{
	struct roce_responder *resp = &rc->resp;
	struct roce_pkt hdr = roce_rc_pkt(rc, ROCE_RC_ACK, resp->answer_psn, 0);

	hdr.syndrome = resp->answer_syndrome;
	hdr.msn = resp->msn;
	roce_tx_end(tx, roce_tx_begin(tx, &hdr));
	rc->counters.tx_acks += !(hdr.syndrome & ROCE_AETH_KIND_MASK);
	resp->answer_pending = false;
}

uint32_t roce_answer_output(struct roce_rc *rc, struct roce_tx *tx, uint32_t turn)
{
	struct roce_responder *resp = &rc->resp;
	uint32_t before = tx->num_pkts;

	while (tx->num_pkts - before < turn && roce_answer_has_output(rc) &&
	       roce_tx_has_room(tx, 1)) {
		if (resp->num_reads)
			emit_read(rc, tx);
		else
			emit_answer(rc, tx);
	}
	return tx->num_pkts - before;
}
