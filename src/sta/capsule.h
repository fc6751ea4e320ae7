/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command capsule asks for, and whether it may be asked: all checks that can be made
 * before a back-end sees the command. Pure: no memory, no device, no clock.
 */
#ifndef STA_CAPSULE_H
#define STA_CAPSULE_H

#include "sta/sgl.h"

/* Who serves the command */
enum sta_cmd_kind {
	STA_CMD_NON_OFFLOAD, /* the application, through the non-offload callback */
	STA_CMD_IO, /* a back-end queue */
};

enum sta_data_dir {
	STA_DATA_NONE,
	STA_DATA_FROM_HOST,
	STA_DATA_TO_HOST,
};

struct sta_capsule {
	enum sta_cmd_kind kind;
	enum sta_data_dir dir;
	struct sta_sgl sgl;
	uint32_t data_bytes; /* to move; set by sta_capsule_check_io() for STA_CMD_IO */
	uint16_t err_byte; /* parameter error location when a status was returned */
};

/*
 * Classifies the command @sqe of a capsule with @got_bytes of data behind it and parses its SGL.
 * Returns 0 or the status for the host; @c->sgl is set in both cases.
 */
sta_status_t sta_capsule_parse(const struct sta_sqe *sqe, uint32_t icd_bytes, uint32_t got_bytes,
			       struct sta_capsule *c);

/*
 * Second half for STA_CMD_IO, once the namespace is known: transfer length against block count
 * and limit. Returns 0 or the status for the host.
 */
sta_status_t sta_capsule_check_io(const struct sta_sqe *sqe, uint32_t block_bytes,
				  uint32_t max_io_bytes, struct sta_capsule *c);

/* Facts of a Fabrics Connect that the transport has to know. */
struct sta_connect {
	uint16_t qid;
	bool is_flow_control_off;
};

/* True and *@conn filled when @sqe is a Fabrics Connect. */
bool sta_capsule_is_connect(const struct sta_sqe *sqe, struct sta_connect *conn);

#endif
