/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a soft device says of itself: attributes, port, GID table. Errors are -errno.
 */
#ifndef ROCE_QUERY_H
#define ROCE_QUERY_H

#include "roce/device.h"

void roce_query_device(const struct roce_device *dev, struct ibv_device_attr *attr);
/* -EINVAL: a port other than 1. */
int roce_query_port(const struct roce_device *dev, unsigned int port, struct ibv_port_attr *attr);
/* One GID row; -EINVAL beyond the table, -ENODATA for a row that is empty. */
int roce_query_gid(struct ibv_context *ctx, unsigned int port, unsigned int index,
		   struct ibv_gid_entry *entry);

#endif
