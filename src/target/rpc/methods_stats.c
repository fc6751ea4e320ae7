/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics of DOCA STA: names and values are those of doca_sta_stats.h, nothing is added. */
#include "target/rpc/methods.h"

#include <errno.h>
#include <string.h>

#include <doca_error.h>
#include <doca_sta_stats.h>

#include "target/rpc/json.h"
#include "target/server.h"

static json_object *counters(const struct doca_sta_eu_ctr_entry *entries, uint16_t n)
{
	json_object *o = json_object_new_object();
	uint16_t i;

	for (i = 0; i < n; i++) /* an execution unit may be writing */
		tgt_json_add_number(o, entries[i].name,
				    __atomic_load_n(entries[i].val, __ATOMIC_RELAXED));
	return o;
}

/* ---- execution units ---------------------------------------------------------------------- */

static const char *state_name(enum dpa_sta_eu_state state)
{
	switch (state) {
	case DOCA_STA_EU_STATE_IDLE:
		return "idle";
	case DOCA_STA_EU_STATE_STOPPING:
		return "stopping";
	case DOCA_STA_EU_STATE_STARTED:
		return "started";
	case DOCA_STA_EU_STATE_SUSPENDED:
		return "suspended";
	case DOCA_STA_EU_STATE_STOPPED:
		return "stopped";
	}
	return "unknown";
}

static const char *type_name(enum dpa_sta_eu_type type)
{
	switch (type) {
	case DOCA_STA_EU_COMP:
		return "completion";
	case DOCA_STA_EU_TX:
		return "transmit";
	case DOCA_STA_EU_BEQ:
		return "back-end queue";
	case DOCA_STA_EU_TYPE_UNKNOWN:
	case DOCA_STA_EU_MAX:
		break;
	}
	return "unknown";
}

static json_object *describe_eu(struct doca_sta_eu_handle *eu)
{
	const struct doca_sta_eu_ctr_entry *entries = NULL;
	enum dpa_sta_eu_state state = DOCA_STA_EU_STATE_IDLE;
	enum dpa_sta_eu_type type = DOCA_STA_EU_TYPE_UNKNOWN;
	json_object *o = json_object_new_object();
	uint16_t n = 0, id = 0, queue_pairs = 0;
	const char *name = "";

	(void)doca_sta_get_eu_name(eu, &name);
	(void)doca_sta_get_eu_id(eu, &id);
	(void)doca_sta_get_eu_type(eu, &type);
	(void)doca_sta_get_eu_state(eu, &state);
	(void)doca_sta_get_eu_connect_qp_stats(eu, NULL, &queue_pairs);
	(void)doca_sta_get_eu_stats(eu, &entries, &n);
	tgt_json_add_text(o, "name", name);
	tgt_json_add_number(o, "id", id);
	tgt_json_add_text(o, "type", type_name(type));
	tgt_json_add_text(o, "state", state_name(state));
	tgt_json_add_number(o, "queue_pairs", queue_pairs);
	json_object_object_add(o, "counters", counters(entries, n));
	return o;
}

static json_object *list_eus(const struct tgt_server *server)
{
	json_object *list = json_object_new_array();
	struct doca_sta_eu_handle *eus[TGT_MAX_EUS];
	uint32_t n = TGT_MAX_EUS, i;

	if (doca_sta_get_eu_handle(server->sta, eus, &n) != DOCA_SUCCESS)
		n = 0;
	for (i = 0; i < n; i++)
		json_object_array_add(list, describe_eu(eus[i]));
	return list;
}

/* ---- back-end queues and namespaces ------------------------------------------------------- */

static void add_queue(const struct tgt_server *server, size_t disk, size_t queue, json_object *list)
{
	const struct tgt_backend *be = server->backends[disk];
	struct doca_sta_be_q_handle *handle = tgt_backend_queue_handle(be, queue);
	const struct doca_sta_eu_ctr_entry *entries;
	json_object *o;
	uint16_t n;

	if (!handle || doca_sta_get_be_queue_stats(tgt_backend_handle(be), handle, &entries, &n) !=
			       DOCA_SUCCESS)
		return;
	o = json_object_new_object();
	tgt_json_add_text(o, "bdev", server->config->bdevs[disk].name);
	tgt_json_add_number(o, "queue", queue);
	json_object_object_add(o, "counters", counters(entries, n));
	json_object_array_add(list, o);
}

static json_object *list_queues(const struct tgt_server *server)
{
	json_object *list = json_object_new_array();
	size_t disk, queue;

	for (disk = 0; disk < server->n_backends; disk++)
		for (queue = 0; queue < tgt_backend_queue_count(server->backends[disk]); queue++)
			add_queue(server, disk, queue, list);
	return list;
}

static void add_namespace(const struct tgt_subsys *subsys, const struct tgt_ns *ns,
			  json_object *list)
{
	const struct doca_sta_eu_ctr_entry *entries;
	json_object *o;
	uint16_t n;

	if (doca_sta_get_ns_stats(subsys->sta, ns->sta, &entries, &n) != DOCA_SUCCESS)
		return;
	o = json_object_new_object();
	tgt_json_add_text(o, "nqn", subsys->nqn);
	tgt_json_add_number(o, "nsid", ns->nsid);
	json_object_object_add(o, "counters", counters(entries, n));
	json_object_array_add(list, o);
}

static json_object *list_namespaces(const struct tgt_server *server)
{
	json_object *list = json_object_new_array();
	size_t s;
	uint32_t n;

	for (s = 0; s < server->tgt.n_subsystems; s++) {
		const struct tgt_subsys *subsys = server->tgt.subsystems[s];

		for (n = 0; n < subsys->nn; n++)
			if (subsys->ns[n])
				add_namespace(subsys, subsys->ns[n], list);
	}
	return list;
}

/* ---- the method --------------------------------------------------------------------------- */

static const struct {
	const char *kind, *key;
	json_object *(*list)(const struct tgt_server *server);
} kinds[] = {
	{"eu", "eus", list_eus},
	{"queue", "queues", list_queues},
	{"ns", "namespaces", list_namespaces},
};

int tgt_rpc_sta_get_stats(const struct tgt_rpc_call *call, json_object **result)
{
	const char *kind = NULL;
	json_object *stats;
	size_t i;

	if (tgt_take_string(&call->call, call->params, "kind", &kind) < 0)
		return -EINVAL;
	stats = json_object_new_object();
	if (!stats)
		return -ENOMEM;
	for (i = 0; i < UTIL_ARRAY_SIZE(kinds); i++)
		if (!kind || !strcmp(kind, kinds[i].kind))
			json_object_object_add(stats, kinds[i].key,
					       kinds[i].list(call->table->server));
	if (!json_object_object_length(stats)) {
		json_object_put(stats);
		return tgt_bad(&call->call, -EINVAL, "kind", "is not \"eu\", \"queue\" or \"ns\"");
	}
	*result = stats;
	return 0;
}
