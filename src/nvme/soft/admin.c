/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The admin queue: fetching, completing, and the commands that fit on a screen: queues, Abort,
 * Asynchronous Event Request. Everything runs to its end inside the doorbell write.
 */
#include "nvme/soft/priv.h"

#include <string.h>

/* What a command handler answers instead of a status when the command is kept. */
#define HELD 0xffff

static uint16_t admin_sq_entries(const struct nv_soft *soft)
{
	return (uint16_t)(NVME_AQA_ASQS(soft->aqa) + 1);
}

static uint16_t admin_cq_entries(const struct nv_soft *soft)
{
	return (uint16_t)(NVME_AQA_ACQS(soft->aqa) + 1);
}

void nv_soft_admin_start(struct nv_soft *soft)
{
	soft->admin_sq = (struct nv_sqe *)(uintptr_t)soft->asq;
	soft->admin_cq = (struct nv_cqe *)(uintptr_t)soft->acq;
	soft->admin_sq_head = 0;
	soft->admin_cq_tail = 0;
	soft->admin_phase = 1;
}

void nv_soft_log_error(struct nv_soft *soft, uint16_t qid, uint16_t cid, uint16_t status,
		       uint32_t nsid, uint64_t lba)
{
	struct nvme_error_log_page *entry;

	pthread_mutex_lock(&soft->errors_lock);
	entry = &soft->errors[soft->error_count % NV_SOFT_ERROR_LOG_ENTRIES];
	soft->error_count++;
	memset(entry, 0, sizeof(*entry));
	entry->error_count = htole64(soft->error_count);
	entry->sqid = htole16(qid);
	entry->cmdid = htole16(cid);
	entry->status_field = htole16((uint16_t)(status << NV_CQE_STATUS_SHIFT));
	entry->parm_error_location = htole16(0xffff); /* not reported */
	entry->lba = htole64(lba);
	entry->nsid = htole32(nsid);
	pthread_mutex_unlock(&soft->errors_lock);
}

uint16_t nv_soft_admin_reply(struct nv_soft *soft, const struct nv_sqe *sqe, const void *data,
			     size_t len, size_t room)
{
	struct iovec iov[NV_SOFT_MAX_IOV];
	unsigned int hint = 0;
	uint16_t status;
	int count;

	if (room > NV_SOFT_MDTS_BYTES)
		return DNR(NVME_SC_INVALID_FIELD);
	status = nv_soft_prp(soft->mem, &hint, le64toh(sqe->prp1), le64toh(sqe->prp2),
			     (uint32_t)room, iov, &count);
	if (status)
		return status;
	if (len > room)
		len = room;
	for (int i = 0; i < count; i++) {
		size_t part = iov[i].iov_len < len ? iov[i].iov_len : len;

		if (part) { /* no data at all may be NULL */
			memcpy(iov[i].iov_base, data, part);
			data = (const char *)data + part;
			len -= part;
		}
		memset((char *)iov[i].iov_base + part, 0, iov[i].iov_len - part);
	}
	return 0;
}

/* ---- queues: NVMe Base 2.0, 5.4 to 5.7 ---------------------------------------------------- */

static bool qid_in_range(const struct nv_soft *soft, uint16_t qid)
{
	return qid >= 1 && qid <= soft->granted_queues;
}

/* Checks common to both kinds of ring. */
static uint16_t parse_ring(struct nv_soft *soft, const struct nv_sqe *sqe, unsigned int shift,
			   struct nv_soft_ring *ring)
{
	uint32_t zero_based = le32toh(sqe->cdw10) >> 16;
	uint64_t addr = le64toh(sqe->prp1);
	unsigned int hint = 0;

	if (zero_based == 0 || zero_based >= soft->max_entries)
		return DNR_SPECIFIC(NVME_SC_QUEUE_SIZE);
	if (!(le32toh(sqe->cdw11) & 1)) /* PC: CAP.CQR demands contiguous rings */
		return DNR(NVME_SC_INVALID_FIELD);
	if (addr & (NV_PAGE_SIZE - 1))
		return DNR(NVME_SC_PRP_INVALID_OFFSET);
	if (!nv_soft_mem_check(soft->mem, addr, (uint64_t)(zero_based + 1) << shift, &hint))
		return NVME_SC_DATA_XFER_ERROR;
	ring->base = (void *)(uintptr_t)addr;
	ring->entries = (uint16_t)(zero_based + 1);
	return 0;
}

static uint16_t create_cq(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	uint16_t qid = le32toh(sqe->cdw10) & 0xffff;
	struct nv_soft_ring ring;
	uint16_t status;

	if (!qid_in_range(soft, qid) || soft->queues[qid])
		return DNR_SPECIFIC(NVME_SC_QID_INVALID);
	status = parse_ring(soft, sqe, NV_CQE_SHIFT, &ring);
	if (status)
		return status;
	if (le32toh(sqe->cdw11) & 2) /* IEN: there is no interrupt in one process */
		return DNR_SPECIFIC(NVME_SC_INVALID_VECTOR);
	return nv_soft_queue_create_cq(soft, qid, &ring);
}

static uint16_t create_sq(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	uint16_t qid = le32toh(sqe->cdw10) & 0xffff;
	uint16_t cqid = (uint16_t)(le32toh(sqe->cdw11) >> 16);
	struct nv_soft_ring ring;
	uint16_t status;

	if (!qid_in_range(soft, qid) || (soft->queues[qid] && soft->queues[qid]->sq))
		return DNR_SPECIFIC(NVME_SC_QID_INVALID);
	if (!qid_in_range(soft, cqid))
		return DNR_SPECIFIC(NVME_SC_QID_INVALID);
	/* A pair belongs to one thread, so an SQ completes to the CQ of its own number only. */
	if (cqid != qid || !soft->queues[qid])
		return DNR_SPECIFIC(NVME_SC_CQ_INVALID);
	status = parse_ring(soft, sqe, NV_SQE_SHIFT, &ring);
	if (status)
		return status;
	return nv_soft_queue_create_sq(soft, qid, &ring);
}

static uint16_t delete_sq(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	uint16_t qid = le32toh(sqe->cdw10) & 0xffff;

	if (!qid_in_range(soft, qid) || !soft->queues[qid] || !soft->queues[qid]->sq)
		return DNR_SPECIFIC(NVME_SC_QID_INVALID);
	nv_soft_queue_delete_sq(soft->queues[qid]);
	return 0;
}

static uint16_t delete_cq(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	uint16_t qid = le32toh(sqe->cdw10) & 0xffff;

	if (!qid_in_range(soft, qid) || !soft->queues[qid])
		return DNR_SPECIFIC(NVME_SC_QID_INVALID);
	if (soft->queues[qid]->sq)
		return DNR_SPECIFIC(NVME_SC_INVALID_QUEUE);
	nv_soft_queue_delete_cq(soft->queues[qid]);
	return 0;
}

/* ---- the run loop ------------------------------------------------------------------------- */

static bool admin_cq_is_full(const struct nv_soft *soft)
{
	uint32_t head = __atomic_load_n(nv_soft_doorbell(soft, 0, true), __ATOMIC_ACQUIRE);
	uint32_t next = soft->admin_cq_tail + 1u;

	return (next == admin_cq_entries(soft) ? 0 : next) == head;
}

static void put(struct nv_soft *soft, const struct nv_soft_posting *posting)
{
	nv_soft_write_cqe(&soft->admin_cq[soft->admin_cq_tail], posting);
	if (++soft->admin_cq_tail == admin_cq_entries(soft)) {
		soft->admin_cq_tail = 0;
		soft->admin_phase ^= 1;
	}
}

static void put_torn(struct nv_soft *soft, struct nv_soft_posting *posting)
{
	uint32_t kinds = nv_soft_take_tears(soft, 0);

	if (kinds & 1u << NV_SOFT_TORN_SILENT)
		return;
	nv_soft_tear_posting(posting, kinds);
	put(soft, posting);
	if (!(kinds & 1u << NV_SOFT_TORN_TWICE) || admin_cq_is_full(soft))
		return;
	posting->phase = soft->admin_phase;
	put(soft, posting);
}

static void post(struct nv_soft *soft, uint16_t cid, uint16_t status, uint32_t dw0)
{
	struct nv_soft_posting posting = {
		.dw0 = dw0,
		.sq_head = soft->admin_sq_head,
		.cid = cid,
		.status = status,
		.phase = soft->admin_phase,
	};

	if (nv_soft_is_armed(soft, 0))
		put_torn(soft, &posting);
	else
		put(soft, &posting);
}

static uint16_t hold_aer(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	if (soft->aer_count == NV_SOFT_MAX_AER)
		return DNR_SPECIFIC(NVME_SC_ASYNC_LIMIT);
	soft->aer_cid[soft->aer_count++] = sqe->cid;
	return HELD;
}

/* Namespace Attribute Changed is a notice (type 2) with information 0; log page 4 has the rest. */
void nv_soft_send_event(struct nv_soft *soft)
{
	const uint32_t event = NVME_AER_NOTICE | NVME_LOG_LID_CHANGED_NS << 16;

	if (!soft->ns_event_due || soft->ns_event_masked || !soft->aer_count ||
	    !(soft->features.async_event & NVME_FEAT_AE_NAN_MASK << NVME_FEAT_AE_NAN_SHIFT) ||
	    !NVME_CSTS_RDY(soft->csts) || nv_soft_halted(soft) != NV_SOFT_RUNNING ||
	    admin_cq_is_full(soft))
		return;
	soft->ns_event_due = false;
	soft->ns_event_masked = true;
	post(soft, soft->aer_cid[--soft->aer_count], NVME_SC_SUCCESS, event);
}

/*
 * Only a held AER can be found here: admin commands run to their end, and I/O commands belong to
 * other threads. Dword 0, bit 0 tells the truth: 1 = not aborted.
 */
static uint16_t abort_command(struct nv_soft *soft, const struct nv_sqe *sqe, uint32_t *dw0)
{
	uint16_t qid = le32toh(sqe->cdw10) & 0xffff;
	uint16_t cid = htole16((uint16_t)(le32toh(sqe->cdw10) >> 16));

	*dw0 = 1;
	for (unsigned int i = 0; qid == 0 && i < soft->aer_count; i++) {
		if (soft->aer_cid[i] != cid || admin_cq_is_full(soft))
			continue;
		soft->aer_cid[i] = soft->aer_cid[--soft->aer_count];
		post(soft, cid, NVME_SC_ABORT_REQ, 0);
		*dw0 = 0;
		break;
	}
	return 0;
}

static uint16_t execute(struct nv_soft *soft, const struct nv_sqe *sqe, uint32_t *dw0)
{
	if (sqe->flags & (NV_SQE_FUSE_MASK | NV_SQE_PSDT_MASK))
		return DNR(NVME_SC_INVALID_FIELD); /* no fused admin command; PRPs only */
	switch (sqe->opcode) {
	case nvme_admin_delete_sq:
		return delete_sq(soft, sqe);
	case nvme_admin_create_sq:
		return create_sq(soft, sqe);
	case nvme_admin_get_log_page:
		return nv_soft_get_log_page(soft, sqe);
	case nvme_admin_delete_cq:
		return delete_cq(soft, sqe);
	case nvme_admin_create_cq:
		return create_cq(soft, sqe);
	case nvme_admin_identify:
		return nv_soft_identify(soft, sqe);
	case nvme_admin_abort_cmd:
		return abort_command(soft, sqe, dw0);
	case nvme_admin_set_features:
		return nv_soft_set_features(soft, sqe, dw0);
	case nvme_admin_get_features:
		return nv_soft_get_features(soft, sqe, dw0);
	case nvme_admin_async_event:
		return hold_aer(soft, sqe);
	default:
		return DNR(NVME_SC_INVALID_OPCODE);
	}
}

void nv_soft_admin_run(struct nv_soft *soft)
{
	uint32_t tail = __atomic_load_n(nv_soft_doorbell(soft, 0, false), __ATOMIC_ACQUIRE);

	if (!NVME_CSTS_RDY(soft->csts) || tail >= admin_sq_entries(soft))
		return;
	if (nv_soft_halted(soft) != NV_SOFT_RUNNING)
		return;
	while (soft->admin_sq_head != tail && !admin_cq_is_full(soft)) {
		struct nv_sqe sqe = soft->admin_sq[soft->admin_sq_head];
		uint32_t dw0 = 0;
		uint16_t status;

		if (++soft->admin_sq_head == admin_sq_entries(soft))
			soft->admin_sq_head = 0;
		status = execute(soft, &sqe, &dw0);
		if (status == HELD)
			continue;
		if (status) {
			nv_soft_count(&soft->stats[0].count.errors, 1);
			nv_soft_log_error(soft, 0, le16toh(sqe.cid), status, le32toh(sqe.nsid), 0);
		}
		post(soft, sqe.cid, status, dw0);
	}
	nv_soft_send_event(soft);
}
