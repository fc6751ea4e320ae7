/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg.c - the layouts of the CM messages (IBTA volume 1, 12.6.5 to 12.6.11) as tables, one row a
 * field that we use. What has no row is reserved, LID routed, or alternate path: 0 when sent (LIDs
 * 0xffff, as RoCE peers do) and ignored when received.
 */
#include "roce/cm/msg.h"

#include <errno.h>
#include <string.h>

#include <infiniband/umad_cm.h>

/* A number: byte in the message (behind the MAD header), first bit in it, bits. */
#define NUM(type, member, byte, bit, bits)                                                \
	{                                                                                 \
		ROCE_CM_MAD_HDR_BYTES + (byte), bit, bits, offsetof(struct type, member), \
			sizeof(((struct type *)0)->member)                                \
	}
/* Bytes as they are. */
#define RAW(type, member, byte) NUM(type, member, byte, 0, 0)

static const struct roce_mad_field req_fields[] = {
	NUM(roce_cm_req, local_id, 0, 0, 32),
	NUM(roce_cm_req, service_id, 8, 0, 64),
	NUM(roce_cm_req, ca_guid, 16, 0, 64),
	NUM(roce_cm_req, qpn, 32, 0, 24),
	NUM(roce_cm_req, responder_resources, 35, 0, 8),
	NUM(roce_cm_req, initiator_depth, 39, 0, 8),
	NUM(roce_cm_req, remote_timeout, 43, 0, 5),
	NUM(roce_cm_req, transport, 43, 5, 2),
	NUM(roce_cm_req, flow_control, 43, 7, 1),
	NUM(roce_cm_req, starting_psn, 44, 0, 24),
	NUM(roce_cm_req, local_timeout, 47, 0, 5),
	NUM(roce_cm_req, retry_count, 47, 5, 3),
	NUM(roce_cm_req, pkey, 48, 0, 16),
	NUM(roce_cm_req, mtu, 50, 0, 4),
	NUM(roce_cm_req, rnr_retry_count, 50, 5, 3),
	NUM(roce_cm_req, max_cm_retries, 51, 0, 4),
	NUM(roce_cm_req, srq, 51, 4, 1),
	NUM(roce_cm_req, local_lid, 52, 0, 16),
	NUM(roce_cm_req, remote_lid, 54, 0, 16),
	RAW(roce_cm_req, local_gid, 56),
	RAW(roce_cm_req, remote_gid, 72),
	NUM(roce_cm_req, flow_label, 88, 0, 20),
	NUM(roce_cm_req, traffic_class, 92, 0, 8),
	NUM(roce_cm_req, hop_limit, 93, 0, 8),
	NUM(roce_cm_req, ack_timeout, 95, 0, 5),
	RAW(roce_cm_req, private_data, 140),
};

static const struct roce_mad_field mra_fields[] = {
	NUM(roce_cm_mra, local_id, 0, 0, 32),
	NUM(roce_cm_mra, remote_id, 4, 0, 32),
	NUM(roce_cm_mra, about, 8, 0, 2),
	NUM(roce_cm_mra, service_timeout, 9, 0, 5),
};

static const struct roce_mad_field rej_fields[] = {
	NUM(roce_cm_rej, local_id, 0, 0, 32), NUM(roce_cm_rej, remote_id, 4, 0, 32),
	NUM(roce_cm_rej, about, 8, 0, 2),     NUM(roce_cm_rej, ari_bytes, 9, 0, 7),
	NUM(roce_cm_rej, reason, 10, 0, 16),  RAW(roce_cm_rej, ari, 12),
	RAW(roce_cm_rej, private_data, 84),
};

static const struct roce_mad_field rep_fields[] = {
	NUM(roce_cm_rep, local_id, 0, 0, 32),
	NUM(roce_cm_rep, remote_id, 4, 0, 32),
	NUM(roce_cm_rep, qpn, 12, 0, 24),
	NUM(roce_cm_rep, starting_psn, 20, 0, 24),
	NUM(roce_cm_rep, responder_resources, 24, 0, 8),
	NUM(roce_cm_rep, initiator_depth, 25, 0, 8),
	NUM(roce_cm_rep, target_ack_delay, 26, 0, 5),
	NUM(roce_cm_rep, failover, 26, 5, 2),
	NUM(roce_cm_rep, flow_control, 26, 7, 1),
	NUM(roce_cm_rep, rnr_retry_count, 27, 0, 3),
	NUM(roce_cm_rep, srq, 27, 3, 1),
	NUM(roce_cm_rep, ca_guid, 28, 0, 64),
	RAW(roce_cm_rep, private_data, 36),
};

/* RTU, DREP */
static const struct roce_mad_field ids_fields[] = {
	NUM(roce_cm_ids, local_id, 0, 0, 32),
	NUM(roce_cm_ids, remote_id, 4, 0, 32),
};

static const struct roce_mad_field dreq_fields[] = {
	NUM(roce_cm_dreq, local_id, 0, 0, 32),
	NUM(roce_cm_dreq, remote_id, 4, 0, 32),
	NUM(roce_cm_dreq, remote_qpn, 8, 0, 24),
};

static const struct layout {
	uint16_t attr_id;
	const struct roce_mad_field *fields;
	size_t n;
} layouts[] = {
#define LAYOUT(attr, table)                                     \
	{                                                       \
		attr, table, sizeof(table) / sizeof((table)[0]) \
	}
	LAYOUT(UMAD_CM_ATTR_REQ, req_fields),  LAYOUT(UMAD_CM_ATTR_MRA, mra_fields),
	LAYOUT(UMAD_CM_ATTR_REJ, rej_fields),  LAYOUT(UMAD_CM_ATTR_REP, rep_fields),
	LAYOUT(UMAD_CM_ATTR_RTU, ids_fields),  LAYOUT(UMAD_CM_ATTR_DREQ, dreq_fields),
	LAYOUT(UMAD_CM_ATTR_DREP, ids_fields),
#undef LAYOUT
};

static const struct layout *find_layout(uint16_t attr_id)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (layouts[i].attr_id == attr_id)
			return &layouts[i];
	}
	return NULL;
}

int roce_cm_decode(const uint8_t *mad, size_t bytes, struct roce_cm_msg *ret_msg)
{
	struct roce_cm_msg msg = {0};
	const struct layout *l;
	int err;

	err = roce_mad_decode(mad, bytes, &msg.hdr);
	if (err)
		return err;
	l = find_layout(msg.hdr.attr_id);
	if (!l)
		return -EOPNOTSUPP;
	roce_mad_get_fields(mad, l->fields, l->n, &msg.body);
	*ret_msg = msg;
	return 0;
}

void roce_cm_encode(const struct roce_cm_msg *msg, uint8_t mad[ROCE_CM_MAD_BYTES])
{
	const struct layout *l = find_layout(msg->hdr.attr_id);

	roce_mad_encode(&msg->hdr, mad);
	if (l)
		roce_mad_put_fields(mad, l->fields, l->n, &msg->body);
}

/*
 * RDMA IP CM header (annex A11.3): version nibbles, IP version nibble, source port, two addresses.
 * An IPv4 address stands in the last 4 of its 16 bytes, the others are 0.
 */
enum {
	IP_HDR_SRC = 4,
	IP_HDR_DST = 20
};

static void addr_from_wire(uint8_t addr[16], const uint8_t *wire, uint8_t version)
{
	memcpy(addr, wire, 16);
	if (version == 4) {
		memset(addr, 0, 10);
		memset(addr + 10, 0xff, 2);
	}
}

static void addr_to_wire(uint8_t *wire, const uint8_t addr[16], uint8_t version)
{
	memcpy(wire, addr, 16);
	if (version == 4)
		memset(wire, 0, 12);
}

int roce_cm_ip_hdr_decode(const uint8_t private_data[ROCE_CM_REQ_PRIVATE],
			  struct roce_cm_ip_hdr *ret_hdr)
{
	uint8_t version = private_data[1] >> 4;

	if (private_data[0] != 0 || (version != 4 && version != 6))
		return -EPROTO;
	ret_hdr->version = version;
	ret_hdr->src_port = (uint16_t)(private_data[2] << 8 | private_data[3]);
	addr_from_wire(ret_hdr->src, private_data + IP_HDR_SRC, version);
	addr_from_wire(ret_hdr->dst, private_data + IP_HDR_DST, version);
	return 0;
}

void roce_cm_ip_hdr_encode(const struct roce_cm_ip_hdr *hdr,
			   uint8_t private_data[ROCE_CM_REQ_PRIVATE])
{
	private_data[0] = 0;
	private_data[1] = (uint8_t)(hdr->version << 4);
	private_data[2] = (uint8_t)(hdr->src_port >> 8);
	private_data[3] = (uint8_t)hdr->src_port;
	addr_to_wire(private_data + IP_HDR_SRC, hdr->src, hdr->version);
	addr_to_wire(private_data + IP_HDR_DST, hdr->dst, hdr->version);
}
