/* SPDX-License-Identifier: Apache-2.0 */
/* Bring-up of everything that a configuration says, the loop's round, and shut-down. */
#include "target/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/ctrlr.h"
#include "target/log.h"
#include "target/rpc/methods.h"
#include "target/rpc/path.h"
#include "target/rpc/server.h"

enum {
	/* Between two looks at whether disks are what they were. */
	CHECK_MS = 1000,
	/* Commands that STA offloads beside Read, Write and Flush, where a backend has them. */
	OFFLOADED_ONCS = NVME_CTRL_ONCS_COMPARE | NVME_CTRL_ONCS_DSM | NVME_CTRL_ONCS_WRITE_ZEROES |
			 NVME_CTRL_ONCS_VERIFY,
};

static int no_memory(struct tgt_err *err)
{
	return tgt_err_set(err, -ENOMEM, "out of memory");
}

/* ---- from configuration to objects -------------------------------------------------------- */

static bool is_identified(const struct tgt_ns *ns)
{
	static const struct tgt_ns none;

	return memcmp(ns->uuid, none.uuid, sizeof(ns->uuid)) ||
	       memcmp(ns->nguid, none.nguid, sizeof(ns->nguid)) ||
	       memcmp(ns->eui64, none.eui64, sizeof(ns->eui64));
}

/* Identifiers that stay as long as name, id, block size and disk stay the same. */
static void ns_derive_ids(const struct tgt_subsys *subsys, const struct tgt_bdev_conf *bdev,
			  struct tgt_ns *ns)
{
	char *path = bdev->path ? realpath(bdev->path, NULL) : NULL;
	const char *disk = path ? path : bdev->name;
	char seed[4096 + 512];

	/* A drive is the same one in another slot. */
	if (bdev->kind == TGT_BDEV_DRIVE)
		disk = tgt_backend_info(ns->backend)->serial;
	snprintf(seed, sizeof(seed), "%s\n%u\n%u\n%s", subsys->nqn, ns->nsid, ns->block_bytes,
		 disk);
	free(path);
	tgt_uuid_derive(seed, ns->uuid);
	memcpy(ns->nguid, ns->uuid, sizeof(ns->nguid));
}

/* From the most to the least particular: the namespace's own, the bdev's, the disk's, ours. */
static void ns_identify(const struct tgt_subsys *subsys, const struct tgt_ns_conf *conf,
			const struct tgt_bdev_conf *bdev, struct tgt_ns *ns)
{
	static const uint8_t no_eui64[sizeof(ns->eui64)];

	if (!is_identified(ns))
		ns_derive_ids(subsys, bdev, ns);
	if (bdev->has_uuid)
		memcpy(ns->uuid, bdev->uuid, sizeof(ns->uuid));
	if (conf->has_uuid)
		memcpy(ns->uuid, conf->uuid, sizeof(ns->uuid));
	if (conf->has_nguid)
		memcpy(ns->nguid, conf->nguid, sizeof(ns->nguid));
	else if (bdev->has_uuid || conf->has_uuid)
		memcpy(ns->nguid, ns->uuid, sizeof(ns->nguid));
	if (memcmp(conf->eui64, no_eui64, sizeof(no_eui64)))
		memcpy(ns->eui64, conf->eui64, sizeof(ns->eui64));
}

/* What a host is told of all backends of a subsystem is what the weakest of them can do. */
static void subsys_weigh(struct tgt_subsys *subsys, const struct tgt_backend *backend)
{
	const struct nv_ctrl_info *info = tgt_backend_info(backend);

	subsys->oncs &= info->oncs;
	subsys->write_cache |= info->volatile_write_cache;
	subsys->awun = util_min(subsys->awun, info->awun);
	subsys->awupf = util_min(subsys->awupf, info->awupf);
	subsys->acwu = util_min(subsys->acwu, le16toh(info->id.acwu));
}

static int ns_add(struct tgt_server *server, struct tgt_subsys *subsys,
		  const struct tgt_ns_conf *conf, struct tgt_err *err)
{
	struct tgt_ns *ns = calloc(1, sizeof(*ns));
	int rc;

	if (!ns)
		return no_memory(err);
	ns->nsid = conf->nsid;
	ns->backend = server->backends[conf->bdev];
	rc = tgt_backend_describe(ns->backend, conf->be_nsid, ns, err);
	if (rc)
		goto free_ns;
	ns_identify(subsys, conf, &server->config->bdevs[conf->bdev], ns);
	subsys_weigh(subsys, ns->backend);
	rc = tgt_subsys_add_ns(&server->tgt, subsys, ns);
	if (!rc)
		return 0;
	tgt_err_set(err, rc, "namespace %u: %s", ns->nsid, strerror(-rc));
free_ns:
	free(ns);
	return rc;
}

/* All namespaces of a drive, at the ids that are free still. */
static int ns_add_every(struct tgt_server *server, struct tgt_subsys *subsys,
			const struct tgt_ns_conf *conf, struct tgt_err *err)
{
	const struct tgt_backend *backend = server->backends[conf->bdev];
	struct tgt_ns_conf one = *conf;
	size_t n = tgt_backend_ns_count(backend), i;
	int rc = 0;

	if (!n)
		return tgt_err_set(err, -ENOENT, "%s: it has no namespace",
				   server->config->bdevs[conf->bdev].path);
	one.nsid = 1;
	for (i = 0; i < n && !rc; i++) {
		while (tgt_ns_get(subsys, one.nsid))
			one.nsid++;
		one.be_nsid = tgt_backend_nsid(backend, i);
		rc = ns_add(server, subsys, &one, err);
	}
	return rc;
}

static int subsys_build(struct tgt_server *server, const struct tgt_subsys_conf *conf,
			struct tgt_subsys *subsys, struct tgt_err *err)
{
	size_t i;
	int rc = 0;

	if (conf->serial[0])
		memcpy(subsys->serial, conf->serial, sizeof(subsys->serial));
	if (conf->model[0])
		memcpy(subsys->model, conf->model, sizeof(subsys->model));
	if (conf->min_cntlid)
		subsys->min_cntlid = conf->min_cntlid;
	if (conf->max_cntlid)
		subsys->max_cntlid = conf->max_cntlid;
	subsys->allow_any_host = conf->allow_any_host;
	subsys->oncs = OFFLOADED_ONCS;
	subsys->awun = subsys->awupf = subsys->acwu = conf->n_ns ? UINT16_MAX : 0;
	for (i = 0; i < conf->n_hosts; i++)
		if (tgt_subsys_add_host(&server->tgt, subsys, conf->hosts[i]))
			return no_memory(err);
	/* First those whose id is known, so that it is free. */
	for (i = 0; i < conf->n_ns && !rc; i++)
		if (conf->ns[i].be_nsid != TGT_EVERY_NAMESPACE)
			rc = ns_add(server, subsys, &conf->ns[i], err);
	for (i = 0; i < conf->n_ns && !rc; i++)
		if (conf->ns[i].be_nsid == TGT_EVERY_NAMESPACE)
			rc = ns_add_every(server, subsys, &conf->ns[i], err);
	return rc;
}

/* Ports and which subsystems they lead to; nothing is opened yet. */
static int ports_build(struct tgt_server *server, struct tgt_err *err)
{
	const struct tgt_config *config = server->config;
	struct tgt_port *port;
	size_t s, i;

	for (s = 0; s < config->n_subsystems; s++)
		for (i = 0; i < config->subsystems[s].n_listeners; i++) {
			port = tgt_add_port(&server->tgt, &config->subsystems[s].listeners[i]);
			if (!port)
				return tgt_err_set(err, -ENOSPC, "more than %d listen addresses",
						   TGT_MAX_PORTS);
		}
	return 0;
}

static int subsystems_build(struct tgt_server *server, struct tgt_err *err)
{
	const struct tgt_config *config = server->config;
	size_t s, i;
	int rc;

	for (s = 0; s < config->n_subsystems; s++) {
		const struct tgt_subsys_conf *conf = &config->subsystems[s];
		uint32_t nn = conf->max_namespaces ? conf->max_namespaces : TGT_MAX_NAMESPACES;
		struct tgt_subsys *subsys = tgt_add_subsys(&server->tgt, conf->nqn, nn);

		if (!subsys)
			return no_memory(err);
		rc = subsys_build(server, conf, subsys, err);
		if (rc)
			return rc;
		for (i = 0; i < conf->n_listeners; i++)
			if (tgt_subsys_add_port(&server->tgt, subsys,
						tgt_add_port(&server->tgt, &conf->listeners[i])))
				return no_memory(err);
		rc = tgt_datapath_add_subsys(server, subsys, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int backend_open(struct tgt_server *server, const struct tgt_bdev_conf *conf,
			struct tgt_backend **backend, struct tgt_err *err)
{
	struct tgt_limits *limits = &server->tgt.limits;
	uint32_t max_io_bytes;
	int rc = tgt_backend_open(server, conf, backend, err);

	if (rc)
		return rc;
	server->n_backends++;
	/* MDTS is one number for all namespaces of a host. */
	max_io_bytes = tgt_backend_info(*backend)->mdts_bytes;
	if (max_io_bytes)
		limits->max_io_bytes = util_min(limits->max_io_bytes, max_io_bytes);
	return tgt_backend_attach(server, *backend, err);
}

static int backends_open(struct tgt_server *server, struct tgt_err *err)
{
	const struct tgt_config *config = server->config;
	int rc = 0;

	server->backends = calloc(config->n_bdevs + 1, sizeof(*server->backends));
	if (!server->backends)
		return no_memory(err);
	while (server->n_backends < config->n_bdevs && !rc) {
		rc = backend_open(server, &config->bdevs[server->n_backends],
				  &server->backends[server->n_backends], err);
	}
	return rc;
}

/*
 * The socket that was asked for has to be there; without the usual one, which another target may
 * have, hosts can be served as well.
 */
static int rpc_open(struct tgt_server *server, struct tgt_err *err)
{
	const char *path = server->config->rpc_socket;
	char usual[256];
	struct tgt_err why;

	if (path && !strcmp(path, "none"))
		return 0;
	tgt_rpc_methods(server, &server->rpc_table);
	if (path)
		return tgt_rpc_open(&server->loop, path, &server->rpc_table, &server->rpc, err);
	if (!tgt_rpc_default_path(usual, sizeof(usual)))
		return 0;
	if (!strcmp(usual, TGT_RPC_SYSTEM_PATH))
		(void)mkdir(TGT_RPC_SYSTEM_DIR, 0755);
	if (tgt_rpc_open(&server->loop, usual, &server->rpc_table, &server->rpc, &why))
		tgt_log_warning("%s; going on without one (see --rpc-socket)", why.text);
	return 0;
}

static void announce(const struct tgt_server *server)
{
	size_t s;
	uint32_t n;

	for (s = 0; s < server->n_backends; s++)
		if (tgt_backend_note(server->backends[s])[0])
			tgt_log("disk \"%s\": %s", server->config->bdevs[s].name,
				tgt_backend_note(server->backends[s]));
	for (s = 1; s < server->tgt.n_subsystems; s++) {
		const struct tgt_subsys *subsys = server->tgt.subsystems[s];

		tgt_log("subsystem %s", subsys->nqn);
		for (n = 0; n < subsys->nn; n++)
			if (subsys->ns[n])
				tgt_log("  namespace %u: %llu blocks of %u bytes%s",
					subsys->ns[n]->nsid,
					(unsigned long long)subsys->ns[n]->blocks,
					subsys->ns[n]->block_bytes,
					subsys->ns[n]->is_read_only ? ", read only" : "");
		if (!subsys->allow_any_host && !subsys->n_hosts)
			tgt_log("  no host may connect yet: allow one with %s",
				server->tgt.has_config_file
					? "nvmf_subsystem_add_host in the configuration file"
					: "--allow-host NQN, or everybody with --allow-any-host");
	}
}

int tgt_server_start(struct tgt_server *server, const struct tgt_config *config,
		     struct tgt_err *err)
{
	const struct tgt_limits unknown = {0};
	int rc;

	memset(server, 0, sizeof(*server));
	server->config = config;
	util_list_init(&server->admin_queues);
	util_list_init(&server->io_queues);
	util_list_init(&server->unsent);
	if (tgt_init(&server->tgt, &unknown) || tgt_loop_init(&server->loop)) {
		tgt_fini(&server->tgt);
		return no_memory(err);
	}
	server->tgt.has_config_file = config->waits_for_addresses;
	server->tgt.now_ms = tgt_loop_now_ms();
	rc = tgt_disks_init(&server->disks);
	if (rc)
		rc = no_memory(err);
	/* Addresses first: they say which devices are needed. Listening last: hosts may come then.
	 */
	if (!rc)
		rc = rpc_open(server, err);
	if (!rc)
		rc = ports_build(server, err);
	if (!rc)
		rc = tgt_listener_bind(server, err);
	if (!rc)
		rc = tgt_datapath_open_devices(server, err);
	if (!rc)
		rc = tgt_datapath_start(server, err);
	if (!rc)
		rc = backends_open(server, err);
	if (!rc)
		rc = subsystems_build(server, err);
	if (!rc)
		rc = tgt_listener_listen(server, err);
	if (rc) {
		tgt_server_stop(server);
		return rc;
	}
	/* Last, so that a target that cannot start says why and nothing else. */
	announce(server);
	if (server->rpc)
		tgt_log("control socket %s", tgt_rpc_path(server->rpc));
	tgt_listener_announce(server);
	return 0;
}

/* ---- running ------------------------------------------------------------------------------ */

/* What an event left to be freed, and what that lets go on. */
static void settle(struct tgt_server *server)
{
	tgt_ioq_resubmit(server);
	tgt_tick(&server->tgt);
	tgt_adminq_reap(server);
	tgt_ioq_reap(server);
	/* Tasks that were submitted outside of a progress engine's callback may be done already. */
	tgt_datapath_progress(server);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_check(const struct tgt_server *server)
{
	for (size_t i = 0; i < server->n_backends && !server->tgt.is_stopping; i++)
		if (tgt_backend_is_watched(server->backends[i]))
			return server->next_check_ms;
	return UINT64_MAX;
}

static void check_disks(struct tgt_server *server)
{
	if (server->tgt.now_ms < next_check(server))
		return;
	server->next_check_ms = server->tgt.now_ms + CHECK_MS;
	for (size_t i = 0; i < server->n_backends; i++)
		tgt_backend_check(server->backends[i]);
}

int tgt_server_turn(struct tgt_server *server, uint64_t deadline_ms)
{
	int rc;

	deadline_ms = earliest(deadline_ms, tgt_next_deadline(&server->tgt));
	deadline_ms = earliest(deadline_ms, tgt_adminq_next_reap(server));
	deadline_ms = earliest(deadline_ms, tgt_ioq_next_retry(server));
	deadline_ms = earliest(deadline_ms, next_check(server));
	deadline_ms = earliest(deadline_ms, tgt_rpc_next_deadline(server->rpc));
	rc = tgt_loop_wait(&server->loop, deadline_ms, &server->tgt.now_ms);
	tgt_rpc_tick(server->rpc, server->tgt.now_ms);
	check_disks(server);
	settle(server);
	return rc;
}

/* ---- shut-down ---------------------------------------------------------------------------- */

void tgt_server_close_hosts(struct tgt_server *server)
{
	server->tgt.is_stopping = true;
	tgt_rpc_close(server->rpc);
	server->rpc = NULL;
	tgt_listener_close(server);
	tgt_ioq_let_go_all(server);
	tgt_datapath_begin_stop_io(server);
}

void tgt_server_abandon_disks(struct tgt_server *server)
{
	for (size_t i = 0; i < server->n_backends; i++)
		tgt_backend_abandon(server->backends[i]);
}

void tgt_server_close_controllers(struct tgt_server *server)
{
	tgt_ioq_close_all(server);
	tgt_adminq_close_all(server, false);
}

bool tgt_server_has_io_queues(const struct tgt_server *server)
{
	return !tgt_datapath_io_is_idle(server);
}

bool tgt_server_has_queues(const struct tgt_server *server)
{
	return !util_list_is_empty(&server->io_queues) ||
	       !util_list_is_empty(&server->admin_queues);
}

void tgt_server_stop(struct tgt_server *server)
{
	size_t i;

	tgt_rpc_close(server->rpc);
	tgt_adminq_close_all(server, true);
	tgt_adminq_reap(server);
	if (server->io) {
		tgt_ioq_close_all(server);
		tgt_datapath_begin_stop_io(server);
		/* These are refused now, and freed: the context waits for that. */
		tgt_ioq_resubmit(server);
	}
	tgt_ioq_reap(server);
	tgt_datapath_stop_io(server);
	tgt_datapath_remove_subsystems(server);
	for (i = 0; i < server->n_backends; i++) {
		tgt_backend_detach(server, server->backends[i]);
		tgt_backend_close(server->backends[i]);
	}
	free(server->backends);
	tgt_datapath_stop(server);
	tgt_listener_fini(server);
	tgt_disks_fini(&server->disks);
	tgt_loop_fini(&server->loop);
	tgt_fini(&server->tgt);
}
