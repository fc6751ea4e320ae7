/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A back-end queue on its EU: commands in, completions out, time-outs, closing. The controller
 * behind the queue is unknown; its companion (a function that does nothing, for a real drive) is
 * called after each doorbell store, and given time while commands are outstanding.
 */
#include "sta/eu.h"

#include "sta/log.h"
#include "sta/ns.h"
#include "sta/sta.h"
#include "util/time.h"

static void executed_elsewhere(void *owner, struct sta_msg *msg)
{
	sta_req_executed(owner, util_container_of(msg, struct sta_req, msg));
}

static void timed_out_elsewhere(void *owner, struct sta_msg *msg)
{
	sta_req_timed_out(owner, util_container_of(msg, struct sta_req, late_msg));
}

/* Back to the EU of the request's QP. */
static void give_back(struct sta_eu *eu, struct sta_req *req, sta_status_t status)
{
	req->from_be.status = status;
	if (req->qp->eu == eu) {
		sta_req_executed(eu, req);
		return;
	}
	req->msg.fn = executed_elsewhere;
	sta_eu_post(req->qp->eu, &req->msg);
}

static void push(struct sta_eu *eu, struct doca_sta_be_q_handle *beq, struct sta_req *req)
{
	struct sta_sqe sqe = req->sqe;
	uint64_t prp1 = 0, prp2 = 0;

	if (req->rx)
		prp1 = req->rx->data_phys + req->cap.sgl.addr;
	else if (req->cap.data_bytes)
		sta_slot_prps(req->wait.slot, req->cap.data_bytes, &prp1, &prp2);
	sqe.flags = STA_SQE_PSDT_PRP;
	sqe.nsid = htole32(req->ns->be_nsid);
	sqe.mptr = 0;
	sqe.prp1 = htole64(prp1);
	sqe.prp2 = htole64(prp2);
	sta_count(&beq->stats.commands, 1);
	sta_nvq_push(&beq->q, &sqe, req, eu->now_ns);
}

void sta_beq_execute(struct sta_eu *eu, struct sta_req *req)
{
	struct doca_sta_be_q_handle *beq = req->beq;

	req->from_be = (struct sta_result){0};
	if (beq->is_closing || beq->is_halted) {
		give_back(eu, req, STA_SC_NO_PATH);
		return;
	}
	if (!beq->wait && !sta_nvq_is_full(&beq->q)) {
		push(eu, beq, req);
		return;
	}
	sta_count(&beq->stats.waited, 1);
	req->queued_ns = eu->now_ns;
	req->next = NULL;
	*beq->wait_tail = req;
	beq->wait_tail = &req->next;
}

static struct sta_req *pop_waiting(struct doca_sta_be_q_handle *beq)
{
	struct sta_req *req = beq->wait;

	if (!req)
		return NULL;
	beq->wait = req->next;
	if (!beq->wait)
		beq->wait_tail = &beq->wait;
	return req;
}

void sta_beq_ring(struct sta_eu *eu)
{
	for (struct doca_sta_be_q_handle *beq = eu->beqs; beq; beq = beq->next) {
		if (sta_nvq_ring(&beq->q))
			beq->companion.ops->doorbell(beq->companion.arg);
	}
}

static unsigned int reap(struct sta_eu *eu, struct doca_sta_be_q_handle *beq)
{
	struct sta_nvq_cpl cpl;
	struct sta_req *req;
	unsigned int n = 0;

	while (n < STA_POLL_BATCH && sta_nvq_poll(&beq->q, &cpl)) {
		req = cpl.cookie;
		req->from_be.dw0 = cpl.dw0;
		req->from_be.dw1 = cpl.dw1;
		sta_count(&beq->stats.completions, 1);
		if (cpl.status >> 1)
			sta_count(&beq->stats.errors, 1);
		give_back(eu, req, sta_status_from_backend(cpl.status));
		n++;
	}
	sta_count_set(&beq->stats.bad_completions, beq->q.bad_cqes);
	if (sta_nvq_ack(&beq->q))
		beq->companion.ops->doorbell(beq->companion.arg);
	return n;
}

/* Takes the queue out of the EU's list; control may free it at once. */
static void finish_close(struct doca_sta_be_q_handle **p)
{
	struct doca_sta_be_q_handle *beq = *p;

	*p = beq->next;
	if (beq->companion.fd >= 0)
		sta_eu_unwatch(beq->eu, beq->companion.fd);
	sta_post(beq->be->sta, &beq->closed_msg);
}

unsigned int sta_beq_poll(struct sta_eu *eu)
{
	struct doca_sta_be_q_handle *beq, **p = &eu->beqs;
	struct sta_req *req;
	unsigned int n = 0;

	while ((beq = *p)) {
		if (beq->q.num_inflight) {
			beq->companion.ops->poll(beq->companion.arg);
			n += reap(eu, beq);
		}
		while (beq->wait && !sta_nvq_is_full(&beq->q)) {
			req = pop_waiting(beq);
			push(eu, beq, req);
		}
		if (beq->is_closing && !beq->q.num_inflight)
			finish_close(p);
		else
			p = &beq->next;
	}
	return n;
}

static void count_timeout(struct doca_sta_be_q_handle *beq)
{
	sta_count(&beq->stats.timeouts, 1);
	if (!atomic_exchange(&beq->is_timeout_posted, true))
		sta_post(beq->be->sta, &beq->timeout_msg);
}

/* The controller has the command still. */
static void report_late(struct sta_eu *eu, struct doca_sta_be_q_handle *beq, struct sta_req *req)
{
	count_timeout(beq);
	sta_debug("be", "back-end %u queue %u: a command of qp %u is late, cid %u opcode 0x%02x",
		  beq->be->id, beq->id, req->qp->qpn, le16toh(req->sqe.cid), req->sqe.opcode);
	if (req->qp->eu == eu) {
		sta_req_timed_out(eu, req);
		return;
	}
	req->late_msg.fn = timed_out_elsewhere;
	sta_eu_post(req->qp->eu, &req->late_msg);
}

/* Commands that the controller never saw; the oldest is first. */
static void give_up_waiting(struct sta_eu *eu, struct doca_sta_be_q_handle *beq, uint64_t limit_ns)
{
	while (beq->wait && eu->now_ns - beq->wait->queued_ns >= limit_ns) {
		count_timeout(beq);
		sta_debug("be", "back-end %u queue %u: no room for too long, a command is given up",
			  beq->be->id, beq->id);
		give_back(eu, pop_waiting(beq), STA_SC(INTERNAL));
	}
}

/* Without an answer of the controller. */
static void take_back(struct sta_eu *eu, struct doca_sta_be_q_handle *beq, sta_status_t status)
{
	struct sta_req *req;

	while ((req = sta_nvq_reclaim(&beq->q))) {
		sta_count(&beq->stats.taken_back, 1);
		give_back(eu, req, status);
	}
}

static void refuse_waiting(struct sta_eu *eu, struct doca_sta_be_q_handle *beq)
{
	struct sta_req *req;

	while ((req = pop_waiting(beq)))
		give_back(eu, req, STA_SC_NO_PATH);
}

/* A closing queue whose controller never answers gives its commands back all the same. */
static void abandon(struct sta_eu *eu, struct doca_sta_be_q_handle *beq)
{
	sta_warn("be",
		 "back-end %u queue %u: closed with %u commands that the controller never answered;"
		 " it may still write to their memory",
		 beq->be->id, beq->id, beq->q.num_inflight);
	take_back(eu, beq, STA_SC(INTERNAL));
}

void sta_beq_check_timeouts(struct sta_eu *eu)
{
	uint64_t limit_ns = eu->sta->be_timeout_ns;

	for (struct doca_sta_be_q_handle *beq = eu->beqs; beq; beq = beq->next) {
		struct sta_req *req;
		uint32_t entry = 0;

		if (!beq->q.num_inflight)
			continue;
		while ((req = sta_nvq_next_late(&beq->q, eu->now_ns, limit_ns, &entry)))
			report_late(eu, beq, req);
		give_up_waiting(eu, beq, limit_ns);
		if (beq->is_closing && sta_nvq_all_late(&beq->q))
			abandon(eu, beq);
	}
}

void sta_beq_on_add(void *owner, struct sta_msg *msg)
{
	struct doca_sta_be_q_handle *beq =
		util_container_of(msg, struct doca_sta_be_q_handle, add_msg);
	struct sta_eu *eu = owner;

	beq->next = eu->beqs;
	eu->beqs = beq;
	if (beq->companion.fd >= 0)
		sta_eu_watch(eu, beq->companion.fd, NULL);
}

void sta_beq_on_close(void *owner, struct sta_msg *msg)
{
	struct doca_sta_be_q_handle *beq =
		util_container_of(msg, struct doca_sta_be_q_handle, close_msg);

	struct sta_eu *eu = owner;

	beq->is_closing = true;
	refuse_waiting(eu, beq);
	eu->next_check_ns = 0; /* what it has may have timed out already */
}

void sta_beq_on_halt(void *owner, struct sta_msg *msg)
{
	struct doca_sta_be_q_handle *beq =
		util_container_of(msg, struct doca_sta_be_q_handle, halt_msg);

	beq->is_halted = true;
	sta_nvq_halt(&beq->q);
	refuse_waiting(owner, beq);
	take_back(owner, beq, STA_SC_NO_PATH);
}
