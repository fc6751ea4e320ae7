/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the RC engine alone costs: two endpoints in one thread, packets handed over in memory, with
 * ICRC made and checked. RDMA WRITEs of 64 KiB, then of 4 KiB, at path MTU 4096 and 1024.
 * Prints one line a case; an optional argument is the seconds each one takes (default 1).
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "roce/proto/rc.h"

#define TX_PKTS	   64
#define MAX_WR	   64
#define WIRE_BYTES 4352
#define KEY	   1

struct side {
	struct roce_rc rc;
	struct roce_rq rq;
	uint8_t *heap;
	uint64_t done;
	uint16_t next_id;
	struct roce_icrc_flow flow; /* of what it sends */
};

static struct side sides[2];
static uint32_t mr_epoch;
static uint8_t wire[TX_PKTS][WIRE_BYTES];

static void *op_map(void *owner, uint32_t key, uint64_t va, uint32_t len, int access)
{
	struct side *side = owner;

	(void)key;
	(void)len;
	(void)access;
	return side->heap + va;
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
	((struct side *)owner)->done += done->status == IBV_WC_SUCCESS;
}

static void op_recv_done(void *owner, const struct roce_recv_done *done)
{
	(void)owner;
	(void)done;
}

static void op_first_packet(void *owner)
{
	(void)owner;
}

static void op_error(void *owner, enum ibv_wc_status reason)
{
	(void)owner;
	fprintf(stderr, "roce_engine: %s\n", ibv_wc_status_str(reason));
	exit(1);
}

static const struct roce_rc_ops ops = {
	.map = op_map,
	.invalidate = op_invalidate,
	.send_done = op_send_done,
	.recv_done = op_recv_done,
	.first_packet = op_first_packet,
	.error = op_error,
};

static void start(struct side *side, uint32_t mtu, struct in_addr from, struct in_addr to)
{
	struct roce_rc_cfg cfg = {.ops = &ops,
				  .owner = side,
				  .mr_epoch = &mr_epoch,
				  .rq = &side->rq,
				  .sq_sig_all = true,
				  .max_send_wr = MAX_WR,
				  .max_send_sge = 1};
	struct roce_rc_rtr rtr = {.mtu = mtu, .pkey = 0xffff, .access = IBV_ACCESS_REMOTE_WRITE};
	struct roce_rc_rts rts = {.timeout = 19, .retry_cnt = 7};
	void *rc_mem = malloc(roce_rc_mem_bytes(&cfg)), *rq_mem = malloc(roce_rq_mem_bytes(1, 1));

	memset(side, 0, sizeof(*side));
	side->heap = calloc(2, 65536);
	if (!rc_mem || !rq_mem || !side->heap)
		abort();
	roce_rq_init(&side->rq, rq_mem, 1, 1);
	roce_rc_init(&side->rc, &cfg, rc_mem);
	if (roce_rc_to_init(&side->rc) || roce_rc_to_rtr(&side->rc, &rtr) ||
	    roce_rc_to_rts(&side->rc, &rts))
		abort();
	roce_icrc_flow_v4(&side->flow, from, to, htons(50000), htons(4791));
}

static void stop(struct side *side)
{
	free(side->heap);
	free(side->rc.req.wqes);
	free(side->rq.wqes);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* One batch from one side to the other, copied once as a socket would. Returns the packets. */
static uint32_t pass(struct side *from, struct side *to, uint64_t now)
{
	static struct roce_tx_pkt pkts[TX_PKTS];
	static struct iovec iov[TX_PKTS * 3];
	struct roce_tx tx = {pkts, iov, TX_PKTS, TX_PKTS * 3, 0, 0};

	(void)roce_rc_output(&from->rc, &tx, now);
	for (uint32_t i = 0; i < tx.num_pkts; i++) {
		uint8_t *p = wire[i];

		roce_tx_seal(&tx, i, &from->flow, (uint16_t)i);
		for (uint32_t v = 0; v < pkts[i].niov; v++) {
			const struct iovec *part = &iov[pkts[i].first_iov + v];

			memcpy(p, part->iov_base, part->iov_len);
			p += part->iov_len;
		}
	}
	for (uint32_t i = 0; i < tx.num_pkts; i++) {
		struct roce_pkt pkt;
		uint16_t id = (uint16_t)i;

		if (!roce_icrc_check(&from->flow, wire[i], pkts[i].len, &id) ||
		    roce_hdr_parse(&pkt, wire[i], pkts[i].len))
			abort();
		roce_rc_input(&to->rc, &pkt, now);
	}
	return tx.num_pkts;
}

static void run(uint32_t mtu, uint32_t bytes, double seconds)
{
	struct in_addr a = {htonl(0x7f000001)}, b = {htonl(0x7f000002)};
	struct ibv_sge sge = {0, bytes, KEY};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
	uint64_t begin, now, packets = 0;
	double took;

	start(&sides[0], mtu, a, b);
	start(&sides[1], mtu, b, a);
	begin = now = now_ns();
	while ((double)(now - begin) < seconds * 1e9) {
		while (roce_rc_post_send(&sides[0].rc, &wr) == 0)
			;
		packets += pass(&sides[0], &sides[1], now);
		packets += pass(&sides[1], &sides[0], now);
		now = now_ns();
	}
	took = (double)(now - begin);
	printf("write %6u bytes, mtu %4u: %6.2f Gb/s, %5.2f M messages/s, %5.0f ns a packet\n",
	       bytes, mtu, (double)sides[0].done * bytes * 8 / took,
	       (double)sides[0].done / took * 1e3, took / (double)packets);
	stop(&sides[0]);
	stop(&sides[1]);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;

	run(4096, 65536, seconds);
	run(1024, 65536, seconds);
	run(4096, 4096, seconds);
	run(4096, 64, seconds);
	return 0;
}
