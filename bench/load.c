/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load generator: keeps a queue at its depth and takes the time of every command. See load.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

#define BATCH	    32
#define WAIT_MS	    10000
#define RANDOM_SEED 0x9e3779b97f4a7c15u

struct runner {
	struct ini_queue *queue;
	const struct load_disk *disk;
	const struct load *load;
	struct load_result *result;
	uint64_t *start_ns; /* by tag */
	uint64_t slots; /* places of load->bytes on the disk */
	uint64_t next; /* of sequential loads */
	uint64_t random;
};

static uint64_t pick_slot(struct runner *r)
{
	if (!r->load->is_random)
		return r->next++ % r->slots;
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return r->random % r->slots;
}

static int submit(struct runner *r, uint16_t tag, uint64_t now_ns, struct ini_error *error)
{
	uint32_t blocks = r->load->bytes / r->disk->block_bytes;
	bool in_capsule = r->load->is_write && r->load->bytes <= r->disk->incapsule_bytes;
	struct ini_cmd cmd = {
		.tag = tag,
		.data = in_capsule ? INI_DATA_INCAPSULE : INI_DATA_KEYED,
		.bytes = r->load->bytes,
	};

	ini_sqe_rw(&cmd.sqe, r->load->is_write ? nvme_cmd_write : nvme_cmd_read, r->disk->nsid,
		   pick_slot(r) * blocks, blocks);
	r->start_ns[tag] = now_ns;
	return ini_submit(r->queue, &cmd, error);
}

/* One batch of completions; answered with new commands until @end_ns. */
static int turn(struct runner *r, uint64_t end_ns, struct ini_error *error)
{
	struct ini_done done[BATCH];
	uint64_t now_ns;
	int n, i, rc = 0;

	n = ini_wait(r->queue, done, BATCH, WAIT_MS, error);
	if (n < 0)
		return n;
	now_ns = ini_now_ns();
	for (i = 0; i < n && rc == 0; i++) {
		if (ini_cqe_status(&done[i].cqe)) {
			memset(error, 0, sizeof(*error));
			error->step = r->load->name;
			snprintf(error->text, sizeof(error->text), "%s",
				 ini_nvme_status_str(ini_cqe_status(&done[i].cqe), false));
			return -EREMOTEIO;
		}
		r->result->ios++;
		hist_add(&r->result->latency, now_ns - r->start_ns[done[i].tag]);
		if (now_ns < end_ns)
			rc = submit(r, done[i].tag, now_ns, error);
	}
	return rc;
}

int load_run(struct ini_queue *queue, const struct load_disk *disk, const struct load *load,
	     uint64_t ns, struct load_result *result, struct ini_error *error)
{
	struct runner r = {
		.queue = queue,
		.disk = disk,
		.load = load,
		.result = result,
		.slots = disk->blocks * disk->block_bytes / load->bytes,
		.random = RANDOM_SEED,
	};
	uint64_t start_ns = ini_now_ns();
	uint16_t tag;
	int rc = 0;

	memset(result, 0, sizeof(*result));
	r.start_ns = calloc(load->depth, sizeof(*r.start_ns));
	if (!r.start_ns)
		return -ENOMEM;
	for (tag = 0; tag < load->depth && rc == 0; tag++)
		rc = submit(&r, tag, ini_now_ns(), error);
	while (rc == 0 && ini_outstanding(queue) > 0)
		rc = turn(&r, start_ns + ns, error);
	result->ns = ini_now_ns() - start_ns;
	free(r.start_ns);
	return rc;
}
