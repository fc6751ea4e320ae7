/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An STA context on the made-up device of fakedev.h, with the EUs' threads: what the tests of the
 * control path begin and end with.
 */
#ifndef TEST_STA_CTL_H
#define TEST_STA_CTL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <doca_ctx.h>
#include <doca_pe.h>

#include "fakedev.h"
#include "sta/io.h"
#include "sta/sta.h"

enum {
	CTL_RING = 4, /* entries of a back-end queue */
	CTL_EUS = 2,
};

/* Memory for a back-end queue, which is one queue's alone. */
struct ctl_ring {
	struct ctl_ring *next;
	struct sta_sqe sq[CTL_RING];
	struct sta_cqe cq[CTL_RING];
	uint32_t doorbells[2];
	struct doca_mmap *sq_map, *cq_map, *db_map;
};

struct ctl {
	struct doca_dev *dev; /* the first of fakedev.h */
	struct doca_sta *sta;
	struct doca_sta_io *io;
	struct doca_pe *pe;
	struct doca_sta_be_handle *be;
	struct sta_sqe sq[CTL_RING];
	struct sta_cqe cq[CTL_RING];
	uint32_t doorbells[2];
	struct doca_mmap *sq_map, *cq_map, *db_map;
	struct ctl_ring *rings; /* of ctl_add_queue() */
	unsigned int num_done, num_failed; /* tasks */
	unsigned int num_timeouts; /* events */
};

/* For cmocka. Setup: created, IDLE. Teardown: everything ends, and nothing is left of the device.
 */
int ctl_setup(void **state);
int ctl_teardown(void **state);

/* While IDLE: device, allocator, tasks, time-outs. */
void ctl_configure(struct ctl *f);
void ctl_start(struct ctl *f);
/* The IO context, from create to RUNNING and back. */
void ctl_start_io(struct ctl *f);
void ctl_stop_io(struct ctl *f);
enum doca_ctx_states ctl_state_of(struct doca_ctx *ctx);

void ctl_submit(struct doca_sta_producer_task_send *task);
/* User data of the tasks is the struct ctl; they are counted and freed. */
void ctl_on_done(struct doca_sta_producer_task_send *task, union doca_data user_data);
void ctl_on_failed(struct doca_sta_producer_task_send *task, union doca_data user_data);
/* Takes no notice. */
void ctl_on_command(struct doca_sta_qp_handle *qp, union doca_data user_data, const uint8_t *sqe,
		    uint8_t *payload, uint32_t bytes, bool is_valid, union doca_data token);

/* A started map for back-end queues, on the device. */
struct doca_mmap *ctl_map(struct ctl *f, void *addr, size_t len);
/* A queue of the back-end, CTL_RING entries long, with memory of its own. */
struct doca_sta_be_q_handle *ctl_add_queue(struct ctl *f);

void ctl_nap(void);
/* Progress until @what holds; it must, within ten seconds. */
#define PROGRESS_UNTIL(f, what)                           \
	do {                                              \
		for (int tries_ = 0; !(what); tries_++) { \
			assert_true(tries_ < 100000);     \
			if (!doca_pe_progress((f)->pe))   \
				ctl_nap();                \
		}                                         \
	} while (0)

#define ASSERT_GOOD(call)    assert_int_equal(call, DOCA_SUCCESS)
#define ASSERT_INVALID(call) assert_int_equal(call, DOCA_ERROR_INVALID_VALUE)

#define CTL_TEST(name) cmocka_unit_test_setup_teardown(name, ctl_setup, ctl_teardown)

#endif
