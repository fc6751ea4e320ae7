/* SPDX-License-Identifier: Apache-2.0 */
/* Where controllers come from; see disk.h. */
#include "target/disk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nvme/pool.h"
#include "nvme/soft/inject.h"
#include "nvme/soft/store.h"
#include "nvme/vfio/vfio.h"
#include "target/layer.h"
#include "target/loop.h"

enum {
	BUSY_TIMEOUT_MS = 3000,
	BLOCK_BYTES_MIN = 512,
	BLOCK_BYTES_MAX = 4096,
};

int tgt_disks_init(struct tgt_disks *disks)
{
	/* What STA hands to a soft controller is the pool's, so an address needs no second look. */
	const struct nv_soft_mem_conf trusting = {.trust_all = true};
	int rc;

	memset(disks, 0, sizeof(*disks));
	pthread_mutex_init(&disks->vfio_lock, NULL);
	rc = nv_pool_create(&disks->pool);
	if (!rc)
		rc = nv_soft_mem_create(&trusting, &disks->soft_mem);
	if (!rc)
		rc = nv_vfio_create(disks->pool, &disks->vfio);
	if (rc) {
		tgt_disks_fini(disks);
		return rc;
	}
	nv_pool_allocator(disks->pool, &disks->mem);
	return 0;
}

void tgt_disks_fini(struct tgt_disks *disks)
{
	nv_vfio_destroy(disks->vfio);
	nv_soft_mem_destroy(disks->soft_mem);
	nv_pool_destroy(disks->pool);
	pthread_mutex_destroy(&disks->vfio_lock);
	memset(disks, 0, sizeof(*disks));
}

/* ---- soft controllers --------------------------------------------------------------------- */

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
	case TGT_BDEV_DRIVE:
		break;
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

static int soft_open(struct tgt_disk *disk, size_t index, uint16_t io_queues, struct nv_bar *bar,
		     struct nv_err *why)
{
	struct nv_soft_ns_conf ns = {.nsid = TGT_ONLY_NAMESPACE};
	struct nv_soft_conf conf = {.mem = disk->disks->soft_mem, .max_io_queues = io_queues};
	struct nv_store *store;
	char serial[21];
	int rc;

	rc = store_open_waiting(disk->conf, &store, why);
	if (rc)
		return rc;
	memcpy(disk->note, store->note, sizeof(disk->note));
	snprintf(serial, sizeof(serial), "backend%zu", index);
	conf.serial = serial;
	rc = tgt_layers_open(disk->conf, &store, &disk->fault, why);
	if (!rc)
		rc = nv_soft_create(&conf, &disk->soft, why);
	if (!rc)
		rc = nv_soft_add_ns(disk->soft, &ns, store, why);
	if (rc) {
		nv_store_destroy(store);
		return rc;
	}
	nv_soft_bar(disk->soft, bar);
	return 0;
}

/* ---- all of them -------------------------------------------------------------------------- */

static int drive_open(struct tgt_disk *disk, struct nv_bar *bar, struct nv_err *why)
{
	int rc;

	pthread_mutex_lock(&disk->disks->vfio_lock);
	rc = nv_drive_open(disk->disks->vfio, disk->conf->path, &disk->drive, why);
	pthread_mutex_unlock(&disk->disks->vfio_lock);
	if (rc)
		return rc;
	nv_drive_bar(disk->drive, bar);
	return 0;
}

static int namespaces_read(struct tgt_disk *disk, struct nv_err *why)
{
	uint32_t ids[TGT_MAX_NAMESPACES];
	int n = nv_ctrl_active_ns(disk->ctrl, 0, ids, TGT_MAX_NAMESPACES);
	int rc = 0;

	if (n < 0)
		return nv_err(why, n, "its namespaces cannot be listed: %s", strerror(-n));
	disk->n_ns = 0;
	disk->ns = calloc((size_t)n + 1, sizeof(*disk->ns));
	if (!disk->ns)
		return nv_err(why, -ENOMEM, "out of memory");
	for (int i = 0; i < n && !rc; i++) {
		rc = nv_ctrl_ns_info(disk->ctrl, ids[i], &disk->ns[disk->n_ns]);
		if (rc == -ENOENT) { /* gone meanwhile */
			rc = 0;
			continue;
		}
		disk->n_ns++;
	}
	return rc ? nv_err(why, rc, "Identify Namespace failed: %s", strerror(-rc)) : 0;
}

/* Memory keeps its size. A drive that cannot say that it has changed is not asked. */
static void watch(struct tgt_disk *disk)
{
	bool may_change = disk->conf->kind == TGT_BDEV_FILE || disk->conf->kind == TGT_BDEV_DRIVE;

	disk->is_watched = may_change && !nv_ctrl_watch_ns(disk->ctrl);
}

static int ctrl_start(struct tgt_disk *disk, const struct nv_bar *bar, uint16_t io_queues,
		      struct nv_err *why)
{
	const struct nv_ctrl_opts opts = {.io_queues = io_queues};
	int rc = nv_ctrl_create(bar, &disk->disks->mem, &opts, &disk->ctrl, why);

	if (rc)
		return rc;
	disk->info = *nv_ctrl_info(disk->ctrl);
	/* First, or a change between the two would not be heard of. */
	watch(disk);
	return namespaces_read(disk, why);
}

int tgt_disk_check(struct tgt_disk *disk, struct nv_err *why)
{
	struct nv_ns_info *old = disk->ns;
	size_t n_old = disk->n_ns;
	uint32_t id;
	int rc;

	if (disk->soft)
		(void)nv_soft_check_sizes(disk->soft);
	rc = nv_ctrl_changed_ns(disk->ctrl, &id, 1);
	if (!rc)
		return 0;
	if (rc > 0)
		rc = namespaces_read(disk, why);
	else
		nv_err(why, rc, "its events cannot be read: %s", strerror(-rc));
	if (rc) {
		if (disk->ns != old)
			free(disk->ns);
		disk->ns = old;
		disk->n_ns = n_old;
		disk->is_watched = false;
		return rc;
	}
	free(old);
	return 1;
}

int tgt_disk_open(struct tgt_disk *disk, struct tgt_disks *disks, const struct tgt_bdev_conf *conf,
		  size_t index, uint16_t io_queues, struct nv_err *why)
{
	struct nv_bar bar;
	int rc;

	memset(disk, 0, sizeof(*disk));
	disk->disks = disks;
	disk->conf = conf;
	if (conf->kind == TGT_BDEV_DRIVE)
		rc = drive_open(disk, &bar, why);
	else
		rc = soft_open(disk, index, io_queues, &bar, why);
	return rc ? rc : ctrl_start(disk, &bar, io_queues, why);
}

bool tgt_disk_halt(struct tgt_disk *disk)
{
	if (!disk->drive)
		return false;
	(void)nv_ctrl_halt(disk->ctrl);
	nv_drive_cut(disk->drive);
	return true;
}

int tgt_disk_restart(struct tgt_disk *disk, struct tgt_disk *fresh, uint16_t io_queues,
		     struct nv_err *why)
{
	struct nv_bar bar;
	int rc;

	memset(fresh, 0, sizeof(*fresh));
	fresh->disks = disk->disks;
	fresh->conf = disk->conf;
	memcpy(fresh->note, disk->note, sizeof(fresh->note));
	fresh->fault = disk->fault;
	/* What a soft controller has written may be nowhere else. */
	fresh->soft = disk->soft;
	disk->soft = NULL;
	tgt_disk_shut(disk);
	if (!fresh->soft) {
		rc = drive_open(fresh, &bar, why);
		if (rc)
			return rc;
	} else {
		/* It may have been stopped or pulled out. */
		nv_soft_halt(fresh->soft, NV_SOFT_RUNNING);
		nv_soft_bar(fresh->soft, &bar);
	}
	return ctrl_start(fresh, &bar, io_queues, why);
}

void tgt_disk_shut(struct tgt_disk *disk)
{
	nv_ctrl_destroy(disk->ctrl);
	nv_soft_destroy(disk->soft);
	if (disk->drive) {
		pthread_mutex_lock(&disk->disks->vfio_lock);
		nv_drive_close(disk->drive);
		pthread_mutex_unlock(&disk->disks->vfio_lock);
	}
	disk->ctrl = NULL;
	disk->soft = NULL;
	disk->drive = NULL;
}

void tgt_disk_close(struct tgt_disk *disk)
{
	tgt_disk_shut(disk);
	free(disk->ns);
	disk->ns = NULL;
	disk->n_ns = 0;
}

static int ns_check(const struct nv_ns_info *ns, struct nv_err *why)
{
	if (ns->metadata_bytes)
		return nv_err(why, -EOPNOTSUPP,
			      "namespace %" PRIu32 " is formatted with %u bytes of metadata a"
			      " block, which cannot be served: format it without (nvme format)",
			      ns->nsid, ns->metadata_bytes);
	if (ns->block_bytes < BLOCK_BYTES_MIN || ns->block_bytes > BLOCK_BYTES_MAX)
		return nv_err(why, -EOPNOTSUPP,
			      "namespace %" PRIu32 " has blocks of %" PRIu32 " bytes, which cannot"
			      " be served: 512 to 4096 can",
			      ns->nsid, ns->block_bytes);
	return 0;
}

int tgt_disk_ns(const struct tgt_disk *disk, uint32_t be_nsid, const struct nv_ns_info **ns,
		struct nv_err *why)
{
	for (size_t i = 0; i < disk->n_ns; i++) {
		*ns = &disk->ns[i];
		if ((*ns)->nsid == be_nsid)
			return ns_check(*ns, why);
	}
	return nv_err(why, -ENOENT, "it has no namespace %" PRIu32, be_nsid);
}
