/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STA context: create, devices, memory allocator, start (the EUs), stop, destroy.
 */
#include "sta/sta.h"

#include <sched.h>
#include <stdlib.h>

#include "core/dev.h"
#include "sta/be.h"
#include "sta/log.h"

uint32_t sta_num_eus(void)
{
	const char *env = getenv("SOFTSTA_EUS");
	unsigned long n = env ? strtoul(env, NULL, 10) : 0;
	cpu_set_t cpus;

	if (n == 0 && sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		n = (unsigned long)CPU_COUNT(&cpus);
	if (n < 1)
		n = 1;
	return n < STA_MAX_EUS ? (uint32_t)n : STA_MAX_EUS;
}

static doca_error_t start_eus(struct doca_sta *sta, uint32_t num)
{
	doca_error_t err;

	sta->eus = aligned_alloc(64, num * sizeof(*sta->eus));
	if (!sta->eus)
		return DOCA_ERROR_NO_MEMORY;
	for (sta->num_eus = 0; sta->num_eus < num; sta->num_eus++) {
		struct doca_sta_eu_handle *h = &sta->eus[sta->num_eus];

		*h = (struct doca_sta_eu_handle){.eu = {.sta = sta, .idx = sta->num_eus}};
		err = sta_eu_start(&h->eu);
		if (err != DOCA_SUCCESS)
			return err;
	}
	return DOCA_SUCCESS;
}

/* EUs first: nobody then looks at what they used. Messages before what carries them. */
static void stop_eus(struct doca_sta *sta)
{
	for (uint32_t i = 0; i < sta->num_eus; i++)
		sta_eu_stop(&sta->eus[i].eu);
	/* One that had posted to another may have been about to wake it. */
	for (uint32_t i = 0; i < sta->num_eus; i++)
		sta_eu_fini(&sta->eus[i].eu);
	sta_vdev_destroy_all(sta);
	sta_event_reset(sta);
	sta_stats_forget_qps(sta);
	sta_be_drop_queues(sta);
	free(sta->eus);
	sta->eus = NULL;
	sta->num_eus = 0;
	sta_debug("sta", "sta %p: stopped", (void *)sta);
}

static struct doca_sta *from_ctx(struct doca_ctx *ctx)
{
	return util_container_of(ctx, struct doca_sta, ctx);
}

static doca_error_t ctx_start(struct doca_ctx *ctx)
{
	struct doca_sta *sta = from_ctx(ctx);
	doca_error_t err;

	if (sta->num_devs == 0)
		return DOCA_ERROR_INVALID_VALUE;
	sta->is_stopped = false;
	err = start_eus(sta, sta_num_eus());
	if (err != DOCA_SUCCESS) {
		stop_eus(sta);
		return err;
	}
	sta_debug("sta", "sta %p: started, %u devices, %u eus", (void *)sta, sta->num_devs,
		  sta->num_eus);
	pthread_mutex_lock(&sta->lock);
	sta->is_open = true;
	pthread_mutex_unlock(&sta->lock);
	return DOCA_SUCCESS;
}

/* From here on no other thread makes an STA IO context. False when there is one. */
static bool close_door(struct doca_sta *sta)
{
	bool is_free;

	pthread_mutex_lock(&sta->lock);
	is_free = atomic_load(&sta->num_io) == 0;
	if (is_free)
		sta->is_open = false;
	pthread_mutex_unlock(&sta->lock);
	return is_free;
}

static doca_error_t ctx_stop(struct doca_ctx *ctx)
{
	struct doca_sta *sta = from_ctx(ctx);

	if (!close_door(sta))
		return DOCA_ERROR_IN_USE;
	/* Namespaces and queues that are being removed need the EUs to the end. */
	if (ctx->num_inflight)
		return DOCA_ERROR_IN_PROGRESS;
	stop_eus(sta);
	return DOCA_SUCCESS;
}

static bool ctx_progress(struct doca_ctx *ctx)
{
	struct doca_sta *sta = from_ctx(ctx);

	if (sta_inbox_run_one(&sta->inbox, sta))
		return true;
	if (ctx->state != DOCA_CTX_STATE_STOPPING || ctx->num_inflight || sta->is_stopped)
		return false;
	sta->is_stopped = true;
	if (sta->eus)
		stop_eus(sta);
	doca_priv_ctx_stopped(ctx);
	return true;
}

static void ctx_flush(struct doca_ctx *ctx)
{
	/* Every task starts when it is submitted. */
	(void)ctx;
}

static const struct core_ctx_ops ctx_ops = {
	.start = ctx_start,
	.stop = ctx_stop,
	.progress = ctx_progress,
	.flush = ctx_flush,
};

doca_error_t doca_sta_create(struct doca_dev *dev, struct doca_sta **ret)
{
	struct doca_sta *sta;
	doca_error_t err;

	if (!dev || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	err = sta_check_verbs(doca_priv_dev_get_verbs(dev));
	if (err != DOCA_SUCCESS)
		return err;
	sta = calloc(1, sizeof(*sta));
	if (!sta)
		return DOCA_ERROR_NO_MEMORY;
	doca_priv_ctx_init(&sta->ctx, &ctx_ops);
	doca_priv_dev_hold(dev);
	sta->control_dev = dev;
	sta->mem = sta_mem_default;
	sta->max_io = STA_MAX_IO_THREADS;
	sta->be_timeout_ns = STA_BE_TIMEOUT_NS;
	util_list_init(&sta->subsystems);
	util_list_init(&sta->backends);
	pthread_mutex_init(&sta->lock, NULL);
	sta_debug("sta", "sta %p: created on device %s", (void *)sta, doca_priv_dev_get_name(dev));
	*ret = sta;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_destroy(struct doca_sta *sta)
{
	doca_error_t err;

	if (!sta)
		return DOCA_ERROR_INVALID_VALUE;
	if (atomic_load(&sta->num_io) || sta->num_subsystems || sta->num_backends)
		return DOCA_ERROR_IN_USE;
	if (core_ctx_is_idle(&sta->ctx)) {
		sta_inbox_settle(&sta->inbox);
		if (!sta_vdev_drop_domains(sta))
			return DOCA_ERROR_DRIVER;
	}
	err = doca_priv_ctx_fini(&sta->ctx);
	if (err != DOCA_SUCCESS)
		return err;
	doca_priv_task_pool_destroy(sta->rm_ns_pool);
	doca_priv_task_pool_destroy(sta->destroy_queue_pool);
	for (uint32_t i = 0; i < sta->num_devs; i++)
		doca_priv_dev_release(sta->devs[i]);
	doca_priv_dev_release(sta->control_dev);
	pthread_mutex_destroy(&sta->lock);
	sta_debug("sta", "sta %p: destroyed", (void *)sta);
	free(sta);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_sta_as_ctx(struct doca_sta *sta)
{
	return sta ? &sta->ctx : NULL;
}

bool sta_has_dev(const struct doca_sta *sta, const struct doca_dev *dev)
{
	for (uint32_t i = 0; i < sta->num_devs; i++) {
		if (sta->devs[i] == dev)
			return true;
	}
	return false;
}

doca_error_t doca_sta_add_dev(struct doca_sta *sta, struct doca_dev *dev)
{
	doca_error_t err;

	if (!sta || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_idle(&sta->ctx))
		return DOCA_ERROR_BAD_STATE;
	if (sta_has_dev(sta, dev))
		return DOCA_ERROR_ALREADY_EXIST;
	if (sta->num_devs == STA_MAX_DEVS)
		return DOCA_ERROR_NO_MEMORY;
	err = sta_check_verbs(doca_priv_dev_get_verbs(dev));
	if (err != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_SUPPORTED;
	doca_priv_dev_hold(dev);
	sta->devs[sta->num_devs++] = dev;
	sta_debug("sta", "sta %p: device %s added", (void *)sta, doca_priv_dev_get_name(dev));
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_set_max_sta_io(struct doca_sta *sta, uint16_t max_io_num)
{
	if (!sta || max_io_num == 0 || max_io_num > STA_MAX_IO_THREADS)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_idle(&sta->ctx))
		return DOCA_ERROR_BAD_STATE;
	sta->max_io = max_io_num;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_get_max_sta_io(const struct doca_sta *sta, uint16_t *max_io_num)
{
	if (!sta || !max_io_num)
		return DOCA_ERROR_INVALID_VALUE;
	*max_io_num = sta->max_io;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_mem_allocator_register(const struct doca_sta *const_sta,
					     doca_sta_zmalloc_cb_t alloc_cb,
					     doca_sta_free_cb_t free_cb,
					     doca_sta_vtophys_cb_t vtophys_cb)
{
	/* The API's const is about the handle; the context does change. */
	struct doca_sta *sta = (struct doca_sta *)(uintptr_t)const_sta;

	if (!sta || !alloc_cb || !free_cb || !vtophys_cb)
		return DOCA_ERROR_INVALID_VALUE;
	if (!core_ctx_is_idle(&sta->ctx))
		return DOCA_ERROR_BAD_STATE;
	sta->mem =
		(struct sta_mem_ops){.zmalloc = alloc_cb, .free = free_cb, .vtophys = vtophys_cb};
	return DOCA_SUCCESS;
}
