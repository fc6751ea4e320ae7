/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of methods, and those about the target as such. Names and forms are SPDK's where SPDK
 * has the method; softsta-tgt(8) has the list for users.
 */
#include "target/rpc/methods.h"

#include <errno.h>
#include <stdio.h>

#include "target/rpc/json.h"
#include "util/compiler.h"

static int get_methods(const struct tgt_rpc_call *call, json_object **result);
static int get_version(const struct tgt_rpc_call *call, json_object **result);

static const struct tgt_rpc_method methods[] = {
	{"rpc_get_methods", get_methods, " current include_aliases "},
	{"spdk_get_version", get_version, ""},
	{"softsta_get_version", get_version, ""},
	{"bdev_get_bdevs", tgt_rpc_bdev_get_bdevs, " name timeout "},
	{"bdev_nvme_get_controllers", tgt_rpc_bdev_nvme_get_controllers, " name "},
	{"bdev_nvme_reset_controller", tgt_rpc_bdev_nvme_reset_controller, " name "},
	{"bdev_error_inject_error", tgt_rpc_bdev_error_inject_error,
	 " name io_type error_type num "},
	{"nvmf_get_subsystems", tgt_rpc_nvmf_get_subsystems, " nqn tgt_name "},
	{"nvmf_subsystem_get_controllers", tgt_rpc_nvmf_subsystem_get_controllers,
	 " nqn tgt_name "},
	{"sta_get_stats", tgt_rpc_sta_get_stats, " kind "},
	{"log_set_level", tgt_rpc_log_set_level, " level world "},
	{"log_get_level", tgt_rpc_log_get_level, " world "},
};

void tgt_rpc_methods(struct tgt_server *server, struct tgt_rpc_table *table)
{
	*table = (struct tgt_rpc_table){methods, UTIL_ARRAY_SIZE(methods), server};
}

/* All are current: there is no state in which some cannot be called. And none has an alias. */
static int get_methods(const struct tgt_rpc_call *call, json_object **result)
{
	json_object *names;
	bool is_wanted;
	size_t i;

	if (tgt_take_bool(&call->call, call->params, "current", &is_wanted) < 0 ||
	    tgt_take_bool(&call->call, call->params, "include_aliases", &is_wanted) < 0)
		return -EINVAL;
	names = json_object_new_array();
	if (!names)
		return -ENOMEM;
	for (i = 0; i < call->table->n_methods; i++)
		json_object_array_add(names, tgt_json_text(call->table->methods[i].name));
	*result = names;
	return 0;
}

/* SPDK's form, which clients take apart. */
static int get_version(const struct tgt_rpc_call *call, json_object **result)
{
	unsigned int major = 0, minor = 0, patch = 0;
	json_object *version = json_object_new_object(), *fields = json_object_new_object();

	(void)call;
	if (!version || !fields) {
		json_object_put(version);
		json_object_put(fields);
		return -ENOMEM;
	}
	(void)sscanf(SOFTSTA_VERSION, "%u.%u.%u", &major, &minor, &patch);
	tgt_json_add_text(version, "version", "softsta " SOFTSTA_VERSION);
	tgt_json_add_number(fields, "major", major);
	tgt_json_add_number(fields, "minor", minor);
	tgt_json_add_number(fields, "patch", patch);
	tgt_json_add_text(fields, "suffix", "");
	json_object_object_add(version, "fields", fields);
	*result = version;
	return 0;
}
