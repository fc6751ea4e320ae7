/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts, subsystems, namespaces and back-end queues: what is refused in which state, and what
 * ends when.
 */
#include "ctl.h"

#include <stdio.h>
#include <string.h>

#include <doca_sta_be.h>
#include <doca_sta_event.h>
#include <doca_sta_mem.h>
#include <doca_sta_stats.h>
#include <doca_sta_subsystem.h>

enum {
	BLOCK = 512
};

static void on_no_event(const struct doca_sta_event_be_timeout *event, union doca_data user_data)
{
	(void)event;
	(void)user_data;
}

static void on_cqe(const struct doca_sta_event_cqe_notify *event, union doca_data user_data)
{
	(void)event;
	(void)user_data;
}

static void on_eu_error(const struct doca_sta_event_eu_err *event, union doca_data user_data)
{
	(void)event;
	(void)user_data;
}

static void on_transport_error(const struct doca_sta_event_transport_err *event,
			       union doca_data user_data)
{
	(void)event;
	(void)user_data;
}

static struct doca_sta_be_q_handle *add_queue(struct ctl *f)
{
	struct doca_sta_be_q_handle *q;

	assert_int_equal(doca_sta_be_add_queue(f->be, fakedev_mmap(&f->maps[0]),
					       fakedev_mmap(&f->maps[2]), 0,
					       fakedev_mmap(&f->maps[1]), fakedev_mmap(&f->maps[2]),
					       4, &q),
			 DOCA_SUCCESS);
	return q;
}

/* ---- the STA context ---- */

static void test_create(void **state)
{
	struct ctl *f = *state;
	struct doca_sta *sta = NULL;

	assert_int_equal(doca_sta_create(NULL, &sta), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_create(fakedev_dev(), NULL), DOCA_ERROR_INVALID_VALUE);
	fakedev.attr.max_sge = 1;
	assert_int_equal(doca_sta_create(fakedev_dev(), &sta), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sta_add_dev(f->sta, fakedev_dev()), DOCA_ERROR_NOT_SUPPORTED);
	fakedev.attr.max_sge = 2;
	fakedev.fail_at = fakedev.num_calls + 1;
	assert_int_equal(doca_sta_create(fakedev_dev(), &sta), DOCA_ERROR_DRIVER);
	assert_null(sta);
	assert_int_equal(doca_sta_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_sta_as_ctx(NULL));
}

static void test_start_needs_a_device(void **state)
{
	struct ctl *f = *state;

	assert_int_equal(doca_ctx_start(doca_sta_as_ctx(f->sta)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_add_dev(f->sta, fakedev_dev()), DOCA_SUCCESS);
	assert_int_equal(doca_sta_add_dev(f->sta, fakedev_dev()), DOCA_ERROR_ALREADY_EXIST);
	ctl_start(f);
}

static void test_setters_want_idle(void **state)
{
	struct ctl *f = *state;
	union doca_data none = {0};
	uint16_t n;

	assert_int_equal(doca_sta_set_max_sta_io(f->sta, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_set_max_sta_io(f->sta, STA_MAX_IO_THREADS + 1),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_set_max_sta_io(f->sta, 3), DOCA_SUCCESS);
	assert_int_equal(doca_sta_get_max_sta_io(f->sta, &n), DOCA_SUCCESS);
	assert_int_equal(n, 3);
	assert_int_equal(doca_sta_mem_allocator_register(f->sta, NULL, fakedev_free,
							 fakedev_vtophys),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_event_be_timeout_register_cb(f->sta, NULL, none),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_be_task_destroy_queue_set_conf(f->sta, ctl_on_done, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_add_dev(f->sta, fakedev_dev()), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_set_max_sta_io(f->sta, 3), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_mem_allocator_register(f->sta, fakedev_zmalloc, fakedev_free,
							 fakedev_vtophys),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_event_be_timeout_register_cb(f->sta, on_no_event, none),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_event_cqe_notify_register_cb(f->sta, on_cqe, none),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_event_eu_err_register_cb(f->sta, on_eu_error, none),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_subsystem_task_rm_ns_set_conf(f->sta, ctl_on_done, ctl_on_failed),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_be_task_destroy_queue_set_conf(f->sta, ctl_on_done,
								 ctl_on_failed),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_destroy(f->sta), DOCA_ERROR_BAD_STATE);
}

static void test_io_setters_want_idle(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qp;
	struct doca_sta_io *io;
	union doca_data none = {0};

	assert_int_equal(doca_sta_io_create(f->sta, &io), DOCA_ERROR_BAD_STATE);
	ctl_configure(f);
	assert_int_equal(doca_sta_set_max_sta_io(f->sta, 1), DOCA_SUCCESS);
	ctl_start(f);
	assert_int_equal(doca_sta_io_create(f->sta, &io), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(f->pe, doca_sta_io_as_ctx(io)), DOCA_SUCCESS);
	/* Connect would have nowhere to go. */
	assert_int_equal(doca_ctx_start(doca_sta_io_as_ctx(io)), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_qp_alloc(io, fakedev_dev(), &qp), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_qp_connect(io, fakedev_dev(), fakedev_request(), NULL, 0, NULL,
						&qp),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_destroy(io), DOCA_SUCCESS);
	ctl_start_io(f);
	assert_int_equal(doca_sta_io_create(f->sta, &io), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_sta_io_non_offload_register_cb(f->io, ctl_on_command, none),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_event_transport_err_register_cb(f->io, on_transport_error,
								     none),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_task_disconnect_set_conf(f->io, ctl_on_done, ctl_on_failed),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_task_non_offload_set_rdma_read_conf(f->io, ctl_on_done,
									 ctl_on_failed),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_task_non_offload_set_rdma_write_send_conf(f->io, ctl_on_done,
									       ctl_on_failed),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_io_destroy(f->io), DOCA_ERROR_BAD_STATE);
	/* The STA context outlives its IO contexts. */
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_ERROR_IN_USE);
	ctl_stop_io(f);
}

static void test_limits_are_reported(void **state)
{
	struct ctl *f = *state;
	uint32_t n;

#define EXPECT(call, value)                             \
	do {                                            \
		assert_int_equal((call), DOCA_SUCCESS); \
		assert_int_equal(n, (value));           \
	} while (0)
	EXPECT(doca_sta_get_max_devs(&n), STA_MAX_DEVS);
	EXPECT(doca_sta_get_max_num_eus_available(f->sta, &n), 2);
	EXPECT(doca_sta_get_max_num_connected_qp_per_eu(f->sta, &n), STA_MAX_QPS_PER_EU);
	EXPECT(doca_sta_get_max_subsys(&n), STA_MAX_SUBSYSTEMS);
	EXPECT(doca_sta_get_max_ns_per_subs(&n), STA_MAX_NS_PER_SUBSYS);
	EXPECT(doca_sta_get_max_qps(&n), STA_MAX_QPS);
	EXPECT(doca_sta_get_max_io_threads(&n), STA_MAX_IO_THREADS);
	EXPECT(doca_sta_get_max_io_size(&n), STA_MAX_IO_BYTES);
	EXPECT(doca_sta_get_max_io_num_per_dev(f->sta, &n), STA_MAX_IOS_PER_EU);
	EXPECT(doca_sta_get_max_io_queue_size(f->sta, &n), STA_MAX_QUEUE_DEPTH);
	EXPECT(doca_sta_get_min_ioccsz(&n), 64);
	EXPECT(doca_sta_get_max_ioccsz(&n), 64 + STA_ICD_BYTES);
	EXPECT(doca_sta_get_min_iorcsz(&n), 16);
	EXPECT(doca_sta_get_max_iorcsz(&n), 16);
	EXPECT(doca_sta_get_max_icdoff(&n), 0);
	EXPECT(doca_sta_get_max_be(&n), STA_MAX_BACKENDS);
	EXPECT(doca_sta_get_max_qs_per_be(&n), STA_MAX_QUEUES_PER_BE);
	assert_int_equal(doca_sta_get_max_devs(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_get_max_num_eus_available(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	for (uint32_t bytes = 0; bytes < 10000; bytes++)
		assert_int_equal(doca_sta_is_logical_block_size_supported(bytes),
				 bytes == 512 || bytes == 1024 || bytes == 2048 || bytes == 4096);
}

static void test_statistics(void **state)
{
	struct ctl *f = *state;
	const struct doca_sta_eu_ctr_entry *entries;
	struct doca_sta_eu_handle *eus[2];
	enum dpa_sta_eu_state eu_state;
	enum dpa_sta_eu_type type;
	uint32_t num_eus = 2;
	uint16_t num, id, port;
	const char *name;

	assert_int_equal(doca_sta_get_eu_handle(f->sta, eus, &num_eus), DOCA_ERROR_BAD_STATE);
	ctl_configure(f);
	ctl_start(f);
	num_eus = 1;
	assert_int_equal(doca_sta_get_eu_handle(f->sta, eus, &num_eus), DOCA_ERROR_INVALID_VALUE);
	num_eus = 2;
	assert_int_equal(doca_sta_get_eu_handle(f->sta, eus, &num_eus), DOCA_SUCCESS);
	assert_int_equal(num_eus, 2);
	for (uint16_t i = 0; i < 2; i++) {
		assert_int_equal(doca_sta_get_eu_id(eus[i], &id), DOCA_SUCCESS);
		assert_int_equal(id, i);
		assert_int_equal(doca_sta_get_eu_name(eus[i], &name), DOCA_SUCCESS);
		assert_string_equal(name, i ? "sta-eu1" : "sta-eu0");
		assert_int_equal(doca_sta_get_eu_state(eus[i], &eu_state), DOCA_SUCCESS);
		assert_int_equal(eu_state, DOCA_STA_EU_STATE_STARTED);
		assert_int_equal(doca_sta_get_eu_type(eus[i], &type), DOCA_SUCCESS);
		assert_int_equal(type, DOCA_STA_EU_COMP);
		assert_int_equal(doca_sta_get_eu_port(eus[i], &port), DOCA_SUCCESS);
		assert_int_equal(port, 0);
	}
	assert_int_equal(doca_sta_get_eu_stats(eus[0], &entries, &num), DOCA_SUCCESS);
	assert_int_equal(num, STA_NUM_EU_COUNTERS);
	assert_string_equal(entries[0].name, "capsules");
	assert_ptr_equal(entries[0].val, &eus[0]->eu.stats.capsules);
	assert_string_equal(entries[num - 1].name, "sleeps");
	/* Only the EU itself touches its counters: the reset is on its way, and comes. */
	PROGRESS_UNTIL(f, __atomic_load_n(entries[num - 1].val, __ATOMIC_RELAXED) > 0);
	assert_int_equal(doca_sta_eu_reset_stats_type(f->sta, DOCA_STA_EU_MAX), DOCA_SUCCESS);
	PROGRESS_UNTIL(f, !atomic_load(&eus[0]->eu.is_resetting));
	assert_int_equal(doca_sta_eu_reset_stats_handle(eus[1]), DOCA_SUCCESS);
	PROGRESS_UNTIL(f, !atomic_load(&eus[1]->eu.is_resetting));
	num = 1;
	assert_int_equal(doca_sta_get_eu_connect_qp_stats(eus[0], NULL, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
}

/* ---- subsystems and namespaces ---- */

static void test_subsystems(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_subs_handle *a, *b;
	char nqn[STA_MAX_NQN_BYTES + 2];

	memset(nqn, 'n', sizeof(nqn));
	nqn[STA_MAX_NQN_BYTES + 1] = '\0';
	assert_int_equal(doca_sta_subsystem_create(f->sta, nqn, &a), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_subsystem_create(f->sta, "", &a), DOCA_ERROR_INVALID_VALUE);
	nqn[STA_MAX_NQN_BYTES] = '\0';
	assert_int_equal(doca_sta_subsystem_create(f->sta, nqn, &a), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_create(f->sta, nqn, &b), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(doca_sta_subsystem_create(f->sta, "b", &b), DOCA_SUCCESS);
	assert_int_equal(doca_sta_destroy(f->sta), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_sta_subsystem_add_dev(a, fakedev_dev()), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_add_dev(f->sta, fakedev_dev()), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_add_dev(a, fakedev_dev()), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_add_dev(a, fakedev_dev()), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(doca_sta_subsystem_destroy(a), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_destroy(b), DOCA_SUCCESS);
}

static void test_namespaces(void **state)
{
	struct ctl *f = *state;
	const struct doca_sta_eu_ctr_entry *entries;
	struct doca_sta_producer_task_send *task, *again;
	struct doca_sta_subs_handle *s, *other;
	struct doca_sta_ns_handle *ns, *ns2;
	union doca_data self = {.ptr = f};
	uint16_t num;

	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_be_create(f->sta, &f->be), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_create(f->sta, "s", &s), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_create(f->sta, "o", &other), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_add_ns(s, 0, BLOCK, 1, f->be, &ns),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_subsystem_add_ns(s, STA_MAX_NS_PER_SUBSYS + 1, BLOCK, 1, f->be,
						   &ns),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_subsystem_add_ns(s, 1, 520, 1, f->be, &ns),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, &ns), DOCA_SUCCESS);
	assert_int_equal(doca_sta_get_ns_stats(other, ns, &entries, &num),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sta_get_ns_stats(s, ns, &entries, &num), DOCA_SUCCESS);
	assert_int_equal(num, STA_NUM_NS_COUNTERS);
	assert_string_equal(entries[0].name, "reads");
	assert_true(*entries[0].val == 0);
	assert_int_equal(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, &ns2),
			 DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(doca_sta_subsystem_add_ns(s, 2, BLOCK, 1, f->be, &ns2), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_destroy(s), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_sta_be_destroy(f->be), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_sta_subsystem_rm_ns(other, ns), DOCA_ERROR_INVALID_VALUE);
	/* by task */
	assert_int_equal(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &task),
			 DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &again),
			 DOCA_SUCCESS);
	ctl_submit(task);
	assert_int_equal(doca_task_submit(doca_sta_producer_send_task_as_task(again)),
			 DOCA_ERROR_BAD_STATE);
	doca_task_free(doca_sta_producer_send_task_as_task(again));
	assert_int_equal(doca_sta_subsystem_rm_ns(s, ns), DOCA_ERROR_BAD_STATE);
	PROGRESS_UNTIL(f, f->num_done == 1);
	/* and waiting */
	assert_int_equal(doca_sta_subsystem_rm_ns(s, ns2), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, &ns), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &task),
			 DOCA_ERROR_BAD_STATE);
	/* With no EU left there is nobody to wait for. */
	assert_int_equal(doca_sta_subsystem_rm_ns(s, ns), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_destroy(s), DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_destroy(other), DOCA_SUCCESS);
}

/* At the limit it works, over it there is the error that the header names. */
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
		assert_int_equal(doca_sta_subsystem_create(f->sta, nqn, &s[i]), DOCA_SUCCESS);
	}
	assert_int_equal(doca_sta_subsystem_create(f->sta, "another", &another),
			 DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < STA_MAX_BACKENDS; i++)
		assert_int_equal(doca_sta_be_create(f->sta, &be[i]), DOCA_SUCCESS);
	assert_int_equal(doca_sta_be_create(f->sta, &more), DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < STA_MAX_SUBSYSTEMS; i++)
		assert_int_equal(doca_sta_subsystem_destroy(s[i]), DOCA_SUCCESS);
	for (unsigned int i = 0; i < STA_MAX_BACKENDS; i++)
		assert_int_equal(doca_sta_be_destroy(be[i]), DOCA_SUCCESS);
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
		assert_int_equal(doca_sta_io_qp_alloc(f->io, fakedev_dev(), &qps[i]), DOCA_SUCCESS);
	assert_int_equal(doca_sta_io_qp_alloc(f->io, fakedev_dev(), &more), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_sta_io_qp_connect(f->io, fakedev_dev(), fakedev_request(), NULL, 0,
						NULL, &more),
			 DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < STA_MAX_QPS; i++)
		assert_int_equal(doca_sta_io_qp_destroy(f->io, qps[i]), DOCA_SUCCESS);
	ctl_stop_io(f);
}

/* ---- back-end queues ---- */

static void test_queue_geometry(void **state)
{
	struct ctl *f = *state;
	struct fakedev_map *sq = &f->maps[0], *cq = &f->maps[1], *db = &f->maps[2];
	struct doca_sta_be_q_handle *q;

#define ADD(sq_db, cq_db)                                                         \
	doca_sta_be_add_queue(f->be, fakedev_mmap(sq), fakedev_mmap(db), (sq_db), \
			      fakedev_mmap(cq), fakedev_mmap(db), (cq_db), &q)
	ctl_configure(f);
	assert_int_equal(doca_sta_be_create(f->sta, &f->be), DOCA_SUCCESS);
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
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_SUCCESS);
	assert_int_equal(sq->num_users + cq->num_users + db->num_users, 0);
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
	assert_int_equal(doca_sta_be_create(f->sta, &f->be), DOCA_SUCCESS);
	for (unsigned int i = 0; i < STA_MAX_QUEUES_PER_BE; i++)
		q[i] = add_queue(f);
	assert_int_equal(doca_sta_be_add_queue(f->be, fakedev_mmap(&f->maps[0]),
					       fakedev_mmap(&f->maps[2]), 0,
					       fakedev_mmap(&f->maps[1]), fakedev_mmap(&f->maps[2]),
					       4, &more),
			 DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < STA_MAX_QUEUES_PER_BE; i++) {
		assert_int_equal(doca_sta_be_destroy_queue_task_alloc_init(q[i], self, &task),
				 DOCA_SUCCESS);
		ctl_submit(task);
		PROGRESS_UNTIL(f, f->num_done == i + 1);
	}
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
	assert_int_equal(doca_sta_be_create(f->sta, &f->be), DOCA_SUCCESS);
	q = add_queue(f);
	assert_int_equal(doca_sta_get_be_queue_mapping_info(q, &entries, &num), DOCA_SUCCESS);
	assert_int_equal(num, 2);
	assert_string_equal(entries[1].name, "entries");
	assert_int_equal(*entries[1].val, CTL_RING);
	assert_int_equal(doca_sta_get_be_queue_stats(f->be, q, &entries, &num), DOCA_SUCCESS);
	assert_int_equal(num, STA_NUM_BEQ_COUNTERS);
	assert_int_equal(doca_sta_be_destroy_queue_task_alloc_init(q, self, &task), DOCA_SUCCESS);
	ctl_submit(task);
	/* Stopping waits for it. */
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_ERROR_IN_PROGRESS);
	PROGRESS_UNTIL(f, ctl_state_of(doca_sta_as_ctx(f->sta)) == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->num_done, 1);
	assert_int_equal(f->maps[0].num_users, 0);
}

/* What was not told by then is forgotten with the queues that it is about. */
static void test_stop_with_time_outs_to_tell(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_be_q_handle *a, *b;

	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_be_create(f->sta, &f->be), DOCA_SUCCESS);
	a = add_queue(f);
	b = add_queue(f);
	sta_post(f->sta, &a->timeout_msg);
	PROGRESS_UNTIL(f, f->num_timeouts == 1);
	sta_post(f->sta, &a->timeout_msg);
	sta_post(f->sta, &b->timeout_msg);
	assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_SUCCESS);
	ctl_start(f);
	(void)doca_pe_progress(f->pe);
	assert_int_equal(f->num_timeouts, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ctl_setup, ctl_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create),
		TEST(test_start_needs_a_device),
		TEST(test_setters_want_idle),
		TEST(test_io_setters_want_idle),
		TEST(test_limits_are_reported),
		TEST(test_statistics),
		TEST(test_subsystems),
		TEST(test_namespaces),
		TEST(test_subsystems_and_back_ends_are_bounded),
		TEST(test_queue_pairs_are_bounded),
		TEST(test_queue_geometry),
		TEST(test_queues_are_bounded),
		TEST(test_destroy_queue),
		TEST(test_stop_with_time_outs_to_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
