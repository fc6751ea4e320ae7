/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storage target with threads, on the doca_* API: the caller's is the control thread, and each
 * STA IO context has a thread with a progress engine in event mode and a listener of its own. What
 * goes wrong on any of them is printed and counted; node_stop() says whether anything was.
 */
#ifndef TESTS_INTEGRATION_NODE_H
#define TESTS_INTEGRATION_NODE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/rdma_cma.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sta.h>
#include <doca_sta_be.h>
#include <doca_sta_event.h>
#include <doca_sta_io.h>
#include <doca_sta_subsystem.h>
#include <doca_sta_task.h>

#include "initiator/ini.h"
#include "ramdisk.h"

enum {
	NODE_IOS = 4,
	NODE_CONNS = 16, /* of one STA IO context */
	NODE_DEPTH = 32,
	NODE_SLOT_BYTES = 128 * 1024,
	NODE_SUBSYSTEMS = 4,
	NODE_PATIENCE_MS = 10000,
	NODE_STATES = 4,
	/* A vendor's command, so not offloaded. It is not answered before is_kept is false. */
	NODE_OPCODE_KEPT = 0xc3,
};

/* The last event of each kind, and how many there were. Guarded by the node's lock. */
struct node_events {
	unsigned int num_transport_errors;
	uint32_t operation, syndrome;
	unsigned int num_failed; /* answers that did not get to their host */
	doca_error_t failure;
	unsigned int num_timeouts;
	const struct doca_sta_be_handle *be;
	const struct doca_sta_be_q_handle *beq;
	unsigned int num_eu_errors;
	bool is_fatal;
	uint32_t eus_seen; /* bit: EU id */
	unsigned int num_cqes;
	enum doca_sta_cqe_notify_type type;
	struct ramdisk_cqe cqe;
	const struct doca_sta_subs_handle *subsys;
	uint8_t opcode;
	uint16_t cid, nsid, err_byte;
	uint64_t lba;
};

struct node_io;

/* The IO thread's. */
struct node_conn {
	struct node_io *io;
	struct doca_sta_qp_handle *qp; /* NULL: free */
	struct doca_sta_subs_handle *subsys;
	bool is_disconnecting, is_disconnected;
	unsigned int num_open; /* commands with us */
};

/* The changes of a context's state, in order. */
struct node_states {
	enum doca_ctx_states seen[NODE_STATES];
	unsigned int num;
};

/* The IO thread's, but what is atomic, and what is constant while it runs: port, kick_fd. */
struct node_io {
	struct node *node;
	pthread_t thread;
	sem_t is_up;
	struct doca_sta_io *io;
	struct doca_pe *pe;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	uint16_t port;
	int kick_fd, epoll_fd;
	atomic_bool is_quitting;
	struct doca_sta_subs_handle *_Atomic leaving; /* whose connections are to end */
	struct node_conn conns[NODE_CONNS];
	atomic_uint num_conns;
	unsigned int num_submitted, num_completed; /* tasks */
	struct node_states states;
};

struct node_subsys {
	const char *nqn; /* NULL: free */
	struct doca_sta_subs_handle *handle;
};

struct node {
	struct doca_dev *dev;
	struct doca_sta *sta;
	struct doca_pe *pe;
	char addr[16];
	pthread_t control;
	unsigned int num_submitted, num_completed; /* tasks */
	struct node_states states;
	struct node_io ios[NODE_IOS];
	atomic_bool is_kept;
	unsigned int num_ios;
	atomic_uint num_errors;
	pthread_mutex_t lock;
	struct node_subsys subsystems[NODE_SUBSYSTEMS]; /* guarded by lock */
	struct node_events events; /* guarded by lock */
};

/* 0, or -1 when the node could not come up: then the process is of no use any more. */
int node_start(struct node *node, unsigned int num_ios);
/* Everything made by node_add_*() was removed, connections may be left. 0 when nothing was wrong.
 */
int node_stop(struct node *node);

/* Control: the result is checked by the node; NULL when it was no success. */
struct doca_sta_subs_handle *node_add_subsys(struct node *node, const char *nqn);
/* Ends its connections; namespaces have been removed. */
void node_remove_subsys(struct node *node, struct doca_sta_subs_handle *subsys);
struct doca_sta_be_handle *node_add_backend(struct node *node);
void node_remove_backend(struct node *node, struct doca_sta_be_handle *be);
struct doca_sta_ns_handle *node_add_ns(struct node *node, struct doca_sta_subs_handle *subsys,
				       uint32_t nsid, struct doca_sta_be_handle *be);
void node_remove_ns(struct node *node, struct doca_sta_subs_handle *subsys,
		    struct doca_sta_ns_handle *ns);

struct node_queue {
	struct ramdisk_queue *ring;
	struct doca_sta_be_q_handle *handle;
};
void node_add_queue(struct node *node, struct doca_sta_be_handle *be, struct ramdisk *disk,
		    struct node_queue *queue);
void node_remove_queue(struct node *node, struct node_queue *queue);

/* Progress of the control thread for @ms. */
void node_run(struct node *node, int ms);
struct node_events node_events(struct node *node);
unsigned int node_num_conns(struct node *node);

/* Any thread: the parameters of a host's I/O queue. */
struct ini_params node_params(const struct node *node, unsigned int io, const char *nqn);

/* For the node's own files: counts and prints what is no success. */
void node_check(struct node *node, doca_error_t rc, const char *what);
void node_fail(struct node *node, const char *what);
void node_on_state(struct node_states *states, enum doca_ctx_states next);
bool node_state_is(const struct node_states *states, enum doca_ctx_states state);
void *node_io_main(void *io);

#endif
