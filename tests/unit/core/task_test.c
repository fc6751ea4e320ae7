/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks: pool, submission, completion, counts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "fake_ctx.h"

#define MAX_TASKS 3

struct fixture {
	struct doca_pe *pe;
	struct fake_ctx ctx;
};

static int setup(void **state)
{
	static struct fixture f;

	assert_int_equal(doca_pe_create(&f.pe), DOCA_SUCCESS);
	fake_init(&f.ctx, f.pe, MAX_TASKS);
	assert_int_equal(doca_ctx_start(&f.ctx.base), DOCA_SUCCESS);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (fake_state(&f->ctx) == DOCA_CTX_STATE_RUNNING)
		assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_SUCCESS);
	fake_fini(&f->ctx);
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_SUCCESS);
	return 0;
}

static struct doca_task *alloc(struct fixture *f)
{
	struct doca_task *task;

	assert_int_equal(doca_priv_task_alloc(f->ctx.tasks, (union doca_data){.u64 = 7}, &task),
			 DOCA_SUCCESS);
	return task;
}

static size_t inflight(struct fixture *f)
{
	size_t of_ctx, of_pe;

	assert_int_equal(doca_ctx_get_num_inflight_tasks(&f->ctx.base, &of_ctx), DOCA_SUCCESS);
	assert_int_equal(doca_pe_get_num_inflight_tasks(f->pe, &of_pe), DOCA_SUCCESS);
	assert_int_equal(of_ctx, of_pe);
	return of_ctx;
}

static void a_task_lives(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);

	assert_ptr_equal(doca_task_get_ctx(task), &f->ctx.base);
	assert_int_equal(doca_task_get_user_data(task).u64, 7);
	doca_task_set_user_data(task, (union doca_data){.u64 = 8});
	assert_int_equal(doca_task_get_user_data(task).u64, 8);

	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(f->ctx.submit_flags, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	assert_int_equal(inflight(f), 1);
	f->ctx.to_complete = (struct fake_task *)task;
	f->ctx.complete_status = DOCA_ERROR_IO_FAILED;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(f->ctx.completions, 1);
	assert_int_equal(doca_task_get_status(task), DOCA_ERROR_IO_FAILED);
	assert_int_equal(inflight(f), 0);

	/* Once more, with the same task. */
	assert_int_equal(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE), DOCA_SUCCESS);
	assert_int_equal(f->ctx.submit_flags, DOCA_TASK_SUBMIT_FLAG_NONE);
	f->ctx.to_complete = (struct fake_task *)task;
	f->ctx.complete_status = DOCA_SUCCESS;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(doca_task_get_status(task), DOCA_SUCCESS);

	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	f->ctx.to_complete = (struct fake_task *)task;
	f->ctx.free_in_callback = true;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(f->ctx.releases, 1);
	assert_int_equal(f->ctx.base.num_tasks, 0);
}

static void a_task_in_flight_cannot_be_submitted(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);

	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(f->ctx.submits, 1);
	assert_int_equal(inflight(f), 1);
	/* It is in flight still: not to be freed. */
	doca_task_free(task);
	assert_int_equal(f->ctx.releases, 0);

	f->ctx.to_complete = (struct fake_task *)task;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(f->ctx.completions, 1);
	assert_int_equal(inflight(f), 0);
	doca_task_free(task);
	assert_int_equal(f->ctx.releases, 1);
}

static void the_pool_is_bounded_and_reused(void **state)
{
	struct fixture *f = *state;
	struct doca_task *tasks[MAX_TASKS], *more;

	for (int i = 0; i < MAX_TASKS; i++) {
		tasks[i] = alloc(f);
		((struct fake_task *)tasks[i])->value = i;
	}
	assert_int_equal(doca_priv_task_alloc(f->ctx.tasks, (union doca_data){0}, &more),
			 DOCA_ERROR_NO_MEMORY);
	doca_task_free(tasks[1]);
	more = alloc(f);
	assert_ptr_equal(more, tasks[1]);
	assert_int_equal(((struct fake_task *)more)->value, 0);
	for (int i = 0; i < MAX_TASKS; i++)
		doca_task_free(tasks[i]);
	assert_int_equal(f->ctx.releases, MAX_TASKS + 1);
}

static void no_tasks_unless_running(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f), *other;

	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_priv_task_alloc(f->ctx.tasks, (union doca_data){0}, &other),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE),
			 DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(fake_state(&f->ctx), DOCA_CTX_STATE_IDLE);
}

static void a_refused_task_stays_the_callers(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);

	f->ctx.submit_result = DOCA_ERROR_AGAIN;
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE), DOCA_ERROR_AGAIN);
	assert_int_equal(inflight(f), 0);
	f->ctx.submit_result = DOCA_SUCCESS;
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	/* In flight: neither freed nor submitted a second time. */
	doca_task_free(task);
	assert_int_equal(f->ctx.releases, 0);
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	f->ctx.to_complete = (struct fake_task *)task;
	f->ctx.free_in_callback = true;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(f->ctx.releases, 1);
}

static void try_submit_checks_first(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task = alloc(f);

	((struct fake_task *)task)->value = -1;
	assert_int_equal(doca_task_try_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->ctx.submits, 0);
	((struct fake_task *)task)->value = 1;
	assert_int_equal(doca_task_try_submit(task), DOCA_SUCCESS);
	f->ctx.to_complete = (struct fake_task *)task;
	f->ctx.free_in_callback = true;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	doca_task_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_task_lives),
		TEST(a_task_in_flight_cannot_be_submitted),
		TEST(the_pool_is_bounded_and_reused),
		TEST(no_tasks_unless_running),
		TEST(a_refused_task_stays_the_callers),
		TEST(try_submit_checks_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
