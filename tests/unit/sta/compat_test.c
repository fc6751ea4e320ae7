/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The older names (doca_sta_compat.h): a program that was written with them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <doca_sta.h>
#include <doca_sta_event.h>
#include <doca_sta_io.h>
#include <doca_sta_io_non_offload.h>

static void on_timeout(const struct doca_sta_event_back_end_timeout *event,
		       union doca_data user_data)
{
	const struct doca_sta_be_q_handle *queue;
	const struct doca_sta_be_handle *be;

	(void)user_data;
	assert_int_equal(doca_sta_event_back_end_timeout_get_be_handle(event, &be),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_event_back_end_timeout_get_be_queue_handle(event, &queue),
			 DOCA_ERROR_INVALID_VALUE);
}

static void back_end_timeouts(void **state)
{
	doca_sta_event_back_end_timeout_cb_t cb = on_timeout;

	(void)state;
	assert_int_equal(doca_sta_event_back_end_timeout_register_cb(NULL, cb,
								     (union doca_data){0}),
			 DOCA_ERROR_INVALID_VALUE);
	cb(NULL, (union doca_data){0});
}

static void completions(void **state)
{
	doca_sta_nvmef_completion_t completion = {0};
	struct doca_sta_producer_task_send *task;
	/* One type: what points to the one may point to the other. */
	doca_sta_nvme_completion_t *same = &completion;

	(void)state;
	assert_int_equal(sizeof(*same), DOCA_STA_NVMEF_COMPLETION_SIZE);
	assert_int_equal(doca_sta_io_task_non_offload_rdma_send_alloc_init(
				 NULL, (union doca_data){0}, NULL, completion, (union doca_data){0},
				 &task),
			 DOCA_ERROR_INVALID_VALUE);
}

static void contexts(void **state)
{
	(void)state;
	assert_null(doca_sta_as_doca_ctx(NULL));
	assert_null(doca_sta_io_as_doca_ctx(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(back_end_timeouts),
		cmocka_unit_test(completions),
		cmocka_unit_test(contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
