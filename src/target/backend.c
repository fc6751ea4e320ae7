/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One disk in DOCA STA: a back-end with an I/O queue pair for each execution unit.
 */
#include "target/server.h"

#include <errno.h>
#include <inttypes.h>
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

#include "target/disk.h"
#include "target/log.h"

enum {
	DOORBELL_WINDOW_BYTES = 64,
	DETACH_TIMEOUT_MS = 5000,
	QUEUE_ENTRIES_MAX = 1024, /* of a drive that could do more */
};

struct be_queue {
	struct nv_queue *nv;
	struct nv_soft_companion companion;
	struct doca_softsta_queue_ops ops;
	bool is_attached;
	struct doca_mmap *sq, *cq, *sq_doorbell, *cq_doorbell;
	struct doca_sta_be_q_handle *sta;
};

struct tgt_backend {
	struct tgt_disk disk;
	struct doca_sta_be_handle *sta;
	struct be_queue queues[TGT_MAX_EUS];
	size_t n_queues;
};

int tgt_backend_open(struct tgt_server *server, const struct tgt_bdev_conf *conf,
		     struct tgt_backend **backend, struct tgt_err *err)
{
	struct tgt_backend *be = calloc(1, sizeof(*be));
	size_t index = (size_t)(conf - server->config->bdevs);
	struct nv_err why = {""};
	int rc;

	if (!be)
		return tgt_err_set(err, -ENOMEM, "out of memory");
	rc = tgt_disk_open(&be->disk, &server->disks, conf, index, (uint16_t)server->n_eus, &why);
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
	tgt_disk_close(&be->disk);
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

/* A doorbell is given to STA with the 64 bytes of the BAR that it lies in. */
static doca_error_t doorbell_map(struct tgt_server *server, volatile uint32_t *doorbell,
				 struct doca_mmap **map, uint16_t *offset)
{
	uintptr_t at = (uintptr_t)doorbell;

	*offset = (uint16_t)(at % DOORBELL_WINDOW_BYTES);
	return map_create(server, (void *)(at - *offset), DOORBELL_WINDOW_BYTES, map);
}

/* A controller of this process cannot see stores to its doorbells. */
static doca_error_t companion_attach(struct tgt_backend *be, struct be_queue *q)
{
	doca_error_t rc;

	if (!be->disk.soft)
		return DOCA_SUCCESS;
	if (nv_soft_companion(be->disk.soft, q->nv->qid, &q->companion))
		return DOCA_ERROR_NOT_FOUND;
	q->ops.doorbell = q->companion.doorbell;
	q->ops.poll = q->companion.poll;
	rc = doca_softsta_queue_attach(q->nv->sq_tail_doorbell, &q->ops, q->companion.fd,
				       q->companion.arg);
	q->is_attached = rc == DOCA_SUCCESS;
	return rc;
}

static doca_error_t queue_give(struct tgt_server *server, struct tgt_backend *be,
			       struct be_queue *q)
{
	struct nv_queue *nv = q->nv;
	uint16_t sq_offset, cq_offset;
	doca_error_t rc;

	rc = companion_attach(be, q);
	if (rc == DOCA_SUCCESS)
		rc = map_create(server, nv->sq, nv->entries * sizeof(*nv->sq), &q->sq);
	if (rc == DOCA_SUCCESS)
		rc = map_create(server, nv->cq, nv->entries * sizeof(*nv->cq), &q->cq);
	if (rc == DOCA_SUCCESS)
		rc = doorbell_map(server, nv->sq_tail_doorbell, &q->sq_doorbell, &sq_offset);
	if (rc == DOCA_SUCCESS)
		rc = doorbell_map(server, nv->cq_head_doorbell, &q->cq_doorbell, &cq_offset);
	if (rc != DOCA_SUCCESS)
		return rc;
	return doca_sta_be_add_queue(be->sta, q->sq, q->sq_doorbell, sq_offset, q->cq,
				     q->cq_doorbell, cq_offset, &q->sta);
}

static int queue_add(struct tgt_server *server, struct tgt_backend *be, struct tgt_err *err)
{
	struct be_queue *q = &be->queues[be->n_queues];
	struct nv_err why = {""};
	doca_error_t rc;
	int code = nv_queue_create(be->disk.ctrl, QUEUE_ENTRIES_MAX, &q->nv, &why);

	if (code)
		return tgt_err_set(err, code, "back-end queue: %.200s", why.text);
	be->n_queues++;
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
	max_queues = util_min(max_queues, (uint32_t)nv_ctrl_info(be->disk.ctrl)->max_io_queues);
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
	if (q->cq_doorbell)
		(void)doca_mmap_destroy(q->cq_doorbell);
	if (q->sq_doorbell)
		(void)doca_mmap_destroy(q->sq_doorbell);
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

/* What a drive says of its format and its atomicity: NVM Command Set 1.0, figure 97. */
static void hints_copy(const struct nvme_id_ns *id, struct tgt_ns *ns)
{
	ns->hints = (struct tgt_ns_hints){
		.nsfeat = id->nsfeat & (TGT_NSFEAT_ATOMICS | TGT_NSFEAT_OPTPERF),
		.dlfeat = id->dlfeat,
		.nawun = le16toh(id->nawun),
		.nawupf = le16toh(id->nawupf),
		.nacwu = le16toh(id->nacwu),
		.nabsn = le16toh(id->nabsn),
		.nabo = le16toh(id->nabo),
		.nabspf = le16toh(id->nabspf),
		.noiob = le16toh(id->noiob),
		.npwg = le16toh(id->npwg),
		.npwa = le16toh(id->npwa),
		.npdg = le16toh(id->npdg),
		.npda = le16toh(id->npda),
		.nows = le16toh(id->nows),
	};
}

int tgt_backend_describe(const struct tgt_backend *be, uint32_t be_nsid, struct tgt_ns *ns,
			 struct tgt_err *err)
{
	const struct tgt_bdev_conf *conf = be->disk.conf;
	const struct nv_ns_info *info;
	struct nv_err why;
	int rc = tgt_disk_ns(&be->disk, be_nsid, &info, &why);

	if (rc)
		return tgt_err_set(err, rc, "%.80s: %.160s", conf->path ? conf->path : conf->name,
				   why.text);
	ns->be_nsid = be_nsid;
	ns->blocks = info->nsze;
	ns->block_bytes = info->block_bytes;
	ns->is_read_only = info->write_protected;
	hints_copy(&info->id, ns);
	/* A drive's identifiers are the namespace's wherever it is attached. */
	if (be->disk.drive) {
		memcpy(ns->uuid, info->uuid, sizeof(ns->uuid));
		memcpy(ns->nguid, info->nguid, sizeof(ns->nguid));
		memcpy(ns->eui64, info->eui64, sizeof(ns->eui64));
	}
	return 0;
}

size_t tgt_backend_ns_count(const struct tgt_backend *be)
{
	return be->disk.n_ns;
}

uint32_t tgt_backend_nsid(const struct tgt_backend *be, size_t i)
{
	return be->disk.ns[i].nsid;
}

const char *tgt_backend_disk_name(const struct tgt_backend *be, uint32_t be_nsid,
				  char name[TGT_DISK_NAME_TEXT])
{
	const struct tgt_bdev_conf *conf = be->disk.conf;

	if (conf->kind == TGT_BDEV_DRIVE)
		snprintf(name, TGT_DISK_NAME_TEXT, "%sn%" PRIu32, conf->name, be_nsid);
	else
		snprintf(name, TGT_DISK_NAME_TEXT, "%s", conf->name);
	return name;
}

const struct nv_ctrl_info *tgt_backend_info(const struct tgt_backend *be)
{
	return nv_ctrl_info(be->disk.ctrl);
}

/* A drive keeps its own count, in its own log. */
uint64_t tgt_backend_media_errors(const struct tgt_backend *be)
{
	struct nv_soft_stats stats;

	if (!be->disk.soft)
		return 0;
	nv_soft_get_stats(be->disk.soft, &stats);
	return stats.media_errors;
}

struct doca_sta_be_handle *tgt_backend_handle(const struct tgt_backend *be)
{
	return be->sta;
}

/* ---- for the control socket --------------------------------------------------------------- */

size_t tgt_backend_queue_count(const struct tgt_backend *be)
{
	return be->n_queues;
}

struct doca_sta_be_q_handle *tgt_backend_queue_handle(const struct tgt_backend *be, size_t i)
{
	return be->queues[i].sta;
}
