/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target with one subsystem and three namespaces, and queues without RDMA: responses are kept
 * for the test to look at. Every test builds its own.
 */
#ifndef TEST_TARGET_FAKE_H
#define TEST_TARGET_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "target/ctrlr.h"
#include "util/byteorder.h"
#include "util/compiler.h"

#define FAKE_NQN      "nqn.2024-01.test:one"
#define FAKE_HOST     "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-000000000001"
#define FAKE_NN	      8
#define FAKE_MAX_DATA (1 << 20)

struct fake_queue {
	struct tgt_queue queue;
	int responses;
	int drops;
	int disconnects;
	int binds;
	int bind_result;
	bool is_active; /* I/O since the last look */
	uint16_t bound_entries;
	uint8_t cqe[TGT_CQE_BYTES]; /* the last response */
	struct tgt_req *answered; /* whose it was */
};

struct fake {
	struct tgt tgt;
	struct tgt_port *port;
	struct tgt_subsys *subsys;
	struct fake_queue admin;
};

/* The target, with FAKE_HOST allowed, time 1000 ms. */
void fake_init(struct fake *f);
void fake_fini(struct fake *f);

/* A connection that waits for its Connect. */
void fake_queue_init(struct fake *f, struct fake_queue *q, uint16_t qid);

/* End a connection as transports do. */
void fake_queue_end(struct fake_queue *q);

/* A request of the given opcode; @data_bytes goes into the descriptor. */
void fake_req(struct tgt_req *req, struct fake_queue *q, uint8_t opcode, void *data,
	      uint32_t data_bytes);

/* Connect data and command; the returned request may be changed before tgt_exec(). */
void fake_connect_req(struct tgt_req *req, struct fake_queue *q, uint8_t data[1024],
		      const char *subnqn, uint16_t cntlid, uint16_t sqsize_0b);

/* Run an admin command that has to be answered at once; returns its status. */
tgt_status_t fake_exec(struct tgt_req *req);

/* Connect the admin queue to @subnqn and enable the controller. */
struct tgt_ctrlr *fake_connect(struct fake *f, const char *subnqn);

/* Connect an I/O queue, which has to succeed. */
void fake_connect_io(struct fake *f, struct fake_queue *q, uint16_t qid);

uint64_t fake_result(const struct fake_queue *q);
tgt_status_t fake_status(const struct fake_queue *q);
uint16_t fake_sqhd(const struct fake_queue *q);

#endif
