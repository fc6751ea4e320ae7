/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which netdevs are selected, what path MTU fits them, and addresses as GIDs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/un.h>

#include "roce/netdev.h"

static void test_selection(void **state)
{
	(void)state;
	assert_true(roce_netdev_is_selected(NULL, "eth0"));
	assert_false(roce_netdev_is_selected("none", "eth0"));
	assert_false(roce_netdev_is_selected("", "eth0"));
	assert_true(roce_netdev_is_selected("sr_eth0", "eth0"));
	assert_true(roce_netdev_is_selected("eth0", "eth0"));
	assert_true(roce_netdev_is_selected("sr_lo,sr_eth0", "eth0"));
	assert_true(roce_netdev_is_selected("lo,eth0,", "lo"));
	assert_false(roce_netdev_is_selected("sr_eth0", "eth01"));
	assert_false(roce_netdev_is_selected("sr_eth01", "eth0"));
	assert_false(roce_netdev_is_selected(",,", "eth0"));
}

static void test_path_mtu(void **state)
{
	static const struct {
		unsigned int netdev;
		enum ibv_mtu path;
	} rows[] = {
		{68, IBV_MTU_256},     {335, IBV_MTU_256},   {592, IBV_MTU_512},
		{1500, IBV_MTU_1024},  {2127, IBV_MTU_1024}, {2128, IBV_MTU_2048},
		{4175, IBV_MTU_2048},  {4200, IBV_MTU_4096}, {9000, IBV_MTU_4096},
		{65536, IBV_MTU_4096},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(roce_netdev_path_mtu(rows[i].netdev), rows[i].path);
}

static void test_gid_v4(void **state)
{
	static const uint8_t mapped[16] = {[10] = 0xff, 0xff, 10, 1, 2, 3};
	union roce_addr addr = {.in = {.sin_family = AF_INET, .sin_port = htons(99)}};
	union roce_addr back;
	union ibv_gid gid;

	(void)state;
	inet_pton(AF_INET, "10.1.2.3", &addr.in.sin_addr);
	assert_int_equal(roce_gid_from_sockaddr(&addr.sa, &gid), 0);
	assert_memory_equal(gid.raw, mapped, sizeof(mapped));
	roce_gid_to_addr(&gid, 0, &back);
	assert_int_equal(back.sa.sa_family, AF_INET);
	assert_int_equal(back.in.sin_port, 0);
	assert_true(roce_addr_equal(&addr.sa, &back.sa)); /* ports do not matter */
}

static void test_gid_v6(void **state)
{
	union roce_addr addr = {.in6 = {.sin6_family = AF_INET6}};
	union roce_addr back;
	union ibv_gid gid;

	(void)state;
	inet_pton(AF_INET6, "fe80::1:2", &addr.in6.sin6_addr);
	assert_int_equal(roce_gid_from_sockaddr(&addr.sa, &gid), 0);
	assert_memory_equal(gid.raw, &addr.in6.sin6_addr, sizeof(gid));
	roce_gid_to_addr(&gid, 7, &back);
	assert_int_equal(back.in6.sin6_scope_id, 7);
	inet_pton(AF_INET6, "2001:db8::1", &addr.in6.sin6_addr);
	assert_false(roce_addr_equal(&addr.sa, &back.sa));
	assert_int_equal(roce_gid_from_sockaddr(&addr.sa, &gid), 0);
	roce_gid_to_addr(&gid, 7, &back);
	assert_int_equal(back.in6.sin6_scope_id, 0);
}

static void test_other_families(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	union ibv_gid gid;

	(void)state;
	assert_int_equal(roce_gid_from_sockaddr((struct sockaddr *)&un, &gid), -EAFNOSUPPORT);
	assert_false(roce_addr_equal((struct sockaddr *)&un, (struct sockaddr *)&un));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selection),      cmocka_unit_test(test_path_mtu),
		cmocka_unit_test(test_gid_v4),	       cmocka_unit_test(test_gid_v6),
		cmocka_unit_test(test_other_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
