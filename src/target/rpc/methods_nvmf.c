/* SPDX-License-Identifier: Apache-2.0 */
/* Methods about subsystems and the hosts in them. */
#include "target/rpc/methods.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/ctrlr.h"
#include "target/rpc/json.h"
#include "target/server.h"

/* SPDK's name for its one target; there may be more of them there, not here. */
#define TARGET_NAME "nvmf_tgt"

/* Read "nqn" (NULL if absent) and check "tgt_name". */
static int read_names(const struct tgt_rpc_call *call, const char **nqn)
{
	const char *target = TARGET_NAME;

	*nqn = NULL;
	if (tgt_take_string(&call->call, call->params, "nqn", nqn) < 0 ||
	    tgt_take_string(&call->call, call->params, "tgt_name", &target) < 0)
		return -EINVAL;
	if (strcmp(target, TARGET_NAME))
		return tgt_bad(&call->call, -ENODEV, "tgt_name",
			       "there is \"" TARGET_NAME "\" only");
	return 0;
}

static const struct tgt_subsys *find(const struct tgt_server *server, const char *nqn)
{
	size_t i;

	for (i = 0; i < server->tgt.n_subsystems; i++)
		if (!strcmp(server->tgt.subsystems[i]->nqn, nqn))
			return server->tgt.subsystems[i];
	return NULL;
}

static int no_subsystem(const struct tgt_rpc_call *call, const char *nqn)
{
	return tgt_bad(&call->call, -ENODEV, "nqn", "there is no subsystem \"%.100s\"", nqn);
}

/* ---- nvmf_get_subsystems ------------------------------------------------------------------ */

static json_object *describe_port(const struct tgt_port *port)
{
	json_object *o = json_object_new_object();
	char addr[TGT_ADDR_TEXT], number[8];

	tgt_addr_format(&port->addr.sa, addr);
	snprintf(number, sizeof(number), "%u", tgt_addr_port(&port->addr.sa));
	tgt_json_add_text(o, "trtype", "RDMA");
	tgt_json_add_text(o, "adrfam", port->addr.sa.sa_family == AF_INET6 ? "IPv6" : "IPv4");
	tgt_json_add_text(o, "traddr", addr);
	tgt_json_add_text(o, "trsvcid", number);
	/* False while no interface has the address. */
	tgt_json_add_bool(o, "is_listening", port->is_bound);
	return o;
}

static json_object *describe_ns(const struct tgt_ns *ns)
{
	static const uint8_t none[sizeof(ns->eui64)];
	json_object *o = json_object_new_object();
	char name[TGT_DISK_NAME_TEXT];

	tgt_backend_disk_name(ns->backend, ns->be_nsid, name);
	tgt_json_add_number(o, "nsid", ns->nsid);
	tgt_json_add_text(o, "bdev_name", name);
	tgt_json_add_text(o, "name", name);
	tgt_json_add_hex(o, "nguid", ns->nguid, sizeof(ns->nguid));
	if (memcmp(ns->eui64, none, sizeof(none)))
		tgt_json_add_hex(o, "eui64", ns->eui64, sizeof(ns->eui64));
	tgt_json_add_uuid(o, "uuid", ns->uuid);
	return o;
}

static json_object *list_hosts(const struct tgt_subsys *subsys)
{
	json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < subsys->n_hosts; i++) {
		json_object *host = json_object_new_object();

		tgt_json_add_text(host, "nqn", subsys->hosts[i]);
		json_object_array_add(list, host);
	}
	return list;
}

static json_object *list_ports(struct tgt_port *const *ports, size_t n)
{
	json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_array_add(list, describe_port(ports[i]));
	return list;
}

static void add_nvm(const struct tgt_subsys *subsys, json_object *o)
{
	json_object *namespaces = json_object_new_array();
	uint32_t n;

	tgt_json_add_text(o, "serial_number", subsys->serial);
	tgt_json_add_text(o, "model_number", subsys->model);
	tgt_json_add_number(o, "max_namespaces", subsys->nn);
	tgt_json_add_number(o, "min_cntlid", subsys->min_cntlid);
	tgt_json_add_number(o, "max_cntlid", subsys->max_cntlid);
	for (n = 0; n < subsys->nn; n++)
		if (subsys->ns[n])
			json_object_array_add(namespaces, describe_ns(subsys->ns[n]));
	json_object_object_add(o, "namespaces", namespaces);
}

static json_object *describe_subsys(const struct tgt_server *server,
				    const struct tgt_subsys *subsys)
{
	const struct tgt *tgt = &server->tgt;
	json_object *o = json_object_new_object();

	tgt_json_add_text(o, "nqn", subsys->nqn);
	tgt_json_add_text(o, "subtype", subsys->is_discovery ? "Discovery" : "NVMe");
	json_object_object_add(o, "listen_addresses",
			       subsys->is_discovery ? list_ports(tgt->ports, tgt->n_ports)
						    : list_ports(subsys->ports, subsys->n_ports));
	tgt_json_add_bool(o, "allow_any_host", subsys->is_discovery || subsys->allow_any_host);
	json_object_object_add(o, "hosts", list_hosts(subsys));
	if (!subsys->is_discovery)
		add_nvm(subsys, o);
	return o;
}

int tgt_rpc_nvmf_get_subsystems(const struct tgt_rpc_call *call, json_object **result)
{
	const struct tgt_server *server = call->table->server;
	const char *nqn;
	size_t i;
	int rc = read_names(call, &nqn);

	if (rc)
		return rc;
	if (nqn && !find(server, nqn))
		return no_subsystem(call, nqn);
	*result = json_object_new_array();
	if (!*result)
		return -ENOMEM;
	for (i = 0; i < server->tgt.n_subsystems; i++)
		if (!nqn || !strcmp(server->tgt.subsystems[i]->nqn, nqn))
			json_object_array_add(*result,
					      describe_subsys(server, server->tgt.subsystems[i]));
	return 0;
}

/* ---- nvmf_subsystem_get_controllers ------------------------------------------------------- */

static json_object *describe_ctrlr(const struct tgt_ctrlr *ctrlr)
{
	json_object *o = json_object_new_object();
	const struct tgt_queue *admin = ctrlr->queues[0];

	tgt_json_add_number(o, "cntlid", ctrlr->cntlid);
	tgt_json_add_text(o, "hostnqn", ctrlr->hostnqn);
	tgt_json_add_uuid(o, "hostid", ctrlr->hostid);
	if (admin)
		tgt_json_add_text(o, "traddr", admin->peer_addr);
	tgt_json_add_number(o, "num_io_qpairs", ctrlr->n_queues - (admin ? 1u : 0u));
	tgt_json_add_number(o, "keep_alive_ms", ctrlr->kato_ms);
	return o;
}

int tgt_rpc_nvmf_subsystem_get_controllers(const struct tgt_rpc_call *call, json_object **result)
{
	const struct tgt_server *server = call->table->server;
	const struct tgt_subsys *subsys;
	const char *nqn;
	size_t i;
	int rc = read_names(call, &nqn);

	if (!rc && !nqn)
		rc = tgt_bad(&call->call, -EINVAL, "nqn", "is missing");
	if (rc)
		return rc;
	subsys = find(server, nqn);
	if (!subsys)
		return no_subsystem(call, nqn);
	*result = json_object_new_array();
	if (!*result)
		return -ENOMEM;
	for (i = 0; i < server->tgt.n_ctrlrs; i++)
		if (server->tgt.ctrlrs[i]->subsys == subsys && !server->tgt.ctrlrs[i]->is_dying)
			json_object_array_add(*result, describe_ctrlr(server->tgt.ctrlrs[i]));
	return 0;
}
