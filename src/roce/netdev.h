/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says about network devices: names, addresses, link, routes. Read only.
 */
#ifndef ROCE_NETDEV_H
#define ROCE_NETDEV_H

#include "roce/device.h"

/*
 * Fills devs[0..max) with one device per usable netdev (up, with an address), chosen by
 * SOFTROCE_DEVICES, ordered by interface index with loopback last. Returns how many; 0 when the
 * kernel cannot be asked.
 */
size_t roce_netdev_scan(struct roce_device *devs, size_t max);

/* Whether SOFTROCE_DEVICES (list, may be NULL) selects netdev: by "eth0" or by "sr_eth0". */
bool roce_netdev_is_selected(const char *list, const char *netdev);

/* The active path MTU for a netdev: packets carry up to 80 bytes of headers around it. */
enum ibv_mtu roce_netdev_path_mtu(unsigned int netdev_mtu);

/* The source address of a packet to dst. Errors: those of connect(2), -EAFNOSUPPORT. */
int roce_netdev_source_for(const struct sockaddr *dst, union roce_addr *src);

#endif
