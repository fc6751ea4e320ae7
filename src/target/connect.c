/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Connect command (NVMe Base 2.0, 6.3): who may have a controller, and which queue belongs to
 * which. A refusal names the offending field in the response, as the specification wants it.
 */
#include "target/ctrlr.h"

#include <assert.h>
#include <string.h>

#include "target/log.h"
#include "util/byteorder.h"

/* Where a refusal points to: dword 0 of the response, IATTR at bit 16. */
enum {
	AT_DATA = 1 << 16,
	AT_CMD_QID = 42,
	AT_CMD_SQSIZE = 44,
	AT_DATA_CNTLID = AT_DATA | 16,
	AT_DATA_SUBNQN = AT_DATA | 256,
	AT_DATA_HOSTNQN = AT_DATA | 512,
};

enum {
	CATTR_NO_SQ_FLOW = 1 << 2,
	CNTLID_DYNAMIC = 0xffff,
};

static_assert(sizeof(struct nvmf_connect_data) == 1024, "Connect data");
static_assert(offsetof(struct nvmf_connect_data, cntlid) == 16, "Connect data");
static_assert(offsetof(struct nvmf_connect_data, subsysnqn) == 256, "Connect data");
static_assert(offsetof(struct nvmf_connect_data, hostnqn) == 512, "Connect data");

/* The command and its data in host order, names known to end. */
struct connect {
	uint16_t recfmt, qid, sqsize_0b;
	uint8_t cattr;
	uint32_t kato_ms;
	uint8_t hostid[16];
	uint16_t cntlid;
	char subnqn[TGT_NQN_TEXT];
	char hostnqn[TGT_NQN_TEXT];
};

static tgt_status_t refuse(struct tgt_req *req, uint32_t where)
{
	req->result = where;
	return TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_PARAM);
}

/* A name field of 256 bytes: ended, not empty, not longer than a name may be. */
static bool name_take(char out[TGT_NQN_TEXT], const char field[NVME_NQN_LENGTH])
{
	size_t len = strnlen(field, NVME_NQN_LENGTH);

	if (!len || len >= TGT_NQN_TEXT)
		return false;
	memcpy(out, field, len);
	out[len] = '\0';
	return true;
}

static tgt_status_t parse(struct tgt_req *req, struct connect *c)
{
	const struct nvmf_connect_data *data = (const void *)req->data;
	tgt_status_t status = tgt_expect_data(req, sizeof(*data));

	if (status)
		return status;
	c->recfmt = (uint16_t)req->cmd.cdw10;
	c->qid = (uint16_t)(req->cmd.cdw10 >> 16);
	c->sqsize_0b = (uint16_t)req->cmd.cdw11;
	c->cattr = (uint8_t)(req->cmd.cdw11 >> 16);
	c->kato_ms = req->cmd.cdw12;
	if (c->recfmt)
		return TGT_SC_DNR(CMD_SPECIFIC, CONNECT_FORMAT);
	memcpy(c->hostid, data->hostid, sizeof(c->hostid));
	c->cntlid = util_get_le16(req->data + offsetof(struct nvmf_connect_data, cntlid));
	if (!name_take(c->subnqn, data->subsysnqn))
		return refuse(req, AT_DATA_SUBNQN);
	if (!name_take(c->hostnqn, data->hostnqn))
		return refuse(req, AT_DATA_HOSTNQN);
	if (c->qid != req->queue->qid)
		return refuse(req, AT_CMD_QID);
	return TGT_SUCCESS;
}

static void log_refused_host(const struct tgt_req *req, const struct connect *c)
{
	struct tgt *tgt = req->queue->tgt;
	char host[TGT_QUOTE_TEXT];

	tgt_quote(c->hostnqn, sizeof(c->hostnqn), host);
	if (tgt->has_config_file)
		tgt_log_limited(tgt, TGT_LOG_REFUSED,
				"host %s at %s refused: subsystem %s does not allow it"
				" (nvmf_subsystem_add_host in the configuration file would)",
				host, req->queue->peer_addr, c->subnqn);
	else
		tgt_log_limited(tgt, TGT_LOG_REFUSED,
				"host %s at %s refused: subsystem %s does not allow it"
				" (--allow-host %s would, or --allow-any-host)",
				host, req->queue->peer_addr, c->subnqn, host);
}

/* The one place where Connect's zero-based size becomes the count that everything else uses. */
static bool sq_entries(const struct connect *c, uint16_t max_entries, uint16_t *entries)
{
	if (c->sqsize_0b == 0 || c->sqsize_0b > max_entries - 1)
		return false;
	*entries = (uint16_t)(c->sqsize_0b + 1);
	return true;
}

static void queue_connected(struct tgt_queue *queue, const struct connect *c, uint16_t entries)
{
	struct tgt *tgt = queue->tgt;
	size_t i;

	queue->sq_entries = entries;
	queue->sq_head = 0;
	queue->no_sq_flow = c->cattr & CATTR_NO_SQ_FLOW;
	queue->deadline_ms = UINT64_MAX;
	for (i = 0; i < tgt->n_waiting; i++)
		if (tgt->waiting[i] == queue)
			tgt->waiting[i--] = tgt->waiting[--tgt->n_waiting];
}

static tgt_status_t connect_admin(struct tgt_req *req, const struct connect *c)
{
	struct tgt_queue *queue = req->queue;
	struct tgt_subsys *subsys;
	struct tgt_ctrlr *ctrlr;
	char host[TGT_QUOTE_TEXT];
	uint16_t entries;

	if (c->cntlid != CNTLID_DYNAMIC)
		return refuse(req, AT_DATA_CNTLID);
	subsys = tgt_subsys_find(queue->tgt, queue->port, c->subnqn);
	if (!subsys) {
		tgt_quote(c->subnqn, sizeof(c->subnqn), host);
		tgt_log_limited(queue->tgt, TGT_LOG_REFUSED,
				"host at %s asks for a subsystem %s that is not here",
				queue->peer_addr, host);
		return refuse(req, AT_DATA_SUBNQN);
	}
	if (!tgt_subsys_allows(subsys, c->hostnqn)) {
		log_refused_host(req, c);
		/* Dword 0 is reserved here: only Invalid Parameters says where. */
		return TGT_SC_DNR(CMD_SPECIFIC, CONNECT_INVALID_HOST);
	}
	if (!sq_entries(c, queue->max_entries, &entries))
		return refuse(req, AT_CMD_SQSIZE);
	ctrlr = queue->tgt->is_stopping ? NULL : tgt_ctrlr_create(queue, subsys);
	if (!ctrlr)
		return TGT_SC(CMD_SPECIFIC, CONNECT_CTRL_BUSY);
	memcpy(ctrlr->hostid, c->hostid, sizeof(ctrlr->hostid));
	memcpy(ctrlr->hostnqn, c->hostnqn, sizeof(ctrlr->hostnqn));
	queue_connected(queue, c, entries);
	tgt_keepalive_set(ctrlr, c->kato_ms);
	req->result = ctrlr->cntlid;
	tgt_log("host %s connected from %s (controller %u, subsystem %s)",
		tgt_quote(c->hostnqn, sizeof(c->hostnqn), host), queue->peer_addr, ctrlr->cntlid,
		subsys->nqn);
	return TGT_SUCCESS;
}

/* The controller that an I/O queue wants to join: the id has to be that of the same host. */
static struct tgt_ctrlr *join_find(struct tgt_req *req, const struct connect *c,
				   tgt_status_t *status)
{
	struct tgt_queue *queue = req->queue;
	struct tgt_subsys *subsys = tgt_subsys_find(queue->tgt, queue->port, c->subnqn);
	struct tgt_ctrlr *ctrlr;

	if (!subsys) {
		*status = refuse(req, AT_DATA_SUBNQN);
		return NULL;
	}
	ctrlr = tgt_ctrlr_find(queue->tgt, subsys, c->cntlid);
	if (!ctrlr || strcmp(ctrlr->hostnqn, c->hostnqn) ||
	    memcmp(ctrlr->hostid, c->hostid, sizeof(c->hostid))) {
		*status = refuse(req, AT_DATA_CNTLID);
		return NULL;
	}
	if (subsys->is_discovery || queue->qid > queue->tgt->limits.max_io_queues) {
		*status = refuse(req, AT_CMD_QID);
		return NULL;
	}
	if (!tgt_ctrlr_is_ready(ctrlr)) {
		*status = TGT_SC_DNR(GENERIC, CMD_SEQ_ERROR);
		return NULL;
	}
	return ctrlr;
}

static tgt_status_t connect_io(struct tgt_req *req, const struct connect *c)
{
	struct tgt_queue *queue = req->queue;
	struct tgt_ctrlr *ctrlr;
	tgt_status_t status;
	uint16_t entries;

	ctrlr = join_find(req, c, &status);
	if (!ctrlr)
		return status;
	if (!sq_entries(c, queue->max_entries, &entries))
		return refuse(req, AT_CMD_SQSIZE);
	if (ctrlr->queues[queue->qid]) {
		/*
		 * A host that reconnects quickly is here before its old connection has ended on
		 * our side. Wait for that instead of telling it that the id is taken.
		 */
		if (!queue->parked)
			queue->deadline_ms = queue->tgt->now_ms + TGT_PARK_TIMEOUT_MS;
		queue->parked = req;
		return TGT_PENDING;
	}
	if (queue->ops->bind(queue, ctrlr->subsys, entries))
		return TGT_SC(GENERIC, INTERNAL);
	queue_connected(queue, c, entries);
	tgt_ctrlr_attach(ctrlr, queue);
	req->result = ctrlr->cntlid;
	return TGT_SUCCESS;
}

tgt_status_t tgt_connect_exec(struct tgt_req *req)
{
	struct connect c;
	tgt_status_t status = parse(req, &c);

	if (status)
		return status;
	return c.qid == 0 ? connect_admin(req, &c) : connect_io(req, &c);
}

void tgt_connect_retry(struct tgt_req *req)
{
	tgt_status_t status = tgt_connect_exec(req);

	if (status == TGT_PENDING)
		return;
	req->queue->parked = NULL;
	tgt_complete(req, status);
}
