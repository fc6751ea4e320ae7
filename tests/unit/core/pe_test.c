/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress engine: turns, event mode, and wake-ups from other threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <unistd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "fake_ctx.h"

#define NUM_CTXS 3

struct fixture {
	struct doca_pe *pe;
	struct fake_ctx ctxs[NUM_CTXS];
	doca_notification_handle_t handle;
};

static int setup(void **state)
{
	static struct fixture f;

	assert_int_equal(doca_pe_create(&f.pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_get_notification_handle(f.pe, &f.handle), DOCA_SUCCESS);
	for (int i = 0; i < NUM_CTXS; i++) {
		fake_init(&f.ctxs[i], f.pe, 1);
		assert_int_equal(doca_ctx_start(&f.ctxs[i].base), DOCA_SUCCESS);
	}
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < NUM_CTXS; i++) {
		assert_int_equal(doca_ctx_stop(&f->ctxs[i].base), DOCA_SUCCESS);
		assert_int_equal(doca_pe_destroy(f->pe), DOCA_ERROR_IN_USE);
		fake_fini(&f->ctxs[i]);
	}
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_SUCCESS);
	return 0;
}

static bool is_readable(struct fixture *f, int timeout_ms)
{
	struct pollfd pfd = {.fd = f->handle, .events = POLLIN};

	return poll(&pfd, 1, timeout_ms) == 1;
}

static unsigned int drain(struct fixture *f)
{
	unsigned int n = 0;

	while (doca_pe_progress(f->pe))
		n++;
	return n;
}

static void contexts_take_turns(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < NUM_CTXS; i++)
		atomic_store(&f->ctxs[i].events, 2);
	for (unsigned int turn = 1; turn <= 2; turn++) {
		for (int i = 0; i < NUM_CTXS; i++)
			assert_int_equal(doca_pe_progress(f->pe), 1);
		for (int i = 0; i < NUM_CTXS; i++)
			assert_int_equal(f->ctxs[i].events_seen, turn);
	}
	assert_int_equal(doca_pe_progress(f->pe), 0);
}

static void nothing_armed_nothing_readable(void **state)
{
	struct fixture *f = *state;

	fake_raise(&f->ctxs[0]);
	assert_false(is_readable(f, 0));
	assert_int_equal(drain(f), 1);
}

static void an_event_wakes_the_armed(void **state)
{
	struct fixture *f = *state;
	doca_notification_handle_t again;

	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_false(is_readable(f, 0));
	fake_raise(&f->ctxs[1]);
	assert_true(is_readable(f, 0));
	assert_int_equal(doca_pe_clear_notification(f->pe, f->handle), DOCA_SUCCESS);
	assert_false(is_readable(f, 0));
	assert_int_equal(drain(f), 1);
	/* One shot: the next event needs arming again. */
	fake_raise(&f->ctxs[1]);
	assert_false(is_readable(f, 0));
	assert_int_equal(drain(f), 1);
	assert_int_equal(doca_pe_get_notification_handle(f->pe, &again), DOCA_SUCCESS);
	assert_int_equal(again, f->handle);
}

static void what_was_pending_before_arming_wakes(void **state)
{
	struct fixture *f = *state;

	fake_raise(&f->ctxs[2]);
	fake_raise(&f->ctxs[2]);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(is_readable(f, 0));
	/* Only one of the two taken: the other one wakes again. */
	assert_int_equal(doca_pe_clear_notification(f->pe, f->handle), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(is_readable(f, 0));
	assert_int_equal(doca_pe_clear_notification(f->pe, f->handle), DOCA_SUCCESS);
	assert_int_equal(drain(f), 1);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_false(is_readable(f, 0));
}

static void arming_again_clears(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	fake_raise(&f->ctxs[0]);
	assert_true(is_readable(f, 0));
	assert_int_equal(drain(f), 1);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_false(is_readable(f, 0));
}

static void armed_and_selective_visits_only_the_woken(void **state)
{
	struct fixture *f = *state;
	unsigned int before;

	drain(f);
	before = f->ctxs[0].visits;
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(f->ctxs[0].visits, before);

	assert_int_equal(doca_pe_set_event_mode(f->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL),
			 DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(f->ctxs[0].visits, before + 1);
}

/* The application closed what is not its own. */
static void a_lost_descriptor_is_an_error(void **state)
{
	struct fixture *f = *state;
	int copy = dup(f->handle);

	assert_true(copy >= 0);
	close(f->handle);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_ERROR_OPERATING_SYSTEM);
	assert_int_equal(doca_pe_clear_notification(f->pe, f->handle), DOCA_ERROR_OPERATING_SYSTEM);
	assert_int_equal(dup2(copy, f->handle), f->handle);
	close(copy);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
}

static void connecting(void **state)
{
	struct fixture *f = *state;
	struct fake_ctx loose;

	assert_int_equal(doca_pe_connect_ctx(f->pe, &f->ctxs[0].base), DOCA_ERROR_NOT_PERMITTED);
	fake_init(&loose, NULL, 1);
	assert_int_equal(doca_pe_connect_ctx(NULL, &loose.base), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_connect_ctx(f->pe, NULL), DOCA_ERROR_INVALID_VALUE);
	loose.base.state = DOCA_CTX_STATE_RUNNING;
	assert_int_equal(doca_pe_connect_ctx(f->pe, &loose.base), DOCA_ERROR_BAD_STATE);
	loose.base.state = DOCA_CTX_STATE_IDLE;
	fake_fini(&loose);
}

static void invalid_arguments(void **state)
{
	struct fixture *f = *state;
	size_t n;

	assert_int_equal(doca_pe_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_progress(NULL), 0);
	assert_int_equal(doca_pe_get_num_inflight_tasks(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_get_num_inflight_tasks(f->pe, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_get_notification_handle(NULL, &f->handle),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_get_notification_handle(f->pe, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_request_notification(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_clear_notification(NULL, f->handle), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_set_event_mode(NULL, DOCA_PE_EVENT_MODE_PROGRESS_ALL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_set_event_mode(f->pe, (enum doca_pe_event_mode)2),
			 DOCA_ERROR_INVALID_VALUE);
}

#define WAIT_MS 5000

static unsigned int sleep_and_drain(struct fixture *f)
{
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(is_readable(f, WAIT_MS));
	assert_int_equal(doca_pe_clear_notification(f->pe, f->handle), DOCA_SUCCESS);
	return drain(f);
}

#define EVENTS_PER_WAKER 20000

static void *waker(void *arg)
{
	for (int i = 0; i < EVENTS_PER_WAKER; i++)
		fake_raise(arg);
	return NULL;
}

static void events_of_several_threads(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[NUM_CTXS];
	unsigned int seen = 0;

	for (int i = 0; i < NUM_CTXS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, waker, &f->ctxs[i]), 0);
	while (seen < NUM_CTXS * EVENTS_PER_WAKER)
		seen += sleep_and_drain(f);
	for (int i = 0; i < NUM_CTXS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(f->ctxs[i].events_seen, EVENTS_PER_WAKER);
	}
}

#define NUM_ROUNDS 100000

static atomic_uint round_done;

/* One event a round, as soon as the one before was handled: while the engine is being armed. */
static void *waker_in_step(void *arg)
{
	for (unsigned int i = 0; i < NUM_ROUNDS; i++) {
		while (atomic_load(&round_done) < i)
			sched_yield();
		fake_raise(arg);
	}
	return NULL;
}

/* No later event makes up for a wake-up that is lost: that sleep does not end. */
static void no_wakeup_is_lost(void **state)
{
	struct fixture *f = *state;
	unsigned int seen = 0;
	pthread_t thread;

	atomic_store(&round_done, 0);
	assert_int_equal(pthread_create(&thread, NULL, waker_in_step, &f->ctxs[0]), 0);
	while (seen < NUM_ROUNDS) {
		seen += sleep_and_drain(f);
		atomic_store(&round_done, seen);
	}
	pthread_join(thread, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(contexts_take_turns),
		TEST(nothing_armed_nothing_readable),
		TEST(an_event_wakes_the_armed),
		TEST(what_was_pending_before_arming_wakes),
		TEST(arming_again_clears),
		TEST(armed_and_selective_visits_only_the_woken),
		TEST(a_lost_descriptor_is_an_error),
		TEST(connecting),
		TEST(invalid_arguments),
		TEST(events_of_several_threads),
		TEST(no_wakeup_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
