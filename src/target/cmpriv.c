/* SPDX-License-Identifier: Apache-2.0 */
/* Private data of RDMA-CM messages; see cmpriv.h. */
#include "target/cmpriv.h"

#include <string.h>

#include "util/byteorder.h"

enum {
	REQ_RECFMT = 0,
	REQ_QID = 2,
	REQ_HRQSIZE = 4,
	REQ_HSQSIZE = 6,
	RECFMT = 0,
};

uint16_t tgt_cm_entries(const struct tgt_cm_request *req)
{
	return (uint16_t)(req->hsqsize_0b + 1);
}

enum tgt_cm_status tgt_cm_parse(const void *data, size_t bytes, uint8_t ird,
				const struct tgt_limits *limits, struct tgt_cm_request *req)
{
	const uint8_t *p = data;
	uint16_t max_entries;

	if (!p || bytes < TGT_CM_REQUEST_BYTES)
		return TGT_CM_INVALID_LENGTH;
	if (util_get_le16(p + REQ_RECFMT) != RECFMT)
		return TGT_CM_INVALID_RECFMT;
	req->qid = util_get_le16(p + REQ_QID);
	req->hrqsize = util_get_le16(p + REQ_HRQSIZE);
	req->hsqsize_0b = util_get_le16(p + REQ_HSQSIZE);
	if (req->qid > limits->max_io_queues)
		return TGT_CM_INVALID_QID;
	max_entries = req->qid == 0 ? TGT_ADMIN_QUEUE_ENTRIES : limits->io_queue_entries;
	if (!req->hsqsize_0b || req->hsqsize_0b > max_entries - 1)
		return TGT_CM_INVALID_HSQSIZE;
	if (!req->hrqsize)
		return TGT_CM_INVALID_HRQSIZE;
	/* A host that serves no RDMA READ can send no data but in a capsule. */
	if (!ird)
		return TGT_CM_INVALID_IRD;
	return TGT_CM_OK;
}

void tgt_cm_accept_fill(uint8_t record[TGT_CM_ACCEPT_BYTES], uint16_t entries)
{
	memset(record, 0, TGT_CM_ACCEPT_BYTES);
	util_put_le16(record, RECFMT);
	util_put_le16(record + 2, entries);
}

void tgt_cm_reject_fill(uint8_t record[TGT_CM_REJECT_BYTES], enum tgt_cm_status status)
{
	util_put_le16(record, RECFMT);
	util_put_le16(record + 2, (uint16_t)status);
}

const char *tgt_cm_status_text(enum tgt_cm_status status)
{
	switch (status) {
	case TGT_CM_OK:
		return "no error";
	case TGT_CM_INVALID_LENGTH:
		return "private data too short";
	case TGT_CM_INVALID_RECFMT:
		return "unknown record format";
	case TGT_CM_INVALID_QID:
		return "queue id out of range";
	case TGT_CM_INVALID_HSQSIZE:
		return "submission queue size out of range";
	case TGT_CM_INVALID_HRQSIZE:
		return "receive queue size out of range";
	case TGT_CM_NO_RESOURCES:
		return "no resources";
	case TGT_CM_INVALID_IRD:
		return "host can serve no RDMA READ";
	}
	return "unknown";
}
