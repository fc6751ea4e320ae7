/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the soft controller: its objects and what its files call of one another.
 *   regs.c      register file, CC transitions, doorbells
 *   admin.c     admin queue and its commands; identify.c, feature.c, log.c the larger ones
 *   ns.c        namespaces and identifiers
 *   queue.c     I/O queue pairs: life, fetching commands, posting completions
 *   io.c        I/O commands: checks and translation into store requests
 *   io_multi.c  I/O commands of several steps: Compare, Verify, Dataset Management
 *   prp.c       PRP lists into iovecs
 *   mem.c       the memory that may be touched
 *   inject.c    what goes wrong on purpose
 */
#ifndef NV_SOFT_PRIV_H
#define NV_SOFT_PRIV_H

#include <pthread.h>
#include <sys/uio.h>

#include "nvme/limits.h"
#include "nvme/soft/inject.h"
#include "nvme/soft/soft.h"
#include "nvme/spec.h"
#include "util/compiler.h"
#include "util/time.h"

static_assert(NV_SOFT_MAX_NS <= 64, "changed_ns has a bit for each namespace");

#define DNR(code) ((uint16_t)((code) | NV_SC_DNR))

/* A status that the command-specific type makes unique, always with Do Not Retry. */
#define DNR_SPECIFIC(code) DNR(NV_SC(NVME_SCT_CMD_SPECIFIC, code))

/* 1 MiB at any offset touches 257 pages. */
#define NV_SOFT_MAX_IOV (NV_SOFT_MDTS_BYTES / NV_PAGE_SIZE + 1)

/* CAP.DSTRD: 32 bytes, so that the two doorbells of a pair share one cache line with nobody. */
#define NV_SOFT_DSTRD	  3u
#define NV_SOFT_DB_STRIDE (4u << NV_SOFT_DSTRD)
#define NV_SOFT_VERSION	  0x00010400u /* NVMe 1.4 */
#define NV_SOFT_FIRMWARE  "1.0"

struct nv_soft_ns {
	struct nv_store *store; /* NULL = no such namespace */
	uint64_t blocks; /* the registers' thread writes, queues read: relaxed */
	unsigned int block_shift;
	uint8_t nguid[16];
	uint8_t eui64[8];
	uint8_t uuid[16];
};

/*
 * Counters of one I/O queue. Owner: the queue's thread writes; anybody reads, relaxed. They stay
 * with the controller when the queue goes.
 */
struct nv_soft_queue_stats {
	util_cache_aligned struct nv_soft_stats count;
};

/* Values that Set Features can change; a reset brings the defaults back. */
struct nv_soft_features {
	uint32_t arbitration;
	uint32_t temperature_over;
	uint32_t temperature_under;
	uint32_t error_recovery;
	uint32_t write_cache; /* read by queue threads, relaxed */
	uint32_t irq_coalesce;
	uint32_t write_atomicity;
	uint32_t async_event;
};

/* By qid. Shared: `armed` is read by the queue's thread without the lock, the rest under it. */
struct nv_soft_tears {
	bool armed; /* something is left, or the controller is halted */
	uint32_t left[NV_SOFT_TORN_KINDS];
};

/* Lock: `lock` guards the tears and orders writers of `halt`, which is read without, relaxed. */
struct nv_soft_injection {
	pthread_mutex_t lock;
	enum nv_soft_halt halt;
	struct nv_soft_tears tears[NV_MAX_IO_QUEUES + 1];
};

struct nv_soft_queue;

struct nv_soft {
	struct nv_soft_mem *mem;
	char serial[21];
	char model[41];
	char subnqn[224];
	uint16_t cntlid;
	uint16_t max_io_queues;
	uint16_t max_entries;
	uint64_t created_ns;

	/* Registers. Doorbells are plain memory that others store to. */
	uint64_t cap;
	uint32_t cc;
	uint32_t csts;
	uint32_t aqa;
	uint32_t intm;
	uint64_t asq;
	uint64_t acq;
	void *doorbells;
	size_t doorbell_bytes;

	/* Admin queue; valid while CSTS.RDY. */
	struct nv_sqe *admin_sq;
	struct nv_cqe *admin_cq;
	uint16_t admin_sq_head;
	uint16_t admin_cq_tail;
	uint8_t admin_phase;
	uint16_t aer_cid[NV_SOFT_MAX_AER];
	unsigned int aer_count;
	uint64_t changed_ns; /* bit nsid - 1: what log page 4 is to say */
	bool ns_event_due; /* for the next Asynchronous Event Request */
	bool ns_event_masked; /* reported, until the log page is read */

	struct nv_soft_features features;
	uint16_t granted_queues;
	struct nv_soft_queue *queues[NV_MAX_IO_QUEUES + 1]; /* by qid; [0] unused */
	struct nv_soft_queue_stats *stats; /* by qid; [0] is the admin queue */
	struct nv_soft_ns ns[NV_SOFT_MAX_NS]; /* by nsid - 1 */

	/* Lock: errors_lock guards the error log, which failing commands of all threads write. */
	pthread_mutex_t errors_lock;
	struct nvme_error_log_page errors[NV_SOFT_ERROR_LOG_ENTRIES];
	uint64_t error_count;

	struct nv_soft_injection inject;
};

/* What Create I/O CQ / SQ asked for, checked. */
struct nv_soft_ring {
	void *base;
	uint16_t entries;
};

/* One I/O command under way. */
struct nv_soft_io {
	struct nv_store_req req;
	struct nv_soft_queue *queue;
	struct nv_soft_io *next; /* in the free list, or in the list that it waits in */
	struct nv_soft_ns *ns;
	struct nv_store_chan *chan;
	uint32_t nsid;
	uint16_t cid;
	uint16_t status; /* for the completion once it waits for room */
	uint8_t opcode;

	/* Commands of several steps, io_multi.c. */
	bool running; /* inside the loop that issues steps */
	bool step_done;
	int result;
	uint32_t step;
	uint32_t step_count;
	uint64_t offset_bytes;
	uint64_t left_bytes;
	uint32_t piece_bytes;
	struct iovec step_iov;
	int data_count; /* of iov below: the host's side of a Compare */
	int data_index;
	size_t data_offset;

	union {
		struct iovec iov[NV_SOFT_MAX_IOV];
		struct nvme_dsm_range ranges[NV_SOFT_DSM_MAX_RANGES];
	};
};

struct nv_soft_io_list {
	struct nv_soft_io *head;
	struct nv_soft_io *tail;
};

/*
 * An I/O queue pair. The CQ part exists first; the rest when its SQ is created. Owner: the thread
 * that calls the companion, from SQ creation to SQ deletion; else the admin thread.
 */
struct nv_soft_queue {
	struct nv_soft *soft;
	uint16_t qid;

	struct nv_cqe *cq;
	uint16_t cq_entries;
	uint16_t cq_tail;
	uint16_t cq_head; /* last seen in the doorbell */
	uint8_t phase;
	const uint32_t *cq_head_doorbell;

	struct nv_sqe *sq; /* NULL = no SQ yet */
	uint16_t sq_entries;
	uint16_t sq_head;
	const uint32_t *sq_tail_doorbell;

	struct nv_soft_io *ios;
	unsigned int io_count;
	unsigned int inflight;
	struct nv_soft_io *free;
	struct nv_soft_io_list done; /* wait for room in the CQ */
	unsigned int posted; /* completions since poll began */

	uint8_t *bounce; /* one Compare or Verify at a time */
	struct nv_soft_io *scanning;
	struct nv_soft_io_list scan_wait;
	bool scan_loop; /* somebody below hands out the bounce buffer */

	struct nv_store_chan *chan[NV_SOFT_MAX_NS]; /* by nsid - 1 */
	struct nv_store *chan_store[NV_SOFT_MAX_NS];
	unsigned int top_nsid; /* channels lie below */
	int epoll_fd; /* over the channels' fds */

	unsigned int region_hint; /* where prp.c found the last address */
	struct nv_soft_stats *count;
};

static inline void nv_soft_count(uint64_t *counter, uint64_t add)
{
	__atomic_store_n(counter, *counter + add, __ATOMIC_RELAXED);
}

static inline uint32_t *nv_soft_doorbell(const struct nv_soft *soft, uint16_t qid, bool is_cq)
{
	return (uint32_t *)((char *)soft->doorbells + (2u * qid + is_cq) * NV_SOFT_DB_STRIDE);
}

static inline uint64_t nv_soft_blocks(const struct nv_soft_ns *ns)
{
	return __atomic_load_n(&ns->blocks, __ATOMIC_RELAXED);
}

static inline struct nv_soft_ns *nv_soft_find_ns(struct nv_soft *soft, uint32_t nsid)
{
	if (nsid == 0 || nsid > NV_SOFT_MAX_NS || !soft->ns[nsid - 1].store)
		return NULL;
	return &soft->ns[nsid - 1];
}

/* ns.c */
void nv_soft_default_subnqn(struct nv_soft *soft);
uint32_t nv_soft_top_nsid(const struct nv_soft *soft);
bool nv_soft_has_write_cache(const struct nv_soft *soft);

/* mem.c: may @len bytes at @addr be touched? *@hint speeds up the next question. */
bool nv_soft_mem_check(struct nv_soft_mem *mem, uint64_t addr, uint64_t len, unsigned int *hint);

/*
 * prp.c: @len bytes described by two PRPs, as pieces of our memory, neighbours merged. @iov has
 * NV_SOFT_MAX_IOV entries; @len is at most NV_SOFT_MDTS_BYTES and not 0. Returns an NVMe status.
 */
uint16_t nv_soft_prp(struct nv_soft_mem *mem, unsigned int *hint, uint64_t prp1, uint64_t prp2,
		     uint32_t len, struct iovec *iov, int *ret_count);

/* admin.c */
void nv_soft_admin_start(struct nv_soft *soft);
void nv_soft_admin_run(struct nv_soft *soft);
/* Complete a held request with what is due, if that is not masked and was asked for. */
void nv_soft_send_event(struct nv_soft *soft);
void nv_soft_log_error(struct nv_soft *soft, uint16_t qid, uint16_t cid, uint16_t status,
		       uint32_t nsid, uint64_t lba);
/* Send @len bytes to the command's buffer of @room bytes; zeroes follow if @room is larger. */
uint16_t nv_soft_admin_reply(struct nv_soft *soft, const struct nv_sqe *sqe, const void *data,
			     size_t len, size_t room);

/* identify.c, feature.c, log.c: one admin command each. */
uint16_t nv_soft_identify(struct nv_soft *soft, const struct nv_sqe *sqe);
uint16_t nv_soft_get_features(struct nv_soft *soft, const struct nv_sqe *sqe, uint32_t *dw0);
uint16_t nv_soft_set_features(struct nv_soft *soft, const struct nv_sqe *sqe, uint32_t *dw0);
void nv_soft_features_reset(struct nv_soft *soft);
uint16_t nv_soft_get_log_page(struct nv_soft *soft, const struct nv_sqe *sqe);

/* inject.c */

/* Kinds of tear (bits) for the completion that is about to be posted on @qid. */
uint32_t nv_soft_take_tears(struct nv_soft *soft, uint16_t qid);
void nv_soft_set_halt(struct nv_soft *soft, enum nv_soft_halt how);

static inline enum nv_soft_halt nv_soft_halted(const struct nv_soft *soft)
{
	return __atomic_load_n(&soft->inject.halt, __ATOMIC_RELAXED);
}

/* The one branch: must nv_soft_take_tears() or nv_soft_halted() be asked? */
static inline bool nv_soft_is_armed(const struct nv_soft *soft, uint16_t qid)
{
	return __builtin_expect(__atomic_load_n(&soft->inject.tears[qid].armed, __ATOMIC_RELAXED),
				false);
}

/* A completion as it is posted, and what a tear makes of it. */
struct nv_soft_posting {
	uint32_t dw0;
	uint16_t sq_head;
	uint16_t sq_id;
	uint16_t cid; /* as the host wrote it */
	uint16_t status;
	uint8_t phase;
};

static inline void nv_soft_write_cqe(struct nv_cqe *cqe, const struct nv_soft_posting *posting)
{
	uint16_t field = (uint16_t)(posting->status << NV_CQE_STATUS_SHIFT | posting->phase);

	cqe->dw0 = htole32(posting->dw0);
	cqe->dw1 = 0;
	cqe->sq_head = htole16(posting->sq_head);
	cqe->sq_id = htole16(posting->sq_id);
	cqe->cid = posting->cid;
	/* The phase tag hands the entry over: all of it must be there before. */
	__atomic_store_n(&cqe->status, htole16(field), __ATOMIC_RELEASE);
}

static inline void nv_soft_tear_posting(struct nv_soft_posting *posting, uint32_t kinds)
{
	if (kinds & 1u << NV_SOFT_TORN_PHASE)
		posting->phase ^= 1;
	if (kinds & 1u << NV_SOFT_TORN_CID)
		posting->cid = 0xffff;
}

/* queue.c: NVMe status each. */
uint16_t nv_soft_queue_create_cq(struct nv_soft *soft, uint16_t qid, const struct nv_soft_ring *cq);
uint16_t nv_soft_queue_create_sq(struct nv_soft *soft, uint16_t qid, const struct nv_soft_ring *sq);
void nv_soft_queue_delete_sq(struct nv_soft_queue *queue);
void nv_soft_queue_delete_cq(struct nv_soft_queue *queue);
void nv_soft_queue_doorbell(void *arg);
unsigned int nv_soft_queue_poll(void *arg);
/* Complete @io with @status; @io is free for the next command afterwards. */
void nv_soft_io_complete(struct nv_soft_io *io, uint16_t status);

/* io.c: start the command @sqe in the slot @io. */
void nv_soft_io_start(struct nv_soft_io *io, const struct nv_sqe *sqe);
uint16_t nv_soft_io_status(enum nv_store_op op, int result);
uint16_t nv_soft_io_check_range(const struct nv_soft_ns *ns, uint64_t slba, uint64_t blocks);

/* io_multi.c */

/* Compare or Verify the range in io->req, against io->iov. Completes @io. */
void nv_soft_scan_start(struct nv_soft_io *io);

/* Copy @count ranges to io->ranges and check them. Returns an NVMe status. */
uint16_t nv_soft_dsm_read_ranges(struct nv_soft_io *io, uint64_t prp1, uint64_t prp2,
				 uint32_t count);

/* Deallocate the ranges read before. Completes @io. */
void nv_soft_dsm_start(struct nv_soft_io *io);

static inline void nv_soft_io_push(struct nv_soft_io_list *list, struct nv_soft_io *io)
{
	io->next = NULL;
	if (list->tail)
		list->tail->next = io;
	else
		list->head = io;
	list->tail = io;
}

static inline struct nv_soft_io *nv_soft_io_pop(struct nv_soft_io_list *list)
{
	struct nv_soft_io *io = list->head;

	if (io) {
		list->head = io->next;
		if (!list->head)
			list->tail = NULL;
	}
	return io;
}

#endif
