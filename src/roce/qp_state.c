/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of QP state transitions and the ranges of QP attributes.
 */
#include "roce/qp_state.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "roce/limits.h"

#define ANY_STATE IBV_QPS_UNKNOWN

#define QPN_MAX	   0xffffffu
#define MAX_3_BITS 7
#define MAX_5_BITS 31
#define KNOWN_ACCESS                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct transition {
	enum ibv_qp_state from, to;
	int required;
	int optional;
};

/* IBTA table 91 for the RC service, without alternate paths. IBV_QP_STATE goes without saying. */
static const struct transition transitions[] = {
	{ANY_STATE, IBV_QPS_RESET, 0, 0},
	{ANY_STATE, IBV_QPS_ERR, 0, 0},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_INIT, IBV_QPS_RTR,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER,
	 IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_RTR, IBV_QPS_RTS,
	 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		 IBV_QP_MAX_QP_RD_ATOMIC,
	 IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
};

int roce_qp_state_check(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	const int always = IBV_QP_STATE | IBV_QP_CUR_STATE;

	if (to == IBV_QPS_SQD || (mask & IBV_QP_ALT_PATH))
		return -EOPNOTSUPP;
	for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
		const struct transition *t = &transitions[i];

		if ((t->from != from && t->from != ANY_STATE) || t->to != to)
			continue;
		if ((mask & t->required) != t->required ||
		    (mask & ~(t->required | t->optional | always)))
			return -EINVAL;
		return 0;
	}
	return -EINVAL;
}

int roce_qp_attr_check(const struct ibv_qp_attr *attr, int mask, enum ibv_mtu active_mtu)
{
	const struct {
		int bit;
		bool is_good;
	} checks[] = {
		{IBV_QP_PORT, attr->port_num == 1},
		{IBV_QP_PKEY_INDEX, attr->pkey_index == 0},
		{IBV_QP_ACCESS_FLAGS, (attr->qp_access_flags & ~(unsigned int)KNOWN_ACCESS) == 0},
		{IBV_QP_AV, attr->ah_attr.is_global && attr->ah_attr.port_num <= 1},
		{IBV_QP_PATH_MTU, attr->path_mtu >= IBV_MTU_256 && attr->path_mtu <= active_mtu},
		{IBV_QP_DEST_QPN, attr->dest_qp_num <= QPN_MAX},
		{IBV_QP_MAX_DEST_RD_ATOMIC, attr->max_dest_rd_atomic <= ROCE_MAX_RD_ATOM},
		{IBV_QP_MAX_QP_RD_ATOMIC, attr->max_rd_atomic <= ROCE_MAX_RD_ATOM},
		{IBV_QP_MIN_RNR_TIMER, attr->min_rnr_timer <= MAX_5_BITS},
		{IBV_QP_TIMEOUT, attr->timeout <= MAX_5_BITS},
		{IBV_QP_RETRY_CNT, attr->retry_cnt <= MAX_3_BITS},
		{IBV_QP_RNR_RETRY, attr->rnr_retry <= MAX_3_BITS},
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if ((mask & checks[i].bit) && !checks[i].is_good)
			return -EINVAL;
	}
	return 0;
}
