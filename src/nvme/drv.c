/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bringing a controller up and down: NVMe Base 2.0, 3.5 (initialization) and 3.6 (shutdown).
 * Registers and waiting only; commands are in drv_admin.c.
 */
#include "nvme/drv_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define ALL_ONES 0xffffffffu /* what a removed PCIe function reads as */

/* CAP.TO counts in units of 500 ms; zero is not a time to give up after. */
#define CAP_TO_UNIT_MS 500u

void nv_relax(unsigned int round)
{
	struct timespec ts = {0};

	if (round < 64)
		return;
	ts.tv_nsec = round < 256 ? 20 * 1000 : 1000 * 1000;
	nanosleep(&ts, NULL);
}

/*
 * Wait until (CSTS & mask) == want. A fatal status ends the wait unless the caller is about to
 * reset the controller anyway.
 */
static int wait_csts(struct nv_ctrl *ctrl, uint32_t mask, uint32_t want, uint32_t timeout_ms,
		     bool fatal_ends)
{
	uint64_t deadline = util_now_ns() + timeout_ms * UTIL_NS_PER_MS;

	for (unsigned int round = 0;; round++) {
		/* Read the clock first: a late look at the register still counts. */
		bool late = util_now_ns() > deadline;
		uint32_t csts = nv_bar_read32(&ctrl->bar, NVME_REG_CSTS);

		if (csts == ALL_ONES)
			return -ENODEV;
		if ((csts & mask) == want)
			return 0;
		if (fatal_ends && NVME_CSTS_CFS(csts))
			return -EIO;
		if (late)
			return -ETIMEDOUT;
		nv_relax(round);
	}
}

static int wait_failed(int rc, const struct nv_ctrl *ctrl, const char *what, struct nv_err *err)
{
	switch (rc) {
	case -ENODEV:
		return nv_err(err, rc, "controller is gone: registers read all ones");
	case -EIO:
		return nv_err(err, rc, "controller reports a fatal status (CSTS.CFS) while %s",
			      what);
	default:
		return nv_err(err, rc, "controller did not finish %s within %u ms (CAP.TO)", what,
			      ctrl->ready_timeout_ms);
	}
}

static int disable(struct nv_ctrl *ctrl)
{
	uint32_t cc = nv_bar_read32(&ctrl->bar, NVME_REG_CC);
	uint32_t csts = nv_bar_read32(&ctrl->bar, NVME_REG_CSTS);

	if (csts == ALL_ONES)
		return -ENODEV;
	/*
	 * Clearing EN before RDY has followed an earlier EN is undefined (3.5.4): let it come up
	 * first. A controller that never does gets its reset all the same.
	 */
	if (NVME_CC_EN(cc) && !NVME_CSTS_RDY(csts) && !NVME_CSTS_CFS(csts))
		(void)wait_csts(ctrl, NVME_CSTS_RDY_MASK, NVME_CSTS_RDY_MASK,
				ctrl->ready_timeout_ms, true);
	if (NVME_CC_EN(cc))
		nv_bar_write32(&ctrl->bar, NVME_REG_CC, cc & ~(uint32_t)NVME_CC_EN_MASK);
	return wait_csts(ctrl, NVME_CSTS_RDY_MASK, 0, ctrl->ready_timeout_ms, false);
}

static int enable(struct nv_ctrl *ctrl)
{
	uint32_t zero_based = ctrl->admin.entries - 1u;
	uint32_t cc = NVME_CC_CSS_NVM << NVME_CC_CSS_SHIFT | 0u << NVME_CC_MPS_SHIFT |
		      NVME_CC_AMS_RR << NVME_CC_AMS_SHIFT | NV_SQE_SHIFT << NVME_CC_IOSQES_SHIFT |
		      NV_CQE_SHIFT << NVME_CC_IOCQES_SHIFT | 1u << NVME_CC_EN_SHIFT;

	nv_bar_write32(&ctrl->bar, NVME_REG_AQA,
		       zero_based << NVME_AQA_ASQS_SHIFT | zero_based << NVME_AQA_ACQS_SHIFT);
	nv_bar_write64(&ctrl->bar, NVME_REG_ASQ, ctrl->admin.sq_phys);
	nv_bar_write64(&ctrl->bar, NVME_REG_ACQ, ctrl->admin.cq_phys);
	nv_bar_write32(&ctrl->bar, NVME_REG_CC, cc);
	return wait_csts(ctrl, NVME_CSTS_RDY_MASK, NVME_CSTS_RDY_MASK, ctrl->ready_timeout_ms,
			 true);
}

static int read_caps(struct nv_ctrl *ctrl, struct nv_err *err)
{
	uint32_t units;

	ctrl->cap = nv_bar_read64(&ctrl->bar, NVME_REG_CAP);
	ctrl->info.version = nv_bar_read32(&ctrl->bar, NVME_REG_VS);
	if (ctrl->cap == UINT64_MAX || ctrl->info.version == ALL_ONES)
		return nv_err(err, -ENODEV, "no controller: registers read all ones");
	if (!(NVME_CAP_CSS(ctrl->cap) & NVME_CAP_CSS_NVM))
		return nv_err(err, -EPROTO, "controller has no NVM command set (CAP 0x%" PRIx64 ")",
			      ctrl->cap);
	if (NVME_CAP_MPSMIN(ctrl->cap) != 0)
		return nv_err(err, -EPROTO,
			      "controller has no 4 KiB memory pages (CAP 0x%" PRIx64 ")",
			      ctrl->cap);
	if (NVME_CAP_MQES(ctrl->cap) < 1)
		return nv_err(err, -EPROTO, "controller has queues of one entry only");

	units = NVME_CAP_TO(ctrl->cap) ? (uint32_t)NVME_CAP_TO(ctrl->cap) : 1;
	/* Base 2.0 moved the long times to CRTO.CRWMT, where CAP.CRMS announces it. */
	if (NVME_CAP_CRMS(ctrl->cap) & NVME_CAP_CRWMS) {
		uint32_t crwmt = nv_bar_read32(&ctrl->bar, NVME_REG_CRTO) & 0xffff;

		if (crwmt > units)
			units = crwmt;
	}
	ctrl->ready_timeout_ms = units * CAP_TO_UNIT_MS;
	return 0;
}

static int bring_up(struct nv_ctrl *ctrl, const struct nv_ctrl_opts *opts, struct nv_err *err)
{
	int rc;

	rc = disable(ctrl);
	if (rc)
		return wait_failed(rc, ctrl, "its reset", err);
	ctrl->admin.entries = opts->admin_entries ? opts->admin_entries : NV_ADMIN_ENTRIES;
	rc = nv_queue_init(&ctrl->admin, ctrl);
	if (rc)
		return nv_err(err, rc, "no memory for the admin queue");
	ctrl->page = nv_mem_zmalloc(&ctrl->mem, NV_PAGE_SIZE, NV_PAGE_SIZE, &ctrl->page_phys);
	if (!ctrl->page)
		return nv_err(err, -ENOMEM, "no memory for admin data");
	rc = enable(ctrl);
	if (rc)
		return wait_failed(rc, ctrl, "its start", err);
	return nv_ctrl_read_info(ctrl, opts, err);
}

static bool admin_entries_fit(uint16_t entries)
{
	/* AQA counts to 4096; our rings wrap by mask. */
	return entries == 0 || (entries >= 2 && entries <= 4096 && !(entries & (entries - 1)));
}

int nv_ctrl_create(const struct nv_bar *bar, const struct nv_mem *mem,
		   const struct nv_ctrl_opts *opts, struct nv_ctrl **ret, struct nv_err *err)
{
	static const struct nv_ctrl_opts defaults;
	struct nv_ctrl *ctrl;
	int rc;

	if (!opts)
		opts = &defaults;
	if (!admin_entries_fit(opts->admin_entries))
		return nv_err(err, -EINVAL,
			      "admin queue of %u entries: not a power of two in 2..4096",
			      opts->admin_entries);
	ctrl = calloc(1, sizeof(*ctrl));
	if (!ctrl)
		return nv_err(err, -ENOMEM, "out of memory");
	ctrl->bar = *bar;
	ctrl->mem = *mem;
	ctrl->admin_timeout_ms =
		opts->admin_timeout_ms ? opts->admin_timeout_ms : NV_ADMIN_TIMEOUT_MS;
	rc = read_caps(ctrl, err);
	if (rc)
		goto free_ctrl;
	rc = bring_up(ctrl, opts, err);
	if (rc)
		goto destroy;
	*ret = ctrl;
	return 0;

destroy:
	nv_ctrl_destroy(ctrl);
	return rc;
free_ctrl:
	free(ctrl);
	return rc;
}

/* RTD3E says how long a shutdown may take, in microseconds (Base 2.0, 3.6.1). */
static uint32_t shutdown_timeout_ms(const struct nv_ctrl *ctrl)
{
	uint32_t ms = le32toh(ctrl->info.id.rtd3e) / 1000;

	if (ms < NV_SHUTDOWN_TIMEOUT_MS)
		ms = NV_SHUTDOWN_TIMEOUT_MS;
	return ms < NV_SHUTDOWN_TIMEOUT_MAX_MS ? ms : NV_SHUTDOWN_TIMEOUT_MAX_MS;
}

static void notify_shutdown(struct nv_ctrl *ctrl)
{
	uint32_t cc = nv_bar_read32(&ctrl->bar, NVME_REG_CC);

	if (cc == ALL_ONES || !NVME_CC_EN(cc))
		return;
	cc &= ~((uint32_t)NVME_CC_SHN_MASK << NVME_CC_SHN_SHIFT);
	cc |= NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT;
	nv_bar_write32(&ctrl->bar, NVME_REG_CC, cc);
	(void)wait_csts(ctrl, NVME_CSTS_SHST_MASK << NVME_CSTS_SHST_SHIFT,
			NVME_CSTS_SHST_CMPLT << NVME_CSTS_SHST_SHIFT, shutdown_timeout_ms(ctrl),
			true);
}

static void free_memory(struct nv_ctrl *ctrl)
{
	for (unsigned int qid = 1; qid <= NV_MAX_IO_QUEUES; qid++) {
		if (!ctrl->queues[qid])
			continue;
		nv_queue_fini(ctrl->queues[qid]);
		free(ctrl->queues[qid]);
	}
	nv_mem_free(&ctrl->mem, ctrl->page);
	nv_queue_fini(&ctrl->admin);
}

void nv_ctrl_destroy(struct nv_ctrl *ctrl)
{
	int rc;

	if (!ctrl)
		return;
	for (unsigned int qid = 1; qid <= NV_MAX_IO_QUEUES && !ctrl->dead; qid++)
		nv_queue_destroy(ctrl->queues[qid]);
	if (!ctrl->dead)
		notify_shutdown(ctrl);
	rc = disable(ctrl);
	/*
	 * A controller that would not stop may still write to its queues: that memory is lost
	 * rather than given to somebody else. One that is gone cannot.
	 */
	if (rc == 0 || rc == -ENODEV)
		free_memory(ctrl);
	free(ctrl);
}

int nv_ctrl_halt(struct nv_ctrl *ctrl)
{
	ctrl->dead = true;
	return disable(ctrl);
}

const struct nv_ctrl_info *nv_ctrl_info(const struct nv_ctrl *ctrl)
{
	return &ctrl->info;
}
