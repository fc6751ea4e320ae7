/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of src/sta/limits.h: each is reported by a function of doca_sta.h; at the limit it
 * works, and one over it there is the error that the header names.
 */
#include "ctl.h"

#include <stdio.h>
#include <unistd.h>

#include <doca_sta_be.h>
#include <doca_sta_io.h>
#include <doca_sta_io_qp.h>
#include <doca_sta_subsystem.h>

static const union doca_data none;

static void test_devices_are_bounded(void **state)
{
	struct ctl *f = *state;
	struct doca_dev *devs[FAKEDEV_DEVICES];

	assert_int_equal(FAKEDEV_DEVICES, STA_MAX_DEVS + 1);
	for (unsigned int i = 0; i < FAKEDEV_DEVICES; i++)
		devs[i] = fakedev_open(i);
	for (unsigned int i = 0; i < STA_MAX_DEVS; i++)
		ASSERT_GOOD(doca_sta_add_dev(f->sta, devs[i]));
	assert_int_equal(doca_sta_add_dev(f->sta, devs[STA_MAX_DEVS]), DOCA_ERROR_NO_MEMORY);
	ctl_start(f);
	for (unsigned int i = 1; i < STA_MAX_DEVS; i++)
		assert_int_equal(doca_dev_close(devs[i]), DOCA_ERROR_IN_USE);
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	ASSERT_GOOD(doca_sta_destroy(f->sta));
	for (unsigned int i = 0; i < FAKEDEV_DEVICES; i++)
		ASSERT_GOOD(doca_dev_close(devs[i]));
	ASSERT_GOOD(doca_sta_create(f->dev, &f->sta)); /* for the teardown */
}

static void test_subsystems_and_back_ends_are_bounded(void **state)
{
	static struct doca_sta_subs_handle *s[STA_MAX_SUBSYSTEMS];
	static struct doca_sta_be_handle *be[STA_MAX_BACKENDS];
	struct doca_sta_subs_handle *another;
	struct doca_sta_be_handle *more;
	struct ctl *f = *state;
	char nqn[16];

	assert_int_equal(STA_MAX_SUBSYSTEMS, 512);
	assert_int_equal(STA_MAX_BACKENDS, 256);
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

static void test_namespaces_are_bounded(void **state)
{
	static struct doca_sta_ns_handle *ns[STA_MAX_NS_PER_SUBSYS], *more;
	struct doca_sta_subs_handle *s;
	struct ctl *f = *state;
	uint32_t n;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_get_max_ns_per_subs(&n));
	assert_int_equal(n, 1024);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	for (uint32_t i = 0; i < n; i++)
		ASSERT_GOOD(doca_sta_subsystem_add_ns(s, i + 1, 512, 1, f->be, &ns[i]));
	ASSERT_INVALID(doca_sta_subsystem_add_ns(s, n + 1, 512, 1, f->be, &more));
	for (uint32_t i = 0; i < n; i++)
		ASSERT_GOOD(doca_sta_subsystem_rm_ns(s, ns[i]));
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
}

static void test_io_contexts_are_bounded(void **state)
{
	struct doca_sta_io *io[STA_MAX_IO_THREADS], *more;
	struct ctl *f = *state;
	uint32_t n;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_get_max_io_threads(&n));
	assert_int_equal(n, STA_MAX_IO_THREADS);
	for (uint32_t i = 0; i < n; i++)
		ASSERT_GOOD(doca_sta_io_create(f->sta, &io[i]));
	assert_int_equal(doca_sta_io_create(f->sta, &more), DOCA_ERROR_NO_MEMORY);
	for (uint32_t i = 0; i < n; i++)
		ASSERT_GOOD(doca_sta_io_destroy(io[i]));
}

/* A connection with a queue of so many entries. */
static struct doca_sta_qp_handle *connect_host(struct ctl *f, uint16_t depth)
{
	const uint8_t record[32] = {0, 0, (uint8_t)depth, (uint8_t)(depth >> 8)};
	struct doca_sta_qp_handle *qp;

	ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), record, sizeof(record),
					   NULL, &qp));
	return qp;
}

static void test_a_thousand_connections(void **state)
{
	struct ctl *f = *state;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	for (int i = 0; i < 1024; i++)
		(void)connect_host(f, STA_MIN_QUEUE_DEPTH);
	assert_int_equal(fakedev.num_accepted, 1024);
	ctl_stop_io(f);
	assert_int_equal(fakedev.num_disconnected, 1024);
}

static void test_queue_depth(void **state)
{
	struct doca_sta_qp_handle *qp;
	struct ctl *f = *state;
	uint32_t n;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_get_max_io_queue_size(f->sta, &n));
	assert_int_equal(n, 1024);
	qp = connect_host(f, (uint16_t)n);
	assert_int_equal(qp->num_posted_rx, n);
	ASSERT_GOOD(doca_sta_io_qp_connect_set_sq_size(f->io, qp, (uint16_t)n));
	ASSERT_INVALID(doca_sta_io_qp_connect_set_sq_size(f->io, qp, (uint16_t)(n + 1)));
	/* What the application tells the host is bounded by what there is. */
	qp = connect_host(f, (uint16_t)(n + 1));
	assert_int_equal(qp->num_posted_rx, n);
	ctl_stop_io(f);
}

/* ---- memory ---- */

static size_t rss_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	size_t pages;

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%*s %zu", &pages), 1);
	fclose(statm);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The thread sanitizer has several bytes of its own for each that is used. */
#if defined(__SANITIZE_THREAD__)
#define IS_RSS_TRUE false
#elif defined(__has_feature)
#define IS_RSS_TRUE (!__has_feature(thread_sanitizer))
#else
#define IS_RSS_TRUE true
#endif

/* The memory is for what there is, not for what there may be: with all that the limits allow, it
 * would be gigabytes. */
static void test_memory_is_taken_when_used(void **state)
{
	enum {
		MIB = 1 << 20,
		NUM_HOSTS = 32,
	};
	struct ctl *f = *state;
	size_t before = rss_bytes(), up, connected;

	if (!IS_RSS_TRUE)
		skip();
	/* With the allocator of the library itself. */
	ASSERT_GOOD(doca_sta_add_dev(f->sta, f->dev));
	ctl_start(f);
	ctl_start_io(f);
	up = rss_bytes();
	assert_true(up < before + 2 * MIB);
	for (int i = 0; i < NUM_HOSTS; i++)
		(void)connect_host(f, 128);
	connected = rss_bytes();
	/* An entry's bookkeeping is there, its page is not before a host sends data, and staging
	 * slots are not before data moves. */
	assert_true(connected < up + NUM_HOSTS * MIB / 2);
	ctl_stop_io(f);
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

/* Tasks are made when they are asked for, up to a number; each that is freed is there again. */
#define ASSERT_TASKS_ARE_BOUNDED(max, alloc, task)                                       \
	do {                                                                             \
		static struct doca_sta_producer_task_send *tasks_[max];                  \
                                                                                         \
		for (unsigned int i_ = 0; i_ < (max); i_++) {                            \
			ASSERT_GOOD(alloc);                                              \
			tasks_[i_] = (task);                                             \
		}                                                                        \
		assert_int_equal(alloc, DOCA_ERROR_NO_MEMORY);                           \
		doca_task_free(doca_sta_producer_send_task_as_task(tasks_[0]));          \
		ASSERT_GOOD(alloc);                                                      \
		tasks_[0] = (task);                                                      \
		for (unsigned int i_ = 0; i_ < (max); i_++)                              \
			doca_task_free(doca_sta_producer_send_task_as_task(tasks_[i_])); \
	} while (0)

static void test_control_tasks_are_bounded(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	struct doca_sta_be_q_handle *q;
	struct doca_sta_subs_handle *s;
	struct doca_sta_ns_handle *ns;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	q = ctl_add_queue(f);
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	ASSERT_GOOD(doca_sta_subsystem_add_ns(s, 1, 512, 1, f->be, &ns));
	ASSERT_TASKS_ARE_BOUNDED(256, doca_sta_be_destroy_queue_task_alloc_init(q, none, &task),
				 task);
	ASSERT_TASKS_ARE_BOUNDED(1024, doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, none, &task),
				 task);
	ASSERT_GOOD(doca_sta_subsystem_rm_ns(s, ns));
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
}

static void test_disconnect_tasks_are_bounded(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	struct doca_sta_qp_handle *qp;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_io_qp_alloc(f->io, f->dev, &qp));
	ASSERT_TASKS_ARE_BOUNDED(STA_MAX_QPS,
				 doca_sta_io_task_disconnect_alloc_init(f->io, none, qp, &task),
				 task);
	ctl_stop_io(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_memory_is_taken_when_used), /* first: nothing was freed that could be
							     used */
		CTL_TEST(test_devices_are_bounded),
		CTL_TEST(test_subsystems_and_back_ends_are_bounded),
		CTL_TEST(test_namespaces_are_bounded),
		CTL_TEST(test_io_contexts_are_bounded),
		CTL_TEST(test_queue_pairs_are_bounded),
		CTL_TEST(test_a_thousand_connections),
		CTL_TEST(test_queue_depth),
		CTL_TEST(test_queues_are_bounded),
		CTL_TEST(test_control_tasks_are_bounded),
		CTL_TEST(test_disconnect_tasks_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
