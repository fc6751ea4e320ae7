/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Soft RoCE devices: one per usable netdev of this network namespace, made when it is first seen
 * and kept for the life of the process. A device owns its GID table, its lanes (sockets, QPs, CQs,
 * see lane.h) and its MR table (mr.h). The background thread that drives lanes nobody polls, and
 * that runs the connection manager's hooks, is in progress.c.
 *
 * Listing devices opens nothing. Sockets are opened by the first roce_device_get() (a QP, a
 * listener, an address that was resolved) and closed by the last roce_device_put().
 *
 * Functions return 0 or -errno unless they say otherwise and may be called from any thread.
 * Lock order: CM's own lock, then registry lock, then lane lock, then CQ and channel locks.
 */
#ifndef ROCE_DEVICE_H
#define ROCE_DEVICE_H

#include <infiniband/verbs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roce/limits.h"
#include "util/time.h"

struct roce_lane;
struct roce_mr_table;

/* sockaddr of either family; the port is 0 where an address alone is meant. */
union roce_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* One row of the GID table. */
struct roce_gid {
	union ibv_gid gid; /* IPv4 as ::ffff:a.b.c.d */
	union roce_addr addr; /* the same as an address, port 0, scope set for fe80:: */
	int bind_error; /* 0, or -errno of binding UDP 4791 here while the device is open */
};

/*
 * Owner: the registry (device.c), immortal once listed.
 * Lock: the registry lock guards users and gids[]. gids[] of a device that is
 * open (users > 0) do not change, so a holder of a reference reads them without the lock.
 */
struct roce_device {
	struct ibv_device ibdev; /* first: what ibv_get_device_list returns */
	char netdev[IF_NAMESIZE];
	unsigned int ifindex;
	bool is_loopback; /* owns all of 127.0.0.0/8, its GID 0 is the 127.0.0.x it took */
	__be64 guid;
	struct roce_gid gids[ROCE_MAX_GIDS];
	unsigned int num_gids;
	unsigned int users; /* references by roce_device_get() */
	unsigned int num_lanes;
	struct roce_lane
		*lane; /* N = 1; lives as long as the device, its sockets while users > 0 */
	struct roce_mr_table *mrs; /* lives as long as the device */
	struct ibv_context *shared_ctx; /* roce_device_context() */
};

/* --- registry ------------------------------------------------------------------------------ */

/*
 * The soft devices in their stable order (loopback last, then netdevs that came later). Returns how
 * many; *devs is immortal.
 */
size_t roce_devices(struct roce_device **devs);

/* A row of the GID table, also of a device that is not open. -ENODATA: no such row. */
int roce_device_gid(const struct roce_device *dev, unsigned int index, struct roce_gid *row);

/* The soft device behind a device or context handle, NULL when it is not one of ours. */
struct roce_device *roce_device_from_ibdev(const struct ibv_device *ibdev);
struct roce_device *roce_device_from_context(const struct ibv_context *ctx);

/*
 * The device that owns local address addr (the port is ignored). 127.0.0.0/8 is all on sr_lo.
 * *gid_index (may be NULL) gets the row of the address; on sr_lo it is always 0.
 * NULL: no soft device has this address. Wildcards match nothing: see roce_devices().
 */
struct roce_device *roce_device_by_addr(const struct sockaddr *addr, unsigned int *gid_index);

/*
 * The device that a packet to dst would leave from (asks the kernel's routing table), and the
 * source address it would have. A route over lo to an address of another device of ours (a local
 * address) gives that device. Errors: -ENODEV no soft device there, -ENETUNREACH and others of
 * connect(2).
 */
int roce_device_by_route(const struct sockaddr *dst, struct roce_device **dev,
			 unsigned int *gid_index);

/* The link as it is now. */
struct roce_link {
	bool is_up;
	enum ibv_mtu active_mtu; /* largest that fits the netdev: 1500 -> 1024, >= 4200 -> 4096 */
};

struct roce_link roce_device_link(const struct roce_device *dev);

/* --- use ----------------------------------------------------------------------------------- */

/*
 * Opens the device's sockets for the first user and counts users. On sr_lo this is where the
 * 127.0.0.x is taken; read gids[0] afterwards. Errors: -EADDRINUSE (logged with address and
 * reason) when no address could be bound, -ENOMEM, -EMFILE.
 */
int roce_device_get(struct roce_device *dev);
/* One more reference if it is open, else false. */
bool roce_device_get_open(struct roce_device *dev);
void roce_device_put(struct roce_device *dev);

/* The context that all rdma_cm_ids of this device share, opened at first call. NULL + errno. */
struct ibv_context *roce_device_context(struct roce_device *dev);

/* --- connection manager seam --------------------------------------------------------------- */

#define ROCE_MAD_BYTES 256 /* IBTA 13.4.2: every MAD is 256 bytes */

/* Where a MAD came from and where to. */
struct roce_mad_path {
	struct roce_device *dev;
	unsigned int gid_index; /* our address */
	union roce_addr peer; /* the peer's address and UDP source port */
};

/*
 * What the connection manager hangs into the device. Every hook is called on the background
 * thread, with no lock held, and may call anything of this header and of qp.h. Every hook is set.
 */
struct roce_cm_hooks {
	/* A MAD with right ICRC, Q_Key and length arrived on QP1. */
	void (*mad_input)(const struct roce_mad_path *path, const uint8_t mad[ROCE_MAD_BYTES],
			  uint64_t now_ns);
	/* When timer() wants to run next, CLOCK_MONOTONIC ns; UINT64_MAX for never. */
	uint64_t (*next_deadline)(void);
	void (*timer)(uint64_t now_ns);
	/* First packet arrived on a QP since RTR (IBTA: communication established). */
	void (*comm_est)(struct roce_device *dev, uint32_t qpn);
	/* A QP moved to the error state by itself (retries exceeded, access error, ...). */
	void (*qp_error)(struct roce_device *dev, uint32_t qpn);
};

/* Registered once, before the first roce_device_get() of the CM. */
void roce_set_cm_hooks(const struct roce_cm_hooks *hooks);

/* The CM's next_deadline() moved to an earlier time: wake the background thread. */
void roce_kick(void);

/*
 * Sends one MAD from QP1 of gid_index to QP1 of peer (its port is ignored, 4791 is used). The
 * caller holds a reference on the device. A full socket buffer counts as loss, not as an error:
 * the CM retransmits. Errors: -ENETUNREACH and others of sendmsg(2), -EADDRINUSE when the address
 * of gid_index could not be bound.
 */
int roce_device_send_mad(struct roce_device *dev, unsigned int gid_index,
			 const struct sockaddr *peer, const uint8_t mad[ROCE_MAD_BYTES]);

/* --- addresses, time, randomness ----------------------------------------------------------- */

/* -EAFNOSUPPORT for anything but AF_INET and AF_INET6. */
int roce_gid_from_sockaddr(const struct sockaddr *sa, union ibv_gid *gid);
/* IPv4-mapped GIDs give AF_INET. scope_id is used for fe80::; the port is 0. */
void roce_gid_to_addr(const union ibv_gid *gid, uint32_t scope_id, union roce_addr *addr);
bool roce_addr_equal(const struct sockaddr *a, const struct sockaddr *b); /* without ports */
socklen_t roce_addr_len(const union roce_addr *addr);

static inline uint64_t roce_now_ns(void)
{
	return util_now_ns();
}
uint32_t roce_random32(void); /* from the kernel: ids and PSNs must differ after a restart */
static inline uint32_t roce_random_psn(void)
{
	return roce_random32() & 0xffffff;
}

#endif
