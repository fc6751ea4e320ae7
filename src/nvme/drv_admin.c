/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The synchronous admin command and what is read with it: Identify Controller, namespaces and
 * their identifiers, the number of queues.
 */
#include "nvme/drv_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One admin command is outstanding at a time; late answers of a former one have another cid. */
static int wait_cqe(struct nv_ctrl *ctrl, uint16_t cid, struct nv_cqe *cqe)
{
	uint64_t deadline = util_now_ns() + ctrl->admin_timeout_ms * UTIL_NS_PER_MS;

	for (unsigned int round = 0;; round++) {
		bool late = util_now_ns() > deadline;
		uint32_t csts;

		while (nv_queue_poll(&ctrl->admin, cqe))
			if (!nv_ctrl_note_event(ctrl, cqe) && le16toh(cqe->cid) == cid)
				return 0;
		csts = nv_bar_read32(&ctrl->bar, NVME_REG_CSTS);
		/* Fatal or gone (all ones), or reset by somebody else: nothing will come. */
		if (NVME_CSTS_CFS(csts) || !NVME_CSTS_RDY(csts))
			return -EIO;
		if (late)
			return -ETIMEDOUT;
		nv_relax(round);
	}
}

int nv_ctrl_admin(struct nv_ctrl *ctrl, const struct nv_sqe *cmd, void *data, size_t data_bytes,
		  uint16_t *ret_status, uint32_t *ret_dw0)
{
	struct nv_sqe sqe = *cmd;
	struct nv_cqe cqe;
	int rc;

	if (data_bytes > NV_PAGE_SIZE)
		return -EINVAL;
	if (ctrl->dead)
		return -EIO;
	if (++ctrl->next_cid >= NV_EVENT_CID)
		ctrl->next_cid = 1;
	sqe.cid = htole16(ctrl->next_cid);
	if (data_bytes)
		sqe.prp1 = htole64(ctrl->page_phys);
	if (data_bytes && (sqe.opcode & NV_OPC_DATA_MASK) == NV_OPC_DATA_OUT)
		memcpy(ctrl->page, data, data_bytes);

	rc = nv_queue_submit(&ctrl->admin, &sqe);
	if (!rc)
		rc = wait_cqe(ctrl, ctrl->next_cid, &cqe);
	if (rc) {
		/* The page may still be written to, so nothing may use it again. */
		ctrl->dead = true;
		return rc;
	}
	*ret_status = nv_cqe_status(&cqe);
	if (ret_dw0)
		*ret_dw0 = le32toh(cqe.dw0);
	if (data_bytes && (sqe.opcode & NV_OPC_DATA_MASK) == NV_OPC_DATA_IN && !*ret_status)
		memcpy(data, ctrl->page, data_bytes);
	return 0;
}

static int identify(struct nv_ctrl *ctrl, uint8_t cns, uint32_t nsid, void *buf, uint16_t *status)
{
	struct nv_sqe cmd = {.opcode = nvme_admin_identify};

	cmd.nsid = htole32(nsid);
	cmd.cdw10 = htole32(cns);
	return nv_ctrl_admin(ctrl, &cmd, buf, NV_IDENTIFY_BYTES, status, NULL);
}

int nv_ctrl_identify(struct nv_ctrl *ctrl, uint8_t cns, uint32_t nsid, void *buf)
{
	uint16_t status;
	int rc = identify(ctrl, cns, nsid, buf, &status);

	return rc ? rc : (status ? -EIO : 0);
}

int nv_ctrl_active_ns(struct nv_ctrl *ctrl, uint32_t after, uint32_t *ids, size_t max)
{
	uint32_t list[NV_IDENTIFY_BYTES / sizeof(uint32_t)];
	size_t count = 0;
	int rc;

	rc = nv_ctrl_identify(ctrl, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, after, list);
	if (rc)
		return rc;
	while (count < max && count < sizeof(list) / sizeof(list[0]) && list[count]) {
		ids[count] = le32toh(list[count]);
		count++;
	}
	return (int)count;
}

/* Walk the descriptor list (Base 2.0, figure 277) without trusting its lengths. */
static void read_descriptors(struct nv_ns_info *info, const uint8_t *list)
{
	size_t pos = 0;

	while (pos + sizeof(struct nvme_ns_id_desc) <= NV_IDENTIFY_BYTES) {
		uint8_t type = list[pos];
		uint8_t len = list[pos + 1];
		const uint8_t *id = list + pos + sizeof(struct nvme_ns_id_desc);

		if (len == 0 || pos + sizeof(struct nvme_ns_id_desc) + len > NV_IDENTIFY_BYTES)
			return;
		if (type == NVME_NIDT_EUI64 && len == sizeof(info->eui64))
			memcpy(info->eui64, id, len);
		else if (type == NVME_NIDT_NGUID && len == sizeof(info->nguid))
			memcpy(info->nguid, id, len);
		else if (type == NVME_NIDT_UUID && len == sizeof(info->uuid))
			memcpy(info->uuid, id, len);
		pos += sizeof(struct nvme_ns_id_desc) + len;
	}
}

/* The format index has two more bits above the metadata flag (NVM Command Set 1.0, figure 97). */
static unsigned int format_index(const struct nvme_id_ns *id)
{
	return (id->flbas & 0x0fu) | (unsigned int)(id->flbas >> 5 & 0x3) << 4;
}

int nv_ctrl_ns_info(struct nv_ctrl *ctrl, uint32_t nsid, struct nv_ns_info *ret)
{
	uint8_t descriptors[NV_IDENTIFY_BYTES];
	const struct nvme_lbaf *format;
	uint16_t status;
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->nsid = nsid;
	rc = identify(ctrl, NVME_IDENTIFY_CNS_NS, nsid, &ret->id, &status);
	if (rc)
		return rc;
	if ((status & NV_SC_CODE_MASK) == NVME_SC_INVALID_NS)
		return -ENOENT;
	if (status)
		return -EIO;
	ret->nsze = le64toh(ret->id.nsze);
	if (ret->nsze == 0) /* an inactive namespace is all zero */
		return -ENOENT;
	format = &ret->id.lbaf[format_index(&ret->id)];
	if (format->ds < 9 || format->ds > 31)
		return -EIO;
	ret->block_bytes = 1u << format->ds;
	ret->metadata_bytes = le16toh(format->ms);
	ret->write_protected = ret->id.nsattr & NVME_NS_NSATTR_WRITE_PROTECTED;
	memcpy(ret->nguid, ret->id.nguid, sizeof(ret->nguid));
	memcpy(ret->eui64, ret->id.eui64, sizeof(ret->eui64));

	/* Descriptors came with NVMe 1.3; an older drive has no UUID, that is all. */
	rc = identify(ctrl, NVME_IDENTIFY_CNS_NS_DESC_LIST, nsid, descriptors, &status);
	if (rc)
		return rc;
	if (!status)
		read_descriptors(ret, descriptors);
	return 0;
}

/* Identify's strings are padded with blanks and have no end mark. */
static void copy_text(char *dst, const char *src, size_t len)
{
	while (len && (src[len - 1] == ' ' || src[len - 1] == '\0'))
		len--;
	memcpy(dst, src, len);
	dst[len] = '\0';
}

static uint16_t usable_entries(uint64_t cap)
{
	uint32_t entries = 32768; /* the largest power of two that a 16-bit count holds */

	while (entries > NVME_CAP_MQES(cap) + 1)
		entries >>= 1;
	return (uint16_t)entries;
}

static void fill_info(struct nv_ctrl *ctrl)
{
	struct nv_ctrl_info *info = &ctrl->info;
	const struct nvme_id_ctrl *id = &info->id;

	copy_text(info->serial, id->sn, sizeof(id->sn));
	copy_text(info->model, id->mn, sizeof(id->mn));
	copy_text(info->firmware, id->fr, sizeof(id->fr));
	memcpy(info->subnqn, id->subnqn, sizeof(info->subnqn) - 1);
	info->cntlid = le16toh(id->cntlid);
	info->max_entries = usable_entries(ctrl->cap);
	/* MDTS counts in pages of CAP.MPSMIN, which is 4 KiB here; beyond 2 GiB it is no limit. */
	info->mdts_bytes = id->mdts && id->mdts < 20 ? NV_PAGE_SIZE << id->mdts : 0;
	info->nn = le32toh(id->nn);
	info->volatile_write_cache = id->vwc & NVME_CTRL_VWC_PRESENT;
	info->oncs = le16toh(id->oncs);
	info->awun = le16toh(id->awun);
	info->awupf = le16toh(id->awupf);
}

static int set_queue_count(struct nv_ctrl *ctrl, uint16_t want, struct nv_err *err)
{
	struct nv_sqe cmd = {.opcode = nvme_admin_set_features};
	uint32_t zero_based;
	uint32_t granted;
	uint32_t sqs, cqs;
	uint16_t status;
	int rc;

	if (want == 0 || want > NV_MAX_IO_QUEUES)
		want = NV_MAX_IO_QUEUES;
	zero_based = want - 1u;
	cmd.cdw10 = htole32(NVME_FEAT_FID_NUM_QUEUES);
	cmd.cdw11 = htole32(zero_based | zero_based << 16);
	rc = nv_ctrl_admin(ctrl, &cmd, NULL, 0, &status, &granted);
	if (rc || status)
		return nv_err(err, rc ? rc : -EIO,
			      "Set Features (number of queues) failed: %s 0x%x",
			      rc ? strerror(-rc) : "status", status * !rc);
	sqs = (granted & 0xffff) + 1;
	cqs = (granted >> 16) + 1;
	/* It may grant more than was asked for. */
	if (sqs > cqs)
		sqs = cqs;
	ctrl->info.max_io_queues = (uint16_t)(sqs < want ? sqs : want);
	return 0;
}

int nv_ctrl_read_info(struct nv_ctrl *ctrl, const struct nv_ctrl_opts *opts, struct nv_err *err)
{
	int rc;

	rc = nv_ctrl_identify(ctrl, NVME_IDENTIFY_CNS_CTRL, 0, &ctrl->info.id);
	if (rc)
		return nv_err(err, rc, "Identify Controller failed: %s", strerror(-rc));
	fill_info(ctrl);
	return set_queue_count(ctrl, opts->io_queues, err);
}
