/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl.h"

#include <stdlib.h>
#include <time.h>

#include <doca_sta_be.h>
#include <doca_sta_event.h>
#include <doca_sta_mem.h>
#include <doca_sta_subsystem.h>

void ctl_on_done(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct ctl *f = user_data.ptr;

	f->num_done++;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

void ctl_on_failed(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct ctl *f = user_data.ptr;

	f->num_failed++;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

void ctl_on_command(struct doca_sta_qp_handle *qp, union doca_data user_data, const uint8_t *sqe,
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

static void ctl_on_timeout(const struct doca_sta_event_be_timeout *event, union doca_data user_data)
{
	const struct doca_sta_be_handle *be;
	struct ctl *f = user_data.ptr;

	assert_int_equal(doca_sta_event_be_timeout_get_be_handle(event, &be), DOCA_SUCCESS);
	assert_ptr_equal(be, f->be);
	f->num_timeouts++;
}

void ctl_nap(void)
{
	struct timespec ts = {.tv_nsec = 100000};

	nanosleep(&ts, NULL);
}

enum doca_ctx_states ctl_state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	assert_int_equal(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	return state;
}

void ctl_configure(struct ctl *f)
{
	union doca_data self = {.ptr = f};

	assert_int_equal(doca_sta_add_dev(f->sta, f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_sta_mem_allocator_register(f->sta, fakedev_zmalloc, fakedev_free,
							 fakedev_vtophys),
			 DOCA_SUCCESS);
	assert_int_equal(doca_sta_subsystem_task_rm_ns_set_conf(f->sta, ctl_on_done, ctl_on_failed),
			 DOCA_SUCCESS);
	assert_int_equal(doca_sta_be_task_destroy_queue_set_conf(f->sta, ctl_on_done,
								 ctl_on_failed),
			 DOCA_SUCCESS);
	assert_int_equal(doca_sta_event_be_timeout_register_cb(f->sta, ctl_on_timeout, self),
			 DOCA_SUCCESS);
}

void ctl_start(struct ctl *f)
{
	assert_int_equal(doca_ctx_start(doca_sta_as_ctx(f->sta)), DOCA_SUCCESS);
}

void ctl_start_io(struct ctl *f)
{
	union doca_data none = {0};

	assert_int_equal(doca_sta_io_create(f->sta, &f->io), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(f->pe, doca_sta_io_as_ctx(f->io)), DOCA_SUCCESS);
	assert_int_equal(doca_sta_io_non_offload_register_cb(f->io, ctl_on_command, none),
			 DOCA_SUCCESS);
	assert_int_equal(doca_sta_io_task_disconnect_set_conf(f->io, ctl_on_done, ctl_on_failed),
			 DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_sta_io_as_ctx(f->io)), DOCA_SUCCESS);
}

void ctl_stop_io(struct ctl *f)
{
	doca_error_t err = doca_ctx_stop(doca_sta_io_as_ctx(f->io));

	assert_true(err == DOCA_SUCCESS || err == DOCA_ERROR_IN_PROGRESS);
	PROGRESS_UNTIL(f, ctl_state_of(doca_sta_io_as_ctx(f->io)) == DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_sta_io_destroy(f->io), DOCA_SUCCESS);
	f->io = NULL;
}

struct doca_mmap *ctl_map(struct ctl *f, void *addr, size_t len)
{
	return fakedev_map(f->dev, addr, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

struct doca_sta_be_q_handle *ctl_add_queue(struct ctl *f)
{
	struct ctl_ring *ring = calloc(1, sizeof(*ring));
	struct doca_sta_be_q_handle *q;

	assert_non_null(ring);
	ring->sq_map = ctl_map(f, ring->sq, sizeof(ring->sq));
	ring->cq_map = ctl_map(f, ring->cq, sizeof(ring->cq));
	ring->db_map = ctl_map(f, ring->doorbells, sizeof(ring->doorbells));
	ring->next = f->rings;
	f->rings = ring;
	assert_int_equal(doca_sta_be_add_queue(f->be, ring->sq_map, ring->db_map, 0, ring->cq_map,
					       ring->db_map, 4, &q),
			 DOCA_SUCCESS);
	return q;
}

static void free_rings(struct ctl *f)
{
	struct ctl_ring *ring;

	while ((ring = f->rings)) {
		f->rings = ring->next;
		assert_int_equal(doca_mmap_destroy(ring->sq_map), DOCA_SUCCESS);
		assert_int_equal(doca_mmap_destroy(ring->cq_map), DOCA_SUCCESS);
		assert_int_equal(doca_mmap_destroy(ring->db_map), DOCA_SUCCESS);
		free(ring);
	}
}

void ctl_submit(struct doca_sta_producer_task_send *task)
{
	assert_int_equal(doca_task_submit(doca_sta_producer_send_task_as_task(task)), DOCA_SUCCESS);
}

int ctl_setup(void **state)
{
	struct ctl *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	setenv("SOFTSTA_EUS", "2", 1);
	fakedev_reset();
	f->dev = fakedev_open(0);
	f->sq_map = ctl_map(f, f->sq, sizeof(f->sq));
	f->cq_map = ctl_map(f, f->cq, sizeof(f->cq));
	f->db_map = ctl_map(f, f->doorbells, sizeof(f->doorbells));
	*state = f;
	if (doca_pe_create(&f->pe) != DOCA_SUCCESS ||
	    doca_sta_create(f->dev, &f->sta) != DOCA_SUCCESS)
		return -1;
	return doca_pe_connect_ctx(f->pe, doca_sta_as_ctx(f->sta)) != DOCA_SUCCESS;
}

int ctl_teardown(void **state)
{
	struct ctl *f = *state;

	if (ctl_state_of(doca_sta_as_ctx(f->sta)) == DOCA_CTX_STATE_RUNNING)
		assert_int_equal(doca_ctx_stop(doca_sta_as_ctx(f->sta)), DOCA_SUCCESS);
	if (f->be)
		assert_int_equal(doca_sta_be_destroy(f->be), DOCA_SUCCESS);
	assert_int_equal(doca_sta_destroy(f->sta), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_SUCCESS);
	free_rings(f);
	assert_int_equal(doca_mmap_destroy(f->sq_map), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(f->cq_map), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(f->db_map), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(f->dev), DOCA_SUCCESS);
	assert_int_equal(fakedev.num_live, 0);
	free(f);
	return 0;
}
