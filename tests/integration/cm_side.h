/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_side.h - rdma_cm programs for tests: a server and a client process over sr_lo, and the few
 * calls that both need. A failed CHECK ends its process, an alarm ends what hangs.
 */
#ifndef CM_SIDE_H
#define CM_SIDE_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define CHECK(cond)                                                                \
	do {                                                                       \
		if (!(cond)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

enum {
	CM_BUF_BYTES = 4096
};

struct cm_side {
	int sock; /* to the other process */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener; /* the server's */
	struct sockaddr_in server; /* where it listens */
	pid_t peer; /* the server process, in the client */
};

typedef void (*cm_side_fn)(struct cm_side *side);

/* Runs a case in two processes; true when both ended well. */
bool cm_pair_run(cm_side_fn server, cm_side_fn client);
/* Waits until the other process is at the same place. */
void cm_barrier(struct cm_side *side);

/* The address of sr_lo in this process. */
struct sockaddr_in cm_own_address(void);
/* A listener on sr_lo at a free port. */
void cm_listen(struct cm_side *side, int backlog);
/* An id with route and, if asked, a QP. */
struct rdma_cm_id *cm_resolved(struct cm_side *side, bool with_qp);
void cm_add_qp(struct rdma_cm_id *id);
/* Ends id with its QP and CQ. */
void cm_destroy(struct rdma_cm_id *id);
/* The next event, which must be of this type; not acknowledged. */
struct rdma_cm_event *cm_expect(struct cm_side *side, enum rdma_cm_event_type type);
/* The same, acknowledged; returns its status. */
int cm_pass(struct cm_side *side, enum rdma_cm_event_type type);
struct rdma_conn_param cm_param(const char *private_data);
/* An established connection: the client's and the server's end. */
struct rdma_cm_id *cm_connect(struct cm_side *side, const char *private_data);
/* The server's end as soon as its REP is on the way. */
struct rdma_cm_id *cm_answer(struct cm_side *side, const char *private_data);
struct rdma_cm_id *cm_accept(struct cm_side *side, const char *private_data);

uint64_t cm_now_ms(void);
unsigned int cm_open_fds(void);

#endif
