/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes wrong with a controller itself, made to happen at run time: torn completion queues, a
 * fatal status, a device that is pulled out, a reset that nobody here asked for. Faults of the
 * medium are a store's business (store.h).
 *
 * Threads: the thread that owns the registers calls these functions; I/O queues go on meanwhile on
 * their own threads, which see it with their next completion or command. While nothing is injected
 * it costs them one branch that is never taken.
 */
#ifndef NV_SOFT_INJECT_H
#define NV_SOFT_INJECT_H

#include <stdint.h>

#include "nvme/soft/soft.h"

/* What becomes of the completion of a command that was carried out. */
enum nv_soft_torn {
	NV_SOFT_TORN_SILENT, /* never posted */
	NV_SOFT_TORN_PHASE, /* posted with the wrong phase tag: the host waits there for ever */
	NV_SOFT_TORN_CID, /* carries FFFFh, an identifier that no command has */
	NV_SOFT_TORN_TWICE, /* posted twice, if there is room */
	NV_SOFT_TORN_KINDS
};

#define NV_SOFT_EVERY_QUEUE 0xffffu /* all I/O queues */

/*
 * Tear the next @times completions of queue @qid (0: the admin queue). Replaces what is left of
 * the same kind; 0 ends it. -EINVAL: the controller has no such queue.
 */
int nv_soft_tear(struct nv_soft *soft, enum nv_soft_torn kind, uint16_t qid, uint32_t times);

enum nv_soft_halt {
	NV_SOFT_RUNNING,
	NV_SOFT_FATAL, /* CSTS.CFS is set, until the host resets the controller */
	NV_SOFT_RESET, /* as if it had lost its power: CC and CSTS are 0 */
	NV_SOFT_GONE, /* registers read all ones and take no write, until it is back */
};

/*
 * Stop the controller, or bring it back: NV_SOFT_RUNNING is a controller after its power-on, to be
 * enabled by a driver. A halted controller takes no command and posts no completion, and its
 * queues stay as objects, so that their companions may still be called; they go when the controller
 * is enabled again, reset, brought back or destroyed, and must not be called then.
 *
 * What the stores have in flight goes on, as DMA of a real device may for a while: its buffers must
 * stay until the queues have gone.
 */
void nv_soft_halt(struct nv_soft *soft, enum nv_soft_halt how);

#endif
