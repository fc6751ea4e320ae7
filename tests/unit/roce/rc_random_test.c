/* SPDX-License-Identifier: Apache-2.0 */
/* The fuzz harness of the RC engine on random steps: the same ones in every run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define INPUTS	    4000
#define INPUT_BYTES 1200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void test_random_steps(void **state)
{
	uint64_t x = 88172645463325252ull;
	uint8_t data[INPUT_BYTES];

	(void)state;
	for (int n = 0; n < INPUTS; n++) {
		for (size_t i = 0; i < sizeof(data); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			data[i] = (uint8_t)(x >> 24);
		}
		assert_int_equal(LLVMFuzzerTestOneInput(data, sizeof(data)), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
