/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context state machine, driven through a fake library.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <doca_log.h>
#include <stdio.h>
#include <string.h>

#include "core/pe.h"
#include "fake_ctx.h"

struct fixture {
	struct doca_pe *pe;
	struct fake_ctx ctx;
};

static int setup(void **state)
{
	static struct fixture f;

	assert_int_equal(doca_pe_create(&f.pe), DOCA_SUCCESS);
	fake_init(&f.ctx, f.pe, 4);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fake_fini(&f->ctx);
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_SUCCESS);
	return 0;
}

static void assert_transition(const struct fake_ctx *ctx, unsigned int i, enum doca_ctx_states from,
			      enum doca_ctx_states to)
{
	assert_true(ctx->num_transitions > i);
	assert_int_equal(ctx->transitions[i].from, from);
	assert_int_equal(ctx->transitions[i].to, to);
}

static void start_and_stop_at_once(void **state)
{
	struct fixture *f = *state;
	struct doca_ctx *ctx = &f->ctx.base;

	assert_int_equal(fake_state(&f->ctx), DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_ctx_start(ctx), DOCA_SUCCESS);
	assert_transition(&f->ctx, 0, DOCA_CTX_STATE_IDLE, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_stop(ctx), DOCA_SUCCESS);
	assert_transition(&f->ctx, 1, DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_ctx_stop(ctx), DOCA_ERROR_BAD_STATE);
	assert_int_equal(f->ctx.num_transitions, 2);
}

static void start_and_stop_take_time(void **state)
{
	struct fixture *f = *state;
	struct doca_ctx *ctx = &f->ctx.base;

	f->ctx.start_result = DOCA_ERROR_IN_PROGRESS;
	f->ctx.stop_result = DOCA_ERROR_IN_PROGRESS;
	/* Both callbacks have run when the calls return. */
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
	assert_transition(&f->ctx, 0, DOCA_CTX_STATE_IDLE, DOCA_CTX_STATE_STARTING);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(fake_state(&f->ctx), DOCA_CTX_STATE_STARTING);
	f->ctx.started_result = DOCA_SUCCESS;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_transition(&f->ctx, 1, DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_RUNNING);

	assert_int_equal(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	assert_transition(&f->ctx, 2, DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING);
	assert_int_equal(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	f->ctx.may_stop = true;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_transition(&f->ctx, 3, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->ctx.num_transitions, 4);
}

static void start_may_fail_at_once_or_later(void **state)
{
	struct fixture *f = *state;
	struct doca_ctx *ctx = &f->ctx.base;

	f->ctx.start_result = DOCA_ERROR_NOT_SUPPORTED;
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_NOT_SUPPORTED);
	f->ctx.start_result = DOCA_ERROR_INITIALIZATION;
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_INITIALIZATION);
	f->ctx.start_result = DOCA_ERROR_NO_MEMORY;
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(f->ctx.num_transitions, 0);

	f->ctx.start_result = DOCA_ERROR_IN_PROGRESS;
	f->ctx.started_result = DOCA_ERROR_DRIVER;
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_transition(&f->ctx, 1, DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_IDLE);
}

static void stop_from_starting(void **state)
{
	struct fixture *f = *state;

	f->ctx.start_result = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_ctx_start(&f->ctx.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_SUCCESS);
	assert_transition(&f->ctx, 1, DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_IDLE);
}

static void failed_stop_changes_nothing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_start(&f->ctx.base), DOCA_SUCCESS);
	f->ctx.stop_result = DOCA_ERROR_UNEXPECTED;
	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_ERROR_UNEXPECTED);
	assert_int_equal(fake_state(&f->ctx), DOCA_CTX_STATE_RUNNING);
	f->ctx.stop_result = DOCA_SUCCESS;
	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_SUCCESS);
}

static void idle_waits_for_the_last_task(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;

	assert_int_equal(doca_ctx_start(&f->ctx.base), DOCA_SUCCESS);
	assert_int_equal(doca_priv_task_alloc(f->ctx.tasks, (union doca_data){0}, &task),
			 DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(doca_priv_ctx_fini(&f->ctx.base), DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(fake_state(&f->ctx), DOCA_CTX_STATE_IDLE);
}

static void freeing_the_last_task_wakes_a_sleeper(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;

	assert_int_equal(doca_ctx_start(&f->ctx.base), DOCA_SUCCESS);
	assert_int_equal(doca_priv_task_alloc(f->ctx.tasks, (union doca_data){0}, &task),
			 DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_ERROR_IN_PROGRESS);
	while (doca_pe_progress(f->pe))
		;
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(atomic_load(&f->pe->armed));
	doca_task_free(task);
	assert_false(atomic_load(&f->pe->armed));
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(fake_state(&f->ctx), DOCA_CTX_STATE_IDLE);
}

static void a_fault_stops_the_context(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_start(&f->ctx.base), DOCA_SUCCESS);
	f->ctx.may_fail = true;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_transition(&f->ctx, 1, DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING);
	f->ctx.may_stop = true;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(fake_state(&f->ctx), DOCA_CTX_STATE_IDLE);
}

static void may_be_destroyed_in_the_callback_that_says_idle(void **state)
{
	struct fixture *f = *state;

	f->ctx.stop_result = DOCA_ERROR_IN_PROGRESS;
	f->ctx.destroy_when_idle = true;
	assert_int_equal(doca_ctx_start(&f->ctx.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_ERROR_IN_PROGRESS);
	f->ctx.may_stop = true;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_true(f->ctx.is_destroyed);
	assert_int_equal(doca_pe_progress(f->pe), 0);
}

static void needs_a_progress_engine(void **state)
{
	struct fake_ctx ctx;

	(void)state;
	fake_init(&ctx, NULL, 1);
	assert_int_equal(doca_ctx_start(&ctx.base), DOCA_ERROR_NOT_CONNECTED);
	fake_fini(&ctx);
}

static void null_is_invalid(void **state)
{
	struct fixture *f = *state;
	struct doca_ctx *ctx = &f->ctx.base;
	enum doca_ctx_states ctx_state;
	union doca_data data = {0};
	size_t n;

	assert_int_equal(doca_ctx_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_state(NULL, &ctx_state), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_state(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_user_data(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_state_changed_cb(NULL, fake_state_cb),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_state_changed_cb(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_num_inflight_tasks(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_num_inflight_tasks(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	doca_ctx_flush_tasks(NULL);
}

static void an_idle_context(void **state)
{
	struct fixture *f = *state;
	struct doca_ctx *ctx = &f->ctx.base;
	union doca_data data = {.u64 = 5}, same;
	enum doca_ctx_states ctx_state;
	size_t n = 1;

	assert_int_equal(doca_ctx_get_state(ctx, &ctx_state), DOCA_SUCCESS);
	assert_int_equal(ctx_state, DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_ctx_get_num_inflight_tasks(ctx, &n), DOCA_SUCCESS);
	assert_int_equal(n, 0);
	assert_int_equal(doca_ctx_set_user_data(ctx, data), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_get_user_data(ctx, &same), DOCA_SUCCESS);
	assert_int_equal(same.u64, 5);
	data.ptr = f;
	assert_int_equal(doca_ctx_set_user_data(ctx, data), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_state_changed_cb(ctx, fake_state_cb), DOCA_SUCCESS);
}

static void user_data_and_flush(void **state)
{
	struct fixture *f = *state;
	union doca_data data;

	assert_int_equal(doca_ctx_get_user_data(&f->ctx.base, &data), DOCA_SUCCESS);
	assert_ptr_equal(data.ptr, &f->ctx);
	doca_ctx_flush_tasks(&f->ctx.base);
	assert_int_equal(f->ctx.flushes, 0);
	assert_int_equal(doca_ctx_start(&f->ctx.base), DOCA_SUCCESS);
	doca_ctx_flush_tasks(&f->ctx.base);
	assert_int_equal(f->ctx.flushes, 1);
	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_SUCCESS);
}

static char trace[1024];

static void no_flush(char *buf)
{
	(void)buf;
}

static void a_trace_shows_each_change(void **state)
{
	struct fixture *f = *state;
	struct doca_log_backend *backend;
	char expected[128];

	assert_int_equal(doca_log_backend_create_with_buf_sdk(trace, sizeof(trace), no_flush,
							      &backend),
			 DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DEBUG),
			 DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->ctx.base), DOCA_SUCCESS);
	assert_string_equal(trace, "");
	assert_int_equal(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_TRACE),
			 DOCA_SUCCESS);
	f->ctx.stop_result = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_ERROR_IN_PROGRESS);
	f->ctx.may_stop = true;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	snprintf(expected, sizeof(expected), "[TRACE][core.ctx] context %p: running -> stopping\n",
		 (void *)&f->ctx.base);
	assert_non_null(strstr(trace, expected));
	snprintf(expected, sizeof(expected), "[TRACE][core.ctx] context %p: stopping -> idle\n",
		 (void *)&f->ctx.base);
	assert_non_null(strstr(trace, expected));
	assert_int_equal(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE),
			 DOCA_SUCCESS);
}

/* A GPU or a DPA cannot exist here: any address stands for one. */
static void only_the_host_drives_contexts(void **state)
{
	struct fixture *f = *state;
	struct doca_ctx *ctx = &f->ctx.base;
	struct doca_gpu *gpu = (struct doca_gpu *)f;
	struct doca_dpa *dpa = (struct doca_dpa *)f;

	assert_int_equal(doca_ctx_set_datapath_on_gpu(NULL, gpu), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(ctx, gpu), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_ctx_set_datapath_on_dpa(NULL, dpa), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_datapath_on_dpa(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_datapath_on_dpa(ctx, dpa), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_ctx_set_completion_vector(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_completion_vector(ctx, 0), DOCA_ERROR_NOT_SUPPORTED);

	/* Refusing changed nothing, and what is started is refused for that. */
	assert_int_equal(doca_ctx_start(ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(ctx, gpu), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_set_datapath_on_dpa(ctx, dpa), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_set_completion_vector(ctx, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(start_and_stop_at_once),
		TEST(start_and_stop_take_time),
		TEST(start_may_fail_at_once_or_later),
		TEST(stop_from_starting),
		TEST(failed_stop_changes_nothing),
		TEST(idle_waits_for_the_last_task),
		TEST(freeing_the_last_task_wakes_a_sleeper),
		TEST(a_fault_stops_the_context),
		TEST(may_be_destroyed_in_the_callback_that_says_idle),
		TEST(needs_a_progress_engine),
		TEST(null_is_invalid),
		TEST(an_idle_context),
		TEST(user_data_and_flush),
		TEST(only_the_host_drives_contexts),
		TEST(a_trace_shows_each_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
