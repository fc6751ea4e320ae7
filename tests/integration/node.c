/* SPDX-License-Identifier: Apache-2.0 */
/* The control thread of node.h. */
#include "node.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <doca_sta_stats.h>

void node_fail(struct node *node, const char *what)
{
	fprintf(stderr, "node: %s\n", what);
	atomic_fetch_add(&node->num_errors, 1);
}

void node_check(struct node *node, doca_error_t rc, const char *what)
{
	if (rc == DOCA_SUCCESS)
		return;
	fprintf(stderr, "node: %s: %s\n", what, doca_error_get_descr(rc));
	atomic_fetch_add(&node->num_errors, 1);
}

void node_on_state(struct node_states *states, enum doca_ctx_states next)
{
	if (states->num < NODE_STATES)
		states->seen[states->num] = next;
	states->num++;
}

bool node_state_is(const struct node_states *states, enum doca_ctx_states state)
{
	return states->num && states->num <= NODE_STATES && states->seen[states->num - 1] == state;
}

static void on_state(const union doca_data user_data, struct doca_ctx *ctx,
		     enum doca_ctx_states previous, enum doca_ctx_states next)
{
	struct node *node = user_data.ptr;
	enum doca_ctx_states now;

	node_check(node, doca_ctx_get_state(ctx, &now), "state");
	if (now != next || previous == next)
		node_fail(node, "the context is not in the state that is told");
	node_on_state(&node->states, next);
}

/* ---- progress ---- */

/* Sleeps for an event, at most @ms, and handles what is there. */
static void run_once(struct node *node, int ms)
{
	doca_notification_handle_t handle;
	struct pollfd fd = {.events = POLLIN};

	node_check(node, doca_pe_get_notification_handle(node->pe, &handle), "handle");
	fd.fd = handle;
	node_check(node, doca_pe_request_notification(node->pe), "arm");
	(void)poll(&fd, 1, ms);
	node_check(node, doca_pe_clear_notification(node->pe, handle), "clear");
	while (doca_pe_progress(node->pe))
		;
}

void node_run(struct node *node, int ms)
{
	uint64_t end_ns = ini_now_ns() + (uint64_t)ms * 1000000, now_ns;

	while ((now_ns = ini_now_ns()) < end_ns)
		run_once(node, (int)((end_ns - now_ns) / 1000000) + 1);
}

/* The pointer that a task was given becomes NULL when it has ended. */
static void await(struct node *node, void *const *pending, const char *what)
{
	uint64_t end_ns = ini_now_ns() + (uint64_t)NODE_PATIENCE_MS * 1000000;

	while (*pending && ini_now_ns() < end_ns)
		run_once(node, NODE_PATIENCE_MS);
	if (*pending)
		node_fail(node, what);
}

static void on_control_done(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	void **pending = user_data.ptr;
	struct node *node = *pending;

	node->num_completed++;
	*pending = NULL;
	doca_task_free(doca_sta_producer_send_task_as_task(task));
}

static void on_control_failed(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	void **pending = user_data.ptr;

	node_fail(*pending, "a control task failed");
	on_control_done(task, user_data);
}

static void submit_and_await(struct node *node, struct doca_sta_producer_task_send *task,
			     void *const *pending, const char *what)
{
	struct doca_task *t = doca_sta_producer_send_task_as_task(task);
	doca_error_t rc = doca_task_submit(t);

	node_check(node, rc, what);
	if (rc != DOCA_SUCCESS) {
		doca_task_free(t);
		return;
	}
	node->num_submitted++;
	await(node, pending, what);
}

/* ---- events ---- */

static void on_thread_of_control(struct node *node)
{
	if (!pthread_equal(pthread_self(), node->control))
		node_fail(node, "an event of STA on another thread than the control's");
}

static void on_timeout(const struct doca_sta_event_be_timeout *event, union doca_data user_data)
{
	struct node *node = user_data.ptr;

	on_thread_of_control(node);
	pthread_mutex_lock(&node->lock);
	node->events.num_timeouts++;
	(void)doca_sta_event_be_timeout_get_be_handle(event, &node->events.be);
	(void)doca_sta_event_be_timeout_get_be_queue_handle(event, &node->events.beq);
	pthread_mutex_unlock(&node->lock);
}

static void on_eu_error(const struct doca_sta_event_eu_err *event, union doca_data user_data)
{
	const struct doca_sta_eu_handle *eu;
	struct node *node = user_data.ptr;
	uint16_t id;

	on_thread_of_control(node);
	pthread_mutex_lock(&node->lock);
	node->events.num_eu_errors++;
	(void)doca_sta_event_eu_err_is_fatal_error(event, &node->events.is_fatal);
	if (doca_sta_event_eu_err_get_eu_handle(event, &eu) == DOCA_SUCCESS &&
	    doca_sta_get_eu_id(eu, &id) == DOCA_SUCCESS)
		node->events.eus_seen |= 1u << id;
	pthread_mutex_unlock(&node->lock);
}

static void on_cqe(const struct doca_sta_event_cqe_notify *event, union doca_data user_data)
{
	struct node *node = user_data.ptr;
	struct node_events *e = &node->events;

	on_thread_of_control(node);
	pthread_mutex_lock(&node->lock);
	e->num_cqes++;
	(void)doca_sta_event_cqe_notify_get_cqe_notify_type(event, &e->type);
	(void)doca_sta_event_cqe_notify_get_cqe(event, (uint8_t *)&e->cqe);
	(void)doca_sta_event_cqe_notify_get_subsystem_handle(event, &e->subsys);
	(void)doca_sta_event_cqe_notify_get_capsule_params(event, &e->opcode, &e->cid, &e->nsid,
							   &e->lba);
	(void)doca_sta_event_cqe_notify_get_param_err_location(event, &e->err_byte);
	pthread_mutex_unlock(&node->lock);
}

struct node_events node_events(struct node *node)
{
	struct node_events events;

	pthread_mutex_lock(&node->lock);
	events = node->events;
	pthread_mutex_unlock(&node->lock);
	return events;
}

/* ---- bring-up ---- */

static doca_error_t open_device(struct node *node)
{
	struct doca_devinfo **list;
	doca_error_t rc;
	uint32_t n;

	rc = doca_devinfo_create_list(&list, &n);
	if (rc != DOCA_SUCCESS)
		return rc;
	rc = n ? doca_sta_cap_is_supported(list[0]) : DOCA_ERROR_NOT_FOUND;
	if (rc == DOCA_SUCCESS)
		rc = doca_dev_open(list[0], &node->dev);
	(void)doca_devinfo_destroy_list(list);
	return rc;
}

/* Which 127.0.0.x is the device's: another process may take it as long as nothing listens on it. */
static doca_error_t ask_address(struct node *node)
{
	uint8_t ip[4];
	doca_error_t rc =
		doca_devinfo_get_ipv4_addr(doca_dev_as_devinfo(node->dev), ip, sizeof(ip));

	if (rc == DOCA_SUCCESS)
		inet_ntop(AF_INET, ip, node->addr, sizeof(node->addr));
	return rc;
}

static doca_error_t configure_sta(struct node *node)
{
	struct doca_ctx *ctx = doca_sta_as_ctx(node->sta);
	union doca_data self = {.ptr = node};
	doca_error_t rc = doca_sta_add_dev(node->sta, node->dev);

	if (rc == DOCA_SUCCESS)
		rc = doca_ctx_set_user_data(ctx, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_ctx_set_state_changed_cb(ctx, on_state);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_subsystem_task_rm_ns_set_conf(node->sta, on_control_done,
							    on_control_failed);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_be_task_destroy_queue_set_conf(node->sta, on_control_done,
							     on_control_failed);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_set_max_sta_io(node->sta, NODE_IOS);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_event_be_timeout_register_cb(node->sta, on_timeout, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_event_eu_err_register_cb(node->sta, on_eu_error, self);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_event_cqe_notify_register_cb(node->sta, on_cqe, self);
	return rc;
}

/* As callers do: whatever the result, the state callback has told already. */
static doca_error_t start_sta(struct node *node)
{
	struct doca_ctx *ctx = doca_sta_as_ctx(node->sta);
	doca_error_t rc = doca_ctx_start(ctx);

	if (rc == DOCA_ERROR_IN_PROGRESS) {
		if (!node_state_is(&node->states, DOCA_CTX_STATE_STARTING))
			node_fail(node, "STARTING was not told by the start");
		for (int i = 0; i < NODE_PATIENCE_MS && rc == DOCA_ERROR_IN_PROGRESS; i++) {
			run_once(node, 1);
			if (node_state_is(&node->states, DOCA_CTX_STATE_RUNNING))
				rc = DOCA_SUCCESS;
		}
	}
	if (rc == DOCA_SUCCESS && !node_state_is(&node->states, DOCA_CTX_STATE_RUNNING))
		node_fail(node, "RUNNING was not told");
	return rc;
}

static doca_error_t check_eus(struct node *node)
{
	struct doca_sta_eu_handle *eus[64];
	uint32_t n = 64, max;
	doca_error_t rc = doca_sta_get_eu_handle(node->sta, eus, &n);

	if (rc == DOCA_SUCCESS)
		rc = doca_sta_get_max_num_eus_available(node->sta, &max);
	return rc == DOCA_SUCCESS && (!n || n > max) ? DOCA_ERROR_UNEXPECTED : rc;
}

static int start_io(struct node *node, struct node_io *io)
{
	io->node = node;
	io->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (sem_init(&io->is_up, 0, 0) || pthread_create(&io->thread, NULL, node_io_main, io))
		return -1;
	while (sem_wait(&io->is_up))
		;
	node->num_ios++;
	return io->port ? 0 : -1;
}

int node_start(struct node *node, unsigned int num_ios)
{
	doca_error_t rc;

	memset(node, 0, sizeof(*node));
	node->control = pthread_self();
	pthread_mutex_init(&node->lock, NULL);
	rc = open_device(node);
	if (rc == DOCA_SUCCESS)
		rc = doca_sta_create(node->dev, &node->sta);
	if (rc == DOCA_SUCCESS)
		rc = doca_pe_create(&node->pe);
	if (rc == DOCA_SUCCESS)
		rc = doca_pe_connect_ctx(node->pe, doca_sta_as_ctx(node->sta));
	if (rc == DOCA_SUCCESS)
		rc = configure_sta(node);
	if (rc == DOCA_SUCCESS)
		rc = start_sta(node);
	if (rc == DOCA_SUCCESS)
		rc = check_eus(node);
	node_check(node, rc, "start");
	for (unsigned int i = 0; i < num_ios && rc == DOCA_SUCCESS; i++) {
		if (start_io(node, &node->ios[i]))
			return -1;
	}
	if (rc == DOCA_SUCCESS && num_ios) {
		rc = ask_address(node);
		node_check(node, rc, "address");
	}
	return rc == DOCA_SUCCESS ? 0 : -1;
}

/* ---- objects ---- */

struct doca_sta_subs_handle *node_add_subsys(struct node *node, const char *nqn)
{
	struct doca_sta_subs_handle *subsys = NULL;

	node_check(node, doca_sta_subsystem_create(node->sta, nqn, &subsys), "subsystem");
	if (!subsys)
		return NULL;
	node_check(node, doca_sta_subsystem_add_dev(subsys, node->dev), "device of a subsystem");
	pthread_mutex_lock(&node->lock);
	for (int i = 0; i < NODE_SUBSYSTEMS; i++) {
		if (node->subsystems[i].nqn)
			continue;
		node->subsystems[i] = (struct node_subsys){nqn, subsys};
		break;
	}
	pthread_mutex_unlock(&node->lock);
	return subsys;
}

void node_remove_subsys(struct node *node, struct doca_sta_subs_handle *subsys)
{
	uint64_t one = 1, end_ns = ini_now_ns() + (uint64_t)NODE_PATIENCE_MS * 1000000;
	doca_error_t rc;

	pthread_mutex_lock(&node->lock);
	for (int i = 0; i < NODE_SUBSYSTEMS; i++) {
		if (node->subsystems[i].handle == subsys)
			node->subsystems[i] = (struct node_subsys){0};
	}
	pthread_mutex_unlock(&node->lock);
	for (unsigned int i = 0; i < node->num_ios; i++) {
		atomic_store(&node->ios[i].leaving, subsys);
		if (write(node->ios[i].kick_fd, &one, sizeof(one)) != sizeof(one))
			node_fail(node, "kick");
	}
	while ((rc = doca_sta_subsystem_destroy(subsys)) == DOCA_ERROR_IN_USE &&
	       ini_now_ns() < end_ns)
		run_once(node, 1);
	node_check(node, rc, "destroy a subsystem");
}

struct doca_sta_be_handle *node_add_backend(struct node *node)
{
	struct doca_sta_be_handle *be = NULL;

	node_check(node, doca_sta_be_create(node->sta, &be), "back-end");
	return be;
}

void node_remove_backend(struct node *node, struct doca_sta_be_handle *be)
{
	node_check(node, doca_sta_be_destroy(be), "destroy a back-end");
}

struct doca_sta_ns_handle *node_add_ns(struct node *node, struct doca_sta_subs_handle *subsys,
				       uint32_t nsid, struct doca_sta_be_handle *be)
{
	struct doca_sta_ns_handle *ns = NULL;

	node_check(node, doca_sta_subsystem_add_ns(subsys, nsid, RAMDISK_BLOCK, 1, be, &ns),
		   "namespace");
	return ns;
}

void node_remove_ns(struct node *node, struct doca_sta_subs_handle *subsys,
		    struct doca_sta_ns_handle *ns)
{
	struct doca_sta_producer_task_send *task;
	void *pending = node;
	doca_error_t rc =
		doca_sta_subsystem_task_rm_ns_alloc_init(subsys, ns,
							 (union doca_data){.ptr = &pending}, &task);

	node_check(node, rc, "task for a namespace");
	if (rc == DOCA_SUCCESS)
		submit_and_await(node, task, &pending, "remove a namespace");
}

void node_add_queue(struct node *node, struct doca_sta_be_handle *be, struct ramdisk *disk,
		    struct node_queue *queue)
{
	node_check(node, ramdisk_open(disk, node->dev, be, &queue->ring, &queue->handle), "queue");
}

void node_remove_queue(struct node *node, struct node_queue *queue)
{
	struct doca_sta_producer_task_send *task;
	void *pending = node;
	doca_error_t rc = doca_sta_be_destroy_queue_task_alloc_init(
		queue->handle, (union doca_data){.ptr = &pending}, &task);

	node_check(node, rc, "task for a queue");
	if (rc == DOCA_SUCCESS)
		submit_and_await(node, task, &pending, "remove a queue");
	node_check(node, ramdisk_close(queue->ring), "close a queue");
}

unsigned int node_num_conns(struct node *node)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < node->num_ios; i++)
		n += atomic_load(&node->ios[i].num_conns);
	return n;
}

struct ini_params node_params(const struct node *node, unsigned int io, const char *nqn)
{
	return (struct ini_params){.addr = node->addr,
				   .port = node->ios[io].port,
				   .subnqn = nqn,
				   .qid = 1,
				   .cntlid = 1,
				   .entries = NODE_DEPTH,
				   .slot_bytes = NODE_SLOT_BYTES};
}

/* ---- tear-down ---- */

static void stop_io(struct node *node, struct node_io *io)
{
	uint64_t one = 1;

	atomic_store(&io->is_quitting, true);
	if (write(io->kick_fd, &one, sizeof(one)) != sizeof(one))
		node_fail(node, "kick");
	(void)pthread_join(io->thread, NULL);
	close(io->kick_fd);
	(void)sem_destroy(&io->is_up);
	if (io->num_submitted != io->num_completed)
		node_fail(node, "tasks of an IO context without a callback, or with two");
}

static void stop_sta(struct node *node)
{
	struct doca_ctx *ctx = doca_sta_as_ctx(node->sta);
	doca_error_t rc = doca_ctx_stop(ctx);

	if (rc == DOCA_ERROR_IN_PROGRESS) {
		if (!node_state_is(&node->states, DOCA_CTX_STATE_STOPPING))
			node_fail(node, "STOPPING was not told by the stop");
		for (int i = 0; i < NODE_PATIENCE_MS && rc == DOCA_ERROR_IN_PROGRESS; i++) {
			run_once(node, 1);
			if (node_state_is(&node->states, DOCA_CTX_STATE_IDLE))
				rc = DOCA_SUCCESS;
		}
	}
	node_check(node, rc, "stop STA");
	if (!node_state_is(&node->states, DOCA_CTX_STATE_IDLE))
		node_fail(node, "IDLE was not told");
}

int node_stop(struct node *node)
{
	if (node->num_ios && doca_sta_destroy(node->sta) != DOCA_ERROR_IN_USE)
		node_fail(node, "STA can be destroyed before its IO contexts");
	for (unsigned int i = 0; i < node->num_ios; i++)
		stop_io(node, &node->ios[i]);
	if (node->num_submitted != node->num_completed)
		node_fail(node, "control tasks without a callback, or with two");
	stop_sta(node);
	if (doca_pe_destroy(node->pe) != DOCA_ERROR_IN_USE)
		node_fail(node, "a progress engine can be destroyed before its context");
	node_check(node, doca_sta_destroy(node->sta), "destroy STA");
	node_check(node, doca_dev_close(node->dev), "close the device");
	node_check(node, doca_pe_destroy(node->pe), "destroy the progress engine");
	pthread_mutex_destroy(&node->lock);
	return atomic_load(&node->num_errors) ? -1 : 0;
}
