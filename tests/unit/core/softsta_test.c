/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Companions of soft queues: attaching, finding, detaching.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "core/companion.h"

static uint32_t doorbells[2];

static void doorbell(void *arg)
{
	(*(unsigned int *)arg)++;
}

static unsigned poll_three(void *arg)
{
	(void)arg;
	return 3;
}

static const struct doca_softsta_queue_ops ops = {.doorbell = doorbell, .poll = poll_three};

static void the_engine_finds_what_was_attached(void **state)
{
	struct core_companion companion;
	unsigned int rings = 0;

	(void)state;
	assert_int_equal(doca_softsta_queue_attach(&doorbells[0], &ops, 5, &rings), DOCA_SUCCESS);
	doca_priv_queue_companion_get(&doorbells[0], &companion);
	companion.ops->doorbell(companion.arg);
	assert_int_equal(rings, 1);
	assert_int_equal(companion.ops->poll(companion.arg), 3);
	assert_int_equal(companion.fd, 5);

	assert_int_equal(doca_softsta_queue_detach(&doorbells[0]), DOCA_ERROR_IN_USE);
	doca_priv_queue_companion_put(&doorbells[0]);
	assert_int_equal(doca_softsta_queue_detach(&doorbells[0]), DOCA_SUCCESS);
	assert_int_equal(doca_softsta_queue_detach(&doorbells[0]), DOCA_ERROR_NOT_FOUND);
}

static void a_queue_without_one_gets_functions_that_do_nothing(void **state)
{
	struct core_companion companion;

	(void)state;
	doca_priv_queue_companion_get(&doorbells[1], &companion);
	assert_int_equal(companion.fd, -1);
	companion.ops->doorbell(companion.arg);
	assert_int_equal(companion.ops->poll(companion.arg), 0);
	/* One that is attached in between does not take the put of the other. */
	assert_int_equal(doca_softsta_queue_attach(&doorbells[1], &ops, -1, NULL), DOCA_SUCCESS);
	doca_priv_queue_companion_put(&doorbells[1]);
	assert_int_equal(doca_softsta_queue_detach(&doorbells[1]), DOCA_SUCCESS);
}

static void errors(void **state)
{
	static const struct doca_softsta_queue_ops no_poll = {.doorbell = doorbell};
	static const struct doca_softsta_queue_ops no_doorbell = {.poll = poll_three};

	(void)state;
	assert_int_equal(doca_softsta_queue_attach(NULL, &ops, -1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_softsta_queue_attach(doorbells, NULL, -1, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_softsta_queue_attach(doorbells, &no_poll, -1, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_softsta_queue_attach(doorbells, &no_doorbell, -1, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_softsta_queue_attach(doorbells, &ops, -2, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_softsta_queue_detach(NULL), DOCA_ERROR_INVALID_VALUE);

	assert_int_equal(doca_softsta_queue_attach(doorbells, &ops, -1, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_softsta_queue_attach(doorbells, &ops, -1, NULL),
			 DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(doca_softsta_queue_detach(doorbells), DOCA_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_engine_finds_what_was_attached),
		cmocka_unit_test(a_queue_without_one_gets_functions_that_do_nothing),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
