/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection manager's side of a queue: event channel, address, route, and the handshake with
 * the NVMe/RDMA private data. Verbs resources are in open.c.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "queue.h"

#define STEP_ADDR    "resolve address"
#define STEP_ROUTE   "resolve route"
#define STEP_CONNECT "connect"

/* READs that the target may have outstanding towards us: what Linux offers, IBTA's field is 8 bit.
 */
#define RESPONDER_RESOURCES_MAX 128
/* 7 is "for ever" for RNR and the most for retries, IBTA 9.7.5.2.8 and 12.7.38. */
#define RETRY_COUNT 7
/* REJ: the consumer refused, and only then there is private data of its own, IBTA 12.6.7.2. */
#define REJ_CONSUMER 28

int ini_cm_open(struct ini_queue *queue, struct ini_error *error)
{
	int flags, rc;

	queue->channel = rdma_create_event_channel();
	if (!queue->channel)
		goto from_errno;
	flags = fcntl(queue->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(queue->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		goto from_errno;
	if (rdma_create_id(queue->channel, &queue->id, NULL, RDMA_PS_TCP))
		goto from_errno;
	return 0;

from_errno:
	rc = -errno;
	return ini_fail(error, rc, STEP_ADDR, "no RDMA connection manager: %s", strerror(-rc));
}

/* ---- connection manager events ---- */

int ini_next_event(struct ini_queue *queue, uint64_t deadline_ns, struct rdma_cm_event **event)
{
	for (;;) {
		struct pollfd pfd = {.fd = queue->channel->fd, .events = POLLIN};
		int n = poll(&pfd, 1, ini_left_ms(deadline_ns));

		if (n == 0)
			return -ETIMEDOUT;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			continue;
		if (rdma_get_cm_event(queue->channel, event) == 0)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

void ini_take_cm_events(struct ini_queue *queue)
{
	struct rdma_cm_event *event;

	while (ini_next_event(queue, 0, &event) == 0) {
		enum rdma_cm_event_type type = event->event;

		(void)rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_DISCONNECTED)
			(void)ini_die(queue, NULL, -ECONNRESET, "the target ended the connection");
		else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL)
			(void)ini_die(queue, NULL, -ENODEV, "the RDMA device went away");
	}
}

static int rejected(const struct rdma_cm_event *event, struct ini_error *error)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	struct ini_cm_rej rej = {0};
	uint16_t sts = 0;

	if (event->status == REJ_CONSUMER && conn->private_data &&
	    conn->private_data_len >= sizeof(rej)) {
		memcpy(&rej, conn->private_data, sizeof(rej));
		if (rej.recfmt == 0)
			sts = le16toh(rej.sts);
	}
	if (sts)
		(void)ini_fail(error, -ECONNREFUSED, STEP_CONNECT,
			       "rejected: %s (NVMe/RDMA status %u)", ini_rdma_status_str(sts), sts);
	else
		(void)ini_fail(error, -ECONNREFUSED, STEP_CONNECT, "rejected: %s (CM reason %d)",
			       ini_cm_reason_str(event->status), event->status);
	if (error) {
		error->cm_reason = event->status;
		error->rdma_status = sts;
	}
	return -ECONNREFUSED;
}

/* Wait for one certain event; anything else is the reason of failure. */
static int expect_event(struct ini_queue *queue, enum rdma_cm_event_type want, uint64_t deadline_ns,
			const char *step, struct ini_error *error)
{
	struct rdma_cm_event *event;
	int rc = ini_next_event(queue, deadline_ns, &event);

	if (rc == -ETIMEDOUT)
		return ini_fail(error, rc, step, "no answer in time");
	if (rc)
		return ini_fail(error, rc, step, "event channel: %s", strerror(-rc));

	if (event->event == want) {
		const struct rdma_conn_param *conn = &event->param.conn;
		struct ini_cm_rep rep;

		if (want == RDMA_CM_EVENT_ESTABLISHED && conn->private_data &&
		    conn->private_data_len >= sizeof(rep)) {
			memcpy(&rep, conn->private_data, sizeof(rep));
			queue->crqsize = le16toh(rep.crqsize);
		}
	} else if (event->event == RDMA_CM_EVENT_REJECTED) {
		rc = rejected(event, error);
	} else if (event->event == RDMA_CM_EVENT_UNREACHABLE) {
		rc = ini_fail(error, -ETIMEDOUT, step, "no answer from the target");
	} else {
		rc = event->status < 0 ? event->status : -EIO;
		(void)ini_fail(error, rc, step, "%s: %s", rdma_event_str(event->event),
			       strerror(-rc));
	}
	(void)rdma_ack_cm_event(event);
	return rc;
}

/* ---- address and route ---- */

static int lookup(const char *host, const char *port, int family, struct addrinfo **info,
		  struct ini_error *error)
{
	struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};
	int rc = getaddrinfo(host, port, &hints, info);

	if (rc)
		return ini_fail(error, -EINVAL, STEP_ADDR, "%s: %s", host, gai_strerror(rc));
	return 0;
}

/* Soft RoCE: the device that this machine would use is another process's. */
static int resolve_failed(int rc, const struct ini_params *params, struct ini_error *error)
{
	if (rc != -EADDRINUSE)
		return ini_fail(error, rc, STEP_ADDR, "%s: %s", params->addr, strerror(-rc));
	return ini_fail(error, rc, STEP_ADDR,
			"another process on this machine has UDP port 4791 of the device; if it is"
			" the target, use the 127.0.0.x address that its log names");
}

int ini_resolve(struct ini_queue *queue, const struct ini_params *params, uint64_t deadline_ns,
		struct ini_error *error)
{
	struct addrinfo *dst = NULL, *src = NULL;
	char port[8];
	int rc;

	snprintf(port, sizeof(port), "%u", params->port ? params->port : INI_PORT_DEFAULT);
	rc = lookup(params->addr, port, AF_UNSPEC, &dst, error);
	if (rc)
		return rc;
	if (params->source) {
		rc = lookup(params->source, NULL, dst->ai_family, &src, error);
		if (rc)
			goto out;
	}

	if (rdma_resolve_addr(queue->id, src ? src->ai_addr : NULL, dst->ai_addr,
			      ini_left_ms(deadline_ns))) {
		rc = -errno;
		(void)resolve_failed(rc, params, error);
		goto out;
	}
	rc = expect_event(queue, RDMA_CM_EVENT_ADDR_RESOLVED, deadline_ns, STEP_ADDR, error);
	if (rc == -EADDRINUSE)
		(void)resolve_failed(rc, params, error);
	if (rc)
		goto out;

	if (rdma_resolve_route(queue->id, ini_left_ms(deadline_ns))) {
		rc = -errno;
		(void)ini_fail(error, rc, STEP_ROUTE, "%s", strerror(-rc));
		goto out;
	}
	rc = expect_event(queue, RDMA_CM_EVENT_ROUTE_RESOLVED, deadline_ns, STEP_ROUTE, error);
out:
	if (src)
		freeaddrinfo(src);
	freeaddrinfo(dst);
	return rc;
}

/* ---- handshake ---- */

static uint8_t responder_resources(struct ibv_context *verbs)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(verbs, &attr) || attr.max_qp_rd_atom < 1)
		return 1;
	return attr.max_qp_rd_atom > RESPONDER_RESOURCES_MAX ? RESPONDER_RESOURCES_MAX
							     : (uint8_t)attr.max_qp_rd_atom;
}

int ini_cm_connect(struct ini_queue *queue, const struct ini_params *params, uint64_t deadline_ns,
		   struct ini_error *error)
{
	struct ini_cm_req req = {
		.qid = htole16(queue->qid),
		.hrqsize = htole16(queue->entries),
		.hsqsize = htole16(queue->entries - 1),
	};
	struct rdma_conn_param conn = {
		.private_data = params->private_data ? params->private_data : &req,
		.private_data_len = params->private_data ? params->private_bytes : sizeof(req),
		.responder_resources = responder_resources(queue->id->verbs),
		.flow_control = 1,
		.retry_count = RETRY_COUNT,
		.rnr_retry_count = RETRY_COUNT,
	};
	int rc;

	if (rdma_connect(queue->id, &conn)) {
		rc = -errno;
		return ini_fail(error, rc, STEP_CONNECT, "%s", strerror(-rc));
	}
	rc = expect_event(queue, RDMA_CM_EVENT_ESTABLISHED, deadline_ns, STEP_CONNECT, error);
	if (rc == 0)
		queue->is_connected = true;
	return rc;
}
