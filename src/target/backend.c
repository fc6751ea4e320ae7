/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One disk in DOCA STA: the controller behind it, its namespaces, and what hosts are told of them.
 */
#include "target/backend.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_error.h>
#include <doca_pe.h>
#include <doca_sta.h>
#include <doca_sta_be.h>

#include "target/log.h"

enum {
	DETACH_TIMEOUT_MS = 5000,
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
	be->server = server;
	rc = tgt_recovery_init(be);
	if (rc) {
		free(be);
		return tgt_err_set(err, rc, "disk \"%s\": %s", conf->name, strerror(-rc));
	}
	rc = tgt_disk_open(&be->disk, &server->disks, conf, index, (uint16_t)server->n_eus, &why);
	if (rc) {
		tgt_backend_close(be);
		return tgt_err_set(err, rc, "%.240s", why.text[0] ? why.text : strerror(-rc));
	}
	tgt_recovery_watch(be);
	*backend = be;
	return 0;
}

void tgt_backend_close(struct tgt_backend *be)
{
	if (!be)
		return;
	tgt_recovery_fini(be);
	tgt_disk_close(&be->disk);
	free(be);
}

int tgt_backend_attach(struct tgt_server *server, struct tgt_backend *be, struct tgt_err *err)
{
	doca_error_t rc = doca_sta_be_create(server->sta, &be->sta);
	struct nv_err why = {""};
	int code;

	if (rc != DOCA_SUCCESS)
		return tgt_err_set(err, -EIO, "back-end: %s", doca_error_get_descr(rc));
	code = tgt_beq_create(be, be->disk.ctrl, &why);
	if (code)
		return tgt_err_set(err, code, "back-end queue: %.200s", why.text);
	rc = tgt_beq_give(be);
	if (rc != DOCA_SUCCESS)
		return tgt_err_set(err, -EIO, "back-end queue: %s", doca_error_get_descr(rc));
	return 0;
}

void tgt_backend_detach(struct tgt_server *server, struct tgt_backend *be)
{
	const struct timespec nap = {.tv_nsec = 1000 * 1000};
	uint64_t until = tgt_loop_now_ms() + DETACH_TIMEOUT_MS;

	tgt_recovery_fini(be);
	(void)tgt_beq_ask_back(be);
	while (!tgt_beq_are_gone(be) && tgt_loop_now_ms() < until)
		if (!doca_pe_progress(server->sta_pe))
			nanosleep(&nap, NULL);
	if (!tgt_beq_are_gone(be)) {
		/* Freeing memory that an execution unit uses would be worse than to leak. */
		tgt_log_warning("disk \"%s\": its queues do not end", be->disk.conf->name);
		return;
	}
	tgt_beq_forget(be);
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
	if (conf->kind == TGT_BDEV_DRIVE) {
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
	return &be->disk.info;
}

const char *tgt_backend_note(const struct tgt_backend *be)
{
	return be->disk.note;
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
