/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One load on one queue: reads or writes of one size, random or in order, at one depth, for a
 * time. Returns when its last command is answered.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "hist.h"
#include "initiator/ini.h"

struct load {
	const char *name;
	bool is_write;
	bool is_random;
	uint32_t bytes;
	uint16_t depth;
};

/* Where the load runs. */
struct load_disk {
	uint32_t nsid;
	uint32_t block_bytes;
	uint64_t blocks;
	uint32_t incapsule_bytes; /* writes no larger than this go behind the command */
};

struct load_result {
	uint64_t ios;
	uint64_t ns;
	struct hist latency;
};

/* -EREMOTEIO when a command fails. */
int load_run(struct ini_queue *queue, const struct load_disk *disk, const struct load *load,
	     uint64_t ns, struct load_result *result, struct ini_error *error);

#endif
