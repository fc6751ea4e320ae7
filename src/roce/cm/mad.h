/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mad.h - the common header of management datagrams (IBTA volume 1, 13.4) for class CM, and the
 * big-endian field access that the message code builds on. Knows no CM message.
 */
#ifndef ROCE_CM_MAD_H
#define ROCE_CM_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ROCE_MAD_BYTES = 256,
	ROCE_MAD_HDR_BYTES = 24,
	ROCE_MAD_DATA_BYTES = ROCE_MAD_BYTES - ROCE_MAD_HDR_BYTES,
};

struct roce_mad_hdr {
	uint64_t tid;
	uint16_t attr_id; /* UMAD_CM_ATTR_* of <infiniband/umad_cm.h> */
};

/*
 * Reads or writes forward and never leaves its buffer: beyond the end a read gives 0, a write is
 * lost, and the flag `overrun` stays set.
 */
struct roce_mad_cursor {
	uint8_t *at;
	uint8_t *end;
	bool overrun;
};

void roce_mad_cursor_init(struct roce_mad_cursor *c, uint8_t *buf, size_t bytes);
uint64_t roce_mad_get(struct roce_mad_cursor *c, unsigned int bytes);
void roce_mad_get_bytes(struct roce_mad_cursor *c, uint8_t *dst, size_t bytes);
void roce_mad_put(struct roce_mad_cursor *c, uint64_t value, unsigned int bytes);
void roce_mad_put_bytes(struct roce_mad_cursor *c, const uint8_t *src, size_t bytes);
void roce_mad_skip(struct roce_mad_cursor *c, size_t bytes);

/* -EBADMSG: not 256 bytes, or not a Send of class CM version 2 in base version 1. */
int roce_mad_decode(const uint8_t *mad, size_t bytes, struct roce_mad_hdr *ret_hdr);
/* Writes the header and clears the data behind it. */
void roce_mad_encode(const struct roce_mad_hdr *hdr, uint8_t mad[ROCE_MAD_BYTES]);

#endif /* ROCE_CM_MAD_H */
