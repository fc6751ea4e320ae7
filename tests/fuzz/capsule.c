/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capsule validation under arbitrary capsules. Input: two bytes that choose namespace and room for
 * data, then the capsule as received, of any length. Whatever a capsule is accepted with has to
 * stay inside what was received and below the limits, and whatever is refused has to say why.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sta/capsule.h"
#include "sta/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint32_t sink; /* so that what is read is read */

static void require(bool is_true)
{
	if (!is_true)
		abort();
}

/* A status that a host can act on: a code, for good, without bits that are not ours to set. */
static void check_refusal(sta_status_t status, const struct sta_capsule *c)
{
	require(status & NVME_SC_DNR);
	require((status & 0x7ff) != 0);
	require(!(status & (NVME_SC_CRD | NVME_SC_MORE)) && !(status & 0x8000));
	require(c->err_byte < STA_SQE_BYTES);
}

static void check_sgl(const struct sta_sqe *sqe, const struct sta_sgl *sgl)
{
	bool is_asked = sqe->sgl[15] == (STA_SGL_KEYED_DATA_BLOCK << 4 | STA_SGL_INVALIDATE_KEY);

	/* On errors, too: the key is the host's to have back, or not ours to touch. */
	require(sgl->is_invalidate == is_asked);
	require(!sgl->is_invalidate || sgl->is_keyed);
	require(!sgl->is_keyed || sgl->bytes < 1u << 24);
}

/* Reads what the engine would give to a back-end; a sanitizer sees a byte too many. */
static void read_in_capsule(const struct sta_capsule *c, const uint8_t *icd, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		sink += icd[c->sgl.addr + i];
}

static void check_io(const struct sta_sqe *sqe, struct sta_capsule *c, uint32_t block_bytes,
		     const uint8_t *icd)
{
	sta_status_t status = sta_capsule_check_io(sqe, block_bytes, STA_MAX_IO_BYTES, c);

	if (status) {
		check_refusal(status, c);
		return;
	}
	require(c->data_bytes <= STA_MAX_IO_BYTES);
	require(c->data_bytes <= c->sgl.bytes);
	require((c->data_bytes == 0) == (c->dir == STA_DATA_NONE));
	if (!c->sgl.is_keyed && c->data_bytes) {
		require(c->dir == STA_DATA_FROM_HOST);
		require(c->sgl.addr % 4 == 0);
		read_in_capsule(c, icd, c->data_bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sta_connect conn = {0};
	struct sta_capsule c;
	struct sta_sqe sqe;
	sta_status_t status;
	uint32_t block_bytes, room, got;
	uint8_t *icd;

	/* A shorter one never gets here: the connection ends. */
	if (size < 2 + sizeof(sqe))
		return 0;
	block_bytes = STA_MIN_BLOCK_BYTES << (data[0] & 3);
	room = data[1] & 1 ? STA_ICD_BYTES : data[1] * 16u;
	data += 2;
	size -= 2;
	got = (uint32_t)(size - sizeof(sqe));
	if (got > room)
		got = room;
	memcpy(&sqe, data, sizeof(sqe));
	/* Of its exact size on the heap: nothing behind may be read. */
	icd = malloc(got ? got : 1);
	if (!icd)
		return 0;
	memcpy(icd, data + sizeof(sqe), got);

	memset(&c, 0xff, sizeof(c));
	status = sta_capsule_parse(&sqe, room, got, &c);
	check_sgl(&sqe, &c.sgl);
	if (status)
		check_refusal(status, &c);
	else if (!c.sgl.is_keyed)
		read_in_capsule(&c, icd, c.sgl.bytes);
	if (!status && c.kind == STA_CMD_IO)
		check_io(&sqe, &c, block_bytes, icd);
	if (sta_capsule_is_connect(&sqe, &conn))
		require(c.kind == STA_CMD_NON_OFFLOAD && c.dir == STA_DATA_FROM_HOST);
	free(icd);
	return 0;
}
