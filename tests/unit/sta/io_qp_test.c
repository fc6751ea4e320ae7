/* SPDX-License-Identifier: Apache-2.0 */
/* doca_sta_io_qp.h: queue pairs, from the connection request to the end. */
#include "ctl.h"

#include <errno.h>

#include <doca_sta_io_qp.h>
#include <doca_sta_subsystem.h>

enum {
	DEPTH = 4
};

static const union doca_data none;
static const uint8_t accept_record[32] = {0, 0, DEPTH, 0};

static void test_before_start(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qp;
	struct doca_sta_io *io;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_io_create(f->sta, &io));
	assert_int_equal(doca_sta_io_qp_alloc(io, f->dev, &qp), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_qp_connect(io, f->dev, fakedev_request(), NULL, 0, NULL, &qp),
			 DOCA_ERROR_BAD_STATE);
	ASSERT_GOOD(doca_sta_io_destroy(io));
}

static void test_queue_pair_states(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	struct doca_sta_subs_handle *s, *other;
	struct doca_sta_qp_handle *qp;
	union doca_data self = {.ptr = f}, data;
	uint32_t id;
	uint16_t n;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "o", &other));
	ASSERT_INVALID(doca_sta_io_qp_alloc(f->io, NULL, &qp));
	ASSERT_GOOD(doca_sta_io_qp_alloc(f->io, f->dev, &qp));
	assert_int_equal(doca_sta_io_qp_get_id(qp, &id), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_qp_connect_established(f->io, qp), DOCA_ERROR_BAD_STATE);
	ASSERT_GOOD(doca_sta_io_qp_set_user_data(f->io, qp, self));
	ASSERT_GOOD(doca_sta_io_qp_get_user_data(qp, &data));
	assert_ptr_equal(data.ptr, f);
	ASSERT_GOOD(doca_sta_io_qp_accept(f->io, qp, f->dev, fakedev_request(), accept_record,
					  sizeof(accept_record), s));
	assert_int_equal(qp->depth, DEPTH);
	ASSERT_GOOD(doca_sta_io_qp_get_id(qp, &id));
	assert_int_equal(id, 17);
	ASSERT_GOOD(doca_sta_io_qp_get_port_id(qp, &n));
	assert_int_equal(n, 1);
	ASSERT_GOOD(doca_sta_io_qp_get_group_id(qp, &n));
	assert_int_equal(n, qp->eu->idx);
	ASSERT_GOOD(doca_sta_io_qp_get_index_in_group(qp, &n));
	assert_int_equal(n, 0);
	/* The id is taken over whatever the result: no leak, and the host is told. */
	assert_int_equal(doca_sta_io_qp_accept(f->io, qp, f->dev, fakedev_request(), NULL, 0, NULL),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(fakedev.num_rejected, 1);
	assert_int_equal(doca_sta_io_qp_add_subsystem(f->io, other, qp), DOCA_ERROR_ALREADY_EXIST);
	ASSERT_INVALID(doca_sta_io_qp_connect_set_sq_size(f->io, qp, 1));
	ASSERT_INVALID(doca_sta_io_qp_connect_set_sq_size(f->io, qp, STA_MAX_QUEUE_DEPTH + 1));
	ASSERT_GOOD(doca_sta_io_qp_connect_set_sq_size(f->io, qp, 2));
	ASSERT_GOOD(doca_sta_io_qp_connect_established(f->io, qp));
	ASSERT_GOOD(doca_sta_io_qp_connect_established(f->io, qp));
	assert_int_equal(doca_sta_subsystem_destroy(s), DOCA_ERROR_IN_USE);
	ASSERT_GOOD(doca_sta_io_task_disconnect_alloc_init(f->io, self, qp, &task));
	ctl_submit(task);
	assert_int_equal(doca_sta_io_qp_connect_established(f->io, qp), DOCA_ERROR_BAD_STATE);
	PROGRESS_UNTIL(f, f->num_done == 1);
	ASSERT_GOOD(doca_sta_io_qp_destroy(f->io, qp));
	ASSERT_INVALID(doca_sta_io_qp_destroy(f->io, qp));
	PROGRESS_UNTIL(f, atomic_load(&f->sta->num_qps) == 0);
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
	ASSERT_GOOD(doca_sta_subsystem_destroy(other));
	ctl_stop_io(f);
	assert_int_equal(f->num_failed, 0);
}

static void test_connect(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_subs_handle *s;
	struct doca_sta_qp_handle *qp;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), accept_record,
					   sizeof(accept_record), NULL, &qp));
	assert_int_equal(fakedev.num_accepted, 1);
	ASSERT_GOOD(doca_sta_io_qp_add_subsystem(f->io, s, qp));
	assert_int_equal(doca_sta_io_qp_add_subsystem(f->io, s, qp), DOCA_ERROR_ALREADY_EXIST);
	ASSERT_GOOD(doca_sta_io_qp_destroy(f->io, qp));
	PROGRESS_UNTIL(f, atomic_load(&f->sta->num_qps) == 0);
	assert_int_equal(fakedev.num_disconnected, 1);
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
	ctl_stop_io(f);
}

/* A subsystem is bound once, whichever of the two calls does it. */
static void test_accept_with_a_subsystem(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_subs_handle *s;
	struct doca_sta_qp_handle *qp;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	ASSERT_GOOD(doca_sta_io_qp_alloc(f->io, f->dev, &qp));
	ASSERT_GOOD(doca_sta_io_qp_add_subsystem(f->io, s, qp));
	assert_int_equal(doca_sta_io_qp_accept(f->io, qp, f->dev, fakedev_request(), accept_record,
					       sizeof(accept_record), s),
			 DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(fakedev.num_rejected, 1);
	ASSERT_GOOD(doca_sta_io_qp_accept(f->io, qp, f->dev, fakedev_request(), accept_record,
					  sizeof(accept_record), NULL));
	ctl_stop_io(f);
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
}

static struct doca_sta_qp_handle *alloc_qp(struct ctl *f)
{
	struct doca_sta_qp_handle *qp;

	ASSERT_GOOD(doca_sta_io_qp_alloc(f->io, f->dev, &qp));
	return qp;
}

#define ACCEPT(f) \
	doca_sta_io_qp_accept((f)->io, alloc_qp(f), (f)->dev, fakedev_request(), NULL, 0, NULL)
#define CONNECT(f)                                                                  \
	doca_sta_io_qp_connect((f)->io, (f)->dev, fakedev_request(), NULL, 0, NULL, \
			       &(struct doca_sta_qp_handle *){NULL})
#define ASSERT_REFUSED(f, error)                     \
	do {                                         \
		assert_int_equal(ACCEPT(f), error);  \
		assert_int_equal(CONNECT(f), error); \
	} while (0)

/* Whatever the device or its connection manager says, the caller hears what the header says. */
static void test_the_device_refuses(void **state)
{
	static const char *const calls[] = {"ibv_query_device", "rdma_create_qp", "post_recv",
					    "rdma_accept"};
	struct ctl *f = *state;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(calls); i++) {
		fakedev.refused = calls[i];
		fakedev.err = ENOMEM;
		ASSERT_REFUSED(f, DOCA_ERROR_NO_MEMORY);
		fakedev.err = EPERM;
		ASSERT_REFUSED(f, DOCA_ERROR_NOT_PERMITTED);
		fakedev.err = EACCES;
		ASSERT_REFUSED(f, DOCA_ERROR_NOT_PERMITTED);
		fakedev.err = EINVAL;
		ASSERT_REFUSED(f, DOCA_ERROR_DRIVER);
		fakedev.err = ECONNRESET;
		ASSERT_REFUSED(f, DOCA_ERROR_DRIVER);
	}
	fakedev.refused = NULL;
	assert_int_equal(fakedev.num_accepted, 0);
	ctl_stop_io(f);
}

static void test_no_pointers(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qp;
	union doca_data data;
	uint32_t id;
	uint16_t n;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_io_qp_alloc(f->io, f->dev, &qp));
	/* The connection is taken over all the same: no object is left at the end. */
	ASSERT_INVALID(
		doca_sta_io_qp_accept(f->io, NULL, f->dev, fakedev_request(), NULL, 0, NULL));
	ASSERT_INVALID(doca_sta_io_qp_accept(f->io, qp, f->dev, NULL, NULL, 0, NULL));
	ASSERT_INVALID(doca_sta_io_qp_connect(NULL, f->dev, fakedev_request(), NULL, 0, NULL, &qp));
	ASSERT_INVALID(doca_sta_io_qp_connect(f->io, f->dev, NULL, NULL, 0, NULL, &qp));
	ASSERT_INVALID(doca_sta_io_qp_connect_established(f->io, NULL));
	ASSERT_INVALID(doca_sta_io_qp_add_subsystem(f->io, NULL, qp));
	ASSERT_INVALID(doca_sta_io_qp_get_id(NULL, &id));
	ASSERT_INVALID(doca_sta_io_qp_get_id(qp, NULL));
	ASSERT_INVALID(doca_sta_io_qp_get_port_id(NULL, &n));
	ASSERT_INVALID(doca_sta_io_qp_get_port_id(qp, NULL));
	ASSERT_INVALID(doca_sta_io_qp_get_group_id(NULL, &n));
	ASSERT_INVALID(doca_sta_io_qp_get_group_id(qp, NULL));
	ASSERT_INVALID(doca_sta_io_qp_get_index_in_group(NULL, &n));
	ASSERT_INVALID(doca_sta_io_qp_get_index_in_group(qp, NULL));
	ASSERT_INVALID(doca_sta_io_qp_set_user_data(f->io, NULL, none));
	ASSERT_INVALID(doca_sta_io_qp_get_user_data(NULL, &data));
	ASSERT_INVALID(doca_sta_io_qp_get_user_data(qp, NULL));
	ASSERT_GOOD(doca_sta_io_qp_destroy(f->io, qp));
	ctl_stop_io(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_before_start),
		CTL_TEST(test_queue_pair_states),
		CTL_TEST(test_connect),
		CTL_TEST(test_accept_with_a_subsystem),
		CTL_TEST(test_the_device_refuses),
		CTL_TEST(test_no_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
