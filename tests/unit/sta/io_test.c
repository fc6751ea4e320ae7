/* SPDX-License-Identifier: Apache-2.0 */
/* doca_sta_io.h: I/O contexts, and the task that ends a connection. */
#include "ctl.h"

#include <pthread.h>

#include <doca_sta_io.h>
#include <doca_sta_io_non_offload.h>
#include <doca_sta_io_qp.h>
#include <doca_sta_mem.h>

static const union doca_data none;

static void test_create(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_io *io;

	assert_int_equal(doca_sta_io_create(f->sta, &io), DOCA_ERROR_BAD_STATE);
	ctl_configure(f);
	ASSERT_GOOD(doca_sta_set_max_sta_io(f->sta, 1));
	ctl_start(f);
	ASSERT_INVALID(doca_sta_io_create(NULL, &io));
	ASSERT_INVALID(doca_sta_io_create(f->sta, NULL));
	ASSERT_GOOD(doca_sta_io_create(f->sta, &io));
	ASSERT_GOOD(doca_pe_connect_ctx(f->pe, doca_sta_io_as_ctx(io)));
	/* Connect would have nowhere to go. */
	ASSERT_INVALID(doca_ctx_start(doca_sta_io_as_ctx(io)));
	ASSERT_GOOD(doca_sta_io_destroy(io));
	ctl_start_io(f);
	assert_int_equal(doca_sta_io_create(f->sta, &io), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_sta_io_destroy(f->io), DOCA_ERROR_BAD_STATE);
	ctl_stop_io(f);
	ASSERT_INVALID(doca_sta_io_destroy(NULL));
	assert_null(doca_sta_io_as_ctx(NULL));
}

static void test_tasks_are_configured_while_idle(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_io *io;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_io_create(f->sta, &io));
	ASSERT_INVALID(doca_sta_io_task_disconnect_set_conf(NULL, ctl_on_done, ctl_on_failed));
	ASSERT_INVALID(doca_sta_io_task_disconnect_set_conf(io, NULL, ctl_on_failed));
	ASSERT_INVALID(doca_sta_io_task_disconnect_set_conf(io, ctl_on_done, NULL));
	ASSERT_GOOD(doca_sta_io_task_disconnect_set_conf(io, ctl_on_done, ctl_on_failed));
	ASSERT_GOOD(doca_sta_io_destroy(io));
	ctl_start_io(f);
	assert_int_equal(doca_sta_io_task_disconnect_set_conf(f->io, ctl_on_done, ctl_on_failed),
			 DOCA_ERROR_BAD_STATE);
	ctl_stop_io(f);
}

static void test_disconnect(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = f};
	struct doca_sta_qp_handle *qp;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), NULL, 0, NULL, &qp));
	ASSERT_INVALID(doca_sta_io_task_disconnect_alloc_init(NULL, none, qp, &task));
	ASSERT_INVALID(doca_sta_io_task_disconnect_alloc_init(f->io, none, NULL, &task));
	ASSERT_INVALID(doca_sta_io_task_disconnect_alloc_init(f->io, none, qp, NULL));
	ASSERT_GOOD(doca_sta_io_task_disconnect_alloc_init(f->io, self, qp, &task));
	ctl_submit(task);
	PROGRESS_UNTIL(f, f->num_done == 1);
	assert_int_equal(fakedev.num_disconnected, 1);
	/* A second one has nothing to wait for. */
	ASSERT_GOOD(doca_sta_io_task_disconnect_alloc_init(f->io, self, qp, &task));
	ctl_submit(task);
	assert_int_equal(f->num_done, 1); /* never inside submit */
	PROGRESS_UNTIL(f, f->num_done == 2);
	ASSERT_GOOD(doca_sta_io_qp_destroy(f->io, qp));
	/* It is not of this context any more. */
	ASSERT_INVALID(doca_sta_io_task_disconnect_alloc_init(f->io, self, qp, &task));
	ctl_stop_io(f);
	assert_int_equal(f->num_failed, 0);
}

static struct doca_sta *stopping; /* NULL: it is not */
static unsigned int num_late, num_refused;

static void *create_late(void *arg)
{
	struct doca_sta_io *io;

	(void)arg;
	num_late++;
	num_refused += doca_sta_io_create(stopping, &io) == DOCA_ERROR_BAD_STATE;
	return NULL;
}

/* The EUs give their memory back: what another thread does at that moment. */
static void free_late(void *buf)
{
	pthread_t thread;

	fakedev_free(buf);
	if (!stopping)
		return;
	assert_int_equal(pthread_create(&thread, NULL, create_late, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* The STA context stops only when no IO context is left, and then none comes. */
static void test_create_while_stopping(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qp;

	ctl_configure(f);
	ASSERT_GOOD(doca_sta_mem_allocator_register(f->sta, fakedev_zmalloc, free_late,
						    fakedev_vtophys));
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), NULL, 0, NULL, &qp));
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_ERROR_IN_USE);
	ctl_stop_io(f);
	stopping = f->sta;
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	stopping = NULL;
	assert_true(num_late > 0);
	assert_int_equal(num_refused, num_late);
	ctl_start(f);
	ctl_start_io(f);
	ctl_stop_io(f);
}

static void test_no_callbacks(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	struct doca_sta_qp_handle *qp;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_io_create(f->sta, &f->io));
	ASSERT_GOOD(doca_pe_connect_ctx(f->pe, doca_sta_io_as_ctx(f->io)));
	ASSERT_GOOD(doca_sta_io_non_offload_register_cb(f->io, ctl_on_command, none));
	ASSERT_GOOD(doca_ctx_start(doca_sta_io_as_ctx(f->io)));
	ASSERT_GOOD(doca_sta_io_qp_alloc(f->io, f->dev, &qp));
	assert_int_equal(doca_sta_io_task_disconnect_alloc_init(f->io, none, qp, &task),
			 DOCA_ERROR_BAD_STATE);
	ctl_stop_io(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_create),	     CTL_TEST(test_tasks_are_configured_while_idle),
		CTL_TEST(test_disconnect),   CTL_TEST(test_create_while_stopping),
		CTL_TEST(test_no_callbacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
