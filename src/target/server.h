/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running target: the control plane's objects (target.h) and what they run on. Bring-up order
 * and its reverse are in server.c; each part has its own file:
 *
 *   listener.c  RDMA connection manager: requests, accepts, disconnects
 *   adminq.c    admin queues: our own RDMA queue pairs
 *   ioq.c       I/O queues: handed to DOCA STA
 *   datapath.c  DOCA devices, the STA and STA IO contexts, their progress engines
 *   backend.c   a disk: its controller, its queues for the execution units (beq.c), its failures
 *               (recover.c)
 */
#ifndef TGT_SERVER_H
#define TGT_SERVER_H

#include <rdma/rdma_cma.h>

#include "target/config.h"
#include "target/disk.h"
#include "target/loop.h"
#include "target/queue.h"
#include "target/rpc/dispatch.h"

#include "util/list.h"

struct doca_dev;
struct doca_pe;
struct doca_sta;
struct doca_sta_io;
struct nv_ctrl_info;
struct tgt_cm_request;
struct tgt_rpc;

enum {
	TGT_MAX_DEVICES = 16,
	TGT_MAX_EUS = 64,
};

/* One RDMA device: its DOCA form for the data path, its verbs form for admin queues. */
struct tgt_device {
	struct tgt_server *server;
	char name[64];
	struct doca_dev *dev;
	/* Set by the first connection; rdma_cm opens the device itself. */
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct tgt_loop_source source;
};

/* What stands in rdma_cm_id.context of a connection. */
struct tgt_conn {
	/* The other side is ready: RTU or its first packet came. */
	void (*established)(struct tgt_conn *conn);
	/* The connection ended or could not be made. */
	void (*disconnected)(struct tgt_conn *conn);
};

/* What stands in rdma_cm_id.context of a listener. */
struct tgt_listener {
	struct tgt_port *port;
	struct rdma_cm_id *id;
};

struct tgt_server {
	struct tgt tgt;
	struct tgt_loop loop;
	const struct tgt_config *config;

	struct tgt_rpc *rpc; /* NULL: no control socket */
	struct tgt_rpc_table rpc_table;

	struct rdma_event_channel *cm;
	struct tgt_loop_source cm_source;
	struct tgt_listener listeners[TGT_MAX_PORTS];
	size_t n_listeners;

	struct tgt_device devices[TGT_MAX_DEVICES];
	size_t n_devices;

	struct doca_sta *sta;
	struct doca_pe *sta_pe;
	struct tgt_loop_source sta_source;
	struct doca_sta_io *io;
	struct doca_pe *io_pe;
	struct tgt_loop_source io_source;
	uint32_t n_eus;

	struct tgt_disks disks;
	struct tgt_backend **backends; /* by index of config->bdevs */
	size_t n_backends;
	uint64_t next_check_ms; /* of what they are now */

	/* Queues that exist, and those of them that are done and wait for the loop's end. */
	struct util_list admin_queues;
	struct util_list io_queues;
	struct util_list unsent; /* tasks that STA had no room for; ioq.c */
	uint64_t admin_data_bytes; /* buffers of admin commands in flight */
	bool is_failed; /* the data path died: stop, exit status 1 */
};

/** tgt_server_start() - everything that @config says; on failure nothing is left. */
int tgt_server_start(struct tgt_server *server, const struct tgt_config *config,
		     struct tgt_err *err);

/** tgt_server_turn() - one round of the loop, until @deadline_ms at the latest. */
int tgt_server_turn(struct tgt_server *server, uint64_t deadline_ms);

/** tgt_server_close_hosts() - refuse new hosts, answer and disconnect the I/O queues of others. */
void tgt_server_close_hosts(struct tgt_server *server);

/**
 * tgt_server_abandon_disks() - give up what disks have not answered, long after
 * tgt_server_close_hosts(): its hosts are disconnected, and nobody else gets its memory any more.
 */
void tgt_server_abandon_disks(struct tgt_server *server);

/**
 * tgt_server_close_controllers() - disconnect the admin queues. When the I/O queues are gone: a
 * host whose admin queue ends gives up what it has in flight.
 */
void tgt_server_close_controllers(struct tgt_server *server);

/** tgt_server_has_io_queues() - is some I/O queue still connected? */
bool tgt_server_has_io_queues(const struct tgt_server *server);

/** tgt_server_has_queues() - is some connection still there? */
bool tgt_server_has_queues(const struct tgt_server *server);

/** tgt_server_stop() - free everything, backends flushed. Connections that are left are cut. */
void tgt_server_stop(struct tgt_server *server);

/* listener.c */
int tgt_listener_bind(struct tgt_server *server, struct tgt_err *err);
int tgt_listener_listen(struct tgt_server *server, struct tgt_err *err);
/** tgt_listener_announce() - log where hosts may connect. */
void tgt_listener_announce(const struct tgt_server *server);
void tgt_listener_close(struct tgt_server *server);
void tgt_listener_fini(struct tgt_server *server);

/* datapath.c */
int tgt_datapath_open_devices(struct tgt_server *server, struct tgt_err *err);
int tgt_datapath_start(struct tgt_server *server, struct tgt_err *err);
/**
 * tgt_datapath_begin_stop_io() - STA answers what hosts have in flight and disconnects them; then
 * the I/O context is idle.
 */
void tgt_datapath_begin_stop_io(struct tgt_server *server);
bool tgt_datapath_io_is_idle(const struct tgt_server *server);
void tgt_datapath_stop_io(struct tgt_server *server);
/** tgt_datapath_remove_subsystems() - and their namespaces; no queue uses them any more. */
void tgt_datapath_remove_subsystems(struct tgt_server *server);
void tgt_datapath_stop(struct tgt_server *server);
int tgt_datapath_add_subsys(struct tgt_server *server, struct tgt_subsys *subsys,
			    struct tgt_err *err);
/** tgt_datapath_add_ns() - to a subsystem that is there. 0 or a negative errno. */
int tgt_datapath_add_ns(struct tgt_subsys *subsys, struct tgt_ns *ns, struct tgt_err *err);
/** tgt_datapath_rm_ns() - begin to take a namespace out; ns->sta is NULL when that is done. */
void tgt_datapath_rm_ns(struct tgt_subsys *subsys, struct tgt_ns *ns);
/** tgt_datapath_progress() - run what the progress engines have, until they are idle. */
void tgt_datapath_progress(struct tgt_server *server);
/** tgt_device_find() - by the name of a connection's device; NULL if it is none of ours. */
struct tgt_device *tgt_device_find(struct tgt_server *server, struct ibv_context *verbs);
/** tgt_device_addr() - an address of the device in @family; false if it has none. */
bool tgt_device_addr(const struct tgt_device *device, int family, union tgt_sockaddr *ret);
/** tgt_device_verbs() - make pd and channel for the first admin queue. 0 or a negative errno. */
int tgt_device_verbs(struct tgt_device *device, struct ibv_context *verbs);

/* backend.c */
int tgt_backend_open(struct tgt_server *server, const struct tgt_bdev_conf *conf,
		     struct tgt_backend **backend, struct tgt_err *err);
/** tgt_backend_attach() - create its queues and give them to DOCA STA (which is running). */
int tgt_backend_attach(struct tgt_server *server, struct tgt_backend *backend, struct tgt_err *err);
/**
 * tgt_backend_describe() - what the disk says of its namespace @be_nsid: size, flags, hints and, of
 * a drive, identifiers. 0, or a negative errno if it cannot be served.
 */
int tgt_backend_describe(const struct tgt_backend *backend, uint32_t be_nsid, struct tgt_ns *ns,
			 struct tgt_err *err);
/** tgt_backend_ns_count() - its active namespaces; tgt_backend_nsid() is the id of the @i-th. */
size_t tgt_backend_ns_count(const struct tgt_backend *backend);
uint32_t tgt_backend_nsid(const struct tgt_backend *backend, size_t i);

enum {
	TGT_DISK_NAME_TEXT = 64 + 11, /* a bdev's, and of a drive "n" and the namespace */
};

/** tgt_backend_disk_name() - as tgt_config_find_disk() understands it. Return: @name. */
const char *tgt_backend_disk_name(const struct tgt_backend *backend, uint32_t be_nsid,
				  char name[TGT_DISK_NAME_TEXT]);
/** tgt_backend_info() - what its controller says of itself. */
const struct nv_ctrl_info *tgt_backend_info(const struct tgt_backend *backend);
/** tgt_backend_note() - how its I/O is done, one line; "" if there is nothing to say. */
const char *tgt_backend_note(const struct tgt_backend *backend);
/** tgt_backend_media_errors() - commands that failed for what is stored, not for what was asked. */
uint64_t tgt_backend_media_errors(const struct tgt_backend *backend);
struct doca_sta_be_handle *tgt_backend_handle(const struct tgt_backend *backend);
/** tgt_backend_detach() - take the queues from STA again (running still); see attach. */
void tgt_backend_detach(struct tgt_server *server, struct tgt_backend *backend);
/** tgt_backend_close() - flush the store and free it. NULL is fine. */
void tgt_backend_close(struct tgt_backend *backend);
/** tgt_backend_queue_count() - queues that STA has; the handle of the @i-th, NULL if it is gone. */
size_t tgt_backend_queue_count(const struct tgt_backend *backend);
struct doca_sta_be_q_handle *tgt_backend_queue_handle(const struct tgt_backend *backend, size_t i);
/**
 * tgt_backend_reset() - bring its controller up anew (recover.c). It goes on when this returns:
 * tgt_backend_state() tells.
 *
 * Return: 0; -EALREADY: it is being reset; -EAGAIN: it is being withdrawn; -ENOMEM and the like.
 */
int tgt_backend_reset(struct tgt_backend *backend, struct tgt_err *err);
/**
 * tgt_backend_inject() - let something go wrong (layer.h).
 *
 * Return: 0; -ENOTSUP: the disk was not made for that; -EBUSY: it is not in service.
 */
struct tgt_injection;
int tgt_backend_inject(struct tgt_backend *backend, const struct tgt_injection *injection,
		       struct tgt_err *err);
/** tgt_backend_state() - as SPDK names it: "enabled", "resetting" or "failed". */
const char *tgt_backend_state(const struct tgt_backend *backend);
/** tgt_backend_is_watched() - does tgt_backend_check() look at anything at the moment? */
bool tgt_backend_is_watched(const struct tgt_backend *backend);
/** tgt_backend_check() - if the disk has changed, hosts are told. To be called now and then. */
void tgt_backend_check(struct tgt_backend *backend);
/** tgt_backend_abandon() - see tgt_server_abandon_disks(). */
void tgt_backend_abandon(struct tgt_backend *backend);
/** tgt_backend_unanswered() - a command of it has timed out. */
void tgt_backend_unanswered(struct tgt_backend *backend);
/** tgt_backend_queue_gone() - completion of the task that destroys a queue. */
struct doca_sta_producer_task_send;
union doca_data;
void tgt_backend_queue_gone(struct doca_sta_producer_task_send *task, union doca_data user_data);

/* adminq.c */
int tgt_adminq_accept(struct tgt_server *server, struct tgt_device *device, struct rdma_cm_id *id,
		      struct tgt_port *port, const struct tgt_cm_request *request, uint8_t reads);
/** tgt_adminq_reap() - free queues whose connection has ended. */
void tgt_adminq_reap(struct tgt_server *server);
/** tgt_adminq_next_reap() - when a queue that got no answer to its disconnect is given up. */
uint64_t tgt_adminq_next_reap(const struct tgt_server *server);
/** tgt_adminq_poll() - a completion channel became readable. */
void tgt_adminq_poll(struct tgt_device *device);
void tgt_adminq_close_all(struct tgt_server *server, bool now);

/* ioq.c */
int tgt_ioq_accept(struct tgt_server *server, struct tgt_device *device, struct rdma_cm_id *id,
		   struct tgt_port *port, const struct tgt_cm_request *request);
int tgt_ioq_register(struct tgt_server *server, struct tgt_err *err);
/** tgt_ioq_command_failed() - STA has answered a command with an error: for the error log. */
struct doca_sta_event_cqe_notify;
void tgt_ioq_command_failed(const struct doca_sta_event_cqe_notify *event,
			    union doca_data user_data);
/** tgt_ioq_resubmit() - try again what STA had no room for. */
void tgt_ioq_resubmit(struct tgt_server *server);
/** tgt_ioq_next_retry() - when to do so, UINT64_MAX if there is nothing. */
uint64_t tgt_ioq_next_retry(const struct tgt_server *server);
void tgt_ioq_reap(struct tgt_server *server);
/** tgt_ioq_let_go_all() - STA ends the connections by itself from here on, and frees the ids. */
void tgt_ioq_let_go_all(struct tgt_server *server);
void tgt_ioq_close_all(struct tgt_server *server);

#endif
