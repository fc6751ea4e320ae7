/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller: what one host's admin Connect created and its queues share. It owns the properties
 * (CAP, CC, CSTS), features, pending events and the keep-alive timer. It dies with its admin queue,
 * once the last of its I/O queues is gone.
 */
#ifndef TGT_CTRLR_H
#define TGT_CTRLR_H

#include "target/queue.h"

/* Event types that may wait for a request; a type waits at most once (NVMe Base 2.0, 5.2). */
enum tgt_event {
	TGT_EVENT_NS_CHANGED,
	TGT_EVENT_DISCOVERY_CHANGED,
	TGT_EVENT_COUNT,
};

struct tgt_error_entry {
	uint64_t number; /* 0: the slot is empty */
	uint16_t sqid, cid;
	tgt_status_t status;
	uint16_t location; /* of the bad parameter in the command, TGT_NO_LOCATION if none */
	uint32_t nsid;
	uint64_t lba;
};
#define TGT_NO_LOCATION 0xffff

struct tgt_ctrlr {
	struct tgt *tgt;
	struct tgt_subsys *subsys;
	uint16_t cntlid;
	char hostnqn[TGT_NQN_TEXT];
	uint8_t hostid[16];
	struct tgt_queue *queues[TGT_MAX_IO_QUEUES + 1]; /* by qid */
	uint16_t n_queues;
	bool is_dying;
	uint64_t created_ms;

	uint32_t cc, csts;

	/* Keep-alive: 0 for none. */
	uint32_t kato_ms;
	uint64_t alive_until_ms;

	/* Asynchronous events. */
	struct tgt_req *aer[TGT_MAX_AER];
	size_t n_aer;
	bool event_pending[TGT_EVENT_COUNT];
	bool event_masked[TGT_EVENT_COUNT]; /* sent, and its log page not read since */
	uint32_t event_config; /* feature 0Bh */
	uint32_t changed_ns[TGT_MAX_CHANGED_NS];
	size_t n_changed_ns; /* TGT_MAX_CHANGED_NS + 1: too many to list */

	/* Features that are stored and reported, nothing more. */
	uint32_t arbitration, power_state, temp_over, temp_under, error_recovery;

	struct tgt_error_entry errors[TGT_ERROR_LOG_ENTRIES];
	uint64_t n_errors;
};

/**
 * tgt_ctrlr_create() - a controller for an admin Connect; @queue becomes its admin queue.
 *
 * Return: NULL when the target has TGT_MAX_CONTROLLERS, its subsystem no free id, or no memory.
 */
struct tgt_ctrlr *tgt_ctrlr_create(struct tgt_queue *queue, struct tgt_subsys *subsys);

/** tgt_ctrlr_find() - by id within a subsystem; a dying one is not found. */
struct tgt_ctrlr *tgt_ctrlr_find(struct tgt *tgt, const struct tgt_subsys *subsys, uint16_t cntlid);

/** tgt_ctrlr_attach() - make @queue the controller's queue of its id. The place is free. */
void tgt_ctrlr_attach(struct tgt_ctrlr *ctrlr, struct tgt_queue *queue);

/** tgt_ctrlr_detach() - @queue is gone; frees the controller after its last queue. */
void tgt_ctrlr_detach(struct tgt_ctrlr *ctrlr, struct tgt_queue *queue);

/** tgt_ctrlr_kill() - disconnect every queue; @fatal also sets CSTS.CFS. */
void tgt_ctrlr_kill(struct tgt_ctrlr *ctrlr, bool fatal);

/* Properties: CC writes drive CSTS (fabrics.c has the commands). */
uint64_t tgt_ctrlr_cap(const struct tgt_ctrlr *ctrlr);
/** tgt_ctrlr_is_ready() - enabled and not shut down: admin commands and I/O queues are welcome. */
bool tgt_ctrlr_is_ready(const struct tgt_ctrlr *ctrlr);
/**
 * tgt_ctrlr_set_cc() - a reset (EN to 0) and a shutdown (SHN) disconnect the I/O queues and give
 * outstanding event requests back unanswered; CSTS says so once the last I/O queue is gone.
 */
void tgt_ctrlr_set_cc(struct tgt_ctrlr *ctrlr, uint32_t cc);
#define TGT_VS 0x10400 /* NVMe 1.4 */

/* Keep-alive. */
void tgt_keepalive_set(struct tgt_ctrlr *ctrlr, uint32_t kato_ms);
/** tgt_ctrlr_was_active() - has its host done I/O since the last call? (CTRATT.TBKAS) */
bool tgt_ctrlr_was_active(struct tgt_ctrlr *ctrlr);
/** tgt_keepalive_seen() - a Keep Alive command (or, kindly, any admin command) arrived. */
void tgt_keepalive_seen(struct tgt_ctrlr *ctrlr);

/* Asynchronous events. */
tgt_status_t tgt_aer_submit(struct tgt_ctrlr *ctrlr, struct tgt_req *req);
/** tgt_aer_drop() - queue or controller is ending: give outstanding requests back unanswered. */
void tgt_aer_drop(struct tgt_ctrlr *ctrlr);
/** tgt_aer_raise() - something happened; told at once, or with the next request. */
void tgt_aer_raise(struct tgt_ctrlr *ctrlr, enum tgt_event event);
/** tgt_aer_ns_changed() - remember @nsid for the changed namespace list and raise the event. */
void tgt_aer_ns_changed(struct tgt_ctrlr *ctrlr, uint32_t nsid);
/** tgt_aer_log_read() - the host read the event's log page without RAE: it may be sent again. */
void tgt_aer_log_read(struct tgt_ctrlr *ctrlr, enum tgt_event event);

/** tgt_error_record() - an entry for the error log page; its number is given here. */
void tgt_error_record(struct tgt_ctrlr *ctrlr, const struct tgt_error_entry *entry);

/* Command handlers: return a status, or TGT_PENDING when they keep the request. */
tgt_status_t tgt_fabrics_exec(struct tgt_req *req);
tgt_status_t tgt_connect_exec(struct tgt_req *req);
/** tgt_connect_retry() - the place a parked Connect waited for is free. */
void tgt_connect_retry(struct tgt_req *req);
tgt_status_t tgt_admin_exec(struct tgt_req *req);
tgt_status_t tgt_identify_exec(struct tgt_req *req);
tgt_status_t tgt_log_exec(struct tgt_req *req);
tgt_status_t tgt_get_features_exec(struct tgt_req *req);
tgt_status_t tgt_set_features_exec(struct tgt_req *req);

/* The discovery log: discovery.c. */
uint64_t tgt_discovery_log_bytes(const struct tgt_ctrlr *ctrlr);
/** tgt_discovery_log_read() - @bytes of the log from @offset; zeroes behind its end. */
void tgt_discovery_log_read(const struct tgt_ctrlr *ctrlr, uint64_t offset, uint8_t *out,
			    size_t bytes);
/** tgt_discovery_changed() - count a change and tell discovery controllers that listen. */
void tgt_discovery_changed(struct tgt *tgt);

#endif
