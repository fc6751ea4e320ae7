/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands on a connected queue: submission, completion, waiting. Knows capsules, not what the
 * commands mean.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "queue.h"

#define STEP_SUBMIT "submit"
#define STEP_WAIT   "wait"
#define POLL_BATCH  32

/* A work request's id: receives carry the buffer's index, sends how many they finish. */
#define WR_SEND (1ull << 32)

int ini_post_response(struct ini_queue *queue, unsigned int index)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)ini_response(queue, index),
		.length = INI_RESPONSE_BYTES,
		.lkey = queue->mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = index, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;
	int rc = ibv_post_recv(queue->id->qp, &wr, &bad);

	return rc > 0 ? -rc : rc;
}

/*
 * Not every send reports its completion: at depth 128 that would double the completions. Every
 * half queue is often enough, for the send queue has room for two.
 */
static int post_send(struct ini_queue *queue, struct ibv_sge *sge, int num_sge)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = num_sge};
	struct ibv_send_wr *bad;
	int rc;

	if (queue->sq_used == queue->sq_capacity)
		return -EAGAIN;
	if (queue->sq_unsignaled + 1 >= queue->entries / 2) {
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.wr_id = WR_SEND | (queue->sq_unsignaled + 1);
	} else {
		wr.wr_id = WR_SEND;
	}
	rc = ibv_post_send(queue->id->qp, &wr, &bad);
	if (rc)
		return rc > 0 ? -rc : rc;
	queue->sq_used++;
	queue->sq_unsignaled = wr.send_flags ? 0 : queue->sq_unsignaled + 1;
	return 0;
}

/* ---- submission ---- */

static int pick_tag(struct ini_queue *queue, uint16_t *tag)
{
	uint16_t i;

	if (queue->outstanding + 1u >= queue->entries)
		return -EAGAIN;
	if (*tag != INI_TAG_ANY) {
		if (*tag >= queue->entries)
			return -EINVAL;
		return queue->slots[*tag].is_busy ? -EBUSY : 0;
	}
	for (i = 0; queue->slots[i].is_busy; i++)
		;
	*tag = i;
	return 0;
}

/* A key that covers just this command's data, for the target to invalidate. */
static int own_key(struct ini_queue *queue, struct ini_slot *slot, uint16_t tag, uint32_t bytes)
{
	slot->own_mr = ibv_reg_mr(queue->pd, ini_data(queue, tag), bytes,
				  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
					  IBV_ACCESS_REMOTE_WRITE);
	if (!slot->own_mr)
		return -errno;
	slot->rkey = slot->own_mr->rkey;
	return 0;
}

static void drop_key(struct ini_slot *slot)
{
	if (slot->own_mr)
		(void)ibv_dereg_mr(slot->own_mr);
	slot->own_mr = NULL;
	slot->rkey = 0;
}

/* Fill in the data pointer of the command in slot @tag. */
static int set_sgl(struct ini_queue *queue, const struct ini_cmd *cmd, struct ini_sqe *sqe)
{
	struct ini_slot *slot = &queue->slots[cmd->tag];
	uint64_t addr = (uintptr_t)ini_data(queue, cmd->tag);
	int rc;

	switch (cmd->data) {
	case INI_DATA_NONE:
		ini_sgl_none(sqe->sgl);
		break;
	case INI_DATA_INCAPSULE:
		ini_sgl_incapsule(sqe->sgl, 0, cmd->bytes);
		break;
	case INI_DATA_KEYED:
		slot->rkey = queue->mr->rkey;
		ini_sgl_keyed(sqe->sgl, addr, cmd->bytes, slot->rkey, false);
		break;
	case INI_DATA_KEYED_INV:
		rc = own_key(queue, slot, cmd->tag, cmd->bytes);
		if (rc)
			return rc;
		ini_sgl_keyed(sqe->sgl, addr, cmd->bytes, slot->rkey, true);
		break;
	case INI_DATA_RAW:
		break;
	}
	return 0;
}

int ini_submit(struct ini_queue *queue, struct ini_cmd *cmd, struct ini_error *error)
{
	struct ini_slot *slot;
	struct ini_sqe *sqe;
	struct ibv_sge sge[2];
	int rc;

	if (!queue->is_connected)
		return ini_die(queue, error, -ECONNRESET, "not connected");
	if (cmd->bytes > queue->slot_bytes)
		return ini_fail(error, -EMSGSIZE, STEP_SUBMIT, "%u bytes of data, room for %u",
				cmd->bytes, queue->slot_bytes);
	rc = pick_tag(queue, &cmd->tag);
	if (rc)
		return ini_fail(error, rc, STEP_SUBMIT, "no free command slot");

	slot = &queue->slots[cmd->tag];
	sqe = ini_slot_sqe(queue, cmd->tag);
	*sqe = cmd->sqe;
	sqe->flags |= INI_SQE_FLAG_SGL;
	sqe->cid = htole16(cmd->tag);
	rc = set_sgl(queue, cmd, sqe);
	if (rc)
		return ini_fail(error, rc, STEP_SUBMIT, "register %u bytes: %s", cmd->bytes,
				strerror(-rc));

	sge[0] = (struct ibv_sge){(uintptr_t)sqe, sizeof(*sqe), queue->mr->lkey};
	sge[1] =
		(struct ibv_sge){(uintptr_t)ini_data(queue, cmd->tag), cmd->bytes, queue->mr->lkey};
	rc = post_send(queue, sge, cmd->data == INI_DATA_INCAPSULE && cmd->bytes ? 2 : 1);
	if (rc) {
		drop_key(slot);
		return ini_fail(error, rc, STEP_SUBMIT, "post send: %s", strerror(-rc));
	}
	slot->is_busy = true;
	queue->outstanding++;
	return 0;
}

int ini_send_raw(struct ini_queue *queue, const void *data, size_t bytes, struct ini_error *error)
{
	/* The last tag's buffer: ini_submit comes to it last. */
	void *buffer = ini_data(queue, queue->entries - 1);
	struct ibv_sge sge = {(uintptr_t)buffer, (uint32_t)bytes, queue->mr->lkey};
	int rc;

	if (!queue->is_connected)
		return ini_die(queue, error, -ECONNRESET, "not connected");
	if (bytes > queue->slot_bytes)
		return ini_fail(error, -EMSGSIZE, STEP_SUBMIT, "%zu bytes of message, room for %u",
				bytes, queue->slot_bytes);
	memcpy(buffer, data, bytes);
	queue->is_raw = true;
	rc = post_send(queue, &sge, bytes ? 1 : 0);
	if (rc)
		return ini_fail(error, rc, STEP_SUBMIT, "post send: %s", strerror(-rc));
	return 0;
}

/* ---- completion ---- */

static int lost(struct ini_queue *queue, const struct ibv_wc *wc, struct ini_error *error)
{
	/* The other side's goodbye explains more than the flush that follows it. */
	ini_take_cm_events(queue);
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return ini_die(queue, error, -ECONNRESET, "connection lost");
	return ini_die(queue, error, -ECONNRESET, "%s failed: %s",
		       wc->wr_id & WR_SEND ? "send" : "receive", ibv_wc_status_str(wc->status));
}

/* One response. @done is filled when it answers a command. */
static int take_response(struct ini_queue *queue, const struct ibv_wc *wc, struct ini_done *done,
			 struct ini_error *error)
{
	struct ini_slot *slot;
	int rc;

	if (wc->byte_len != sizeof(done->cqe))
		return ini_die(queue, error, -EPROTO, "response of %u bytes", wc->byte_len);
	memset(done, 0, sizeof(*done));
	memcpy(&done->cqe, ini_response(queue, (unsigned int)wc->wr_id), sizeof(done->cqe));
	done->has_invalidated = wc->wc_flags & IBV_WC_WITH_INV;
	if (done->has_invalidated)
		done->invalidated_rkey = wc->invalidated_rkey;
	done->tag = le16toh(done->cqe.cid);

	if (done->tag < queue->entries && queue->slots[done->tag].is_busy) {
		slot = &queue->slots[done->tag];
		done->expected_rkey = slot->rkey;
		drop_key(slot);
		slot->is_busy = false;
		queue->outstanding--;
	} else if (!queue->is_raw) {
		return ini_die(queue, error, -EPROTO, "response to command id %u, which is not out",
			       done->tag);
	}
	rc = queue->is_connected ? ini_post_response(queue, (unsigned int)wc->wr_id) : 0;
	if (rc)
		return ini_die(queue, error, rc, "post receive: %s", strerror(-rc));
	return 0;
}

int ini_poll(struct ini_queue *queue, struct ini_done *done, unsigned int max,
	     struct ini_error *error)
{
	struct ibv_wc wc[POLL_BATCH];
	int n, i, rc = 0, num_done = 0;

	n = ibv_poll_cq(queue->cq, max < POLL_BATCH ? (int)max : POLL_BATCH, wc);
	if (n < 0)
		return ini_die(queue, error, -EIO, "poll completion queue failed");
	if (n == 0 && !queue->is_connected)
		return ini_die(queue, error, -ECONNRESET, "not connected");
	for (i = 0; i < n && rc == 0; i++) {
		if (wc[i].status != IBV_WC_SUCCESS) {
			rc = lost(queue, &wc[i], error);
		} else if (wc[i].wr_id & WR_SEND) {
			queue->sq_used -= (uint32_t)wc[i].wr_id;
		} else {
			rc = take_response(queue, &wc[i], &done[num_done], error);
			if (rc == 0)
				num_done++;
		}
	}
	/* What came before the end is still good; the next call tells of the end. */
	return num_done ? num_done : rc;
}

/* Sleep until the completion queue or the connection manager has something. */
static int sleep_on_events(struct ini_queue *queue, uint64_t deadline_ns)
{
	struct pollfd pfd[2] = {
		{.fd = queue->comp->fd, .events = POLLIN},
		{.fd = queue->channel->fd, .events = POLLIN},
	};
	struct ibv_cq *cq;
	void *context;
	int n = poll(pfd, 2, ini_left_ms(deadline_ns));

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ETIMEDOUT;
	if (pfd[0].revents && ibv_get_cq_event(queue->comp, &cq, &context) == 0) {
		queue->cq_events++;
		queue->is_armed = false;
	}
	if (pfd[1].revents)
		ini_take_cm_events(queue);
	return 0;
}

int ini_wait(struct ini_queue *queue, struct ini_done *done, unsigned int max, int timeout_ms,
	     struct ini_error *error)
{
	uint64_t start_ns = ini_now_ns();
	uint64_t spin_ns = start_ns + (uint64_t)queue->spin_us * 1000;
	uint64_t deadline_ns = ini_deadline_ns(timeout_ms);

	for (;;) {
		int n = ini_poll(queue, done, max, error);
		int rc;

		if (n)
			return n;
		if (ini_now_ns() < spin_ns)
			continue;
		if (!queue->is_armed) {
			if (ibv_req_notify_cq(queue->cq, 0))
				return ini_die(queue, error, -EIO, "arm completion queue failed");
			/* Once more: what came before the arming raises no event. */
			queue->is_armed = true;
			continue;
		}
		rc = sleep_on_events(queue, deadline_ns);
		if (rc == -ETIMEDOUT)
			return ini_fail(error, rc, STEP_WAIT, "no response within %d ms",
					timeout_ms);
		if (rc)
			return ini_fail(error, rc, STEP_WAIT, "%s", strerror(-rc));
	}
}

int ini_exec(struct ini_queue *queue, struct ini_cmd *cmd, struct ini_done *ret_done,
	     struct ini_error *error)
{
	uint64_t deadline_ns = ini_deadline_ns(queue->timeout_ms);
	bool is_fabrics = cmd->sqe.opcode == INI_OPC_FABRICS;
	struct ini_done done;
	uint16_t status;
	int n;

	n = ini_submit(queue, cmd, error);
	if (n)
		return n;
	do {
		n = ini_wait(queue, &done, 1, ini_left_ms(deadline_ns), error);
		if (n < 0)
			return n;
	} while (done.tag != cmd->tag);

	if (ret_done)
		*ret_done = done;
	status = ini_cqe_status(&done.cqe);
	if ((status & 0x7ff) == NVME_SC_SUCCESS)
		return 0;
	(void)ini_fail(error, -EREMOTEIO, "command", "%s (status 0x%03x%s)",
		       ini_nvme_status_str(status, is_fabrics), status & 0x7ff,
		       status & NVME_SC_DNR ? ", do not retry" : "");
	if (error) {
		error->nvme_status = status;
		error->nvme_dw0 = le32toh(done.cqe.dw0);
	}
	return -EREMOTEIO;
}

int ini_wait_disconnect(struct ini_queue *queue, int timeout_ms, struct ini_error *error)
{
	uint64_t deadline_ns = ini_deadline_ns(timeout_ms);
	struct ini_done done;

	while (queue->is_connected) {
		int n = ini_wait(queue, &done, 1, ini_left_ms(deadline_ns), error);

		if (n == -ETIMEDOUT && ini_left_ms(deadline_ns) == 0)
			return n;
	}
	return 0;
}
