/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of the integration tests. See host.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

#define PAGE 4096u

struct tgtproc tgt;

int tgt_setup(void **state)
{
	int rc = tgtproc_init(&tgt, HOST_DISK_BYTES);

	(void)state;
	if (rc == 0)
		rc = tgtproc_start_default(&tgt);
	return rc;
}

int tgt_teardown(void **state)
{
	int status = tgtproc_stop(&tgt, SIGTERM, TGTPROC_STOP_MS);

	(void)state;
	if (status)
		fprintf(stderr, "the target ended with %d: %s\n", status, tgt.log);
	tgtproc_fini(&tgt);
	return status;
}

void host_connect_admin(struct host *host, const struct tgtproc *target)
{
	struct ini_error error = {0};
	__le32 list[1024];

	memset(host, 0, sizeof(*host));
	host->params.addr = target->addr;
	host->params.port = target->port;
	host->params.subnqn = target->nqn ? target->nqn : TGTPROC_NQN;
	assert_ok(ini_open_connect(&host->admin, &host->params, &host->cntlid, &error));
	assert_ok(ini_enable(host->admin, &error));
	assert_ok(ini_identify_ctrl(host->admin, &host->ctrl, &error));
	/* MDTS is a power of two of CAP.MPSMIN pages, which are 4 KiB; IOCCSZ counts 16 bytes. */
	host->max_io_bytes = PAGE << host->ctrl.mdts;
	host->incapsule_bytes = le32toh(host->ctrl.ioccsz) * 16 - sizeof(struct ini_sqe);

	assert_ok(ini_identify(host->admin, 0, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, list, &error));
	host->nsid = le32toh(list[0]);
	if (host->nsid) {
		struct nvme_id_ns ns;

		assert_ok(ini_identify_ns(host->admin, host->nsid, &ns, &error));
		host->block_bytes = 1u << ns.lbaf[ns.flbas & 0xf].ds;
		host->blocks = le64toh(ns.nsze);
	}
}

struct ini_params host_io_params(const struct host *host, uint16_t qid, uint16_t entries,
				 uint32_t slot_bytes)
{
	struct ini_params params = host->params;

	params.qid = qid;
	params.cntlid = host->cntlid;
	params.entries = entries;
	params.slot_bytes = slot_bytes;
	return params;
}

void host_connect(struct host *host, const struct tgtproc *target, uint16_t entries,
		  uint32_t slot_bytes)
{
	struct ini_error error = {0};
	struct ini_params params;

	host_connect_admin(host, target);
	params = host_io_params(host, 1, entries, slot_bytes);
	assert_ok(ini_open_connect(&host->io, &params, NULL, &error));
}

void host_disconnect(struct host *host)
{
	ini_close(host->io);
	ini_close(host->admin);
	host->io = NULL;
	host->admin = NULL;
}

void host_check_served(const struct tgtproc *target)
{
	struct ini_error error = {0};
	uint8_t block[PAGE];
	struct host host;

	host_connect(&host, target, 8, PAGE);
	assert_ok(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, 0, 1, block, &error));
	host_disconnect(&host);
}

int host_rw(struct host *host, uint8_t opcode, enum ini_data data, uint64_t lba, uint32_t blocks,
	    void *buffer, struct ini_error *error)
{
	const struct ini_rw rw = {
		.opcode = opcode,
		.data = data,
		.nsid = host->nsid,
		.lba = lba,
		.blocks = blocks,
		.block_bytes = host->block_bytes,
	};

	return ini_rw(host->io, &rw, buffer, error);
}

/* One 64-bit word of the pattern: splitmix64's mixing of place and seed. */
static uint64_t pattern_word(uint64_t index, uint32_t seed)
{
	uint64_t x = index + ((uint64_t)seed << 40) + 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

void pattern_fill(void *data, size_t bytes, uint64_t offset, uint32_t seed)
{
	uint64_t *words = data;
	size_t i;

	for (i = 0; i < bytes / 8; i++)
		words[i] = pattern_word(offset / 8 + i, seed);
}

bool pattern_is(const void *data, size_t bytes, uint64_t offset, uint32_t seed)
{
	const uint64_t *words = data;
	size_t i;

	for (i = 0; i < bytes / 8; i++)
		if (words[i] != pattern_word(offset / 8 + i, seed))
			return false;
	return true;
}

void disk_read(const struct tgtproc *target, uint64_t offset, void *data, size_t bytes)
{
	int fd = open(target->disk, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, data, bytes, (off_t)offset), bytes);
	close(fd);
}
