/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine without threads, devices and time: EUs whose rounds the test runs, QPs on stand-ins
 * for a verbs device, back-end queues whose controller is the test, a clock that the test sets.
 * The test is the host, too: a remote address is a pointer.
 */
#ifndef TEST_STA_ENGINE_H
#define TEST_STA_ENGINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sta/io.h"
#include "sta/sta.h"

enum {
	ENGINE_EUS = 2,
	ENGINE_MAX_QPS = 160,
	ENGINE_DEPTH = 8,
	ENGINE_MAX_WCS = 64,
	ENGINE_MAX_SENT = 256,
	ENGINE_RING = 4, /* entries of a back-end queue: three commands at a time */
	ENGINE_BLOCK = 512,
};

struct engine_cq {
	struct ibv_cq cq; /* first */
	struct sta_cq sta;
	struct ibv_wc wcs[ENGINE_MAX_WCS];
	unsigned int head, tail;
	bool is_broken; /* the device has given it up */
};

/* A work request of the send queue, from post to completion, and what it sent. */
struct engine_tx {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct sta_cqe cqe; /* a response's */
	bool is_done;
};

struct engine_qp {
	struct ibv_qp qp; /* first */
	struct doca_sta_qp_handle *sta;
	struct engine_cq *cq;
	struct ibv_recv_wr *recvs[ENGINE_DEPTH];
	unsigned int num_recvs;
	struct engine_tx tx[ENGINE_MAX_SENT];
	unsigned int num_tx, num_done;
	bool is_error;
	/* Posting fails after so many more work requests of either kind; negative: never. */
	int sends_left, recvs_left;
	unsigned int num_drained, num_quiesced, num_errors; /* told to the IO context */
	struct ibv_mr mr;
	/* Answers that have arrived, oldest first. */
	struct sta_cqe answers[ENGINE_MAX_SENT];
	uint32_t invalidated[ENGINE_MAX_SENT]; /* key, 0: none */
	unsigned int num_answers;
};

struct engine_beq {
	struct doca_sta_be_q_handle h;
	struct sta_sqe sq[ENGINE_RING];
	struct sta_cqe cq[ENGINE_RING];
	uint32_t doorbells[2];
	uint32_t head, cq_tail; /* the controller's */
	uint16_t phase;
	unsigned int num_timeouts, num_closed; /* told to the STA context */
};

struct engine {
	struct ibv_context verbs;
	struct doca_sta sta;
	struct doca_sta_io io;
	struct doca_sta_eu_handle eus[ENGINE_EUS];
	struct engine_cq cqs[ENGINE_EUS];
	struct engine_qp *qps[ENGINE_MAX_QPS];
	unsigned int num_qps;
	struct sta_region *regions[ENGINE_EUS * STA_SLOT_CLASSES];
	unsigned int num_regions;
	struct ibv_mr mr;
	struct doca_sta_be_handle be;
	struct doca_sta_subs_handle subsys;
	struct doca_sta_ns_handle *ns; /* nsid 1, back-end nsid 7 */
	unsigned int num_ns_left; /* fences passed */
	unsigned int num_offered; /* commands given to the application */
	union doca_data token;
	uint8_t *payload;
	uint32_t payload_bytes;
	bool is_payload_valid;
	unsigned int num_eu_errors;
	const struct doca_sta_eu_handle *faulty; /* of the last */
	unsigned int num_events;
	struct doca_sta_event_cqe_notify event; /* the last */
};

/* For cmocka: a group's test setup and teardown; *state is the engine. */
int engine_setup(void **state);
int engine_teardown(void **state);

/* The same with a back-end queue of the first EU, and staging slots. */
extern struct engine_beq engine_disk;
int engine_disk_setup(void **state);
int engine_disk_teardown(void **state);
/* Runs until the QP's command is at that disk, which fetches it. */
struct sta_sqe engine_run_to_disk(struct engine *e, struct engine_qp *qp);
/* Runs until the QP's answers have left. */
void engine_finish(struct engine *e, struct engine_qp *qp);
/* The status, without phase, of the last answer. */
uint16_t engine_answer_status(const struct engine_qp *qp);
/* After everything, with the disk's slots, nothing is kept. */
void engine_assert_at_rest(const struct engine *e, const struct engine_qp *qp);

/* @num slots of @class for the EU. */
void engine_add_slots(struct engine *e, unsigned int eu, enum sta_slot_class class, uint32_t num);

/* A connected QP on the EU; Connect has been answered. */
struct engine_qp *engine_add_qp(struct engine *e, unsigned int eu);

void engine_add_beq(struct engine *e, struct engine_beq *q, unsigned int eu);
void engine_close_beq(struct engine_beq *q);
void engine_free_beq(struct engine_beq *q);

/* Rounds of all EUs, and of the contexts' inboxes, until nothing happens. */
void engine_run(struct engine *e);
/* One round of one EU. */
void engine_round(struct engine *e, unsigned int eu);
void engine_set_time(struct engine *e, uint64_t now_ns);

/* Commands */
struct sta_sqe engine_io_sqe(uint8_t opcode, uint16_t cid, uint16_t num_blocks);
void engine_set_keyed(struct sta_sqe *sqe, const void *addr, uint32_t bytes, uint32_t key,
		      bool is_invalidate);
void engine_set_in_capsule(struct sta_sqe *sqe, uint32_t offset, uint32_t bytes);
/* The host sends a capsule; false when the target has no receive posted. */
bool engine_send(struct engine_qp *qp, const struct sta_sqe *sqe, const void *data, uint32_t bytes);
/* The network does what is posted on the send queue. */
void engine_deliver(struct engine_qp *qp);
/* Like a broken link: everything posted is flushed. */
void engine_flush(struct engine_qp *qp);

/* The controller's side; false when the ring has nothing new. */
bool engine_be_fetch(struct engine_beq *q, struct sta_sqe *sqe);
void engine_be_complete(struct engine_beq *q, const struct sta_sqe *sqe, uint16_t status,
			uint32_t dw0);

#endif
