/* SPDX-License-Identifier: Apache-2.0 */
/* doca_sta_task.h: the task type that all STA tasks share, as a task of core. */
#include "ctl.h"

#include <doca_sta_be.h>
#include <doca_sta_task.h>

static unsigned int num_ended;

/* Keeps the task: it is the application's again. */
static void on_ended(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	assert_ptr_equal(task, *(struct doca_sta_producer_task_send **)user_data.ptr);
	num_ended++;
}

static void test_as_task(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	union doca_data data = {.ptr = &task};
	struct doca_sta_be_q_handle *q;
	struct doca_task *base;

	assert_null(doca_sta_producer_send_task_as_task(NULL));
	ctl_configure(f);
	ASSERT_GOOD(doca_sta_be_task_destroy_queue_set_conf(f->sta, on_ended, ctl_on_failed));
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	q = ctl_add_queue(f);
	ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(q, data, &task));
	base = doca_sta_producer_send_task_as_task(task);
	assert_non_null(base);
	assert_ptr_equal(doca_task_get_ctx(base), doca_sta_as_ctx(f->sta));
	assert_ptr_equal(doca_task_get_user_data(base).ptr, &task);
	num_ended = 0;
	ASSERT_GOOD(doca_task_submit(base));
	assert_int_equal(num_ended, 0); /* never inside submit */
	PROGRESS_UNTIL(f, num_ended > 0);
	ASSERT_GOOD(doca_task_get_status(base));
	(void)doca_pe_progress(f->pe);
	assert_int_equal(num_ended, 1);
	doca_task_free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_as_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
