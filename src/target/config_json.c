/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPDK's configuration file: {"subsystems": [{"subsystem": "bdev"|"nvmf", "config": [{"method",
 * "params"}, ...]}]}. Each method that means something here is a function and a list of the
 * parameters that it reads; any other method or parameter is warned of by name and left alone.
 */
#include "target/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "nvme/pci.h"
#include "target/params.h"
#include "util/json_file.h"

#define MEMORY_BLOCK_BYTES 512
#define MAX_DELAY_US	   60000000 /* longer than anybody waits */

struct loader {
	struct tgt_config *config;
	struct tgt_call call;
	void (*warn)(const char *line);
};

static void warn(const struct loader *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void warn(const struct loader *l, const char *fmt, ...)
{
	char text[200], line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tgt_make_printable(text);
	snprintf(line, sizeof(line), "%s: %s", l->call.path, text);
	l->warn(line);
}

/* ---- parameters --------------------------------------------------------------------------- */

static int need_subsys(const struct loader *l, json_object *params, struct tgt_subsys_conf **subsys)
{
	const char *nqn;
	int rc = tgt_need_string(&l->call, params, "nqn", &nqn);

	if (rc)
		return rc;
	*subsys = tgt_config_find_subsys(l->config, nqn);
	return *subsys ? 0
		       : tgt_bad(&l->call, -ENOENT, "nqn", "no subsystem \"%.100s\" was created",
				 nqn);
}

/* ---- bdev methods ------------------------------------------------------------------------- */

static int bdev_common(const struct loader *l, json_object *params, struct tgt_bdev_conf *bdev)
{
	uint64_t block = 0;
	const char *name;
	int rc = tgt_need_string(&l->call, params, "name", &name);

	if (rc)
		return rc;
	if (strlen(name) >= sizeof(bdev->name))
		return tgt_bad(&l->call, -EINVAL, "name", "is longer than %zu characters",
			       sizeof(bdev->name) - 1);
	snprintf(bdev->name, sizeof(bdev->name), "%s", name);
	rc = tgt_take_number(&l->call, params, "block_size", UINT32_MAX, &block);
	if (rc < 0)
		return rc;
	/* SPDK writes 0 for "what the device has". */
	if (!block && bdev->kind != TGT_BDEV_FILE)
		block = MEMORY_BLOCK_BYTES;
	bdev->block_bytes = (uint32_t)block;
	rc = tgt_take_hex(&l->call, params, "uuid", bdev->uuid, sizeof(bdev->uuid));
	bdev->has_uuid = rc == 1;
	return rc < 0 ? rc : 0;
}

static int bdev_add(const struct loader *l, const struct tgt_bdev_conf *bdev)
{
	int rc = tgt_config_add_bdev(l->config, bdev, l->call.err);

	return rc ? tgt_bad_prefix(&l->call, rc, NULL) : 0;
}

static int bdev_file_create(const struct loader *l, json_object *params)
{
	struct tgt_bdev_conf bdev = {.kind = TGT_BDEV_FILE};
	const char *path;
	int rc = bdev_common(l, params, &bdev);

	if (!rc)
		rc = tgt_need_string(&l->call, params, "filename", &path);
	if (rc)
		return rc;
	rc = tgt_take_bool(&l->call, params, "readonly", &bdev.read_only);
	if (rc < 0)
		return rc;
	bdev.path = (char *)path; /* copied by bdev_add(), read only here */
	return bdev_add(l, &bdev);
}

static int bdev_memory_create(const struct loader *l, json_object *params, enum tgt_bdev_kind kind)
{
	struct tgt_bdev_conf bdev = {.kind = kind};
	uint64_t blocks = 0;
	int rc = bdev_common(l, params, &bdev);

	if (rc)
		return rc;
	rc = tgt_take_number(&l->call, params, "num_blocks", INT64_MAX / bdev.block_bytes, &blocks);
	if (rc < 0)
		return rc;
	if (!blocks)
		return tgt_bad(&l->call, -EINVAL, "num_blocks", rc ? "is 0" : "is missing");
	bdev.size_bytes = blocks * bdev.block_bytes;
	return bdev_add(l, &bdev);
}

static int bdev_malloc_create(const struct loader *l, json_object *params)
{
	return bdev_memory_create(l, params, TGT_BDEV_RAM);
}

static int bdev_null_create(const struct loader *l, json_object *params)
{
	return bdev_memory_create(l, params, TGT_BDEV_NULL);
}

/* ---- test engines ------------------------------------------------------------------------- */

static int layer_add(const struct loader *l, const char *base, const char *name,
		     const struct tgt_layer_conf *layer)
{
	int rc = tgt_config_add_layer(l->config, base, name, layer, l->call.err);

	return rc ? tgt_bad_prefix(&l->call, rc, NULL) : 0;
}

static int bdev_delay_create(const struct loader *l, json_object *params)
{
	struct tgt_layer_conf layer = {.kind = TGT_LAYER_DELAY};
	uint64_t read_us = 0, write_us = 0;
	const char *base, *name;
	int rc;

	if ((rc = tgt_need_string(&l->call, params, "base_bdev_name", &base)) ||
	    (rc = tgt_need_string(&l->call, params, "name", &name)))
		return rc;
	if ((rc = tgt_take_number(&l->call, params, "avg_read_latency", MAX_DELAY_US, &read_us)) <
		    0 ||
	    (rc = tgt_take_number(&l->call, params, "avg_write_latency", MAX_DELAY_US, &write_us)) <
		    0)
		return rc;
	layer.read_ns = read_us * 1000;
	layer.write_ns = write_us * 1000;
	return layer_add(l, base, name, &layer);
}

/* SPDK makes the name. */
static int bdev_error_create(const struct loader *l, json_object *params)
{
	const struct tgt_layer_conf layer = {.kind = TGT_LAYER_ERROR};
	char name[sizeof(((struct tgt_bdev_conf *)0)->name) + 4];
	const char *base;
	int rc = tgt_need_string(&l->call, params, "base_name", &base);

	if (rc)
		return rc;
	snprintf(name, sizeof(name), "EE_%s", base);
	return layer_add(l, base, name, &layer);
}

/* ---- drives ------------------------------------------------------------------------------- */

/* A drive that is local to this machine; SPDK attaches remote controllers by the same name. */
static int bdev_drive_attach(const struct loader *l, json_object *params)
{
	struct tgt_bdev_conf bdev = {.kind = TGT_BDEV_DRIVE};
	char bdf[NV_PCI_BDF_TEXT];
	const char *type, *addr;
	int rc;

	if ((rc = tgt_need_string(&l->call, params, "name", &type)) ||
	    (rc = tgt_copy_text(&l->call, params, "name", bdev.name, sizeof(bdev.name))) ||
	    (rc = tgt_need_string(&l->call, params, "trtype", &type)) ||
	    (rc = tgt_need_string(&l->call, params, "traddr", &addr)))
		return rc;
	if (strcasecmp(type, "PCIe"))
		return tgt_bad(&l->call, -ENOTSUP, "trtype",
			       "is \"%.40s\": only PCIe is a disk here", type);
	if (!nv_pci_parse(addr, bdf))
		return tgt_bad(&l->call, -EINVAL, "traddr",
			       "is no PCI address such as 0000:01:00.0");
	bdev.path = bdf;
	return bdev_add(l, &bdev);
}

/* ---- nvmf methods ------------------------------------------------------------------------- */

/* A file of SPDK may serve other transports beside; that a listener is left is checked in the end.
 */
static void warn_of_transport(const struct loader *l, const char *type)
{
	warn(l, "%s: trtype \"%.40s\" is skipped, RDMA is the one transport here", l->call.method,
	     type);
}

static int create_transport(const struct loader *l, json_object *params)
{
	struct tgt_config *config = l->config;
	uint64_t depth = 0, queues = 0, io_bytes = 0, in_capsule = 0;
	const char *type;
	int rc = tgt_need_string(&l->call, params, "trtype", &type);

	if (rc)
		return rc;
	if (strcasecmp(type, "RDMA")) {
		warn_of_transport(l, type);
		return 0;
	}
	if ((rc = tgt_take_number(&l->call, params, "max_queue_depth", UINT16_MAX, &depth)) < 0 ||
	    (rc = tgt_take_number(&l->call, params, "max_io_qpairs_per_ctrlr", UINT16_MAX,
				  &queues)) < 0 ||
	    (rc = tgt_take_number(&l->call, params, "max_io_size", UINT32_MAX, &io_bytes)) < 0 ||
	    (rc = tgt_take_number(&l->call, params, "in_capsule_data_size", UINT32_MAX,
				  &in_capsule)) < 0)
		return rc;
	config->has_in_capsule_bytes = rc == 1;
	config->in_capsule_bytes = (uint32_t)in_capsule;
	if (depth == 1)
		return tgt_bad(&l->call, -EINVAL, "max_queue_depth", "has to be 2 at least");
	if (io_bytes && (io_bytes < 4096 || io_bytes & (io_bytes - 1)))
		return tgt_bad(&l->call, -EINVAL, "max_io_size", "is no power of two from 4096 up");
	if (in_capsule % 16)
		return tgt_bad(&l->call, -EINVAL, "in_capsule_data_size", "is no multiple of 16");
	config->io_queue_entries = (uint16_t)depth;
	config->max_io_queues = (uint16_t)queues;
	config->max_io_bytes = (uint32_t)io_bytes;
	return 0;
}

static int create_subsystem(const struct loader *l, json_object *params)
{
	uint64_t max_ns = 0, min_cntlid = 0, max_cntlid = 0;
	struct tgt_subsys_conf *subsys, wish = {0};
	const char *nqn;
	int rc = tgt_need_string(&l->call, params, "nqn", &nqn);

	if (rc)
		return rc;
	if ((rc = tgt_copy_text(&l->call, params, "serial_number", wish.serial,
				sizeof(wish.serial))) ||
	    (rc = tgt_copy_text(&l->call, params, "model_number", wish.model, sizeof(wish.model))))
		return rc;
	if ((rc = tgt_take_bool(&l->call, params, "allow_any_host", &wish.allow_any_host)) < 0 ||
	    (rc = tgt_take_number(&l->call, params, "max_namespaces", TGT_MAX_NAMESPACES,
				  &max_ns)) < 0 ||
	    (rc = tgt_take_number(&l->call, params, "min_cntlid", 0xffef, &min_cntlid)) < 0 ||
	    (rc = tgt_take_number(&l->call, params, "max_cntlid", 0xffef, &max_cntlid)) < 0)
		return rc;
	if (max_cntlid && min_cntlid > max_cntlid)
		return tgt_bad(&l->call, -EINVAL, "min_cntlid", "is above max_cntlid");
	rc = tgt_config_add_subsys(l->config, nqn, &subsys, l->call.err);
	if (rc)
		return tgt_bad_prefix(&l->call, rc, "nqn");
	memcpy(subsys->serial, wish.serial, sizeof(subsys->serial));
	memcpy(subsys->model, wish.model, sizeof(subsys->model));
	subsys->allow_any_host = wish.allow_any_host;
	subsys->max_namespaces = (uint32_t)max_ns;
	subsys->min_cntlid = (uint16_t)min_cntlid;
	subsys->max_cntlid = (uint16_t)max_cntlid;
	return 0;
}

static int subsystem_add_ns(const struct loader *l, json_object *params)
{
	struct tgt_subsys_conf *subsys;
	struct tgt_ns_conf conf = {0};
	uint64_t nsid = 0;
	json_object *ns;
	const char *name;
	long bdev;
	int rc = need_subsys(l, params, &subsys);

	if (rc)
		return rc;
	if (!json_object_object_get_ex(params, "namespace", &ns) ||
	    !json_object_is_type(ns, json_type_object))
		return tgt_bad(&l->call, -EINVAL, "namespace", "is missing");
	rc = tgt_need_string(&l->call, ns, "bdev_name", &name);
	if (rc)
		return rc;
	bdev = tgt_config_find_disk(l->config, name, &conf.be_nsid);
	if (bdev < 0)
		return tgt_bad(&l->call, -ENOENT, "bdev_name", "no bdev \"%.64s\" was created",
			       name);
	conf.bdev = (size_t)bdev;
	if ((rc = tgt_take_number(&l->call, ns, "nsid", TGT_MAX_NAMESPACES, &nsid)) < 0 ||
	    (rc = tgt_take_hex(&l->call, ns, "eui64", conf.eui64, sizeof(conf.eui64))) < 0 ||
	    (rc = tgt_take_hex(&l->call, ns, "nguid", conf.nguid, sizeof(conf.nguid))) < 0)
		return rc;
	conf.has_nguid = rc == 1;
	rc = tgt_take_hex(&l->call, ns, "uuid", conf.uuid, sizeof(conf.uuid));
	if (rc < 0)
		return rc;
	conf.has_uuid = rc == 1;
	conf.nsid = (uint32_t)nsid;
	rc = tgt_config_add_ns(l->config, subsys, &conf, l->call.err);
	return rc ? tgt_bad_prefix(&l->call, rc, "namespace") : 0;
}

static int subsystem_add_listener(const struct loader *l, json_object *params)
{
	const char *type = "RDMA", *addr_text, *port_text = "4420";
	struct tgt_subsys_conf *subsys;
	char text[TGT_ADDR_TEXT + 16];
	union tgt_sockaddr addr;
	json_object *where;
	int rc = need_subsys(l, params, &subsys);

	if (rc)
		return rc;
	if (!json_object_object_get_ex(params, "listen_address", &where) ||
	    !json_object_is_type(where, json_type_object))
		return tgt_bad(&l->call, -EINVAL, "listen_address", "is missing");
	if ((rc = tgt_take_string(&l->call, where, "trtype", &type)) < 0 ||
	    (rc = tgt_need_string(&l->call, where, "traddr", &addr_text)) ||
	    (rc = tgt_take_string(&l->call, where, "trsvcid", &port_text)) < 0)
		return rc;
	if (strcasecmp(type, "RDMA")) {
		warn_of_transport(l, type);
		return 0;
	}
	snprintf(text, sizeof(text), strchr(addr_text, ':') ? "[%.79s]:%.9s" : "%.79s:%.9s",
		 addr_text, port_text);
	rc = tgt_addr_parse(text, 0, &addr, l->call.err);
	if (!rc)
		rc = tgt_config_add_listener(subsys, &addr, l->call.err);
	return rc ? tgt_bad_prefix(&l->call, rc, "listen_address") : 0;
}

static int subsystem_add_host(const struct loader *l, json_object *params)
{
	static const char *const secrets[] = {"dhchap_key", "dhchap_ctrlr_key", "psk"};
	struct tgt_subsys_conf *subsys;
	const char *host, *secret;
	size_t i;
	int rc = need_subsys(l, params, &subsys);

	if (!rc)
		rc = tgt_need_string(&l->call, params, "host", &host);
	if (rc)
		return rc;
	/* To let a host in without the proof that the file demands would be worse than to stop. */
	for (i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (tgt_take_string(&l->call, params, secrets[i], &secret))
			return tgt_bad(&l->call, -ENOTSUP, secrets[i],
				       "authentication is not supported");
	rc = tgt_config_add_host(subsys, host, l->call.err);
	return rc ? tgt_bad_prefix(&l->call, rc, "host") : 0;
}

static int subsystem_allow_any_host(const struct loader *l, json_object *params)
{
	struct tgt_subsys_conf *subsys;
	bool allow = true;
	int rc = need_subsys(l, params, &subsys);

	if (rc)
		return rc;
	rc = tgt_take_bool(&l->call, params, "allow_any_host", &allow);
	if (rc < 0)
		return rc;
	subsys->allow_any_host = allow;
	return 0;
}

/* ---- the file ----------------------------------------------------------------------------- */

static const struct method {
	const char *name;
	int (*run)(const struct loader *l, json_object *params);
	const char *params; /* what run() reads, blanks around each */
} methods[] = {
	{"bdev_aio_create", bdev_file_create, " name filename block_size readonly uuid "},
	{"bdev_uring_create", bdev_file_create, " name filename block_size readonly uuid "},
	{"bdev_malloc_create", bdev_malloc_create, " name num_blocks block_size uuid "},
	{"bdev_null_create", bdev_null_create, " name num_blocks block_size uuid "},
	{"bdev_delay_create", bdev_delay_create,
	 " base_bdev_name name avg_read_latency avg_write_latency "},
	{"bdev_error_create", bdev_error_create, " base_name "},
	{"bdev_nvme_attach_controller", bdev_drive_attach, " name trtype traddr "},
	{"nvmf_create_transport", create_transport,
	 " trtype max_queue_depth max_io_qpairs_per_ctrlr max_io_size in_capsule_data_size "},
	{"nvmf_create_subsystem", create_subsystem,
	 " nqn serial_number model_number allow_any_host max_namespaces min_cntlid max_cntlid "},
	{"nvmf_subsystem_add_ns", subsystem_add_ns,
	 " nqn namespace bdev_name nsid eui64 nguid uuid "},
	{"nvmf_subsystem_add_listener", subsystem_add_listener,
	 " nqn listen_address trtype adrfam traddr trsvcid "},
	{"nvmf_subsystem_add_host", subsystem_add_host,
	 " nqn host dhchap_key dhchap_ctrlr_key psk "},
	{"nvmf_subsystem_allow_any_host", subsystem_allow_any_host, " nqn allow_any_host "},
};

static void warn_unknown_params(const struct loader *l, const struct method *m, json_object *params)
{
	json_object_object_foreach(params, key, value)
	{
		if (!tgt_param_is_known(m->params, key))
			warn(l, "%s: %.80s has no effect here", m->name, key);
		else if (json_object_is_type(value, json_type_object))
			warn_unknown_params(l, m, value);
	}
}

static int run_method(struct loader *l, json_object *entry)
{
	json_object *name, *params;
	size_t i;

	l->call.method = "an entry of \"config\"";
	if (!json_object_object_get_ex(entry, "method", &name) ||
	    !json_object_is_type(name, json_type_string))
		return tgt_bad(&l->call, -EINVAL, "method", "is missing");
	l->call.method = json_object_get_string(name);
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strcmp(methods[i].name, l->call.method))
			continue;
		if (!json_object_object_get_ex(entry, "params", &params) ||
		    !json_object_is_type(params, json_type_object))
			return tgt_bad(&l->call, -EINVAL, "params", "is missing");
		warn_unknown_params(l, &methods[i], params);
		return methods[i].run(l, params);
	}
	warn(l, "method %.80s has no effect here", l->call.method);
	return 0;
}

static int run_subsystem(struct loader *l, json_object *subsystem)
{
	json_object *name, *config;
	const char *text = "";
	size_t i, n;
	int rc = 0;

	l->call.method = "an entry of \"subsystems\"";
	if (!json_object_object_get_ex(subsystem, "subsystem", &name) ||
	    !json_object_is_type(name, json_type_string))
		return tgt_bad(&l->call, -EINVAL, "subsystem", "is missing");
	text = json_object_get_string(name);
	if (!json_object_object_get_ex(subsystem, "config", &config) || !config)
		return 0; /* null, as SPDK writes for one without configuration */
	if (!json_object_is_type(config, json_type_array))
		return tgt_bad(&l->call, -EINVAL, "config", "is not a list");
	n = json_object_array_length(config);
	if (strcmp(text, "bdev") && strcmp(text, "nvmf")) {
		if (n)
			warn(l, "subsystem \"%.80s\" has no effect here", text);
		return 0;
	}
	for (i = 0; i < n && !rc; i++)
		rc = run_method(l, json_object_array_get_idx(config, i));
	return rc;
}

static int run_file(struct loader *l, json_object *root)
{
	json_object *list;
	size_t i, n;
	int rc = 0;

	l->call.method = "the file";
	if (!json_object_object_get_ex(root, "subsystems", &list) ||
	    !json_object_is_type(list, json_type_array))
		return tgt_bad(&l->call, -EINVAL, "subsystems", "is missing, or no list");
	n = json_object_array_length(list);
	for (i = 0; i < n && !rc; i++)
		rc = run_subsystem(l, json_object_array_get_idx(list, i));
	return rc;
}

static int too_large(const char *path, struct tgt_err *err)
{
	return tgt_err_set(err, -EINVAL, "%s: is larger than %d bytes", path,
			   TGT_CONFIG_FILE_BYTES);
}

/* Text of the file; 0 or the error, with the reason in @err. */
static int slurp(const char *path, char **text, size_t *bytes, struct tgt_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not wait in a FIFO */
	struct stat st;
	int rc;

	if (fd < 0)
		return tgt_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st))
		rc = tgt_err_set(err, -errno, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = tgt_err_set(err, -EINVAL, "%s: is not a file", path);
	else if ((rc = util_json_read(fd, TGT_CONFIG_FILE_BYTES, text, bytes)) == -EFBIG)
		rc = too_large(path, err);
	else if (rc)
		rc = tgt_err_set(err, rc, "%s: %s", path, strerror(-rc));
	close(fd);
	return rc;
}

int tgt_config_parse_json(struct tgt_config *config, const char *path, const char *text,
			  size_t bytes, void (*warn_line)(const char *line), struct tgt_err *err)
{
	struct tgt_err local;
	struct loader l = {config, {path, "", err ? err : &local}, warn_line};
	struct util_json_end end;
	json_object *root;
	int rc;

	if (bytes > TGT_CONFIG_FILE_BYTES)
		return too_large(path, l.call.err);
	rc = util_json_parse(text, bytes, &root, &end);
	if (rc == -ENOMEM)
		return tgt_err_set(l.call.err, rc, "out of memory");
	if (rc)
		return tgt_err_set(l.call.err, rc, "%s: line %zu: %s", path, end.line, end.why);
	rc = run_file(&l, root);
	json_object_put(root);
	return rc;
}

int tgt_config_load_json(struct tgt_config *config, const char *path,
			 void (*warn_line)(const char *line), struct tgt_err *err)
{
	size_t bytes = 0;
	char *text = NULL;
	int rc = slurp(path, &text, &bytes, err);

	if (!rc)
		rc = tgt_config_parse_json(config, path, text, bytes, warn_line, err);
	free(text);
	return rc;
}
