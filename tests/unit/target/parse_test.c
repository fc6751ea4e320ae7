/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, addresses, hex, quoting, names. */
#include "fake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

static void sizes(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t bytes;
	} cases[] = {
		{"1", 0, 1},
		{"4096", 0, 4096},
		{"64K", 0, 65536},
		{"64k", 0, 65536},
		{"1M", 0, 1 << 20},
		{"1MiB", 0, 1 << 20},
		{"1MB", 0, 1 << 20},
		{"2G", 0, 2ULL << 30},
		{"3T", 0, 3ULL << 40},
		{"512B", 0, 512},
		{"8388607T", 0, 8388607ULL << 40},
		{"8388608T", -ERANGE, 0},
		{"99999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"0", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1.5G", -EINVAL, 0},
		{"1X", -EINVAL, 0},
		{"1GG", -EINVAL, 0},
		{"G", -EINVAL, 0},
	};
	uint64_t bytes;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bytes = 0;
		assert_int_equal(tgt_size_parse(cases[i].text, &bytes), cases[i].rc);
		assert_true(bytes == cases[i].bytes);
	}
}

static void addresses(void **state)
{
	static const struct {
		const char *text, *shown;
		uint16_t port;
	} good[] = {
		{"10.0.0.1", "10.0.0.1", 4420},
		{"10.0.0.1:1", "10.0.0.1", 1},
		{"0.0.0.0:65535", "0.0.0.0", 65535},
		{"::", "::", 4420},
		{"::1", "::1", 4420},
		{"[::1]", "::1", 4420},
		{"[fe80::1]:4421", "fe80::1", 4421},
		{"[fe80::1%lo]:9", "fe80::1%lo", 9},
	};
	static const char *const bad[] = {"",	       "host",	     "10.0.0.1:0", "10.0.0.1:65536",
					  "10.0.0.1:", "10.0.0.256", "[::1",	   "[::1]x",
					  ":4420",     "1.2.3.4:a",  "[]:1"};
	char text[TGT_ADDR_TEXT];
	union tgt_sockaddr a;
	struct tgt_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(tgt_addr_parse(good[i].text, 4420, &a, &err), 0);
		tgt_addr_format(&a.sa, text);
		assert_string_equal(text, good[i].shown);
		assert_int_equal(tgt_addr_port(&a.sa), good[i].port);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(tgt_addr_parse(bad[i], 4420, &a, &err), -EINVAL);
		assert_true(err.text[0]);
	}
}

static void addresses_compare(void **state)
{
	union tgt_sockaddr a, b;

	(void)state;
	assert_int_equal(tgt_addr_parse("10.0.0.1:1", 0, &a, NULL), 0);
	assert_int_equal(tgt_addr_parse("10.0.0.1:2", 0, &b, NULL), 0);
	assert_false(tgt_addr_equal(&a.sa, &b.sa));
	b.in.sin_port = a.in.sin_port;
	assert_true(tgt_addr_equal(&a.sa, &b.sa));
	assert_false(tgt_addr_is_any(&a.sa));
	assert_int_equal(tgt_addr_parse("[::]:1", 0, &a, NULL), 0);
	assert_true(tgt_addr_is_any(&a.sa));
	assert_false(tgt_addr_equal(&a.sa, &b.sa));
	assert_int_equal(tgt_addr_parse("0:0:0::0", 1, &b, NULL), 0);
	assert_true(tgt_addr_equal(&a.sa, &b.sa));
}

static void hex(void **state)
{
	uint8_t out[4];

	(void)state;
	assert_int_equal(tgt_hex_parse("01aBfF00", out, 4), 0);
	assert_memory_equal(out, "\x01\xab\xff\x00", 4);
	assert_int_equal(tgt_hex_parse("01-ab-ff-00", out, 4), 0);
	assert_int_equal(tgt_hex_parse("01abff0", out, 4), -EINVAL);
	assert_int_equal(tgt_hex_parse("01abff001", out, 4), -EINVAL);
	assert_int_equal(tgt_hex_parse("01abfg00", out, 4), -EINVAL);
	assert_int_equal(tgt_hex_parse("-1abff00", out, 4), -EINVAL);
	assert_int_equal(tgt_hex_parse("", out, 4), -EINVAL);
}

static void quoting(void **state)
{
	char out[TGT_QUOTE_TEXT], big[512];

	(void)state;
	assert_string_equal(tgt_quote("nqn.x:y", 100, out), "nqn.x:y");
	assert_string_equal(tgt_quote("a\nb\x1b[0m\"c\xff", 100, out), "a?b?[0m?c?");
	assert_string_equal(tgt_quote("abcdef", 3, out), "abc");
	memset(big, 'x', sizeof(big));
	tgt_quote(big, sizeof(big), out);
	assert_int_equal(strlen(out), TGT_QUOTE_TEXT - 1);
	assert_string_equal(out + TGT_QUOTE_TEXT - 4, "...");
}

static void names(void **state)
{
	static const char *const good[] = {
		"nqn.2014-08.org.nvmexpress:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
		"nqn.2014-08.org.nvmexpress.discovery",
		"nqn.2024-01.io.example:disk1",
		"nqn.2016-06.io.spdk:cnode1",
		"nqn.2024-12.com.a-b.c:any/text+without=blanks",
	};
	static const char *const bad[] = {
		"",
		"disk",
		"iqn.2024-01.io.example:x",
		"nqn.2024-13.io.example:x",
		"nqn.2024-00.io.example:x",
		"nqn.24-01.io.example:x",
		"nqn.2024-01.:x",
		"nqn.2024-01.io..example:x",
		"nqn.2024-01.-io:x",
		"nqn.2024-01.io.example: x",
		"nqn.2024-01.io.example:\x01",
		"nqn.2014-08.org.nvmexpress:uuid:f81d4fae",
	};
	char longest[TGT_NQN_TEXT + 1];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_null(tgt_nqn_check(good[i]));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_non_null(tgt_nqn_check(bad[i]));
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "nqn.2024-01.io.x:", 17);
	longest[223] = '\0';
	assert_null(tgt_nqn_check(longest));
	longest[223] = 'x';
	longest[224] = '\0';
	assert_non_null(tgt_nqn_check(longest));
}

static void derived(void **state)
{
	char a[TGT_NQN_TEXT], b[TGT_NQN_TEXT];
	uint8_t uuid[16], other[16];

	(void)state;
	tgt_nqn_default("machine", "/disk.img", a);
	assert_null(tgt_nqn_check(a));
	tgt_nqn_default("machine", "/disk.img", b);
	assert_string_equal(a, b);
	tgt_nqn_default("machine2", "/disk.img", b);
	assert_string_not_equal(a, b);
	tgt_nqn_default("machine", "/disk2.img", b);
	assert_string_not_equal(a, b);
	tgt_uuid_derive("x", uuid);
	assert_int_equal(uuid[6] >> 4, 8);
	assert_int_equal(uuid[8] >> 6, 2);
	tgt_uuid_derive("y", other);
	assert_memory_not_equal(uuid, other, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(addresses),
		cmocka_unit_test(addresses_compare),
		cmocka_unit_test(hex),
		cmocka_unit_test(quoting),
		cmocka_unit_test(names),
		cmocka_unit_test(derived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
