/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and a target without RDMA; see fake.h. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>

#include "target/log.h"

static struct fake_queue *fake_of(struct tgt_queue *queue)
{
	return util_container_of(queue, struct fake_queue, queue);
}

static void respond(struct tgt_req *req, const uint8_t cqe[TGT_CQE_BYTES], bool success)
{
	struct fake_queue *q = fake_of(req->queue);

	memcpy(q->cqe, cqe, sizeof(q->cqe));
	q->responses++;
	q->answered = req;
	assert_int_equal(success, !fake_status(q));
}

static void drop(struct tgt_req *req)
{
	fake_of(req->queue)->drops++;
}

static int bind_subsys(struct tgt_queue *queue, struct tgt_subsys *subsys, uint16_t sq_entries)
{
	struct fake_queue *q = fake_of(queue);

	assert_non_null(subsys);
	q->binds++;
	q->bound_entries = sq_entries;
	return q->bind_result;
}

static void disconnect(struct tgt_queue *queue)
{
	fake_of(queue)->disconnects++;
	tgt_queue_closing(queue);
}

static bool was_active(struct tgt_queue *queue)
{
	bool is_active = fake_of(queue)->is_active;

	fake_of(queue)->is_active = false;
	return is_active;
}

static const struct tgt_queue_ops ops = {respond, drop, bind_subsys, disconnect, was_active};

static void ns_add(struct fake *f, uint32_t nsid, uint32_t block_bytes)
{
	struct tgt_ns *ns = calloc(1, sizeof(*ns));

	assert_non_null(ns);
	ns->nsid = nsid;
	ns->blocks = 1000 * nsid;
	ns->block_bytes = block_bytes;
	memset(ns->uuid, (int)nsid, sizeof(ns->uuid));
	memset(ns->nguid, (int)nsid + 0x10, sizeof(ns->nguid));
	assert_int_equal(tgt_subsys_add_ns(&f->tgt, f->subsys, ns), 0);
}

void fake_init(struct fake *f)
{
	const struct tgt_limits limits = {.max_io_bytes = FAKE_MAX_DATA,
					  .ioccsz_bytes = 64 + 4096,
					  .iorcsz_bytes = 16,
					  .io_queue_entries = 128,
					  .max_io_queues = 16};
	union tgt_sockaddr addr;

	tgt_log_silence(true);
	memset(f, 0, sizeof(*f));
	assert_int_equal(tgt_init(&f->tgt, &limits), 0);
	f->tgt.now_ms = 1000;
	assert_int_equal(tgt_addr_parse("10.0.0.1:4420", 0, &addr, NULL), 0);
	f->port = tgt_add_port(&f->tgt, &addr);
	assert_non_null(f->port);
	f->port->is_bound = true;
	f->subsys = tgt_add_subsys(&f->tgt, FAKE_NQN, FAKE_NN);
	assert_non_null(f->subsys);
	assert_int_equal(tgt_subsys_add_port(&f->tgt, f->subsys, f->port), 0);
	assert_int_equal(tgt_subsys_add_host(&f->tgt, f->subsys, FAKE_HOST), 0);
	ns_add(f, 1, 512);
	ns_add(f, 2, 4096);
	ns_add(f, 5, 512);
}

void fake_fini(struct fake *f)
{
	if (f->admin.queue.tgt)
		fake_queue_end(&f->admin);
	assert_int_equal(f->tgt.n_ctrlrs, 0);
	assert_int_equal(f->tgt.n_waiting, 0);
	tgt_fini(&f->tgt);
}

void fake_queue_init(struct fake *f, struct fake_queue *q, uint16_t qid)
{
	memset(q, 0, sizeof(*q));
	q->queue.ops = &ops;
	q->queue.port = f->port;
	q->queue.qid = qid;
	q->queue.max_entries = qid == 0 ? TGT_ADMIN_QUEUE_ENTRIES : 128;
	snprintf(q->queue.local_addr, sizeof(q->queue.local_addr), "%s", "10.0.0.99");
	snprintf(q->queue.peer_addr, sizeof(q->queue.peer_addr), "%s", "10.0.0.2");
	assert_int_equal(tgt_queue_init(&q->queue, &f->tgt), 0);
}

void fake_queue_end(struct fake_queue *q)
{
	tgt_queue_gone(&q->queue);
	q->queue.tgt = NULL;
}

void fake_req(struct tgt_req *req, struct fake_queue *q, uint8_t opcode, void *data,
	      uint32_t data_bytes)
{
	memset(req, 0, sizeof(*req));
	req->queue = &q->queue;
	req->cmd.opcode = opcode;
	req->cmd.cid = 0x1234;
	req->cmd.sgl.kind = TGT_SGL_KEYED;
	req->cmd.sgl.bytes = data_bytes;
	req->data = data;
	req->data_bytes = data_bytes;
	if (data && data_bytes && opcode != nvme_admin_fabrics)
		memset(data, 0, data_bytes);
}

void fake_connect_req(struct tgt_req *req, struct fake_queue *q, uint8_t data[1024],
		      const char *subnqn, uint16_t cntlid, uint16_t sqsize_0b)
{
	fake_req(req, q, nvme_admin_fabrics, data, 1024);
	memset(data, 0, 1024);
	memset(data, 0xaa, 16);
	util_put_le16(data + 16, cntlid);
	snprintf((char *)data + 256, 256, "%s", subnqn);
	snprintf((char *)data + 512, 256, "%s", FAKE_HOST);
	req->cmd.nsid = nvme_fabrics_type_connect;
	req->cmd.cdw10 = (uint32_t)q->queue.qid << 16;
	req->cmd.cdw11 = sqsize_0b;
}

tgt_status_t fake_exec(struct tgt_req *req)
{
	struct fake_queue *q = fake_of(req->queue);
	int before = q->responses;

	tgt_exec(req);
	assert_int_equal(q->responses, before + 1);
	assert_ptr_equal(q->answered, req);
	return fake_status(q);
}

struct tgt_ctrlr *fake_connect(struct fake *f, const char *subnqn)
{
	uint8_t data[1024];
	struct tgt_req req;

	fake_queue_init(f, &f->admin, 0);
	fake_connect_req(&req, &f->admin, data, subnqn, 0xffff, 31);
	req.cmd.cdw12 = 5000;
	assert_int_equal(fake_exec(&req), 0);
	fake_req(&req, &f->admin, nvme_admin_fabrics, NULL, 0);
	req.cmd.nsid = nvme_fabrics_type_property_set;
	req.cmd.cdw11 = NVME_REG_CC;
	req.cmd.cdw12 = 0x460061; /* what Linux writes */
	assert_int_equal(fake_exec(&req), 0);
	return f->admin.queue.ctrlr;
}

void fake_connect_io(struct fake *f, struct fake_queue *q, uint16_t qid)
{
	uint8_t data[1024];
	struct tgt_req req;

	fake_queue_init(f, q, qid);
	fake_connect_req(&req, q, data, FAKE_NQN, f->admin.queue.ctrlr->cntlid, 127);
	assert_int_equal(fake_exec(&req), 0);
}

uint64_t fake_result(const struct fake_queue *q)
{
	return util_get_le64(q->cqe);
}

tgt_status_t fake_status(const struct fake_queue *q)
{
	return (tgt_status_t)(util_get_le16(q->cqe + 14) >> 1);
}

uint16_t fake_sqhd(const struct fake_queue *q)
{
	return util_get_le16(q->cqe + 8);
}
