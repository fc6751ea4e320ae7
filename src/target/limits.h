/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every number that bounds what configuration or a peer can make the target hold. What depends on
 * the data path (queue sizes, transfer sizes, numbers of subsystems) is not here: it is asked of
 * DOCA STA at start and kept in struct tgt_limits.
 */
#ifndef TGT_LIMITS_H
#define TGT_LIMITS_H

enum {
	TGT_MAX_SUBSYSTEMS = 64,
	TGT_MAX_PORTS = 64,
	TGT_MAX_HOSTS_PER_SUBSYSTEM = 256,
	TGT_MAX_BDEVS = 256,
	/* Highest NSID; Identify Controller NN, which never changes (a constant maximum). */
	TGT_MAX_NAMESPACES = 256,
	/* Controllers of all subsystems, discovery included. */
	TGT_MAX_CONTROLLERS = 512,
	/* Connections that have an RDMA QP but no successful Connect yet. */
	TGT_MAX_UNBOUND_QUEUES = 256,
	/* Of these from one address, so that one cannot shut others out. */
	TGT_MAX_UNBOUND_OF_PEER = 64,
	/* I/O queues of one controller. */
	TGT_MAX_IO_QUEUES = 128,

	/* Admin queue: what Linux uses; slots are more, since a slot is busy until its response
	 * has left while the host may already send the next command. */
	TGT_ADMIN_QUEUE_ENTRIES = 32,
	TGT_ADMIN_SLOTS = 2 * TGT_ADMIN_QUEUE_ENTRIES,
	/* A capsule and a Connect's data behind it. */
	TGT_ADMIN_CAPSULE_BYTES = 64 + 1024,
	/* Memory that the data of all admin commands in flight may take together. */
	TGT_ADMIN_DATA_BUDGET_BYTES = 64 << 20,

	/* AERL + 1 */
	TGT_MAX_AER = 4,
	/* Events kept while no request is outstanding, one of each type, so no bound is needed. */
	TGT_MAX_CHANGED_NS = 1024,
	TGT_ERROR_LOG_ENTRIES = 32,
	/* Identify Controller ACL + 1: Aborts at a time. */
	TGT_MAX_ABORTS = 4,

	/* Keep Alive granularity, in units of 100 ms (KAS). */
	TGT_KAS = 10,
	/* A discovery controller that asks for no keep-alive lives this long without a command. */
	TGT_DISCOVERY_IDLE_MS = 120 * 1000,
	/* From an accepted connection to its Connect command. */
	TGT_CONNECT_TIMEOUT_MS = 10 * 1000,
	/* A Connect for a queue id whose old queue is being torn down waits this long for it. */
	TGT_PARK_TIMEOUT_MS = 3 * 1000,
	/* SIGTERM: from the disconnects to the exit, at most. */
	TGT_SHUTDOWN_TIMEOUT_MS = 8 * 1000,
	/* Of that, for what hosts have in flight (STA waits less for it) and the I/O queues. */
	TGT_SHUTDOWN_IO_TIMEOUT_MS = 5 * 1000,

	/* While some addresses of a configuration exist: how long the others are waited for. */
	TGT_ADDRESS_GRACE_MS = 15 * 1000,

	TGT_CONFIG_FILE_BYTES = 16 << 20,

	/* The control socket: clients at a time, the bytes and the nesting of a request, the bytes
	 * of an answer, and how long a client may leave one unread. A client has one request
	 * answered at a time; the next is looked at when the answer has gone. */
	TGT_RPC_MAX_CLIENTS = 32,
	TGT_RPC_REQUEST_BYTES = 64 << 10,
	TGT_RPC_REQUEST_DEPTH = 16,
	TGT_RPC_ID_BYTES = 128,
	TGT_RPC_ANSWER_BYTES = 32 << 20,
	TGT_RPC_UNREAD_MS = 30 * 1000,
};

#endif
