/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends management datagrams: UD packets from QP1 to QP1 (IBTA 13.4.2, 3.5.3). What is in them is
 * cm/'s business; receiving is in lane_rx.c.
 */
#include <errno.h>
#include <stdatomic.h>

#include "roce/lane.h"
#include "roce/mad.h"

static size_t build_header(uint8_t hdr[ROCE_HDR_MAX])
{
	/* UD has no sequence; the number only counts (IBTA 9.8.1). */
	static atomic_uint next_psn;
	const struct roce_pkt pkt = {
		.opcode = ROCE_UD_SEND_ONLY,
		.mig_req = true,
		.ack_req = true, /* as Linux does; nobody answers */
		.pkey = ROCE_PKEY,
		.dest_qpn = ROCE_QP1,
		.psn = roce_psn_make(atomic_fetch_add(&next_psn, 1)),
		.qkey = ROCE_QP1_QKEY,
		.src_qpn = ROCE_QP1,
	};

	return roce_hdr_build(hdr, &pkt);
}

int roce_device_send_mad(struct roce_device *dev, unsigned int gid_index,
			 const struct sockaddr *peer, const uint8_t mad[ROCE_MAD_BYTES])
{
	uint8_t hdr[ROCE_HDR_MAX], icrc[ROCE_ICRC_BYTES];
	struct iovec iov[] = {
		{.iov_base = hdr, .iov_len = build_header(hdr)},
		{.iov_base = (void *)(uintptr_t)mad, .iov_len = ROCE_MAD_BYTES},
		{.iov_base = icrc, .iov_len = sizeof(icrc)},
	};
	struct roce_icrc_flow flow;
	union roce_addr from, to;
	union ibv_gid gid;
	int rc = roce_gid_from_sockaddr(peer, &gid);

	if (rc)
		return rc;
	if (gid_index >= dev->num_gids)
		return -EINVAL;
	if (dev->gids[gid_index].bind_error)
		return dev->gids[gid_index].bind_error;
	from = dev->gids[gid_index].addr;
	roce_gid_to_addr(&gid, dev->ifindex, &to);
	if (from.sa.sa_family != to.sa.sa_family)
		return -EAFNOSUPPORT;
	from.in.sin_port = to.in.sin_port = htons(ROCE_UDP_PORT);
	roce_icrc_flow_sockaddr(&flow, &from.sa, &to.sa);
	roce_icrc_put(icrc, roce_icrc_compute(&flow, iov, 2, 0));
	return roce_net_send_one(&dev->lane->nets[gid_index], &to, iov, 3);
}
