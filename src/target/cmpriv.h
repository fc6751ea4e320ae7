/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private data of RDMA-CM messages (NVMe RDMA Transport 1.0, 3.2): what a host says about a
 * queue before it has a connection, and how it is refused. Pure functions.
 */
#ifndef TGT_CMPRIV_H
#define TGT_CMPRIV_H

#include <stddef.h>
#include <stdint.h>

#include "target/target.h"

/* STS of a reject record. Numbers are those of the transport specification, figure 9. */
enum tgt_cm_status {
	TGT_CM_OK = 0,
	TGT_CM_INVALID_LENGTH = 1,
	TGT_CM_INVALID_RECFMT = 2,
	TGT_CM_INVALID_QID = 3,
	TGT_CM_INVALID_HSQSIZE = 4,
	TGT_CM_INVALID_HRQSIZE = 5,
	TGT_CM_NO_RESOURCES = 6,
	TGT_CM_INVALID_IRD = 7,
};

enum {
	TGT_CM_REQUEST_BYTES = 32,
	TGT_CM_ACCEPT_BYTES = 32,
	TGT_CM_REJECT_BYTES = 4,
};

struct tgt_cm_request {
	uint16_t qid;
	uint16_t hsqsize_0b; /* entries of the host's submission queue, less one */
	uint16_t hrqsize; /* receives that the host posts, a count */
};

/**
 * tgt_cm_parse() - read and check the private data of a connection request.
 * @bytes: the whole CM field, which may be longer than the record
 * @ird:   RDMA READs that the host can serve at a time
 */
enum tgt_cm_status tgt_cm_parse(const void *data, size_t bytes, uint8_t ird,
				const struct tgt_limits *limits, struct tgt_cm_request *req);

/** tgt_cm_accept_fill() - the accept record; @entries: receives that we post, a count. */
void tgt_cm_accept_fill(uint8_t record[TGT_CM_ACCEPT_BYTES], uint16_t entries);

/** tgt_cm_reject_fill() - the reject record. */
void tgt_cm_reject_fill(uint8_t record[TGT_CM_REJECT_BYTES], enum tgt_cm_status status);

/** tgt_cm_status_text() - for the log. */
const char *tgt_cm_status_text(enum tgt_cm_status status);

/** tgt_cm_entries() - entries that a host asks for, a count: what we post for it. */
uint16_t tgt_cm_entries(const struct tgt_cm_request *req);

#endif
