/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte order helpers, minimum and maximum, the log hook.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "util/byteorder.h"
#include "util/compiler.h"
#include "util/log.h"

static void every_width_at_an_odd_address(void **state)
{
	uint8_t b[9];

	(void)state;
	util_put_be16(b + 1, 0x0102);
	assert_memory_equal(b + 1, "\x01\x02", 2);
	assert_int_equal(util_get_le16(b + 1), 0x0201);
	util_put_be24(b + 1, 0xff010203);
	assert_memory_equal(b + 1, "\x01\x02\x03", 3);
	assert_int_equal(util_get_be24(b + 1), 0x010203);
	util_put_be32(b + 1, 0x01020304);
	assert_memory_equal(b + 1, "\x01\x02\x03\x04", 4);
	assert_int_equal(util_get_be32(b + 1), 0x01020304);
	util_put_le32(b + 1, 0x01020304);
	assert_memory_equal(b + 1, "\x04\x03\x02\x01", 4);
	util_put_le64(b + 1, UINT64_C(0x0102030405060708));
	assert_memory_equal(b + 1, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
	assert_true(util_get_be64(b + 1) == UINT64_C(0x0807060504030201));
}

static void arguments_are_evaluated_once(void **state)
{
	int i = 1;

	(void)state;
	assert_int_equal(util_min(i++, 5), 1);
	assert_int_equal(util_max(i++, 1), 2);
	assert_int_equal(i, 3);
}

static char last_message[64];

util_printf_va(3) static void hook(enum util_log_level level, const char *source,
				   const char *format, va_list args)
{
	int n = snprintf(last_message, sizeof(last_message), "%d %s ", level, source);

	vsnprintf(last_message + n, sizeof(last_message) - (size_t)n, format, args);
}

static void the_hook_gets_every_message(void **state)
{
	(void)state;
	util_log_set_hook(hook);
	util_log(UTIL_LOG_DEBUG, "roce.cm", "qp %d: gone", 17);
	util_log_set_hook(NULL);
	assert_string_equal(last_message, "60 roce.cm qp 17: gone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_width_at_an_odd_address),
		cmocka_unit_test(arguments_are_evaluated_once),
		cmocka_unit_test(the_hook_gets_every_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
