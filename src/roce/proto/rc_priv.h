/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the RC engine know of each other:
 *
 *	rc.c         states, posting, flushing; sends input to the right role, lets output take
 *turns requester.c  request packets out of the send ring completer.c  ACKs, NAKs and READ responses
 *in; requests completed retrans.c    when to send again, and how much may be in flight responder.c
 *request packets in, memory written, receive requests completed answer.c     ACKs, NAKs and READ
 *responses out tx.c, rq.c   packet batch, receive ring
 */
#ifndef ROCE_PROTO_RC_PRIV_H
#define ROCE_PROTO_RC_PRIV_H

#include "roce/proto/rc.h"

/* --- tx.c: a packet is begun with its header, gets payload, is ended with pad and ICRC ---------
 */

/* False: the batch has no room for a packet with that many pieces of payload. */
bool roce_tx_has_room(const struct roce_tx *tx, uint32_t pieces);
struct roce_tx_pkt *roce_tx_begin(struct roce_tx *tx, const struct roce_pkt *hdr);
void roce_tx_add(struct roce_tx *tx, struct roce_tx_pkt *pkt, const void *data, uint32_t len);
void roce_tx_end(struct roce_tx *tx, struct roce_tx_pkt *pkt);

/* What every packet of an endpoint has in common. */
static inline struct roce_pkt roce_rc_pkt(const struct roce_rc *rc, uint8_t opcode, roce_psn psn,
					  uint32_t payload_len)
{
	return (struct roce_pkt){
		.opcode = opcode,
		.pad = -payload_len & 3,
		.mig_req = true, /* IBTA 9.2.4; hardware drops packets without it */
		.pkey = rc->pkey,
		.dest_qpn = rc->dest_qpn,
		.psn = psn,
		.payload_len = payload_len,
	};
}

/* How many packets a message of that many bytes takes: at least one. */
static inline uint32_t roce_rc_num_pkts(const struct roce_rc *rc, uint32_t bytes)
{
	return bytes ? (bytes - 1) / rc->mtu + 1 : 1;
}

/* --- rq.c ---------------------------------------------------------------------------------- */

/* Smallest power of two that holds max_wr. */
static inline uint32_t roce_ring_size(uint32_t max_wr)
{
	return max_wr > 1 ? 1u << (32 - __builtin_clz(max_wr - 1)) : 1;
}

bool roce_rq_pop(struct roce_rq *rq, struct roce_rwqe *wqe, struct ibv_sge *sges);

/* --- rc.c ---------------------------------------------------------------------------------- */

/* To ERR because of reason, all flushed; a NAK that waits and READ responses before it still leave.
 */
void roce_rc_break(struct roce_rc *rc, enum ibv_wc_status reason);

/* Maps an SGE list in place; false when one of them is refused. */
bool roce_rc_map_sges(struct roce_rc *rc, struct ibv_sge *sges, uint32_t num_sge, int access);

/* Gives the oldest send request back, if it is signalled or has failed. */
void roce_rc_send_done(struct roce_rc *rc, enum ibv_wc_status status);

/* --- requester.c --------------------------------------------------------------------------- */

bool roce_requester_has_output(const struct roce_rc *rc);
uint32_t roce_requester_output(struct roce_rc *rc, struct roce_tx *tx, uint32_t turn,
			       uint64_t now_ns);

/* Sends again from una on. */
void roce_requester_rewind(struct roce_rc *rc);

/* The oldest send request fails: it is completed with status and the endpoint breaks. */
void roce_requester_fail(struct roce_rc *rc, enum ibv_wc_status status);

static inline struct roce_swqe *roce_swqe_at(const struct roce_requester *req, uint32_t index)
{
	return &req->wqes[index & req->mask];
}

static inline struct ibv_sge *roce_swqe_sges(const struct roce_requester *req, uint32_t index)
{
	return &req->sges[(index & req->mask) * req->max_sge];
}

/* --- completer.c --------------------------------------------------------------------------- */

void roce_completer_input(struct roce_rc *rc, const struct roce_pkt *pkt, uint64_t now_ns);

/* --- retrans.c ----------------------------------------------------------------------------- */

/* A request packet goes out. is_timed: its answer is prompt, so it may measure the round trip. */
void roce_retrans_sent(struct roce_rc *rc, roce_psn psn, bool is_timed, uint64_t now_ns);
/* una has moved on by that many PSNs. */
void roce_retrans_progress(struct roce_rc *rc, uint32_t psns, uint64_t now_ns);
/* Packets from una on are lost: shrink the window and send again. */
void roce_retrans_loss(struct roce_rc *rc, uint64_t now_ns);
/* Response psn came although the READ response una is still missing. */
void roce_retrans_gap(struct roce_rc *rc, roce_psn psn, uint64_t now_ns);
/* RNR NAK with that timer code for una. */
void roce_retrans_rnr(struct roce_rc *rc, uint8_t code, uint64_t now_ns);
void roce_retrans_stop(struct roce_rc *rc);

/* --- responder.c, answer.c ----------------------------------------------------------------- */

void roce_responder_input(struct roce_rc *rc, const struct roce_pkt *pkt);

/* Notes an ACK or NAK for the next output; a later one replaces an earlier one. */
void roce_answer_set(struct roce_rc *rc, uint8_t syndrome, roce_psn psn);

/* Notes NAK code for psn and breaks the endpoint. */
void roce_answer_refuse(struct roce_rc *rc, enum roce_nak code, roce_psn psn);

/* Queues a READ request whose memory is at ptr. False: no room. */
bool roce_answer_read(struct roce_rc *rc, const struct roce_pkt *pkt, uint8_t *ptr, bool is_dup);

static inline bool roce_answer_has_output(const struct roce_rc *rc)
{
	return rc->resp.num_reads || rc->resp.answer_pending;
}

uint32_t roce_answer_output(struct roce_rc *rc, struct roce_tx *tx, uint32_t turn);

/* --- SGE lists ----------------------------------------------------------------------------- */

/* Moves the cursor to byte pos of the message. */
static inline void roce_sge_seek(struct roce_sge_cursor *cur, const struct ibv_sge *sges,
				 uint32_t pos)
{
	*cur = (struct roce_sge_cursor){.pos = pos};
	while (pos && pos >= sges[cur->sge].length)
		pos -= sges[cur->sge++].length;
	cur->offset = pos;
}

/*
 * The next piece of at most *len bytes that lies in one SGE; *len gets its size. The list must
 * have that many bytes left, and *len must not be 0.
 */
static inline uint8_t *roce_sge_take(struct roce_sge_cursor *cur, const struct ibv_sge *sges,
				     uint32_t *len)
{
	uint8_t *piece;
	uint32_t left;

	while (cur->offset == sges[cur->sge].length) {
		cur->sge++;
		cur->offset = 0;
	}
	piece = (uint8_t *)(uintptr_t)sges[cur->sge].addr + cur->offset;
	left = sges[cur->sge].length - cur->offset;
	if (*len > left)
		*len = left;
	cur->offset += *len;
	cur->pos += *len;
	return piece;
}

/* Copies len bytes to where the cursor is. The list must have that much room left. */
static inline void roce_sge_scatter(struct roce_sge_cursor *cur, const struct ibv_sge *sges,
				    const uint8_t *data, uint32_t len)
{
	while (len) {
		uint32_t part = len;
		uint8_t *to = roce_sge_take(cur, sges, &part);

		__builtin_memcpy(to, data, part);
		data += part;
		len -= part;
	}
}

#endif
