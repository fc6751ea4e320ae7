/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any sequence of packets, posts, outputs and time steps on one RC endpoint. Input is a list of
 * steps of STEP_BYTES; packets are made near what the endpoint expects, so that most are not
 * dropped at the door (bytes on the wire are roce_packet.c's). Checked: memory (sanitizers), every
 * request completes exactly once and in order, output ends, nothing outside the region is written.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "roce/proto/rc.h"

#define STEP_BYTES 12
#define MAX_WR	   16
#define HEAP_BYTES 65536u
#define KEY	   7u
#define TX_PKTS	   8

enum step {
	STEP_SEND,
	STEP_RECV,
	STEP_OUTPUT,
	STEP_TIME,
	STEP_FLUSH,
	STEP_PACKET
};

struct endpoint {
	struct roce_rc rc;
	struct roce_rq rq;
	uint8_t *heap;
	uint32_t mr_epoch;
	uint64_t now_ns;
	uint64_t sends_posted, sends_done, recvs_posted, recvs_done;
	bool is_unmapped;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

static void *op_map(void *owner, uint32_t key, uint64_t va, uint32_t len, int access)
{
	struct endpoint *ep = owner;

	(void)access;
	check(len > 0);
	if (key != KEY || ep->is_unmapped || va > HEAP_BYTES || len > HEAP_BYTES - va)
		return NULL;
	return ep->heap + va;
}

static int op_invalidate(void *owner, uint32_t key, bool is_remote)
{
	struct endpoint *ep = owner;

	(void)is_remote;
	if (key != KEY)
		return -1;
	ep->mr_epoch++;
	return 0;
}

static void op_send_done(void *owner, const struct roce_send_done *done)
{
	struct endpoint *ep = owner;

	check(done->wr_id == ep->sends_done++);
}

static void op_recv_done(void *owner, const struct roce_recv_done *done)
{
	struct endpoint *ep = owner;

	check(done->wr_id == ep->recvs_done++);
	check(done->byte_len <= HEAP_BYTES);
}

static void op_first_packet(void *owner)
{
	(void)owner;
}

static void op_error(void *owner, enum ibv_wc_status reason)
{
	(void)owner;
	check(reason != IBV_WC_SUCCESS);
}

static const struct roce_rc_ops ops = {
	.map = op_map,
	.invalidate = op_invalidate,
	.send_done = op_send_done,
	.recv_done = op_recv_done,
	.first_packet = op_first_packet,
	.error = op_error,
};

static void start(struct endpoint *ep)
{
	struct roce_rc_cfg cfg = {
		.ops = &ops,
		.owner = ep,
		.mr_epoch = &ep->mr_epoch,
		.rq = &ep->rq,
		.sq_sig_all = true,
		.max_send_wr = MAX_WR,
		.max_send_sge = 2,
		.max_inline = 64,
	};
	struct roce_rc_rtr rtr = {
		.mtu = 256,
		.rq_psn = 0xfffff0,
		.pkey = 0xffff,
		.max_dest_rd_atomic = 3,
		.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
	struct roce_rc_rts rts = {.sq_psn = 0xfffff8,
				  .timeout = 10,
				  .retry_cnt = 3,
				  .rnr_retry = 3,
				  .max_rd_atomic = 2};

	memset(ep, 0, sizeof(*ep));
	ep->heap = calloc(1, HEAP_BYTES);
	ep->now_ns = 1;
	roce_rq_init(&ep->rq, malloc(roce_rq_mem_bytes(MAX_WR, 2)), MAX_WR, 2);
	roce_rc_init(&ep->rc, &cfg, malloc(roce_rc_mem_bytes(&cfg)));
	check(!roce_rc_to_init(&ep->rc) && !roce_rc_to_rtr(&ep->rc, &rtr) &&
	      !roce_rc_to_rts(&ep->rc, &rts));
}

static uint32_t le16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static void post_send(struct endpoint *ep, const uint8_t *s)
{
	struct ibv_sge sges[2] = {{le16(s + 2), le16(s + 4) / 8, KEY}, {16, s[6], KEY}};
	struct ibv_send_wr wr = {
		.wr_id = ep->sends_posted,
		.sg_list = sges,
		.num_sge = 2,
		.opcode = (enum ibv_wr_opcode)(s[1] % 16),
		.send_flags = s[7] & (IBV_SEND_FENCE | IBV_SEND_SOLICITED),
		.wr.rdma = {.remote_addr = le16(s + 8), .rkey = KEY},
	};

	if (wr.opcode == IBV_WR_LOCAL_INV || wr.opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = KEY + (s[10] == 0);
	ep->sends_posted += roce_rc_post_send(&ep->rc, &wr) == 0;
}

static void post_recv(struct endpoint *ep, const uint8_t *s)
{
	struct ibv_sge sges[2] = {{le16(s + 2), s[4] * 4u, KEY}, {0, s[6], KEY}};
	struct ibv_recv_wr wr = {.wr_id = ep->recvs_posted, .sg_list = sges, .num_sge = s[1] % 3};

	ep->recvs_posted += roce_rc_post_recv(&ep->rc, &wr) == 0;
}

static void output(struct endpoint *ep)
{
	struct roce_tx_pkt pkts[TX_PKTS];
	struct iovec iov[2 * ROCE_RC_PKT_IOV_MAX];
	struct roce_tx tx = {pkts, iov, TX_PKTS, 2 * ROCE_RC_PKT_IOV_MAX, 0, 0};

	for (unsigned int rounds = 0; roce_rc_has_output(&ep->rc); rounds++) {
		check(rounds < 10000);
		roce_tx_reset(&tx);
		(void)roce_rc_output(&ep->rc, &tx, ep->now_ns);
		for (uint32_t i = 0; i < tx.num_pkts; i++) {
			size_t len = 0;

			for (uint32_t v = 0; v < pkts[i].niov; v++)
				len += iov[pkts[i].first_iov + v].iov_len;
			check(len == pkts[i].len && len % 4 == 0);
		}
	}
}

static void input(struct endpoint *ep, const uint8_t *s)
{
	static const uint8_t payload[512];
	struct roce_pkt pkt = {
		.opcode = s[1] % 0x18,
		.solicited = s[2] & 1,
		.ack_req = s[2] & 2,
		.pkey = 0xffff,
		.syndrome = s[3],
		.va = le16(s + 6),
		.rkey = KEY + (s[2] & 0xf0 ? 0 : s[2] >> 2 & 1),
		.dma_len = le16(s + 8) >> (s[10] & 7),
		.inv_rkey = KEY + (s[2] >> 3 & 1),
		.payload = payload,
		.payload_len = s[5] & 1 ? 256 : s[11],
	};
	uint32_t flags = roce_ops[pkt.opcode].flags;
	roce_psn near = flags & ROCE_OP_REQUEST ? ep->rc.resp.epsn : ep->rc.req.una;

	if (!flags)
		return;
	if (s[5] & 2) /* what a WRITE announces is then often right */
		pkt.dma_len = pkt.payload_len;
	if (!(flags & ROCE_OP_PAYLOAD))
		pkt.payload_len = 0;
	pkt.psn = roce_psn_make(near.v + (s[5] & 4 ? (uint32_t)(int8_t)s[4] : 0));
	roce_rc_input(&ep->rc, &pkt, ep->now_ns);
}

static void run_step(struct endpoint *ep, const uint8_t *s)
{
	switch (s[0] % 16) {
	case STEP_SEND:
		post_send(ep, s);
		break;
	case STEP_RECV:
		post_recv(ep, s);
		break;
	case STEP_OUTPUT:
		output(ep);
		break;
	case STEP_TIME:
		ep->now_ns += (uint64_t)le16(s + 2) << (s[1] % 16);
		roce_rc_timer(&ep->rc, ep->now_ns);
		break;
	case STEP_FLUSH:
		if (s[1] == 0)
			roce_rc_flush(&ep->rc);
		else if (s[1] == 1)
			ep->is_unmapped = !ep->is_unmapped, ep->mr_epoch++;
		break;
	default:
		input(ep, s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct endpoint ep;

	start(&ep);
	for (size_t at = 0; at + STEP_BYTES <= size; at += STEP_BYTES)
		run_step(&ep, data + at);
	output(&ep);
	roce_rc_flush(&ep.rc);
	check(ep.sends_done == ep.sends_posted && ep.recvs_done == ep.recvs_posted);
	check(!roce_rc_has_output(&ep.rc) && roce_rc_deadline(&ep.rc) == UINT64_MAX);
	free(ep.heap);
	free(ep.rc.req.wqes);
	free(ep.rq.wqes);
	return 0;
}
