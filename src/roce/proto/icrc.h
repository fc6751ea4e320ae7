/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant CRC of RoCEv2 packets (IBTA A17.3.3 and 7.8.1) over IPv4 and IPv6: a CRC-32 over the
 * network and transport headers with their variant fields set to ones, payload and pad.
 *
 * Sending: an unconnected UDP socket with IP_PMTUDISC_DO sends DF and identification 0; the
 * segments of one UDP GSO send count 0, 1, 2, ... The caller says which identification a packet
 * will have. Receiving: a UDP socket does not see identification and DF. A CRC is linear, so what
 * they add to it can be divided out again: the packet is good if there is an identification and a
 * DF bit that make its CRC right, and these are then known. 15 of 32 bits of check remain for
 * IPv4, all 32 for IPv6.
 */
#ifndef ROCE_PROTO_ICRC_H
#define ROCE_PROTO_ICRC_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define ROCE_ICRC_ANY_ID (-1)

/*
 * What all packets from one address and port to another have in common. Made once per path and
 * direction, then read only.
 */
struct roce_icrc_flow {
	uint8_t head[8 + 40 + 8]; /* 8 bytes of ones for the LRH, IP and UDP header, masked */
	uint8_t head_len;
	uint8_t ip_at; /* where the IP header's length field is */
	uint8_t udp_at; /* where the UDP length field is */
	bool is_v4;
};

/* Addresses and ports in network byte order, source first, as they stand on the wire. */
void roce_icrc_flow_v4(struct roce_icrc_flow *flow, struct in_addr src, struct in_addr dst,
		       in_port_t sport, in_port_t dport);
void roce_icrc_flow_v6(struct roce_icrc_flow *flow, const struct in6_addr *src,
		       const struct in6_addr *dst, in_port_t sport, in_port_t dport);
/* From two socket addresses of one family. */
void roce_icrc_flow_sockaddr(struct roce_icrc_flow *flow, const struct sockaddr *src,
			     const struct sockaddr *dst);

/*
 * The ICRC of one packet: iov[0..niov) is the UDP payload without its ICRC, the first element holds
 * at least the whole BTH. ip_id is the identification that an IPv4 packet will have (DF is set).
 * The result goes to the wire as four bytes, lowest first: roce_icrc_put().
 */
uint32_t roce_icrc_compute(const struct roce_icrc_flow *flow, const struct iovec *iov, size_t niov,
			   uint16_t ip_id);

static inline void roce_icrc_put(uint8_t *p, uint32_t icrc)
{
	p[0] = (uint8_t)icrc;
	p[1] = (uint8_t)(icrc >> 8);
	p[2] = (uint8_t)(icrc >> 16);
	p[3] = (uint8_t)(icrc >> 24);
}

/*
 * Checks the ICRC of a received UDP payload, buf[0..len) with the ICRC at its end. IPv4:
 * identification and DF may be anything; *ip_id holds a guess of the identification (the last of
 * this peer plus one is right most of the time) and is set to the one found. A right guess costs
 * one CRC pass, a wrong one a few hundred nanoseconds more. IPv6: ip_id is not used and may be
 * NULL. The flow is the packet's: source is the peer. False: drop and count.
 */
bool roce_icrc_check(const struct roce_icrc_flow *flow, const void *buf, size_t len,
		     uint16_t *ip_id);

/* The same for one who sees the IP header: identification and flags/fragment field, host order. */
bool roce_icrc_check_full(const struct roce_icrc_flow *flow, const void *buf, size_t len,
			  uint16_t ip_id, uint16_t frag_off);

#endif
