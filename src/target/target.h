/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the control plane and who owns whom:
 *
 *   tgt ── subsystems ── namespaces          (from configuration, live as long as the target)
 *    │         └─────── controllers ── queues (from hosts)
 *    ├── ports: what we listen on
 *    └── waiting: queues whose Connect has not succeeded yet
 *
 * Everything here runs on the main thread and holds no verbs and no DOCA object: transports
 * (adminq.c, ioq.c, and fakes in tests) embed a struct tgt_queue and are reached through its ops.
 * Time is tgt->now_ms, set by the main loop (or the test) before it calls in.
 */
#ifndef TGT_TARGET_H
#define TGT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/cmd.h"
#include "target/limits.h"
#include "target/log_limit.h"
#include "target/nqn.h"
#include "target/parse.h"

struct doca_sta_ns_handle;
struct doca_sta_subs_handle;
struct tgt_backend;
struct tgt_ctrlr;
struct tgt_queue;

/* What the data path can do: asked of DOCA STA at start, lowered by configuration. */
struct tgt_limits {
	uint32_t max_io_bytes; /* the one number behind MDTS */
	uint32_t ioccsz_bytes; /* I/O command capsule: 64 and the in-capsule data */
	uint32_t iorcsz_bytes;
	uint32_t icdoff_bytes;
	uint16_t io_queue_entries; /* a count; MQES is one less */
	uint16_t max_io_queues; /* per controller */
};

/* One address we listen on. */
struct tgt_port {
	uint16_t id; /* PORTID of the discovery log */
	union tgt_sockaddr addr;
	bool is_bound; /* false while the address does not exist (yet) */
};

/* What hosts have done with a namespace since the target started: for the SMART log. */
struct tgt_usage {
	uint64_t read_commands; /* Read and Compare */
	uint64_t write_commands;
	uint64_t read_bytes; /* of commands that succeeded */
	uint64_t written_bytes;
	uint64_t media_errors;
};

/*
 * Fields of Identify Namespace that are the disk's own to say, as it reports them, in host order:
 * atomicity, preferred sizes and boundaries. All zero: nothing to say.
 */
struct tgt_ns_hints {
	uint8_t nsfeat; /* TGT_NSFEAT_* */
	uint8_t dlfeat;
	uint16_t nawun, nawupf, nacwu, nabsn, nabo, nabspf;
	uint16_t noiob;
	uint16_t npwg, npwa, npdg, npda, nows;
};

enum {
	/* NSFEAT bits that say which of the fields above mean something. */
	TGT_NSFEAT_ATOMICS = 1 << 1,
	TGT_NSFEAT_OPTPERF = 1 << 4,
};

struct tgt_ns {
	uint32_t nsid;
	uint32_t be_nsid; /* at the backend */
	uint64_t blocks;
	uint32_t block_bytes;
	bool is_read_only;
	uint8_t uuid[16];
	uint8_t nguid[16];
	uint8_t eui64[8]; /* all zero: none, we own no OUI */
	struct tgt_ns_hints hints;
	struct tgt_backend *backend;
	struct doca_sta_ns_handle *sta; /* NULL in tests */
};

struct tgt_subsys {
	char nqn[TGT_NQN_TEXT];
	char serial[21];
	char model[41];
	bool is_discovery;
	bool allow_any_host;
	char (*hosts)[TGT_NQN_TEXT];
	size_t n_hosts;
	struct tgt_ns **ns; /* index nsid - 1, NULL: inactive */
	uint32_t nn; /* length of ns */
	struct tgt_port **ports;
	size_t n_ports;
	uint16_t min_cntlid, max_cntlid;
	uint16_t next_cntlid;
	uint16_t oncs; /* optional NVM commands that every backend serves */
	bool write_cache; /* some backend has a volatile write cache */
	uint16_t awun, awupf, acwu; /* the least of the backends', 0's based */
	struct doca_sta_subs_handle *sta; /* NULL for discovery and in tests */
};

struct tgt {
	uint64_t now_ms;
	struct tgt_limits limits;
	struct tgt_subsys **subsystems; /* [0] is the discovery subsystem */
	size_t n_subsystems;
	struct tgt_port **ports;
	size_t n_ports;
	uint64_t genctr; /* of the discovery log: counts changes that a host can see */
	struct tgt_ctrlr *ctrlrs[TGT_MAX_CONTROLLERS];
	size_t n_ctrlrs;
	struct tgt_queue *waiting[TGT_MAX_UNBOUND_QUEUES];
	size_t n_waiting;
	struct tgt_log_limit log_limits[TGT_LOG_KINDS];
	bool has_config_file; /* what an operator has to change is there */
	bool is_stopping; /* refuse new connections and controllers */
	/* Asks the data path; none has been used as long as nobody sets it otherwise. */
	void (*ns_usage)(const struct tgt_subsys *subsys, const struct tgt_ns *ns,
			 struct tgt_usage *usage);
};

/** tgt_init() - an empty target with its discovery subsystem. Return: 0 or -ENOMEM. */
int tgt_init(struct tgt *tgt, const struct tgt_limits *limits);

/** tgt_fini() - free subsystems and ports; no controller and no queue may be left. */
void tgt_fini(struct tgt *tgt);

/**
 * tgt_add_port() - a port for @addr; the same port when one has this address already.
 *
 * Return: the port, or NULL when TGT_MAX_PORTS exist or memory is out.
 */
struct tgt_port *tgt_add_port(struct tgt *tgt, const union tgt_sockaddr *addr);

/**
 * tgt_add_subsys() - an empty subsystem: no host, no port, no namespace.
 * @nn: highest namespace id
 *
 * Return: the subsystem, or NULL when TGT_MAX_SUBSYSTEMS exist or memory is out.
 */
struct tgt_subsys *tgt_add_subsys(struct tgt *tgt, const char *nqn, uint32_t nn);

/** tgt_subsys_add_port() - let hosts reach @subsys through @port. Return: 0 or -ENOMEM. */
int tgt_subsys_add_port(struct tgt *tgt, struct tgt_subsys *subsys, struct tgt_port *port);

/** tgt_subsys_add_host() - allow a host. Return: 0, -ENOMEM or -ENOSPC. */
int tgt_subsys_add_host(struct tgt *tgt, struct tgt_subsys *subsys, const char *hostnqn);

/**
 * tgt_subsys_add_ns() - put @ns (from the heap, owned by @subsys on success) at ns->nsid and tell
 * connected hosts. Return: 0, -EEXIST, or -ERANGE for an id outside 1..nn.
 */
int tgt_subsys_add_ns(struct tgt *tgt, struct tgt_subsys *subsys, struct tgt_ns *ns);

/** tgt_subsys_rm_ns() - take a namespace away, tell hosts, free it. Return: 0 or -ENOENT. */
int tgt_subsys_rm_ns(struct tgt *tgt, struct tgt_subsys *subsys, uint32_t nsid);

/** tgt_subsys_take_ns() - likewise, but the namespace is the caller's then; NULL if there is none.
 */
struct tgt_ns *tgt_subsys_take_ns(struct tgt *tgt, struct tgt_subsys *subsys, uint32_t nsid);

/** tgt_subsys_ns_changed() - tell hosts that a namespace is another one, or has another size. */
void tgt_subsys_ns_changed(struct tgt *tgt, const struct tgt_subsys *subsys, uint32_t nsid);

/** tgt_subsys_find() - by name among those that @port (NULL: any) leads to, NULL if none. */
struct tgt_subsys *tgt_subsys_find(struct tgt *tgt, const struct tgt_port *port, const char *nqn);

/** tgt_subsys_on_port() - does @port lead to @subsys? Discovery is on every port. */
bool tgt_subsys_on_port(const struct tgt_subsys *subsys, const struct tgt_port *port);

/** tgt_subsys_allows() - access control: may this host connect? Discovery admits everybody. */
bool tgt_subsys_allows(const struct tgt_subsys *subsys, const char *hostnqn);

/** tgt_ns_get() - an active namespace or NULL. */
struct tgt_ns *tgt_ns_get(const struct tgt_subsys *subsys, uint32_t nsid);

#endif
