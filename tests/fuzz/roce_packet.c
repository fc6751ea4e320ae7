/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the UDP payload of a RoCEv2 packet: parsing stays inside them, what was parsed is
 * what building writes, and an ICRC that we made is right while one with a flipped bit is not.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "roce/proto/hdr.h"
#include "roce/proto/icrc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

static void check_headers(const uint8_t *data, const struct roce_pkt *pkt, size_t size)
{
	uint8_t hdr[ROCE_HDR_MAX];
	struct roce_pkt again = {0};
	size_t payload_at, n;

	check(pkt->payload_len + pkt->pad + ROCE_ICRC_BYTES + ROCE_BTH_BYTES <= size);
	if (pkt->payload_len) {
		check(pkt->payload >= data && pkt->payload + pkt->payload_len <= data + size);
		payload_at = (size_t)(pkt->payload - data);
		check(payload_at + pkt->payload_len + pkt->pad + ROCE_ICRC_BYTES == size);
	}
	/* Atomics are understood, but never sent. */
	if (pkt->opcode >= 0x12 && pkt->opcode <= 0x14)
		return;
	n = roce_hdr_build(hdr, pkt);
	check(n <= sizeof(hdr) && n + pkt->payload_len + pkt->pad + ROCE_ICRC_BYTES == size);
	uint8_t *copy = malloc(size);

	check(copy != NULL);
	memcpy(copy, data, size);
	memcpy(copy, hdr, n);
	check(roce_hdr_parse(&again, copy, size) == 0);
	check(again.opcode == pkt->opcode && again.dest_qpn == pkt->dest_qpn &&
	      again.va == pkt->va && again.rkey == pkt->rkey && again.dma_len == pkt->dma_len &&
	      again.payload_len == pkt->payload_len && again.inv_rkey == pkt->inv_rkey);
	free(copy);
}

static void check_icrc(const uint8_t *data, size_t size)
{
	struct in_addr src = {.s_addr = htonl(0x0a630002)}, dst = {.s_addr = htonl(0x0a630001)};
	struct roce_icrc_flow flow;
	uint16_t id = (uint16_t)(data[0] << 8 | data[1]), guess = 0;
	uint8_t *copy = malloc(size);
	struct iovec iov = {.iov_base = copy, .iov_len = size - ROCE_ICRC_BYTES};

	check(copy != NULL);
	memcpy(copy, data, size);
	roce_icrc_flow_v4(&flow, src, dst, htons(49152), htons(4791));
	roce_icrc_put(copy + size - ROCE_ICRC_BYTES, roce_icrc_compute(&flow, &iov, 1, id));
	check(roce_icrc_check(&flow, copy, size, &guess));
	check(guess == id);
	check(roce_icrc_check_full(&flow, copy, size, id, 0x4000));
	copy[size - ROCE_ICRC_BYTES] ^= 1;
	check(!roce_icrc_check_full(&flow, copy, size, id, 0x4000));
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roce_pkt pkt = {0};

	if (size > 4096 + 128)
		return 0;
	if (roce_hdr_parse(&pkt, data, size) == 0)
		check_headers(data, &pkt, size);
	if (size >= ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
		check_icrc(data, size);
	return 0;
}
