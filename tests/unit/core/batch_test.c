/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of tasks (doca_pe.h), by a library that has them: submission, completion, counts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "core/limits.h"
#include "core/pe.h"
#include "fake_ctx.h"

/* A value below zero is bad. */
struct batch {
	struct doca_task_batch base;
	int values[2];
};

struct fixture {
	struct doca_pe *pe;
	struct fake_ctx ctx;
};

static doca_error_t submit_result;
static unsigned int submits, completions, releases;

static doca_error_t check(const struct doca_task_batch *batch)
{
	const struct batch *b = (const struct batch *)batch;

	return b->values[0] < 0 || b->values[1] < 0 ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}

static doca_error_t submit(struct doca_task_batch *batch)
{
	assert_int_equal(doca_task_batch_get_tasks_num(batch), 2);
	submits++;
	return submit_result;
}

static void complete(struct doca_task_batch *batch)
{
	(void)batch;
	completions++;
}

static void release(struct doca_task_batch *batch)
{
	(void)batch;
	releases++;
}

static const struct core_task_batch_ops ops = {
	.check = check,
	.submit = submit,
	.complete = complete,
	.release = release,
};

static int setup(void **state)
{
	static struct fixture f;

	submit_result = DOCA_SUCCESS;
	submits = completions = releases = 0;
	assert_int_equal(doca_pe_create(&f.pe), DOCA_SUCCESS);
	fake_init(&f.ctx, f.pe, 1);
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

static struct doca_task_batch *alloc(struct fixture *f)
{
	struct doca_task_batch *batch;

	assert_int_equal(doca_priv_task_batch_alloc(&f->ctx.base, &ops, sizeof(struct batch), 2,
						    (union doca_data){.u64 = 7}, &batch),
			 DOCA_SUCCESS);
	return batch;
}

static size_t inflight(struct fixture *f)
{
	size_t n;

	assert_int_equal(doca_pe_get_num_inflight_tasks(f->pe, &n), DOCA_SUCCESS);
	return n;
}

static void one_life(void **state)
{
	struct fixture *f = *state;
	struct doca_task_batch *batch = alloc(f);

	assert_ptr_equal(doca_task_batch_get_ctx(batch), &f->ctx.base);
	assert_ptr_equal(doca_task_batch_get_ctx_user_data(batch).ptr, f->ctx.base.user_data.ptr);
	assert_int_equal(doca_task_batch_get_user_data(batch).u64, 7);
	doca_task_batch_set_user_data(batch, (union doca_data){.u64 = 8});
	assert_int_equal(doca_task_batch_get_user_data(batch).u64, 8);
	assert_int_equal(doca_task_batch_get_status(batch), DOCA_SUCCESS);

	assert_int_equal(doca_task_batch_submit(batch), DOCA_SUCCESS);
	assert_int_equal(inflight(f), 2);
	/* In flight it can be neither freed nor submitted. */
	doca_task_batch_free(batch);
	assert_int_equal(releases, 0);
	assert_int_equal(doca_task_batch_try_submit(batch), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_batch_submit(batch), DOCA_ERROR_BAD_STATE);
	assert_int_equal(submits, 1);
	assert_int_equal(inflight(f), 2);
	doca_priv_task_batch_complete(batch, DOCA_ERROR_IO_FAILED);
	assert_int_equal(completions, 1);
	assert_int_equal(doca_task_batch_get_status(batch), DOCA_ERROR_IO_FAILED);
	assert_int_equal(inflight(f), 0);

	/* And once more. */
	assert_int_equal(doca_task_batch_try_submit(batch), DOCA_SUCCESS);
	doca_priv_task_batch_complete(batch, DOCA_SUCCESS);
	assert_int_equal(doca_task_batch_get_status(batch), DOCA_SUCCESS);
	assert_int_equal(submits, 2);
	doca_task_batch_free(batch);
	assert_int_equal(releases, 1);
}

static void a_refused_batch_stays_the_callers(void **state)
{
	struct fixture *f = *state;
	struct doca_task_batch *batch = alloc(f);

	submit_result = DOCA_ERROR_AGAIN;
	assert_int_equal(doca_task_batch_submit(batch), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_task_batch_try_submit(batch), DOCA_ERROR_AGAIN);
	assert_int_equal(inflight(f), 0);
	((struct batch *)batch)->values[1] = -1;
	assert_int_equal(doca_task_batch_try_submit(batch), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_batch_try_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(submits, 2);
	doca_task_batch_free(batch);
	doca_task_batch_free(NULL);
	assert_int_equal(releases, 1);
}

static void idle_waits_for_the_last_batch(void **state)
{
	struct fixture *f = *state;
	struct doca_task_batch *batch = alloc(f);

	assert_int_equal(doca_ctx_stop(&f->ctx.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_task_batch_submit(batch), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_batch_try_submit(batch), DOCA_ERROR_BAD_STATE);
	while (doca_pe_progress(f->pe))
		;
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	doca_task_batch_free(batch);
	assert_false(atomic_load(&f->pe->armed));
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(fake_state(&f->ctx), DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_priv_task_batch_alloc(&f->ctx.base, &ops, sizeof(struct batch), 2,
						    (union doca_data){0}, &batch),
			 DOCA_ERROR_BAD_STATE);
}

static void the_number_of_tasks_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct doca_task_batch *batch;

	assert_int_equal(doca_priv_task_batch_alloc(&f->ctx.base, &ops, sizeof(*batch), 0,
						    (union doca_data){0}, &batch),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_priv_task_batch_alloc(&f->ctx.base, &ops, sizeof(*batch),
						    CORE_MAX_BATCH_TASKS + 1, (union doca_data){0},
						    &batch),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_priv_task_batch_alloc(&f->ctx.base, &ops, sizeof(*batch),
						    CORE_MAX_BATCH_TASKS, (union doca_data){0},
						    &batch),
			 DOCA_SUCCESS);
	assert_int_equal(doca_task_batch_get_tasks_num(batch), 128);
	doca_task_batch_free(batch);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_life),
		TEST(a_refused_batch_stays_the_callers),
		TEST(idle_waits_for_the_last_batch),
		TEST(the_number_of_tasks_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
