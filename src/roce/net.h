/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One UDP socket on port 4791 of one address: set-up, batches in, batches out. Knows datagrams and
 * GSO, nothing of what is in them.
 *
 * The socket is unconnected and has IP_PMTUDISC_DO: then Linux sends DF and identification 0, and
 * counts 0, 1, 2, ... over the segments of one UDP GSO send, which the ICRC depends on.
 */
#ifndef ROCE_NET_H
#define ROCE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "roce/device.h"

/* Linux allows 64 segments and 65507 bytes a UDP GSO send, and 1024 iovecs a message. */
#define ROCE_GSO_MAX_PKTS  64
#define ROCE_GSO_MAX_BYTES 65000
#define ROCE_GSO_MAX_IOV   1000

#define ROCE_NET_RX_MSGS 16 /* datagrams, or GRO trains, a receive call */
#define ROCE_NET_TX_MSGS 32 /* datagrams, or GSO trains, a send call */

struct roce_net {
	int fd; /* -1: closed */
	bool has_gso;
	unsigned int rcvbuf_bytes; /* what the kernel really gave */
	unsigned int users; /* connected QPs on this address */
};

/*
 * Opens and binds. Errors: -EADDRINUSE, -EADDRNOTAVAIL, -EMFILE and others of socket(2), bind(2).
 */
int roce_net_open(struct roce_net *net, const union roce_addr *local);
void roce_net_close(struct roce_net *net);

/* One received datagram, or several of the same sender in a row. */
struct roce_rx_msg {
	const uint8_t *data;
	uint32_t len;
	uint32_t seg_len; /* each packet but the last has this length */
	const union roce_addr *from;
};

struct roce_rx; /* buffers for a batch; shared by the sockets of a lane */

struct roce_rx *roce_rx_create(void);
void roce_rx_destroy(struct roce_rx *rx);

/* Receives what is there, up to ROCE_NET_RX_MSGS; returns how many msgs[] it filled. */
size_t roce_net_recv(const struct roce_net *net, struct roce_rx *rx,
		     struct roce_rx_msg msgs[ROCE_NET_RX_MSGS]);

/* A packet, or packets of equal length (the last may be shorter) for one GSO send. */
struct roce_train {
	const union roce_addr *to;
	struct iovec *iov;
	uint32_t niov;
	uint32_t num_pkts;
	uint32_t seg_len;
};

/*
 * Sends trains[0..count), count at most ROCE_NET_TX_MSGS. What the kernel does not take now is
 * lost, as on any network; returns how many packets that were. A kernel or netdev without UDP GSO
 * shows here first: has_gso becomes false.
 */
size_t roce_net_send(struct roce_net *net, const struct roce_train *trains, size_t count);

/*
 * Sends one datagram; needs no lock. A full send buffer is a loss (0), other failures of sendmsg(2)
 * are -errno.
 */
int roce_net_send_one(const struct roce_net *net, const union roce_addr *to, struct iovec *iov,
		      size_t niov);

#endif
