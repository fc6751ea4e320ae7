/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small NVMe-oF/RDMA target: target.c is the program, sta.c brings DOCA STA up and down, ioq.c
 * has the I/O queues and command.c what they do not do alone, admin.c is admin queues on plain
 * verbs, disk.c a file behind the queue pair that DOCA STA drives. docs/guide.md goes through them.
 * NVMe is little-endian, and so are the machines this is for.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <doca_error.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#define EXAMPLE_NQN "nqn.2026-01.org.example:target"

enum {
	EXAMPLE_NSID = 1,
	EXAMPLE_BLOCK_BYTES = 512,
	EXAMPLE_QUEUE_ENTRIES = 128, /* of a host's I/O queue */
	EXAMPLE_IO_QUEUES = 64, /* of all hosts together */
	EXAMPLE_HOSTS = 8,
	ADMIN_CAPSULES = 32,
	CTRL_DATA_BYTES = 4096, /* the most that a command of an admin queue has */
};

struct disk;
struct doca_sta_io;
struct doca_sta_producer_task_send;

/* Submission and completion queue entry. */
struct sqe {
	uint8_t opcode, flags;
	uint16_t cid;
	uint32_t nsid; /* Fabrics: the command's type, in the lowest byte */
	uint64_t reserved, metadata;
	uint64_t data[2]; /* from a host an SGL descriptor, to a disk two PRP entries */
	uint32_t cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
};

struct cqe {
	uint32_t dw0, dw1;
	uint16_t sqhd, sqid, cid, status;
};

/* A controller: what an admin queue knows. */
struct ctrl {
	uint64_t num_blocks; /* of the namespace */
	uint32_t capsule_bytes; /* of a command on an I/O queue, with data */
	uint32_t cc; /* the register */
	uint16_t cntlid;
};

struct target {
	struct doca_dev *dev;
	struct doca_pe *pe, *io_pe;
	struct doca_sta *sta;
	struct doca_sta_io *io;
	struct doca_sta_be_handle *backend;
	struct doca_sta_be_q_handle *queue;
	struct doca_sta_subs_handle *subsystem;
	struct doca_sta_ns_handle *ns;
	struct disk *disk;
	struct ctrl ctrl; /* what hosts are told */
	struct rdma_event_channel *cm;
	struct rdma_cm_id *listener;
	bool is_stopping;
};

/* Ends the program unless @result is DOCA_SUCCESS. */
#define MUST(call) must(call, #call)
void must(doca_error_t result, const char *call);
/* Gives @task to the engine. */
void submit(struct doca_sta_producer_task_send *task);

/* ---- sta.c ---- */

void sta_start(struct target *t, const char *device, const char *path);
void sta_stop(struct target *t);

/* ---- ioq.c ---- */

/* What the context of a connection's rdma_cm_id points to. */
struct conn {
	void (*on_event)(struct conn *conn, bool is_up);
};

/* A host's I/O queue. */
struct ioq {
	struct conn conn;
	struct target *t;
	struct rdma_cm_id *id; /* the library's */
	struct doca_sta_qp_handle *qp; /* NULL: the slot is free */
	uint16_t cntlid; /* 0: before Connect */
	unsigned int num_commands; /* handed up and not ended */
	bool is_closing, is_closed;
};

/* NVMe/RDMA's private data of an accept. */
struct accept_record {
	uint16_t format, crqsize;
	uint8_t reserved[28];
};

void ioq_configure(struct doca_sta_io *io); /* before it starts */
bool ioq_accept(struct target *t, struct rdma_cm_id *id); /* false: @id is still the caller's */
void ioq_disconnect(struct ioq *q);
void ioq_drop_orphans(void);
void ioq_release_if_over(struct ioq *q);

/* ---- command.c ---- */

void command_configure(struct doca_sta_io *io);

/* ---- ctrl.c ---- */

/* @data: from the host, or zeroes. Dwords 0 and 1 go to @cqe. Returns the status. */
uint16_t ctrl_execute(struct ctrl *ctrl, const struct sqe *sqe, uint8_t *data, struct cqe *cqe);

/* ---- admin.c, admin_thread.c ---- */

struct admin {
	struct conn conn;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	pthread_t thread;
	bool has_thread;
	struct ctrl ctrl;
	struct wire {
		struct sqe capsules[ADMIN_CAPSULES];
		struct cqe cqe;
		uint8_t data[CTRL_DATA_BYTES];
	} wire;
};

void *admin_run(void *admin);

/* As ioq_accept(); the controller is one like @like. */
bool admin_accept(struct rdma_cm_id *id, const struct ctrl *like);
bool admin_has(uint16_t cntlid);
void admin_close_all(void);

/* ---- disk.c ---- */

void disk_open(struct target *t, const char *path); /* gives the back-end its queue pair */
void disk_close(struct disk *disk); /* after the engine has let go of the queue pair */

#endif
