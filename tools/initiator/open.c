/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a queue: its memory and verbs objects, in the order of struct ini_queue, and their
 * end. The CM handshake between is in cm.c, commands are in command.c.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

#define STEP_QP "create queue pair"
#define PAGE	4096u
/* How long a polite disconnect may take. */
#define DISCONNECT_MS 2000

/* ---- memory: [commands][responses][data], data page aligned ---- */

static size_t commands_bytes(const struct ini_queue *queue)
{
	return (size_t)queue->entries * sizeof(struct ini_sqe);
}

static size_t data_offset(const struct ini_queue *queue)
{
	size_t bytes = commands_bytes(queue) + (size_t)queue->entries * INI_RESPONSE_BYTES;

	return (bytes + PAGE - 1) / PAGE * PAGE;
}

size_t ini_memory_bytes(const struct ini_queue *queue)
{
	return data_offset(queue) + (size_t)queue->entries * queue->slot_bytes;
}

struct ini_sqe *ini_slot_sqe(const struct ini_queue *queue, uint16_t tag)
{
	return (struct ini_sqe *)queue->memory + tag;
}

uint8_t *ini_response(const struct ini_queue *queue, unsigned int index)
{
	return queue->memory + commands_bytes(queue) + (size_t)index * INI_RESPONSE_BYTES;
}

void *ini_data(struct ini_queue *queue, uint16_t tag)
{
	return queue->memory + data_offset(queue) + (size_t)tag * queue->slot_bytes;
}

/* ---- verbs resources ---- */

static int create_memory(struct ini_queue *queue)
{
	size_t bytes = ini_memory_bytes(queue);
	void *memory;

	queue->slots = calloc(queue->entries, sizeof(*queue->slots));
	if (!queue->slots)
		return -ENOMEM;
	if (posix_memalign(&memory, PAGE, (bytes + PAGE - 1) / PAGE * PAGE))
		return -ENOMEM;
	memset(memory, 0, bytes);
	queue->memory = memory;
	queue->mr = ibv_reg_mr(queue->pd, memory, bytes,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_WRITE);
	return queue->mr ? 0 : -errno;
}

static int create_qp(struct ini_queue *queue)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = queue->cq,
		.recv_cq = queue->cq,
		.cap =
			{
				.max_send_wr = queue->sq_capacity,
				.max_recv_wr = queue->entries,
				.max_send_sge = 2,
				.max_recv_sge = 1,
			},
	};
	unsigned int i;
	int rc;

	if (rdma_create_qp(queue->id, queue->pd, &attr))
		return -errno;
	for (i = 0; i < queue->entries; i++) {
		rc = ini_post_response(queue, i);
		if (rc)
			return rc;
	}
	return 0;
}

/* What is made here is undone by free_queue, whatever the result. */
static int create_resources(struct ini_queue *queue, struct ini_error *error)
{
	const char *what = "protection domain";
	int rc;

	errno = ENODEV;
	queue->pd = queue->id->verbs ? ibv_alloc_pd(queue->id->verbs) : NULL;
	if (!queue->pd)
		goto from_errno;
	what = "completion channel";
	queue->comp = ibv_create_comp_channel(queue->id->verbs);
	if (!queue->comp)
		goto from_errno;
	what = "completion queue";
	queue->sq_capacity = 2 * queue->entries + 8;
	queue->cq = ibv_create_cq(queue->id->verbs, (int)(queue->sq_capacity + queue->entries),
				  NULL, queue->comp, 0);
	if (!queue->cq)
		goto from_errno;

	rc = create_memory(queue);
	if (rc)
		return ini_fail(error, rc, STEP_QP, "%zu bytes of memory: %s",
				ini_memory_bytes(queue), strerror(-rc));
	rc = create_qp(queue);
	if (rc)
		return ini_fail(error, rc, STEP_QP, "queue pair of %u: %s", queue->entries,
				strerror(-rc));
	return 0;

from_errno:
	rc = -errno;
	return ini_fail(error, rc, STEP_QP, "%s: %s", what, strerror(-rc));
}

static void free_queue(struct ini_queue *queue)
{
	unsigned int i;

	if (queue->id && queue->id->qp)
		rdma_destroy_qp(queue->id);
	for (i = 0; queue->slots && i < queue->entries; i++)
		if (queue->slots[i].own_mr)
			(void)ibv_dereg_mr(queue->slots[i].own_mr);
	if (queue->mr)
		(void)ibv_dereg_mr(queue->mr);
	if (queue->cq) {
		if (queue->cq_events)
			ibv_ack_cq_events(queue->cq, queue->cq_events);
		(void)ibv_destroy_cq(queue->cq);
	}
	if (queue->comp)
		(void)ibv_destroy_comp_channel(queue->comp);
	if (queue->pd)
		(void)ibv_dealloc_pd(queue->pd);
	if (queue->id)
		(void)rdma_destroy_id(queue->id);
	if (queue->channel)
		rdma_destroy_event_channel(queue->channel);
	free(queue->slots);
	free(queue->memory);
	free(queue);
}

/* ---- open and close ---- */

static int check_params(const struct ini_params *params, struct ini_error *error)
{
	if (!params->addr)
		return ini_fail(error, -EINVAL, "parameters", "no address");
	if (params->entries == 1 || params->entries > INI_ENTRIES_MAX)
		return ini_fail(error, -EINVAL, "parameters", "queue size %u (2 to %u)",
				params->entries, INI_ENTRIES_MAX);
	if (params->slot_bytes > INI_SLOT_BYTES_MAX)
		return ini_fail(error, -EINVAL, "parameters", "data buffer of %u bytes (up to %u)",
				params->slot_bytes, INI_SLOT_BYTES_MAX);
	if (params->private_bytes > INI_PRIVATE_BYTES_MAX)
		return ini_fail(error, -EINVAL, "parameters", "private data of %u bytes (up to %u)",
				params->private_bytes, INI_PRIVATE_BYTES_MAX);
	return 0;
}

static void copy_params(struct ini_queue *queue, const struct ini_params *params)
{
	char hostnqn[NVME_NQN_LENGTH];

	ini_host_identity(hostnqn, queue->hostid);
	if (params->hostid)
		memcpy(queue->hostid, params->hostid, sizeof(queue->hostid));
	snprintf(queue->hostnqn, sizeof(queue->hostnqn), "%s",
		 params->hostnqn ? params->hostnqn : hostnqn);
	snprintf(queue->subnqn, sizeof(queue->subnqn), "%s",
		 params->subnqn ? params->subnqn : INI_DISCOVERY_NQN);
	queue->qid = params->qid;
	queue->cntlid = params->qid ? params->cntlid : INI_CNTLID_DYNAMIC;
	queue->entries = params->entries ? params->entries : INI_ADMIN_ENTRIES;
	queue->kato_ms = params->kato_ms;
	/* Connect data and Identify need a page. */
	queue->slot_bytes = params->slot_bytes > PAGE ? params->slot_bytes : PAGE;
	queue->timeout_ms = params->timeout_ms ? params->timeout_ms : INI_TIMEOUT_MS;
	queue->spin_us = params->spin_us;
}

static void describe(struct ini_queue *queue)
{
	char local[INET6_ADDRSTRLEN + 16] = "?", remote[INET6_ADDRSTRLEN + 16] = "?";

	(void)getnameinfo(rdma_get_local_addr(queue->id), sizeof(struct sockaddr_in6), local,
			  sizeof(local), NULL, 0, NI_NUMERICHOST);
	(void)getnameinfo(rdma_get_peer_addr(queue->id), sizeof(struct sockaddr_in6), remote,
			  sizeof(remote), NULL, 0, NI_NUMERICHOST);
	snprintf(queue->description, sizeof(queue->description), "%s, %s to %s",
		 ibv_get_device_name(queue->id->verbs->device), local, remote);
}

int ini_open(struct ini_queue **ret, const struct ini_params *params, struct ini_error *error)
{
	struct ini_queue *queue;
	uint64_t deadline_ns;
	int rc;

	rc = check_params(params, error);
	if (rc)
		return rc;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return ini_fail(error, -ENOMEM, "parameters", "out of memory");
	copy_params(queue, params);
	deadline_ns = ini_deadline_ns(queue->timeout_ms);

	rc = ini_cm_open(queue, error);
	if (rc)
		goto err_free;
	rc = ini_resolve(queue, params, deadline_ns, error);
	if (rc)
		goto err_free;
	rc = create_resources(queue, error);
	if (rc)
		goto err_free;
	rc = ini_cm_connect(queue, params, deadline_ns, error);
	if (rc)
		goto err_free;
	describe(queue);
	*ret = queue;
	return 0;

err_free:
	free_queue(queue);
	return rc;
}

void ini_close(struct ini_queue *queue)
{
	uint64_t deadline_ns = ini_deadline_ns(DISCONNECT_MS);
	struct rdma_cm_event *event;

	if (!queue)
		return;
	if (queue->is_connected && rdma_disconnect(queue->id) == 0) {
		bool is_over = false;

		while (!is_over && ini_next_event(queue, deadline_ns, &event) == 0) {
			is_over = event->event == RDMA_CM_EVENT_DISCONNECTED;
			(void)rdma_ack_cm_event(event);
		}
	}
	free_queue(queue);
}

void ini_abandon(struct ini_queue *queue)
{
	if (queue)
		free_queue(queue);
}

/* ---- facts ---- */

uint16_t ini_entries(const struct ini_queue *queue)
{
	return queue->entries;
}

unsigned int ini_outstanding(const struct ini_queue *queue)
{
	return queue->outstanding;
}

bool ini_is_connected(struct ini_queue *queue)
{
	ini_take_cm_events(queue);
	return queue->is_connected;
}

uint16_t ini_crqsize(const struct ini_queue *queue)
{
	return queue->crqsize;
}

const char *ini_describe(const struct ini_queue *queue)
{
	return queue->description;
}

uint32_t ini_rkey(const struct ini_queue *queue)
{
	return queue->mr->rkey;
}
