/* SPDX-License-Identifier: Apache-2.0 */
/* The inbox of a context: the end of the context against the end of a wake-up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "sta/io.h"

static atomic_bool is_waking, is_destroying, is_destroyed, was_destroyed_early;

static void sleep_ms(long ms)
{
	const struct timespec ts = {0, ms * 1000000};

	(void)nanosleep(&ts, NULL);
}

/* Stands before libdoca_common's: a poster that is held up on its way out. */
void doca_priv_ctx_wake(struct doca_ctx *ctx)
{
	(void)ctx;
	atomic_store(&is_waking, true);
	while (!atomic_load(&is_destroying))
		sched_yield();
	/* Time for a destruction that does not wait. */
	sleep_ms(20);
	atomic_store(&was_destroyed_early, atomic_load(&is_destroyed));
}

static bool nothing(struct doca_ctx *ctx)
{
	(void)ctx;
	return false;
}

static const struct core_ctx_ops ops = {.progress = nothing};

static void on_msg(void *owner, struct sta_msg *msg)
{
	(void)msg;
	*(bool *)owner = true;
}

struct poster {
	struct doca_sta_io *io;
	struct sta_msg msg;
};

static void *post_one(void *arg)
{
	struct poster *p = arg;

	sta_io_post(p->io, &p->msg);
	return NULL;
}

static void test_destroy_waits_for_the_waker(void **state)
{
	struct doca_sta *sta = calloc(1, sizeof(*sta));
	struct doca_sta_io *io = calloc(1, sizeof(*io));
	struct poster poster = {.io = io, .msg.fn = on_msg};
	bool has_run = false;
	pthread_t thread;

	(void)state;
	assert_true(sta && io);
	doca_priv_ctx_init(&io->ctx, &ops);
	io->sta = sta;
	atomic_store(&sta->num_io, 1);
	assert_int_equal(pthread_create(&thread, NULL, post_one, &poster), 0);
	while (!atomic_load(&is_waking))
		sched_yield();
	/* The message is there before the wake-up has ended. */
	assert_true(sta_inbox_run_one(&io->inbox, &has_run));
	assert_true(has_run);
	atomic_store(&is_destroying, true);
	assert_int_equal(doca_sta_io_destroy(io), DOCA_SUCCESS);
	atomic_store(&is_destroyed, true);
	pthread_join(thread, NULL);
	assert_false(atomic_load(&was_destroyed_early));
	assert_int_equal(atomic_load(&sta->num_io), 0);
	free(sta);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_destroy_waits_for_the_waker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
