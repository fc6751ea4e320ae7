/* SPDX-License-Identifier: Apache-2.0 */
/* Controllers: creation, identity, their queues, properties and keep-alive. See ctrlr.h. */
#include "target/ctrlr.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "target/log.h"

#define CC_FIELD(cc, name) (((cc) >> NVME_CC_##name##_SHIFT) & NVME_CC_##name##_MASK)
#define CSTS_SHST(state)   ((uint32_t)(state) << NVME_CSTS_SHST_SHIFT)
#define CSTS_SHST_ALL	   CSTS_SHST(NVME_CSTS_SHST_MASK)
#define CSTS_RDY	   (1U << NVME_CSTS_RDY_SHIFT)
#define CSTS_CFS	   (1U << NVME_CSTS_CFS_SHIFT)

#define TEMP_OVER_DEFAULT 0xffff /* a threshold that no temperature reaches */

static bool cntlid_in_use(const struct tgt *tgt, const struct tgt_subsys *subsys, uint16_t id)
{
	size_t i;

	for (i = 0; i < tgt->n_ctrlrs; i++)
		if (tgt->ctrlrs[i]->subsys == subsys && tgt->ctrlrs[i]->cntlid == id)
			return true;
	return false;
}

/*
 * The next free id, going round the subsystem's range from a random start: an id that was just
 * given back is the last to be used again, and two processes rarely hand out the same one. Hosts
 * confuse controllers otherwise. 0: all are in use.
 */
static uint16_t cntlid_alloc(struct tgt *tgt, struct tgt_subsys *subsys)
{
	uint32_t range = (uint32_t)subsys->max_cntlid - subsys->min_cntlid + 1, i;
	uint32_t start = subsys->next_cntlid;
	uint16_t id;

	if (!start && getrandom(&start, sizeof(start), GRND_NONBLOCK) != sizeof(start))
		start = (uint32_t)tgt->now_ms;
	for (i = 0; i < range && i <= TGT_MAX_CONTROLLERS; i++) {
		id = (uint16_t)(subsys->min_cntlid + (start - subsys->min_cntlid + i) % range);
		if (!cntlid_in_use(tgt, subsys, id)) {
			subsys->next_cntlid =
				id == subsys->max_cntlid ? subsys->min_cntlid : (uint16_t)(id + 1);
			return id;
		}
	}
	return 0;
}

struct tgt_ctrlr *tgt_ctrlr_create(struct tgt_queue *queue, struct tgt_subsys *subsys)
{
	struct tgt *tgt = queue->tgt;
	struct tgt_ctrlr *ctrlr;
	uint16_t cntlid;

	if (tgt->n_ctrlrs >= TGT_MAX_CONTROLLERS)
		return NULL;
	cntlid = cntlid_alloc(tgt, subsys);
	ctrlr = cntlid ? calloc(1, sizeof(*ctrlr)) : NULL;
	if (!ctrlr)
		return NULL;
	ctrlr->tgt = tgt;
	ctrlr->subsys = subsys;
	ctrlr->cntlid = cntlid;
	ctrlr->created_ms = tgt->now_ms;
	ctrlr->temp_over = TEMP_OVER_DEFAULT;
	tgt->ctrlrs[tgt->n_ctrlrs++] = ctrlr;
	tgt_ctrlr_attach(ctrlr, queue);
	return ctrlr;
}

struct tgt_ctrlr *tgt_ctrlr_find(struct tgt *tgt, const struct tgt_subsys *subsys, uint16_t cntlid)
{
	size_t i;

	for (i = 0; i < tgt->n_ctrlrs; i++)
		if (tgt->ctrlrs[i]->subsys == subsys && tgt->ctrlrs[i]->cntlid == cntlid &&
		    !tgt->ctrlrs[i]->is_dying)
			return tgt->ctrlrs[i];
	return NULL;
}

void tgt_ctrlr_attach(struct tgt_ctrlr *ctrlr, struct tgt_queue *queue)
{
	queue->ctrlr = ctrlr;
	ctrlr->queues[queue->qid] = queue;
	ctrlr->n_queues++;
}

static void ctrlr_free(struct tgt_ctrlr *ctrlr)
{
	struct tgt *tgt = ctrlr->tgt;
	size_t i = 0;

	while (tgt->ctrlrs[i] != ctrlr)
		i++;
	tgt->ctrlrs[i] = tgt->ctrlrs[--tgt->n_ctrlrs];
	tgt_log("controller %u of %s: gone", ctrlr->cntlid, ctrlr->subsys->nqn);
	free(ctrlr);
}

/*
 * A reset and a shutdown are complete when no I/O queue is left: what a host wrote before is on the
 * disk then, or never will be.
 */
static void finish_stop(struct tgt_ctrlr *ctrlr)
{
	if (ctrlr->n_queues > (ctrlr->queues[0] ? 1 : 0))
		return;
	if (!CC_FIELD(ctrlr->cc, EN))
		ctrlr->csts &= ~CSTS_RDY;
	if ((ctrlr->csts & CSTS_SHST_ALL) == CSTS_SHST(NVME_CSTS_SHST_OCCUR))
		ctrlr->csts = (ctrlr->csts & ~CSTS_SHST_ALL) | CSTS_SHST(NVME_CSTS_SHST_CMPLT);
}

void tgt_ctrlr_detach(struct tgt_ctrlr *ctrlr, struct tgt_queue *queue)
{
	ctrlr->queues[queue->qid] = NULL;
	queue->ctrlr = NULL;
	if (--ctrlr->n_queues == 0)
		ctrlr_free(ctrlr);
	else
		finish_stop(ctrlr);
}

/* Down to @first, so that the admin queue is the last: the others are gone when its host looks. */
static void disconnect_queues(struct tgt_ctrlr *ctrlr, uint16_t first)
{
	uint16_t qid;

	for (qid = TGT_MAX_IO_QUEUES + 1; qid-- > first;)
		if (ctrlr->queues[qid] && !ctrlr->queues[qid]->is_closing)
			ctrlr->queues[qid]->ops->disconnect(ctrlr->queues[qid]);
}

void tgt_ctrlr_kill(struct tgt_ctrlr *ctrlr, bool fatal)
{
	if (fatal)
		ctrlr->csts |= CSTS_CFS;
	ctrlr->is_dying = true;
	disconnect_queues(ctrlr, 0);
}

bool tgt_ctrlr_is_ready(const struct tgt_ctrlr *ctrlr)
{
	return CC_FIELD(ctrlr->cc, EN) && ctrlr->csts & CSTS_RDY && !(ctrlr->csts & CSTS_SHST_ALL);
}

uint64_t tgt_ctrlr_cap(const struct tgt_ctrlr *ctrlr)
{
	const uint64_t timeout_500ms = 15;
	uint64_t mqes = ctrlr->tgt->limits.io_queue_entries - 1U;

	if (ctrlr->subsys->is_discovery)
		mqes = TGT_ADMIN_QUEUE_ENTRIES - 1;
	return mqes << NVME_CAP_MQES_SHIFT | 1ULL << NVME_CAP_CQR_SHIFT |
	       timeout_500ms << NVME_CAP_TO_SHIFT |
	       (uint64_t)(NVME_CAP_CSS_NVM | NVME_CAP_CSS_CSI) << NVME_CAP_CSS_SHIFT;
}

/* CC.EN went to 1: are the values that go with it ones that we can work with? */
static bool cc_is_valid(const struct tgt_ctrlr *ctrlr, uint32_t cc)
{
	uint32_t css = CC_FIELD(cc, CSS);

	if (CC_FIELD(cc, AMS) != NVME_CC_AMS_RR || CC_FIELD(cc, MPS) != 0)
		return false;
	if (css != NVME_CC_CSS_NVM && css != NVME_CC_CSS_CSI && css != NVME_CC_CSS_ADMIN)
		return false;
	/* Entry sizes are 64 and 16 bytes; a discovery controller has no I/O queue to use them. */
	return ctrlr->subsys->is_discovery ||
	       (CC_FIELD(cc, IOSQES) == 6 && CC_FIELD(cc, IOCQES) == 4);
}

/* The admin queue alone stays, for properties: no command is served and no event told. */
static void stop(struct tgt_ctrlr *ctrlr)
{
	tgt_aer_drop(ctrlr);
	disconnect_queues(ctrlr, 1);
}

/* What a controller level reset forgets (NVMe Base 2.0, 3.7.2); KATO is Connect's and stays. */
static void reset_features(struct tgt_ctrlr *ctrlr)
{
	memset(ctrlr->event_pending, 0, sizeof(ctrlr->event_pending));
	memset(ctrlr->event_masked, 0, sizeof(ctrlr->event_masked));
	ctrlr->event_config = 0;
	ctrlr->n_changed_ns = 0;
	ctrlr->arbitration = ctrlr->power_state = ctrlr->error_recovery = 0;
	ctrlr->temp_over = TEMP_OVER_DEFAULT;
	ctrlr->temp_under = 0;
}

void tgt_ctrlr_set_cc(struct tgt_ctrlr *ctrlr, uint32_t cc)
{
	bool was_enabled = CC_FIELD(ctrlr->cc, EN), is_enabled = CC_FIELD(cc, EN);
	uint32_t shutdown = CC_FIELD(cc, SHN), shutdown_before = CC_FIELD(ctrlr->cc, SHN);

	ctrlr->cc = cc;
	if (is_enabled && !was_enabled) {
		ctrlr->csts = cc_is_valid(ctrlr, cc) ? CSTS_RDY : CSTS_CFS;
		if (ctrlr->csts == CSTS_CFS)
			tgt_log("controller %u: host enables it with an unsupported CC 0x%08x",
				ctrlr->cntlid, cc);
		tgt_keepalive_seen(ctrlr);
	} else if (!is_enabled && was_enabled) {
		ctrlr->csts &= CSTS_RDY; /* until the I/O queues are gone */
		stop(ctrlr);
		reset_features(ctrlr);
	}
	/* Only a reset ends a shutdown: SHN going back to 0 changes nothing. */
	if (shutdown != NVME_CC_SHN_NONE && shutdown != shutdown_before) {
		ctrlr->csts = (ctrlr->csts & ~CSTS_SHST_ALL) | CSTS_SHST(NVME_CSTS_SHST_OCCUR);
		stop(ctrlr);
	}
	finish_stop(ctrlr);
}

void tgt_keepalive_set(struct tgt_ctrlr *ctrlr, uint32_t kato_ms)
{
	const uint32_t granule = TGT_KAS * 100;

	/* A controller rounds up to its granularity (NVMe Base 2.0, 3.9). */
	if (kato_ms > UINT32_MAX - granule)
		kato_ms = UINT32_MAX - granule;
	ctrlr->kato_ms = (kato_ms + granule - 1) / granule * granule;
	tgt_keepalive_seen(ctrlr);
}

bool tgt_ctrlr_was_active(struct tgt_ctrlr *ctrlr)
{
	bool was_active = false;
	uint16_t qid;

	/* All of them: each looks from here on the next time. */
	for (qid = 1; qid <= TGT_MAX_IO_QUEUES; qid++)
		if (ctrlr->queues[qid] && !ctrlr->queues[qid]->is_closing)
			was_active |= ctrlr->queues[qid]->ops->was_active(ctrlr->queues[qid]);
	return was_active;
}

void tgt_keepalive_seen(struct tgt_ctrlr *ctrlr)
{
	uint32_t ms = ctrlr->kato_ms;

	if (!ms && ctrlr->subsys->is_discovery)
		ms = TGT_DISCOVERY_IDLE_MS;
	ctrlr->alive_until_ms = ms ? ctrlr->tgt->now_ms + ms : UINT64_MAX;
}

void tgt_error_record(struct tgt_ctrlr *ctrlr, const struct tgt_error_entry *entry)
{
	struct tgt_error_entry *e = &ctrlr->errors[ctrlr->n_errors % TGT_ERROR_LOG_ENTRIES];

	*e = *entry;
	e->number = ++ctrlr->n_errors;
}
