/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RDMA connection manager: listening, connection requests, and the events of connections. A
 * request is refused with the NVMe status that fits; what is accepted goes to adminq.c or ioq.c.
 */
#include "target/server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target/await.h"
#include "target/cmpriv.h"
#include "target/log.h"

enum {
	BACKLOG = 128,
	ROCE_UDP_PORT = 4791,
};

static void refuse(struct tgt_server *server, struct rdma_cm_id *id, enum tgt_cm_status status,
		   const char *why)
{
	uint8_t record[TGT_CM_REJECT_BYTES];
	char peer[TGT_ADDR_TEXT];

	tgt_addr_format(rdma_get_peer_addr(id), peer);
	tgt_log_limited(&server->tgt, TGT_LOG_REFUSED, "connection from %s refused: %s", peer,
			why ? why : tgt_cm_status_text(status));
	tgt_cm_reject_fill(record, status);
	(void)rdma_reject(id, record, sizeof(record));
}

/* Return: 0 when somebody owns the id now, else the status that refuses it; *why may say more. */
static enum tgt_cm_status take_request(struct tgt_server *server, struct tgt_listener *listener,
				       struct rdma_cm_id *id, const struct rdma_conn_param *offer,
				       const char **why)
{
	struct tgt_cm_request request;
	struct tgt_device *device;
	enum tgt_cm_status status;
	int rc;

	if (server->tgt.is_stopping)
		return TGT_CM_NO_RESOURCES;
	status = tgt_cm_parse(offer->private_data, offer->private_data_len, offer->initiator_depth,
			      &server->tgt.limits, &request);
	if (status)
		return status;
	device = tgt_device_find(server, id->verbs);
	if (!device)
		return TGT_CM_NO_RESOURCES;
	if (request.qid == 0)
		rc = tgt_adminq_accept(server, device, id, listener->port, &request,
				       offer->initiator_depth);
	else
		rc = tgt_ioq_accept(server, device, id, listener->port, &request);
	if (rc)
		*why = rc == -ENOSPC ? "too many wait for their Connect command" : strerror(-rc);
	return rc ? TGT_CM_NO_RESOURCES : TGT_CM_OK;
}

/* Return: is the new id still ours, to be destroyed? */
static bool on_request(struct tgt_server *server, const struct rdma_cm_event *event)
{
	struct tgt_listener *listener = event->listen_id->context;
	enum tgt_cm_status status;
	const char *why = NULL;

	event->id->context = NULL; /* it starts with the listener's */
	status = take_request(server, listener, event->id, &event->param.conn, &why);
	if (status)
		refuse(server, event->id, status, why);
	return status != TGT_CM_OK;
}

static void on_event(struct tgt_server *server, struct rdma_cm_event *event)
{
	enum rdma_cm_event_type type = event->event;
	struct rdma_cm_id *id = event->id;
	struct tgt_conn *conn = id->context;

	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		bool is_refused = on_request(server, event);

		rdma_ack_cm_event(event);
		if (is_refused)
			rdma_destroy_id(id);
		return;
	}
	/* Acknowledged first: what follows may destroy the id, which waits for that. */
	rdma_ack_cm_event(event);
	switch (type) {
	case RDMA_CM_EVENT_ESTABLISHED:
		if (conn)
			conn->established(conn);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		if (conn)
			conn->disconnected(conn);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		tgt_log("RDMA device %s was removed",
			id->verbs ? ibv_get_device_name(id->verbs->device) : "");
		break;
	default:
		break;
	}
}

static void on_channel(void *arg)
{
	struct tgt_server *server = arg;
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(server->cm, &event))
		on_event(server, event);
}

/* Is it UDP port 4791 of the address that is taken? By whom cannot be asked. */
static bool roce_port_is_taken(const union tgt_sockaddr *listen)
{
	union tgt_sockaddr addr = *listen;
	bool is_taken;
	int fd;

	if (addr.sa.sa_family == AF_INET6)
		addr.in6.sin6_port = htons(ROCE_UDP_PORT);
	else
		addr.in.sin_port = htons(ROCE_UDP_PORT);
	fd = socket(addr.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	is_taken = bind(fd, &addr.sa, sizeof(addr)) && errno == EADDRINUSE;
	close(fd);
	return is_taken;
}

static bool is_loopback(const union tgt_sockaddr *addr)
{
	return addr->sa.sa_family == AF_INET &&
	       ntohl(addr->in.sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

static int taken_error(struct tgt_err *err, const char *addr)
{
	return tgt_err_set(err, -EADDRINUSE,
			   "cannot listen on %s: its UDP port %d (RoCEv2) is taken by another"
			   " program",
			   addr, ROCE_UDP_PORT);
}

static int listen_error(struct tgt_err *err, int code, const union tgt_sockaddr *sa)
{
	uint16_t port = tgt_addr_port(&sa->sa);
	char addr[TGT_ADDR_TEXT];

	tgt_addr_format(&sa->sa, addr);
	switch (code) {
	case EADDRNOTAVAIL:
		return tgt_err_set(err, -code,
				   "cannot listen on %s: no interface of this machine"
				   " has that address",
				   addr);
	case ENODEV:
		if (roce_port_is_taken(sa))
			return taken_error(err, addr);
		return tgt_err_set(err, -code, "cannot listen on %s: no RDMA device there", addr);
	case EADDRINUSE:
		if (roce_port_is_taken(sa))
			return taken_error(err, addr);
		if (is_loopback(sa))
			return tgt_err_set(err, -code,
					   "cannot listen on %s: the loopback device has another"
					   " address; 0.0.0.0 finds it",
					   addr);
		return tgt_err_set(err, -code,
				   "cannot listen on %s port %u: another program has that port",
				   addr, port);
	default:
		return tgt_err_set(err, -code, "cannot listen on %s port %u: %s", addr, port,
				   strerror(code));
	}
}

static int bind_one(struct tgt_server *server, struct tgt_port *port, struct tgt_err *err)
{
	struct tgt_listener *listener = &server->listeners[server->n_listeners];
	int code;

	listener->port = port;
	if (rdma_create_id(server->cm, &listener->id, listener, RDMA_PS_TCP))
		return tgt_err_set(err, -errno, "RDMA connection manager: %s", strerror(errno));
	if (!rdma_bind_addr(listener->id, &port->addr.sa)) {
		server->n_listeners++;
		return 0;
	}
	code = errno;
	rdma_destroy_id(listener->id);
	return listen_error(err, code, &port->addr);
}

/* It was waited for in vain: the others are served without it. */
static bool is_given_up(const struct tgt_server *server, const struct tgt_port *port)
{
	char addr[TGT_ADDR_TEXT];

	if (!server->config->waits_for_addresses || tgt_addr_exists(&port->addr))
		return false;
	tgt_addr_format(&port->addr.sa, addr);
	tgt_log_warning("still no interface has the address %s: not listening there until the"
			" next start",
			addr);
	return true;
}

int tgt_listener_bind(struct tgt_server *server, struct tgt_err *err)
{
	size_t i;
	int rc;

	server->cm = rdma_create_event_channel();
	if (!server->cm)
		return tgt_err_set(err, -errno, "RDMA connection manager: %s", strerror(errno));
	rc = tgt_fd_nonblock(server->cm->fd);
	for (i = 0; i < server->tgt.n_ports && !rc; i++)
		if (!is_given_up(server, server->tgt.ports[i]))
			rc = bind_one(server, server->tgt.ports[i], err);
	if (rc)
		goto err;
	server->cm_source = (struct tgt_loop_source){server->cm->fd, on_channel, server};
	rc = tgt_loop_add(&server->loop, &server->cm_source);
	if (rc)
		goto err;
	return 0;
err:
	tgt_listener_fini(server);
	return rc;
}

/*
 * Is the device's UDP port 4791 at @addr taken by another program? Asked once a wildcard listens,
 * so that the device's sockets are as they will be.
 */
static bool device_is_taken(const struct tgt_server *server, union tgt_sockaddr *addr)
{
	struct rdma_cm_id *id;
	bool is_bound;

	if (rdma_create_id(server->cm, &id, NULL, RDMA_PS_TCP))
		return false;
	is_bound = !rdma_bind_addr(id, &addr->sa);
	rdma_destroy_id(id);
	return !is_bound && roce_port_is_taken(addr);
}

/* A wildcard needs one address left, other than loopback if this machine has others. */
static int check_wildcard(const struct tgt_server *server, const union tgt_sockaddr *any,
			  struct tgt_err *err)
{
	char text[sizeof(err->text) / 2] = "", addr[TGT_ADDR_TEXT];
	union tgt_sockaddr sa;
	size_t i, at = 0;

	for (i = 0; i < server->n_devices; i++) {
		if (!tgt_device_addr(&server->devices[i], any->sa.sa_family, &sa))
			continue;
		if (!device_is_taken(server, &sa)) {
			if (!is_loopback(&sa))
				return 0;
			continue;
		}
		tgt_addr_format(&sa.sa, addr);
		if (at < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? ", " : "",
					       addr);
	}
	return at ? taken_error(err, text) : 0;
}

/* For a wildcard: the addresses that a host may use, since nobody can connect to "any". */
static void log_listening(const struct tgt_server *server, const struct sockaddr *any)
{
	char text[1024], addr[TGT_ADDR_TEXT];
	union tgt_sockaddr sa;
	size_t i, at;

	tgt_addr_format(any, addr);
	at = (size_t)snprintf(text, sizeof(text), strchr(addr, ':') ? "[%s]:%u" : "%s:%u", addr,
			      tgt_addr_port(any));
	for (i = 0; i < server->n_devices && tgt_addr_is_any(any); i++) {
		const struct tgt_device *device = &server->devices[i];

		if (!tgt_device_addr(device, any->sa_family, &sa))
			continue;
		tgt_addr_format(&sa.sa, addr);
		if (device_is_taken(server, &sa))
			tgt_log_warning("not listening on %s on %s: its UDP port %d (RoCEv2) is"
					" taken by another program",
					addr, device->name, ROCE_UDP_PORT);
		else if (at < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at, ", %s on %s", addr,
					       device->name);
	}
	tgt_log("listening on %s", text);
}

int tgt_listener_listen(struct tgt_server *server, struct tgt_err *err)
{
	size_t i;

	for (i = 0; i < server->n_listeners; i++) {
		struct tgt_listener *listener = &server->listeners[i];

		if (rdma_listen(listener->id, BACKLOG))
			return listen_error(err, errno, &listener->port->addr);
		if (tgt_addr_is_any(&listener->port->addr.sa) &&
		    check_wildcard(server, &listener->port->addr, err))
			return -EADDRINUSE;
		listener->port->is_bound = true;
	}
	return 0;
}

void tgt_listener_announce(const struct tgt_server *server)
{
	size_t i;

	for (i = 0; i < server->n_listeners; i++)
		log_listening(server, &server->listeners[i].port->addr.sa);
}

void tgt_listener_close(struct tgt_server *server)
{
	while (server->n_listeners)
		rdma_destroy_id(server->listeners[--server->n_listeners].id);
}

void tgt_listener_fini(struct tgt_server *server)
{
	tgt_listener_close(server);
	if (!server->cm)
		return;
	if (server->cm_source.ready)
		tgt_loop_remove(&server->loop, &server->cm_source);
	rdma_destroy_event_channel(server->cm);
	server->cm = NULL;
}
