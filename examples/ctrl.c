/* SPDX-License-Identifier: Apache-2.0 */
/* What a controller says of itself: the commands without which no host comes so far as to do I/O.
 */
#include <nvme/types.h>
#include <stddef.h>
#include <string.h>

#include "example.h"

enum {
	VERSION = 0x10300,
	UNIT = 16, /* of the capsules' sizes */
	MDTS_128K = 5, /* power of two, in pages */
	KEEP_ALIVE_100MS = 10,
	MAX_QUEUES = 8,
	CC_ENABLE = 1,
	CC_SHUTDOWN = 3 << 14,
	CSTS_SHUTDOWN_DONE = 2 << 2,
};

static const uint8_t nguid[16] = "softsta-example"; /* a namespace needs a name that is its own */

static uint16_t get_property(const struct ctrl *ctrl, const struct sqe *sqe, struct cqe *cqe)
{
	switch (sqe->cdw11) {
	case NVME_REG_CAP: /* queue entries, contiguous, 1 s to be ready; NVM command set */
		cqe->dw0 = (EXAMPLE_QUEUE_ENTRIES - 1) | 1 << 16 | 2 << 24;
		cqe->dw1 = 1 << 5;
		return NVME_SC_SUCCESS;
	case NVME_REG_VS:
		cqe->dw0 = VERSION;
		return NVME_SC_SUCCESS;
	case NVME_REG_CC:
		cqe->dw0 = ctrl->cc;
		return NVME_SC_SUCCESS;
	case NVME_REG_CSTS: /* what CC asks for is done at once */
		cqe->dw0 =
			(ctrl->cc & CC_ENABLE) | (ctrl->cc & CC_SHUTDOWN ? CSTS_SHUTDOWN_DONE : 0);
		return NVME_SC_SUCCESS;
	default:
		return NVME_SC_INVALID_FIELD | NVME_SC_DNR;
	}
}

static uint16_t fabrics(struct ctrl *ctrl, const struct sqe *sqe, const uint8_t *data,
			struct cqe *cqe)
{
	const struct nvmf_connect_data *host = (const void *)data;

	switch ((uint8_t)sqe->nsid) {
	case nvme_fabrics_type_connect:
		cqe->dw0 = 1 << 16 | offsetof(struct nvmf_connect_data, subsysnqn); /* is bad */
		if (strncmp(host->subsysnqn, EXAMPLE_NQN, sizeof(host->subsysnqn)))
			return NVME_SCT_CMD_SPECIFIC << 8 | NVME_SC_CONNECT_INVALID_PARAM |
			       NVME_SC_DNR;
		cqe->dw0 = ctrl->cntlid;
		return NVME_SC_SUCCESS;
	case nvme_fabrics_type_property_get:
		return get_property(ctrl, sqe, cqe);
	case nvme_fabrics_type_property_set:
		if (sqe->cdw11 != NVME_REG_CC)
			return NVME_SC_INVALID_FIELD | NVME_SC_DNR;
		ctrl->cc = sqe->cdw12;
		return NVME_SC_SUCCESS;
	default:
		return NVME_SC_INVALID_FIELD | NVME_SC_DNR;
	}
}

static void identify_ctrl(const struct ctrl *ctrl, struct nvme_id_ctrl *id)
{
	memset(id->sn, ' ',
	       sizeof(id->sn) + sizeof(id->mn) + sizeof(id->fr)); /* one after the other */
	memcpy(id->sn, "1", 1);
	memcpy(id->mn, "softsta example", 15);
	memcpy(id->fr, "1", 1);
	id->mdts = MDTS_128K;
	id->cntlid = ctrl->cntlid;
	id->ver = VERSION;
	id->kas = KEEP_ALIVE_100MS;
	id->sqes = 0x66; /* 64 bytes */
	id->cqes = 0x44; /* 16 bytes */
	id->maxcmd = EXAMPLE_QUEUE_ENTRIES;
	id->nn = EXAMPLE_NSID;
	id->vwc = NVME_CTRL_VWC_PRESENT;
	id->sgls = 1 | NVME_CTRL_SGLS_KEYED | NVME_CTRL_SGLS_OFFSET;
	memcpy(id->subnqn, EXAMPLE_NQN, sizeof(EXAMPLE_NQN));
	id->ioccsz = ctrl->capsule_bytes / UNIT;
	id->iorcsz = sizeof(struct cqe) / UNIT;
	id->msdbd = 1;
}

static uint16_t identify(const struct ctrl *ctrl, const struct sqe *sqe, uint8_t *data)
{
	uint8_t cns = (uint8_t)sqe->cdw10;
	struct nvme_id_ns *ns = (void *)data;
	struct nvme_ns_id_desc *name = (void *)data;

	if (cns == NVME_IDENTIFY_CNS_CTRL) {
		identify_ctrl(ctrl, (void *)data);
		return NVME_SC_SUCCESS;
	}
	if (cns == NVME_IDENTIFY_CNS_NS_ACTIVE_LIST) {
		data[0] = sqe->nsid < EXAMPLE_NSID ? EXAMPLE_NSID : 0;
		return NVME_SC_SUCCESS;
	}
	if (sqe->nsid != EXAMPLE_NSID)
		return NVME_SC_INVALID_NS | NVME_SC_DNR;
	if (cns == NVME_IDENTIFY_CNS_NS) {
		ns->nsze = ns->ncap = ns->nuse = ctrl->num_blocks;
		ns->lbaf[0].ds = (uint8_t)__builtin_ctz(EXAMPLE_BLOCK_BYTES);
		memcpy(ns->nguid, nguid, sizeof(nguid));
		return NVME_SC_SUCCESS;
	}
	if (cns == NVME_IDENTIFY_CNS_NS_DESC_LIST) {
		name->nidt = NVME_NIDT_NGUID;
		name->nidl = sizeof(nguid);
		memcpy(name->nid, nguid, sizeof(nguid));
		return NVME_SC_SUCCESS;
	}
	return NVME_SC_INVALID_FIELD | NVME_SC_DNR;
}

static uint16_t set_features(const struct sqe *sqe, struct cqe *cqe)
{
	if ((uint8_t)sqe->cdw10 != NVME_FEAT_FID_NUM_QUEUES)
		return NVME_SC_INVALID_FIELD | NVME_SC_DNR;
	cqe->dw0 = (MAX_QUEUES - 1) | (MAX_QUEUES - 1) << 16; /* granted, whatever was asked for */
	return NVME_SC_SUCCESS;
}

uint16_t ctrl_execute(struct ctrl *ctrl, const struct sqe *sqe, uint8_t *data, struct cqe *cqe)
{
	switch (sqe->opcode) {
	case nvme_admin_fabrics:
		return fabrics(ctrl, sqe, data, cqe);
	case nvme_admin_identify:
		return identify(ctrl, sqe, data);
	case nvme_admin_set_features:
		return set_features(sqe, cqe);
	case nvme_admin_keep_alive:
		return NVME_SC_SUCCESS;
	default:
		return NVME_SC_INVALID_OPCODE | NVME_SC_DNR;
	}
}
