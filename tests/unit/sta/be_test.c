/* SPDX-License-Identifier: Apache-2.0 */
/* doca_sta_be.h: back-ends, and the queue pairs that the engine is given and gives back. */
#include "ctl.h"

#include <doca_sta_be.h>
#include <doca_sta_stats.h>

static void test_back_ends(void **state)
{
	struct ctl *f = *state;

	ASSERT_INVALID(doca_sta_be_create(NULL, &f->be));
	ASSERT_INVALID(doca_sta_be_create(f->sta, NULL));
	ASSERT_INVALID(doca_sta_be_destroy(NULL));
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_GOOD(doca_sta_be_destroy(f->be));
	f->be = NULL;
}

static void test_tasks_are_configured_while_idle(void **state)
{
	struct ctl *f = *state;

	ASSERT_INVALID(doca_sta_be_task_destroy_queue_set_conf(NULL, ctl_on_done, ctl_on_failed));
	ASSERT_INVALID(doca_sta_be_task_destroy_queue_set_conf(f->sta, NULL, ctl_on_failed));
	ASSERT_INVALID(doca_sta_be_task_destroy_queue_set_conf(f->sta, ctl_on_done, NULL));
	ASSERT_GOOD(doca_sta_be_task_destroy_queue_set_conf(f->sta, ctl_on_done, ctl_on_failed));
	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_be_task_destroy_queue_set_conf(f->sta, ctl_on_done,
								 ctl_on_failed),
			 DOCA_ERROR_BAD_STATE);
}

static void test_queue_geometry(void **state)
{
	struct ctl *f = *state;
	struct fakedev_map *sq = &f->maps[0], *cq = &f->maps[1], *db = &f->maps[2];
	struct doca_sta_be_q_handle *q;

#define ADD(sq_db, cq_db)                                                         \
	doca_sta_be_add_queue(f->be, fakedev_mmap(sq), fakedev_mmap(db), (sq_db), \
			      fakedev_mmap(cq), fakedev_mmap(db), (cq_db), &q)
	ctl_configure(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	assert_int_equal(ADD(0, 4), DOCA_ERROR_BAD_STATE);
	ctl_start(f);
	assert_int_equal(ADD(0, 5), DOCA_ERROR_INVALID_VALUE); /* not aligned */
	assert_int_equal(ADD(0, 8), DOCA_ERROR_INVALID_VALUE); /* outside */
	assert_int_equal(ADD(6, 4), DOCA_ERROR_INVALID_VALUE);
	sq->len -= STA_SQE_BYTES;
	assert_int_equal(ADD(0, 4), DOCA_ERROR_INVALID_VALUE); /* unlike */
	cq->len -= STA_CQE_BYTES;
	assert_int_equal(ADD(0, 4), DOCA_ERROR_INVALID_VALUE); /* three */
	sq->len -= 2 * STA_SQE_BYTES - 1;
	assert_int_equal(ADD(0, 4), DOCA_ERROR_INVALID_VALUE);
	sq->len = sizeof(f->sq);
	cq->len = sizeof(f->cq);
	cq->addr = NULL; /* not started */
	assert_int_equal(ADD(0, 4), DOCA_ERROR_BAD_STATE);
	cq->addr = f->cq;
	assert_int_equal(sq->num_users + cq->num_users + db->num_users, 0);
	assert_int_equal(ADD(0, 4), DOCA_SUCCESS);
	assert_int_equal(doca_sta_be_destroy(f->be), DOCA_ERROR_IN_USE);
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	assert_int_equal(sq->num_users + cq->num_users + db->num_users, 0);
}

static void test_destroy_queue(void **state)
{
	struct ctl *f = *state;
	const struct doca_sta_eu_ctr_entry *entries;
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = f};
	struct doca_sta_be_q_handle *q;
	uint16_t num;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	q = ctl_add_queue(f);
	ASSERT_GOOD(doca_sta_get_be_queue_mapping_info(q, &entries, &num));
	assert_int_equal(num, 2);
	assert_string_equal(entries[1].name, "entries");
	assert_int_equal(*entries[1].val, CTL_RING);
	ASSERT_INVALID(doca_sta_get_be_queue_mapping_info(NULL, &entries, &num));
	ASSERT_INVALID(doca_sta_get_be_queue_mapping_info(q, NULL, &num));
	ASSERT_INVALID(doca_sta_get_be_queue_mapping_info(q, &entries, NULL));
	ASSERT_INVALID(doca_sta_be_destroy_queue_task_alloc_init(NULL, self, &task));
	ASSERT_INVALID(doca_sta_be_destroy_queue_task_alloc_init(q, self, NULL));
	ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(q, self, &task));
	ctl_submit(task);
	/* Stopping waits for it. */
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_ERROR_IN_PROGRESS);
	PROGRESS_UNTIL(f, ctl_state_of(doca_sta_as_ctx(f->sta)) == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->num_done, 1);
	assert_int_equal(f->maps[0].num_users, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_back_ends),
		CTL_TEST(test_tasks_are_configured_while_idle),
		CTL_TEST(test_queue_geometry),
		CTL_TEST(test_destroy_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
