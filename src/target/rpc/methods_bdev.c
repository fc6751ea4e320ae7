/* SPDX-License-Identifier: Apache-2.0 */
/* Methods about disks and the controllers behind them. */
#include "target/rpc/methods.h"

#include <errno.h>
#include <string.h>

#include "nvme/drv.h"
#include "target/rpc/json.h"
#include "target/server.h"

/* ---- bdevs -------------------------------------------------------------------------------- */

/* The namespace that shows it to hosts, NULL if there is none. */
static const struct tgt_ns *ns_of(const struct tgt_server *server, const struct tgt_backend *be,
				  uint32_t be_nsid)
{
	size_t s;
	uint32_t n;

	for (s = 0; s < server->tgt.n_subsystems; s++) {
		const struct tgt_subsys *subsys = server->tgt.subsystems[s];

		for (n = 0; n < subsys->nn; n++)
			if (subsys->ns[n] && subsys->ns[n]->backend == be &&
			    subsys->ns[n]->be_nsid == be_nsid)
				return subsys->ns[n];
	}
	return NULL;
}

static const char *product_of(const struct tgt_bdev_conf *conf)
{
	if (conf->n_layers)
		return conf->layers[conf->n_layers - 1].kind == TGT_LAYER_DELAY
			       ? "delay"
			       : "Error Injection Disk";
	switch (conf->kind) {
	case TGT_BDEV_DRIVE:
		return "NVMe disk";
	case TGT_BDEV_FILE:
		return "AIO disk";
	case TGT_BDEV_RAM:
		return "Malloc disk";
	case TGT_BDEV_NULL:
		return "Null disk";
	}
	return "";
}

static json_object *file_specific(const struct tgt_bdev_conf *conf)
{
	json_object *aio = json_object_new_object();

	tgt_json_add_text(aio, "filename", conf->path);
	tgt_json_add_bool(aio, "readonly", conf->read_only);
	return aio;
}

/* SPDK has a list of one for each path to the namespace. */
static json_object *drive_specific(const struct tgt_bdev_conf *conf, uint32_t be_nsid)
{
	json_object *list = json_object_new_array(), *one = json_object_new_object();
	json_object *trid = json_object_new_object(), *ns = json_object_new_object();

	tgt_json_add_text(trid, "trtype", "PCIe");
	tgt_json_add_text(trid, "traddr", conf->path);
	tgt_json_add_number(ns, "id", be_nsid);
	tgt_json_add_text(one, "pci_address", conf->path);
	json_object_object_add(one, "trid", trid);
	json_object_object_add(one, "ns_data", ns);
	json_object_array_add(list, one);
	return list;
}

static void add_driver_specific(json_object *bdev, const struct tgt_bdev_conf *conf,
				uint32_t be_nsid)
{
	json_object *specific = json_object_new_object();

	if (conf->kind == TGT_BDEV_FILE)
		json_object_object_add(specific, "aio", file_specific(conf));
	if (conf->kind == TGT_BDEV_DRIVE)
		json_object_object_add(specific, "nvme", drive_specific(conf, be_nsid));
	json_object_object_add(bdev, "driver_specific", specific);
}

static json_object *describe_bdev(const struct tgt_server *server, size_t i, uint32_t be_nsid,
				  const char *name)
{
	const struct tgt_bdev_conf *conf = &server->config->bdevs[i];
	const struct tgt_ns *shown = ns_of(server, server->backends[i], be_nsid);
	json_object *bdev = json_object_new_object();
	struct tgt_ns size = {0};

	/* Of what cannot be served the size stays 0. */
	(void)tgt_backend_describe(server->backends[i], be_nsid, &size, NULL);
	tgt_json_add_text(bdev, "name", name);
	tgt_json_add_text(bdev, "product_name", product_of(conf));
	tgt_json_add_number(bdev, "block_size", size.block_bytes);
	tgt_json_add_number(bdev, "num_blocks", size.blocks);
	if (conf->has_uuid || shown)
		tgt_json_add_uuid(bdev, "uuid", conf->has_uuid ? conf->uuid : shown->uuid);
	tgt_json_add_bool(bdev, "claimed", shown);
	tgt_json_add_bool(bdev, "read_only", size.is_read_only);
	add_driver_specific(bdev, conf, be_nsid);
	return bdev;
}

/* What SPDK calls a bdev is one namespace of a drive. */
static void list_bdevs_of(const struct tgt_server *server, size_t i, const char *wanted,
			  json_object *list)
{
	const struct tgt_backend *be = server->backends[i];
	char name[TGT_DISK_NAME_TEXT];
	size_t n;

	for (n = 0; n < tgt_backend_ns_count(be); n++) {
		uint32_t be_nsid = tgt_backend_nsid(be, n);

		tgt_backend_disk_name(be, be_nsid, name);
		if (!wanted || !strcmp(wanted, name))
			json_object_array_add(list, describe_bdev(server, i, be_nsid, name));
	}
}

int tgt_rpc_bdev_get_bdevs(const struct tgt_rpc_call *call, json_object **result)
{
	const struct tgt_server *server = call->table->server;
	uint64_t timeout; /* SPDK waits so long for the bdev to appear; here all are there */
	const char *name = NULL;
	uint32_t be_nsid;
	size_t i;

	if (tgt_take_number(&call->call, call->params, "timeout", INT64_MAX, &timeout) < 0 ||
	    tgt_take_string(&call->call, call->params, "name", &name) < 0)
		return -EINVAL;
	if (name && tgt_config_find_disk(server->config, name, &be_nsid) < 0)
		return tgt_bad(&call->call, -ENODEV, "name", "there is no bdev \"%.64s\"", name);
	*result = json_object_new_array();
	if (!*result)
		return -ENOMEM;
	for (i = 0; i < server->n_backends; i++)
		list_bdevs_of(server, i, name, *result);
	return 0;
}

/* ---- controllers -------------------------------------------------------------------------- */

static json_object *describe_controller(const struct tgt_server *server, size_t i)
{
	const struct nv_ctrl_info *info = tgt_backend_info(server->backends[i]);
	json_object *all = json_object_new_object(), *list = json_object_new_array();
	json_object *one = json_object_new_object();

	tgt_json_add_text(one, "state", tgt_backend_state(server->backends[i]));
	tgt_json_add_number(one, "cntlid", info->cntlid);
	tgt_json_add_text(one, "model_number", info->model);
	tgt_json_add_text(one, "serial_number", info->serial);
	tgt_json_add_text(one, "firmware_revision", info->firmware);
	tgt_json_add_number(one, "num_io_queues", tgt_backend_queue_count(server->backends[i]));
	json_object_array_add(list, one);
	tgt_json_add_text(all, "name", server->config->bdevs[i].name);
	json_object_object_add(all, "ctrlrs", list);
	return all;
}

int tgt_rpc_bdev_nvme_get_controllers(const struct tgt_rpc_call *call, json_object **result)
{
	const struct tgt_server *server = call->table->server;
	const char *name = NULL;
	size_t i;

	if (tgt_take_string(&call->call, call->params, "name", &name) < 0)
		return -EINVAL;
	if (name && tgt_config_find_bdev(server->config, name) < 0)
		return tgt_bad(&call->call, -ENODEV, "name", "there is no bdev \"%.64s\"", name);
	*result = json_object_new_array();
	if (!*result)
		return -ENOMEM;
	for (i = 0; i < server->n_backends; i++)
		if (!name || !strcmp(server->config->bdevs[i].name, name))
			json_object_array_add(*result, describe_controller(server, i));
	return 0;
}

int tgt_rpc_bdev_nvme_reset_controller(const struct tgt_rpc_call *call, json_object **result)
{
	const struct tgt_server *server = call->table->server;
	const char *name;
	struct tgt_err why;
	long bdev;
	int rc = tgt_need_string(&call->call, call->params, "name", &name);

	if (rc)
		return rc;
	bdev = tgt_config_find_bdev(server->config, name);
	if (bdev < 0)
		return tgt_bad(&call->call, -ENODEV, "name", "there is no bdev \"%.64s\"", name);
	rc = tgt_backend_reset(server->backends[bdev], &why);
	if (rc)
		return tgt_bad(&call->call, rc, "name", "%s", why.text);
	/* It goes on: bdev_nvme_get_controllers tells when it is done. */
	*result = json_object_new_boolean(true);
	return 0;
}
