/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bad network for a test program: linked into it, this recvmmsg stands before the C library's and
 * loses, cuts and damages what libsoftroce receives. A GRO train is lost whole, or from some packet
 * on, or its last packet gets a wrong ICRC. Only the ICRC is damaged: over IPv4 one in 32768 other
 * errors passes its check, which UDP's own checksum would find, but not this late.
 */
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOSE_PERCENT   2
#define CUT_PERCENT    2
#define DAMAGE_PERCENT 2

int recvmmsg(int fd, struct mmsghdr *msgs, unsigned int count, int flags, struct timespec *timeout);

static unsigned int dice(void)
{
	static _Thread_local unsigned int seed;

	if (!seed)
		seed = (unsigned int)getpid() * 2654435761u | 1;
	return (unsigned int)rand_r(&seed);
}

static void damage(struct mmsghdr *msg)
{
	uint8_t *bytes = msg->msg_hdr.msg_iov[0].iov_base;

	if (msg->msg_len >= 4)
		bytes[msg->msg_len - 1 - dice() % 4] ^= (uint8_t)(1u << dice() % 8);
}

static void cut(struct mmsghdr *msg)
{
	unsigned int seg_len = msg->msg_len;
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(&msg->msg_hdr); cmsg; cmsg = CMSG_NXTHDR(&msg->msg_hdr, cmsg)) {
		if (cmsg->cmsg_level == IPPROTO_UDP && cmsg->cmsg_type == UDP_GRO)
			memcpy(&seg_len, CMSG_DATA(cmsg), sizeof(seg_len));
	}
	if (seg_len)
		msg->msg_len = seg_len * (dice() % (msg->msg_len / seg_len + 1));
}

int recvmmsg(int fd, struct mmsghdr *msgs, unsigned int count, int flags, struct timespec *timeout)
{
	int received = (int)syscall(SYS_recvmmsg, fd, msgs, count, flags, timeout);

	for (int i = 0; i < received; i++) {
		unsigned int percent = dice() % 100;

		/* An empty datagram is no packet. */
		if (percent < LOSE_PERCENT)
			msgs[i].msg_len = 0;
		else if (percent < LOSE_PERCENT + CUT_PERCENT)
			cut(&msgs[i]);
		else if (percent < LOSE_PERCENT + CUT_PERCENT + DAMAGE_PERCENT)
			damage(&msgs[i]);
	}
	return received;
}
