/* SPDX-License-Identifier: Apache-2.0 */
/* doca_sta_be.h: back-ends, and the queue pairs that the engine is given and gives back. */
#include "ctl.h"

#include <doca_softsta.h>
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

#define ADD(f, sq, sq_db, cq, cq_db)                                                   \
	doca_sta_be_add_queue((f)->be, sq, (f)->db_map, sq_db, cq, (f)->db_map, cq_db, \
			      &(struct doca_sta_be_q_handle *){NULL})

static void test_add_queue(void **state)
{
	struct doca_sta_be_q_handle *q;
	struct ctl *f = *state;
	struct doca_mmap *sq = f->sq_map, *cq = f->cq_map, *db = f->db_map;

	ctl_configure(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	assert_int_equal(ADD(f, sq, 0, cq, 4), DOCA_ERROR_BAD_STATE);
	ctl_start(f);
	ASSERT_INVALID(doca_sta_be_add_queue(NULL, sq, db, 0, cq, db, 4, &q));
	ASSERT_INVALID(doca_sta_be_add_queue(f->be, NULL, db, 0, cq, db, 4, &q));
	ASSERT_INVALID(doca_sta_be_add_queue(f->be, sq, NULL, 0, cq, db, 4, &q));
	ASSERT_INVALID(doca_sta_be_add_queue(f->be, sq, db, 0, NULL, db, 4, &q));
	ASSERT_INVALID(doca_sta_be_add_queue(f->be, sq, db, 0, cq, NULL, 4, &q));
	ASSERT_INVALID(doca_sta_be_add_queue(f->be, sq, db, 0, cq, db, 4, NULL));
	ASSERT_GOOD(doca_sta_be_add_queue(f->be, sq, db, 0, cq, db, 4, &q));
	assert_int_equal(doca_mmap_destroy(sq), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_sta_be_destroy(f->be), DOCA_ERROR_IN_USE);
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
}

/* A map of @len bytes of the submission queue's memory as one of the two queues. */
static doca_error_t add_sized(struct ctl *f, size_t sq_len, size_t cq_len)
{
	struct doca_mmap *sq = ctl_map(f, f->sq, sq_len), *cq = ctl_map(f, f->cq, cq_len);
	doca_error_t result = ADD(f, sq, 0, cq, 4);

	/* They are not used after a failure. */
	ASSERT_GOOD(doca_mmap_destroy(sq));
	ASSERT_GOOD(doca_mmap_destroy(cq));
	return result;
}

static void test_queue_geometry(void **state)
{
	struct ctl *f = *state;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	/* doorbells: not aligned, outside */
	assert_int_equal(ADD(f, f->sq_map, 0, f->cq_map, 5), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(ADD(f, f->sq_map, 0, f->cq_map, 8), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(ADD(f, f->sq_map, 6, f->cq_map, 4), DOCA_ERROR_INVALID_VALUE);
	/* entries: unlike, three, one, not a whole number */
	ASSERT_INVALID(add_sized(f, 2 * STA_SQE_BYTES, 4 * STA_CQE_BYTES));
	ASSERT_INVALID(add_sized(f, 3 * STA_SQE_BYTES, 3 * STA_CQE_BYTES));
	ASSERT_INVALID(add_sized(f, 1 * STA_SQE_BYTES, 1 * STA_CQE_BYTES));
	ASSERT_INVALID(add_sized(f, 2 * STA_SQE_BYTES + 1, 2 * STA_CQE_BYTES));
}

/* Rings and doorbells are one queue's, each of them one thing. */
static void test_queues_share_nothing(void **state)
{
	struct ctl *f = *state;
	struct sta_sqe sq[2 * CTL_RING] = {0};
	struct sta_cqe cq[2 * CTL_RING] = {0};
	uint32_t db[4] = {0};
	struct doca_mmap *sq_low = ctl_map(f, sq, sizeof(f->sq)),
			 *sq_mid = ctl_map(f, sq + 1, sizeof(f->sq)),
			 *sq_high = ctl_map(f, sq + CTL_RING, sizeof(f->sq)),
			 *cq_low = ctl_map(f, cq, sizeof(f->cq)),
			 *cq_mid = ctl_map(f, cq + 1, sizeof(f->cq)),
			 *cq_high = ctl_map(f, cq + CTL_RING, sizeof(f->cq)),
			 *cq_in_sq = ctl_map(f, sq, sizeof(f->cq)),
			 *db_map = ctl_map(f, db, sizeof(db)),
			 *db_in_sq = ctl_map(f, sq + CTL_RING - 1, sizeof(*sq)),
			 *db_in_cq = ctl_map(f, cq + CTL_RING - 1, sizeof(*cq));
	struct doca_mmap *const maps[] = {sq_low,  sq_mid,   sq_high, cq_low,	cq_mid,
					  cq_high, cq_in_sq, db_map,  db_in_sq, db_in_cq};
	struct doca_sta_be_handle *other;
	struct doca_sta_be_q_handle *q;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_GOOD(doca_sta_be_create(f->sta, &other));
	/* within a queue */
	ASSERT_INVALID(doca_sta_be_add_queue(f->be, sq_low, db_map, 0, cq_in_sq, db_map, 4, &q));
	ASSERT_INVALID(doca_sta_be_add_queue(f->be, sq_low, db_map, 4, cq_low, db_map, 4, &q));
	ASSERT_INVALID(doca_sta_be_add_queue(f->be, sq_low, db_in_sq, 60, cq_low, db_map, 4, &q));
	ASSERT_INVALID(doca_sta_be_add_queue(f->be, sq_low, db_map, 0, cq_low, db_in_cq, 12, &q));
	/* with a queue of another back-end */
	ASSERT_GOOD(doca_sta_be_add_queue(other, sq_low, db_map, 0, cq_low, db_map, 4, &q));
#define ASSERT_TAKEN(sq, sq_db, cq, cq_db)                                                  \
	assert_int_equal(doca_sta_be_add_queue(f->be, sq, db_map, sq_db, cq, db_map, cq_db, \
					       &(struct doca_sta_be_q_handle *){NULL}),     \
			 DOCA_ERROR_ALREADY_EXIST)
	ASSERT_TAKEN(sq_low, 8, cq_high, 12);
	ASSERT_TAKEN(sq_mid, 8, cq_high, 12);
	ASSERT_TAKEN(sq_high, 8, cq_low, 12);
	ASSERT_TAKEN(sq_high, 8, cq_mid, 12);
	ASSERT_TAKEN(sq_high, 0, cq_high, 12);
	ASSERT_TAKEN(sq_high, 8, cq_high, 4);
	ASSERT_TAKEN(sq_high, 4, cq_high, 12);
	ASSERT_GOOD(doca_sta_be_add_queue(f->be, sq_high, db_map, 8, cq_high, db_map, 12, &q));
	/* They are free again when the queues are gone. */
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_add_queue(f->be, sq_mid, db_map, 4, cq_mid, db_map, 0, &q));
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	ASSERT_GOOD(doca_sta_be_destroy(other));
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		ASSERT_GOOD(doca_mmap_destroy(maps[i]));
}

static void test_maps_that_do_not_fit(void **state)
{
	struct ctl *f = *state;
	struct doca_dev *dev = fakedev_open(1);
	struct doca_mmap *others =
		fakedev_map(dev, f->cq, sizeof(f->cq), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_mmap *read_only =
		fakedev_map(f->dev, f->cq, sizeof(f->cq), DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_mmap *stopped = ctl_map(f, f->cq, sizeof(f->cq));

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_GOOD(doca_mmap_stop(stopped));
	assert_int_equal(ADD(f, f->sq_map, 0, others, 4), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(ADD(f, f->sq_map, 0, read_only, 4), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(ADD(f, f->sq_map, 0, stopped, 4), DOCA_ERROR_BAD_STATE);
	ASSERT_GOOD(doca_mmap_destroy(others));
	ASSERT_GOOD(doca_mmap_destroy(read_only));
	ASSERT_GOOD(doca_mmap_destroy(stopped));
	ASSERT_GOOD(doca_dev_close(dev));
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
}

/* Of two tasks for a queue the second is refused, when it is made or when it is submitted. */
static void test_a_queue_is_destroyed_once(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task, *second, *third;
	struct doca_sta_be_q_handle *q, *other;
	union doca_data self = {.ptr = f};

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	q = ctl_add_queue(f);
	other = ctl_add_queue(f);
	ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(q, self, &task));
	ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(q, self, &second));
	ctl_submit(task);
	assert_int_equal(doca_task_submit(doca_sta_producer_send_task_as_task(second)),
			 DOCA_ERROR_BAD_STATE);
	doca_task_free(doca_sta_producer_send_task_as_task(second));
	assert_int_equal(doca_sta_be_destroy_queue_task_alloc_init(q, self, &third),
			 DOCA_ERROR_BAD_STATE);
	/* The context stops when the task has ended; until then it makes no more of them. */
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_sta_be_destroy_queue_task_alloc_init(other, self, &third),
			 DOCA_ERROR_BAD_STATE);
	PROGRESS_UNTIL(f, ctl_state_of(doca_sta_as_ctx(f->sta)) == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->num_done, 1);
}

static void on_done_again(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct doca_task *t = doca_sta_producer_send_task_as_task(task);
	struct ctl *f = user_data.ptr;

	f->num_done++;
	assert_int_equal(doca_task_submit(t), DOCA_ERROR_BAD_STATE);
	/* Kept. */
}

/* Tasks outlive their queue. */
static void test_tasks_without_a_queue(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *tasks[4];
	struct doca_sta_be_q_handle *q;
	union doca_data self = {.ptr = f};

	ctl_configure(f);
	ASSERT_GOOD(doca_sta_be_task_destroy_queue_set_conf(f->sta, on_done_again, ctl_on_failed));
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	q = ctl_add_queue(f);
	for (int i = 0; i < 4; i++)
		ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(q, self, &tasks[i]));
	/* One that goes before, out of the middle. */
	doca_task_free(doca_sta_producer_send_task_as_task(tasks[1]));
	ctl_submit(tasks[0]);
	PROGRESS_UNTIL(f, f->num_done == 1);
	tasks[1] = tasks[2];
	tasks[2] = tasks[3];
	for (int i = 0; i < 3; i++) {
		struct doca_task *t = doca_sta_producer_send_task_as_task(tasks[i]);

		assert_int_equal(doca_task_submit(t), DOCA_ERROR_BAD_STATE);
		assert_int_equal(doca_task_try_submit(t), DOCA_ERROR_BAD_STATE);
		doca_task_free(t);
	}
	assert_int_equal(f->num_done, 1);
	/* And one that is left over when the context stops; it lets go of the queue. */
	q = ctl_add_queue(f);
	ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(q, self, &tasks[0]));
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 100; i++) {
		(void)doca_pe_progress(f->pe);
		ctl_nap();
	}
	assert_int_equal(doca_task_submit(doca_sta_producer_send_task_as_task(tasks[0])),
			 DOCA_ERROR_BAD_STATE);
	doca_task_free(doca_sta_producer_send_task_as_task(tasks[0]));
	PROGRESS_UNTIL(f, ctl_state_of(doca_sta_as_ctx(f->sta)) == DOCA_CTX_STATE_IDLE);
}

/* That a controller has stopped is said once, while the queue is in use. */
static void test_a_halted_queue(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	struct doca_sta_be_q_handle *halted, *leaving, *left;
	union doca_data self = {.ptr = f};

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	halted = ctl_add_queue(f);
	leaving = ctl_add_queue(f);
	left = ctl_add_queue(f);
	ASSERT_INVALID(doca_softsta_be_queue_halted(NULL));
	ASSERT_GOOD(doca_softsta_be_queue_halted(halted));
	assert_int_equal(doca_softsta_be_queue_halted(halted), DOCA_ERROR_BAD_STATE);
	ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(halted, self, &task));
	ctl_submit(task);
	PROGRESS_UNTIL(f, f->num_done == 1);
	ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(leaving, self, &task));
	ctl_submit(task);
	assert_int_equal(doca_softsta_be_queue_halted(leaving), DOCA_ERROR_BAD_STATE);
	/* The task holds the context up, and with it the handles. */
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_softsta_be_queue_halted(left), DOCA_ERROR_BAD_STATE);
	PROGRESS_UNTIL(f, ctl_state_of(doca_sta_as_ctx(f->sta)) == DOCA_CTX_STATE_IDLE);
}

static void test_no_callbacks(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = f};

	ASSERT_GOOD(doca_sta_add_dev(f->sta, f->dev));
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	assert_int_equal(doca_sta_be_destroy_queue_task_alloc_init(ctl_add_queue(f), self, &task),
			 DOCA_ERROR_BAD_STATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_back_ends),
		CTL_TEST(test_tasks_are_configured_while_idle),
		CTL_TEST(test_add_queue),
		CTL_TEST(test_queue_geometry),
		CTL_TEST(test_queues_share_nothing),
		CTL_TEST(test_maps_that_do_not_fit),
		CTL_TEST(test_destroy_queue),
		CTL_TEST(test_a_queue_is_destroyed_once),
		CTL_TEST(test_tasks_without_a_queue),
		CTL_TEST(test_a_halted_queue),
		CTL_TEST(test_no_callbacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
