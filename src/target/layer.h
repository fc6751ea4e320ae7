/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disks that are slow, or fail, on purpose: the engines that a configuration puts on a disk's
 * store, and what is injected while the target runs. For tests of what is above: softsta-tgt(8),
 * TESTING.
 */
#ifndef TGT_LAYER_H
#define TGT_LAYER_H

#include <stdint.h>

#include "nvme/soft/store.h"
#include "target/disk.h"

enum tgt_injected {
	TGT_INJECT_NOTHING, /* what was injected ends */
	/* The medium: */
	TGT_INJECT_FAILURE,
	TGT_INJECT_PENDING, /* no answer, ever */
	/* Completion queues, each of them: */
	TGT_INJECT_WRONG_PHASE,
	TGT_INJECT_UNKNOWN_CID,
	TGT_INJECT_TWICE,
	/* The controller, until the disk is reset: */
	TGT_INJECT_FATAL,
	TGT_INJECT_GONE,
	TGT_INJECT_RESET,
};

struct tgt_injection {
	enum tgt_injected what;
	uint32_t ops; /* of the medium: 1u << enum nv_store_op, ored */
	uint32_t times; /* of medium and queues, not 0 */
};

/**
 * tgt_layers_open() - put the engines of @conf on *@store, which is the lowest one at first
 * @fault: the one that faults are injected into, NULL if there is none
 *
 * Return: 0, or a negative errno with the cause in @why; *@store is what there is in either case.
 */
int tgt_layers_open(const struct tgt_bdev_conf *conf, struct nv_store **store,
		    struct nv_store **fault, struct nv_err *why);

/**
 * tgt_disk_inject() - let something go wrong from now on, instead of what was injected before. A
 * controller that has stopped is not brought back by that.
 *
 * Return: 0, -ENOTSUP: the disk has no engine for it.
 */
int tgt_disk_inject(struct tgt_disk *disk, const struct tgt_injection *injection,
		    struct nv_err *why);

#endif
