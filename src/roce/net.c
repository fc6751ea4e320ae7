/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets: options, recvmmsg with UDP GRO, sendmmsg with UDP GSO. Each call moves a batch.
 */
#include "roce/net.h"

#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a busy target wants; without CAP_NET_ADMIN the kernel gives rmem_max and wmem_max. */
#define SOCKET_BUFFER_BYTES (8 << 20)

/* Longest datagram, or GRO train, that a socket hands out. */
#define RX_MSG_BYTES 65536

/* Room for one int: the segment length of a train. */
union segment_control {
	struct cmsghdr align;
	char room[CMSG_SPACE(sizeof(int))];
};

struct roce_rx {
	struct mmsghdr hdrs[ROCE_NET_RX_MSGS];
	struct iovec iov[ROCE_NET_RX_MSGS];
	union roce_addr from[ROCE_NET_RX_MSGS];
	union segment_control control[ROCE_NET_RX_MSGS];
	uint8_t data[ROCE_NET_RX_MSGS][RX_MSG_BYTES];
};

static void set_buffer(int fd, int force, int plain)
{
	const int bytes = SOCKET_BUFFER_BYTES;

	if (setsockopt(fd, SOL_SOCKET, force, &bytes, sizeof(bytes)))
		(void)setsockopt(fd, SOL_SOCKET, plain, &bytes, sizeof(bytes));
}

static int set_fragmentation(int fd, sa_family_t family)
{
	const int v4 = IP_PMTUDISC_DO, v6 = IPV6_PMTUDISC_DO, on = 1;

	if (family == AF_INET)
		return setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &v4, sizeof(v4));
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)))
		return -1;
	return setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &v6, sizeof(v6));
}

int roce_net_open(struct roce_net *net, const union roce_addr *local)
{
	union roce_addr addr = *local;
	socklen_t len = sizeof(net->rcvbuf_bytes);
	const int on = 1;
	int fd, rc;

	fd = socket(addr.sa.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	addr.in.sin_port = htons(ROCE_UDP_PORT); /* at the same place in both families */
	if (set_fragmentation(fd, addr.sa.sa_family) || bind(fd, &addr.sa, roce_addr_len(&addr))) {
		rc = -errno;
		goto err_close;
	}
	set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
	set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF);
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &net->rcvbuf_bytes, &len)) {
		rc = -errno;
		goto err_close;
	}
	/* Without GRO a train arrives as single datagrams. */
	(void)setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
	net->fd = fd;
	net->has_gso = true;
	net->users = 0;
	return 0;

err_close:
	close(fd);
	return rc;
}

void roce_net_close(struct roce_net *net)
{
	if (net->fd >= 0)
		close(net->fd);
	net->fd = -1;
}

struct roce_rx *roce_rx_create(void)
{
	struct roce_rx *rx = malloc(sizeof(*rx));

	if (!rx)
		return NULL;
	for (size_t i = 0; i < ROCE_NET_RX_MSGS; i++)
		rx->iov[i] =
			(struct iovec){.iov_base = rx->data[i], .iov_len = sizeof(rx->data[i])};
	return rx;
}

void roce_rx_destroy(struct roce_rx *rx)
{
	free(rx);
}

/* Packets of a GRO train have one length, which the kernel tells beside it. */
static uint32_t segment_length(struct msghdr *hdr, uint32_t len)
{
	struct cmsghdr *cmsg;
	int seg;

	for (cmsg = CMSG_FIRSTHDR(hdr); cmsg; cmsg = CMSG_NXTHDR(hdr, cmsg)) {
		if (cmsg->cmsg_level != IPPROTO_UDP || cmsg->cmsg_type != UDP_GRO)
			continue;
		memcpy(&seg, CMSG_DATA(cmsg), sizeof(seg));
		if (seg > 0)
			return (uint32_t)seg;
	}
	return len;
}

size_t roce_net_recv(const struct roce_net *net, struct roce_rx *rx,
		     struct roce_rx_msg msgs[ROCE_NET_RX_MSGS])
{
	int count;

	for (size_t i = 0; i < ROCE_NET_RX_MSGS; i++)
		rx->hdrs[i].msg_hdr = (struct msghdr){.msg_name = &rx->from[i],
						      .msg_namelen = sizeof(rx->from[i]),
						      .msg_iov = &rx->iov[i],
						      .msg_iovlen = 1,
						      .msg_control = &rx->control[i],
						      .msg_controllen = sizeof(rx->control[i])};
	count = recvmmsg(net->fd, rx->hdrs, ROCE_NET_RX_MSGS, MSG_DONTWAIT, NULL);
	for (int i = 0; i < count; i++)
		msgs[i] = (struct roce_rx_msg){.data = rx->data[i],
					       .len = rx->hdrs[i].msg_len,
					       .seg_len = segment_length(&rx->hdrs[i].msg_hdr,
									 rx->hdrs[i].msg_len),
					       .from = &rx->from[i]};
	return count > 0 ? (size_t)count : 0;
}

static void fill_header(struct msghdr *hdr, union segment_control *control,
			const struct roce_train *train)
{
	const uint16_t seg_len = (uint16_t)train->seg_len;
	struct cmsghdr *cmsg;

	*hdr = (struct msghdr){.msg_name = (void *)(uintptr_t)train->to,
			       .msg_namelen = roce_addr_len(train->to),
			       .msg_iov = train->iov,
			       .msg_iovlen = train->niov};
	if (train->num_pkts == 1)
		return;
	memset(control, 0, sizeof(*control));
	hdr->msg_control = control;
	hdr->msg_controllen = CMSG_SPACE(sizeof(seg_len));
	cmsg = CMSG_FIRSTHDR(hdr);
	cmsg->cmsg_level = IPPROTO_UDP;
	cmsg->cmsg_type = UDP_SEGMENT;
	cmsg->cmsg_len = CMSG_LEN(sizeof(seg_len));
	memcpy(CMSG_DATA(cmsg), &seg_len, sizeof(seg_len));
}

size_t roce_net_send(struct roce_net *net, const struct roce_train *trains, size_t count)
{
	struct mmsghdr hdrs[ROCE_NET_TX_MSGS];
	union segment_control controls[ROCE_NET_TX_MSGS];
	size_t lost = 0;
	size_t done = 0;

	for (size_t i = 0; i < count; i++)
		fill_header(&hdrs[i].msg_hdr, &controls[i], &trains[i]);
	while (done < count) {
		int sent =
			sendmmsg(net->fd, hdrs + done, (unsigned int)(count - done), MSG_DONTWAIT);

		if (sent > 0) {
			done += (size_t)sent;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (trains[done].num_pkts > 1 && (errno == EIO || errno == EINVAL))
			net->has_gso = false;
		lost += trains[done].num_pkts;
		done++;
	}
	return lost;
}

int roce_net_send_one(const struct roce_net *net, const union roce_addr *to, struct iovec *iov,
		      size_t niov)
{
	const struct msghdr hdr = {.msg_name = (void *)(uintptr_t)to,
				   .msg_namelen = roce_addr_len(to),
				   .msg_iov = iov,
				   .msg_iovlen = niov};

	if (sendmsg(net->fd, &hdr, MSG_DONTWAIT) >= 0 || errno == EAGAIN || errno == ENOBUFS)
		return 0;
	return -errno;
}
