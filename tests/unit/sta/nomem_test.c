/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole bring-up of a target, and what it does when memory, descriptors, threads or the device
 * below give out: at every place, one after the other. The call fails with an error that its header
 * names, what was made before is torn down in order (which needs no memory), nothing is left, and
 * the next bring-up works.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sta.h>
#include <doca_sta_be.h>
#include <doca_sta_event.h>
#include <doca_sta_io.h>
#include <doca_sta_io_non_offload.h>
#include <doca_sta_io_qp.h>
#include <doca_sta_mem.h>
#include <doca_sta_stats.h>
#include <doca_sta_subsystem.h>

#include "fail.h"
#include "fakedev.h"

enum {
	RING = 4,
	NUM_QPS = 2, /* the first of each of two EUs */
	NUM_NS = 2,
	NUM_TASKS = 2 + NUM_QPS, /* a namespace, a queue and all connections end by task */
};

struct world {
	bool has_own_allocator;
	struct doca_dev *control, *network;
	struct doca_pe *pe, *io_pe;
	struct doca_sta *sta;
	struct doca_sta_io *io;
	struct doca_mmap *sq_map[2], *cq_map[2], *db_map;
	struct doca_sta_be_handle *be;
	struct doca_sta_be_q_handle *queues[2];
	struct doca_sta_subs_handle *subsys;
	struct doca_sta_ns_handle *ns[NUM_NS];
	struct doca_sta_qp_handle *qps[NUM_QPS];
	struct doca_sta_producer_task_send *tasks[NUM_TASKS];
	unsigned int num_tasks, num_ended;
	uint8_t sq[2][RING * 64], cq[2][RING * 16];
	uint32_t doorbells[4];
};

#define ASSERT_GOOD(call) assert_int_equal(call, DOCA_SUCCESS)

static bool tried(doca_error_t result, const doca_error_t *errors, size_t num)
{
	bool is_known = false;

	if (result == DOCA_SUCCESS)
		return true;
	for (size_t i = 0; i < num; i++)
		is_known |= result == errors[i];
	if (!is_known)
		print_error("%s\n", doca_error_get_name(result));
	assert_true(is_known);
	return false;
}

/* Did the call succeed? It must, or fail with one of the errors. */
#define TRY(call, ...)                                   \
	tried(call, (const doca_error_t[]){__VA_ARGS__}, \
	      sizeof((const doca_error_t[]){__VA_ARGS__}) / sizeof(doca_error_t))

static void on_done(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct world *w = user_data.ptr;

	ASSERT_GOOD(doca_task_get_status(doca_sta_producer_send_task_as_task(task)));
	w->num_ended++;
}

static void on_command(struct doca_sta_qp_handle *qp, union doca_data user_data, const uint8_t *sqe,
		       uint8_t *payload, uint32_t bytes, bool is_valid, union doca_data token)
{
	(void)qp;
	(void)user_data;
	(void)sqe;
	(void)payload;
	(void)bytes;
	(void)is_valid;
	(void)token;
}

static void on_timeout(const struct doca_sta_event_be_timeout *event, union doca_data user_data)
{
	(void)event;
	(void)user_data;
}

/* ---- the bring-up ---- */

static bool open_devices(struct world *w)
{
	struct doca_devinfo **list;
	uint32_t num;
	bool is_good;

	if (!TRY(doca_devinfo_create_list(&list, &num), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_FOUND))
		return false;
	is_good = TRY(doca_sta_cap_is_supported(list[0]), DOCA_ERROR_NOT_SUPPORTED) &&
		  TRY(doca_dev_open(list[0], &w->network), DOCA_ERROR_NO_MEMORY,
		      DOCA_ERROR_NOT_CONNECTED) &&
		  TRY(doca_dev_open(list[1], &w->control), DOCA_ERROR_NO_MEMORY,
		      DOCA_ERROR_NOT_CONNECTED);
	ASSERT_GOOD(doca_devinfo_destroy_list(list));
	return is_good;
}

static bool configure(struct world *w)
{
	union doca_data self = {.ptr = w};
	uint32_t max_devs, max_eus;

	if (!TRY(doca_sta_create(w->control, &w->sta), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER))
		return false;
	ASSERT_GOOD(doca_sta_get_max_devs(&max_devs));
	ASSERT_GOOD(doca_sta_get_max_num_eus_available(w->sta, &max_eus));
	if (w->has_own_allocator)
		ASSERT_GOOD(doca_sta_mem_allocator_register(w->sta, fakedev_zmalloc, fakedev_free,
							    fakedev_vtophys));
	ASSERT_GOOD(doca_sta_event_be_timeout_register_cb(w->sta, on_timeout, self));
	return TRY(doca_sta_add_dev(w->sta, w->network), DOCA_ERROR_NOT_SUPPORTED) &&
	       TRY(doca_sta_subsystem_task_rm_ns_set_conf(w->sta, on_done, on_done),
		   DOCA_ERROR_NO_MEMORY) &&
	       TRY(doca_sta_be_task_destroy_queue_set_conf(w->sta, on_done, on_done),
		   DOCA_ERROR_NO_MEMORY) &&
	       TRY(doca_pe_create(&w->pe), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_OPERATING_SYSTEM) &&
	       TRY(doca_pe_connect_ctx(w->pe, doca_sta_as_ctx(w->sta)), DOCA_ERROR_NO_MEMORY) &&
	       TRY(doca_ctx_start(doca_sta_as_ctx(w->sta)), DOCA_ERROR_NO_MEMORY,
		   DOCA_ERROR_INITIALIZATION);
}

static bool start_io(struct world *w)
{
	union doca_data self = {.ptr = w};
	struct doca_ctx *ctx;

	if (!TRY(doca_sta_io_create(w->sta, &w->io), DOCA_ERROR_NO_MEMORY))
		return false;
	ctx = doca_sta_io_as_ctx(w->io);
	ASSERT_GOOD(doca_sta_io_non_offload_register_cb(w->io, on_command, self));
	return TRY(doca_sta_io_task_disconnect_set_conf(w->io, on_done, on_done),
		   DOCA_ERROR_NO_MEMORY) &&
	       TRY(doca_sta_io_task_non_offload_set_rdma_write_send_conf(w->io, on_done, on_done),
		   DOCA_ERROR_NO_MEMORY) &&
	       TRY(doca_sta_io_task_non_offload_set_rdma_read_conf(w->io, on_done, on_done),
		   DOCA_ERROR_NO_MEMORY) &&
	       TRY(doca_pe_create(&w->io_pe), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_OPERATING_SYSTEM) &&
	       TRY(doca_pe_connect_ctx(w->io_pe, ctx), DOCA_ERROR_NO_MEMORY) &&
	       TRY(doca_ctx_start(ctx), DOCA_ERROR_NO_MEMORY);
}

static bool map(struct world *w, void *addr, size_t len, struct doca_mmap **mmap)
{
	if (!TRY(doca_mmap_create(mmap), DOCA_ERROR_NO_MEMORY))
		return false;
	ASSERT_GOOD(doca_mmap_set_memrange(*mmap, addr, len));
	ASSERT_GOOD(doca_mmap_set_permissions(*mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	return TRY(doca_mmap_add_dev(*mmap, w->control), DOCA_ERROR_NO_MEMORY) &&
	       TRY(doca_mmap_start(*mmap), DOCA_ERROR_NO_MEMORY);
}

static bool add_disk(struct world *w)
{
	for (int i = 0; i < 2; i++) {
		if (!map(w, w->sq[i], sizeof(w->sq[i]), &w->sq_map[i]) ||
		    !map(w, w->cq[i], sizeof(w->cq[i]), &w->cq_map[i]))
			return false;
	}
	if (!map(w, w->doorbells, sizeof(w->doorbells), &w->db_map) ||
	    !TRY(doca_sta_be_create(w->sta, &w->be), DOCA_ERROR_NO_MEMORY))
		return false;
	for (int i = 0; i < 2; i++) {
		uint16_t db = (uint16_t)(8 * i);

		if (!TRY(doca_sta_be_add_queue(w->be, w->sq_map[i], w->db_map, db, w->cq_map[i],
					       w->db_map, db + 4, &w->queues[i]),
			 DOCA_ERROR_NO_MEMORY))
			return false;
	}
	if (!TRY(doca_sta_subsystem_create(w->sta, "s", &w->subsys), DOCA_ERROR_NO_MEMORY))
		return false;
	ASSERT_GOOD(doca_sta_subsystem_add_dev(w->subsys, w->network));
	for (uint32_t i = 0; i < NUM_NS; i++) {
		if (!TRY(doca_sta_subsystem_add_ns(w->subsys, i + 1, 512, i + 1, w->be, &w->ns[i]),
			 DOCA_ERROR_NO_MEMORY))
			return false;
	}
	return true;
}

static bool connect_hosts(struct world *w)
{
	static const uint8_t record[32] = {0, 0, RING, 0};
	struct rdma_cm_id *id;

	for (int i = 0; i < NUM_QPS; i++) {
		id = fakedev_request();
		if (!id || !TRY(doca_sta_io_qp_connect(w->io, w->network, id, record,
						       sizeof(record), NULL, &w->qps[i]),
				DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER))
			return false;
		ASSERT_GOOD(doca_sta_io_qp_connect_established(w->io, w->qps[i]));
		ASSERT_GOOD(doca_sta_io_qp_add_subsystem(w->io, w->subsys, w->qps[i]));
		ASSERT_GOOD(doca_sta_io_qp_connect_set_sq_size(w->io, w->qps[i], RING));
	}
	return true;
}

static bool make_tasks(struct world *w)
{
	union doca_data self = {.ptr = w};

	for (int i = 0; i < NUM_QPS; i++, w->num_tasks++) {
		if (!TRY(doca_sta_io_task_disconnect_alloc_init(w->io, self, w->qps[i],
								&w->tasks[w->num_tasks]),
			 DOCA_ERROR_NO_MEMORY))
			return false;
	}
	if (!TRY(doca_sta_subsystem_task_rm_ns_alloc_init(w->subsys, w->ns[0], self,
							  &w->tasks[w->num_tasks]),
		 DOCA_ERROR_NO_MEMORY))
		return false;
	w->num_tasks++;
	if (!TRY(doca_sta_be_destroy_queue_task_alloc_init(w->queues[0], self,
							   &w->tasks[w->num_tasks]),
		 DOCA_ERROR_NO_MEMORY))
		return false;
	w->num_tasks++;
	return true;
}

/* ---- and back ---- */

#define PROGRESS_UNTIL(w, what)                                                        \
	do {                                                                           \
		for (int tries_ = 0; !(what); tries_++) {                              \
			assert_true(tries_ < 100000);                                  \
			if (!doca_pe_progress((w)->pe) &&                              \
			    (!(w)->io_pe || !doca_pe_progress((w)->io_pe)))            \
				nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL); \
		}                                                                      \
	} while (0)

/* What was made as tasks ends by them. */
static void run_tasks(struct world *w)
{
	for (unsigned int i = 0; i < w->num_tasks; i++)
		ASSERT_GOOD(doca_task_submit(doca_sta_producer_send_task_as_task(w->tasks[i])));
	PROGRESS_UNTIL(w, w->num_ended == w->num_tasks);
	for (unsigned int i = 0; i < w->num_tasks; i++)
		doca_task_free(doca_sta_producer_send_task_as_task(w->tasks[i]));
	if (w->num_tasks > NUM_QPS)
		w->ns[0] = NULL;
}

static void stop(struct world *w, struct doca_ctx *ctx)
{
	enum doca_ctx_states state;
	doca_error_t result;

	ASSERT_GOOD(doca_ctx_get_state(ctx, &state));
	if (state == DOCA_CTX_STATE_IDLE)
		return;
	result = doca_ctx_stop(ctx);
	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	PROGRESS_UNTIL(w, doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS &&
				  state == DOCA_CTX_STATE_IDLE);
}

static void end_io(struct world *w)
{
	if (w->num_tasks)
		run_tasks(w);
	for (int i = 0; i < NUM_QPS && w->qps[i]; i++)
		ASSERT_GOOD(doca_sta_io_qp_destroy(w->io, w->qps[i]));
	if (w->io) {
		stop(w, doca_sta_io_as_ctx(w->io));
		ASSERT_GOOD(doca_sta_io_destroy(w->io));
	}
	if (w->io_pe)
		ASSERT_GOOD(doca_pe_destroy(w->io_pe));
}

static void end_sta(struct world *w)
{
	for (int i = 0; i < NUM_NS; i++) {
		if (w->ns[i])
			ASSERT_GOOD(doca_sta_subsystem_rm_ns(w->subsys, w->ns[i]));
	}
	if (w->subsys)
		ASSERT_GOOD(doca_sta_subsystem_destroy(w->subsys));
	if (w->sta)
		stop(w, doca_sta_as_ctx(w->sta)); /* with a queue left */
	if (w->be)
		ASSERT_GOOD(doca_sta_be_destroy(w->be));
	if (w->sta)
		ASSERT_GOOD(doca_sta_destroy(w->sta));
	if (w->pe)
		ASSERT_GOOD(doca_pe_destroy(w->pe));
}

static void end_devices(struct world *w)
{
	for (int i = 0; i < 2; i++) {
		if (w->sq_map[i])
			ASSERT_GOOD(doca_mmap_destroy(w->sq_map[i]));
		if (w->cq_map[i])
			ASSERT_GOOD(doca_mmap_destroy(w->cq_map[i]));
	}
	if (w->db_map)
		ASSERT_GOOD(doca_mmap_destroy(w->db_map));
	if (w->network)
		ASSERT_GOOD(doca_dev_close(w->network));
	if (w->control)
		ASSERT_GOOD(doca_dev_close(w->control));
}

static unsigned int num_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static bool bring_up(void *has_own_allocator)
{
	struct world w = {.has_own_allocator = has_own_allocator != NULL};
	unsigned int fds = num_fds();
	bool is_good;

	is_good = open_devices(&w) && configure(&w) && start_io(&w) && add_disk(&w) &&
		  connect_hosts(&w) && make_tasks(&w);
	end_io(&w);
	end_sta(&w);
	end_devices(&w);
	assert_int_equal(fakedev.num_live, 0);
	assert_int_equal(num_fds(), fds);
	return is_good;
}

static int setup(void **state)
{
	(void)state;
	fakedev_reset();
	fakedev.fails = fail_now;
	return setenv("SOFTSTA_EUS", "2", 1);
}

static void every_failure_of_a_bring_up(void **state)
{
	long live = fail_live_allocations();

	(void)state;
	assert_true(fail_each(bring_up, NULL) > 100);
	assert_int_equal(fail_live_allocations(), live);
}

static void with_the_applications_allocator(void **state)
{
	long live = fail_live_allocations();

	(void)state;
	assert_true(fail_each(bring_up, &live) > 100);
	assert_int_equal(fail_live_allocations(), live);
}

/* The first allocation in the call fails; with memory the call is good. */
#define ASSERT_NEEDS_MEMORY(call)                             \
	do {                                                  \
		fail_allocation(1);                           \
		assert_int_equal(call, DOCA_ERROR_NO_MEMORY); \
		assert_true(fail_has_happened());             \
		fail_allocation(0);                           \
		assert_int_equal(call, DOCA_SUCCESS);         \
	} while (0)

static void each_call_that_allocates(void **state)
{
	struct world w = {0};
	union doca_data self = {.ptr = &w};
	struct rdma_cm_id *ids[2];
	unsigned int num_tries = 0;

	(void)state;
	fakedev.fails = NULL;
	assert_true(open_devices(&w));
	ASSERT_NEEDS_MEMORY(doca_sta_create(w.control, &w.sta));
	ASSERT_NEEDS_MEMORY(doca_sta_subsystem_task_rm_ns_set_conf(w.sta, on_done, on_done));
	ASSERT_NEEDS_MEMORY(doca_sta_be_task_destroy_queue_set_conf(w.sta, on_done, on_done));
	ASSERT_GOOD(doca_sta_add_dev(w.sta, w.network));
	ASSERT_GOOD(doca_pe_create(&w.pe));
	ASSERT_GOOD(doca_pe_connect_ctx(w.pe, doca_sta_as_ctx(w.sta)));
	ASSERT_NEEDS_MEMORY(doca_ctx_start(doca_sta_as_ctx(w.sta)));
	assert_true(start_io(&w));
	assert_true(map(&w, w.sq[0], sizeof(w.sq[0]), &w.sq_map[0]));
	assert_true(map(&w, w.cq[0], sizeof(w.cq[0]), &w.cq_map[0]));
	assert_true(map(&w, w.doorbells, sizeof(w.doorbells), &w.db_map));
	ASSERT_NEEDS_MEMORY(doca_sta_be_create(w.sta, &w.be));
	ASSERT_NEEDS_MEMORY(doca_sta_be_add_queue(w.be, w.sq_map[0], w.db_map, 0, w.cq_map[0],
						  w.db_map, 4, &w.queues[0]));
	ASSERT_NEEDS_MEMORY(doca_sta_subsystem_create(w.sta, "s", &w.subsys));
	ASSERT_NEEDS_MEMORY(doca_sta_subsystem_add_ns(w.subsys, 1, 512, 1, w.be, &w.ns[0]));
	ASSERT_NEEDS_MEMORY(doca_sta_io_qp_alloc(w.io, w.network, &w.qps[0]));
	/* The one request of the failure, the next of the success. */
	ids[0] = fakedev_request();
	ids[1] = fakedev_request();
	ASSERT_NEEDS_MEMORY(doca_sta_io_qp_accept(w.io, w.qps[0], w.network, ids[num_tries++], NULL,
						  0, w.subsys));
	ASSERT_NEEDS_MEMORY(
		doca_sta_io_task_disconnect_alloc_init(w.io, self, w.qps[0], &w.tasks[0]));
	w.num_tasks = 1;
	end_io(&w);
	end_sta(&w);
	end_devices(&w);
	assert_int_equal(fakedev.num_live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_call_that_allocates, setup),
		cmocka_unit_test_setup(every_failure_of_a_bring_up, setup),
		cmocka_unit_test_setup(with_the_applications_allocator, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
