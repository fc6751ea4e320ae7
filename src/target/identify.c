/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identify (NVMe Base 2.0, 5.17). What is reported about sizes comes from tgt->limits, which the
 * data path gave, so that a host never learns of a number that is not kept.
 */
#include "target/ctrlr.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

enum {
	IDENTIFY_BYTES = 4096,
	CNS_MASK = 0xff,
	UNIT_BYTES = 16, /* of IOCCSZ, IORCSZ, ICDOFF */
	PAGE_SHIFT_MIN = 12, /* CAP.MPSMIN 0, the unit of MDTS */
	SGLS_ANY_ALIGNMENT = 1, /* SGLs supported, no alignment required */
	ENTRY_SIZE_SQ = 0x66, /* required and largest: 64 bytes */
	ENTRY_SIZE_CQ = 0x44, /* 16 bytes */
	VWC_FLUSH_ONE_NAMESPACE = 2 << 1, /* no Flush to FFFFFFFFh */
	FRMW_ONE_FIXED_SLOT = 1 << 1 | 1,
	OFCS_DISCONNECT = 1 << 0,
	NSATTR_WRITE_PROTECTED = 1 << 0,
	NSTAT_READY = 1 << 0,
	CSI_SHIFT = 24, /* in dword 11 */
};

static_assert(sizeof(struct nvme_id_ctrl) == IDENTIFY_BYTES, "Identify Controller");
static_assert(sizeof(struct nvme_id_ns) == IDENTIFY_BYTES, "Identify Namespace");
static_assert(sizeof(struct nvme_id_ctrl_nvm) == IDENTIFY_BYTES, "Identify Controller, NVM");
static_assert(sizeof(struct nvme_id_independent_id_ns) == IDENTIFY_BYTES, "Identify Namespace");

/* ASCII fields are padded with blanks, not ended. */
static void ascii(char *field, size_t size, const char *text)
{
	size_t len = strnlen(text, size);

	memset(field, ' ', size);
	memcpy(field, text, len);
}

static uint8_t mdts(uint32_t max_io_bytes)
{
	uint8_t shift = 0;

	while (max_io_bytes >> (PAGE_SHIFT_MIN + shift + 1))
		shift++;
	return shift;
}

/* Fields of every controller. */
static void ctrl_common(const struct tgt_ctrlr *ctrlr, struct nvme_id_ctrl *id)
{
	const struct tgt_limits *limits = &ctrlr->tgt->limits;
	uint32_t sgls = SGLS_ANY_ALIGNMENT | NVME_CTRL_SGLS_KEYED;

	if (limits->ioccsz_bytes > TGT_SQE_BYTES)
		sgls |= NVME_CTRL_SGLS_OFFSET;
	ascii(id->sn, sizeof(id->sn), ctrlr->subsys->serial);
	ascii(id->mn, sizeof(id->mn), ctrlr->subsys->model);
	ascii(id->fr, sizeof(id->fr), SOFTSTA_VERSION);
	id->mdts = mdts(limits->max_io_bytes);
	id->cntlid = htole16(ctrlr->cntlid);
	id->ver = htole32(TGT_VS);
	id->ctratt = htole32(NVME_CTRL_CTRATT_128_ID);
	id->aerl = TGT_MAX_AER - 1;
	id->lpa = NVME_CTRL_LPA_EXTENDED;
	id->elpe = TGT_ERROR_LOG_ENTRIES - 1;
	id->kas = htole16(TGT_KAS);
	id->maxcmd = htole16(limits->io_queue_entries);
	id->sgls = htole32(sgls);
	snprintf(id->subnqn, sizeof(id->subnqn), "%s", ctrlr->subsys->nqn);
	id->ioccsz = htole32(limits->ioccsz_bytes / UNIT_BYTES);
	id->iorcsz = htole32(limits->iorcsz_bytes / UNIT_BYTES);
	id->icdoff = htole16((uint16_t)(limits->icdoff_bytes / UNIT_BYTES));
	id->msdbd = 1;
}

static void ctrl_discovery(struct nvme_id_ctrl *id)
{
	id->cntrltype = NVME_CTRL_CNTRLTYPE_DISCOVERY;
	id->oaes = htole32((uint32_t)NVME_CTRL_OAES_DL);
	id->dctype = NVME_CTRL_DCTYPE_DDC;
}

static void ctrl_io(const struct tgt_ctrlr *ctrlr, struct nvme_id_ctrl *id)
{
	const struct tgt_subsys *subsys = ctrlr->subsys;

	id->cntrltype = NVME_CTRL_CNTRLTYPE_IO;
	id->ctratt |= htole32(NVME_CTRL_CTRATT_TBKAS);
	id->cmic = NVME_CTRL_CMIC_MULTI_CTRL | NVME_CTRL_CMIC_MULTI_PORT;
	id->oaes = htole32(NVME_CTRL_OAES_NA);
	id->acl = TGT_MAX_ABORTS - 1;
	id->frmw = FRMW_ONE_FIXED_SLOT;
	id->lpa |= NVME_CTRL_LPA_CMD_EFFECTS | NVME_CTRL_LPA_SMART_PER_NS;
	id->sqes = ENTRY_SIZE_SQ;
	id->cqes = ENTRY_SIZE_CQ;
	id->nn = htole32(subsys->nn);
	id->oncs = htole16(subsys->oncs);
	id->awun = htole16(subsys->awun);
	id->awupf = htole16(subsys->awupf);
	id->acwu = htole16(subsys->acwu);
	id->vwc = VWC_FLUSH_ONE_NAMESPACE | (subsys->write_cache ? NVME_CTRL_VWC_PRESENT : 0);
	id->ofcs = htole16(OFCS_DISCONNECT);
}

static tgt_status_t identify_ctrl(struct tgt_req *req)
{
	const struct tgt_ctrlr *ctrlr = req->queue->ctrlr;
	struct nvme_id_ctrl *id = (void *)req->data;

	ctrl_common(ctrlr, id);
	if (ctrlr->subsys->is_discovery)
		ctrl_discovery(id);
	else
		ctrl_io(ctrlr, id);
	return TGT_SUCCESS;
}

/* An id outside 1..NN is an error; one inside without a namespace gives zeroes. */
static tgt_status_t ns_lookup(const struct tgt_req *req, const struct tgt_ns **ns)
{
	const struct tgt_subsys *subsys = req->queue->ctrlr->subsys;

	if (!req->cmd.nsid || req->cmd.nsid > subsys->nn)
		return TGT_SC_DNR(GENERIC, INVALID_NS);
	*ns = tgt_ns_get(subsys, req->cmd.nsid);
	return TGT_SUCCESS;
}

static void ns_hints(const struct tgt_ns_hints *hints, struct nvme_id_ns *id)
{
	id->nsfeat = hints->nsfeat;
	id->dlfeat = hints->dlfeat;
	id->nawun = htole16(hints->nawun);
	id->nawupf = htole16(hints->nawupf);
	id->nacwu = htole16(hints->nacwu);
	id->nabsn = htole16(hints->nabsn);
	id->nabo = htole16(hints->nabo);
	id->nabspf = htole16(hints->nabspf);
	id->noiob = htole16(hints->noiob);
	id->npwg = htole16(hints->npwg);
	id->npwa = htole16(hints->npwa);
	id->npdg = htole16(hints->npdg);
	id->npda = htole16(hints->npda);
	id->nows = htole16(hints->nows);
}

static tgt_status_t identify_ns(struct tgt_req *req)
{
	struct nvme_id_ns *id = (void *)req->data;
	const struct tgt_ns *ns;
	tgt_status_t status = ns_lookup(req, &ns);

	if (status || !ns)
		return status;
	id->nsze = id->ncap = id->nuse = htole64(ns->blocks);
	id->nmic = NVME_NS_NMIC_SHARED;
	id->nsattr = ns->is_read_only ? NSATTR_WRITE_PROTECTED : 0;
	memcpy(id->nguid, ns->nguid, sizeof(id->nguid));
	memcpy(id->eui64, ns->eui64, sizeof(id->eui64));
	id->lbaf[0].ds = (uint8_t)__builtin_ctz(ns->block_bytes);
	ns_hints(&ns->hints, id);
	return TGT_SUCCESS;
}

static tgt_status_t identify_ns_independent(struct tgt_req *req)
{
	struct nvme_id_independent_id_ns *id = (void *)req->data;
	const struct tgt_ns *ns;
	tgt_status_t status = ns_lookup(req, &ns);

	if (status || !ns)
		return status;
	id->nmic = NVME_NS_NMIC_SHARED;
	id->nsattr = ns->is_read_only ? NSATTR_WRITE_PROTECTED : 0;
	id->nstat = NSTAT_READY;
	return TGT_SUCCESS;
}

static tgt_status_t identify_active_list(struct tgt_req *req)
{
	const struct tgt_subsys *subsys = req->queue->ctrlr->subsys;
	uint32_t nsid, n = 0;

	if (req->cmd.nsid >= NVME_NSID_ALL - 1)
		return TGT_SC_DNR(GENERIC, INVALID_NS);
	for (nsid = req->cmd.nsid + 1; nsid <= subsys->nn && n < IDENTIFY_BYTES / 4; nsid++) {
		uint32_t le = htole32(nsid);

		if (tgt_ns_get(subsys, nsid))
			memcpy(req->data + 4 * n++, &le, sizeof(le));
	}
	return TGT_SUCCESS;
}

static uint8_t *descriptor(uint8_t *at, uint8_t type, const uint8_t *id, uint8_t bytes)
{
	struct nvme_ns_id_desc *desc = (void *)at;

	desc->nidt = type;
	desc->nidl = bytes;
	memcpy(desc->nid, id, bytes);
	return at + sizeof(*desc) + bytes;
}

static bool is_zero(const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static tgt_status_t identify_ns_descs(struct tgt_req *req)
{
	static const uint8_t csi = NVME_CSI_NVM;
	const struct tgt_ns *ns;
	uint8_t *at = req->data;
	tgt_status_t status = ns_lookup(req, &ns);

	if (!status && !ns)
		status = TGT_SC_DNR(GENERIC, INVALID_NS);
	if (status)
		return status;
	if (!is_zero(ns->eui64, sizeof(ns->eui64)))
		at = descriptor(at, NVME_NIDT_EUI64, ns->eui64, NVME_NIDT_EUI64_LEN);
	if (!is_zero(ns->nguid, sizeof(ns->nguid)))
		at = descriptor(at, NVME_NIDT_NGUID, ns->nguid, NVME_NIDT_NGUID_LEN);
	if (!is_zero(ns->uuid, sizeof(ns->uuid)))
		at = descriptor(at, NVME_NIDT_UUID, ns->uuid, NVME_NIDT_UUID_LEN);
	descriptor(at, NVME_NIDT_CSI, &csi, NVME_NIDT_CSI_LEN);
	return TGT_SUCCESS;
}

/* The NVM command set's own data has nothing to add to zeroes: no limit, no protection. */
static tgt_status_t identify_csi_ns(struct tgt_req *req)
{
	const struct tgt_ns *ns;

	return ns_lookup(req, &ns);
}

static tgt_status_t identify_command_sets(struct tgt_req *req)
{
	req->data[0] = 1 << NVME_CSI_NVM; /* combination 0: the NVM command set alone */
	return TGT_SUCCESS;
}

static tgt_status_t identify_csi(struct tgt_req *req, uint8_t cns)
{
	if (req->cmd.cdw11 >> CSI_SHIFT != NVME_CSI_NVM)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	switch (cns) {
	case NVME_IDENTIFY_CNS_CSI_NS:
		return identify_csi_ns(req);
	case NVME_IDENTIFY_CNS_CSI_NS_ACTIVE_LIST:
		return identify_active_list(req);
	default:
		return TGT_SUCCESS; /* Identify Controller for the NVM command set */
	}
}

tgt_status_t tgt_identify_exec(struct tgt_req *req)
{
	uint8_t cns = req->cmd.cdw10 & CNS_MASK;
	tgt_status_t status = tgt_expect_data(req, IDENTIFY_BYTES);

	if (status)
		return status;
	if (cns == NVME_IDENTIFY_CNS_CTRL)
		return identify_ctrl(req);
	if (req->queue->ctrlr->subsys->is_discovery)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	switch (cns) {
	case NVME_IDENTIFY_CNS_NS:
		return identify_ns(req);
	case NVME_IDENTIFY_CNS_NS_ACTIVE_LIST:
		return identify_active_list(req);
	case NVME_IDENTIFY_CNS_NS_DESC_LIST:
		return identify_ns_descs(req);
	case NVME_IDENTIFY_CNS_CSI_NS:
	case NVME_IDENTIFY_CNS_CSI_CTRL:
	case NVME_IDENTIFY_CNS_CSI_NS_ACTIVE_LIST:
		return identify_csi(req, cns);
	case NVME_IDENTIFY_CNS_CSI_INDEPENDENT_ID_NS:
		return identify_ns_independent(req);
	case NVME_IDENTIFY_CNS_COMMAND_SET_STRUCTURE:
		return identify_command_sets(req);
	default:
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	}
}
