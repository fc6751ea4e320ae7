/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identify: NVMe Base 2.0, 5.17. What is announced here is what the other files do; their limits
 * come from limits.h, not from numbers of its own.
 */
#include "nvme/soft/priv.h"

#include <string.h>

#define CSI_NVM 0

static_assert(sizeof(struct nvme_id_ctrl) == NV_IDENTIFY_BYTES,
	      "Identify Controller is 4096 bytes");
static_assert(sizeof(struct nvme_id_ns) == NV_IDENTIFY_BYTES, "Identify Namespace is 4096 bytes");
static_assert(NV_SOFT_MDTS_BYTES == NV_PAGE_SIZE << 8, "MDTS is announced as 8");

static void put_text(char *dst, size_t len, const char *src)
{
	memset(dst, ' ', len);
	memcpy(dst, src, strnlen(src, len));
}

static uint16_t identify_ctrl(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	struct nvme_id_ctrl id = {0};

	put_text(id.sn, sizeof(id.sn), soft->serial);
	put_text(id.mn, sizeof(id.mn), soft->model);
	put_text(id.fr, sizeof(id.fr), NV_SOFT_FIRMWARE);
	id.mdts = 8;
	id.cntlid = htole16(soft->cntlid);
	id.ver = htole32(NV_SOFT_VERSION);
	id.rtd3e = htole32(10 * 1000 * 1000); /* a shutdown may flush a large page cache */
	id.oaes = htole32(NVME_CTRL_OAES_NA);
	id.cntrltype = NVME_CTRL_CNTRLTYPE_IO;
	id.acl = 3; /* 0's based; any number is fine, an Abort never waits */
	id.aerl = NV_SOFT_MAX_AER - 1;
	id.frmw = 1 | 1 << 1; /* one slot, read-only */
	id.lpa = NVME_CTRL_LPA_CMD_EFFECTS | NVME_CTRL_LPA_EXTENDED;
	id.elpe = NV_SOFT_ERROR_LOG_ENTRIES - 1;
	id.wctemp = htole16(343);
	id.cctemp = htole16(353);
	id.sqes = NV_SQE_SHIFT | NV_SQE_SHIFT << 4;
	id.cqes = NV_CQE_SHIFT | NV_CQE_SHIFT << 4;
	id.nn = htole32(NV_SOFT_MAX_NS);
	id.oncs =
		htole16(NVME_CTRL_ONCS_COMPARE | NVME_CTRL_ONCS_DSM | NVME_CTRL_ONCS_WRITE_ZEROES |
			NVME_CTRL_ONCS_SAVE_FEATURES | NVME_CTRL_ONCS_VERIFY);
	/* Bits 2:1 = 10b: no Flush of all namespaces at once. */
	id.vwc = 2 << 1 | (nv_soft_has_write_cache(soft) ? NVME_CTRL_VWC_PRESENT : 0);
	memcpy(id.subnqn, soft->subnqn, strlen(soft->subnqn));
	return nv_soft_admin_reply(soft, sqe, &id, sizeof(id), sizeof(id));
}

/* @bytes in blocks, 0's based; what is not known or does not fit is @otherwise. */
static uint16_t zero_based(const struct nv_soft_ns *ns, uint32_t bytes, uint16_t otherwise)
{
	uint32_t blocks = bytes >> ns->block_shift;

	if (!blocks || bytes & (ns->store->block_bytes - 1) || blocks > UINT16_MAX)
		return otherwise;
	return htole16((uint16_t)(blocks - 1));
}

/* NVM Command Set 1.0, 5.8.2: what is written in these sizes needs no read before it. */
static void fill_sizes(const struct nv_soft_ns *ns, struct nvme_id_ns *id)
{
	const struct nv_store_sizes *sizes = &ns->store->sizes;
	/* Files and disks like 4 KiB where they do not say what. */
	uint16_t page = htole16((uint16_t)((NV_PAGE_SIZE >> ns->block_shift) - 1));
	uint32_t boundary = sizes->boundary_bytes >> ns->block_shift;

	id->nsfeat = NVME_NS_FEAT_IO_OPT;
	id->npwg = zero_based(ns, sizes->write_bytes, page);
	id->npwa = id->npwg;
	id->npdg = zero_based(ns, sizes->discard_bytes, page);
	id->npda = id->npdg;
	id->nows = zero_based(ns, sizes->optimal_bytes, id->npwg);
	if (boundary <= UINT16_MAX)
		id->noiob = htole16((uint16_t)boundary);
}

static void fill_ns(const struct nv_soft_ns *ns, struct nvme_id_ns *id)
{
	const struct nv_store *store = ns->store;

	id->nsze = htole64(ns->blocks);
	id->ncap = id->nsze;
	id->nuse = id->nsze;
	fill_sizes(ns, id);
	id->lbaf[0].ds = (uint8_t)ns->block_shift;
	id->dlfeat = NVME_NS_DLFEAT_WRITE_ZEROES |
		     (store->thin ? NVME_NS_DLFEAT_RB_ALL_0S : NVME_NS_DLFEAT_RB_NR);
	id->nsattr = store->read_only ? NVME_NS_NSATTR_WRITE_PROTECTED : 0;
	memcpy(id->nguid, ns->nguid, sizeof(id->nguid));
	memcpy(id->eui64, ns->eui64, sizeof(id->eui64));
}

static uint16_t identify_ns(struct nv_soft *soft, const struct nv_sqe *sqe, uint32_t nsid)
{
	const struct nv_soft_ns *ns = nv_soft_find_ns(soft, nsid);
	struct nvme_id_ns id = {0};

	/* An allocated id without a namespace behind it reads as zeroes (5.17.2.1). */
	if (nsid == 0 || nsid > NV_SOFT_MAX_NS)
		return DNR(NVME_SC_INVALID_NS);
	if (ns)
		fill_ns(ns, &id);
	return nv_soft_admin_reply(soft, sqe, &id, sizeof(id), sizeof(id));
}

static uint16_t active_list(struct nv_soft *soft, const struct nv_sqe *sqe, uint32_t after)
{
	uint32_t list[NV_IDENTIFY_BYTES / sizeof(uint32_t)] = {0};
	size_t count = 0;

	if (after >= NV_NSID_ALL - 1) /* FFFFFFFEh and FFFFFFFFh: 5.17.2.2 */
		return DNR(NVME_SC_INVALID_NS);
	for (uint32_t nsid = 1; nsid <= NV_SOFT_MAX_NS; nsid++)
		if (nsid > after && nv_soft_find_ns(soft, nsid))
			list[count++] = htole32(nsid);
	return nv_soft_admin_reply(soft, sqe, list, sizeof(list), sizeof(list));
}

static uint8_t *put_desc(uint8_t *pos, uint8_t type, const void *id, uint8_t len)
{
	pos[0] = type;
	pos[1] = len;
	memcpy(pos + sizeof(struct nvme_ns_id_desc), id, len);
	return pos + sizeof(struct nvme_ns_id_desc) + len;
}

static uint16_t descriptors(struct nv_soft *soft, const struct nv_sqe *sqe, uint32_t nsid)
{
	const struct nv_soft_ns *ns = nv_soft_find_ns(soft, nsid);
	uint8_t list[NV_IDENTIFY_BYTES] = {0};
	const uint8_t csi = CSI_NVM;
	uint8_t *pos = list;

	if (!ns)
		return DNR(NVME_SC_INVALID_NS);
	pos = put_desc(pos, NVME_NIDT_EUI64, ns->eui64, sizeof(ns->eui64));
	pos = put_desc(pos, NVME_NIDT_NGUID, ns->nguid, sizeof(ns->nguid));
	pos = put_desc(pos, NVME_NIDT_UUID, ns->uuid, sizeof(ns->uuid));
	put_desc(pos, NVME_NIDT_CSI, &csi, sizeof(csi));
	return nv_soft_admin_reply(soft, sqe, list, sizeof(list), sizeof(list));
}

static uint16_t zero_page(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	return nv_soft_admin_reply(soft, sqe, NULL, 0, NV_IDENTIFY_BYTES);
}

/* Combinations of command sets: one, with the NVM command set in it. */
static uint16_t command_sets(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	uint64_t vector = htole64(1u << CSI_NVM);

	return nv_soft_admin_reply(soft, sqe, &vector, sizeof(vector), NV_IDENTIFY_BYTES);
}

static uint16_t by_command_set(struct nv_soft *soft, const struct nv_sqe *sqe, uint8_t cns,
			       uint32_t nsid)
{
	if (le32toh(sqe->cdw11) >> 24 != CSI_NVM)
		return DNR(NVME_SC_INVALID_FIELD);
	switch (cns) {
	case NVME_IDENTIFY_CNS_CSI_NS: /* no extended LBA formats, no protection information */
		return nv_soft_find_ns(soft, nsid) ? zero_page(soft, sqe) : DNR(NVME_SC_INVALID_NS);
	case NVME_IDENTIFY_CNS_CSI_CTRL: /* no limits but those of the commands themselves */
		return zero_page(soft, sqe);
	default:
		return active_list(soft, sqe, nsid);
	}
}

uint16_t nv_soft_identify(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	uint8_t cns = le32toh(sqe->cdw10) & 0xff;
	uint32_t nsid = le32toh(sqe->nsid);

	switch (cns) {
	case NVME_IDENTIFY_CNS_NS:
		return identify_ns(soft, sqe, nsid);
	case NVME_IDENTIFY_CNS_CTRL:
		return identify_ctrl(soft, sqe);
	case NVME_IDENTIFY_CNS_NS_ACTIVE_LIST:
		return active_list(soft, sqe, nsid);
	case NVME_IDENTIFY_CNS_NS_DESC_LIST:
		return descriptors(soft, sqe, nsid);
	case NVME_IDENTIFY_CNS_CSI_NS:
	case NVME_IDENTIFY_CNS_CSI_CTRL:
	case NVME_IDENTIFY_CNS_CSI_NS_ACTIVE_LIST:
		return by_command_set(soft, sqe, cns, nsid);
	case NVME_IDENTIFY_CNS_COMMAND_SET_STRUCTURE:
		return command_sets(soft, sqe);
	default:
		return DNR(NVME_SC_INVALID_FIELD);
	}
}
