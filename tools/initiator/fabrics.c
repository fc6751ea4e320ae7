/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fabrics commands: Connect, properties, and what is made of them, enabling and shutting down a
 * controller. Also who we say we are.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nvme/fabrics.h>

#include "queue.h"

/* How often CSTS is looked at. */
#define CSTS_POLL_NS 1000000
/* A shutdown may take long on a real drive; a health check does not wait for that. */
#define SHUTDOWN_MS 5000

/* CC: EN, IOSQES 6 (64 bytes), IOCQES 4 (16 bytes), MPS 0, CSS NVM; base 2.0 clause 3.1.3.5. */
#define CC_ENABLE   0x00460001u
#define CC_SHN_MASK 0x0000c000u
#define CC_SHN_NORM 0x00004000u

#define CSTS_RDY	0x1u
#define CSTS_CFS	0x2u
#define CSTS_SHST_MASK	0xcu
#define CSTS_SHST_CMPLT 0x8u

/* The step that failed, put over what a command said of itself. */
static int at_step(struct ini_error *error, const char *step, int rc)
{
	if (rc && error && error->err == -EREMOTEIO)
		error->step = step;
	return rc;
}

/* ---- identity ---- */

static bool parse_uuid(const char *text, uint8_t uuid[16])
{
	unsigned int i, byte;

	for (i = 0; i < 16; i++) {
		if (*text == '-')
			text++;
		if (sscanf(text, "%2x", &byte) != 1)
			return false;
		uuid[i] = (uint8_t)byte;
		text += 2;
	}
	return *text == '\0';
}

/* All queues of a process must say the same, and libnvme may draw by lot. */
static struct {
	pthread_once_t once;
	char nqn[NVME_NQN_LENGTH];
	uint8_t id[16];
} identity = {.once = PTHREAD_ONCE_INIT};

static void find_identity(void)
{
	char *nqn = nvmf_hostnqn_from_file();
	char *id = nvmf_hostid_from_file();
	const char *uuid;

	if (!nqn)
		nqn = nvmf_hostnqn_generate();
	snprintf(identity.nqn, NVME_NQN_LENGTH, "%s",
		 nqn ? nqn
		     : "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-000000000001");
	uuid = strstr(identity.nqn, "uuid:");
	if (!(id && parse_uuid(id, identity.id)) && !(uuid && parse_uuid(uuid + 5, identity.id)))
		identity.id[15] = 1;
	free(nqn);
	free(id);
}

void ini_host_identity(char hostnqn[NVME_NQN_LENGTH], uint8_t hostid[16])
{
	(void)pthread_once(&identity.once, find_identity);
	memcpy(hostnqn, identity.nqn, sizeof(identity.nqn));
	memcpy(hostid, identity.id, sizeof(identity.id));
}

/* ---- Connect ---- */

/* Which parameter a Connect Invalid Parameters means, base 2.0 figure 380. */
static const char *bad_parameter(uint32_t dw0)
{
	bool is_data = dw0 >> 16 & 1;
	uint16_t offset = dw0 & 0xffff;

	if (is_data && offset == INI_CONNECT_OFF_SUBNQN)
		return "subsystem NQN";
	if (is_data && offset == INI_CONNECT_OFF_HOSTNQN)
		return "host NQN";
	if (is_data && offset == INI_CONNECT_OFF_CNTLID)
		return "controller id";
	if (!is_data && offset == INI_CONNECT_OFF_QID)
		return "queue id";
	if (!is_data && offset == INI_CONNECT_OFF_SQSIZE)
		return "queue size";
	return "unnamed parameter";
}

static void explain_connect(struct ini_error *error)
{
	size_t len = strlen(error->text);
	uint16_t sc = error->nvme_status & 0x7ff;

	if (sc == (NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_CONNECT_INVALID_PARAM))
		(void)snprintf(error->text + len, sizeof(error->text) - len, ": %s",
			       bad_parameter(error->nvme_dw0));
}

int ini_connect(struct ini_queue *queue, uint16_t *cntlid, struct ini_error *error)
{
	const char *step = queue->qid ? "connect I/O queue" : "connect admin queue";
	struct ini_cmd cmd = {
		.tag = 0,
		.data = queue->qid ? INI_DATA_INCAPSULE : INI_DATA_KEYED,
		.bytes = sizeof(struct nvmf_connect_data),
	};
	struct ini_done done;
	uint32_t dw0;
	int rc;

	ini_sqe_connect(&cmd.sqe, queue->qid, queue->entries - 1, queue->kato_ms);
	ini_connect_data(ini_data(queue, cmd.tag), queue->hostid, queue->cntlid, queue->subnqn,
			 queue->hostnqn);
	rc = ini_exec(queue, &cmd, &done, error);
	if (rc) {
		if (rc == -EREMOTEIO && error)
			explain_connect(error);
		return at_step(error, step, rc);
	}
	dw0 = le32toh(done.cqe.dw0);
	if (dw0 >> 16)
		return ini_fail(error, -EACCES, step, "the target asks for authentication");
	if (cntlid)
		*cntlid = (uint16_t)dw0;
	return 0;
}

int ini_open_connect(struct ini_queue **ret, const struct ini_params *params, uint16_t *cntlid,
		     struct ini_error *error)
{
	struct ini_queue *queue;
	int rc;

	rc = ini_open(&queue, params, error);
	if (rc)
		return rc;
	rc = ini_connect(queue, cntlid, error);
	if (rc) {
		ini_close(queue);
		return rc;
	}
	*ret = queue;
	return 0;
}

/* ---- properties ---- */

int ini_property_get(struct ini_queue *queue, uint32_t offset, bool is_64bit, uint64_t *value,
		     struct ini_error *error)
{
	struct ini_cmd cmd = {.tag = INI_TAG_ANY};
	struct ini_done done;
	int rc;

	ini_sqe_property_get(&cmd.sqe, offset, is_64bit);
	rc = ini_exec(queue, &cmd, &done, error);
	if (rc)
		return at_step(error, "property get", rc);
	*value = le32toh(done.cqe.dw0);
	if (is_64bit)
		*value |= (uint64_t)le32toh(done.cqe.dw1) << 32;
	return 0;
}

int ini_property_set(struct ini_queue *queue, uint32_t offset, bool is_64bit, uint64_t value,
		     struct ini_error *error)
{
	struct ini_cmd cmd = {.tag = INI_TAG_ANY};

	ini_sqe_property_set(&cmd.sqe, offset, is_64bit, value);
	return at_step(error, "property set", ini_exec(queue, &cmd, NULL, error));
}

/* Wait until (CSTS & mask) == want. */
static int wait_csts(struct ini_queue *queue, uint32_t mask, uint32_t want, int timeout_ms,
		     const char *step, struct ini_error *error)
{
	uint64_t deadline_ns = ini_deadline_ns(timeout_ms);
	const struct timespec pause = {.tv_nsec = CSTS_POLL_NS};
	uint64_t csts;
	int rc;

	for (;;) {
		rc = ini_property_get(queue, NVME_REG_CSTS, false, &csts, error);
		if (rc)
			return rc;
		if ((csts & mask) == want)
			return 0;
		if (csts & CSTS_CFS)
			return ini_fail(error, -EIO, step, "controller fatal status");
		if (ini_now_ns() >= deadline_ns)
			return ini_fail(error, -ETIMEDOUT, step, "CSTS is 0x%x after %d ms",
					(unsigned int)csts, timeout_ms);
		nanosleep(&pause, NULL);
	}
}

int ini_enable(struct ini_queue *queue, struct ini_error *error)
{
	uint64_t cap;
	int rc;

	rc = ini_property_get(queue, NVME_REG_CAP, true, &cap, error);
	if (rc)
		return rc;
	rc = ini_property_set(queue, NVME_REG_CC, false, CC_ENABLE, error);
	if (rc)
		return rc;
	/* CAP.TO counts 500 ms. */
	return wait_csts(queue, CSTS_RDY, CSTS_RDY, (int)((cap >> 24 & 0xff) + 1) * 500,
			 "enable controller", error);
}

int ini_shutdown(struct ini_queue *queue, struct ini_error *error)
{
	uint64_t cc;
	int rc;

	rc = ini_property_get(queue, NVME_REG_CC, false, &cc, error);
	if (rc)
		return rc;
	rc = ini_property_set(queue, NVME_REG_CC, false,
			      (cc & ~(uint64_t)CC_SHN_MASK) | CC_SHN_NORM, error);
	if (rc)
		return rc;
	return wait_csts(queue, CSTS_SHST_MASK, CSTS_SHST_CMPLT, SHUTDOWN_MS,
			 "shut down controller", error);
}
