/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to ibv_query_*: the numbers of limits.h, the link as it is now, the GID table.
 */
#include "roce/query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "roce/objects.h"

/* Values of struct ibv_port_attr that <infiniband/verbs.h> has no names for (IBTA 14.2.5.6). */
#define PHYS_STATE_DISABLED 3
#define PHYS_STATE_LINK_UP  5
#define WIDTH_4X	    2
#define SPEED_10_GBPS	    4
#define ONE_VL		    1

void roce_query_device(const struct roce_device *dev, struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){
		.fw_ver = "softsta",
		.node_guid = dev->guid,
		.sys_image_guid = dev->guid,
		.max_mr_size = ROCE_MAX_MR_BYTES,
		.page_size_cap = 0xfffff000, /* every power of two from 4 KiB on */
		.max_qp = ROCE_MAX_QPS,
		.max_qp_wr = ROCE_MAX_QP_WR,
		.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SYS_IMAGE_GUID |
				    IBV_DEVICE_MEM_MGT_EXTENSIONS,
		.max_sge = ROCE_MAX_SGE,
		.max_sge_rd = ROCE_MAX_SGE,
		.max_cq = ROCE_MAX_CQS,
		.max_cqe = ROCE_MAX_CQE,
		.max_mr = ROCE_MAX_MRS,
		.max_pd = ROCE_MAX_PDS,
		.max_qp_rd_atom = ROCE_MAX_RD_ATOM,
		.max_res_rd_atom = ROCE_MAX_RD_ATOM * ROCE_MAX_QPS,
		.max_qp_init_rd_atom = ROCE_MAX_RD_ATOM,
		.atomic_cap = IBV_ATOMIC_NONE,
		.max_pkeys = 1,
		.local_ca_ack_delay = 15, /* 4.096 us * 2^15 = 134 ms: what Linux soft RoCE says */
		.phys_port_cnt = 1,
	};
}

int roce_query_port(const struct roce_device *dev, unsigned int port, struct ibv_port_attr *attr)
{
	struct roce_link link;

	if (port != 1)
		return -EINVAL;
	link = roce_device_link(dev);
	*attr = (struct ibv_port_attr){
		.state = link.is_up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = link.active_mtu,
		.gid_tbl_len = ROCE_MAX_GIDS,
		.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS,
		.max_msg_sz = ROCE_MAX_MSG_BYTES,
		.pkey_tbl_len = 1,
		.max_vl_num = ONE_VL,
		.active_width = WIDTH_4X,
		.active_speed = SPEED_10_GBPS,
		.phys_state = link.is_up ? PHYS_STATE_LINK_UP : PHYS_STATE_DISABLED,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
	return 0;
}

int roce_query_gid(struct ibv_context *ctx, unsigned int port, unsigned int index,
		   struct ibv_gid_entry *entry)
{
	struct roce_device *dev = roce_context(ctx)->dev;
	struct roce_gid row;
	int rc;

	if (port != 1 || index >= ROCE_MAX_GIDS)
		return -EINVAL;
	/* Which 127.0.0.x is ours is known once it is taken. */
	if (dev->is_loopback) {
		rc = roce_context_pin_device(ctx);
		if (rc)
			return rc;
	}
	rc = roce_device_gid(dev, index, &row);
	if (rc)
		return rc;
	*entry = (struct ibv_gid_entry){
		.gid = row.gid,
		.gid_index = index,
		.port_num = 1,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
		.ndev_ifindex = dev->ifindex,
	};
	return 0;
}
