/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configured side of the target: subsystems, their namespaces, ports and allowed hosts. What
 * comes from hosts (controllers, queues) is in ctrlr.c and queue.c.
 */
#include "target/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/ctrlr.h"

#define DEFAULT_MODEL "softsta target"

/* Make room for one more pointer in a counted array; -ENOMEM leaves it unchanged. */
static int grow(void *array, size_t n, size_t item_bytes)
{
	void **p = array, *bigger = reallocarray(*p, n + 1, item_bytes);

	if (!bigger)
		return -ENOMEM;
	*p = bigger;
	return 0;
}

static void subsys_free(struct tgt_subsys *subsys)
{
	uint32_t i;

	for (i = 0; i < subsys->nn; i++)
		free(subsys->ns[i]);
	free(subsys->ns);
	free(subsys->ports);
	free(subsys->hosts);
	free(subsys);
}

static struct tgt_subsys *subsys_new(const char *nqn, uint32_t nn)
{
	struct tgt_subsys *subsys = calloc(1, sizeof(*subsys));
	uint8_t id[16];

	if (!subsys)
		return NULL;
	subsys->ns = calloc(nn + 1, sizeof(*subsys->ns));
	if (!subsys->ns) {
		free(subsys);
		return NULL;
	}
	subsys->nn = nn;
	snprintf(subsys->nqn, sizeof(subsys->nqn), "%s", nqn);
	tgt_uuid_derive(nqn, id);
	snprintf(subsys->serial, sizeof(subsys->serial), "%02x%02x%02x%02x%02x%02x%02x%02x", id[0],
		 id[1], id[2], id[3], id[4], id[5], id[6], id[7]);
	snprintf(subsys->model, sizeof(subsys->model), "%s", DEFAULT_MODEL);
	subsys->min_cntlid = 1;
	subsys->max_cntlid = 0xffef; /* the ids above are reserved (NVMe Base 2.0, 3.1.4.1) */
	return subsys;
}

struct tgt_subsys *tgt_add_subsys(struct tgt *tgt, const char *nqn, uint32_t nn)
{
	struct tgt_subsys *subsys;

	if (tgt->n_subsystems >= TGT_MAX_SUBSYSTEMS ||
	    grow(&tgt->subsystems, tgt->n_subsystems, sizeof(*tgt->subsystems)))
		return NULL;
	subsys = subsys_new(nqn, nn);
	if (subsys)
		tgt->subsystems[tgt->n_subsystems++] = subsys;
	return subsys;
}

static void no_usage(const struct tgt_subsys *subsys, const struct tgt_ns *ns,
		     struct tgt_usage *usage)
{
	(void)subsys;
	(void)ns;
	memset(usage, 0, sizeof(*usage));
}

int tgt_init(struct tgt *tgt, const struct tgt_limits *limits)
{
	struct tgt_subsys *discovery;

	memset(tgt, 0, sizeof(*tgt));
	tgt->limits = *limits;
	tgt->genctr = 1;
	tgt->ns_usage = no_usage;
	discovery = tgt_add_subsys(tgt, NVME_DISC_SUBSYS_NAME, 0);
	if (!discovery) {
		tgt_fini(tgt);
		return -ENOMEM;
	}
	discovery->is_discovery = true;
	discovery->allow_any_host = true;
	return 0;
}

void tgt_fini(struct tgt *tgt)
{
	size_t i;

	for (i = 0; i < tgt->n_subsystems; i++)
		subsys_free(tgt->subsystems[i]);
	free(tgt->subsystems);
	for (i = 0; i < tgt->n_ports; i++)
		free(tgt->ports[i]);
	free(tgt->ports);
	memset(tgt, 0, sizeof(*tgt));
}

struct tgt_port *tgt_add_port(struct tgt *tgt, const union tgt_sockaddr *addr)
{
	struct tgt_port *port;
	size_t i;

	for (i = 0; i < tgt->n_ports; i++)
		if (tgt_addr_equal(&tgt->ports[i]->addr.sa, &addr->sa))
			return tgt->ports[i];
	if (tgt->n_ports >= TGT_MAX_PORTS || grow(&tgt->ports, tgt->n_ports, sizeof(*tgt->ports)))
		return NULL;
	port = calloc(1, sizeof(*port));
	if (!port)
		return NULL;
	port->addr = *addr;
	tgt->ports[tgt->n_ports++] = port;
	port->id = (uint16_t)tgt->n_ports;
	return port;
}

bool tgt_subsys_on_port(const struct tgt_subsys *subsys, const struct tgt_port *port)
{
	size_t i;

	if (subsys->is_discovery)
		return true;
	for (i = 0; i < subsys->n_ports; i++)
		if (subsys->ports[i] == port)
			return true;
	return false;
}

int tgt_subsys_add_port(struct tgt *tgt, struct tgt_subsys *subsys, struct tgt_port *port)
{
	if (tgt_subsys_on_port(subsys, port))
		return 0;
	if (grow(&subsys->ports, subsys->n_ports, sizeof(*subsys->ports)))
		return -ENOMEM;
	subsys->ports[subsys->n_ports++] = port;
	tgt_discovery_changed(tgt);
	return 0;
}

int tgt_subsys_add_host(struct tgt *tgt, struct tgt_subsys *subsys, const char *hostnqn)
{
	if (subsys->n_hosts >= TGT_MAX_HOSTS_PER_SUBSYSTEM)
		return -ENOSPC;
	if (grow(&subsys->hosts, subsys->n_hosts, sizeof(*subsys->hosts)))
		return -ENOMEM;
	snprintf(subsys->hosts[subsys->n_hosts++], TGT_NQN_TEXT, "%s", hostnqn);
	tgt_discovery_changed(tgt);
	return 0;
}

bool tgt_subsys_allows(const struct tgt_subsys *subsys, const char *hostnqn)
{
	size_t i;

	if (subsys->allow_any_host)
		return true;
	for (i = 0; i < subsys->n_hosts; i++)
		if (!strcmp(subsys->hosts[i], hostnqn))
			return true;
	return false;
}

struct tgt_subsys *tgt_subsys_find(struct tgt *tgt, const struct tgt_port *port, const char *nqn)
{
	size_t i;

	for (i = 0; i < tgt->n_subsystems; i++)
		if (!strcmp(tgt->subsystems[i]->nqn, nqn) &&
		    (!port || tgt_subsys_on_port(tgt->subsystems[i], port)))
			return tgt->subsystems[i];
	return NULL;
}

struct tgt_ns *tgt_ns_get(const struct tgt_subsys *subsys, uint32_t nsid)
{
	return nsid && nsid <= subsys->nn ? subsys->ns[nsid - 1] : NULL;
}

void tgt_subsys_ns_changed(struct tgt *tgt, const struct tgt_subsys *subsys, uint32_t nsid)
{
	size_t i;

	for (i = 0; i < tgt->n_ctrlrs; i++)
		if (tgt->ctrlrs[i]->subsys == subsys)
			tgt_aer_ns_changed(tgt->ctrlrs[i], nsid);
}

int tgt_subsys_add_ns(struct tgt *tgt, struct tgt_subsys *subsys, struct tgt_ns *ns)
{
	if (!ns->nsid || ns->nsid > subsys->nn)
		return -ERANGE;
	if (subsys->ns[ns->nsid - 1])
		return -EEXIST;
	subsys->ns[ns->nsid - 1] = ns;
	tgt_subsys_ns_changed(tgt, subsys, ns->nsid);
	return 0;
}

struct tgt_ns *tgt_subsys_take_ns(struct tgt *tgt, struct tgt_subsys *subsys, uint32_t nsid)
{
	struct tgt_ns *ns = tgt_ns_get(subsys, nsid);

	if (!ns)
		return NULL;
	subsys->ns[nsid - 1] = NULL;
	tgt_subsys_ns_changed(tgt, subsys, nsid);
	return ns;
}

int tgt_subsys_rm_ns(struct tgt *tgt, struct tgt_subsys *subsys, uint32_t nsid)
{
	struct tgt_ns *ns = tgt_subsys_take_ns(tgt, subsys, nsid);

	free(ns);
	return ns ? 0 : -ENOENT;
}
