/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mad.c - the MAD header of class CM and the two functions that move values between a MAD and a
 * struct by a table of fields. Every access is checked against the 256 bytes.
 */
#include "roce/cm/mad.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <infiniband/umad_types.h>

static const struct roce_mad_field hdr_fields[] = {
	{8, 0, 64, offsetof(struct roce_mad_hdr, tid), sizeof(uint64_t)},
	{16, 0, 16, offsetof(struct roce_mad_hdr, attr_id), sizeof(uint16_t)},
};

enum {
	CM_CLASS_VERSION = 2
}; /* IBTA volume 1, 12.6.2 */

static_assert(sizeof(struct umad_hdr) == ROCE_CM_MAD_HDR_BYTES, "MAD header size");
static_assert(sizeof(struct umad_packet) == ROCE_CM_MAD_BYTES, "MAD size");

static bool is_inside(const struct roce_mad_field *f)
{
	size_t bits = f->bits ? f->bits : f->size * 8u;

	return f->byte * 8u + f->bit + bits <= ROCE_CM_MAD_BYTES * 8u;
}

static uint64_t get_bits(const uint8_t *mad, const struct roce_mad_field *f)
{
	unsigned int first = f->byte * 8u + f->bit;
	uint64_t value = 0;

	for (unsigned int i = first; i < first + f->bits; i++)
		value = value << 1 | (mad[i / 8] >> (7 - i % 8) & 1u);
	return value;
}

static void put_bits(uint8_t *mad, const struct roce_mad_field *f, uint64_t value)
{
	unsigned int first = f->byte * 8u + f->bit;

	for (unsigned int i = first + f->bits; i-- > first; value >>= 1) {
		uint8_t mask = (uint8_t)(1u << (7 - i % 8));

		mad[i / 8] = (uint8_t)((mad[i / 8] & ~mask) | (value & 1 ? mask : 0));
	}
}

static void store(uint8_t *at, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*at = (uint8_t)value;
		break;
	case 2:
		memcpy(at, &(uint16_t){(uint16_t)value}, 2);
		break;
	case 4:
		memcpy(at, &(uint32_t){(uint32_t)value}, 4);
		break;
	case 8:
		memcpy(at, &value, 8);
		break;
	}
}

static uint64_t load(const uint8_t *at, size_t size)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64 = 0;

	switch (size) {
	case 1:
		return *at;
	case 2:
		memcpy(&v16, at, 2);
		return v16;
	case 4:
		memcpy(&v32, at, 4);
		return v32;
	case 8:
		memcpy(&v64, at, 8);
		return v64;
	}
	return 0;
}

void roce_mad_get_fields(const uint8_t *mad, const struct roce_mad_field *fields, size_t n,
			 void *obj)
{
	for (const struct roce_mad_field *f = fields; f < fields + n; f++) {
		uint8_t *at = (uint8_t *)obj + f->at;

		if (!is_inside(f))
			continue;
		if (f->bits)
			store(at, f->size, get_bits(mad, f));
		else
			memcpy(at, mad + f->byte, f->size);
	}
}

void roce_mad_put_fields(uint8_t *mad, const struct roce_mad_field *fields, size_t n,
			 const void *obj)
{
	for (const struct roce_mad_field *f = fields; f < fields + n; f++) {
		const uint8_t *at = (const uint8_t *)obj + f->at;

		if (!is_inside(f))
			continue;
		if (f->bits)
			put_bits(mad, f, load(at, f->size));
		else
			memcpy(mad + f->byte, at, f->size);
	}
}

int roce_mad_decode(const uint8_t *mad, size_t bytes, struct roce_mad_hdr *ret_hdr)
{
	if (bytes != ROCE_CM_MAD_BYTES)
		return -EBADMSG;
	if (mad[0] != UMAD_BASE_VERSION || mad[1] != UMAD_CLASS_CM || mad[2] != CM_CLASS_VERSION ||
	    mad[3] != UMAD_METHOD_SEND)
		return -EBADMSG;
	roce_mad_get_fields(mad, hdr_fields, sizeof(hdr_fields) / sizeof(hdr_fields[0]), ret_hdr);
	return 0;
}

void roce_mad_encode(const struct roce_mad_hdr *hdr, uint8_t mad[ROCE_CM_MAD_BYTES])
{
	memset(mad, 0, ROCE_CM_MAD_BYTES);
	mad[0] = UMAD_BASE_VERSION;
	mad[1] = UMAD_CLASS_CM;
	mad[2] = CM_CLASS_VERSION;
	mad[3] = UMAD_METHOD_SEND;
	roce_mad_put_fields(mad, hdr_fields, sizeof(hdr_fields) / sizeof(hdr_fields[0]), hdr);
}
