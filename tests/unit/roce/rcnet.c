/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual network for RC endpoints, see rcnet.h. */
#include "rcnet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TX_PKTS	    64
#define WIRE_NS	    20000ull /* from one node to the other */
#define PACKET_NS   200ull /* between two packets of one node */
#define HOLD_NS	    60000ull /* a packet held back arrives up to this much later */
#define MAX_WIRE    4200
#define DEST_QPN(i) (18u + (unsigned int)(i))

struct net_datagram {
	struct net_datagram *next;
	uint64_t at_ns;
	int to;
	size_t len;
	uint8_t bytes[MAX_WIRE];
};

const struct net_attr net_defaults = {
	.mtu = 1024,
	.psn = {100, 0xabcdef},
	.timeout = 14,
	.retry_cnt = 7,
	.rnr_retry = 7,
	.rnr_timer = 12,
	.rd_atomic = 4,
	.seed = 1,
};

uint32_t net_random(struct net *net, uint32_t n)
{
	net->rng ^= net->rng << 13;
	net->rng ^= net->rng >> 7;
	net->rng ^= net->rng << 17;
	return (uint32_t)((net->rng >> 20) % (n + 1ull));
}

/* --- what an endpoint asks of its owner ---------------------------------------------------- */

static void *op_map(void *owner, uint32_t key, uint64_t va, uint32_t len, int access)
{
	struct net_node *node = owner;

	assert_true(len > 0);
	if (key != NET_KEY || key == node->refuse_key || access & node->refuse_access)
		return NULL;
	if (va < NET_HEAP_VA || va - NET_HEAP_VA > NET_HEAP_BYTES ||
	    len > NET_HEAP_BYTES - (va - NET_HEAP_VA))
		return NULL;
	return node->heap + (va - NET_HEAP_VA);
}

static int op_invalidate(void *owner, uint32_t key, bool is_remote)
{
	struct net_node *node = owner;

	(void)is_remote;
	if (key != node->valid_inv_key)
		return -EACCES;
	node->num_invalidated++;
	node->mr_epoch++;
	return 0;
}

static void op_send_done(void *owner, const struct roce_send_done *done)
{
	struct net_node *node = owner;

	assert_true(node->num_sends < NET_MAX_DONE);
	node->sends[node->num_sends++] = *done;
}

static void op_recv_done(void *owner, const struct roce_recv_done *done)
{
	struct net_node *node = owner;

	assert_true(node->num_recvs < NET_MAX_DONE);
	node->recvs[node->num_recvs++] = *done;
	if (node->on_recv && done->status == IBV_WC_SUCCESS)
		node->on_recv(node);
}

static void op_first_packet(void *owner)
{
	((struct net_node *)owner)->num_first++;
}

static void op_error(void *owner, enum ibv_wc_status reason)
{
	struct net_node *node = owner;

	node->num_errors++;
	node->error = reason;
}

static const struct roce_rc_ops ops = {
	.map = op_map,
	.invalidate = op_invalidate,
	.send_done = op_send_done,
	.recv_done = op_recv_done,
	.first_packet = op_first_packet,
	.error = op_error,
};

/* --- life ---------------------------------------------------------------------------------- */

static void init_node(struct net *net, int i)
{
	const struct net_attr *attr = &net->attr;
	struct net_node *node = &net->node[i];
	struct roce_rc_cfg cfg = {
		.ops = &ops,
		.owner = node,
		.mr_epoch = &node->mr_epoch,
		.rq = &node->rq,
		.sq_sig_all = attr->sig_all,
		.max_send_wr = NET_MAX_WR,
		.max_send_sge = NET_MAX_SGE,
		.max_inline = NET_MAX_INLINE,
	};
	struct roce_rc_rtr rtr = {
		.dest_qpn = DEST_QPN(1 - i),
		.rq_psn = attr->psn[1 - i],
		.mtu = attr->mtu,
		.pkey = 0xffff,
		.max_dest_rd_atomic = attr->rd_atomic,
		.min_rnr_timer = attr->rnr_timer,
		.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
	struct roce_rc_rts rts = {
		.sq_psn = attr->psn[i],
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.max_rd_atomic = attr->rd_atomic,
		.window = attr->window,
	};

	node->net = net;
	/* Not cmocka's: what a setup made with those must not be freed before the teardown. */
	node->heap = calloc(1, NET_HEAP_BYTES);
	node->rc_mem = malloc(roce_rc_mem_bytes(&cfg));
	node->rq_mem = malloc(roce_rq_mem_bytes(NET_MAX_WR, NET_MAX_SGE));
	assert_true(node->heap && node->rc_mem && node->rq_mem);
	roce_rq_init(&node->rq, node->rq_mem, NET_MAX_WR, NET_MAX_SGE);
	roce_rc_init(&node->rc, &cfg, node->rc_mem);
	assert_int_equal(roce_rc_to_init(&node->rc), 0);
	assert_int_equal(roce_rc_to_rtr(&node->rc, &rtr), 0);
	assert_int_equal(roce_rc_to_rts(&node->rc, &rts), 0);
}

void net_init(struct net *net, const struct net_attr *attr)
{
	memset(net, 0, sizeof(*net));
	net->attr = *attr;
	net->rng = attr->seed * 0x9e3779b97f4a7c15ull | 1;
	net->now_ns = 1000000000;
	init_node(net, 0);
	init_node(net, 1);
}

void net_fini(struct net *net)
{
	while (net->in_flight) {
		struct net_datagram *d = net->in_flight;

		net->in_flight = d->next;
		free(d);
	}
	for (int i = 0; i < 2; i++) {
		free(net->node[i].heap);
		free(net->node[i].rc_mem);
		free(net->node[i].rq_mem);
	}
}

/* --- the wire ------------------------------------------------------------------------------ */

/* IPv6, where no damage can hide behind an unknown IP identification. */
static void make_flow(struct roce_icrc_flow *flow, int to)
{
	struct in6_addr a[2] = {{.s6_addr = {0xfd, 1}}, {.s6_addr = {0xfd, 2}}};

	roce_icrc_flow_v6(flow, &a[1 - to], &a[to], htons(50000), htons(4791));
}

static void put_on_wire(struct net *net, int to, const struct iovec *iov, uint32_t niov,
			uint64_t at_ns)
{
	struct net_datagram *d = malloc(sizeof(*d)), **p = &net->in_flight;

	assert_non_null(d);
	d->to = to;
	d->at_ns = at_ns;
	d->len = 0;
	for (uint32_t i = 0; i < niov; i++) {
		assert_true(d->len + iov[i].iov_len <= MAX_WIRE);
		if (iov[i].iov_len)
			memcpy(d->bytes + d->len, iov[i].iov_base, iov[i].iov_len);
		d->len += iov[i].iov_len;
	}
	if (net_random(net, 999) < net->attr.corrupt)
		d->bytes[net_random(net, (uint32_t)d->len - 1)] ^=
			(uint8_t)(1 << net_random(net, 7));
	while (*p && (*p)->at_ns <= at_ns)
		p = &(*p)->next;
	d->next = *p;
	*p = d;
}

static void send_packet(struct net *net, int to, struct roce_tx *tx, uint32_t i)
{
	const struct roce_tx_pkt *pkt = &tx->pkts[i];
	const struct iovec *iov = &tx->iov[pkt->first_iov];
	uint64_t *line = &net->node[1 - to].line_ns, at_ns;

	*line = (*line > net->now_ns ? *line : net->now_ns) + PACKET_NS;
	at_ns = *line + WIRE_NS;
	net->num_sent++;
	if (net_random(net, 999) < net->attr.drop) {
		net->num_lost++;
		return;
	}
	if (net_random(net, 999) < net->attr.dup)
		put_on_wire(net, to, iov, pkt->niov, at_ns + net_random(net, HOLD_NS));
	if (net_random(net, 999) < net->attr.reorder)
		at_ns += net_random(net, HOLD_NS);
	put_on_wire(net, to, iov, pkt->niov, at_ns);
}

static bool send_all(struct net *net, int from)
{
	static struct roce_tx_pkt pkts[TX_PKTS];
	static struct iovec iov[TX_PKTS * 4];
	struct roce_tx tx = {pkts, iov, TX_PKTS, TX_PKTS * 4, 0, 0};
	struct roce_rc *rc = &net->node[from].rc;
	struct roce_icrc_flow flow;

	if (!roce_rc_has_output(rc))
		return false;
	make_flow(&flow, 1 - from);
	(void)roce_rc_output(rc, &tx, net->now_ns);
	for (uint32_t i = 0; i < tx.num_pkts; i++) {
		roce_tx_seal(&tx, i, &flow, 0);
		send_packet(net, 1 - from, &tx, i);
	}
	return true;
}

static void deliver(struct net *net, const struct net_datagram *d)
{
	struct roce_icrc_flow flow;
	struct roce_pkt pkt;

	make_flow(&flow, d->to);
	if (!roce_icrc_check(&flow, d->bytes, d->len, NULL) ||
	    roce_hdr_parse(&pkt, d->bytes, d->len)) {
		net->num_lost++;
		return;
	}
	assert_int_equal(pkt.dest_qpn, DEST_QPN(d->to));
	assert_true(pkt.mig_req);
	if (net->filter && !net->filter(net, d->to, &pkt))
		net->num_lost++;
	else
		roce_rc_input(&net->node[d->to].rc, &pkt, net->now_ns);
}

static uint64_t next_event(const struct net *net)
{
	uint64_t at = net->in_flight ? net->in_flight->at_ns : UINT64_MAX;

	for (int i = 0; i < 2; i++)
		if (roce_rc_deadline(&net->node[i].rc) < at)
			at = roce_rc_deadline(&net->node[i].rc);
	return at;
}

bool net_run(struct net *net, uint64_t max_ms)
{
	uint64_t end_ns = net->now_ns + max_ms * 1000000, at;
	unsigned int idle = 0;

	for (;;) {
		bool first = send_all(net, 0), second = send_all(net, 1), any = first || second;

		/* has_output() that leads to nothing would make a lane spin. */
		idle = any ? idle + 1 : 0;
		assert_true(idle < 10000);
		if (any)
			continue;
		at = next_event(net);
		if (at == UINT64_MAX)
			return true;
		if (at > end_ns)
			return false;
		if (at > net->now_ns)
			net->now_ns = at;
		while (net->in_flight && net->in_flight->at_ns <= net->now_ns) {
			struct net_datagram *d = net->in_flight;

			net->in_flight = d->next;
			deliver(net, d);
			free(d);
		}
		roce_rc_timer(&net->node[0].rc, net->now_ns);
		roce_rc_timer(&net->node[1].rc, net->now_ns);
	}
}

/* --- work ---------------------------------------------------------------------------------- */

int net_post(struct net_node *node, enum ibv_wr_opcode opcode, uint64_t wr_id, uint32_t local,
	     uint32_t len, uint32_t remote, unsigned int flags)
{
	struct ibv_sge sge = {NET_HEAP_VA + local, len, NET_KEY};
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = flags,
		.wr.rdma = {.remote_addr = NET_HEAP_VA + remote, .rkey = NET_KEY},
	};

	if (flags & IBV_SEND_INLINE)
		sge.addr = (uintptr_t)node->heap + local;
	if (opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_LOCAL_INV)
		wr.invalidate_rkey = 77;
	else
		wr.imm_data = htonl(0xc0ffee);
	return roce_rc_post_send(&node->rc, &wr);
}

int net_post_recv(struct net_node *node, uint64_t wr_id, uint32_t local, uint32_t len)
{
	struct ibv_sge sge = {NET_HEAP_VA + local, len, NET_KEY};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};

	return roce_rc_post_recv(&node->rc, &wr);
}

static uint8_t pattern(uint32_t i, uint32_t seed)
{
	uint32_t x = (i + 1) * 2654435761u ^ seed * 40503u;

	return (uint8_t)(x >> 13 ^ x >> 3);
}

void net_fill(struct net_node *node, uint32_t at, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++)
		node->heap[at + i] = pattern(i, seed);
}

bool net_is_filled(const struct net_node *node, uint32_t at, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++)
		if (node->heap[at + i] != pattern(i, seed))
			return false;
	return true;
}
