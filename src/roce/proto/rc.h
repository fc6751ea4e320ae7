/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One reliable-connected endpoint: requester and responder of IBTA chapter 9 as pure code. No
 * socket, no clock, no allocation: packets come in by roce_rc_input(), go out by roce_rc_output(),
 * time is an argument (monotonic nanoseconds), what happened is told through struct roce_rc_ops.
 *
 * States: RESET -> INIT -> RTR -> RTS -> ERR, any -> ERR, any -> RESET. Receive requests may be
 * posted from INIT on, send requests in RTS; in ERR both are taken and come back flushed.
 *
 * The owner's loop, for a batch of datagrams and any number of endpoints of one lane:
 *
 *	for each datagram: roce_hdr_parse, roce_icrc_check, find rc, roce_rc_input(rc, pkt, now)
 *	while an endpoint has roce_rc_has_output(): roce_rc_output(rc, tx, now), seal, send
 *	sleep until the nearest roce_rc_deadline(), then roce_rc_timer()
 *
 * ACKs are only noted by roce_rc_input() and leave with the next roce_rc_output(), so one covers a
 * batch. After roce_rc_post_send(), roce_rc_input() and roce_rc_timer(): look at
 * roce_rc_has_output() and roce_rc_deadline() again.
 *
 * Owner: one lane; not thread safe. An op must not call back into the same endpoint, but for
 * posting (roce_rc_post_send, roce_rq_post), which is allowed from everywhere.
 */
#ifndef ROCE_PROTO_RC_H
#define ROCE_PROTO_RC_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "roce/proto/hdr.h"
#include "roce/proto/icrc.h"
#include "roce/proto/limits.h"
#include "roce/proto/psn.h"
#include "roce/proto/rq.h"

enum roce_rc_state {
	ROCE_RC_RESET,
	ROCE_RC_INIT,
	ROCE_RC_RTR,
	ROCE_RC_RTS,
	ROCE_RC_ERR,
};

/* A send request is done. In the order of posting, each exactly once unless it is unsignalled. */
struct roce_send_done {
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	uint32_t byte_len; /* of a READ */
};

/* A receive request is done. opcode, byte_len, flags, data: valid when status is success. */
struct roce_recv_done {
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode; /* IBV_WC_RECV or IBV_WC_RECV_RDMA_WITH_IMM */
	uint32_t byte_len;
	unsigned int wc_flags; /* IBV_WC_WITH_IMM, IBV_WC_WITH_INV */
	bool solicited;
	union {
		__be32 imm_data;
		uint32_t invalidated_rkey;
	};
};

/* Everything the engine asks of its owner. Every op is set. */
struct roce_rc_ops {
	/*
	 * Where [va, va + len) of memory region key is in this process, or NULL if there is no such
	 * region, it is shorter, or forbids the access. access is 0 for a local read, else one of
	 * IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE. Called once a
	 * message and SGE, and again when *cfg.mr_epoch has changed since. Never with len 0.
	 */
	void *(*map)(void *owner, uint32_t key, uint64_t va, uint32_t len, int access);
	/* Invalidates a key, for a local request or (is_remote) for the peer. 0 or -EACCES. */
	int (*invalidate)(void *owner, uint32_t key, bool is_remote);
	void (*send_done)(void *owner, const struct roce_send_done *done);
	void (*recv_done)(void *owner, const struct roce_recv_done *done);
	/* The first good packet since RTR; the peer is established even if its RTU is missing. */
	void (*first_packet)(void *owner);
	/*
	 * The endpoint went to ERR by itself; everything posted has been flushed. The reason is
	 * that of the failed request, or, for a fault of the peer, IBV_WC_REM_ACCESS_ERR (its
	 * access was refused), IBV_WC_REM_INV_REQ_ERR (its request was malformed),
	 * IBV_WC_REM_OP_ERR.
	 */
	void (*error)(void *owner, enum ibv_wc_status reason);
};

struct roce_rc_cfg {
	const struct roce_rc_ops *ops;
	void *owner; /* first argument of every op */
	/* Changes whenever a region is deregistered or invalidated; read before foreign memory is
	 * used. */
	const uint32_t *mr_epoch;
	struct roce_rq *rq; /* initialised by the owner, lives at least as long */
	bool is_rq_shared; /* then flushing does not drain rq */
	bool sq_sig_all;
	uint32_t max_send_wr;
	uint32_t max_send_sge; /* at most ROCE_MAX_SGE */
	uint32_t max_inline; /* bytes, at most ROCE_MAX_INLINE */
};

/* What modify_qp to RTR brings. */
struct roce_rc_rtr {
	uint32_t dest_qpn;
	uint32_t rq_psn;
	uint32_t mtu; /* bytes: 256, 512, 1024, 2048 or 4096 */
	uint16_t pkey;
	uint8_t max_dest_rd_atomic; /* READs the peer may have outstanding, at most ROCE_MAX_RD_ATOM
				     */
	uint8_t min_rnr_timer; /* code, see roce_rnr_timer_ns() */
	int access; /* of the QP: IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE */
};

/* What modify_qp to RTS brings. */
struct roce_rc_rts {
	uint32_t sq_psn;
	uint8_t timeout; /* local ACK timeout code: 4.096 us * 2^code, 0 for none */
	uint8_t retry_cnt;
	uint8_t rnr_retry; /* 7: for ever */
	uint8_t max_rd_atomic; /* READs we may have outstanding, at most ROCE_MAX_RD_ATOM */
	uint32_t window; /* most PSNs in flight, as the socket buffers allow; 0: ROCE_RC_WINDOW_MAX
			  */
};

/* Never reset but by roce_rc_init and roce_rc_reset. */
struct roce_rc_counters {
	uint64_t tx_pkts, tx_bytes; /* bytes: payload */
	uint64_t rx_pkts, rx_bytes;
	uint64_t tx_msgs, rx_msgs; /* requests completed by the peer, by us */
	/* Requester. */
	uint64_t retransmits; /* packets sent again */
	uint64_t timeouts; /* retransmission timer ran out */
	uint64_t implied_naks; /* gap in READ responses, or ACK beyond one */
	uint64_t rx_nak[ROCE_NAK_KINDS];
	uint64_t rx_rnr;
	uint64_t dup_acks; /* ACK or response for what is done already */
	uint64_t ghost_acks; /* ACK or response for what was not sent */
	uint64_t bad_responses; /* wrong opcode or length for what is outstanding */
	/* Responder. */
	uint64_t tx_acks;
	uint64_t tx_nak[ROCE_NAK_KINDS];
	uint64_t tx_rnr;
	uint64_t duplicates; /* requests with a PSN already done */
	uint64_t out_of_sequence; /* requests with a PSN too far */
	uint64_t dup_reads_dropped; /* READ came again, but no room or no access any more */
	/* Dropped before either. */
	uint64_t drop_state; /* packet in RESET, INIT or ERR */
	uint64_t drop_pkey;
	uint64_t drop_opcode; /* not an RC packet */
};

/* One packet for the wire. Its bytes are iov[first_iov .. first_iov + niov) of the batch. */
struct roce_tx_pkt {
	uint8_t hdr[ROCE_HDR_MAX]; /* first iovec */
	uint8_t tail[8]; /* last iovec: pad, and the ICRC, which roce_tx_seal() fills in */
	uint8_t hdr_len;
	uint8_t tail_len; /* pad + 4 */
	uint16_t niov;
	uint32_t first_iov;
	uint32_t len; /* of the whole UDP payload */
};

/*
 * A batch of packets that the owner provides and roce_rc_output() appends to. Neighbours in pkts
 * are neighbours in iov: packets i..j as one UDP GSO send are iov[pkts[i].first_iov ..
 * pkts[j].first_iov + pkts[j].niov). Payload iovecs point to the memory of work requests or of
 * regions: send before the next roce_rc_input().
 */
struct roce_tx {
	struct roce_tx_pkt *pkts;
	struct iovec *iov;
	uint32_t max_pkts;
	uint32_t max_iov; /* at least ROCE_RC_PKT_IOV_MAX */
	uint32_t num_pkts;
	uint32_t num_iov;
};

static inline void roce_tx_reset(struct roce_tx *tx)
{
	tx->num_pkts = 0;
	tx->num_iov = 0;
}

/* Puts the ICRC of pkts[i] in its tail. ip_id: its place in a GSO train, else 0. */
void roce_tx_seal(struct roce_tx *tx, uint32_t i, const struct roce_icrc_flow *flow,
		  uint16_t ip_id);

/* A send request in the ring. Private, as everything below but the functions. */
struct roce_swqe {
	uint64_t wr_id;
	uint64_t remote_addr;
	uint32_t rkey; /* of WRITE and READ; key to invalidate of SEND_INV and LOCAL_INV */
	uint32_t imm_be;
	uint32_t bytes; /* of the message */
	uint32_t num_pkts; /* PSNs it takes; 0 for local work */
	roce_psn first_psn; /* valid once it has started */
	uint8_t opcode; /* enum ibv_wr_opcode */
	uint8_t status; /* enum ibv_wc_status; not success: failed before it was sent */
	uint8_t num_sge;
	bool is_signaled : 1;
	bool is_solicited : 1;
	bool is_fenced : 1;
	bool is_inline : 1; /* its one SGE is in inline_data */
	bool is_started : 1; /* has its PSNs, its SGEs are mapped */
};

/* Where in an SGE list the next byte is. */
struct roce_sge_cursor {
	uint32_t sge;
	uint32_t offset; /* within that SGE */
	uint32_t pos; /* within the message */
};

struct roce_requester {
	/* Ring indices count without wrapping to the ring size: done <= next <= posted. */
	uint32_t done; /* oldest request that is not completed */
	uint32_t next; /* request to send from */
	uint32_t posted;
	uint32_t mask;
	struct roce_swqe *wqes;
	struct ibv_sge *sges; /* max_sge a request; addresses in this process once started */
	uint8_t *inline_data; /* max_inline a request */
	uint32_t max_sge; /* of cfg, at least 1 for inline data */
	uint32_t next_pkt; /* of request next: packet to send */
	struct roce_sge_cursor cursor; /* of request next */
	struct roce_sge_cursor read_cursor; /* of request done, where its next response goes */
	/* PSNs: una <= nxt <= max. Going back to una sets nxt = una. */
	roce_psn una; /* oldest not acknowledged */
	roce_psn nxt; /* to send next */
	roce_psn max; /* after the last ever sent */
	uint32_t window; /* PSNs */
	uint32_t window_max;
	uint32_t window_credit; /* PSNs acknowledged since the window last grew */
	uint32_t since_ack_req; /* packets sent since one asked for an ACK */
	/*
	 * READ requests outstanding, as the PSNs after their last responses: a FIFO. Asking again
	 * keeps to these ends, for a responder knows nothing beyond what it was asked for.
	 */
	roce_psn read_ends[ROCE_MAX_RD_ATOM];
	uint32_t first_read;
	uint32_t num_reads;
	uint32_t reads_sent; /* of num_reads, since we last went back */
	/* Retransmission, retrans.c. Times are 0 when not running. */
	uint64_t timer_ns; /* when to probe */
	uint64_t rnr_until_ns; /* when to go on after an RNR NAK */
	uint64_t progress_ns; /* una moved, or the first packet after silence went out */
	uint64_t went_back_ns; /* last went back, and una has not moved since */
	uint64_t rtt_sent_ns; /* rtt_psn went out */
	uint64_t srtt_ns, rttvar_ns; /* 0: not measured yet */
	uint64_t timeout_ns; /* local ACK timeout; 0: none */
	roce_psn rtt_psn;
	roce_psn recover; /* max when the window last shrank */
	roce_psn gap_psn; /* last READ response that came too early since then */
	bool has_gap;
	uint8_t probes; /* since una moved */
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t rnr_left;
	uint8_t max_rd_atomic;
};

/* A READ request that is to be answered. */
struct roce_read_req {
	roce_psn start; /* of the request as it was asked */
	roce_psn psn; /* of the next response packet */
	uint32_t pkts_left;
	uint64_t va; /* of the next byte */
	uint32_t bytes_left;
	uint32_t rkey;
	uint8_t *ptr; /* where va is, as long as the MR epoch is mr_epoch */
	uint32_t mr_epoch;
	bool is_first; /* nothing answered yet: FIRST or ONLY comes next */
	bool is_dup;
};

struct roce_responder {
	roce_psn epsn; /* expected next */
	roce_psn msn; /* messages done */
	uint32_t message; /* ROCE_OP_SEND or ROCE_OP_WRITE while one is in progress, else 0 */
	bool has_rwqe; /* rwqe is taken and not completed */
	bool has_gap; /* gap_psn is valid: a NAK sequence error was sent for epsn */
	bool nak_sent; /* a gap or RNR was answered; say no more until epsn comes */
	bool saw_packet;
	/* At most one ACK or NAK waits to leave; READ responses go before it. */
	bool answer_pending;
	uint8_t answer_syndrome;
	roce_psn answer_psn;
	roce_psn gap_psn; /* last request that came too early */
	/* WRITE in progress. */
	uint8_t *write_ptr;
	uint64_t write_va;
	uint32_t write_left;
	uint32_t write_bytes;
	uint32_t write_rkey;
	uint32_t write_epoch;
	/* SEND in progress. */
	struct roce_sge_cursor cursor;
	struct roce_rwqe rwqe;
	struct ibv_sge sges[ROCE_MAX_SGE]; /* of rwqe; addresses in this process */
	/* READ requests in PSN order. */
	uint32_t num_reads;
	uint32_t num_dup_reads;
	struct roce_read_req reads[ROCE_RC_READ_QUEUE];
};

struct roce_rc {
	enum roce_rc_state state;
	uint32_t mtu;
	uint32_t dest_qpn;
	uint16_t pkey;
	uint8_t max_dest_rd_atomic;
	uint8_t min_rnr_timer;
	int access;
	bool is_flushing;
	struct roce_rc_cfg cfg;
	struct roce_requester req;
	struct roce_rc_counters counters;
	struct roce_responder resp;
};

/* --- life ---------------------------------------------------------------------------------- */

/* Bytes of memory, 16-byte aligned, that roce_rc_init needs for the send ring. */
size_t roce_rc_mem_bytes(const struct roce_rc_cfg *cfg);

/* State RESET. mem lives as long as rc. */
void roce_rc_init(struct roce_rc *rc, const struct roce_rc_cfg *cfg, void *mem);

/* Any state to RESET: what was posted is forgotten, not completed; a queue of its own is emptied.
 */
void roce_rc_reset(struct roce_rc *rc);

/* RESET to INIT. -EINVAL in any other state, as the two below. */
int roce_rc_to_init(struct roce_rc *rc);
int roce_rc_to_rtr(struct roce_rc *rc, const struct roce_rc_rtr *attr);
int roce_rc_to_rts(struct roce_rc *rc, const struct roce_rc_rts *attr);

/* For modify_qp in INIT, RTR or RTS. */
void roce_rc_set_access(struct roce_rc *rc, int access);
void roce_rc_set_min_rnr_timer(struct roce_rc *rc, uint8_t code);

/* To ERR: everything posted is completed with IBV_WC_WR_FLUSH_ERR. Again in ERR: what came since.
 */
void roce_rc_flush(struct roce_rc *rc);

/* --- work ---------------------------------------------------------------------------------- */

/*
 * Posts one send request (wr->next is ignored). In ERR it is completed as flushed at once.
 *  -EINVAL      state is not RTS or ERR, too many SGEs, too much inline data, message too long
 *  -EOPNOTSUPP  an opcode other than SEND*, RDMA_WRITE*, RDMA_READ, LOCAL_INV
 *  -ENOMEM      max_send_wr requests are posted already
 */
int roce_rc_post_send(struct roce_rc *rc, const struct ibv_send_wr *wr);

/* Posts to the endpoint's own receive queue; in ERR it is completed as flushed. As roce_rq_post. */
int roce_rc_post_recv(struct roce_rc *rc, const struct ibv_recv_wr *wr);

/*
 * Takes one packet whose ICRC is right and whose dest_qpn is this endpoint. Copies payload; keeps
 * no pointer to it.
 */
void roce_rc_input(struct roce_rc *rc, const struct roce_pkt *pkt, uint64_t now_ns);

/*
 * Appends packets to tx until tx is full or there is nothing to send. True when there is more.
 * Responses and requests take turns.
 */
bool roce_rc_output(struct roce_rc *rc, struct roce_tx *tx, uint64_t now_ns);

/* True when roce_rc_output would emit a packet now. May rarely be true for nothing. */
bool roce_rc_has_output(const struct roce_rc *rc);

/* When roce_rc_timer wants to be called; UINT64_MAX for never. A call too early does no harm. */
uint64_t roce_rc_deadline(const struct roce_rc *rc);
void roce_rc_timer(struct roce_rc *rc, uint64_t now_ns);

/* --- for modify_qp, query_qp and tests ------------------------------------------------------ */

static inline enum roce_rc_state roce_rc_get_state(const struct roce_rc *rc)
{
	return rc->state;
}

static inline const struct roce_rc_counters *roce_rc_get_counters(const struct roce_rc *rc)
{
	return &rc->counters;
}

/* RNR timer of IBTA table 46: code 0..31 to nanoseconds. 0 is 655.36 ms, not "none". */
uint64_t roce_rnr_timer_ns(uint8_t code);

/* Local ACK timeout of IBTA 9.7.6.1.3: 4.096 us * 2^code, 0 for code 0. */
uint64_t roce_ack_timeout_ns(uint8_t code);

#endif
