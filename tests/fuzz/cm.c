/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection manager engine under arbitrary MADs and arbitrary decisions of its owner. Input: a
 * sequence of steps; the first byte of each says what: a MAD (its class header put right, so that
 * what follows is reached), an accept, reject, disconnect, detach or connect, or time that passes.
 * Connections are on the heap, so a sanitizer sees one that is used after it was detached.
 */
#include <infiniband/umad_cm.h>
#include <infiniband/umad_types.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "roce/cm/fsm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MAX_CONNS = 16,
	MAX_STEPS = 64,
	SERVICE_PORT = 4420,
};

struct owner {
	struct roce_cm cm;
	struct roce_cm_conn *conns[MAX_CONNS];
	unsigned int sent;
};

static void on_send(void *arg, const struct roce_cm_path *path, const uint8_t *mad)
{
	struct owner *owner = arg;
	struct roce_cm_msg msg;

	(void)path;
	/* What we send, we understand. */
	if (roce_cm_decode(mad, ROCE_CM_MAD_BYTES, &msg) < 0)
		abort();
	owner->sent++;
}

static struct roce_cm_conn **free_slot(struct owner *owner)
{
	for (unsigned int i = 0; i < MAX_CONNS; i++)
		if (!owner->conns[i])
			return &owner->conns[i];
	return NULL;
}

static uint16_t on_incoming(void *arg, struct roce_cm_listener *listener,
			    const struct roce_cm_path *path, const struct roce_cm_req *req,
			    struct roce_cm_conn **ret_conn)
{
	struct roce_cm_conn **slot = free_slot(arg);

	(void)listener;
	(void)path;
	(void)req;
	if (slot)
		*slot = calloc(1, sizeof(**slot));
	if (!slot || !*slot)
		return ROCE_CM_REJ_NO_RESOURCES;
	*ret_conn = *slot;
	return 0;
}

static void on_event(void *arg, struct roce_cm_conn *conn, const struct roce_cm_event *event)
{
	(void)arg;
	(void)conn;
	if (event->type >= ROCE_CM_EVENTS)
		abort();
}

static const struct roce_cm_ops ops = {
	.send = on_send,
	.incoming = on_incoming,
	.event = on_event,
};

static void start_connect(struct owner *owner, const struct roce_cm_path *path, uint64_t now)
{
	struct roce_cm_conn **slot = free_slot(owner);
	struct roce_cm_req req = {
		.service_id = 0x1060000 + SERVICE_PORT,
		.qpn = 100,
		.remote_timeout = 17,
		.local_timeout = 17,
		.max_cm_retries = 2,
		.retry_count = 7,
		.mtu = 3,
		.pkey = 0xffff,
	};

	if (!slot)
		return;
	*slot = calloc(1, sizeof(**slot));
	if (*slot && roce_cm_connect(&owner->cm, *slot, path, &req, now) < 0) {
		free(*slot);
		*slot = NULL;
	}
}

static void decide(struct owner *owner, uint8_t what, uint8_t which, uint64_t now)
{
	struct roce_cm_conn **conn = &owner->conns[which % MAX_CONNS];
	struct roce_cm_rep rep = {.qpn = 200u + which, .rnr_retry_count = 7};

	if (!*conn)
		return;
	switch (what % 5) {
	case 0:
		roce_cm_prepare_accept(*conn, &rep);
		(void)roce_cm_accept(&owner->cm, *conn, &rep, now);
		break;
	case 1:
		(void)roce_cm_reject(&owner->cm, *conn, ROCE_CM_REJ_CONSUMER, &rep, 4);
		break;
	case 2:
		(void)roce_cm_disconnect(&owner->cm, *conn, now);
		break;
	case 3:
		(void)roce_cm_ready(&owner->cm, *conn);
		break;
	case 4:
		roce_cm_detach(&owner->cm, *conn, now);
		free(*conn);
		*conn = NULL;
		break;
	}
}

/* A MAD out of data; returns how many bytes it took. */
static size_t input_mad(struct owner *owner, struct roce_cm_path *path, const uint8_t *data,
			size_t size, uint64_t now)
{
	uint8_t mad[ROCE_CM_MAD_BYTES] = {0};
	size_t n = size < sizeof(mad) ? size : sizeof(mad);

	memcpy(mad, data, n);
	mad[0] = UMAD_BASE_VERSION;
	mad[1] = UMAD_CLASS_CM;
	mad[2] = 2; /* of the CM class, IBTA 16.7.1 */
	mad[3] = UMAD_METHOD_SEND;
	mad[4] = mad[5] = 0;
	path->remote_gid[15] = mad[8] % 3;
	roce_cm_recv(&owner->cm, path, mad, sizeof(mad), now);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct owner *owner = calloc(1, sizeof(*owner));
	struct roce_cm_listener listener = {
		.service_id = 0x1060000 + SERVICE_PORT,
		.any_address = true,
		.backlog = 8,
	};
	struct roce_cm_path path = {.local_gid = {[10] = 0xff, [11] = 0xff, [15] = 1},
				    .remote_gid = {[10] = 0xff, [11] = 0xff, [15] = 2},
				    .mtu = 3,
				    .ca_guid = 1};
	uint64_t now = 1000;
	size_t at = 0;

	if (!owner)
		return 0;
	roce_cm_init(&owner->cm, &ops, owner, 1);
	if (roce_cm_listen(&owner->cm, &listener) < 0)
		abort();
	for (unsigned int step = 0; step < MAX_STEPS && at + 2 < size; step++) {
		uint8_t what = data[at], which = data[at + 1];

		at += 2;
		if (what < 160)
			at += input_mad(owner, &path, data + at, size - at, now);
		else if (what < 200)
			decide(owner, what, which, now);
		else if (what < 210)
			start_connect(owner, &path, now);
		else
			now += (uint64_t)which << (what % 32);
		if (roce_cm_next_deadline(&owner->cm) <= now)
			roce_cm_expire(&owner->cm, now);
	}
	for (unsigned int i = 0; i < MAX_CONNS; i++)
		if (owner->conns[i]) {
			roce_cm_detach(&owner->cm, owner->conns[i], now);
			free(owner->conns[i]);
		}
	roce_cm_unlisten(&owner->cm, &listener);
	free(owner);
	return 0;
}
