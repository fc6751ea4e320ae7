/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request machine on a made-up device, controller and clock: what a host is answered, when
 * buffers and receives go back, and what time-outs, removals and broken connections leave behind.
 */
#include "engine.h"

#include <string.h>

#define COMPARE_FAILURE (NVME_SCT_MEDIA << 8 | NVME_SC_COMPARE_FAILED)

enum {
	KEY = 0x1234abcd,
	CID = 0x42,
};

static uint32_t free_slots(const struct engine *e, unsigned int eu, enum sta_slot_class class)
{
	return e->eus[eu].eu.pool.classes[class].num_free;
}

/* ---- commands ---- */

static void test_read(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 2), at_be;
	char host[2 * ENGINE_BLOCK] = {0};

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	sqe.cdw10 = htole32(0x55);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	assert_int_equal(at_be.opcode, nvme_cmd_read);
	assert_int_equal(le32toh(at_be.nsid), 7);
	assert_int_equal(le32toh(at_be.cdw10), 0x55);
	assert_int_equal(at_be.flags, STA_SQE_PSDT_PRP);
	memset((void *)(uintptr_t)le64toh(at_be.prp1), 'r', sizeof(host));
	engine_be_complete(&engine_disk, &at_be, 0, 0x77);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(le16toh(qp->answers[0].cid), CID);
	assert_int_equal(engine_answer_status(qp), 0);
	assert_int_equal(le32toh(qp->answers[0].dw0), 0x77);
	assert_int_equal(le16toh(qp->answers[0].sqhd), 1);
	assert_int_equal(qp->invalidated[0], KEY);
	for (size_t i = 0; i < sizeof(host); i++)
		assert_int_equal(host[i], 'r');
	engine_assert_at_rest(e, qp);
}

static void test_failed_read_moves_no_data(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 1), at_be;
	char host[ENGINE_BLOCK] = {0}, untouched[ENGINE_BLOCK] = {0};

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	memset((void *)(uintptr_t)le64toh(at_be.prp1), 'x', sizeof(host));
	engine_be_complete(&engine_disk, &at_be, STA_SC_DNR(LBA_RANGE), 0);
	engine_finish(e, qp);
	assert_int_equal(engine_answer_status(qp), STA_SC_DNR(LBA_RANGE));
	assert_int_equal(qp->invalidated[0], KEY); /* also on an error */
	assert_memory_equal(host, untouched, sizeof(host));
	assert_int_equal(e->num_events, 1);
	assert_int_equal(e->event.type, DOCA_STA_CQE_NOTIF_NVME_COMP_ERR);
	engine_assert_at_rest(e, qp);
}

static void test_keyed_write(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_write, CID, 1), at_be;
	char host[ENGINE_BLOCK];

	memset(host, 'w', sizeof(host));
	engine_set_keyed(&sqe, host, sizeof(host), KEY, false);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	assert_memory_equal((void *)(uintptr_t)le64toh(at_be.prp1), host, sizeof(host));
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_finish(e, qp);
	assert_int_equal(engine_answer_status(qp), 0);
	assert_int_equal(qp->invalidated[0], 0); /* not asked for */
	engine_assert_at_rest(e, qp);
}

static void test_in_capsule_write(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_write, CID, 1), at_be;
	char data[4 + ENGINE_BLOCK] = {0};

	memset(data + 4, 'c', ENGINE_BLOCK);
	engine_set_in_capsule(&sqe, 4, ENGINE_BLOCK);
	assert_true(engine_send(qp, &sqe, data, sizeof(data)));
	at_be = engine_run_to_disk(e, qp);
	assert_memory_equal((void *)(uintptr_t)le64toh(at_be.prp1), data + 4, ENGINE_BLOCK);
	/* The page is the controller's until it is done. */
	assert_int_equal(qp->num_recvs, ENGINE_DEPTH - 1);
	assert_int_equal(free_slots(e, 0, STA_SLOT_SMALL), 8);
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_run(e);
	/* The receive is back before the host has the answer. */
	assert_int_equal(qp->num_answers, 0);
	assert_int_equal(qp->num_recvs, ENGINE_DEPTH);
	engine_finish(e, qp);
	assert_int_equal(engine_answer_status(qp), 0);
	assert_int_equal(qp->invalidated[0], 0);
	engine_assert_at_rest(e, qp);
}

static void expect_refusal(struct engine *e, struct engine_qp *qp, const struct sta_sqe *sqe,
			   uint16_t status, uint32_t key)
{
	unsigned int before = qp->num_answers;
	struct sta_sqe none;

	assert_true(engine_send(qp, sqe, NULL, 0));
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, before + 1);
	assert_int_equal(engine_answer_status(qp), status);
	assert_int_equal(qp->invalidated[before], key);
	assert_false(engine_be_fetch(&engine_disk, &none));
	engine_assert_at_rest(e, qp);
}

static void test_refusals(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 2);
	char host[ENGINE_BLOCK];

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	expect_refusal(e, qp, &sqe, STA_SC_DNR(SGL_INVALID_DATA), KEY);
	sqe.nsid = htole32(2);
	expect_refusal(e, qp, &sqe, STA_SC_DNR(INVALID_NS), KEY);
	assert_int_equal(e->event.err_byte, offsetof(struct sta_sqe, nsid));
	sqe.nsid = htole32(STA_MAX_NS_PER_SUBSYS + 1);
	expect_refusal(e, qp, &sqe, STA_SC_DNR(INVALID_NS), KEY);
	sqe.sgl[15] = STA_SGL_KEYED_DATA_BLOCK << 4 | 0x3;
	expect_refusal(e, qp, &sqe, STA_SC_DNR(INVALID_FIELD), 0);
	sqe.sgl[15] = 0x3 << 4 | STA_SGL_INVALIDATE_KEY;
	expect_refusal(e, qp, &sqe, STA_SC_DNR(SGL_INVALID_TYPE), 0);
	assert_int_equal(e->num_events, 5);
	assert_int_equal(e->eus[0].eu.stats.invalid_capsules, 5);
}

/* An event shows the answer of its own command, not of the one that had the request before. */
static void test_event_shows_own_answer(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0), at_be;
	struct sta_cqe cqe;

	qp->sta->qid = 3;
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	engine_be_complete(&engine_disk, &at_be, 0, 0x77);
	engine_finish(e, qp);
	sqe.nsid = htole32(9);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_finish(e, qp);
	assert_int_equal(doca_sta_event_cqe_notify_get_cqe(&e->event, (uint8_t *)&cqe),
			 DOCA_SUCCESS);
	assert_int_equal(cqe.dw0, 0);
	assert_int_equal(le16toh(cqe.cid), CID);
	assert_int_equal(le16toh(cqe.sqid), 3);
	assert_int_equal(le16toh(cqe.status) >> 1, STA_SC_DNR(INVALID_NS));
}

static void test_sqhd_wraps_at_queue_size(void **state)
{
	static const uint16_t expected[] = {1, 2, 3, 4, 0, 1};
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 1);

	atomic_store(&qp->sta->sq_size, 5); /* not what was posted */
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_true(engine_send(qp, &sqe, NULL, 0));
		engine_finish(e, qp);
		assert_int_equal(le16toh(qp->answers[i].sqhd), expected[i]);
	}
	qp->sta->is_flow_control_off = true;
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_finish(e, qp);
	assert_int_equal(le16toh(qp->answers[qp->num_answers - 1].sqhd), 0xffff);
}

static void test_capsule_before_established_waits(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp;
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 1);

	qp = engine_add_qp(e, 0);
	qp->sta->established_msg.fn = NULL;
	(void)sta_mbox_take(&e->eus[0].eu.mbox); /* it is not told yet */
	assert_true(engine_send(qp, &sqe, NULL, 0));
	sqe.cid = htole16(CID + 1);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 0);
	qp->sta->established_msg.fn = sta_qp_on_established;
	sta_eu_post(qp->sta->eu, &qp->sta->established_msg);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 2);
	assert_int_equal(le16toh(qp->answers[0].cid), CID);
	assert_int_equal(le16toh(qp->answers[1].cid), CID + 1);
	engine_assert_at_rest(e, qp);
}

static void test_short_capsule_ends_connection(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0);

	engine_run(e);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	qp->cq->wcs[qp->cq->head % ENGINE_MAX_WCS].byte_len = STA_SQE_BYTES - 1;
	engine_finish(e, qp);
	assert_true(qp->is_error);
	assert_int_equal(qp->num_errors, 1);
	assert_int_equal(qp->num_answers, 0);
	assert_int_equal(e->eus[0].eu.stats.short_capsules, 1);
}

/* ---- waiting ---- */

/* More commands than slots and ring entries: all are served, in order. */
static void test_overload(void **state)
{
	struct engine *e = *state;
	struct engine_qp *a = engine_add_qp(e, 0), *b = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, 0, 1), at_be;
	static char host[ENGINE_BLOCK];
	unsigned int done = 0;

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	for (uint16_t i = 0; i < ENGINE_DEPTH; i++) {
		sqe.cid = htole16(i);
		assert_true(engine_send(a, &sqe, NULL, 0));
		assert_true(engine_send(b, &sqe, NULL, 0));
	}
	engine_run(e);
	assert_int_equal(engine_disk.h.stats.commands, ENGINE_RING - 1);
	for (; engine_be_fetch(&engine_disk, &at_be); done++) {
		engine_be_complete(&engine_disk, &at_be, 0, 0);
		engine_run(e);
		engine_deliver(a);
		engine_deliver(b);
		engine_run(e);
	}
	assert_int_equal(done, 2 * ENGINE_DEPTH);
	assert_true(engine_disk.h.stats.waited > 0);
	assert_true(e->eus[0].eu.stats.slot_waits > 0);
	for (uint16_t i = 0; i < ENGINE_DEPTH; i++) {
		assert_int_equal(le16toh(a->answers[i].cid), i);
		assert_int_equal(le16toh(b->answers[i].cid), i);
	}
	engine_assert_at_rest(e, a);
	engine_assert_at_rest(e, b);
}

/* ---- time-outs ---- */

static void test_late_command(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 1), at_be;
	static char host[ENGINE_BLOCK], untouched[ENGINE_BLOCK];

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	engine_set_time(e, STA_BE_TIMEOUT_NS - 1);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 0);
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(engine_answer_status(qp), STA_SC(INTERNAL));
	assert_int_equal(engine_disk.num_timeouts, 1);
	/* The controller may still write: the slot is not given to another. */
	assert_int_equal(free_slots(e, 0, STA_SLOT_SMALL), 7);
	assert_int_equal(e->ns->eu[0].num_inflight, 0);
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	assert_memory_equal(host, untouched, sizeof(host));
	assert_int_equal(e->eus[0].eu.stats.late_returns, 1);
	engine_assert_at_rest(e, qp);
}

/* A command that the ring has no room for is answered in time, too. */
static void test_waiting_command_times_out(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, 0, 0), fetched[ENGINE_RING];

	for (uint16_t i = 0; i < ENGINE_RING; i++) {
		sqe.cid = htole16(i);
		assert_true(engine_send(qp, &sqe, NULL, 0));
	}
	engine_run(e);
	assert_non_null(engine_disk.h.wait);
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, ENGINE_RING);
	assert_null(engine_disk.h.wait);
	for (unsigned int i = 0; i < ENGINE_RING - 1; i++)
		assert_true(engine_be_fetch(&engine_disk, &fetched[i]));
	assert_false(engine_be_fetch(&engine_disk, &fetched[3])); /* it never saw the last */
	for (unsigned int i = 0; i < ENGINE_RING - 1; i++)
		engine_be_complete(&engine_disk, &fetched[i], 0, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, ENGINE_RING);
	engine_assert_at_rest(e, qp);
}

static void test_late_command_of_failed_connection(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0), at_be;

	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	sta_eu_post(qp->sta->eu, &qp->sta->drain_msg);
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(qp->num_drained, 0);
	assert_int_equal(e->ns->eu[0].num_inflight, 0);
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->num_drained, 1);
	engine_assert_at_rest(e, qp);
}

/* ---- torn queues ---- */

/*
 * Completions for nobody are counted and answer nothing; the command that they were meant for is
 * late, and its slot stays the controller's.
 */
static void test_unknown_completion(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 1), at_be, torn;
	static char host[ENGINE_BLOCK], untouched[ENGINE_BLOCK];

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = torn = engine_run_to_disk(e, qp);
	torn.cid = htole16(0xffff);
	engine_be_complete(&engine_disk, &torn, 0, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 0);
	assert_int_equal(engine_disk.h.stats.bad_completions, 1);
	assert_int_equal(engine_disk.doorbells[1], 1); /* its entry went back */
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(engine_answer_status(qp), STA_SC(INTERNAL));
	assert_int_equal(engine_disk.num_timeouts, 1);
	assert_int_equal(free_slots(e, 0, STA_SLOT_SMALL), 7);
	assert_memory_equal(host, untouched, sizeof(host));
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	engine_assert_at_rest(e, qp);
}

/* Each command is answered once, however often its completion comes, and when. */
static void test_repeated_completion(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, CID, 0), old, at_be;

	assert_true(engine_send(qp, &sqe, NULL, 0));
	old = engine_run_to_disk(e, qp);
	engine_be_complete(&engine_disk, &old, 0, 0);
	engine_be_complete(&engine_disk, &old, 0, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	for (unsigned int i = 0; i < 2 * ENGINE_RING; i++) {
		/* The next command has the same entry, and is not ended by the old completion. */
		assert_true(engine_send(qp, &sqe, NULL, 0));
		at_be = engine_run_to_disk(e, qp);
		engine_be_complete(&engine_disk, &old, STA_SC(INTERNAL), 0);
		engine_finish(e, qp);
		assert_int_equal(qp->num_answers, i + 1);
		engine_be_complete(&engine_disk, &at_be, 0, 0);
		engine_finish(e, qp);
		assert_int_equal(qp->num_answers, i + 2);
		assert_int_equal(engine_answer_status(qp), 0);
	}
	assert_int_equal(engine_disk.h.stats.bad_completions, 2 * ENGINE_RING + 1);
	assert_int_equal(engine_disk.num_timeouts, 0);
	engine_assert_at_rest(e, qp);
}

/* One wrong phase tag silences the queue: everything is late, and closing it ends that. */
static void test_wrong_phase(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, 0, 0), at_be;

	for (uint16_t i = 0; i < 2; i++) {
		sqe.cid = htole16(i);
		assert_true(engine_send(qp, &sqe, NULL, 0));
		at_be = engine_run_to_disk(e, qp);
		engine_disk.phase ^= i == 0;
		engine_be_complete(&engine_disk, &at_be, 0, 0);
		engine_disk.phase ^= i == 0;
	}
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 0);
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 2);
	assert_int_equal(engine_answer_status(qp), STA_SC(INTERNAL));
	assert_true(engine_disk.num_timeouts > 0);
	engine_close_beq(&engine_disk);
	engine_set_time(e, 3 * STA_BE_TIMEOUT_NS);
	engine_finish(e, qp);
	assert_int_equal(engine_disk.num_closed, 1);
	assert_int_equal(qp->num_answers, 2);
	engine_assert_at_rest(e, qp);
}

/* ---- two EUs ---- */

static void test_crossing(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 1);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_compare, CID, 1), at_be;
	char host[ENGINE_BLOCK] = {0};

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	engine_be_complete(&engine_disk, &at_be, COMPARE_FAILURE, 5);
	engine_finish(e, qp);
	assert_int_equal(engine_answer_status(qp), COMPARE_FAILURE);
	assert_int_equal(le32toh(qp->answers[0].dw0), 5);
	assert_int_equal(e->eus[1].eu.stats.crossed, 1);
	assert_int_equal(free_slots(e, 1, STA_SLOT_SMALL), 8);
	engine_assert_at_rest(e, qp);
}

/*
 * The command comes back while the EU of the QP is about to answer it as late: what the other EU
 * writes then must not get into the answer.
 */
static void test_late_answer_is_not_overwritten(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 1);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 1), at_be;
	static char host[ENGINE_BLOCK];
	struct sta_req *req;

	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	req = engine_disk.h.q.inflight[le16toh(at_be.cid) & STA_NVQ_ENTRY_MASK].cookie;
	engine_set_time(e, 2 * STA_BE_TIMEOUT_NS);
	engine_round(e, 0); /* reports it late */
	engine_round(e, 1); /* answers */
	assert_int_equal(req->result.status, STA_SC(INTERNAL));
	engine_be_complete(&engine_disk, &at_be, 0, 0x99);
	engine_round(e, 0); /* takes it back */
	assert_int_equal(req->result.status, STA_SC(INTERNAL));
	assert_int_equal(req->result.dw0, 0);
	engine_finish(e, qp);
	assert_int_equal(qp->num_answers, 1);
	assert_int_equal(engine_answer_status(qp), STA_SC(INTERNAL));
	assert_int_equal(free_slots(e, 1, STA_SLOT_SMALL), 8);
	engine_assert_at_rest(e, qp);
}

/* ---- removal ---- */

static void on_ns_left(struct sta_fence *fence)
{
	(void)fence;
	engine_disk.num_closed += 100;
}

static void remove_ns(struct engine *e)
{
	atomic_store(&e->subsys.ns[0], NULL);
	e->ns->fence.ns = e->ns;
	e->ns->fence.done = on_ns_left;
	sta_fence_post(&e->sta, &e->ns->fence);
}

static void test_remove_namespace_under_load(void **state)
{
	struct engine *e = *state;
	struct engine_qp *a = engine_add_qp(e, 0), *b = engine_add_qp(e, 1);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_flush, 0, 0), at_a, at_b;

	assert_true(engine_send(a, &sqe, NULL, 0));
	at_a = engine_run_to_disk(e, a);
	assert_true(engine_send(b, &sqe, NULL, 0));
	at_b = engine_run_to_disk(e, b);
	remove_ns(e);
	engine_run(e);
	assert_true(engine_send(a, &sqe, NULL, 0));
	engine_finish(e, a);
	assert_int_equal(engine_answer_status(a), STA_SC_DNR(INVALID_NS));
	engine_be_complete(&engine_disk, &at_a, 0, 0);
	engine_finish(e, a);
	assert_int_equal(engine_answer_status(a), 0);
	assert_int_equal(engine_disk.num_closed, 0); /* the other EU has one */
	engine_be_complete(&engine_disk, &at_b, 0, 0);
	engine_finish(e, b);
	assert_int_equal(engine_answer_status(b), 0);
	assert_int_equal(engine_disk.num_closed, 100);
	engine_assert_at_rest(e, a);
	engine_assert_at_rest(e, b);
}

/* ---- broken connections ---- */

static void test_flush_in_every_state(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, 0, 1), at_be;
	static char host[32 * ENGINE_BLOCK];

	/* One is at the controller, one is being answered, one fetched, one waits for a slot. */
	engine_set_keyed(&sqe, host, ENGINE_BLOCK, KEY, true);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	at_be = engine_run_to_disk(e, qp);
	sqe.cid = htole16(1);
	sqe.nsid = htole32(2);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	sqe.nsid = htole32(1);
	sqe.opcode = nvme_cmd_write;
	sqe.cid = htole16(2);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	sqe.cdw12 = htole32(63);
	engine_set_keyed(&sqe, host, 64 * ENGINE_BLOCK, KEY, true); /* larger than any slot */
	sqe.cid = htole16(3);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_run(e);
	assert_int_equal(qp->sta->num_busy, 4);
	assert_int_equal(qp->sta->num_posted_tx, 2);
	engine_flush(qp);
	engine_run(e);
	assert_int_equal(qp->sta->num_busy, 1);
	assert_int_equal(qp->num_errors, 0);
	assert_int_equal(qp->num_drained, 0); /* nobody has let go of it */
	sta_eu_post(qp->sta->eu, &qp->sta->drain_msg);
	engine_run(e);
	assert_int_equal(qp->num_drained, 0);
	engine_be_complete(&engine_disk, &at_be, 0, 0);
	engine_run(e);
	assert_int_equal(qp->num_drained, 1);
	assert_int_equal(qp->num_answers, 0);
	engine_assert_at_rest(e, qp);
}

static void test_transport_error_is_told_once(void **state)
{
	struct engine *e = *state;
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_read, CID, 1);
	static char host[ENGINE_BLOCK];

	sqe.opcode = nvme_cmd_write;
	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	assert_true(engine_send(qp, &sqe, NULL, 0));
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_run(e);
	engine_deliver(qp);
	qp->cq->wcs[qp->cq->head % ENGINE_MAX_WCS].status = IBV_WC_REM_ACCESS_ERR;
	qp->cq->wcs[(qp->cq->head + 1) % ENGINE_MAX_WCS].status = IBV_WC_WR_FLUSH_ERR;
	engine_run(e);
	assert_int_equal(qp->num_errors, 1);
	assert_int_equal(qp->sta->error_kind, STA_WR_READ);
	assert_int_equal(qp->sta->error_status, IBV_WC_REM_ACCESS_ERR);
	sta_eu_post(qp->sta->eu, &qp->sta->drain_msg);
	engine_run(e);
	assert_int_equal(qp->num_drained, 1);
	assert_int_equal(qp->num_errors, 1);
	engine_assert_at_rest(e, qp);
}

/* The device takes a part of what is posted, or nothing: the connection ends, nothing is lost. */
static void check_post_failure(struct engine *e, int sends_left, int recvs_left)
{
	struct engine_qp *qp = engine_add_qp(e, 0);
	struct sta_sqe sqe = engine_io_sqe(nvme_cmd_write, CID, 1);
	static char host[ENGINE_BLOCK];

	engine_run(e);
	qp->sends_left = sends_left;
	qp->recvs_left = recvs_left;
	engine_set_keyed(&sqe, host, sizeof(host), KEY, true);
	for (int i = 0; i < 3; i++)
		assert_true(engine_send(qp, &sqe, NULL, 0));
	sqe.nsid = htole32(2); /* one that is answered at once */
	assert_true(engine_send(qp, &sqe, NULL, 0));
	engine_run(e);
	assert_true(qp->is_error);
	assert_int_equal(qp->num_errors, 1);
	sta_eu_post(qp->sta->eu, &qp->sta->drain_msg);
	engine_run(e);
	assert_int_equal(qp->num_drained, 1);
	assert_int_equal(qp->num_answers, 0);
	engine_assert_at_rest(e, qp);
}

static void test_send_cannot_be_posted(void **state)
{
	for (int left = 0; left < 4; left++)
		check_post_failure(*state, left, -1);
}

static void test_receive_cannot_be_posted(void **state)
{
	for (int left = 0; left < 4; left++)
		check_post_failure(*state, -1, left);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, engine_disk_setup, engine_disk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_read),
		TEST(test_failed_read_moves_no_data),
		TEST(test_keyed_write),
		TEST(test_in_capsule_write),
		TEST(test_refusals),
		TEST(test_event_shows_own_answer),
		TEST(test_sqhd_wraps_at_queue_size),
		TEST(test_capsule_before_established_waits),
		TEST(test_short_capsule_ends_connection),
		TEST(test_overload),
		TEST(test_late_command),
		TEST(test_waiting_command_times_out),
		TEST(test_late_command_of_failed_connection),
		TEST(test_unknown_completion),
		TEST(test_repeated_completion),
		TEST(test_wrong_phase),
		TEST(test_crossing),
		TEST(test_late_answer_is_not_overwritten),
		TEST(test_remove_namespace_under_load),
		TEST(test_flush_in_every_state),
		TEST(test_transport_error_is_told_once),
		TEST(test_send_cannot_be_posted),
		TEST(test_receive_cannot_be_posted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
