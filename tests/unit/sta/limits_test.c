/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of src/sta/limits.h: each is reported by a function of doca_sta.h; at the limit it
 * works, and one over it there is the error that the header names.
 */
#include "ctl.h"

#include <stdio.h>

#include <doca_sta_be.h>
#include <doca_sta_subsystem.h>

static void test_subsystems_and_back_ends_are_bounded(void **state)
{
	static struct doca_sta_subs_handle *s[STA_MAX_SUBSYSTEMS];
	static struct doca_sta_be_handle *be[STA_MAX_BACKENDS];
	struct doca_sta_subs_handle *another;
	struct doca_sta_be_handle *more;
	struct ctl *f = *state;
	char nqn[16];

	ctl_configure(f);
	ctl_start(f);
	for (unsigned int i = 0; i < STA_MAX_SUBSYSTEMS; i++) {
		snprintf(nqn, sizeof(nqn), "nqn.%u", i);
		ASSERT_GOOD(doca_sta_subsystem_create(f->sta, nqn, &s[i]));
	}
	assert_int_equal(doca_sta_subsystem_create(f->sta, "another", &another),
			 DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < STA_MAX_BACKENDS; i++)
		ASSERT_GOOD(doca_sta_be_create(f->sta, &be[i]));
	assert_int_equal(doca_sta_be_create(f->sta, &more), DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < STA_MAX_SUBSYSTEMS; i++)
		ASSERT_GOOD(doca_sta_subsystem_destroy(s[i]));
	for (unsigned int i = 0; i < STA_MAX_BACKENDS; i++)
		ASSERT_GOOD(doca_sta_be_destroy(be[i]));
}

static void test_queue_pairs_are_bounded(void **state)
{
	static struct doca_sta_qp_handle *qps[STA_MAX_QPS];
	struct doca_sta_qp_handle *more;
	struct ctl *f = *state;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	for (unsigned int i = 0; i < STA_MAX_QPS; i++)
		ASSERT_GOOD(doca_sta_io_qp_alloc(f->io, f->dev, &qps[i]));
	assert_int_equal(doca_sta_io_qp_alloc(f->io, f->dev, &more), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), NULL, 0, NULL,
						&more),
			 DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < STA_MAX_QPS; i++)
		ASSERT_GOOD(doca_sta_io_qp_destroy(f->io, qps[i]));
	ctl_stop_io(f);
}

static void test_queues_are_bounded(void **state)
{
	static struct doca_sta_be_q_handle *q[STA_MAX_QUEUES_PER_BE];
	struct doca_sta_be_q_handle *more;
	struct doca_sta_producer_task_send *task;
	struct ctl *f = *state;
	union doca_data self = {.ptr = f};

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	for (unsigned int i = 0; i < STA_MAX_QUEUES_PER_BE; i++)
		q[i] = ctl_add_queue(f);
	assert_int_equal(doca_sta_be_add_queue(f->be, f->sq_map, f->db_map, 0, f->cq_map, f->db_map,
					       4, &more),
			 DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < STA_MAX_QUEUES_PER_BE; i++) {
		ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(q[i], self, &task));
		ctl_submit(task);
		PROGRESS_UNTIL(f, f->num_done == i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_subsystems_and_back_ends_are_bounded),
		CTL_TEST(test_queue_pairs_are_bounded),
		CTL_TEST(test_queues_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
