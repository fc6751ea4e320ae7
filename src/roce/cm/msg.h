/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg.h - the messages of the IB connection manager (IBTA volume 1, 12.6) as plain structs in host
 * byte order, and their way into and out of a MAD. Says nothing about when they are sent.
 *
 * Private data has a fixed size per message on the wire; a decoded message carries the whole
 * field, and what a sender leaves unset is 0.
 */
#ifndef ROCE_CM_MSG_H
#define ROCE_CM_MSG_H

#include "roce/cm/mad.h"

enum {
	ROCE_CM_REQ_PRIVATE = 92,
	ROCE_CM_REP_PRIVATE = 196,
	ROCE_CM_REJ_PRIVATE = 148,
	ROCE_CM_REJ_ARI = 72,
	/* RDMA IP CM service (IBTA volume 1, annex A11): head of a REQ's private data. */
	ROCE_CM_IP_HDR = 36,
	ROCE_CM_REQ_CONSUMER = ROCE_CM_REQ_PRIVATE - ROCE_CM_IP_HDR,
};

/* Reasons of a REJ (12.6.7.2), those that we send or treat specially. */
enum roce_cm_reason {
	ROCE_CM_REJ_NO_QP = 1,
	ROCE_CM_REJ_NO_RESOURCES = 3,
	ROCE_CM_REJ_TIMEOUT = 4,
	ROCE_CM_REJ_UNSUPPORTED = 5,
	ROCE_CM_REJ_INVALID_COMM_ID = 6,
	ROCE_CM_REJ_INVALID_SERVICE_ID = 8,
	ROCE_CM_REJ_INVALID_TRANSPORT = 9,
	ROCE_CM_REJ_STALE = 10,
	ROCE_CM_REJ_INVALID_MTU = 26,
	ROCE_CM_REJ_CONSUMER = 28,
	ROCE_CM_REJ_VENDOR_OPTION = 35,
};

/* "Message REJected" of a REJ and "Message MRAed" of an MRA. */
enum roce_cm_about {
	ROCE_CM_ABOUT_REQ = 0,
	ROCE_CM_ABOUT_REP = 1,
	ROCE_CM_ABOUT_NONE = 2,
};

struct roce_cm_req {
	uint32_t local_id;
	uint64_t service_id;
	uint64_t ca_guid;
	uint32_t qpn;
	uint32_t starting_psn; /* where the receiver of this message starts to send */
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t remote_timeout; /* exponent: how long the sender waits for REP */
	uint8_t local_timeout; /* exponent: how long the receiver shall wait for RTU */
	uint8_t transport; /* 0: RC */
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t max_cm_retries;
	uint8_t srq;
	uint8_t mtu; /* enum ibv_mtu */
	uint16_t pkey;
	uint16_t local_lid; /* RoCE has none: 0xffff */
	uint16_t remote_lid;
	uint8_t local_gid[16];
	uint8_t remote_gid[16];
	uint32_t flow_label;
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t ack_timeout; /* exponent: for the receiver's QP */
	uint8_t private_data[ROCE_CM_REQ_PRIVATE];
};

struct roce_cm_mra {
	uint32_t local_id;
	uint32_t remote_id;
	uint8_t about;
	uint8_t service_timeout;
};

struct roce_cm_rej {
	uint32_t local_id;
	uint32_t remote_id;
	uint8_t about;
	uint16_t reason;
	uint8_t ari_bytes;
	uint8_t ari[ROCE_CM_REJ_ARI];
	uint8_t private_data[ROCE_CM_REJ_PRIVATE];
};

struct roce_cm_rep {
	uint32_t local_id;
	uint32_t remote_id;
	uint32_t qpn;
	uint32_t starting_psn;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t target_ack_delay;
	uint8_t failover;
	uint8_t flow_control;
	uint8_t rnr_retry_count;
	uint8_t srq;
	uint64_t ca_guid;
	uint8_t private_data[ROCE_CM_REP_PRIVATE];
};

/* RTU and DREP: two ids and private data that nobody uses. */
struct roce_cm_ids {
	uint32_t local_id;
	uint32_t remote_id;
};

struct roce_cm_dreq {
	uint32_t local_id;
	uint32_t remote_id;
	uint32_t remote_qpn; /* the receiver's QP */
};

union roce_cm_body {
	struct roce_cm_req req;
	struct roce_cm_mra mra;
	struct roce_cm_rej rej;
	struct roce_cm_rep rep;
	struct roce_cm_ids rtu;
	struct roce_cm_dreq dreq;
	struct roce_cm_ids drep;
};

struct roce_cm_msg {
	struct roce_mad_hdr hdr; /* hdr.attr_id says which member of body is meant */
	union roce_cm_body body;
};

/* -EBADMSG: not a CM MAD. -EOPNOTSUPP: a CM message that we do not speak (SIDR, LAP, ...). */
int roce_cm_decode(const uint8_t *mad, size_t bytes, struct roce_cm_msg *ret_msg);
void roce_cm_encode(const struct roce_cm_msg *msg, uint8_t mad[ROCE_CM_MAD_BYTES]);

/* The RDMA IP CM header. Addresses are 16 bytes; an IPv4 one is mapped (::ffff:a.b.c.d). */
struct roce_cm_ip_hdr {
	uint8_t version; /* 4 or 6 */
	uint16_t src_port;
	uint8_t src[16];
	uint8_t dst[16];
};

/* -EPROTO: a version that we do not know. */
int roce_cm_ip_hdr_decode(const uint8_t private_data[ROCE_CM_REQ_PRIVATE],
			  struct roce_cm_ip_hdr *ret_hdr);
void roce_cm_ip_hdr_encode(const struct roce_cm_ip_hdr *hdr,
			   uint8_t private_data[ROCE_CM_REQ_PRIVATE]);

#endif /* ROCE_CM_MSG_H */
