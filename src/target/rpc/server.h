/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket: clients, their requests one after the other, their answers. Everything runs
 * on the main loop and nothing waits: a source that became ready is only marked, and a turn of
 * tgt_rpc_tick() does for each client what can be done at once, at most one request. A client that
 * does not read its answer gets no other one, and is closed in the end.
 */
#ifndef TGT_RPC_SERVER_H
#define TGT_RPC_SERVER_H

#include <stdint.h>

#include "target/err.h"
#include "target/loop.h"
#include "target/rpc/dispatch.h"

struct tgt_rpc;

/**
 * tgt_rpc_open() - listen at @path. @loop and @table are to outlive it.
 *
 * Return: 0 or a negative errno with the reason in @err (see tgt_rpc_listen_open()).
 */
int tgt_rpc_open(struct tgt_loop *loop, const char *path, const struct tgt_rpc_table *table,
		 struct tgt_rpc **rpc, struct tgt_err *err);

/** tgt_rpc_close() - let clients go and remove the socket. NULL is fine. Not from a method. */
void tgt_rpc_close(struct tgt_rpc *rpc);

/** tgt_rpc_tick() - after each turn of the loop. NULL is fine, here and below. */
void tgt_rpc_tick(struct tgt_rpc *rpc, uint64_t now_ms);

/** tgt_rpc_next_deadline() - when tgt_rpc_tick() has something to do; UINT64_MAX for never. */
uint64_t tgt_rpc_next_deadline(const struct tgt_rpc *rpc);

/** tgt_rpc_path() - where it listens. */
const char *tgt_rpc_path(const struct tgt_rpc *rpc);

#endif
