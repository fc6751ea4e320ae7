/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands, SGL descriptors and Connect data in wire order. See wire.h; the names that people
 * read are in names.c.
 */
#include <ctype.h>
#include <endian.h>
#include <string.h>

#include "wire.h"

/* SGL descriptor identifiers: type << 4 | subtype, base 2.0 figures 89 and 90. */
enum {
	SGL_DATA_BLOCK_OFFSET = 0x01,
	SGL_KEYED_ADDRESS = 0x40,
	SGL_KEYED_INVALIDATE = 0x4f,
};

/* Property sizes, base 2.0 figures 388 and 389. */
enum {
	PROP_4_BYTES = 0,
	PROP_8_BYTES = 1,
};

void ini_sgl_none(uint8_t sgl[16])
{
	ini_sgl_keyed(sgl, 0, 0, 0, false);
}

void ini_sgl_incapsule(uint8_t sgl[16], uint64_t offset, uint32_t bytes)
{
	uint64_t le_offset = htole64(offset);
	uint32_t le_bytes = htole32(bytes);

	memset(sgl, 0, 16);
	memcpy(sgl, &le_offset, sizeof(le_offset));
	memcpy(sgl + 8, &le_bytes, sizeof(le_bytes));
	sgl[15] = SGL_DATA_BLOCK_OFFSET;
}

void ini_sgl_keyed(uint8_t sgl[16], uint64_t addr, uint32_t bytes, uint32_t rkey, bool invalidate)
{
	uint64_t le_addr = htole64(addr);
	uint32_t le_bytes = htole32(bytes);
	uint32_t le_rkey = htole32(rkey);

	memcpy(sgl, &le_addr, sizeof(le_addr));
	memcpy(sgl + 8, &le_bytes, 3);
	memcpy(sgl + 11, &le_rkey, sizeof(le_rkey));
	sgl[15] = invalidate ? SGL_KEYED_INVALIDATE : SGL_KEYED_ADDRESS;
}

static void fabrics_sqe(struct ini_sqe *sqe, enum nvme_fctype fctype)
{
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = INI_OPC_FABRICS;
	sqe->nsid = htole32(fctype);
}

void ini_sqe_connect(struct ini_sqe *sqe, uint16_t qid, uint16_t sqsize_0b, uint32_t kato_ms)
{
	fabrics_sqe(sqe, nvme_fabrics_type_connect);
	sqe->cdw10 = htole32((uint32_t)qid << 16); /* record format 0 below it */
	sqe->cdw11 = htole32(sqsize_0b);
	sqe->cdw12 = htole32(kato_ms);
}

void ini_sqe_property_get(struct ini_sqe *sqe, uint32_t offset, bool is_64bit)
{
	fabrics_sqe(sqe, nvme_fabrics_type_property_get);
	sqe->cdw10 = htole32(is_64bit ? PROP_8_BYTES : PROP_4_BYTES);
	sqe->cdw11 = htole32(offset);
}

void ini_sqe_property_set(struct ini_sqe *sqe, uint32_t offset, bool is_64bit, uint64_t value)
{
	fabrics_sqe(sqe, nvme_fabrics_type_property_set);
	sqe->cdw10 = htole32(is_64bit ? PROP_8_BYTES : PROP_4_BYTES);
	sqe->cdw11 = htole32(offset);
	sqe->cdw12 = htole32((uint32_t)value);
	sqe->cdw13 = htole32((uint32_t)(value >> 32));
}

void ini_sqe_identify(struct ini_sqe *sqe, uint32_t nsid, uint8_t cns)
{
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = nvme_admin_identify;
	sqe->nsid = htole32(nsid);
	sqe->cdw10 = htole32(cns);
}

void ini_sqe_get_log(struct ini_sqe *sqe, uint8_t lid, uint32_t nsid, uint64_t offset,
		     uint32_t bytes)
{
	uint32_t dwords_0b = bytes / 4 - 1;

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = nvme_admin_get_log_page;
	sqe->nsid = htole32(nsid);
	sqe->cdw10 = htole32(lid | (dwords_0b & 0xffff) << 16);
	sqe->cdw11 = htole32(dwords_0b >> 16);
	sqe->cdw12 = htole32((uint32_t)offset);
	sqe->cdw13 = htole32((uint32_t)(offset >> 32));
}

void ini_sqe_rw(struct ini_sqe *sqe, uint8_t opcode, uint32_t nsid, uint64_t lba, uint32_t blocks)
{
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->nsid = htole32(nsid);
	sqe->cdw10 = htole32((uint32_t)lba);
	sqe->cdw11 = htole32((uint32_t)(lba >> 32));
	sqe->cdw12 = htole32((blocks - 1) & 0xffff);
}

/* Both name fields are NVME_NQN_LENGTH bytes, zero padded. */
static void put_nqn(char field[NVME_NQN_LENGTH], const char *nqn)
{
	size_t len = strnlen(nqn, NVME_NQN_LENGTH - 1);

	memset(field, 0, NVME_NQN_LENGTH);
	memcpy(field, nqn, len);
}

void ini_connect_data(struct nvmf_connect_data *data, const uint8_t hostid[16], uint16_t cntlid,
		      const char *subnqn, const char *hostnqn)
{
	static_assert(sizeof(*data) == 1024, "Connect data");
	static_assert(offsetof(struct nvmf_connect_data, subsysnqn) == INI_CONNECT_OFF_SUBNQN,
		      "Connect data");
	static_assert(offsetof(struct nvmf_connect_data, hostnqn) == INI_CONNECT_OFF_HOSTNQN,
		      "Connect data");

	memset(data, 0, sizeof(*data));
	memcpy(data->hostid, hostid, sizeof(data->hostid));
	data->cntlid = htole16(cntlid);
	put_nqn(data->subsysnqn, subnqn);
	put_nqn(data->hostnqn, hostnqn);
}

uint16_t ini_cqe_status(const struct ini_cqe *cqe)
{
	return le16toh(cqe->status) >> 1;
}

uint16_t ini_cqe_sc(const struct ini_cqe *cqe)
{
	return ini_cqe_status(cqe) & 0x7ff;
}

void ini_field_str(char *out, size_t out_bytes, const char *field, size_t field_bytes)
{
	size_t len = strnlen(field, field_bytes);
	size_t i;

	while (len > 0 && field[len - 1] == ' ')
		len--;
	if (len >= out_bytes)
		len = out_bytes - 1;
	for (i = 0; i < len; i++)
		out[i] = isprint((unsigned char)field[i]) ? field[i] : '?';
	out[len] = '\0';
}
