/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mad.h - the common header of management datagrams (IBTA volume 1, 13.4) for class CM, and the
 * table-driven field access that the message code builds on. Knows no CM message.
 */
#ifndef ROCE_CM_MAD_H
#define ROCE_CM_MAD_H

#include <stddef.h>
#include <stdint.h>

enum {
	ROCE_CM_MAD_BYTES = 256,
	ROCE_CM_MAD_HDR_BYTES = 24,
};

struct roce_mad_hdr {
	uint64_t tid;
	uint16_t attr_id; /* UMAD_CM_ATTR_* of <infiniband/umad_cm.h> */
};

/*
 * One field of a wire layout: where its bits stand (bit 0 is the first byte's most significant, as
 * the specification counts) and where its value lives in a struct. Up to 64 bits go to an unsigned
 * integer of `size` bytes in host order; with `bits` 0 it is `size` bytes as they are.
 */
struct roce_mad_field {
	uint16_t byte; /* from the start of the MAD */
	uint8_t bit;
	uint8_t bits;
	uint16_t at; /* offsetof in the struct */
	uint16_t size;
};

/* Decode and encode go through one table, so they cannot disagree. A field outside is skipped. */
void roce_mad_get_fields(const uint8_t *mad, const struct roce_mad_field *fields, size_t n,
			 void *obj);
void roce_mad_put_fields(uint8_t *mad, const struct roce_mad_field *fields, size_t n,
			 const void *obj);

/* -EBADMSG: not 256 bytes, or not a Send of class CM version 2 in base version 1. */
int roce_mad_decode(const uint8_t *mad, size_t bytes, struct roce_mad_hdr *ret_hdr);
/* Writes the header and clears the data behind it. */
void roce_mad_encode(const struct roce_mad_hdr *hdr, uint8_t mad[ROCE_CM_MAD_BYTES]);

#endif /* ROCE_CM_MAD_H */
