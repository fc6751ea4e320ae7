/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QP transitions: each required bit is required, nothing else is taken, values stay in range.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "roce/qp_state.h"

#define TO_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR                                                                          \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define TO_RTS                                                                                 \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
	 IBV_QP_MAX_QP_RD_ATOMIC)

static const struct {
	enum ibv_qp_state from, to;
	int mask;
} ladder[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT},
	{IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR},
	{IBV_QPS_RTR, IBV_QPS_RTS, TO_RTS},
};

static void test_every_bit_is_required(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ladder) / sizeof(ladder[0]); i++) {
		int mask = ladder[i].mask;

		assert_int_equal(roce_qp_state_check(ladder[i].from, ladder[i].to, mask), 0);
		for (int bit = IBV_QP_CUR_STATE; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
			if (mask & bit)
				assert_int_equal(roce_qp_state_check(ladder[i].from, ladder[i].to,
								     mask & ~bit),
						 -EINVAL);
		}
	}
}

static void test_foreign_bits_are_refused(void **state)
{
	(void)state;
	assert_int_equal(roce_qp_state_check(IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT | IBV_QP_AV),
			 -EINVAL);
	assert_int_equal(roce_qp_state_check(IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR | IBV_QP_SQ_PSN),
			 -EINVAL);
	assert_int_equal(roce_qp_state_check(IBV_QPS_RTR, IBV_QPS_RTS, TO_RTS | IBV_QP_PATH_MTU),
			 -EINVAL);
	assert_int_equal(roce_qp_state_check(IBV_QPS_RTS, IBV_QPS_ERR,
					     IBV_QP_STATE | IBV_QP_TIMEOUT),
			 -EINVAL);
	assert_int_equal(roce_qp_state_check(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_QKEY), -EINVAL);
}

static void test_optional_bits(void **state)
{
	(void)state;
	assert_int_equal(roce_qp_state_check(IBV_QPS_INIT, IBV_QPS_RTR,
					     TO_RTR | IBV_QP_ACCESS_FLAGS | IBV_QP_CUR_STATE),
			 0);
	assert_int_equal(
		roce_qp_state_check(IBV_QPS_RTR, IBV_QPS_RTS, TO_RTS | IBV_QP_MIN_RNR_TIMER), 0);
	assert_int_equal(roce_qp_state_check(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER), 0);
	assert_int_equal(roce_qp_state_check(IBV_QPS_INIT, IBV_QPS_INIT, IBV_QP_ACCESS_FLAGS), 0);
}

static void test_which_transitions_exist(void **state)
{
	const enum ibv_qp_state all[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
					 IBV_QPS_ERR};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(roce_qp_state_check(all[i], IBV_QPS_ERR, IBV_QP_STATE), 0);
		assert_int_equal(roce_qp_state_check(all[i], IBV_QPS_RESET, IBV_QP_STATE), 0);
		assert_int_equal(roce_qp_state_check(all[i], IBV_QPS_SQD, IBV_QP_STATE),
				 -EOPNOTSUPP);
		if (all[i] != IBV_QPS_INIT)
			assert_int_equal(roce_qp_state_check(all[i], IBV_QPS_RTR, TO_RTR), -EINVAL);
		if (all[i] != IBV_QPS_RTR)
			assert_int_equal(roce_qp_state_check(all[i], IBV_QPS_RTS, TO_RTS), -EINVAL);
	}
	assert_int_equal(roce_qp_state_check(IBV_QPS_ERR, IBV_QPS_INIT, TO_INIT), -EINVAL);
}

static void test_path_mtu(void **state)
{
	struct ibv_qp_attr attr = {.path_mtu = IBV_MTU_1024};

	(void)state;
	assert_int_equal(roce_qp_attr_check(&attr, IBV_QP_PATH_MTU, IBV_MTU_1024), 0);
	assert_int_equal(roce_qp_attr_check(&attr, IBV_QP_PATH_MTU, IBV_MTU_4096), 0);
	assert_int_equal(roce_qp_attr_check(&attr, IBV_QP_PATH_MTU, IBV_MTU_512), -EINVAL);
	attr.path_mtu = 0;
	assert_int_equal(roce_qp_attr_check(&attr, IBV_QP_PATH_MTU, IBV_MTU_4096), -EINVAL);
	attr.path_mtu = IBV_MTU_4096 + 1;
	assert_int_equal(roce_qp_attr_check(&attr, IBV_QP_PATH_MTU, IBV_MTU_4096), -EINVAL);
}

static void test_values(void **state)
{
	/* One attribute out of range at a time; what mask does not name is not looked at. */
	const struct {
		int bit;
		struct ibv_qp_attr bad;
	} rows[] = {
		{IBV_QP_PORT, {.port_num = 2}},
		{IBV_QP_PKEY_INDEX, {.pkey_index = 1}},
		{IBV_QP_ACCESS_FLAGS, {.qp_access_flags = IBV_ACCESS_MW_BIND}},
		{IBV_QP_AV, {.ah_attr.is_global = 0}},
		{IBV_QP_DEST_QPN, {.dest_qp_num = 1u << 24}},
		{IBV_QP_MAX_DEST_RD_ATOMIC, {.max_dest_rd_atomic = 17}},
		{IBV_QP_MAX_QP_RD_ATOMIC, {.max_rd_atomic = 17}},
		{IBV_QP_MIN_RNR_TIMER, {.min_rnr_timer = 32}},
		{IBV_QP_TIMEOUT, {.timeout = 32}},
		{IBV_QP_RETRY_CNT, {.retry_cnt = 8}},
		{IBV_QP_RNR_RETRY, {.rnr_retry = 8}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(roce_qp_attr_check(&rows[i].bad, rows[i].bit, IBV_MTU_4096),
				 -EINVAL);
		assert_int_equal(roce_qp_attr_check(&rows[i].bad, IBV_QP_STATE, IBV_MTU_4096), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_bit_is_required),
		cmocka_unit_test(test_foreign_bits_are_refused),
		cmocka_unit_test(test_optional_bits),
		cmocka_unit_test(test_which_transitions_exist),
		cmocka_unit_test(test_path_mtu),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
