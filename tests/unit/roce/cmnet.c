/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual network of the connection manager's tests, see cmnet.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cmnet.h"

#define LATENCY MS(1)
/* A packet that is late comes after what was sent this much later. */
#define LATE MS(40)

const uint64_t CMNET_SERVICE = 0x01060000 + 4420;

uint32_t cmnet_random(struct cmnet *net)
{
	net->seed = net->seed * 1664525u + 1013904223u;
	return net->seed >> 8;
}

static bool is_by_chance(struct cmnet *net, unsigned int percent)
{
	return percent && cmnet_random(net) % 100 < percent;
}

/* --- what the engine calls ----------------------------------------------------------------- */

static bool is_to_lose(struct cmnet *net, unsigned int from, uint16_t attr_id)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (net->lose[i].n && net->lose[i].from == from &&
		    net->lose[i].attr_id == attr_id) {
			net->lose[i].n--;
			return true;
		}
	}
	return net->is_cut || is_by_chance(net, net->loss);
}

static void enqueue(struct cmnet *net, unsigned int to, const uint8_t *mad)
{
	struct cmnet_packet *p = &net->packets[net->num_packets++];

	assert_true(net->num_packets <= CMNET_PACKETS);
	p->at = net->now + LATENCY + (is_by_chance(net, net->late) ? LATE : 0);
	p->to = to;
	memcpy(p->mad, mad, sizeof(p->mad));
}

static void on_send(void *arg, const struct roce_cm_path *path, const uint8_t *mad)
{
	struct cmnet_node *node = arg;
	struct cmnet *net = node->net;
	unsigned int from = (unsigned int)(node - net->nodes);
	struct roce_cm_msg msg;

	assert_memory_equal(path->remote_gid, node->path.remote_gid, 16);
	assert_int_equal(roce_cm_decode(mad, ROCE_CM_MAD_BYTES, &msg), 0);
	node->sent[msg.hdr.attr_id]++;
	if (msg.hdr.attr_id == 0x12)
		node->last_rej = msg.body.rej.reason;
	if (is_to_lose(net, from, msg.hdr.attr_id))
		return;
	enqueue(net, !from, mad);
	if (is_by_chance(net, net->dup))
		enqueue(net, !from, mad);
}

static struct cmnet_conn *take_conn(struct cmnet_node *node)
{
	for (unsigned int i = 0; i < CMNET_CONNS; i++) {
		struct cmnet_conn *c = &node->conns[i];

		if (c->is_used)
			continue;
		memset(c, 0, sizeof(*c));
		c->is_used = true;
		c->answer_at = ROCE_CM_NEVER;
		return c;
	}
	return NULL;
}

static uint16_t on_incoming(void *arg, struct roce_cm_listener *l, const struct roce_cm_path *path,
			    const struct roce_cm_req *req, struct roce_cm_conn **ret_conn)
{
	struct cmnet_node *node = arg;
	struct cmnet_conn *c = node->is_full ? NULL : take_conn(node);

	assert_ptr_equal(l, &node->listener);
	assert_int_equal(req->service_id, CMNET_SERVICE);
	assert_memory_equal(path->remote_gid, req->local_gid, 16);
	if (!c)
		return ROCE_CM_REJ_NO_RESOURCES;
	*ret_conn = &c->conn;
	return 0;
}

static void on_event(void *arg, struct roce_cm_conn *conn, const struct roce_cm_event *event)
{
	struct cmnet_node *node = arg;
	struct cmnet_conn *c = (struct cmnet_conn *)conn;

	assert_true(c->is_used);
	c->heard[event->type]++;
	c->status = event->status;
	switch (event->type) {
	case ROCE_CM_EV_REQ:
		memcpy(c->private_data, event->msg->body.req.private_data, ROCE_CM_REQ_PRIVATE);
		if (node->answer_after != ROCE_CM_NEVER)
			c->answer_at = node->net->now + node->answer_after;
		break;
	case ROCE_CM_EV_REP:
		memcpy(c->private_data, event->msg->body.rep.private_data, ROCE_CM_REP_PRIVATE);
		assert_int_equal(roce_cm_ready(&node->cm, conn), 0);
		break;
	case ROCE_CM_EV_REJECTED:
		if (event->msg)
			memcpy(c->private_data, event->msg->body.rej.private_data,
			       ROCE_CM_REJ_PRIVATE);
		break;
	default:
		assert_null(event->msg);
	}
}

static const struct roce_cm_ops ops = {on_send, on_incoming, on_event};

/* --- set-up -------------------------------------------------------------------------------- */

void cmnet_reboot(struct cmnet *net, unsigned int i, uint64_t random)
{
	struct cmnet_node *node = &net->nodes[i];

	memset(node, 0, sizeof(*node));
	node->net = net;
	node->next_qpn = 100;
	roce_cm_init(&node->cm, &ops, node, random);
	node->path.port = node;
	node->path.mtu = 3;
	node->path.ca_guid = 0xaa00 + i;
	node->path.local_gid[15] = (uint8_t)(1 + i);
	node->path.remote_gid[15] = (uint8_t)(2 - i);
	node->listener.service_id = CMNET_SERVICE;
	node->listener.any_address = true;
	if (i == CMNET_B)
		assert_int_equal(roce_cm_listen(&node->cm, &node->listener), 0);
}

struct cmnet *cmnet_new(uint32_t seed)
{
	struct cmnet *net = calloc(1, sizeof(*net));

	assert_non_null(net);
	net->seed = seed;
	net->now = SECS(100);
	cmnet_reboot(net, CMNET_A, 0x1111222200000010u);
	cmnet_reboot(net, CMNET_B, 0x33334444fffffff0u); /* ids wrap soon */
	return net;
}

struct cmnet_conn *cmnet_connect(struct cmnet *net, unsigned int from, uint32_t qpn)
{
	struct cmnet_node *node = &net->nodes[from];
	struct cmnet_conn *c = take_conn(node);
	struct roce_cm_req req = {
		.service_id = CMNET_SERVICE,
		.qpn = qpn,
		.starting_psn = 0xfffff0 + qpn % 16,
		.responder_resources = 16,
		.initiator_depth = 4,
		.remote_timeout = ROCE_CM_RESPONSE_TIMEOUT,
		.local_timeout = ROCE_CM_RESPONSE_TIMEOUT,
		.retry_count = 7,
		.rnr_retry_count = 6,
		.max_cm_retries = ROCE_CM_MAX_RETRIES,
		.mtu = node->path.mtu,
		.pkey = 0xffff,
		.ack_timeout = 16,
		.private_data = "what A says",
	};

	assert_non_null(c);
	assert_int_equal(roce_cm_connect(&node->cm, &c->conn, &node->path, &req, net->now), 0);
	return c;
}

void cmnet_accept(struct cmnet_node *node, struct cmnet_conn *c)
{
	struct roce_cm_rep rep = {
		.qpn = node->next_qpn++,
		.starting_psn = 0x123456,
		.responder_resources = 4,
		.initiator_depth = 8,
		.target_ack_delay = ROCE_CM_TARGET_ACK_DELAY,
		.rnr_retry_count = 7,
		.private_data = "what B says",
	};

	assert_int_equal(roce_cm_accept(&node->cm, &c->conn, &rep, node->net->now), 0);
}

void cmnet_disconnect(struct cmnet_node *node, struct cmnet_conn *c)
{
	assert_int_equal(roce_cm_disconnect(&node->cm, &c->conn, node->net->now), 0);
}

void cmnet_detach(struct cmnet_node *node, struct cmnet_conn *c)
{
	roce_cm_detach(&node->cm, &c->conn, node->net->now);
	c->is_used = false;
}

void cmnet_lose(struct cmnet *net, unsigned int from, uint16_t attr_id, unsigned int n)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (net->lose[i].n)
			continue;
		net->lose[i].from = from;
		net->lose[i].attr_id = attr_id;
		net->lose[i].n = n;
		return;
	}
	fail_msg("too many kinds of loss");
}

struct cmnet_conn *cmnet_nth(struct cmnet_node *node, unsigned int n)
{
	for (unsigned int i = 0; i < CMNET_CONNS; i++) {
		if (node->conns[i].is_used && n-- == 0)
			return &node->conns[i];
	}
	return NULL;
}

/* --- time ---------------------------------------------------------------------------------- */

static void deliver(struct cmnet *net)
{
	struct cmnet_packet packet;
	struct cmnet_node *node;

	for (unsigned int i = 0; i < net->num_packets;) {
		if (net->packets[i].at > net->now) {
			i++;
			continue;
		}
		packet = net->packets[i];
		net->num_packets--;
		memmove(&net->packets[i], &net->packets[i + 1],
			(net->num_packets - i) * sizeof(packet));
		node = &net->nodes[packet.to];
		roce_cm_recv(&node->cm, &node->path, packet.mad, sizeof(packet.mad), net->now);
	}
}

static void decide(struct cmnet_node *node)
{
	for (unsigned int i = 0; i < CMNET_CONNS; i++) {
		struct cmnet_conn *c = &node->conns[i];

		if (!c->is_used || c->answer_at > node->net->now)
			continue;
		c->answer_at = ROCE_CM_NEVER;
		if (c->conn.state != ROCE_CM_REQ_RCVD)
			continue; /* the peer gave up meanwhile */
		if (node->rejects_with)
			assert_int_equal(roce_cm_reject(&node->cm, &c->conn, node->rejects_with,
							"no, thanks", 11),
					 0);
		else
			cmnet_accept(node, c);
	}
}

static uint64_t next_thing(const struct cmnet *net)
{
	uint64_t next = ROCE_CM_NEVER;

	for (unsigned int i = 0; i < net->num_packets; i++) {
		if (net->packets[i].at < next)
			next = net->packets[i].at;
	}
	for (unsigned int n = 0; n < CMNET_NODES; n++) {
		const struct cmnet_node *node = &net->nodes[n];

		if (roce_cm_next_deadline(&node->cm) < next)
			next = roce_cm_next_deadline(&node->cm);
		for (unsigned int i = 0; i < CMNET_CONNS; i++) {
			if (node->conns[i].is_used && node->conns[i].answer_at < next)
				next = node->conns[i].answer_at;
		}
	}
	return next;
}

void cmnet_run(struct cmnet *net, uint64_t duration)
{
	uint64_t end = net->now + duration;
	uint64_t next;

	while ((next = next_thing(net)) <= end) {
		if (next > net->now)
			net->now = next;
		deliver(net);
		for (unsigned int n = 0; n < CMNET_NODES; n++) {
			roce_cm_expire(&net->nodes[n].cm, net->now);
			decide(&net->nodes[n]);
		}
	}
	net->now = end;
}
