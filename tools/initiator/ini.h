/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small NVMe/RDMA initiator over plain verbs and librdmacm, for health checks, tests and the
 * benchmark. One object, a queue: an RDMA connection with its QP, CQ and memory, admin or I/O.
 *
 * A queue belongs to one thread. Every wait has a deadline. A command is named by its tag, 0 to
 * entries - 1, which is also its command id and picks its slot: a command capsule and a data
 * buffer, registered once. At most entries - 1 commands are outstanding, as NVMe has it.
 *
 * Functions return 0 or -errno and say in struct ini_error what went wrong at which step:
 *   -ECONNREFUSED  the CM request was rejected (cm_reason, rdma_status)
 *   -ECONNRESET    the connection ended
 *   -ETIMEDOUT     nothing came within the deadline
 *   -EREMOTEIO     the controller answered with an NVMe status (nvme_status)
 *   -EPROTO        the answer makes no sense
 *   others         a local call failed
 */
#ifndef TOOLS_INITIATOR_INI_H
#define TOOLS_INITIATOR_INI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <nvme/types.h>
#include "wire.h"

#define INI_DISCOVERY_NQN     "nqn.2014-08.org.nvmexpress.discovery"
#define INI_PORT_DEFAULT      4420
#define INI_TIMEOUT_MS	      5000
#define INI_ADMIN_ENTRIES     32
#define INI_ENTRIES_MAX	      4096
#define INI_SLOT_BYTES_MAX    (16u << 20)
#define INI_TAG_ANY	      UINT16_MAX
#define INI_PRIVATE_BYTES_MAX 56 /* 92 bytes of a CM REQ minus the IP CM header */

/* What failed; all zero when nothing did. */
struct ini_error {
	int err; /* -errno, as returned */
	const char *step; /* "resolve address", "connect", "fabrics connect", ... */
	int cm_reason; /* IB CM reject reason, with -ECONNREFUSED */
	uint16_t rdma_status; /* enum ini_rdma_status, with -ECONNREFUSED; 0 when none came */
	uint16_t nvme_status; /* with -EREMOTEIO: SC | SCT << 8 | More << 13 | DNR << 14 */
	uint32_t nvme_dw0; /* with -EREMOTEIO: first dword of that completion */
	char text[200]; /* one line for people, without the step */
};

/* Who we are and what we connect to. Zero means the default given. */
struct ini_params {
	const char *addr; /* IPv4 or IPv6 address or host name, required */
	uint16_t port; /* INI_PORT_DEFAULT */
	const char *source; /* address to connect from, or NULL: the route decides */
	const char *subnqn; /* INI_DISCOVERY_NQN */
	const char *hostnqn; /* ini_host_identity() */
	const uint8_t *hostid; /* 16 bytes; ini_host_identity() */
	uint16_t qid; /* 0 is the admin queue */
	uint16_t cntlid; /* what the admin queue's Connect returned; unused for qid 0 */
	uint16_t entries; /* queue size as a count; INI_ADMIN_ENTRIES */
	uint32_t kato_ms; /* keep-alive time-out, 0: none */
	uint32_t slot_bytes; /* data buffer of a tag, 4096 */
	int timeout_ms; /* for the connection as a whole and for each command */
	unsigned int spin_us; /* busy-poll so long before sleeping for a completion; 0: sleep */
	const void *private_data; /* raw: replaces the CM request's private data */
	uint8_t private_bytes; /* at most INI_PRIVATE_BYTES_MAX */
};

/* Where the data of a command is, and who writes its SGL descriptor. */
enum ini_data {
	INI_DATA_NONE = 0, /* keyed descriptor of length 0 */
	INI_DATA_INCAPSULE, /* the first bytes of the tag's buffer, behind the command */
	INI_DATA_KEYED, /* the tag's buffer by its key */
	INI_DATA_KEYED_INV, /* the same with a key of its own that the target is to invalidate */
	INI_DATA_RAW, /* the descriptor in sqe.sgl is sent as it is */
};

struct ini_cmd {
	struct ini_sqe sqe; /* cid, SGL flag and (but for RAW) sgl are filled in by ini_submit */
	uint16_t tag; /* or INI_TAG_ANY */
	enum ini_data data;
	uint32_t bytes; /* data length, at most slot_bytes */
};

struct ini_done {
	uint16_t tag;
	struct ini_cqe cqe;
	bool has_invalidated; /* the response came with remote invalidation ... */
	uint32_t invalidated_rkey; /* ... of this key */
	uint32_t expected_rkey; /* key the command offered, 0: none */
};

struct ini_queue;

/*
 * Host NQN and host id of this machine, the same for the life of the process: nvme-cli's when it
 * has made some, else one that libnvme makes from the firmware's UUID or at random.
 */
void ini_host_identity(char hostnqn[NVME_NQN_LENGTH], uint8_t hostid[16]);

/*
 * Connect a queue as far as the RDMA connection; no capsule is sent yet.
 * On success *queue is the caller's to close.
 */
int ini_open(struct ini_queue **queue, const struct ini_params *params, struct ini_error *error);

/*
 * Fabrics Connect on an open queue. *cntlid (may be NULL) receives the controller id. The data goes
 * by keyed SGL on the admin queue and in the capsule on an I/O queue, as Linux does.
 */
int ini_connect(struct ini_queue *queue, uint16_t *cntlid, struct ini_error *error);

/* ini_open and ini_connect in one; cleans up when the second fails. */
int ini_open_connect(struct ini_queue **queue, const struct ini_params *params, uint16_t *cntlid,
		     struct ini_error *error);

/* Disconnect (bounded, politely) and free. NULL is fine. */
void ini_close(struct ini_queue *queue);
/* Free without a word to the peer beyond what destroying a QP does: as a killed host would. */
void ini_abandon(struct ini_queue *queue);

/* Facts about an open queue. */
uint16_t ini_entries(const struct ini_queue *queue);
unsigned int ini_outstanding(const struct ini_queue *queue);
bool ini_is_connected(struct ini_queue *queue); /* looks at pending events, does not wait */
/* crqsize of the accept's private data; device and path as one line of text. */
uint16_t ini_crqsize(const struct ini_queue *queue);
const char *ini_describe(const struct ini_queue *queue);

/* The data buffer of a tag, slot_bytes long; its address and key for a raw SGL. */
void *ini_data(struct ini_queue *queue, uint16_t tag);
uint32_t ini_rkey(const struct ini_queue *queue);

/* ---- commands ---- */

/*
 * Send one command. @cmd->tag INI_TAG_ANY is replaced by a free one.
 * -EAGAIN: the queue is full. -EBUSY: the tag is taken. -EMSGSIZE: the data does not fit.
 */
int ini_submit(struct ini_queue *queue, struct ini_cmd *cmd, struct ini_error *error);
/* Up to @max completions that are there already; their number or -errno. */
int ini_poll(struct ini_queue *queue, struct ini_done *done, unsigned int max,
	     struct ini_error *error);
/* As ini_poll, but waits for the first one. */
int ini_wait(struct ini_queue *queue, struct ini_done *done, unsigned int max, int timeout_ms,
	     struct ini_error *error);
/*
 * One command from submission to completion. An NVMe error status is -EREMOTEIO; @done (may be
 * NULL) is filled then too. Needs that nothing but Asynchronous Event Requests is outstanding;
 * their completions are dropped.
 */
int ini_exec(struct ini_queue *queue, struct ini_cmd *cmd, struct ini_done *done,
	     struct ini_error *error);

/* Raw: send @bytes bytes as one message. Its completion, if one comes, has the cid in it. */
int ini_send_raw(struct ini_queue *queue, const void *data, size_t bytes, struct ini_error *error);
/* Wait until the peer has ended the connection: 0, or -ETIMEDOUT. */
int ini_wait_disconnect(struct ini_queue *queue, int timeout_ms, struct ini_error *error);

/* ---- what an admin queue is for ---- */

int ini_property_get(struct ini_queue *queue, uint32_t offset, bool is_64bit, uint64_t *value,
		     struct ini_error *error);
int ini_property_set(struct ini_queue *queue, uint32_t offset, bool is_64bit, uint64_t value,
		     struct ini_error *error);
/* CC.EN = 1 and wait for CSTS.RDY, bounded by CAP.TO. */
int ini_enable(struct ini_queue *queue, struct ini_error *error);
/* CC.SHN = normal and wait for CSTS.SHST = complete. */
int ini_shutdown(struct ini_queue *queue, struct ini_error *error);
int ini_identify(struct ini_queue *queue, uint32_t nsid, uint8_t cns, void *data4096,
		 struct ini_error *error);
int ini_identify_ctrl(struct ini_queue *queue, struct nvme_id_ctrl *ctrl, struct ini_error *error);
int ini_identify_ns(struct ini_queue *queue, uint32_t nsid, struct nvme_id_ns *ns,
		    struct ini_error *error);
int ini_get_log(struct ini_queue *queue, uint8_t lid, uint32_t nsid, uint64_t offset, void *data,
		uint32_t bytes, struct ini_error *error);
int ini_keep_alive(struct ini_queue *queue, struct ini_error *error);
/* Number of Queues feature; both are counts. Out: what the controller grants. */
int ini_set_queue_count(struct ini_queue *queue, uint16_t *count, struct ini_error *error);
/*
 * All records of the discovery log, consistent for one generation. *records is malloc'ed.
 */
int ini_discover(struct ini_queue *queue, struct nvmf_disc_log_entry **records, uint32_t *count,
		 uint64_t *genctr, struct ini_error *error);

/* ---- what an I/O queue is for ---- */

/* Read into or write from memory through the buffer of tag 0, in one command. -EBUSY: it is taken.
 */
struct ini_rw {
	uint8_t opcode; /* nvme_cmd_read, nvme_cmd_write, nvme_cmd_compare */
	enum ini_data data;
	uint32_t nsid;
	uint64_t lba;
	uint32_t blocks;
	uint32_t block_bytes;
};
int ini_rw(struct ini_queue *queue, const struct ini_rw *rw, void *data, struct ini_error *error);
int ini_flush(struct ini_queue *queue, uint32_t nsid, struct ini_error *error);

/* ---- */

uint64_t ini_now_ns(void); /* CLOCK_MONOTONIC */

#endif
