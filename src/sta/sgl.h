/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one SGL descriptor of a capsule (MSDBD is 1). Pure: bytes in, facts or a status out.
 */
#ifndef STA_SGL_H
#define STA_SGL_H

#include <stdbool.h>
#include <stdint.h>

#include "sta/sqe.h"
#include "sta/status.h"

struct sta_sgl {
	bool is_keyed; /* data in the host's memory, else in the capsule */
	bool is_invalidate; /* the response must invalidate the key */
	uint32_t key;
	uint32_t bytes;
	uint64_t addr; /* keyed: remote address; in the capsule: offset behind the command */
};

/*
 * Parses the descriptor of @sqe into @sgl, which is always filled: an error response, too, has to
 * invalidate the key when asked to (the key is known whenever the descriptor is keyed).
 * Returns 0, SGL Descriptor Type Invalid or Invalid Field (subtype), with DNR.
 */
sta_status_t sta_sgl_parse(const struct sta_sqe *sqe, struct sta_sgl *sgl);

/*
 * Checks in-capsule data against @icd_bytes, the room for it in a capsule, and @got_bytes, what
 * came behind the command. Returns 0, SGL Offset Invalid or Data SGL Length Invalid, with DNR.
 */
sta_status_t sta_sgl_check_in_capsule(const struct sta_sgl *sgl, uint32_t icd_bytes,
				      uint32_t got_bytes);

#endif
