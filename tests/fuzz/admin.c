/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target's command logic under arbitrary capsules on several queues, hosts that come and go,
 * namespaces that do, and time. Input: a sequence of steps, two bytes (what, which queue) and what
 * that step takes. Data of a command is on the heap and just as long as its descriptor says, and
 * so are queues: a sanitizer sees a handler that goes beyond. Every command has to be answered, or
 * given back at the end of its queue, once; and nothing may be left when all queues have ended.
 */
#include <stdlib.h>
#include <string.h>

#include "target/ctrlr.h"
#include "target/log.h"
#include "util/byteorder.h"
#include "util/compiler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	QUEUES = 6,
	MAX_STEPS = 128,
	MAX_DATA = 16384,
	QIDS = 4,
	NN = 4,
	CONNECT_BYTES = 1024,
	CC_OF_LINUX = 0x460061,
};

#define NQN "nqn.2024-01.test:one"

struct host_queue {
	struct tgt_queue queue;
	unsigned int outstanding;
	bool is_ended;
	bool fails_bind;
};

struct request {
	struct tgt_req req;
	uint8_t *data;
};

struct world {
	struct tgt tgt;
	struct tgt_subsys *subsys;
	struct host_queue *queues[QUEUES];
	const uint8_t *in;
	size_t left;
};

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

/* ---- input -------------------------------------------------------------------------------- */

static void take(struct world *w, void *out, size_t bytes)
{
	size_t n = bytes < w->left ? bytes : w->left;

	memset(out, 0, bytes);
	if (n)
		memcpy(out, w->in, n);
	w->in += n;
	w->left -= n;
}

static uint8_t take8(struct world *w)
{
	uint8_t byte;

	take(w, &byte, 1);
	return byte;
}

/* ---- transport ---------------------------------------------------------------------------- */

static void give_back(struct tgt_req *req)
{
	struct request *r = util_container_of(req, struct request, req);
	struct host_queue *q = util_container_of(req->queue, struct host_queue, queue);

	require(q->outstanding > 0);
	q->outstanding--;
	free(r->data);
	free(r);
}

static void respond(struct tgt_req *req, const uint8_t cqe[TGT_CQE_BYTES], bool success)
{
	struct tgt_queue *queue = req->queue;

	require(!queue->is_closing);
	require(util_get_le16(cqe + 12) == req->cmd.cid);
	require(success == !(util_get_le16(cqe + 14) >> 1));
	require(!queue->sq_entries || queue->no_sq_flow ||
		util_get_le16(cqe + 8) < queue->sq_entries);
	give_back(req);
}

static void drop(struct tgt_req *req)
{
	/* Event requests go at a controller reset, too. */
	require(req->queue->is_closing || req->cmd.opcode == nvme_admin_async_event);
	give_back(req);
}

static int bind_subsys(struct tgt_queue *queue, struct tgt_subsys *subsys, uint16_t sq_entries)
{
	require(!subsys->is_discovery && sq_entries >= 2 && sq_entries <= queue->max_entries);
	return util_container_of(queue, struct host_queue, queue)->fails_bind ? -1 : 0;
}

static void disconnect(struct tgt_queue *queue)
{
	util_container_of(queue, struct host_queue, queue)->is_ended = true;
	tgt_queue_closing(queue);
}

static bool was_active(struct tgt_queue *queue)
{
	(void)queue;
	return false;
}

static const struct tgt_queue_ops ops = {respond, drop, bind_subsys, disconnect, was_active};

static void queue_open(struct world *w, uint8_t which)
{
	uint8_t how = take8(w);
	struct host_queue *q;

	if (w->queues[which])
		return;
	q = calloc(1, sizeof(*q));
	if (!q)
		return;
	q->queue.ops = &ops;
	q->queue.port = w->tgt.ports[how >> 4 & 1];
	q->queue.qid = how % QIDS;
	q->queue.max_entries = q->queue.qid ? 128 : TGT_ADMIN_QUEUE_ENTRIES;
	q->fails_bind = how == 0xff;
	require(!tgt_queue_init(&q->queue, &w->tgt));
	w->queues[which] = q;
}

static void queues_reap(struct world *w, bool all)
{
	size_t i;

	for (i = 0; i < QUEUES; i++) {
		struct host_queue *q = w->queues[i];

		if (!q || !(q->is_ended || all))
			continue;
		tgt_queue_gone(&q->queue);
		require(!q->outstanding);
		free(q);
		w->queues[i] = NULL;
	}
}

/* As the transports do: the descriptor is checked, data is there, then the command runs. */
static void capsule(struct world *w, struct host_queue *q, const uint8_t sqe[TGT_SQE_BYTES],
		    const uint8_t *connect_data)
{
	struct request *r = calloc(1, sizeof(*r));
	struct tgt_xfer xfer;
	tgt_status_t status;

	if (!r)
		return;
	r->req.queue = &q->queue;
	q->outstanding++;
	tgt_cmd_parse(&r->req.cmd, sqe);
	status = tgt_xfer_plan(&r->req.cmd, MAX_DATA, w->tgt.limits.max_io_bytes, &xfer);
	if (status) {
		tgt_complete(&r->req, status);
		return;
	}
	if (xfer.dir != TGT_DIR_NONE) {
		r->data = calloc(1, xfer.bytes);
		require(xfer.bytes && r->data);
		r->req.data = r->data;
		r->req.data_bytes = xfer.bytes;
		if (connect_data && xfer.bytes == CONNECT_BYTES)
			memcpy(r->data, connect_data, CONNECT_BYTES);
		else if (xfer.dir == TGT_DIR_FROM_HOST)
			take(w, r->data, xfer.bytes);
	}
	tgt_exec(&r->req);
	if (q->queue.close_after_response)
		disconnect(&q->queue);
}

/* ---- steps -------------------------------------------------------------------------------- */

static void sqe_init(uint8_t sqe[TGT_SQE_BYTES], uint8_t opcode, uint32_t nsid, uint32_t bytes)
{
	memset(sqe, 0, TGT_SQE_BYTES);
	sqe[0] = opcode;
	sqe[1] = 0x40; /* PSDT: an SGL */
	util_put_le32(sqe + 4, nsid);
	util_put_le32(sqe + 32, bytes);
	sqe[39] = TGT_SGL_KEYED;
}

static void raw_capsule(struct world *w, struct host_queue *q)
{
	uint8_t sqe[TGT_SQE_BYTES];

	take(w, sqe, sizeof(sqe));
	capsule(w, q, sqe, NULL);
}

/* A command that gets by the descriptor check: opcode, namespace, length, dwords 10 to 14. */
static void command(struct world *w, struct host_queue *q)
{
	uint8_t sqe[TGT_SQE_BYTES], head[6];

	take(w, head, sizeof(head));
	sqe_init(sqe, head[0], head[1] == 0xff ? NVME_NSID_ALL : head[1],
		 util_get_le16(head + 2) * 4u);
	util_put_le16(sqe + 2, util_get_le16(head + 4));
	take(w, sqe + 40, 20);
	capsule(w, q, sqe, NULL);
}

/* Connect as a host sends it, but for what the input changes. */
static void connect_step(struct world *w, struct host_queue *q)
{
	uint8_t sqe[TGT_SQE_BYTES], data[CONNECT_BYTES] = {0}, how = take8(w);
	uint16_t cntlid = 0xffff;

	if (q->queue.qid && w->tgt.n_ctrlrs)
		cntlid = w->tgt.ctrlrs[how % w->tgt.n_ctrlrs]->cntlid;
	sqe_init(sqe, nvme_admin_fabrics, nvme_fabrics_type_connect, CONNECT_BYTES);
	util_put_le16(sqe + 42, q->queue.qid);
	util_put_le16(sqe + 44, 31);
	util_put_le16(data + 16, cntlid);
	memcpy(data + 256, how & 0x20 ? NVME_DISC_SUBSYS_NAME : NQN,
	       how & 0x20 ? sizeof(NVME_DISC_SUBSYS_NAME) : sizeof(NQN));
	memcpy(data + 512, "nqn.2024-01.test:host", 21);
	if (how & 0x80) {
		uint16_t at = (uint16_t)(take8(w) | take8(w) << 8);

		take(w, data + at % (CONNECT_BYTES - 16), 16);
	}
	if (how & 0x40)
		take(w, sqe + 40, 16);
	capsule(w, q, sqe, data);
}

static void enable(struct world *w, struct host_queue *q)
{
	uint8_t sqe[TGT_SQE_BYTES], how = take8(w);

	sqe_init(sqe, nvme_admin_fabrics, nvme_fabrics_type_property_set, 0);
	util_put_le32(sqe + 44, NVME_REG_CC);
	util_put_le32(sqe + 48, CC_OF_LINUX);
	if (how & 1)
		take(w, sqe + 48, 4);
	capsule(w, q, sqe, NULL);
}

static void ns_change(struct world *w)
{
	uint8_t how = take8(w);
	struct tgt_ns *ns;

	if (how & 0x80) {
		(void)tgt_subsys_rm_ns(&w->tgt, w->subsys, how % (NN + 2));
		return;
	}
	ns = calloc(1, sizeof(*ns));
	if (!ns)
		return;
	ns->nsid = how % (NN + 2);
	ns->blocks = 1000;
	ns->block_bytes = 512;
	if (tgt_subsys_add_ns(&w->tgt, w->subsys, ns))
		free(ns);
}

static void on_queue(struct world *w, uint8_t what, struct host_queue *q)
{
	if (!q || q->queue.is_closing)
		return;
	switch (what) {
	case 1:
		connect_step(w, q);
		break;
	case 2:
		enable(w, q);
		break;
	case 3:
	case 4:
		command(w, q);
		break;
	case 5:
		raw_capsule(w, q);
		break;
	case 6:
		disconnect(&q->queue);
		break;
	}
}

static void step(struct world *w)
{
	uint8_t what = take8(w) % 9, which = take8(w) % QUEUES;

	switch (what) {
	case 0:
		queue_open(w, which);
		break;
	case 7:
		w->tgt.now_ms += (uint64_t)take8(w) << which * 2;
		break;
	case 8:
		ns_change(w);
		break;
	default:
		on_queue(w, what, w->queues[which]);
	}
	tgt_tick(&w->tgt);
	queues_reap(w, false);
}

/* ---- ---- */

static void world_init(struct world *w)
{
	const struct tgt_limits limits = {.max_io_bytes = MAX_DATA,
					  .ioccsz_bytes = 64 + 4096,
					  .iorcsz_bytes = 16,
					  .io_queue_entries = 128,
					  .max_io_queues = QIDS - 1};
	const char *const addrs[] = {"10.0.0.1:4420", "[::]:4421"};
	union tgt_sockaddr addr;
	size_t i;

	tgt_log_silence(true);
	require(!tgt_init(&w->tgt, &limits));
	w->tgt.now_ms = 1000;
	w->subsys = tgt_add_subsys(&w->tgt, NQN, NN);
	require(w->subsys);
	w->subsys->allow_any_host = true;
	w->subsys->next_cntlid = 1; /* the same ids in every run */
	w->tgt.subsystems[0]->next_cntlid = 1;
	for (i = 0; i < 2; i++) {
		struct tgt_port *port;

		require(!tgt_addr_parse(addrs[i], 0, &addr, NULL));
		port = tgt_add_port(&w->tgt, &addr);
		require(port && !tgt_subsys_add_port(&w->tgt, w->subsys, port));
		port->is_bound = true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w = calloc(1, sizeof(*w));
	int steps;

	if (!w)
		return 0;
	world_init(w);
	w->in = data;
	w->left = size;
	for (steps = 0; w->left && steps < MAX_STEPS; steps++)
		step(w);
	queues_reap(w, true);
	require(!w->tgt.n_ctrlrs && !w->tgt.n_waiting);
	tgt_fini(&w->tgt);
	free(w);
	return 0;
}
