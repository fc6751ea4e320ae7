/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SGL descriptors of NVMe over RDMA: a keyed data block (address, 24-bit length, 32-bit key;
 * NVMe Base 2.0 figure 112) or a data block whose address is an offset into the capsule.
 */
#include "sta/sgl.h"

#include <string.h>

#include "util/byteorder.h"

static sta_status_t parse_keyed(const uint8_t *d, unsigned int subtype, struct sta_sgl *sgl)
{
	sgl->is_keyed = true;
	sgl->bytes = d[8] | d[9] << 8 | d[10] << 16;
	sgl->key = util_get_le32(d + 11);
	if (subtype == STA_SGL_INVALIDATE_KEY)
		sgl->is_invalidate = true;
	else if (subtype != STA_SGL_ADDRESS)
		return STA_SC_DNR(INVALID_FIELD);
	return 0;
}

sta_status_t sta_sgl_parse(const struct sta_sqe *sqe, struct sta_sgl *sgl)
{
	const uint8_t *d = sqe->sgl;
	unsigned int type = d[15] >> 4;
	unsigned int subtype = d[15] & 0xf;

	memset(sgl, 0, sizeof(*sgl));
	sgl->addr = util_get_le64(d);
	if (type == STA_SGL_KEYED_DATA_BLOCK)
		return parse_keyed(d, subtype, sgl);
	if (type != STA_SGL_DATA_BLOCK)
		return STA_SC_DNR(SGL_INVALID_TYPE);
	if (subtype != STA_SGL_OFFSET)
		return STA_SC_DNR(INVALID_FIELD);
	sgl->bytes = util_get_le32(d + 8);
	return 0;
}

sta_status_t sta_sgl_check_in_capsule(const struct sta_sgl *sgl, uint32_t icd_bytes,
				      uint32_t got_bytes)
{
	/* A back-end takes data at dword granularity (PRP entry offset, NVMe Base 2.0 4.1.1). */
	if (sgl->addr > icd_bytes || sgl->bytes > icd_bytes - sgl->addr || (sgl->addr & 3))
		return STA_SC_DNR(SGL_INVALID_OFFSET);
	if (sgl->addr + sgl->bytes > got_bytes)
		return STA_SC_DNR(SGL_INVALID_DATA);
	return 0;
}
