/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the integration tests share on the host's side: a controller with its admin queue and one
 * I/O queue, data that can be told apart, and assertions that print what the initiator says.
 * Include it after cmocka.
 */
#ifndef TESTS_INTEGRATION_HOST_H
#define TESTS_INTEGRATION_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "initiator/ini.h"
#include "tgt.h"

#define MIB		(1024u * 1024u)
#define HOST_DISK_BYTES (64u * MIB)
#define HOST_SLOT_BYTES (2u * MIB)

struct host {
	struct ini_params params; /* address, port and subsystem of the target */
	struct ini_queue *admin;
	struct ini_queue *io;
	struct nvme_id_ctrl ctrl;
	uint16_t cntlid;
	uint32_t nsid;
	uint32_t block_bytes;
	uint64_t blocks;
	uint32_t max_io_bytes; /* from MDTS */
	uint32_t incapsule_bytes; /* from IOCCSZ */
};

/* The target of a test program that needs just one: set up and torn down with the group. */
extern struct tgtproc tgt;
int tgt_setup(void **state);
/* SIGTERM; the test fails if the target does not end with 0. */
int tgt_teardown(void **state);

/* The call succeeded; if not, say step and reason. */
#define assert_ok(call)                                                                           \
	do {                                                                                      \
		if (call)                                                                         \
			fail_msg("%s: %s: %s", #call, error.step ? error.step : "?", error.text); \
	} while (0)

/* The call failed with exactly this NVMe status: one of the forms below. */
#define assert_status(call, want)                                                             \
	do {                                                                                  \
		int rc_ = (call);                                                             \
		if (rc_ != -EREMOTEIO || error.nvme_status != (want))                         \
			fail_msg("%s: %d, %s: %s; wanted status 0x%x", #call, rc_,            \
				 error.step ? error.step : "?", rc_ ? error.text : "success", \
				 (unsigned int)(want));                                       \
	} while (0)

/* NVME_SC_* with its type and "do not retry", for the same command would fail again. */
#define GENERIC(sc)  ((sc) | NVME_SC_DNR)
#define SPECIFIC(sc) (NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | (sc) | NVME_SC_DNR)

/* A host of @target's subsystem, its controller enabled and identified; no I/O queue yet. */
void host_connect_admin(struct host *host, const struct tgtproc *target);
/* The same with I/O queue 1 of @entries (a count) and buffers of @slot_bytes. */
void host_connect(struct host *host, const struct tgtproc *target, uint16_t entries,
		  uint32_t slot_bytes);
/* Parameters for another queue of the same controller. */
struct ini_params host_io_params(const struct host *host, uint16_t qid, uint16_t entries,
				 uint32_t slot_bytes);
void host_disconnect(struct host *host);

/* A whole host comes, reads a block and goes: the target still serves. */
void host_check_served(const struct tgtproc *target);

/* Content that depends on its place and on @seed, and the check of it. */
void pattern_fill(void *data, size_t bytes, uint64_t offset, uint32_t seed);
bool pattern_is(const void *data, size_t bytes, uint64_t offset, uint32_t seed);
/* Bytes of the target's disk file, read behind its back. */
void disk_read(const struct tgtproc *target, uint64_t offset, void *data, size_t bytes);

/* One read or write of @blocks at @lba by the way of @data. */
int host_rw(struct host *host, uint8_t opcode, enum ini_data data, uint64_t lba, uint32_t blocks,
	    void *buffer, struct ini_error *error);

#endif
