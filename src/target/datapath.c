/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOCA's side of the server: devices, the STA context (control) and one STA IO context (our I/O
 * queues), each with a progress engine that wakes the loop by its descriptor.
 */
#include "target/server.h"

#include <errno.h>
#include <string.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_sta.h>
#include <doca_sta_be.h>
#include <doca_sta_event.h>
#include <doca_sta_io.h>
#include <doca_sta_mem.h>
#include <doca_sta_stats.h>
#include <doca_sta_subsystem.h>
#include <doca_sta_task.h>

#include "target/log.h"

enum {
	STATE_TIMEOUT_MS = 5000,
	NAP_US = 1000,
	/* Entries of an I/O queue when nothing is configured: for 128 commands at a time, since one
	 * entry stays empty. A connection that nobody has let in yet takes a page for each, so more
	 * has to be asked for. */
	DEFAULT_QUEUE_ENTRIES = 129,
};

/* DOCA's allocator callbacks carry no argument: one process, one such memory. */
static struct nv_mem shared_mem;

static void *sta_zmalloc(size_t size, size_t align, uint64_t *phys)
{
	return nv_mem_zmalloc(&shared_mem, size, align ? align : 64, phys);
}

static void sta_free(void *buf)
{
	nv_mem_free(&shared_mem, buf);
}

static uint64_t sta_vtophys(const void *buf, uint32_t size)
{
	uint64_t phys;

	return nv_mem_vtophys(&shared_mem, buf, size, &phys) ? DOCA_STA_VTOPHYS_ERROR : phys;
}

static int fail(struct tgt_err *err, const char *what, doca_error_t rc)
{
	return tgt_err_set(err, -EIO, "%s: %s", what, doca_error_get_descr(rc));
}

/* ---- devices ------------------------------------------------------------------------------ */

static bool name_is_wanted(const struct tgt_server *server, const char *name)
{
	size_t i;

	for (i = 0; i < server->n_listeners; i++) {
		const struct ibv_context *verbs = server->listeners[i].id->verbs;

		/* A wildcard listener takes connections on every device. */
		if (!verbs || !strcmp(ibv_get_device_name(verbs->device), name))
			return true;
	}
	return false;
}

static bool has_wildcard(const struct tgt_server *server)
{
	size_t i;

	for (i = 0; i < server->n_listeners; i++)
		if (!server->listeners[i].id->verbs)
			return true;
	return false;
}

static doca_error_t device_open(struct tgt_server *server, struct doca_devinfo *info)
{
	struct tgt_device *device = &server->devices[server->n_devices];
	doca_error_t rc;

	rc = doca_devinfo_get_ibdev_name(info, device->name, sizeof(device->name));
	if (rc != DOCA_SUCCESS || !name_is_wanted(server, device->name))
		return DOCA_SUCCESS;
	rc = doca_sta_cap_is_supported(info);
	if (rc == DOCA_SUCCESS)
		rc = doca_dev_open(info, &device->dev);
	if (rc != DOCA_SUCCESS) {
		tgt_log("RDMA device %s cannot be used: %s", device->name,
			doca_error_get_descr(rc));
		return rc;
	}
	device->server = server;
	server->n_devices++;
	return DOCA_SUCCESS;
}

int tgt_datapath_open_devices(struct tgt_server *server, struct tgt_err *err)
{
	struct doca_devinfo **list;
	uint32_t n, i, max_devs = 1;
	doca_error_t rc, first_error = DOCA_SUCCESS;

	rc = doca_devinfo_create_list(&list, &n);
	if (rc == DOCA_ERROR_NOT_FOUND)
		return tgt_err_set(err, -ENODEV,
				   "no RDMA device: no network interface is up, or"
				   " SOFTROCE_DEVICES names none that is");
	if (rc != DOCA_SUCCESS)
		return fail(err, "no RDMA device", rc);
	(void)doca_sta_get_max_devs(&max_devs);
	for (i = 0; i < n && server->n_devices < util_min(max_devs, (uint32_t)TGT_MAX_DEVICES);
	     i++) {
		rc = device_open(server, list[i]);
		if (rc != DOCA_SUCCESS && first_error == DOCA_SUCCESS)
			first_error = rc;
	}
	(void)doca_devinfo_destroy_list(list);
	if (!server->n_devices)
		return fail(err, "no RDMA device can be used",
			    first_error != DOCA_SUCCESS ? first_error : DOCA_ERROR_NOT_FOUND);
	/* An address that was asked for by name has to be served. */
	if (first_error != DOCA_SUCCESS && !has_wildcard(server))
		return fail(err, "an RDMA device of a listen address cannot be used", first_error);
	return 0;
}

static void devices_close(struct tgt_server *server)
{
	while (server->n_devices) {
		struct tgt_device *device = &server->devices[--server->n_devices];

		if (device->channel) {
			tgt_loop_remove(&server->loop, &device->source);
			ibv_destroy_comp_channel(device->channel);
		}
		if (device->pd)
			ibv_dealloc_pd(device->pd);
		(void)doca_dev_close(device->dev);
		memset(device, 0, sizeof(*device));
	}
}

struct tgt_device *tgt_device_find(struct tgt_server *server, struct ibv_context *verbs)
{
	const char *name = verbs ? ibv_get_device_name(verbs->device) : "";
	size_t i;

	for (i = 0; i < server->n_devices; i++)
		if (!strcmp(server->devices[i].name, name))
			return &server->devices[i];
	tgt_log("a connection came in on RDMA device \"%s\", which is not in use", name);
	return NULL;
}

bool tgt_device_addr(const struct tgt_device *device, int family, union tgt_sockaddr *ret)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(device->dev);
	union tgt_sockaddr addr = {.sa.sa_family = (sa_family_t)family};
	doca_error_t rc;

	if (family == AF_INET6)
		rc = doca_devinfo_get_ipv6_addr(info, (uint8_t *)&addr.in6.sin6_addr,
						sizeof(addr.in6.sin6_addr));
	else
		rc = doca_devinfo_get_ipv4_addr(info, (uint8_t *)&addr.in.sin_addr,
						sizeof(addr.in.sin_addr));
	if (rc == DOCA_SUCCESS)
		*ret = addr;
	return rc == DOCA_SUCCESS;
}

static void on_completions(void *arg)
{
	tgt_adminq_poll(arg);
}

int tgt_device_verbs(struct tgt_device *device, struct ibv_context *verbs)
{
	int rc;

	if (device->channel)
		return device->verbs == verbs ? 0 : -EINVAL;
	device->pd = ibv_alloc_pd(verbs);
	if (!device->pd)
		return -errno;
	device->channel = ibv_create_comp_channel(verbs);
	if (!device->channel) {
		rc = -errno;
		goto err_pd;
	}
	rc = tgt_fd_nonblock(device->channel->fd);
	if (rc)
		goto err_channel;
	device->verbs = verbs;
	device->source = (struct tgt_loop_source){device->channel->fd, on_completions, device};
	rc = tgt_loop_add(&device->server->loop, &device->source);
	if (rc)
		goto err_channel;
	return 0;

err_channel:
	ibv_destroy_comp_channel(device->channel);
	device->channel = NULL;
err_pd:
	ibv_dealloc_pd(device->pd);
	device->pd = NULL;
	return rc;
}

/* ---- progress engines --------------------------------------------------------------------- */

static void pe_run(struct doca_pe *pe)
{
	if (!pe)
		return;
	do {
		while (doca_pe_progress(pe))
			;
		(void)doca_pe_request_notification(pe);
		/* Once more: what came before the request need not wake us. */
	} while (doca_pe_progress(pe));
}

static void on_pe(void *arg)
{
	struct doca_pe *pe = arg;

	(void)doca_pe_clear_notification(pe, 0);
	pe_run(pe);
}

void tgt_datapath_progress(struct tgt_server *server)
{
	pe_run(server->sta_pe);
	pe_run(server->io_pe);
}

static int pe_watch(struct tgt_server *server, struct doca_pe *pe, struct tgt_loop_source *source,
		    struct tgt_err *err)
{
	doca_notification_handle_t handle;
	doca_error_t rc = doca_pe_get_notification_handle(pe, &handle);
	int code;

	if (rc != DOCA_SUCCESS)
		return fail(err, "progress engine", rc);
	*source = (struct tgt_loop_source){handle, on_pe, pe};
	code = tgt_loop_add(&server->loop, source);
	if (code)
		return tgt_err_set(err, code, "epoll: %s", strerror(-code));
	pe_run(pe);
	return 0;
}

/* Run @pe until its context is in @state. */
static bool ctx_wait(struct doca_pe *pe, struct doca_ctx *ctx, enum doca_ctx_states state)
{
	const struct timespec nap = {.tv_nsec = NAP_US * 1000};
	uint64_t until = tgt_loop_now_ms() + STATE_TIMEOUT_MS;
	enum doca_ctx_states now;

	for (;;) {
		if (doca_ctx_get_state(ctx, &now) != DOCA_SUCCESS)
			return false;
		if (now == state)
			return true;
		if (tgt_loop_now_ms() > until)
			return false;
		if (!doca_pe_progress(pe))
			nanosleep(&nap, NULL);
	}
}

static int ctx_start(struct doca_pe *pe, struct doca_ctx *ctx, const char *what,
		     struct tgt_err *err)
{
	doca_error_t rc = doca_ctx_start(ctx);

	if (rc != DOCA_SUCCESS && rc != DOCA_ERROR_IN_PROGRESS)
		return fail(err, what, rc);
	if (!ctx_wait(pe, ctx, DOCA_CTX_STATE_RUNNING))
		return tgt_err_set(err, -ETIMEDOUT, "%s: does not start", what);
	return 0;
}

static void ctx_stop(struct doca_pe *pe, struct doca_ctx *ctx, const char *what)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	doca_error_t rc = doca_ctx_get_state(ctx, &state);

	if (state == DOCA_CTX_STATE_IDLE)
		return;
	if (state != DOCA_CTX_STATE_STOPPING)
		rc = doca_ctx_stop(ctx);
	if (rc != DOCA_SUCCESS && rc != DOCA_ERROR_IN_PROGRESS)
		tgt_log("%s: cannot be stopped: %s", what, doca_error_get_descr(rc));
	else if (!ctx_wait(pe, ctx, DOCA_CTX_STATE_IDLE))
		tgt_log("%s: does not stop", what);
}

/* ---- limits ------------------------------------------------------------------------------- */

static doca_error_t limits_ask(struct tgt_server *server, struct tgt_limits *limits)
{
	uint32_t queue_entries = 0;
	doca_error_t rc;

	if ((rc = doca_sta_get_max_io_size(&limits->max_io_bytes)) != DOCA_SUCCESS ||
	    (rc = doca_sta_get_max_ioccsz(&limits->ioccsz_bytes)) != DOCA_SUCCESS ||
	    (rc = doca_sta_get_max_iorcsz(&limits->iorcsz_bytes)) != DOCA_SUCCESS ||
	    (rc = doca_sta_get_max_icdoff(&limits->icdoff_bytes)) != DOCA_SUCCESS ||
	    (rc = doca_sta_get_max_io_queue_size(server->sta, &queue_entries)) != DOCA_SUCCESS ||
	    (rc = doca_sta_get_max_num_eus_available(server->sta, &server->n_eus)) != DOCA_SUCCESS)
		return rc;
	limits->io_queue_entries = (uint16_t)util_min(queue_entries, (uint32_t)UINT16_MAX);
	limits->max_io_queues = TGT_MAX_IO_QUEUES;
	return DOCA_SUCCESS;
}

/* A configuration may ask for less than the data path can do, not for more. */
static void limits_lower(struct tgt_limits *limits, const struct tgt_config *config)
{
	if (config->max_io_bytes && config->max_io_bytes < limits->max_io_bytes)
		limits->max_io_bytes = config->max_io_bytes;
	limits->io_queue_entries =
		util_min(limits->io_queue_entries, config->io_queue_entries
							   ? config->io_queue_entries
							   : (uint16_t)DEFAULT_QUEUE_ENTRIES);
	if (config->max_io_queues && config->max_io_queues < limits->max_io_queues)
		limits->max_io_queues = config->max_io_queues;
	if (config->has_in_capsule_bytes &&
	    config->in_capsule_bytes < limits->ioccsz_bytes - TGT_SQE_BYTES)
		limits->ioccsz_bytes = TGT_SQE_BYTES + config->in_capsule_bytes;
}

/* ---- statistics --------------------------------------------------------------------------- */

static uint64_t counter(const struct doca_sta_eu_ctr_entry *entries, uint16_t n, const char *name)
{
	uint16_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(entries[i].name, name))
			return *entries[i].val;
	return 0;
}

static void ns_usage(const struct tgt_subsys *subsys, const struct tgt_ns *ns,
		     struct tgt_usage *usage)
{
	const struct doca_sta_eu_ctr_entry *entries;
	uint16_t n;

	memset(usage, 0, sizeof(*usage));
	usage->media_errors = tgt_backend_media_errors(ns->backend);
	if (doca_sta_get_ns_stats(subsys->sta, ns->sta, &entries, &n) != DOCA_SUCCESS)
		return;
	usage->read_commands = counter(entries, n, "reads") + counter(entries, n, "compares");
	usage->write_commands = counter(entries, n, "writes");
	usage->read_bytes =
		counter(entries, n, "read_bytes") + counter(entries, n, "compared_bytes");
	usage->written_bytes = counter(entries, n, "written_bytes");
}

/* ---- bring-up and shut-down --------------------------------------------------------------- */

static void on_eu_error(const struct doca_sta_event_eu_err *event, union doca_data user_data)
{
	struct tgt_server *server = user_data.ptr;
	bool is_fatal = true;

	(void)doca_sta_event_eu_err_is_fatal_error(event, &is_fatal);
	tgt_log("data path: %s error of an execution unit", is_fatal ? "fatal" : "non-fatal");
	server->is_failed |= is_fatal;
}

static void on_be_timeout(const struct doca_sta_event_be_timeout *event, union doca_data user_data)
{
	const struct tgt_server *server = user_data.ptr;
	const struct doca_sta_be_handle *handle = NULL;

	(void)doca_sta_event_be_timeout_get_be_handle(event, &handle);
	for (size_t i = 0; i < server->n_backends; i++)
		if (tgt_backend_handle(server->backends[i]) == handle)
			tgt_backend_unanswered(server->backends[i]);
}

/* Completion of the task that removes a namespace. */
static void on_ns_removed(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct tgt_ns *ns = user_data.ptr;

	doca_task_free(doca_sta_producer_send_task_as_task(task));
	ns->sta = NULL;
}

/* Settings that need the context idle. */
static doca_error_t sta_configure(struct tgt_server *server)
{
	union doca_data self = {.ptr = server};
	doca_error_t rc = DOCA_SUCCESS;
	size_t i;

	for (i = 0; i < server->n_devices && rc == DOCA_SUCCESS; i++)
		rc = doca_sta_add_dev(server->sta, server->devices[i].dev);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_be_task_destroy_queue_set_conf(server->sta, tgt_backend_queue_gone,
							     tgt_backend_queue_gone);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_subsystem_task_rm_ns_set_conf(server->sta, on_ns_removed,
							    on_ns_removed);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_mem_allocator_register(server->sta, sta_zmalloc, sta_free,
						     sta_vtophys);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_set_max_sta_io(server->sta, 1);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_event_be_timeout_register_cb(server->sta, on_be_timeout, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_event_eu_err_register_cb(server->sta, on_eu_error, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_event_cqe_notify_register_cb(server->sta, tgt_ioq_command_failed,
							   self);
	return rc;
}

static int sta_start(struct tgt_server *server, struct tgt_err *err)
{
	doca_error_t rc = doca_sta_create(server->devices[0].dev, &server->sta);
	int code;

	if (rc == DOCA_SUCCESS)
		rc = doca_pe_create(&server->sta_pe);
	if (rc == DOCA_SUCCESS)
		rc = doca_pe_connect_ctx(server->sta_pe, doca_sta_as_ctx(server->sta));
	if (rc == DOCA_SUCCESS)
		rc = sta_configure(server);
	if (rc == DOCA_SUCCESS)
		rc = limits_ask(server, &server->tgt.limits);
	if (rc != DOCA_SUCCESS)
		return fail(err, "STA", rc);
	limits_lower(&server->tgt.limits, server->config);
	code = ctx_start(server->sta_pe, doca_sta_as_ctx(server->sta), "STA", err);
	return code ? code : pe_watch(server, server->sta_pe, &server->sta_source, err);
}

static int io_start(struct tgt_server *server, struct tgt_err *err)
{
	doca_error_t rc = doca_sta_io_create(server->sta, &server->io);
	int code;

	if (rc == DOCA_SUCCESS)
		rc = doca_pe_create(&server->io_pe);
	if (rc == DOCA_SUCCESS)
		rc = doca_pe_connect_ctx(server->io_pe, doca_sta_io_as_ctx(server->io));
	if (rc != DOCA_SUCCESS)
		return fail(err, "STA IO", rc);
	code = tgt_ioq_register(server, err);
	if (!code)
		code = ctx_start(server->io_pe, doca_sta_io_as_ctx(server->io), "STA IO", err);
	return code ? code : pe_watch(server, server->io_pe, &server->io_source, err);
}

int tgt_datapath_start(struct tgt_server *server, struct tgt_err *err)
{
	int rc;

	shared_mem = server->disks.mem;
	server->tgt.ns_usage = ns_usage;
	rc = sta_start(server, err);
	return rc ? rc : io_start(server, err);
}

void tgt_datapath_begin_stop_io(struct tgt_server *server)
{
	(void)doca_ctx_stop(doca_sta_io_as_ctx(server->io));
}

bool tgt_datapath_io_is_idle(const struct tgt_server *server)
{
	enum doca_ctx_states state;

	return doca_ctx_get_state(doca_sta_io_as_ctx(server->io), &state) != DOCA_SUCCESS ||
	       state == DOCA_CTX_STATE_IDLE;
}

void tgt_datapath_stop_io(struct tgt_server *server)
{
	if (server->io_source.ready)
		tgt_loop_remove(&server->loop, &server->io_source);
	if (server->io) {
		if (server->io_pe)
			ctx_stop(server->io_pe, doca_sta_io_as_ctx(server->io), "STA IO");
		(void)doca_sta_io_destroy(server->io);
	}
	if (server->io_pe)
		(void)doca_pe_destroy(server->io_pe);
	server->io_source.ready = NULL;
	server->io = NULL;
	server->io_pe = NULL;
}

static void subsys_remove(struct tgt_subsys *subsys)
{
	uint32_t n;

	for (n = 0; n < subsys->nn; n++) {
		struct tgt_ns *ns = subsys->ns[n];

		if (ns && ns->sta)
			(void)doca_sta_subsystem_rm_ns(subsys->sta, ns->sta);
	}
	(void)doca_sta_subsystem_destroy(subsys->sta);
	subsys->sta = NULL;
}

void tgt_datapath_remove_subsystems(struct tgt_server *server)
{
	size_t i;

	for (i = 0; i < server->tgt.n_subsystems; i++)
		if (server->tgt.subsystems[i]->sta)
			subsys_remove(server->tgt.subsystems[i]);
}

void tgt_datapath_stop(struct tgt_server *server)
{
	if (server->sta_source.ready)
		tgt_loop_remove(&server->loop, &server->sta_source);
	if (server->sta) {
		if (server->sta_pe)
			ctx_stop(server->sta_pe, doca_sta_as_ctx(server->sta), "STA");
		(void)doca_sta_destroy(server->sta);
	}
	if (server->sta_pe)
		(void)doca_pe_destroy(server->sta_pe);
	server->sta_source.ready = NULL;
	server->sta = NULL;
	server->sta_pe = NULL;
	devices_close(server);
}

static doca_error_t add_ns(struct tgt_subsys *subsys, struct tgt_ns *ns)
{
	return doca_sta_subsystem_add_ns(subsys->sta, ns->nsid, ns->block_bytes, ns->be_nsid,
					 tgt_backend_handle(ns->backend), &ns->sta);
}

int tgt_datapath_add_subsys(struct tgt_server *server, struct tgt_subsys *subsys,
			    struct tgt_err *err)
{
	doca_error_t rc = doca_sta_subsystem_create(server->sta, subsys->nqn, &subsys->sta);
	size_t i;
	uint32_t n;

	for (i = 0; i < server->n_devices && rc == DOCA_SUCCESS; i++)
		rc = doca_sta_subsystem_add_dev(subsys->sta, server->devices[i].dev);
	for (n = 0; n < subsys->nn && rc == DOCA_SUCCESS; n++)
		if (subsys->ns[n])
			rc = add_ns(subsys, subsys->ns[n]);
	return rc == DOCA_SUCCESS ? 0 : fail(err, subsys->nqn, rc);
}

int tgt_datapath_add_ns(struct tgt_subsys *subsys, struct tgt_ns *ns, struct tgt_err *err)
{
	doca_error_t rc = add_ns(subsys, ns);

	return rc == DOCA_SUCCESS ? 0 : fail(err, "namespace", rc);
}

void tgt_datapath_rm_ns(struct tgt_subsys *subsys, struct tgt_ns *ns)
{
	union doca_data self = {.ptr = ns};
	struct doca_sta_producer_task_send *task;
	doca_error_t rc;

	rc = doca_sta_subsystem_task_rm_ns_alloc_init(subsys->sta, ns->sta, self, &task);
	if (rc == DOCA_SUCCESS)
		rc = doca_task_submit(doca_sta_producer_send_task_as_task(task));
	if (rc != DOCA_SUCCESS)
		tgt_log_error("%s namespace %u: cannot be removed: %s", subsys->nqn, ns->nsid,
			      doca_error_get_descr(rc));
}
