/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring: bounds, order, and two threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "util/ring.h"

struct entry {
	uint64_t number;
	uint32_t check;
};

static void sizes(void **state)
{
	struct util_ring ring;

	(void)state;
	assert_int_equal(util_ring_init(&ring, 0, 8), -EINVAL);
	assert_int_equal(util_ring_init(&ring, (1 << 24) + 1, 8), -EINVAL);
	assert_int_equal(util_ring_init(&ring, 8, 0), -EINVAL);
	assert_int_equal(util_ring_init(&ring, 5, 8), 0);
	assert_int_equal(util_ring_size(&ring), 8);
	util_ring_fini(&ring);
}

static void full_and_empty_over_the_wrap(void **state)
{
	struct util_ring ring;
	uint32_t in = 0, out = 0, v;

	(void)state;
	assert_int_equal(util_ring_init(&ring, 4, sizeof(v)), 0);
	/* The indices are free-running: near their own wrap as well. */
	ring.head = ring.tail = ring.head_seen = ring.tail_seen = UINT32_MAX - 5;
	for (int round = 0; round < 5; round++) {
		assert_true(util_ring_is_empty(&ring));
		assert_false(util_ring_pop(&ring, &v));
		while (util_ring_push(&ring, &in))
			in++;
		assert_int_equal(in - out, 4);
		assert_false(util_ring_is_empty(&ring));
		while (util_ring_pop(&ring, &v))
			assert_int_equal(v, out++);
		assert_int_equal(in, out);
	}
	util_ring_fini(&ring);
}

#define NUM_ENTRIES 200000

static void *producer(void *arg)
{
	for (uint64_t i = 0; i < NUM_ENTRIES; i++) {
		struct entry e = {.number = i, .check = (uint32_t)~i};

		while (!util_ring_push(arg, &e))
			sched_yield();
	}
	return NULL;
}

static void two_threads(void **state)
{
	struct util_ring ring;
	pthread_t thread;
	struct entry e;

	(void)state;
	assert_int_equal(util_ring_init(&ring, 64, sizeof(e)), 0);
	assert_int_equal(pthread_create(&thread, NULL, producer, &ring), 0);
	for (uint64_t i = 0; i < NUM_ENTRIES; i++) {
		while (!util_ring_pop(&ring, &e))
			sched_yield();
		assert_int_equal(e.number, i);
		assert_int_equal(e.check, (uint32_t)~i);
	}
	pthread_join(thread, NULL);
	assert_true(util_ring_is_empty(&ring));
	util_ring_fini(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(full_and_empty_over_the_wrap),
		cmocka_unit_test(two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
