/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the progress engine needs of the context's state machine; inside core only.
 */
#ifndef CORE_CTX_STATE_H
#define CORE_CTX_STATE_H

#include <stdbool.h>

struct doca_ctx;

/*
 * STOPPING ends when the library is done and the last task is freed. True when this was now: the
 * state callback has run, and may have destroyed the context.
 */
bool core_ctx_settle(struct doca_ctx *ctx);

#endif /* CORE_CTX_STATE_H */
