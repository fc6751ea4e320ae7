/* SPDX-License-Identifier: Apache-2.0 */
/* The batch of outgoing packets: header, payload and tail as neighbouring iovecs. */
#include <string.h>

#include "roce/proto/rc_priv.h"

bool roce_tx_has_room(const struct roce_tx *tx, uint32_t pieces)
{
	return tx->num_pkts < tx->max_pkts && tx->max_iov - tx->num_iov >= pieces + 2;
}

static void push_iov(struct roce_tx *tx, struct roce_tx_pkt *pkt, const void *data, uint32_t len)
{
	tx->iov[tx->num_iov++] = (struct iovec){(void *)(uintptr_t)data, len};
	pkt->niov++;
	pkt->len += len;
}

struct roce_tx_pkt *roce_tx_begin(struct roce_tx *tx, const struct roce_pkt *hdr)
{
	struct roce_tx_pkt *pkt = &tx->pkts[tx->num_pkts];

	pkt->hdr_len = (uint8_t)roce_hdr_build(pkt->hdr, hdr);
	pkt->tail_len = hdr->pad + ROCE_ICRC_BYTES;
	memset(pkt->tail, 0, sizeof(pkt->tail));
	pkt->first_iov = tx->num_iov;
	pkt->niov = 0;
	pkt->len = 0;
	push_iov(tx, pkt, pkt->hdr, pkt->hdr_len);
	return pkt;
}

void roce_tx_add(struct roce_tx *tx, struct roce_tx_pkt *pkt, const void *data, uint32_t len)
{
	push_iov(tx, pkt, data, len);
}

void roce_tx_end(struct roce_tx *tx, struct roce_tx_pkt *pkt)
{
	push_iov(tx, pkt, pkt->tail, pkt->tail_len);
	tx->num_pkts++;
}

void roce_tx_seal(struct roce_tx *tx, uint32_t i, const struct roce_icrc_flow *flow, uint16_t ip_id)
{
	struct roce_tx_pkt *pkt = &tx->pkts[i];
	struct iovec *iov = &tx->iov[pkt->first_iov];
	struct iovec *tail = &iov[pkt->niov - 1];
	uint32_t pad = pkt->tail_len - (uint32_t)ROCE_ICRC_BYTES, icrc;

	tail->iov_len = pad;
	icrc = roce_icrc_compute(flow, iov, pkt->niov, ip_id);
	tail->iov_len = pkt->tail_len;
	roce_icrc_put(pkt->tail + pad, icrc);
}
