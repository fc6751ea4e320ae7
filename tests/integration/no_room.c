/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution units that are slow to take tasks, for a target: linked into it, this doca_task_submit
 * stands before the library's. After a few tasks of an STA IO context it says AGAIN for a while.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <doca_pe.h>
#include <doca_sta_io.h>
#include <doca_types.h>

#define BUDGET	   4u
#define NO_ROOM_NS 500000u

typedef doca_error_t create_fn(struct doca_sta *sta, struct doca_sta_io **sta_io);

/* softsta-tgt has one such context, and one thread that submits. */
static const struct doca_ctx *io_ctx;
static uint64_t room_ns;
static unsigned int num_taken;

doca_error_t doca_sta_io_create(struct doca_sta *sta, struct doca_sta_io **sta_io)
{
	create_fn *create;
	doca_error_t rc;

	*(void **)&create = dlsym(RTLD_NEXT, __func__);
	if (!create)
		abort();
	rc = create(sta, sta_io);
	if (rc == DOCA_SUCCESS)
		io_ctx = doca_sta_io_as_ctx(*sta_io);
	return rc;
}

static bool has_room(void)
{
	struct timespec ts;
	uint64_t now_ns;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	now_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	if (now_ns < room_ns)
		return false;
	if (++num_taken % BUDGET == 0)
		room_ns = now_ns + NO_ROOM_NS;
	return true;
}

doca_error_t doca_task_submit(struct doca_task *task)
{
	if (doca_task_get_ctx(task) == io_ctx && !has_room())
		return DOCA_ERROR_AGAIN;
	return doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}
