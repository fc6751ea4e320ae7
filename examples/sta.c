/* SPDX-License-Identifier: Apache-2.0 */
/* DOCA STA itself, with its device, back-end, subsystem and I/O context: up and down. */
#include <stdio.h>
#include <string.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sta.h>
#include <doca_sta_be.h>
#include <doca_sta_io.h>
#include <doca_sta_subsystem.h>

#include "example.h"

static struct doca_dev *open_device(const char *name)
{
	char found[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_dev *dev = NULL;
	struct doca_devinfo **list;
	uint32_t num;

	MUST(doca_devinfo_create_list(&list, &num));
	for (uint32_t i = 0; i < num && !dev; i++)
		if (doca_devinfo_get_ibdev_name(list[i], found, sizeof(found)) == DOCA_SUCCESS &&
		    !strcmp(found, name) && doca_sta_cap_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	must(dev ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, name);
	return dev;
}

/* A change of state may go on inside doca_pe_progress(). */
static void wait_for(enum doca_ctx_states wanted, doca_error_t result, struct doca_ctx *ctx,
		     struct doca_pe *pe)
{
	enum doca_ctx_states state;

	must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "change of a context");
	for (;;) {
		MUST(doca_ctx_get_state(ctx, &state));
		if (state == wanted)
			return;
		(void)doca_pe_progress(pe);
	}
}

static void on_queue_gone(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct target *t = user_data.ptr;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	t->queue = NULL;
}

void sta_start(struct target *t, const char *device, const char *path)
{
	struct doca_ctx *ctx;

	t->dev = open_device(device);
	MUST(doca_sta_create(t->dev, &t->sta));
	MUST(doca_sta_add_dev(t->sta, t->dev));
	MUST(doca_sta_be_task_destroy_queue_set_conf(t->sta, on_queue_gone, on_queue_gone));
	ctx = doca_sta_as_ctx(t->sta);
	MUST(doca_pe_create(&t->pe));
	MUST(doca_pe_connect_ctx(t->pe, ctx));
	wait_for(DOCA_CTX_STATE_RUNNING, doca_ctx_start(ctx), ctx, t->pe);

	MUST(doca_sta_be_create(t->sta, &t->backend));
	disk_open(t, path);
	MUST(doca_sta_get_max_ioccsz(&t->ctrl.capsule_bytes));
	MUST(doca_sta_subsystem_create(t->sta, EXAMPLE_NQN, &t->subsystem));
	MUST(doca_sta_subsystem_add_dev(t->subsystem, t->dev));
	MUST(doca_sta_subsystem_add_ns(t->subsystem, EXAMPLE_NSID, EXAMPLE_BLOCK_BYTES, 1,
				       t->backend, &t->ns));

	MUST(doca_sta_io_create(t->sta, &t->io));
	ioq_configure(t->io);
	ctx = doca_sta_io_as_ctx(t->io);
	MUST(doca_pe_create(&t->io_pe));
	MUST(doca_pe_connect_ctx(t->io_pe, ctx));
	wait_for(DOCA_CTX_STATE_RUNNING, doca_ctx_start(ctx), ctx, t->io_pe);
}

void sta_stop(struct target *t)
{
	struct doca_ctx *ctx = doca_sta_io_as_ctx(t->io);
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = t};

	wait_for(DOCA_CTX_STATE_IDLE, doca_ctx_stop(ctx), ctx, t->io_pe);
	MUST(doca_sta_io_destroy(t->io));
	MUST(doca_pe_destroy(t->io_pe));
	MUST(doca_sta_subsystem_rm_ns(t->subsystem, t->ns));
	MUST(doca_sta_be_destroy_queue_task_alloc_init(t->queue, self, &task));
	submit(task);
	while (t->queue)
		(void)doca_pe_progress(t->pe);
	disk_close(t->disk);
	MUST(doca_sta_be_destroy(t->backend));
	MUST(doca_sta_subsystem_destroy(t->subsystem));
	ctx = doca_sta_as_ctx(t->sta);
	wait_for(DOCA_CTX_STATE_IDLE, doca_ctx_stop(ctx), ctx, t->pe);
	MUST(doca_sta_destroy(t->sta));
	MUST(doca_pe_destroy(t->pe));
	MUST(doca_dev_close(t->dev));
}
