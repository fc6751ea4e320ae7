/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages that take more than a format: commands and Connects. None of this runs unless it is
 * shown.
 */
#include "sta/log.h"

#include <stdio.h>
#include <string.h>

#include "sta/eu.h"
#include "util/byteorder.h"

/* NVMe Base 2.0, figure 381: the data of a Connect. */
enum {
	CONNECT_DATA_BYTES = 1024,
	CONNECT_HOSTID = 0,
	CONNECT_HOSTID_BYTES = 16,
	CONNECT_CNTLID = 16,
	CONNECT_SUBNQN = 256,
	CONNECT_HOSTNQN = 512,
};

static const char *opcode_name(uint8_t opcode)
{
	switch (opcode) {
	case nvme_cmd_flush:
		return "flush";
	case nvme_cmd_write:
		return "write";
	case nvme_cmd_read:
		return "read";
	case nvme_cmd_compare:
		return "compare";
	case nvme_cmd_write_zeroes:
		return "write zeroes";
	case nvme_cmd_dsm:
		return "dataset management";
	case nvme_cmd_verify:
		return "verify";
	case nvme_admin_fabrics:
		return "fabrics";
	default:
		return "other";
	}
}

static bool has_lba(uint8_t opcode)
{
	return opcode == nvme_cmd_read || opcode == nvme_cmd_write || opcode == nvme_cmd_compare ||
	       opcode == nvme_cmd_write_zeroes || opcode == nvme_cmd_verify;
}

void sta_log_command(const struct sta_eu *eu, const struct sta_req *req, const char *how)
{
	const struct sta_sqe *sqe = &req->sqe;
	bool is_io = req->cap.kind == STA_CMD_IO;
	bool is_fabrics = sqe->opcode == nvme_admin_fabrics; /* FCTYPE is where the nsid would be */
	char where[64] = "";

	if (has_lba(sqe->opcode))
		snprintf(where, sizeof(where), " slba %llu blocks %u",
			 (unsigned long long)le32toh(sqe->cdw11) << 32 | le32toh(sqe->cdw10),
			 (le32toh(sqe->cdw12) & 0xffff) + 1);
	doca_priv_log(DOCA_LOG_LEVEL_TRACE, "sta.io",
		      "qp %u: qid %u cid %u opcode 0x%02x (%s) %s %u%s length %u: status 0x%04x"
		      ", eu %u%s",
		      req->qp->qpn, req->qp->qid, le16toh(sqe->cid), sqe->opcode,
		      opcode_name(sqe->opcode), is_fabrics ? "fctype" : "nsid", le32toh(sqe->nsid),
		      where, is_io ? req->cap.data_bytes : req->cap.sgl.bytes, req->result.status,
		      eu->idx, how);
}

/* A name that a host chose: as long as a name may be, and nothing but what can be printed. */
static void copy_name(const uint8_t *field, char name[STA_MAX_NQN_BYTES + 1])
{
	size_t i;

	for (i = 0; i < STA_MAX_NQN_BYTES && field[i]; i++)
		name[i] =
			field[i] > ' ' && field[i] < 0x7f && field[i] != '"' ? (char)field[i] : '?';
	name[i] = '\0';
}

void sta_log_connect(const struct sta_eu *eu, const struct sta_req *req)
{
	char hostnqn[STA_MAX_NQN_BYTES + 1] = "", subnqn[STA_MAX_NQN_BYTES + 1] = "";
	char hostid[2 * CONNECT_HOSTID_BYTES + 1] = "";
	uint16_t cntlid = 0;
	const uint8_t *data;

	if (req->wait.slot && req->cap.sgl.bytes >= CONNECT_DATA_BYTES) {
		data = req->wait.slot->data;
		copy_name(data + CONNECT_HOSTNQN, hostnqn);
		copy_name(data + CONNECT_SUBNQN, subnqn);
		cntlid = util_get_le16(data + CONNECT_CNTLID);
		for (int i = 0; i < CONNECT_HOSTID_BYTES; i++)
			snprintf(hostid + 2 * i, 3, "%02x", data[CONNECT_HOSTID + i]);
	}
	doca_priv_log(DOCA_LOG_LEVEL_DEBUG, "sta.connect",
		      "qp %u: connect qid %u sqsize %u cntlid 0x%04x hostnqn \"%s\" subnqn \"%s\""
		      " hostid %s, eu %u",
		      req->qp->qpn, le32toh(req->sqe.cdw10) >> 16, le32toh(req->sqe.cdw11) & 0xffff,
		      cntlid, hostnqn, subnqn, hostid, eu->idx);
}

void sta_log_connected(const struct sta_eu *eu, const struct sta_req *req)
{
	uint16_t status = req->result.status;

	if (status)
		doca_priv_log(DOCA_LOG_LEVEL_DEBUG, "sta.connect",
			      "qp %u: connect qid %u refused with status 0x%04x, eu %u",
			      req->qp->qpn, le32toh(req->sqe.cdw10) >> 16, status, eu->idx);
	else
		doca_priv_log(DOCA_LOG_LEVEL_DEBUG, "sta.connect",
			      "qp %u: connect qid %u accepted, cntlid %u, sq size %u, eu %u",
			      req->qp->qpn, le32toh(req->sqe.cdw10) >> 16, req->result.dw0 & 0xffff,
			      atomic_load(&req->qp->sq_size), eu->idx);
}
