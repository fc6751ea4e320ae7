/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: execution units, their QPs, requests and back-end queues. One EU is one thread that
 * runs each command to completion; nothing in here is touched by two threads at a time except
 * where a field says so. Objects move between threads by messages (msg.h) only.
 */
#ifndef STA_EU_H
#define STA_EU_H

#include <pthread.h>
#include <stdatomic.h>

#include <infiniband/verbs.h>

#include <doca_sta_stats.h>

#include "core/companion.h"
#include "sta/buf.h"
#include "sta/capsule.h"
#include "sta/msg.h"
#include "sta/nvq.h"
#include "sta/stats.h"
#include "util/list.h"

struct doca_sta;
struct doca_sta_io;
struct doca_sta_qp_handle;
struct doca_sta_ns_handle;
struct doca_sta_be_q_handle;
struct sta_task;

/* What a work request was, found again by its wr_id. */
enum sta_wr_kind {
	STA_WR_RECV,
	STA_WR_READ, /* data from the host */
	STA_WR_WRITE, /* data to the host; completes only when it fails */
	STA_WR_SEND, /* response capsule */
};

struct sta_wr {
	struct doca_sta_qp_handle *qp;
	enum sta_wr_kind kind;
};

/* A posted receive: 64 bytes of command, and a page for the data behind it. */
struct sta_rx {
	struct sta_wr wr; /* first: wr_id */
	struct sta_rx *next;
	struct sta_sqe *sqe;
	uint8_t *data;
	uint64_t data_phys;
	uint32_t bytes; /* of the capsule received */
	struct ibv_recv_wr recv;
	struct ibv_sge sge[2];
};

/* States of a request; docs/design/sta.md draws them. */
enum sta_req_state {
	STA_REQ_FREE,
	STA_REQ_WAIT_SLOT, /* in the QP's queue for a staging slot */
	STA_REQ_FETCH, /* RDMA READ of the host's data */
	STA_REQ_EXECUTE, /* at, or on its way to or from, a back-end queue */
	STA_REQ_APP, /* with the application: a non-offload callback is open */
	STA_REQ_RESPOND, /* response posted */
};

/* What a command's completion says. */
struct sta_result {
	sta_status_t status;
	uint32_t dw0, dw1;
};

/*
 * A command between capsule and response.
 * Owner: the EU of its QP; while EXECUTE the EU of the back-end queue; while APP the fields the
 * application sees (sqe, payload) are constant. A command that is late has two owners: the EU of
 * its QP answers it while that of the queue goes on to wait for it. The latter then writes
 * from_be and msg, nothing else.
 * Life: from capsule to the completion of the response AND the return of the back-end command.
 */
struct sta_req {
	struct sta_wr read, write, send;
	struct doca_sta_qp_handle *qp;
	struct sta_req *next; /* free list of the QP, or wait queue of a back-end queue */
	enum sta_req_state state;
	bool is_at_backend; /* the controller may touch the buffers */
	bool is_late; /* answered after the back-end timed out */
	bool is_counted; /* in eu->num_held */
	struct sta_result result; /* for the host */
	struct sta_result from_be;
	uint64_t queued_ns; /* when it began to wait for room in the ring */
	struct sta_sqe sqe;
	struct sta_capsule cap;
	struct sta_rx *rx; /* holds in-capsule data, else NULL (posted again) */
	struct sta_buf_wait wait; /* .slot: staging slot, or NULL */
	struct doca_sta_ns_handle *ns; /* counted in flight there; NULL: no longer */
	struct doca_sta_be_q_handle *beq;
	struct sta_task *task; /* the application's, while one is in flight */
	uint64_t token; /* control: of the callback that the application has to answer; 0: none */
	bool has_task; /* control: one is submitted and not complete */
	struct sta_msg msg; /* hand-over */
	struct sta_msg late_msg;
	struct sta_cqe *rsp; /* in the QP's registered memory */
	struct ibv_send_wr data_wr, rsp_wr;
	struct ibv_sge data_sge, rsp_sge;
};

enum sta_qp_state {
	STA_QP_ACCEPTED, /* capsules wait */
	STA_QP_LIVE,
	STA_QP_FAILED, /* in error, parked until the application lets go; nothing is posted */
};

/*
 * One I/O connection.
 * Owner of "control": the thread of the sta_io context. Owner of "engine": the EU.
 * Shared: the atomics, written by control. Constant from accept on: the rest.
 * Life: ended by control when the EU has reported it drained and no task refers to it. What it had
 * is gone then; the object itself stays for those who only want to know its name (num_refs).
 */
struct doca_sta_qp_handle {
	/* constant */
	struct doca_sta_io *io;
	struct sta_eu *eu;
	struct sta_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	unsigned int vdev; /* index, selects MRs */
	uint32_t depth;
	void *mem; /* receive pages, then commands, then responses */
	struct sta_rx *rxs;
	struct sta_req *reqs;

	/* shared, written by control */
	struct doca_sta_subs_handle *_Atomic subsys;
	_Atomic uint32_t sq_size; /* where SQHD wraps */

	/* shared */
	_Atomic uint32_t num_refs; /* control's, events about it, the last list of its EU */

	/* engine */
	enum sta_qp_state state __attribute__((aligned(64)));
	bool is_drain_wanted;
	bool is_refusing; /* takes no new commands: about to be disconnected */
	bool is_dirty; /* on the EU's list of QPs with something to post */
	bool is_connected; /* Connect was answered with success */
	bool is_flow_control_off;
	bool is_held_up; /* on the EU's list of QPs that have capsules and a request for them */
	uint16_t qid;
	uint32_t sqhd;
	uint32_t num_posted_rx, num_posted_tx;
	uint32_t num_busy; /* requests not free */
	uint32_t num_app; /* of these in state APP */
	struct sta_req *free_reqs;
	struct sta_rx *pending, **pending_tail; /* capsules that wait */
	struct sta_buf_user slots; /* its share of the EU's */
	struct ibv_recv_wr *rx_chain, **rx_chain_tail;
	struct ibv_send_wr *tx_chain, **tx_chain_tail;
	uint32_t rx_chain_len, tx_chain_len;
	struct doca_sta_qp_handle *next_dirty, *next_draining, *next_quiescing, *next_held_up;
	uint64_t quiesce_ns; /* since when its context stops */
	uint64_t moved_ns; /* when something last went on, since then */
	uint32_t num_owed; /* answers that its host waited for at the last look */

	/* messages */
	struct sta_msg established_msg, quiesce_msg, drain_msg, reap_msg; /* to the EU */
	struct sta_msg quiesced_msg, drained_msg, reaped_msg, error_msg; /* to the IO context */
	enum sta_wr_kind error_kind;
	uint32_t error_status, error_vendor;

	/* control */
	struct rdma_cm_id *id __attribute__((aligned(64)));
	union doca_data user_data;
	struct doca_sta_qp_handle *next; /* list of the IO context */
	struct doca_sta_qp_handle *next_of_eu; /* guarded by the STA's lock */
	struct doca_sta_qp_handle *next_listed; /* the same */
	struct sta_task *disconnects; /* wait for drained */
	uint32_t qpn;
	uint16_t port_id, index;
	uint32_t num_tasks; /* not freed */
	uint32_t num_tokens; /* open non-offload callbacks */
	bool is_established;
	bool is_quiescing; /* to be disconnected once its host is answered */
	bool is_draining;
	bool is_gone; /* the EU has reported it drained */
	bool is_destroyed; /* by the application */
	bool is_reaping; /* the EU takes back what open callbacks held */
	bool has_leftovers;
};

/* A completion queue of one EU on one verbs device, shared by QPs as long as it has room. */
struct sta_cq {
	struct sta_cq *next;
	struct ibv_cq *cq;
	uint32_t room; /* entries not promised to a QP; guarded by the STA's lock */
	struct ibv_comp_channel *channel;
	struct sta_cq *next_of_vdev; /* guarded by the STA's lock */
	bool is_lost; /* written by the EU with the STA's lock, which control has to hold */
	struct sta_msg add_msg;
};

/* "Every EU has passed this point, and nothing of it is in the way": see eu.c. */
struct sta_fence {
	struct sta_fence_part {
		struct sta_msg msg;
		struct sta_fence *fence;
		struct sta_fence_part *next;
	} parts[STA_MAX_EUS];
	struct doca_sta_ns_handle *ns; /* wait until no command of it is in flight; may be NULL */
	_Atomic uint32_t num_left;
	void (*done)(struct sta_fence *fence); /* on the thread of the last EU */
};

struct sta_area {
	void *addr;
	size_t len;
};

/*
 * A back-end queue.
 * Owner: its EU. Shared: nothing; control and other EUs send messages.
 */
struct doca_sta_be_q_handle {
	struct doca_sta_be_handle *be;
	struct sta_eu *eu;
	struct sta_nvq q;
	struct core_companion companion;
	struct sta_req *wait, **wait_tail; /* the ring is full */
	struct doca_sta_be_q_handle *next; /* list of the EU */
	bool is_closing;
	bool is_halted; /* its controller does nothing any more, and the doorbells are nobody's */
	struct sta_beq_stats stats;
	struct sta_msg add_msg, close_msg, halt_msg; /* to the EU */
	struct sta_msg closed_msg, timeout_msg; /* to the STA context */
	atomic_bool is_timeout_posted;

	/* control */
	struct util_list node; /* in be->queues */
	uint32_t id; /* in the log: the n-th that the back-end got */
	bool is_leaving;
	bool is_halt_posted;
	struct sta_fence fence;
	struct util_list tasks; /* made for it and not freed */
	struct sta_task *close_task;
	struct doca_mmap *maps[4];
	struct sta_area areas[4]; /* rings and doorbells, which are this queue's alone */
	struct doca_sta_eu_ctr_entry entries[STA_NUM_BEQ_COUNTERS];
	struct doca_sta_eu_ctr_entry mapping[2];
	uint64_t eu_id, queue_entries;
};

struct sta_eu {
	struct doca_sta *sta;
	unsigned int idx;
	char name[16];
	pthread_t thread;
	_Atomic enum dpa_sta_eu_state state;

	/* shared */
	struct sta_mbox mbox;
	_Atomic uint32_t num_tasks; /* in mbox: STA_MAX_TASKS_AT_EU at most */
	int wake_fd;
	atomic_bool is_asleep;
	struct sta_msg reset_msg; /* of the counters */
	atomic_bool is_resetting;

	/* engine */
	int epoll_fd __attribute__((aligned(64)));
	bool is_stopping;
	bool is_sleepless; /* its fds are of no use */
	uint64_t now_ns;
	struct sta_pool pool;
	struct sta_cq *cqs;
	struct doca_sta_be_q_handle *beqs;
	struct doca_sta_qp_handle *dirty, *draining, *quiescing;
	/* Commands from capsule to answer: STA_MAX_IOS_PER_EU at most. Who has more waits for its
	 * turn; those that are not connected yet come first. */
	uint32_t num_held;
	struct doca_sta_qp_handle *held_up, **held_up_tail;
	struct sta_fence_part *fences;
	uint64_t next_check_ns; /* of time-outs */
	struct sta_eu_stats stats;

	/* guarded by the STA's lock */
	uint32_t num_qps;
	struct doca_sta_qp_handle *qps;
	struct sta_region *regions;
	uint32_t num_slots[STA_SLOT_CLASSES];
};

/* eu.c; INITIALIZATION: no thread, or no fd for it */
doca_error_t sta_eu_start(struct sta_eu *eu);
/* No QP is left on it. Back-end queues may be; their memory is not touched any more. */
void sta_eu_stop(struct sta_eu *eu);
/* All EUs are stopped: nobody posts any more. */
void sta_eu_fini(struct sta_eu *eu);
/* Any thread. */
void sta_eu_post(struct sta_eu *eu, struct sta_msg *msg);
/* One round of everything an EU does; returns how many events it handled. */
unsigned int sta_eu_run(struct sta_eu *eu);
/* On the EU: fds that wake it. */
void sta_eu_watch(struct sta_eu *eu, int fd, void *what);
void sta_eu_unwatch(struct sta_eu *eu, int fd);
/* Messages to the EU */
void sta_eu_on_add_cq(void *eu, struct sta_msg *msg);
void sta_eu_on_add_region(void *eu, struct sta_msg *msg);
/* Posts a fence to all EUs. */
void sta_fence_post(struct doca_sta *sta, struct sta_fence *fence);

/* req.c: the request machine; all on the EU of the QP unless said */
void sta_req_start(struct sta_eu *eu, struct doca_sta_qp_handle *qp, struct sta_rx *rx);
void sta_req_granted(struct sta_eu *eu, struct sta_req *req); /* has its staging slot */
void sta_req_fetched(struct sta_eu *eu, struct sta_req *req); /* RDMA READ is complete */
void sta_req_executed(struct sta_eu *eu, struct sta_req *req); /* back-end is done */
void sta_req_timed_out(struct sta_eu *eu, struct sta_req *req); /* back-end is not */
void sta_req_responded(struct sta_eu *eu, struct sta_req *req); /* response is sent, or failed */
/* Posts the response in req->result; @data_bytes of the staging slot go before it. */
void sta_req_respond(struct sta_eu *eu, struct sta_req *req, uint32_t data_bytes);
void sta_req_answer(struct sta_eu *eu, struct sta_req *req, sta_status_t status);
void sta_req_drop(struct sta_eu *eu, struct sta_req *req); /* QP failed: forget it */

/* nonoffload_eu.c: the engine's half of the non-offload path */
void sta_nonoff_start(struct sta_eu *eu, struct sta_req *req);
void sta_nonoff_granted(struct sta_eu *eu, struct sta_req *req);
void sta_nonoff_fetched(struct sta_eu *eu, struct sta_req *req);
void sta_nonoff_responded(struct sta_eu *eu, struct sta_req *req);

/* xfer.c: work requests */
void sta_xfer_init_rx(struct sta_rx *rx, struct doca_sta_qp_handle *qp);
void sta_xfer_init_req(struct sta_req *req, struct doca_sta_qp_handle *qp);
void sta_xfer_post_rx(struct sta_eu *eu, struct sta_rx *rx);
void sta_xfer_read(struct sta_eu *eu, struct sta_req *req, uint32_t bytes);
void sta_xfer_respond(struct sta_eu *eu, struct sta_req *req, uint32_t data_bytes);
unsigned int sta_xfer_poll(struct sta_eu *eu);
/* The QP has failed, and what is posted on it will never complete: it is done. */
void sta_xfer_forget(struct sta_eu *eu, struct doca_sta_qp_handle *qp);
void sta_xfer_flush(struct sta_eu *eu);

/* qp.c; any thread: for who shows the QP to the application, on a thread that does not own it. */
void sta_qp_get(struct doca_sta_qp_handle *qp);
void sta_qp_put(struct doca_sta_qp_handle *qp);

/* qp_eu.c: the engine's half of a QP's life */
void sta_qp_received(struct sta_eu *eu, struct sta_rx *rx, uint32_t bytes);
void sta_qp_run_pending(struct sta_eu *eu, struct doca_sta_qp_handle *qp);
/* Runs capsules of the QPs that were held up, one of each in turn, as long as the EU has room. How
 * many. */
unsigned int sta_qp_admit(struct sta_eu *eu);
void sta_qp_fail(struct sta_eu *eu, struct doca_sta_qp_handle *qp, enum sta_wr_kind kind,
		 enum ibv_wc_status status, uint32_t vendor);
/* End of a round: reports QPs that nothing refers to any more. They may be freed at once. */
void sta_qp_report_drained(struct sta_eu *eu);

/* quiesce_eu.c: the end of a round: reports QPs whose hosts have been answered, or long enough */
void sta_qp_check_quiescing(struct sta_eu *eu);
void sta_qp_stop_quiescing(struct sta_eu *eu, struct doca_sta_qp_handle *qp);

/* fault_eu.c: what happens to an EU itself; it goes on without what it has lost */
void sta_eu_lose_cq(struct sta_eu *eu, struct sta_cq *cq);
/* On the EU, when it gets a QP whose queue may be lost since it was promised. */
void sta_eu_check_cq(struct sta_eu *eu, struct doca_sta_qp_handle *qp);
/* Instead of a sleep that failed. */
void sta_eu_lose_sleep(struct sta_eu *eu);

/* Messages to the EU */
void sta_qp_on_quiesce(void *eu, struct sta_msg *msg);
void sta_qp_on_established(void *eu, struct sta_msg *msg);
void sta_qp_on_drain(void *eu, struct sta_msg *msg);
void sta_qp_on_reap(void *eu, struct sta_msg *msg);

/* beq_eu.c: the engine's half of a back-end queue; on its EU */
void sta_beq_execute(struct sta_eu *eu, struct sta_req *req);
void sta_beq_ring(struct sta_eu *eu);
unsigned int sta_beq_poll(struct sta_eu *eu);
void sta_beq_check_timeouts(struct sta_eu *eu);
/* Messages to the EU */
void sta_beq_on_add(void *eu, struct sta_msg *msg);
void sta_beq_on_close(void *eu, struct sta_msg *msg);
void sta_beq_on_halt(void *eu, struct sta_msg *msg);

#endif
