/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket's name in the file system. One that a dead target left is replaced, that of a live one
 * is not.
 */
#ifndef TGT_RPC_LISTEN_H
#define TGT_RPC_LISTEN_H

#include <sys/types.h>

#include "target/err.h"

/* A listening socket, and which file is its name. */
struct tgt_rpc_listen {
	int fd; /* non-blocking; -1: none */
	dev_t dev;
	ino_t ino;
};

/**
 * tgt_rpc_listen_open() - listen at @path, mode 0600.
 *
 * Return: 0 or a negative errno with the reason in @err: EADDRINUSE when a live process listens
 * there, EEXIST when something else has the name.
 */
int tgt_rpc_listen_open(struct tgt_rpc_listen *listen, const char *path, struct tgt_err *err);

/** tgt_rpc_listen_close() - @path is removed if it is still ours. */
void tgt_rpc_listen_close(struct tgt_rpc_listen *listen, const char *path);

#endif
