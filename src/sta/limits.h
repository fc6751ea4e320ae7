/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every limit of libdoca_sta, in one place. doca_sta_get_max_*() report these numbers, object
 * constructors enforce them, and the engine sizes its tables by them. Nothing a peer sends can
 * make the library allocate: memory is taken when the application creates queues.
 */
#ifndef STA_LIMITS_H
#define STA_LIMITS_H

#define STA_MAX_DEVS	      16u
#define STA_MAX_EUS	      16u
#define STA_MAX_IO_THREADS    64u
#define STA_MAX_SUBSYSTEMS    512u
#define STA_MAX_NS_PER_SUBSYS 1024u
#define STA_MAX_BACKENDS      256u
#define STA_MAX_QUEUES_PER_BE 64u
#define STA_MAX_QPS	      4096u
#define STA_MAX_QPS_PER_EU    4096u
#define STA_MAX_IOS_PER_EU    4096u
/* Of these the last are for queues whose Connect is not answered: I/O does not keep them out. */
#define STA_CONNECT_IOS_PER_EU 256u
/* Tasks of the non-offload path that are submitted to an EU and that it has not taken yet. */
#define STA_MAX_TASKS_AT_EU 1024u
#define STA_MAX_IO_BYTES    (1024u * 1024u)
#define STA_MAX_NQN_BYTES   223u

/* Queue depth, as a count. The smallest is what NVMe allows (SQSIZE 1, zero based). */
#define STA_MIN_QUEUE_DEPTH 2u
#define STA_MAX_QUEUE_DEPTH 1024u

/* Capsules. 64 bytes of command, and behind it one page of data, landed page aligned. */
#define STA_SQE_BYTES  64u
#define STA_CQE_BYTES  16u
#define STA_ICD_BYTES  4096u
#define STA_MIN_IOCCSZ STA_SQE_BYTES
#define STA_MAX_IOCCSZ (STA_SQE_BYTES + STA_ICD_BYTES)
#define STA_MIN_IORCSZ STA_CQE_BYTES
#define STA_MAX_IORCSZ STA_CQE_BYTES
#define STA_MAX_ICDOFF 0u

/* Back-end queues: ring entries are a power of two in this range. */
#define STA_MIN_BEQ_ENTRIES  2u
#define STA_MAX_BEQ_ENTRIES  65536u
#define STA_MAX_BEQ_INFLIGHT 1023u
#define STA_BE_TIMEOUT_NS    (30ull * 1000000000ull)

/* Logical block sizes: powers of two in this range. */
#define STA_MIN_BLOCK_BYTES 512u
#define STA_MAX_BLOCK_BYTES 4096u

/* Memory page of the back-end controllers (CC.MPS 0). */
#define STA_PAGE_BYTES 4096u

/*
 * Shares of the staging slots of an EU, of each size: one slot is kept for each QP that has none,
 * of one in so many slots at most; and a QP may get one more while it holds at most so many times
 * what is free besides.
 */
#define STA_KEPT_SLOTS_PART 4u
#define STA_SHARE_OF_FREE   4u

/*
 * Completion queues. A QP takes two entries a command (receive, send) and one more for a write
 * that fails; QPs share a queue until it has no room for the next.
 */
#define STA_CQ_ENTRIES 16384u
#define STA_POLL_BATCH 32u

/* An EU that found nothing to do for this long goes to sleep on its fds. */
#define STA_SPIN_NS 30000ull
/* How long it sleeps when a back-end without an fd has commands outstanding. */
#define STA_NAP_NS 50000ull

/*
 * When a STA IO context stops: how long what the host has in flight may take in all; how
 * long new commands are taken; how long a host that takes no answer is waited for; and how long
 * nothing must come for the host to count as answered: its last commands may be in the network.
 */
#define STA_QUIESCE_NS	     3000000000ull
#define STA_QUIESCE_TAKE_NS  100000000ull
#define STA_QUIESCE_STALL_NS 500000000ull
#define STA_QUIESCE_QUIET_NS 5000000ull
#define STA_QUIESCE_NAP_NS   1000000ull

#endif
