/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving half of a lane: takes GRO trains apart, checks each packet's headers and ICRC,
 * finds its QP and feeds the engine. Packets for QP1 are MADs and go to the background thread.
 */
#include "roce/lane_rx.h"

#include <string.h>

#include "roce/mad.h"
#include "roce/progress.h"

/* What stays the same for the packets of one receive call on one socket. */
struct rx_pass {
	struct roce_lane *lane;
	unsigned int gid_index;
	uint64_t now_ns;
	struct roce_qp *qp; /* of the packet before: touched when another one comes */
};

static bool is_same_source(const union roce_addr *a, const union roce_addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family || a->in.sin_port != b->in.sin_port)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&a->in6.sin6_addr, &b->in6.sin6_addr);
}

static void make_rx_flow(struct roce_icrc_flow *flow, const struct rx_pass *pass,
			 const union roce_addr *from)
{
	union roce_addr to = pass->lane->dev->gids[pass->gid_index].addr;

	to.in.sin_port = htons(ROCE_UDP_PORT);
	roce_icrc_flow_sockaddr(flow, &from->sa, &to.sa);
}

static void receive_mad(const struct rx_pass *pass, const struct roce_rx_msg *msg,
			const uint8_t *data, uint32_t len, const struct roce_pkt *pkt)
{
	struct roce_lane_counters *counters = &pass->lane->counters;
	struct roce_mad_path path = {.dev = pass->lane->dev,
				     .gid_index = pass->gid_index,
				     .peer = *msg->from};
	struct roce_icrc_flow flow;
	uint16_t ip_id = 0;

	make_rx_flow(&flow, pass, msg->from);
	if (!roce_icrc_check(&flow, data, len, &ip_id)) {
		counters->drop_icrc++;
		return;
	}
	if (pkt->opcode != ROCE_UD_SEND_ONLY || pkt->qkey != ROCE_QP1_QKEY ||
	    pkt->payload_len != ROCE_MAD_BYTES || !roce_progress_mad(&path, pkt->payload)) {
		counters->drop_mad++;
		return;
	}
	counters->rx_mads++;
}

/* The source port is the peer's own choice and may change; its address may not. */
static bool check_source(struct rx_pass *pass, struct roce_qp *qp, const union roce_addr *from)
{
	if (is_same_source(&qp->rx_from, from))
		return true;
	if (!roce_addr_equal(&qp->peer.sa, &from->sa))
		return false;
	qp->rx_from = *from;
	make_rx_flow(&qp->rx_flow, pass, from);
	return true;
}

/*
 * The IP identification is a guess (icrc.h): a peer that counts goes on counting, one that sends
 * like us starts every datagram or train at 0.
 */
static bool check_icrc(struct roce_qp *qp, const struct roce_rx_msg *msg, const uint8_t *data,
		       uint32_t len)
{
	bool is_first = data == msg->data;
	uint16_t id = is_first && qp->rx_starts_at_0 ? 0 : (uint16_t)(qp->rx_ip_id + 1);

	if (!roce_icrc_check(&qp->rx_flow, data, len, &id))
		return false;
	if (is_first)
		qp->rx_starts_at_0 = id == 0;
	qp->rx_ip_id = id;
	return true;
}

static void receive_packet(struct rx_pass *pass, const struct roce_rx_msg *msg, const uint8_t *data,
			   uint32_t len)
{
	struct roce_lane *lane = pass->lane;
	struct roce_qp *qp;
	struct roce_pkt pkt;

	lane->counters.rx_packets++;
	if (roce_hdr_parse(&pkt, data, len)) {
		lane->counters.drop_header++;
		return;
	}
	if (pkt.dest_qpn == ROCE_QP1) {
		receive_mad(pass, msg, data, len, &pkt);
		return;
	}
	qp = lane->qps[pkt.dest_qpn % ROCE_QP_SLOTS];
	if (!qp || qp->ibqp.qp_num != pkt.dest_qpn || !qp->is_connected) {
		lane->counters.drop_no_qp++;
		return;
	}
	if (qp->gid_index != pass->gid_index || !check_source(pass, qp, msg->from)) {
		lane->counters.drop_wrong_peer++;
		return;
	}
	if (!check_icrc(qp, msg, data, len)) {
		lane->counters.drop_icrc++;
		return;
	}
	if (pass->qp && pass->qp != qp)
		roce_lane_touch(lane, pass->qp);
	pass->qp = qp;
	roce_rc_input(&qp->rc, &pkt, pass->now_ns);
}

static void receive_socket(struct rx_pass *pass)
{
	struct roce_rx_msg msgs[ROCE_NET_RX_MSGS];
	struct roce_lane *lane = pass->lane;
	size_t count = roce_net_recv(&lane->nets[pass->gid_index], lane->rx, msgs);

	for (size_t i = 0; i < count; i++) {
		const struct roce_rx_msg *msg = &msgs[i];

		lane->counters.rx_datagrams++;
		for (uint32_t at = 0; at < msg->len; at += msg->seg_len) {
			uint32_t left = msg->len - at;

			receive_packet(pass, msg, msg->data + at,
				       left < msg->seg_len ? left : msg->seg_len);
		}
	}
	if (pass->qp)
		roce_lane_touch(lane, pass->qp);
	pass->qp = NULL;
}

void roce_lane_receive(struct roce_lane *lane, enum roce_drive which, uint64_t now_ns)
{
	struct rx_pass pass = {.lane = lane, .now_ns = now_ns};

	for (unsigned int g = 0; g < lane->dev->num_gids; g++) {
		const struct roce_net *net = &lane->nets[g];

		pass.gid_index = g;
		if (net->fd >= 0 && (which == ROCE_DRIVE_ALL || net->users > 0))
			receive_socket(&pass);
	}
}
