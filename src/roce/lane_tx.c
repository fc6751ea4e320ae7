/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sending half of a lane: collects packets of the QPs that are ready, seals them, groups
 * neighbours of one QP and one length into GSO trains, and hands them to the socket.
 */
#include "roce/lane.h"

/* Batches in one go, so that a long sender does not keep a lane from receiving. */
#define MAX_BATCHES 4

/* Lets QPs append to the batch until it is full or nobody is ready. */
static void collect(struct roce_lane *lane, uint64_t now_ns)
{
	struct roce_lane_tx *tx = lane->tx;
	struct roce_qp *qp;

	roce_tx_reset(&tx->batch);
	while ((qp = TAILQ_FIRST(&lane->ready)) && tx->batch.num_pkts < tx->batch.max_pkts) {
		uint32_t first = tx->batch.num_pkts;
		bool more = roce_rc_output(&qp->rc, &tx->batch, now_ns);

		for (uint32_t i = first; i < tx->batch.num_pkts; i++)
			tx->qp_of[i] = qp;
		TAILQ_REMOVE(&lane->ready, qp, ready_link);
		qp->is_ready = false;
		roce_lane_touch(lane, qp);
		/* No progress and yet more: the batch has no room for its next packet. */
		if (more && tx->batch.num_pkts == first)
			return;
	}
}

/* How many packets from first on make one train. */
static uint32_t train_length(const struct roce_lane_tx *tx, uint32_t first, bool has_gso)
{
	const struct roce_tx_pkt *pkts = tx->pkts;
	uint32_t bytes = pkts[first].len;
	uint32_t iovs = pkts[first].niov;
	uint32_t i;

	if (!has_gso)
		return 1;
	for (i = first + 1; i < tx->batch.num_pkts && i - first < ROCE_GSO_MAX_PKTS; i++) {
		bytes += pkts[i].len;
		iovs += pkts[i].niov;
		if (tx->qp_of[i] != tx->qp_of[first] || pkts[i].len > pkts[first].len ||
		    bytes > ROCE_GSO_MAX_BYTES || iovs > ROCE_GSO_MAX_IOV)
			break;
		if (pkts[i].len < pkts[first].len)
			return i + 1 - first; /* the shorter one ends it */
	}
	return i - first;
}

static struct roce_train make_train(struct roce_lane_tx *tx, uint32_t first, uint32_t count)
{
	const struct roce_tx_pkt *last = &tx->pkts[first + count - 1];
	struct roce_qp *qp = tx->qp_of[first];

	for (uint32_t i = 0; i < count; i++)
		roce_tx_seal(&tx->batch, first + i, &qp->tx_flow, (uint16_t)i);
	return (struct roce_train){
		.to = &qp->peer,
		.iov = &tx->iov[tx->pkts[first].first_iov],
		.niov = last->first_iov + last->niov - tx->pkts[first].first_iov,
		.num_pkts = count,
		.seg_len = tx->pkts[first].len,
	};
}

static void send_batch(struct roce_lane *lane)
{
	struct roce_train trains[ROCE_NET_TX_MSGS];
	struct roce_lane_tx *tx = lane->tx;
	struct roce_net *net = NULL;
	size_t count = 0;

	for (uint32_t i = 0; i < tx->batch.num_pkts;) {
		struct roce_net *to = &lane->nets[tx->qp_of[i]->gid_index];
		uint32_t pkts;

		if (count == ROCE_NET_TX_MSGS || (count && to != net)) {
			lane->counters.tx_lost += roce_net_send(net, trains, count);
			count = 0;
		}
		net = to;
		pkts = train_length(tx, i, net->has_gso);
		trains[count++] = make_train(tx, i, pkts);
		lane->counters.tx_trains++;
		i += pkts;
	}
	if (count)
		lane->counters.tx_lost += roce_net_send(net, trains, count);
	lane->counters.tx_packets += tx->batch.num_pkts;
}

void roce_lane_flush(struct roce_lane *lane, uint64_t now_ns)
{
	for (int i = 0; i < MAX_BATCHES && !TAILQ_EMPTY(&lane->ready); i++) {
		collect(lane, now_ns);
		if (lane->tx->batch.num_pkts)
			send_batch(lane);
	}
	/* The rest is work for whoever drives the lane next, now. */
	if (!TAILQ_EMPTY(&lane->ready))
		atomic_store(&lane->deadline, now_ns);
}
