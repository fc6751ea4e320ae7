/* SPDX-License-Identifier: Apache-2.0 */
/* What the thread of an admin queue does: one command after the other, on plain verbs. */
#include <nvme/types.h>
#include <rdma/rdma_verbs.h>
#include <string.h>

#include "example.h"

enum {
	FROM_HOST = 1, /* the low bits of an opcode */
	TO_HOST = 2,
};

/* Waits for the one send work request that is signaled. */
static bool has_sent(struct admin *a)
{
	struct ibv_wc wc;

	return rdma_get_send_comp(a->id, &wc) > 0 && wc.status == IBV_WC_SUCCESS;
}

static bool fetch(struct admin *a, const struct sqe *sqe, uint32_t bytes, uint32_t key)
{
	return !rdma_post_read(a->id, NULL, a->wire.data, bytes, a->mr, IBV_SEND_SIGNALED,
			       sqe->data[0], key) &&
	       has_sent(a);
}

static bool serve(struct admin *a, struct sqe *sqe)
{
	unsigned int code = sqe->opcode == nvme_admin_fabrics ? sqe->nsid : sqe->opcode;
	uint32_t key = (uint32_t)(sqe->data[1] >> 24), bytes = sqe->data[1] & 0xffffff;
	struct wire *w = &a->wire;
	uint16_t status = NVME_SC_SGL_INVALID_DATA | NVME_SC_DNR;

	if (sqe->opcode == nvme_admin_async_event)
		return true; /* answered when there is news, and there is none */
	memset(w->data, 0, sizeof(w->data));
	w->cqe = (struct cqe){.cid = sqe->cid};
	if (bytes <= sizeof(w->data)) {
		if (bytes && (code & 3) == FROM_HOST && !fetch(a, sqe, bytes, key))
			return false;
		status = ctrl_execute(&a->ctrl, sqe, w->data, &w->cqe);
		if (bytes && (code & 3) == TO_HOST && !status &&
		    rdma_post_write(a->id, NULL, w->data, bytes, a->mr, 0, sqe->data[0], key))
			return false;
	}
	w->cqe.status = (uint16_t)(status << 1);
	/* The receive first: the host may send its next command when it has the answer. */
	return !rdma_post_recv(a->id, sqe, sqe, sizeof(*sqe), a->mr) &&
	       !rdma_post_send(a->id, NULL, &w->cqe, sizeof(w->cqe), a->mr, IBV_SEND_SIGNALED) &&
	       has_sent(a);
}

void *admin_run(void *arg)
{
	struct admin *a = arg;
	struct ibv_wc wc;

	while (rdma_get_recv_comp(a->id, &wc) > 0 && wc.status == IBV_WC_SUCCESS &&
	       wc.byte_len == sizeof(struct sqe) && serve(a, (struct sqe *)(uintptr_t)wc.wr_id))
		;
	(void)rdma_disconnect(a->id); /* unless that was the reason */
	return NULL;
}
