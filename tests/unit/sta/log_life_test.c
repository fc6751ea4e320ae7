/* SPDX-License-Identifier: Apache-2.0 */
/* What the control path logs: each change in the lives of its objects. */
#include "ctl.h"

#include <doca_sta_be.h>
#include <doca_sta_io_qp.h>
#include <doca_sta_subsystem.h>

#include "logged.h"

#define NQN "nqn.2014-08.org:life"

enum {
	DEPTH = 4,
	QPN = 17,
};

static const uint8_t accept_record[32] = {0, 0, DEPTH, 0};

static int group_setup(void **state)
{
	(void)state;
	logged_open();
	return 0;
}

static int setup(void **state)
{
	logged_start(DOCA_LOG_LEVEL_DEBUG);
	return ctl_setup(state);
}

static void test_contexts(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_io *io;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_LOGGED("][DEBUG][sta.sta] sta %p: created on device fake0\n", (void *)f->sta);
	ASSERT_LOGGED("sta %p: device fake0 added\n", (void *)f->sta);
	ASSERT_LOGGED("][DEBUG][sta.eu] eu 1: started\n");
	ASSERT_LOGGED("sta %p: started, 1 devices, %d eus\n", (void *)f->sta, CTL_EUS);
	ctl_start_io(f);
	io = f->io;
	ASSERT_LOGGED("][DEBUG][sta.io] sta io %p: created\n", (void *)io);
	ASSERT_LOGGED("sta io %p: started\n", (void *)io);
	ctl_stop_io(f);
	ASSERT_LOGGED("sta io %p: stopping, 0 qps are left\n", (void *)io);
	ASSERT_LOGGED("sta io %p: destroyed\n", (void *)io);
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	ASSERT_LOGGED("eu 0: stopped\n");
	ASSERT_LOGGED("sta %p: stopped\n", (void *)f->sta);
}

static void test_subsystem_and_namespace(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_subs_handle *s;
	struct doca_sta_ns_handle *ns;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_LOGGED("][DEBUG][sta.be] back-end 0: created\n");
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, NQN, &s));
	ASSERT_GOOD(doca_sta_subsystem_add_dev(s, f->dev));
	ASSERT_LOGGED("][DEBUG][sta.subsystem] subsystem " NQN ": created\n");
	ASSERT_LOGGED("subsystem " NQN ": device fake0 added\n");
	ASSERT_GOOD(doca_sta_subsystem_add_ns(s, 2, 512, 5, f->be, &ns));
	ASSERT_LOGGED("][DEBUG][sta.ns] subsystem " NQN
		      " nsid 2: added, back-end 0 nsid 5, blocks of 512 bytes\n");
	ASSERT_GOOD(doca_sta_subsystem_rm_ns(s, ns));
	ASSERT_LOGGED("subsystem " NQN " nsid 2: hidden from hosts");
	ASSERT_LOGGED("subsystem " NQN " nsid 2: removed\n");
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
	ASSERT_LOGGED("subsystem " NQN ": destroyed\n");
	ASSERT_GOOD(doca_sta_be_destroy(f->be));
	f->be = NULL;
	ASSERT_LOGGED("back-end 0: destroyed\n");
}

static void test_back_end_queue(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = f};
	struct doca_sta_be_q_handle *q;
	unsigned int eu;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	q = ctl_add_queue(f);
	eu = q->eu->idx;
	ASSERT_LOGGED("back-end 0 queue 0: added, %d entries, eu %u\n", CTL_RING, eu);
	ASSERT_GOOD(doca_sta_be_destroy_queue_task_alloc_init(q, self, &task));
	ctl_submit(task);
	PROGRESS_UNTIL(f, f->num_done == 1);
	ASSERT_LOGGED("back-end 0 queue 0: closing\n");
	ASSERT_LOGGED("back-end 0 queue 0: gone\n");
}

static void test_queue_pair(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_subs_handle *s;
	struct doca_sta_qp_handle *qp;
	unsigned int eu;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, NQN, &s));
	ASSERT_GOOD(doca_sta_io_qp_alloc(f->io, f->dev, &qp));
	ASSERT_LOGGED("][DEBUG][sta.qp] sta io %p: qp handle %p allocated\n", (void *)f->io,
		      (void *)qp);
	ASSERT_GOOD(doca_sta_io_qp_accept(f->io, qp, f->dev, fakedev_request(), accept_record,
					  sizeof(accept_record), NULL));
	eu = qp->eu->idx;
	ASSERT_LOGGED("qp %d: accepted on device fake0"
		      " port 1, depth %d, eu %u, handle %p\n",
		      QPN, DEPTH, eu, (void *)qp);
	ASSERT_LOGGED("][DEBUG][sta.eu] eu %u: 96 more staging slots of 16384 bytes\n", eu);
	ASSERT_GOOD(doca_sta_io_qp_add_subsystem(f->io, s, qp));
	ASSERT_LOGGED("qp %d: belongs to subsystem " NQN "\n", QPN);
	ASSERT_GOOD(doca_sta_io_qp_connect_set_sq_size(f->io, qp, 3));
	ASSERT_LOGGED("qp %d: sq size 3\n", QPN);
	ASSERT_GOOD(doca_sta_io_qp_connect_established(f->io, qp));
	ASSERT_LOGGED("qp %d: established\n", QPN);
	ASSERT_GOOD(doca_sta_io_qp_destroy(f->io, qp));
	PROGRESS_UNTIL(f, atomic_load(&f->sta->num_qps) == 0);
	ASSERT_LOGGED("qp %d: disconnecting, draining\n", QPN);
	ASSERT_LOGGED("qp %d: drained, eu %u\n", QPN, eu);
	ASSERT_LOGGED("qp %d: gone, 0 tasks, 0 open commands\n", QPN);
	ASSERT_LOGGED("qp %d: freed, handle %p\n", QPN, (void *)qp);
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
	ctl_stop_io(f);
}

static void test_orderly_end(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qp;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), accept_record,
					   sizeof(accept_record), NULL, &qp));
	ctl_stop_io(f);
	ASSERT_LOGGED("stopping, 1 qps are left\n");
	ASSERT_LOGGED("qp %d: quiescing\n", QPN);
	ASSERT_LOGGED("its qps are gone\n");
}

static void test_accept_that_fails(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qp;
	struct rdma_cm_id *id;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_io_qp_alloc(f->io, f->dev, &qp));
	id = fakedev_request();
	fakedev.fail_at = fakedev.num_calls + 1;
	assert_int_not_equal(doca_sta_io_qp_accept(f->io, qp, f->dev, id, accept_record,
						   sizeof(accept_record), NULL),
			     DOCA_SUCCESS);
	fakedev.fail_at = 0;
	ASSERT_GOOD(doca_sta_io_qp_destroy(f->io, qp));
	ASSERT_LOGGED("sta io %p: accept fails: DOCA_ERROR_", (void *)f->io);
	ctl_stop_io(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, ctl_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_contexts),	   TEST(test_subsystem_and_namespace),
		TEST(test_back_end_queue), TEST(test_queue_pair),
		TEST(test_orderly_end),	   TEST(test_accept_that_fails),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
