/* SPDX-License-Identifier: Apache-2.0 */
/* Where the control socket is, for the target and for stactl. */
#ifndef TGT_RPC_PATH_H
#define TGT_RPC_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define TGT_RPC_SYSTEM_DIR  "/run/softsta"
#define TGT_RPC_SYSTEM_PATH TGT_RPC_SYSTEM_DIR "/tgt.sock"

/**
 * tgt_rpc_default_path() - root: TGT_RPC_SYSTEM_PATH; else softsta-tgt.sock in
 * $XDG_RUNTIME_DIR.
 *
 * Return: false if the user has no such directory, or its name is too long.
 */
bool tgt_rpc_default_path(char *path, size_t bytes);

#endif
