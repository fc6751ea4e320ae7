/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One disk: a store behind a soft NVMe controller, brought up by the driver like any other, with
 * an I/O queue pair for each execution unit of DOCA STA. What differs from a real drive is in this
 * file alone: where the controller comes from, and the companions of its queues.
 */
#include "target/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_softsta.h>
#include <doca_sta.h>
#include <doca_sta_be.h>
#include <doca_sta_task.h>
#include <doca_types.h>

#include "nvme/drv.h"
#include "nvme/soft/soft.h"
#include "nvme/soft/store.h"
#include "target/log.h"

enum {
	BE_NSID = 1, /* a soft controller has one namespace */
	DOORBELL_WINDOW_BYTES = 64,
	DETACH_TIMEOUT_MS = 5000,
	BUSY_TIMEOUT_MS = 3000,
};

struct be_queue {
	struct nv_queue *nv;
	struct nv_soft_companion companion;
	struct doca_softsta_queue_ops ops;
	bool is_attached;
	struct doca_mmap *sq, *cq, *doorbells;
	struct doca_sta_be_q_handle *sta;
};

struct tgt_backend {
	const struct tgt_bdev_conf *conf;
	struct nv_soft *soft;
	struct nv_ctrl *ctrl;
	struct nv_ns_info ns;
	struct doca_sta_be_handle *sta;
	struct be_queue queues[TGT_MAX_EUS];
	size_t n_queues;
};

/* ---- store and controller ----------------------------------------------------------------- */

static int store_open(const struct tgt_bdev_conf *conf, struct nv_store **store, struct nv_err *why)
{
	struct nv_store_file_conf file = {.path = conf->path,
					  .size_bytes = conf->size_bytes,
					  .block_bytes = conf->block_bytes,
					  .read_only = conf->read_only};

	switch (conf->kind) {
	case TGT_BDEV_FILE:
		return nv_store_file_open(&file, store, why);
	case TGT_BDEV_RAM:
		return nv_store_ram_create(conf->size_bytes, conf->block_bytes, store, why);
	case TGT_BDEV_NULL:
		return nv_store_null_create(conf->size_bytes, conf->block_bytes, store, why);
	}
	return -EINVAL;
}

/*
 * A target that was killed holds its files until what its io_uring has in flight is done, and may
 * write until then. Whoever starts it again at once has to wait for that.
 */
static int store_open_waiting(const struct tgt_bdev_conf *conf, struct nv_store **store,
			      struct nv_err *why)
{
	const struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};
	uint64_t until = tgt_loop_now_ms() + BUSY_TIMEOUT_MS;
	int rc;

	while ((rc = store_open(conf, store, why)) == -EBUSY && tgt_loop_now_ms() < until)
		nanosleep(&nap, NULL);
	return rc;
}

static int controller_create(struct tgt_server *server, struct tgt_backend *be, size_t index,
			     struct nv_err *why)
{
	struct nv_soft_ns_conf ns = {.nsid = BE_NSID};
	struct nv_soft_conf conf = {.mem = server->mem, .max_io_queues = (uint16_t)server->n_eus};
	struct nv_ctrl_opts opts = {.io_queues = (uint16_t)server->n_eus};
	struct nv_store *store;
	struct nv_bar bar;
	struct nv_mem mem;
	char serial[21];
	int rc;

	rc = store_open_waiting(be->conf, &store, why);
	if (rc)
		return rc;
	snprintf(serial, sizeof(serial), "backend%zu", index);
	conf.serial = serial;
	rc = nv_soft_create(&conf, &be->soft, why);
	if (!rc)
		rc = nv_soft_add_ns(be->soft, &ns, store, why);
	if (rc) {
		nv_store_destroy(store);
		return rc;
	}
	nv_soft_bar(be->soft, &bar);
	nv_soft_mem_allocator(server->mem, &mem);
	rc = nv_ctrl_create(&bar, &mem, &opts, &be->ctrl, why);
	return rc ? rc : nv_ctrl_ns_info(be->ctrl, BE_NSID, &be->ns);
}

int tgt_backend_open(struct tgt_server *server, const struct tgt_bdev_conf *conf,
		     struct tgt_backend **backend, struct tgt_err *err)
{
	struct tgt_backend *be = calloc(1, sizeof(*be));
	struct nv_err why = {""};
	int rc;

	if (!be)
		return tgt_err_set(err, -ENOMEM, "out of memory");
	be->conf = conf;
	rc = controller_create(server, be, (size_t)(conf - server->config->bdevs), &why);
	if (rc) {
		tgt_backend_close(be);
		return tgt_err_set(err, rc, "%.240s", why.text[0] ? why.text : strerror(-rc));
	}
	*backend = be;
	return 0;
}

void tgt_backend_close(struct tgt_backend *be)
{
	if (!be)
		return;
	nv_ctrl_destroy(be->ctrl);
	nv_soft_destroy(be->soft);
	free(be);
}

/* ---- queues for STA ----------------------------------------------------------------------- */

static doca_error_t map_create(struct tgt_server *server, void *addr, size_t bytes,
			       struct doca_mmap **map)
{
	doca_error_t rc = doca_mmap_create(map);

	if (rc != DOCA_SUCCESS)
		return rc;
	rc = doca_mmap_add_dev(*map, server->devices[0].dev);
	if (rc == DOCA_SUCCESS)
		rc = doca_mmap_set_memrange(*map, addr, bytes);
	if (rc == DOCA_SUCCESS)
		rc = doca_mmap_set_permissions(*map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (rc == DOCA_SUCCESS)
		rc = doca_mmap_start(*map);
	return rc;
}

/* The 64 bytes of the BAR that both doorbells of a queue pair lie in. */
static char *doorbell_window(const struct nv_queue *nv)
{
	return (char *)((uintptr_t)nv->sq_tail_doorbell & ~(uintptr_t)(DOORBELL_WINDOW_BYTES - 1));
}

static doca_error_t queue_give(struct tgt_server *server, struct tgt_backend *be,
			       struct be_queue *q)
{
	struct nv_queue *nv = q->nv;
	char *window = doorbell_window(nv);
	doca_error_t rc;

	q->ops.doorbell = q->companion.doorbell;
	q->ops.poll = q->companion.poll;
	rc = doca_softsta_queue_attach(nv->sq_tail_doorbell, &q->ops, q->companion.fd,
				       q->companion.arg);
	if (rc != DOCA_SUCCESS)
		return rc;
	q->is_attached = true;
	rc = map_create(server, nv->sq, nv->entries * sizeof(*nv->sq), &q->sq);
	if (rc == DOCA_SUCCESS)
		rc = map_create(server, nv->cq, nv->entries * sizeof(*nv->cq), &q->cq);
	if (rc == DOCA_SUCCESS)
		rc = map_create(server, window, DOORBELL_WINDOW_BYTES, &q->doorbells);
	if (rc != DOCA_SUCCESS)
		return rc;
	return doca_sta_be_add_queue(be->sta, q->sq, q->doorbells,
				     (uint16_t)((char *)nv->sq_tail_doorbell - window), q->cq,
				     q->doorbells,
				     (uint16_t)((char *)nv->cq_head_doorbell - window), &q->sta);
}

static int queue_add(struct tgt_server *server, struct tgt_backend *be, struct tgt_err *err)
{
	struct be_queue *q = &be->queues[be->n_queues];
	struct nv_err why = {""};
	doca_error_t rc;
	int code = nv_queue_create(be->ctrl, nv_ctrl_info(be->ctrl)->max_entries, &q->nv, &why);

	if (code)
		return tgt_err_set(err, code, "back-end queue: %.200s", why.text);
	be->n_queues++;
	code = nv_soft_companion(be->soft, q->nv->qid, &q->companion);
	if (code)
		return tgt_err_set(err, code, "back-end queue: no companion");
	rc = queue_give(server, be, q);
	if (rc == DOCA_SUCCESS)
		return 0;
	return tgt_err_set(err, -EIO, "back-end queue: %s", doca_error_get_descr(rc));
}

int tgt_backend_attach(struct tgt_server *server, struct tgt_backend *be, struct tgt_err *err)
{
	doca_error_t rc = doca_sta_be_create(server->sta, &be->sta);
	uint32_t max_queues = TGT_MAX_EUS, i;
	int code = 0;

	if (rc != DOCA_SUCCESS)
		return tgt_err_set(err, -EIO, "back-end: %s", doca_error_get_descr(rc));
	(void)doca_sta_get_max_qs_per_be(&max_queues);
	max_queues = util_min(max_queues, server->n_eus);
	max_queues = util_min(max_queues, (uint32_t)nv_ctrl_info(be->ctrl)->max_io_queues);
	for (i = 0; i < util_min(max_queues, (uint32_t)TGT_MAX_EUS) && !code; i++)
		code = queue_add(server, be, err);
	return code;
}

void tgt_backend_queue_gone(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct be_queue *q = user_data.ptr;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	q->sta = NULL;
}

static void queue_take_back(struct tgt_server *server, struct be_queue *q)
{
	const struct timespec nap = {.tv_nsec = 1000 * 1000};
	uint64_t until = tgt_loop_now_ms() + DETACH_TIMEOUT_MS;
	struct doca_sta_producer_task_send *task;
	union doca_data self = {.ptr = q};

	if (!q->sta)
		return;
	if (doca_sta_be_destroy_queue_task_alloc_init(q->sta, self, &task) != DOCA_SUCCESS)
		return;
	if (doca_task_submit(doca_sta_producer_send_task_as_task(task)) != DOCA_SUCCESS) {
		doca_task_free(doca_sta_producer_send_task_as_task(task));
		return;
	}
	while (q->sta && tgt_loop_now_ms() < until)
		if (!doca_pe_progress(server->sta_pe))
			nanosleep(&nap, NULL);
}

static void queue_free(struct be_queue *q)
{
	if (q->doorbells)
		(void)doca_mmap_destroy(q->doorbells);
	if (q->cq)
		(void)doca_mmap_destroy(q->cq);
	if (q->sq)
		(void)doca_mmap_destroy(q->sq);
	if (q->is_attached)
		(void)doca_softsta_queue_detach(q->nv->sq_tail_doorbell);
	nv_queue_destroy(q->nv);
	memset(q, 0, sizeof(*q));
}

void tgt_backend_detach(struct tgt_server *server, struct tgt_backend *be)
{
	while (be->n_queues) {
		struct be_queue *q = &be->queues[be->n_queues - 1];

		queue_take_back(server, q);
		if (q->sta) {
			/* Freeing memory that an execution unit uses would be worse than to leak.
			 */
			tgt_log("back-end: queue %u does not end", q->nv->qid);
			return;
		}
		queue_free(q);
		be->n_queues--;
	}
	if (be->sta)
		(void)doca_sta_be_destroy(be->sta);
	be->sta = NULL;
}

/* ---- what hosts are told ------------------------------------------------------------------ */

void tgt_backend_describe(const struct tgt_backend *be, struct tgt_ns *ns)
{
	ns->blocks = be->ns.nsze;
	ns->block_bytes = be->ns.block_bytes;
	ns->is_read_only = be->ns.write_protected;
}

uint16_t tgt_backend_oncs(const struct tgt_backend *be)
{
	return nv_ctrl_info(be->ctrl)->oncs;
}

bool tgt_backend_has_cache(const struct tgt_backend *be)
{
	return nv_ctrl_info(be->ctrl)->volatile_write_cache;
}

uint64_t tgt_backend_media_errors(const struct tgt_backend *be)
{
	struct nv_soft_stats stats;

	nv_soft_get_stats(be->soft, &stats);
	return stats.media_errors;
}

struct doca_sta_be_handle *tgt_backend_handle(const struct tgt_backend *be)
{
	return be->sta;
}

/* ---- for the control socket --------------------------------------------------------------- */

const struct nv_ctrl_info *tgt_backend_info(const struct tgt_backend *be)
{
	return nv_ctrl_info(be->ctrl);
}

size_t tgt_backend_queue_count(const struct tgt_backend *be)
{
	return be->n_queues;
}

struct doca_sta_be_q_handle *tgt_backend_queue_handle(const struct tgt_backend *be, size_t i)
{
	return be->queues[i].sta;
}
