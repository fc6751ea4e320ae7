/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous events: one request is always out while somebody watches. Its answer may come while
 * the driver waits for another command; it is noted then and looked at later. NVMe Base 2.0, 5.2.
 */
#include "nvme/drv_priv.h"

#include <errno.h>

bool nv_ctrl_note_event(struct nv_ctrl *ctrl, const struct nv_cqe *cqe)
{
	if (!ctrl->is_watching || ctrl->has_event || le16toh(cqe->cid) != NV_EVENT_CID)
		return false;
	ctrl->is_watching = false;
	if (nv_cqe_status(cqe))
		return true; /* refused or aborted: none will come */
	ctrl->has_event = true;
	ctrl->event = le32toh(cqe->dw0);
	return true;
}

static int request_event(struct nv_ctrl *ctrl)
{
	struct nv_sqe sqe = {.opcode = nvme_admin_async_event, .cid = htole16(NV_EVENT_CID)};
	int rc = nv_queue_submit(&ctrl->admin, &sqe);

	ctrl->is_watching = !rc;
	return rc;
}

int nv_ctrl_watch_ns(struct nv_ctrl *ctrl)
{
	struct nv_sqe cmd = {.opcode = nvme_admin_set_features};
	uint16_t status;
	int rc;

	if (!(le32toh(ctrl->info.id.oaes) & NVME_CTRL_OAES_NA))
		return -EOPNOTSUPP;
	if (ctrl->is_watching)
		return 0;
	cmd.cdw10 = htole32(NVME_FEAT_FID_ASYNC_EVENT);
	cmd.cdw11 = htole32(NVME_FEAT_AE_NAN_MASK << NVME_FEAT_AE_NAN_SHIFT);
	rc = nv_ctrl_admin(ctrl, &cmd, NULL, 0, &status, NULL);
	if (rc || status)
		return rc ? rc : -EIO;
	return request_event(ctrl);
}

/* Reading the page allows the next event. */
static int read_changed(struct nv_ctrl *ctrl, uint32_t *ids, size_t max)
{
	const uint32_t dwords = NV_IDENTIFY_BYTES / sizeof(uint32_t);
	struct nv_sqe cmd = {.opcode = nvme_admin_get_log_page, .nsid = htole32(NV_NSID_ALL)};
	uint32_t list[NV_IDENTIFY_BYTES / sizeof(uint32_t)];
	uint16_t status;
	size_t count = 0;
	int rc;

	cmd.cdw10 = htole32(NVME_LOG_LID_CHANGED_NS | (dwords - 1) << 16);
	rc = nv_ctrl_admin(ctrl, &cmd, list, sizeof(list), &status, NULL);
	if (rc || status)
		return rc ? rc : -EIO;
	while (count < dwords && list[count])
		count++;
	if (count > max && max) { /* the caller cannot be told of each */
		ids[0] = NV_NSID_ALL;
		return 1;
	}
	for (size_t i = 0; i < count; i++)
		ids[i] = le32toh(list[i]);
	return (int)count;
}

int nv_ctrl_changed_ns(struct nv_ctrl *ctrl, uint32_t *ids, size_t max)
{
	struct nv_cqe cqe;
	int count = 0;
	int rc;

	if (ctrl->dead || !max)
		return ctrl->dead ? -EIO : -EINVAL;
	while (!ctrl->has_event && ctrl->is_watching && nv_queue_poll(&ctrl->admin, &cqe))
		(void)nv_ctrl_note_event(ctrl, &cqe);
	if (!ctrl->has_event)
		return 0;
	ctrl->has_event = false;
	if ((ctrl->event >> 16 & 0xff) == NVME_LOG_LID_CHANGED_NS)
		count = read_changed(ctrl, ids, max);
	if (count < 0)
		return count;
	rc = request_event(ctrl);
	return rc ? rc : count;
}
