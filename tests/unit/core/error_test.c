/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error names and descriptions, the conversion from errno, and the version.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <doca_error.h>
#include <doca_version.h>
#include <errno.h>
#include <string.h>

#include "core/error.h"

static void names_are_the_enumerators(void **state)
{
	(void)state;
	assert_string_equal(doca_error_get_name(DOCA_SUCCESS), "DOCA_SUCCESS");
	assert_string_equal(doca_error_get_name(DOCA_ERROR_TOO_BIG), "DOCA_ERROR_TOO_BIG");
	assert_string_equal(doca_error_get_name(DOCA_ERROR_DEVICE_FATAL_ERROR),
			    "DOCA_ERROR_DEVICE_FATAL_ERROR");
}

static void every_code_has_a_name_and_a_text_of_its_own(void **state)
{
	(void)state;
	for (int i = DOCA_SUCCESS; i <= DOCA_ERROR_DEVICE_FATAL_ERROR; i++) {
		assert_int_equal(strncmp(doca_error_get_name((doca_error_t)i), "DOCA_", 5), 0);
		for (int j = DOCA_SUCCESS; j < i; j++) {
			assert_string_not_equal(doca_error_get_name((doca_error_t)i),
						doca_error_get_name((doca_error_t)j));
			assert_string_not_equal(doca_error_get_descr((doca_error_t)i),
						doca_error_get_descr((doca_error_t)j));
		}
	}
}

static void unknown_codes_have_the_fixed_text(void **state)
{
	static const int codes[] = {-1, DOCA_ERROR_DEVICE_FATAL_ERROR + 1, 1 << 20};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		assert_string_equal(doca_error_get_name((doca_error_t)codes[i]),
				    "unrecognized error code");
		assert_string_equal(doca_error_get_descr((doca_error_t)codes[i]),
				    "unrecognized error code");
	}
}

static void helpers(void **state)
{
	doca_error_t first = DOCA_SUCCESS;

	(void)state;
	assert_true(DOCA_IS_ERROR(DOCA_ERROR_IN_PROGRESS));
	assert_false(DOCA_IS_ERROR(DOCA_SUCCESS));
	DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_AGAIN);
	DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_FULL);
	assert_int_equal(first, DOCA_ERROR_AGAIN);
}

static void errno_in_both_signs(void **state)
{
	(void)state;
	assert_int_equal(doca_priv_error_from_errno(0), DOCA_SUCCESS);
	assert_int_equal(doca_priv_error_from_errno(ENOMEM), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_priv_error_from_errno(-ENOMEM), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_priv_error_from_errno(-EINVAL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_priv_error_from_errno(-ENODEV), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_priv_error_from_errno(EMFILE), DOCA_ERROR_OPERATING_SYSTEM);
}

static void version_of_headers_and_library(void **state)
{
	(void)state;
	assert_string_equal(doca_version(), "3.0.0058");
	assert_string_equal(doca_version_runtime(), doca_version());
	assert_true(DOCA_VERSION_EQ_CURRENT(3, 0, 58));
	assert_true(DOCA_VERSION_LTE_CURRENT(2, 7, 85));
	assert_false(DOCA_VERSION_LTE_CURRENT(3, 1, 0));
	assert_int_equal(DOCA_VERSION_EXACT, 3 << 24 | 58);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_the_enumerators),
		cmocka_unit_test(every_code_has_a_name_and_a_text_of_its_own),
		cmocka_unit_test(unknown_codes_have_the_fixed_text),
		cmocka_unit_test(helpers),
		cmocka_unit_test(errno_in_both_signs),
		cmocka_unit_test(version_of_headers_and_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
