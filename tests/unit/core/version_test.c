/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions (doca_version.h), and the versioned structures of doca_compat.h.
 */
#define DOCA_COMPAT_HELPERS
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <doca_version.h>
#include <stdio.h>

static void headers_and_library_are_of_one_version(void **state)
{
	char text[16];

	(void)state;
	snprintf(text, sizeof(text), "%d.%d.%04d", DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR,
		 DOCA_VERSION_PATCH);
	assert_string_equal(text, DOCA_VERSION_STRING);
	assert_string_equal(doca_version(), DOCA_VERSION_STRING);
	assert_string_equal(doca_version_runtime(), doca_version());
}

static void versions_compare(void **state)
{
	const int major = DOCA_VERSION_MAJOR, minor = DOCA_VERSION_MINOR;
	const int patch = DOCA_VERSION_PATCH;

	(void)state;
	assert_true(DOCA_VERSION_EQ_CURRENT(major, minor, patch));
	assert_false(DOCA_VERSION_EQ_CURRENT(major, minor, patch + 1));
	assert_true(DOCA_VERSION_LTE_CURRENT(major, minor, patch));
	assert_true(DOCA_VERSION_LTE_CURRENT(2, 7, 0));
	assert_false(DOCA_VERSION_LTE_CURRENT(major, minor, patch + 1));
	assert_false(DOCA_VERSION_LTE_CURRENT(major, minor + 1, 0));
	assert_false(DOCA_VERSION_LTE_CURRENT(major + 1, 0, 0));
	assert_int_equal(DOCA_VERSION_EXACT, 0x0300003a);
}

struct versioned {
	DOCA_STRUCT_START;
	int value;
};

static void structures_carry_the_version_of_the_headers(void **state)
{
	DOCA_STRUCT_DEF(versioned, by_initialiser);
	struct versioned by_list = {DOCA_STRUCT_CTOR_LIST_START, .value = 3};
	struct versioned other = {.value = 4};

	(void)state;
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&by_initialiser), DOCA_VERSION_EXACT);
	assert_int_equal(by_initialiser.value, 0);
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&by_list), DOCA_VERSION_EXACT);
	assert_int_equal(by_list.value, 3);
	DOCA_STRUCT_CTOR(other);
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&other), DOCA_VERSION_EXACT);
	assert_int_equal(other.value, 4);
	DOCA_STRUCT_PTR_MEMSET_CTOR(&other);
	assert_int_equal(DOCA_STRUCT_GET_VERSION(&other), DOCA_VERSION_EXACT);
	assert_int_equal(other.value, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_and_library_are_of_one_version),
		cmocka_unit_test(versions_compare),
		cmocka_unit_test(structures_carry_the_version_of_the_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
