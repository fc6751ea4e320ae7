/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller object and its register file: what a read returns and what a write makes happen.
 * Controller states are those of CC and CSTS (NVMe Base 2.0, 3.1.3 and 3.5).
 */
#include "nvme/soft/priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- CC ----------------------------------------------------------------------------------- */

static void delete_queues(struct nv_soft *soft)
{
	for (unsigned int qid = 1; qid <= NV_MAX_IO_QUEUES; qid++) {
		if (!soft->queues[qid])
			continue;
		nv_soft_queue_delete_sq(soft->queues[qid]);
		nv_soft_queue_delete_cq(soft->queues[qid]);
	}
}

static void reset(struct nv_soft *soft)
{
	/* Halted queues are deleted without a completion in rings that are nobody's any more. */
	delete_queues(soft);
	nv_soft_set_halt(soft, NV_SOFT_RUNNING);
	memset(soft->doorbells, 0, soft->doorbell_bytes);
	soft->aer_count = 0;
	soft->changed_ns = 0; /* whoever enables it next reads all of it anyway */
	soft->ns_event_due = false;
	soft->ns_event_masked = false;
	soft->granted_queues = soft->max_io_queues;
	nv_soft_features_reset(soft);
	soft->csts = 0;
}

static bool ring_is_good(struct nv_soft *soft, uint64_t addr, uint64_t bytes)
{
	unsigned int hint = 0;

	return !(addr & (NV_PAGE_SIZE - 1)) && nv_soft_mem_check(soft->mem, addr, bytes, &hint);
}

static void enable(struct nv_soft *soft)
{
	uint32_t sq_entries = NVME_AQA_ASQS(soft->aqa) + 1;
	uint32_t cq_entries = NVME_AQA_ACQS(soft->aqa) + 1;

	if (NVME_CC_CSS(soft->cc) != NVME_CC_CSS_NVM || NVME_CC_MPS(soft->cc) != 0 ||
	    NVME_CC_AMS(soft->cc) != NVME_CC_AMS_RR || sq_entries < 2 || cq_entries < 2 ||
	    !ring_is_good(soft, soft->asq, (uint64_t)sq_entries << NV_SQE_SHIFT) ||
	    !ring_is_good(soft, soft->acq, (uint64_t)cq_entries << NV_CQE_SHIFT)) {
		soft->csts |= NVME_CSTS_CFS_MASK << NVME_CSTS_CFS_SHIFT;
		return;
	}
	nv_soft_admin_start(soft);
	soft->csts |= NVME_CSTS_RDY_MASK << NVME_CSTS_RDY_SHIFT;
}

static void sync_done(struct nv_store_req *req, int result)
{
	(void)req;
	(void)result; /* nobody is left to be told */
}

/* A normal shutdown leaves nothing in the volatile cache (Base 2.0, 3.6.1). */
static void sync_stores(struct nv_soft *soft)
{
	for (unsigned int i = 0; i < NV_SOFT_MAX_NS; i++) {
		struct nv_store_req req = {.op = NV_STORE_FLUSH, .done = sync_done};
		struct nv_store *store = soft->ns[i].store;
		struct nv_store_chan *chan;

		if (!store || !store->volatile_cache || store->read_only)
			continue;
		if (store->ops->chan_open(store, 1, &chan, NULL))
			continue;
		store->ops->submit(chan, &req);
		store->ops->kick(chan);
		store->ops->chan_close(chan);
	}
}

static void write_cc(struct nv_soft *soft, uint32_t val)
{
	uint32_t old = soft->cc;

	soft->cc = val;
	if (NVME_CC_EN(old) && !NVME_CC_EN(val)) {
		reset(soft);
		soft->cc = 0;
		return;
	}
	if (!NVME_CC_EN(old) && NVME_CC_EN(val)) {
		if (nv_soft_halted(soft) == NV_SOFT_RESET)
			reset(soft);
		enable(soft);
	}
	if (NVME_CC_SHN(val) && NVME_CC_SHN(val) != NVME_CC_SHN(old)) {
		if (NVME_CC_SHN(val) == NVME_CC_SHN_NORMAL)
			sync_stores(soft);
		soft->csts &= ~((uint32_t)NVME_CSTS_SHST_MASK << NVME_CSTS_SHST_SHIFT);
		soft->csts |= NVME_CSTS_SHST_CMPLT << NVME_CSTS_SHST_SHIFT;
	}
}

void nv_soft_halt(struct nv_soft *soft, enum nv_soft_halt how)
{
	if (how == NV_SOFT_RUNNING) {
		reset(soft);
		soft->cc = 0;
		return;
	}
	nv_soft_set_halt(soft, how);
	if (how == NV_SOFT_FATAL)
		soft->csts |= NVME_CSTS_CFS_MASK << NVME_CSTS_CFS_SHIFT;
	if (how == NV_SOFT_RESET) {
		soft->csts = 0;
		soft->cc = 0;
	}
}

/* ---- register access ---------------------------------------------------------------------- */

static uint32_t reg_read32(void *arg, uint32_t off)
{
	struct nv_soft *soft = arg;

	if (nv_soft_halted(soft) == NV_SOFT_GONE)
		return UINT32_MAX;
	if (off >= NV_DOORBELL_BASE)
		return 0; /* doorbells read as anything: PCIe Transport 1.0, 3.1.2 */
	switch (off) {
	case NVME_REG_CAP:
		return (uint32_t)soft->cap;
	case NVME_REG_CAP + 4:
		return (uint32_t)(soft->cap >> 32);
	case NVME_REG_VS:
		return NV_SOFT_VERSION;
	case NVME_REG_INTMS:
	case NVME_REG_INTMC:
		return soft->intm;
	case NVME_REG_CC:
		return soft->cc;
	case NVME_REG_CSTS:
		return soft->csts;
	case NVME_REG_AQA:
		return soft->aqa;
	case NVME_REG_ASQ:
		return (uint32_t)soft->asq;
	case NVME_REG_ASQ + 4:
		return (uint32_t)(soft->asq >> 32);
	case NVME_REG_ACQ:
		return (uint32_t)soft->acq;
	case NVME_REG_ACQ + 4:
		return (uint32_t)(soft->acq >> 32);
	default:
		return 0; /* reserved and optional registers read as zero */
	}
}

static void set_low(uint64_t *reg, uint32_t val)
{
	*reg = (*reg & ~(uint64_t)UINT32_MAX) | (val & ~(NV_PAGE_SIZE - 1));
}

static void set_high(uint64_t *reg, uint32_t val)
{
	*reg = (*reg & UINT32_MAX) | (uint64_t)val << 32;
}

static void ring_doorbell(struct nv_soft *soft, uint32_t off, uint32_t val)
{
	uint32_t pos = off - NV_DOORBELL_BASE;
	uint32_t qid = pos / (2 * NV_SOFT_DB_STRIDE);
	bool is_cq = pos / NV_SOFT_DB_STRIDE & 1;

	if (pos % NV_SOFT_DB_STRIDE || pos >= soft->doorbell_bytes)
		return;
	__atomic_store_n(nv_soft_doorbell(soft, (uint16_t)qid, is_cq), val, __ATOMIC_RELEASE);
	if (qid == 0)
		nv_soft_admin_run(soft);
	else if (!is_cq && soft->queues[qid] && soft->queues[qid]->sq)
		nv_soft_queue_doorbell(soft->queues[qid]);
}

static void reg_write32(void *arg, uint32_t off, uint32_t val)
{
	struct nv_soft *soft = arg;
	bool enabled = NVME_CC_EN(soft->cc);

	if (nv_soft_halted(soft) == NV_SOFT_GONE)
		return;
	if (off >= NV_DOORBELL_BASE) {
		ring_doorbell(soft, off, val);
		return;
	}
	switch (off) {
	case NVME_REG_INTMS:
		soft->intm |= val;
		return;
	case NVME_REG_INTMC:
		soft->intm &= ~val;
		return;
	case NVME_REG_CC:
		write_cc(soft, val);
		return;
	default:
		break;
	}
	if (enabled)
		return; /* the admin queue's registers are fixed while CC.EN is 1 */
	switch (off) {
	case NVME_REG_AQA:
		soft->aqa = val & (NVME_AQA_ASQS_MASK << NVME_AQA_ASQS_SHIFT |
				   NVME_AQA_ACQS_MASK << NVME_AQA_ACQS_SHIFT);
		return;
	case NVME_REG_ASQ:
		set_low(&soft->asq, val);
		return;
	case NVME_REG_ASQ + 4:
		set_high(&soft->asq, val);
		return;
	case NVME_REG_ACQ:
		set_low(&soft->acq, val);
		return;
	case NVME_REG_ACQ + 4:
		set_high(&soft->acq, val);
		return;
	default:
		return; /* read-only and reserved registers ignore writes */
	}
}

static volatile uint32_t *reg_doorbell(void *arg, uint32_t off)
{
	struct nv_soft *soft = arg;
	uint32_t pos = off - NV_DOORBELL_BASE;

	if (off < NV_DOORBELL_BASE || pos % NV_SOFT_DB_STRIDE || pos >= soft->doorbell_bytes)
		return NULL;
	return (volatile uint32_t *)((char *)soft->doorbells + pos);
}

void nv_soft_bar(struct nv_soft *soft, struct nv_bar *ret)
{
	static const struct nv_bar_ops ops = {
		.read32 = reg_read32,
		.write32 = reg_write32,
		.doorbell = reg_doorbell,
	};

	ret->ops = &ops;
	ret->arg = soft;
}

/* ---- life --------------------------------------------------------------------------------- */

static uint64_t capabilities(const struct nv_soft *soft)
{
	const uint64_t contiguous = 1;
	const uint64_t timeout_500ms = 20;

	return (uint64_t)(soft->max_entries - 1u) << NVME_CAP_MQES_SHIFT |
	       contiguous << NVME_CAP_CQR_SHIFT | timeout_500ms << NVME_CAP_TO_SHIFT |
	       (uint64_t)NV_SOFT_DSTRD << NVME_CAP_DSTRD_SHIFT |
	       (uint64_t)NVME_CAP_CSS_NVM << NVME_CAP_CSS_SHIFT;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static int check_conf(const struct nv_soft_conf *conf, struct nv_err *err)
{
	size_t serial_len = conf->serial ? strlen(conf->serial) : 0;

	if (!conf->mem)
		return nv_err(err, -EINVAL, "soft controller: no memory given");
	if (serial_len < 1 || serial_len > 20 || !is_printable(conf->serial))
		return nv_err(err, -EINVAL, "serial number must be 1 to 20 printable characters");
	if (conf->model && (strlen(conf->model) > 40 || !is_printable(conf->model)))
		return nv_err(err, -EINVAL, "model number must be at most 40 printable characters");
	if (conf->subnqn && strlen(conf->subnqn) > 223)
		return nv_err(err, -EINVAL, "subsystem NQN is longer than 223 bytes");
	if (conf->max_io_queues > NV_MAX_IO_QUEUES)
		return nv_err(err, -EINVAL, "at most %u I/O queues", NV_MAX_IO_QUEUES);
	if (conf->max_entries &&
	    (conf->max_entries < 2 || conf->max_entries > NV_SOFT_MAX_ENTRIES ||
	     conf->max_entries & (conf->max_entries - 1)))
		return nv_err(err, -EINVAL, "queue entries must be a power of two from 2 to %u",
			      NV_SOFT_MAX_ENTRIES);
	return 0;
}

static int alloc_tables(struct nv_soft *soft)
{
	size_t stats_bytes = sizeof(*soft->stats) * (soft->max_io_queues + 1u);

	soft->doorbell_bytes = 2u * (soft->max_io_queues + 1u) * NV_SOFT_DB_STRIDE;
	if (posix_memalign(&soft->doorbells, NV_PAGE_SIZE, soft->doorbell_bytes))
		return -ENOMEM;
	if (posix_memalign((void **)&soft->stats, 64, stats_bytes)) {
		free(soft->doorbells);
		return -ENOMEM;
	}
	memset(soft->stats, 0, stats_bytes);
	return 0;
}

int nv_soft_create(const struct nv_soft_conf *conf, struct nv_soft **ret, struct nv_err *err)
{
	struct nv_soft *soft;
	int rc;

	rc = check_conf(conf, err);
	if (rc)
		return rc;
	soft = calloc(1, sizeof(*soft));
	if (!soft)
		return nv_err(err, -ENOMEM, "out of memory");
	soft->mem = conf->mem;
	soft->cntlid = conf->cntlid;
	soft->max_io_queues = conf->max_io_queues ? conf->max_io_queues : NV_MAX_IO_QUEUES;
	soft->max_entries = conf->max_entries ? conf->max_entries : NV_SOFT_MAX_ENTRIES;
	snprintf(soft->serial, sizeof(soft->serial), "%s", conf->serial);
	snprintf(soft->model, sizeof(soft->model), "%s", conf->model ? conf->model : "softsta");
	if (conf->subnqn)
		snprintf(soft->subnqn, sizeof(soft->subnqn), "%s", conf->subnqn);
	else
		nv_soft_default_subnqn(soft);
	soft->created_ns = util_now_ns();
	soft->cap = capabilities(soft);
	if (alloc_tables(soft)) {
		free(soft);
		return nv_err(err, -ENOMEM, "out of memory");
	}
	pthread_mutex_init(&soft->errors_lock, NULL);
	pthread_mutex_init(&soft->inject.lock, NULL);
	reset(soft);
	*ret = soft;
	return 0;
}

void nv_soft_destroy(struct nv_soft *soft)
{
	if (!soft)
		return;
	delete_queues(soft);
	for (unsigned int i = 0; i < NV_SOFT_MAX_NS; i++)
		nv_store_destroy(soft->ns[i].store);
	pthread_mutex_destroy(&soft->errors_lock);
	pthread_mutex_destroy(&soft->inject.lock);
	free(soft->stats);
	free(soft->doorbells);
	free(soft);
}
