/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe commands with their data: Identify, log pages, features and discovery on an admin queue,
 * reads and writes on an I/O queue. All synchronous.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* More records than a health check will ever see; a target may claim any number. */
#define DISCOVERY_RECORDS_MAX 4096
/* The log may change while it is read. */
#define DISCOVERY_TRIES 5

/* A command whose answer is @bytes of data; the step is named for what failed. */
static int fetch(struct ini_queue *queue, struct ini_cmd *cmd, const char *step, void *data,
		 uint32_t bytes, struct ini_error *error)
{
	int rc;

	cmd->tag = INI_TAG_ANY;
	cmd->data = INI_DATA_KEYED;
	cmd->bytes = bytes;
	rc = ini_exec(queue, cmd, NULL, error);
	if (rc == 0)
		memcpy(data, ini_data(queue, cmd->tag), bytes);
	else if (error)
		error->step = step;
	return rc;
}

/* A command without data. */
static int execute(struct ini_queue *queue, struct ini_cmd *cmd, const char *step,
		   struct ini_done *done, struct ini_error *error)
{
	int rc;

	cmd->tag = INI_TAG_ANY;
	cmd->data = INI_DATA_NONE;
	rc = ini_exec(queue, cmd, done, error);
	if (rc && error)
		error->step = step;
	return rc;
}

int ini_identify(struct ini_queue *queue, uint32_t nsid, uint8_t cns, void *data4096,
		 struct ini_error *error)
{
	struct ini_cmd cmd = {0};

	ini_sqe_identify(&cmd.sqe, nsid, cns);
	return fetch(queue, &cmd, "identify", data4096, NVME_IDENTIFY_DATA_SIZE, error);
}

int ini_identify_ctrl(struct ini_queue *queue, struct nvme_id_ctrl *ctrl, struct ini_error *error)
{
	static_assert(sizeof(*ctrl) == NVME_IDENTIFY_DATA_SIZE, "Identify Controller");
	return ini_identify(queue, 0, NVME_IDENTIFY_CNS_CTRL, ctrl, error);
}

int ini_identify_ns(struct ini_queue *queue, uint32_t nsid, struct nvme_id_ns *ns,
		    struct ini_error *error)
{
	static_assert(sizeof(*ns) == NVME_IDENTIFY_DATA_SIZE, "Identify Namespace");
	return ini_identify(queue, nsid, NVME_IDENTIFY_CNS_NS, ns, error);
}

int ini_get_log(struct ini_queue *queue, uint8_t lid, uint32_t nsid, uint64_t offset, void *data,
		uint32_t bytes, struct ini_error *error)
{
	struct ini_cmd cmd = {0};

	if (bytes == 0 || bytes % 4)
		return ini_fail(error, -EINVAL, "get log page", "%u bytes", bytes);
	ini_sqe_get_log(&cmd.sqe, lid, nsid, offset, bytes);
	return fetch(queue, &cmd, "get log page", data, bytes, error);
}

int ini_keep_alive(struct ini_queue *queue, struct ini_error *error)
{
	struct ini_cmd cmd = {.sqe.opcode = nvme_admin_keep_alive};

	return execute(queue, &cmd, "keep alive", NULL, error);
}

int ini_set_queue_count(struct ini_queue *queue, uint16_t *count, struct ini_error *error)
{
	struct ini_cmd cmd = {.sqe.opcode = nvme_admin_set_features};
	uint32_t asked_0b = *count - 1u;
	struct ini_done done;
	uint32_t dw0, sq_0b, cq_0b;
	int rc;

	cmd.sqe.cdw10 = htole32(NVME_FEAT_FID_NUM_QUEUES);
	cmd.sqe.cdw11 = htole32(asked_0b | asked_0b << 16);
	rc = execute(queue, &cmd, "set queue count", &done, error);
	if (rc)
		return rc;
	dw0 = le32toh(done.cqe.dw0);
	sq_0b = dw0 & 0xffff;
	cq_0b = dw0 >> 16;
	*count = (uint16_t)((sq_0b < cq_0b ? sq_0b : cq_0b) + 1);
	return 0;
}

/* ---- discovery ---- */

struct disc_header {
	uint64_t genctr;
	uint64_t numrec;
};

static int read_header(struct ini_queue *queue, struct disc_header *header, struct ini_error *error)
{
	struct nvmf_discovery_log log;
	int rc;

	rc = ini_get_log(queue, NVME_LOG_LID_DISCOVER, 0, 0, &log, sizeof(log), error);
	if (rc)
		return rc;
	header->genctr = le64toh(log.genctr);
	header->numrec = le64toh(log.numrec);
	if (log.recfmt != 0 || header->numrec > DISCOVERY_RECORDS_MAX)
		return ini_fail(error, -EPROTO, "discovery", "%llu records of format %u",
				(unsigned long long)header->numrec, le16toh(log.recfmt));
	return 0;
}

int ini_discover(struct ini_queue *queue, struct nvmf_disc_log_entry **ret, uint32_t *count,
		 uint64_t *genctr, struct ini_error *error)
{
	struct nvmf_disc_log_entry *records = NULL;
	struct disc_header before, after;
	unsigned int tries;
	uint64_t i;
	int rc;

	for (tries = 0; tries < DISCOVERY_TRIES; tries++) {
		rc = read_header(queue, &before, error);
		if (rc)
			return rc;
		records = calloc(before.numrec + 1, sizeof(*records));
		if (!records)
			return ini_fail(error, -ENOMEM, "discovery", "out of memory");
		for (i = 0; i < before.numrec && rc == 0; i++)
			rc = ini_get_log(queue, NVME_LOG_LID_DISCOVER, 0,
					 sizeof(struct nvmf_discovery_log) + i * sizeof(*records),
					 &records[i], sizeof(*records), error);
		if (rc == 0)
			rc = read_header(queue, &after, error);
		if (rc == 0 && after.genctr == before.genctr) {
			*ret = records;
			*count = (uint32_t)before.numrec;
			*genctr = before.genctr;
			return 0;
		}
		free(records);
		if (rc)
			return rc;
	}
	return ini_fail(error, -EAGAIN, "discovery", "the log changed %u times while it was read",
			DISCOVERY_TRIES);
}

/* ---- I/O ---- */

int ini_rw(struct ini_queue *queue, const struct ini_rw *rw, void *data, struct ini_error *error)
{
	uint64_t bytes = (uint64_t)rw->blocks * rw->block_bytes;
	const char *step = rw->opcode == nvme_cmd_read ? "read" : "write";
	struct ini_cmd cmd = {.tag = 0, .data = rw->data, .bytes = (uint32_t)bytes};
	int rc;

	if (bytes > queue->slot_bytes)
		return ini_fail(error, -EMSGSIZE, step, "%llu bytes, room for %u",
				(unsigned long long)bytes, queue->slot_bytes);
	ini_sqe_rw(&cmd.sqe, rw->opcode, rw->nsid, rw->lba, rw->blocks);
	if (rw->opcode != nvme_cmd_read)
		memcpy(ini_data(queue, cmd.tag), data, bytes);
	rc = ini_exec(queue, &cmd, NULL, error);
	if (rc && error)
		error->step = step;
	if (rc == 0 && rw->opcode == nvme_cmd_read)
		memcpy(data, ini_data(queue, cmd.tag), bytes);
	return rc;
}

int ini_flush(struct ini_queue *queue, uint32_t nsid, struct ini_error *error)
{
	struct ini_cmd cmd = {.sqe = {.opcode = nvme_cmd_flush, .nsid = htole32(nsid)}};

	return execute(queue, &cmd, "flush", NULL, error);
}
