/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bad network for a test program: linked into it, this recvmmsg stands before the C library's and
 * loses, cuts and damages what libsoftroce receives. A GRO train is lost whole, or from some packet
 * on, or its last packet gets a wrong ICRC. Only the ICRC is damaged: over IPv4 one in 32768 other
 * errors passes its check, which UDP's own checksum would find, but not this late.
 *
 * The program says at its end how much was harmed, its forked children included, and ends with 1 if
 * nothing was: then this was not the bad network that it is taken for.
 */
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOSE_PERCENT   2
#define CUT_PERCENT    2
#define DAMAGE_PERCENT 2
#define SURE_LOSS      8 /* this one is lost whatever the dice say, so that a short run loses too */

/* Shared with the children. */
struct harm {
	pid_t owner;
	atomic_uint received;
	atomic_uint lost;
	atomic_uint cut;
	atomic_uint damaged;
};

static struct harm *harm;

int recvmmsg(int fd, struct mmsghdr *msgs, unsigned int count, int flags, struct timespec *timeout);

__attribute__((constructor)) static void start_count(void)
{
	harm = mmap(NULL, sizeof(*harm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (harm == MAP_FAILED)
		abort();
	harm->owner = getpid();
}

__attribute__((destructor)) static void say_count(void)
{
	if (getpid() != harm->owner)
		return;
	fprintf(stderr, "lossy network: %u received, %u lost, %u cut, %u damaged\n",
		atomic_load(&harm->received), atomic_load(&harm->lost), atomic_load(&harm->cut),
		atomic_load(&harm->damaged));
	if (!atomic_load(&harm->lost))
		_exit(EXIT_FAILURE);
}

static unsigned int dice(void)
{
	static _Thread_local unsigned int seed;

	if (!seed)
		seed = (unsigned int)getpid() * 2654435761u | 1;
	return (unsigned int)rand_r(&seed);
}

static void lose(struct mmsghdr *msg)
{
	msg->msg_len = 0; /* an empty datagram is no packet */
	atomic_fetch_add(&harm->lost, 1);
}

static void damage(struct mmsghdr *msg)
{
	uint8_t *bytes = msg->msg_hdr.msg_iov[0].iov_base;

	if (msg->msg_len < 4)
		return;
	bytes[msg->msg_len - 1 - dice() % 4] ^= (uint8_t)(1u << dice() % 8);
	atomic_fetch_add(&harm->damaged, 1);
}

static void cut(struct mmsghdr *msg)
{
	unsigned int seg_len = msg->msg_len;
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(&msg->msg_hdr); cmsg; cmsg = CMSG_NXTHDR(&msg->msg_hdr, cmsg)) {
		if (cmsg->cmsg_level == IPPROTO_UDP && cmsg->cmsg_type == UDP_GRO)
			memcpy(&seg_len, CMSG_DATA(cmsg), sizeof(seg_len));
	}
	if (!seg_len)
		return;
	msg->msg_len = seg_len * (dice() % (msg->msg_len / seg_len + 1));
	atomic_fetch_add(&harm->cut, 1);
}

int recvmmsg(int fd, struct mmsghdr *msgs, unsigned int count, int flags, struct timespec *timeout)
{
	int received = (int)syscall(SYS_recvmmsg, fd, msgs, count, flags, timeout);

	for (int i = 0; i < received; i++) {
		unsigned int percent = dice() % 100;

		if (atomic_fetch_add(&harm->received, 1) + 1 == SURE_LOSS || percent < LOSE_PERCENT)
			lose(&msgs[i]);
		else if (percent < LOSE_PERCENT + CUT_PERCENT)
			cut(&msgs[i]);
		else if (percent < LOSE_PERCENT + CUT_PERCENT + DAMAGE_PERCENT)
			damage(&msgs[i]);
	}
	return received;
}
