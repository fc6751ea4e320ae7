/* SPDX-License-Identifier: Apache-2.0 */
/* Disks that are slow, or fail, on purpose; see layer.h. */
#include "target/layer.h"

#include <errno.h>

#include "nvme/soft/inject.h"

/* ---- engines ------------------------------------------------------------------------------ */

static int delay_open(const struct tgt_layer_conf *layer, struct nv_store *below,
		      struct nv_store **store, struct nv_err *why)
{
	struct nv_store_delay_conf conf = {0};

	for (unsigned int op = 0; op < NV_STORE_OPS; op++)
		conf.op[op].fixed_ns = op == NV_STORE_READ ? layer->read_ns : layer->write_ns;
	return nv_store_delay_create(&conf, below, store, why);
}

int tgt_layers_open(const struct tgt_bdev_conf *conf, struct nv_store **store,
		    struct nv_store **fault, struct nv_err *why)
{
	const struct nv_store_fault_conf none = {0};
	struct nv_store *below;
	int rc = 0;

	*fault = NULL;
	for (size_t i = 0; i < conf->n_layers && !rc; i++) {
		below = *store;
		if (conf->layers[i].kind == TGT_LAYER_DELAY) {
			rc = delay_open(&conf->layers[i], below, store, why);
			continue;
		}
		rc = nv_store_fault_create(&none, below, store, why);
		if (!rc)
			*fault = *store;
	}
	return rc;
}

/* ---- injection ---------------------------------------------------------------------------- */

static int inject_medium(struct tgt_disk *disk, const struct tgt_injection *injection,
			 struct nv_err *why)
{
	const struct nv_store_fault fault = {
		.ops = injection->ops,
		.times = injection->times,
		.error = injection->what == TGT_INJECT_FAILURE ? EIO : 0,
	};
	const struct nv_store_fault_conf conf = {.faults = &fault, .count = 1};

	return nv_store_fault_set(disk->fault, &conf, why);
}

static void inject_nothing(struct tgt_disk *disk)
{
	const struct nv_store_fault_conf none = {0};

	(void)nv_store_fault_set(disk->fault, &none, NULL);
	for (int kind = 0; kind < NV_SOFT_TORN_KINDS; kind++)
		(void)nv_soft_tear(disk->soft, (enum nv_soft_torn)kind, NV_SOFT_EVERY_QUEUE, 0);
}

int tgt_disk_inject(struct tgt_disk *disk, const struct tgt_injection *injection,
		    struct nv_err *why)
{
	static const enum nv_soft_torn torn[] = {
		[TGT_INJECT_WRONG_PHASE] = NV_SOFT_TORN_PHASE,
		[TGT_INJECT_UNKNOWN_CID] = NV_SOFT_TORN_CID,
		[TGT_INJECT_TWICE] = NV_SOFT_TORN_TWICE,
	};
	static const enum nv_soft_halt halt[] = {
		[TGT_INJECT_FATAL] = NV_SOFT_FATAL,
		[TGT_INJECT_GONE] = NV_SOFT_GONE,
		[TGT_INJECT_RESET] = NV_SOFT_RESET,
	};

	if (!disk->soft || !disk->fault)
		return nv_err(why, -ENOTSUP, "it was not made by bdev_error_create");
	inject_nothing(disk);
	switch (injection->what) {
	case TGT_INJECT_NOTHING:
		return 0;
	case TGT_INJECT_FAILURE:
	case TGT_INJECT_PENDING:
		return inject_medium(disk, injection, why);
	case TGT_INJECT_WRONG_PHASE:
	case TGT_INJECT_UNKNOWN_CID:
	case TGT_INJECT_TWICE:
		return nv_soft_tear(disk->soft, torn[injection->what], NV_SOFT_EVERY_QUEUE,
				    injection->times);
	case TGT_INJECT_FATAL:
	case TGT_INJECT_GONE:
	case TGT_INJECT_RESET:
		nv_soft_halt(disk->soft, halt[injection->what]);
		return 0;
	}
	return -EINVAL;
}
