/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our endpoint in the place of a Linux one. A capture says what one kernel sent; the other end's
 * packets go into our engine, the requests of the end it replaces are posted to it when the kernel
 * sent them, and what it sends must be what that kernel sent. Requests and answers are compared as
 * two sequences, since how they interleave is a matter of time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pcap.h"
#include "roce/proto/rc.h"

#define MAX_CONNECTIONS 8
#define MAX_STREAM	4096
#define SCRATCH_BYTES	(4u << 20)
#define MAX_WR		256
#define RECV_BYTES	8192u
#define TX_PKTS		256

struct stream {
	struct roce_pkt pkts[MAX_STREAM];
	uint32_t num;
};

/* One direction of one connection, played by our engine. */
struct replay {
	struct roce_rc rc;
	struct roce_rq rq;
	uint8_t *data; /* of what we post; one running buffer, never used twice at once */
	uint32_t data_at;
	uint8_t *remote; /* every remote address is somewhere in here */
	uint32_t mr_epoch;
	uint32_t num_recvs, num_sends, num_posted;
	uint64_t now_ns;
	struct stream theirs[2], ours[2]; /* requests, answers */
	uint8_t *kept[MAX_STREAM]; /* payload of our requests */
};

static struct replay r;
static unsigned int num_compared;

static void *op_map(void *owner, uint32_t key, uint64_t va, uint32_t len, int access)
{
	(void)owner;
	(void)key;
	assert_true(len <= SCRATCH_BYTES / 2);
	if (access == IBV_ACCESS_REMOTE_READ || access == IBV_ACCESS_REMOTE_WRITE)
		return r.remote + va % (SCRATCH_BYTES / 2);
	return (void *)(uintptr_t)va;
}

static int op_invalidate(void *owner, uint32_t key, bool is_remote)
{
	(void)owner;
	(void)key;
	(void)is_remote;
	return 0;
}

static void op_send_done(void *owner, const struct roce_send_done *done)
{
	(void)owner;
	assert_int_equal(done->status, IBV_WC_SUCCESS);
	assert_int_equal(done->wr_id, r.num_sends++);
}

static void post_recv(void)
{
	struct ibv_sge sge = {(uintptr_t)r.data, RECV_BYTES,
			      0}; /* what comes in is not looked at */
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};

	assert_int_equal(roce_rc_post_recv(&r.rc, &wr), 0);
}

static void op_recv_done(void *owner, const struct roce_recv_done *done)
{
	(void)owner;
	assert_int_equal(done->status, IBV_WC_SUCCESS);
	r.num_recvs++;
	post_recv();
}

static void op_first_packet(void *owner)
{
	(void)owner;
}

static void op_error(void *owner, enum ibv_wc_status reason)
{
	(void)owner;
	(void)reason;
	fail();
}

static const struct roce_rc_ops ops = {
	.map = op_map,
	.invalidate = op_invalidate,
	.send_done = op_send_done,
	.recv_done = op_recv_done,
	.first_packet = op_first_packet,
	.error = op_error,
};

static bool is_request(const struct roce_pkt *pkt)
{
	return roce_ops[pkt->opcode].flags & ROCE_OP_REQUEST;
}

static void append(struct stream *stream, const struct roce_pkt *pkt)
{
	assert_true(stream->num < MAX_STREAM);
	stream->pkts[stream->num++] = *pkt;
}

/* Sends what the engine has, and keeps it. */
static void drain(void)
{
	static struct roce_tx_pkt pkts[TX_PKTS];
	static struct iovec iov[TX_PKTS * 4];
	bool more;

	do {
		struct roce_tx tx = {pkts, iov, TX_PKTS, TX_PKTS * 4, 0, 0};

		more = roce_rc_output(&r.rc, &tx, r.now_ns);
		for (uint32_t i = 0; i < tx.num_pkts; i++) {
			uint8_t *bytes = malloc(pkts[i].len), *p = bytes;
			struct roce_pkt pkt;

			assert_non_null(bytes);
			for (uint32_t v = 0; v < pkts[i].niov; v++) {
				const struct iovec *part = &iov[pkts[i].first_iov + v];

				memcpy(p, part->iov_base, part->iov_len);
				p += part->iov_len;
			}
			assert_int_equal(roce_hdr_parse(&pkt, bytes, pkts[i].len), 0);
			if (is_request(&pkt))
				r.kept[r.ours[0].num] = bytes;
			else
				free(bytes);
			append(&r.ours[!is_request(&pkt)], &pkt);
		}
	} while (more);
}

static enum ibv_wr_opcode wr_opcode(uint8_t opcode)
{
	uint32_t flags = roce_ops[opcode].flags;

	if (flags & ROCE_OP_READ)
		return IBV_WR_RDMA_READ;
	if (flags & ROCE_OP_WRITE)
		return IBV_WR_RDMA_WRITE;
	return flags & ROCE_OP_IETH ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
}

/* Posts the message that begins at frames[at] and whose packets of the same sender follow. */
static void post_message(const struct test_roce_frame *frames, size_t num, size_t at)
{
	const struct test_roce_frame *first = &frames[at];
	struct ibv_sge sge = {(uintptr_t)r.data + RECV_BYTES + r.data_at, 0, 0};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED};
	struct roce_pkt pkt;
	uint8_t *to = (uint8_t *)(uintptr_t)sge.addr;

	assert_int_equal(roce_hdr_parse(&pkt, first->payload, first->len), 0);
	wr.wr_id = r.num_posted++;
	wr.wr.rdma.remote_addr = pkt.va;
	wr.wr.rdma.rkey = pkt.rkey;
	sge.length = roce_ops[pkt.opcode].flags & ROCE_OP_READ ? pkt.dma_len : 0;
	for (; at < num; at++) {
		const struct test_roce_frame *f = &frames[at];

		if (f->sport != first->sport || f->src.s_addr != first->src.s_addr)
			continue;
		assert_int_equal(roce_hdr_parse(&pkt, f->payload, f->len), 0);
		if (!is_request(&pkt))
			continue;
		memcpy(to + sge.length, pkt.payload, pkt.payload_len);
		sge.length += pkt.payload_len;
		if (roce_ops[pkt.opcode].flags & ROCE_OP_END)
			break;
	}
	wr.opcode = wr_opcode(pkt.opcode);
	if (wr.opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = pkt.inv_rkey;
	if (pkt.solicited)
		wr.send_flags |= IBV_SEND_SOLICITED;
	r.data_at = (r.data_at + sge.length) % (SCRATCH_BYTES / 2);
	assert_int_equal(roce_rc_post_send(&r.rc, &wr), 0);
}

static void check_same(const struct roce_pkt *ours, const struct roce_pkt *theirs)
{
	uint32_t flags = roce_ops[theirs->opcode].flags;

	assert_int_equal(ours->opcode, theirs->opcode);
	assert_int_equal(ours->psn.v, theirs->psn.v);
	assert_int_equal(ours->dest_qpn, theirs->dest_qpn);
	assert_int_equal(ours->payload_len, theirs->payload_len);
	assert_int_equal(ours->pad, theirs->pad);
	assert_int_equal(ours->solicited, theirs->solicited);
	assert_true(ours->mig_req); /* the one thing where Linux differs, and hardware minds */
	if (flags & ROCE_OP_REQUEST && flags & ROCE_OP_END)
		assert_int_equal(ours->ack_req, theirs->ack_req);
	if (flags & ROCE_OP_RETH)
		assert_true(ours->va == theirs->va && ours->rkey == theirs->rkey &&
			    ours->dma_len == theirs->dma_len);
	if (flags & ROCE_OP_AETH) {
		assert_int_equal(ours->syndrome, theirs->syndrome);
		assert_int_equal(ours->msn.v, theirs->msn.v);
	}
	if (flags & ROCE_OP_IETH)
		assert_int_equal(ours->inv_rkey, theirs->inv_rkey);
	if (flags & ROCE_OP_REQUEST && theirs->payload_len)
		assert_memory_equal(ours->payload, theirs->payload, theirs->payload_len);
}

/* The first request PSN and the QPN on each side, and the MTU, as the packets show them. */
static void start(const struct test_roce_frame *frames, size_t num, struct in_addr us,
		  in_port_t sport, uint32_t mtu)
{
	struct roce_rc_cfg cfg = {.ops = &ops,
				  .mr_epoch = &r.mr_epoch,
				  .rq = &r.rq,
				  .max_send_wr = MAX_WR,
				  .max_send_sge = 1};
	struct roce_rc_rtr rtr = {.mtu = mtu,
				  .pkey = 0xffff,
				  .max_dest_rd_atomic = ROCE_MAX_RD_ATOM,
				  .access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
	struct roce_rc_rts rts = {.timeout = 19, .max_rd_atomic = ROCE_MAX_RD_ATOM};
	bool saw_ours = false, saw_theirs = false;

	for (size_t i = 0; i < num; i++) {
		bool is_ours = frames[i].src.s_addr == us.s_addr;
		struct roce_pkt pkt;

		if (frames[i].sport != sport)
			continue;
		assert_int_equal(roce_hdr_parse(&pkt, frames[i].payload, frames[i].len), 0);
		if (is_ours)
			rtr.dest_qpn = pkt.dest_qpn;
		if (!is_request(&pkt))
			continue;
		if (is_ours && !saw_ours)
			rts.sq_psn = pkt.psn.v;
		if (!is_ours && !saw_theirs)
			rtr.rq_psn = pkt.psn.v;
		*(is_ours ? &saw_ours : &saw_theirs) = true;
	}
	memset(&r, 0, sizeof(r));
	r.data = calloc(1, SCRATCH_BYTES);
	r.remote = calloc(1, SCRATCH_BYTES);
	roce_rq_init(&r.rq, malloc(roce_rq_mem_bytes(MAX_WR, 1)), MAX_WR, 1);
	roce_rc_init(&r.rc, &cfg, malloc(roce_rc_mem_bytes(&cfg)));
	assert_int_equal(roce_rc_to_init(&r.rc), 0);
	assert_int_equal(roce_rc_to_rtr(&r.rc, &rtr), 0);
	assert_int_equal(roce_rc_to_rts(&r.rc, &rts), 0);
	/* The kernel's requester has no window that starts small. */
	r.rc.req.window = ROCE_RC_WINDOW_MAX;
	for (unsigned int i = 0; i < MAX_WR / 2; i++)
		post_recv();
}

static void finish(void)
{
	for (int s = 0; s < 2; s++) {
		assert_int_equal(r.ours[s].num, r.theirs[s].num);
		for (uint32_t i = 0; i < r.ours[s].num; i++)
			check_same(&r.ours[s].pkts[i], &r.theirs[s].pkts[i]);
		num_compared += r.ours[s].num;
	}
	assert_int_equal(r.rc.counters.duplicates + r.rc.counters.out_of_sequence, 0);
	assert_int_equal(r.rc.counters.bad_responses + r.rc.counters.ghost_acks, 0);
	for (uint32_t i = 0; i < r.ours[0].num; i++)
		free(r.kept[i]);
	free(r.data);
	free(r.remote);
	free(r.rc.req.wqes);
	free(r.rq.wqes);
}

static void replay(const struct test_pcap *pcap, struct in_addr us, in_port_t sport, uint32_t mtu)
{
	start(pcap->frames, pcap->num_frames, us, sport, mtu);
	for (size_t i = 0; i < pcap->num_frames; i++) {
		const struct test_roce_frame *f = &pcap->frames[i];
		struct roce_pkt pkt;

		if (f->sport != sport)
			continue;
		r.now_ns = f->time_ns;
		assert_int_equal(roce_hdr_parse(&pkt, f->payload, f->len), 0);
		if (f->src.s_addr != us.s_addr) {
			roce_rc_input(&r.rc, &pkt, r.now_ns);
			drain();
			continue;
		}
		append(&r.theirs[!is_request(&pkt)], &pkt);
		if (is_request(&pkt) && roce_ops[pkt.opcode].flags & ROCE_OP_START) {
			post_message(pcap->frames, pcap->num_frames, i);
			drain();
		}
	}
	finish();
}

/* Every RC connection of a capture, with our engine at either end. */
static unsigned int replay_capture(const char *name, uint32_t mtu)
{
	in_port_t seen[MAX_CONNECTIONS];
	unsigned int num_seen = 0;
	struct test_pcap pcap;

	assert_int_equal(test_pcap_load(&pcap, name), 0);
	for (size_t i = 0; i < pcap.num_frames; i++) {
		const struct test_roce_frame *f = &pcap.frames[i];
		unsigned int known = 0;

		if (roce_hdr_is_ud(f->payload[0]))
			continue;
		while (known < num_seen && seen[known] != f->sport)
			known++;
		if (known < num_seen)
			continue;
		assert_true(num_seen < MAX_CONNECTIONS);
		seen[num_seen++] = f->sport;
		replay(&pcap, f->dst, f->sport, mtu); /* the target: it hears the first packet */
		replay(&pcap, f->src, f->sport, mtu);
	}
	test_pcap_free(&pcap);
	return num_seen;
}

static void test_io(void **state)
{
	(void)state;
	num_compared = 0;
	assert_int_equal(replay_capture("rxe-io", 1024), 2);
	assert_true(num_compared > 900); /* all but the MADs */
}

static void test_io_at_4096(void **state)
{
	(void)state;
	assert_int_equal(replay_capture("rxe-mtu4096-io", 4096), 2);
}

static void test_discovery(void **state)
{
	(void)state;
	assert_true(replay_capture("rxe-discover", 1024) >= 1);
}

static void test_admin(void **state)
{
	(void)state;
	assert_true(replay_capture("rxe-admin", 1024) >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_io_at_4096),
		cmocka_unit_test(test_discovery),
		cmocka_unit_test(test_admin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
