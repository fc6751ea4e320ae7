/* SPDX-License-Identifier: Apache-2.0 */
/* Connections on the control path: that no failure, and no number of them, leaves anything behind.
 */
#include "ctl.h"

#include <doca_sta_subsystem.h>

enum {
	DEPTH = 4
};

static const uint8_t accept_record[32] = {0, 0, DEPTH, 0};

static void test_stop_ends_connections(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qp;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	for (int i = 0; i < 8; i++)
		assert_int_equal(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(),
							accept_record, sizeof(accept_record), NULL,
							&qp),
				 DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(doca_sta_io_as_ctx(f->io)), DOCA_ERROR_IN_PROGRESS);
	PROGRESS_UNTIL(f, ctl_state_of(doca_sta_io_as_ctx(f->io)) == DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_sta_io_destroy(f->io), DOCA_SUCCESS);
	assert_int_equal(atomic_load(&f->sta->num_qps), 0);
}

struct probe {
	struct sta_msg msg;
	atomic_bool is_done, is_good;
};

static void compare_slots(void *owner, struct sta_msg *msg)
{
	struct probe *probe = util_container_of(msg, struct probe, msg);
	const struct sta_eu *eu = owner;
	bool is_good = true;

	for (int c = 0; c < STA_SLOT_CLASSES; c++)
		is_good &= eu->pool.classes[c].num_slots == eu->num_slots[c];
	atomic_store(&probe->is_good, is_good);
	atomic_store(&probe->is_done, true);
}

/* What was made for an EU has reached it, or is before this message. */
static void check_slots(struct ctl *f)
{
	for (unsigned int i = 0; i < f->sta->num_eus; i++) {
		struct probe probe = {.msg.fn = compare_slots};

		sta_eu_post(&f->sta->eus[i].eu, &probe.msg);
		PROGRESS_UNTIL(f, atomic_load(&probe.is_done));
		assert_true(atomic_load(&probe.is_good));
	}
}

/* Whatever fails on the way: an error, a rejected host, nothing left, and the next one works. */
static void test_every_failure_of_accept(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_subs_handle *s;
	struct rdma_cm_id *id;
	struct doca_sta_qp_handle *qp;
	doca_error_t err = DOCA_ERROR_UNKNOWN;
	unsigned int n;

	for (n = 1; err != DOCA_SUCCESS; n++) {
		assert_true(n < 100);
		if (n == 1)
			ctl_configure(f);
		ctl_start(f);
		ctl_start_io(f);
		assert_int_equal(doca_sta_subsystem_create(f->sta, "s", &s), DOCA_SUCCESS);
		assert_int_equal(doca_sta_io_qp_alloc(f->io, f->dev, &qp), DOCA_SUCCESS);
		fakedev.num_rejected = 0;
		id = fakedev_request();
		fakedev.fail_at = fakedev.num_calls + n;
		err = doca_sta_io_qp_accept(f->io, qp, f->dev, id, accept_record,
					    sizeof(accept_record), s);
		fakedev.fail_at = 0;
		assert_int_equal(fakedev.num_rejected, err != DOCA_SUCCESS);
		if (err != DOCA_SUCCESS && !qp->id)
			/* It can be used for the next request. */
			assert_int_equal(doca_sta_io_qp_accept(f->io, qp, f->dev, fakedev_request(),
							       accept_record, sizeof(accept_record),
							       s),
					 DOCA_SUCCESS);
		check_slots(f);
		assert_int_equal(doca_sta_io_qp_destroy(f->io, qp), DOCA_SUCCESS);
		ctl_stop_io(f);
		assert_int_equal(doca_sta_subsystem_destroy(s), DOCA_SUCCESS);
		assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_SUCCESS);
		assert_int_equal(fakedev.num_live, 2); /* the device, and a domain of core's */
	}
	assert_true(n > 10);
}

static struct doca_sta_qp_handle *connect_one(struct ctl *f)
{
	struct doca_sta_qp_handle *qp;

	assert_int_equal(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), accept_record,
						sizeof(accept_record), NULL, &qp),
			 DOCA_SUCCESS);
	return qp;
}

/* The id goes with the connection, since it has events; the rest stays for a task that is not free.
 */
static void test_task_outlives_its_queue_pair(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *early, *late;
	struct doca_sta_qp_handle *qp;
	union doca_data self = {.ptr = f};

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	qp = connect_one(f);
	assert_int_equal(doca_sta_io_task_disconnect_alloc_init(f->io, self, qp, &early),
			 DOCA_SUCCESS);
	assert_int_equal(doca_sta_io_task_disconnect_alloc_init(f->io, self, qp, &late),
			 DOCA_SUCCESS);
	ctl_submit(early);
	PROGRESS_UNTIL(f, f->num_done == 1);
	assert_non_null(qp->id);
	assert_int_equal(doca_sta_io_qp_destroy(f->io, qp), DOCA_SUCCESS);
	assert_null(qp->id);
	assert_int_equal(atomic_load(&f->sta->num_qps), 1);
	ctl_submit(late);
	PROGRESS_UNTIL(f, f->num_done == 2);
	assert_int_equal(atomic_load(&f->sta->num_qps), 0);
	ctl_stop_io(f);
}

static unsigned int num_regions(const struct ctl *f)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->sta->num_eus; i++) {
		for (struct sta_region *r = f->sta->eus[i].eu.regions; r; r = r->next)
			n++;
	}
	return n;
}

/* Memory is for the connections of a time, however many there were before. */
static void test_connections_without_end(void **state)
{
	struct doca_sta_qp_handle *qps[8];
	struct ctl *f = *state;
	unsigned int after_first = 0, i, k;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	for (i = 0; i < 50; i++) {
		for (k = 0; k < UTIL_ARRAY_SIZE(qps); k++)
			qps[k] = connect_one(f);
		if (i == 0)
			after_first = num_regions(f);
		for (k = 0; k < UTIL_ARRAY_SIZE(qps); k++)
			assert_int_equal(doca_sta_io_qp_destroy(f->io, qps[k]), DOCA_SUCCESS);
		PROGRESS_UNTIL(f, atomic_load(&f->sta->num_qps) == 0);
	}
	assert_int_equal(num_regions(f), after_first);
	/* Four QPs an EU: sizes double from one QP's share, so three regions a class at most. */
	assert_in_range(after_first, CTL_EUS * STA_SLOT_CLASSES, 3 * CTL_EUS * STA_SLOT_CLASSES);
	ctl_stop_io(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_stop_ends_connections),
		CTL_TEST(test_every_failure_of_accept),
		CTL_TEST(test_task_outlives_its_queue_pair),
		CTL_TEST(test_connections_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
