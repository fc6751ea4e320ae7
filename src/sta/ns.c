/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces: adding is one store into the subsystem's table; removing takes the entry out and
 * waits until every EU has passed a fence with no command of the namespace in flight. From then
 * on hosts get Invalid Namespace, and nothing refers to the object.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

#include <doca_sta_subsystem.h>

#include "sta/log.h"
#include "sta/sta.h"

#define MAX_CONTROL_TASKS 1024u

doca_error_t doca_sta_subsystem_add_ns(struct doca_sta_subs_handle *s, uint32_t fe_ns_id,
				       uint32_t ns_block_size, uint32_t be_ns_id,
				       struct doca_sta_be_handle *be,
				       struct doca_sta_ns_handle **ret)
{
	struct doca_sta_ns_handle *ns;

	if (!s || !be || !ret || be->sta != s->sta || fe_ns_id == 0 ||
	    fe_ns_id > STA_MAX_NS_PER_SUBSYS || be_ns_id == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (!doca_sta_is_logical_block_size_supported(ns_block_size))
		return DOCA_ERROR_NOT_SUPPORTED;
	if (atomic_load(&s->ns[fe_ns_id - 1]))
		return DOCA_ERROR_ALREADY_EXIST;
	ns = aligned_alloc(64, (sizeof(*ns) + 63) & ~(size_t)63);
	if (!ns)
		return DOCA_ERROR_NO_MEMORY;
	*ns = (struct doca_sta_ns_handle){
		.subsys = s,
		.be = be,
		.fe_nsid = fe_ns_id,
		.be_nsid = be_ns_id,
		.block_bytes = ns_block_size,
	};
	util_list_init(&ns->tasks);
	be->num_namespaces++;
	s->num_namespaces++;
	atomic_store_explicit(&s->ns[fe_ns_id - 1], ns, memory_order_release);
	sta_debug("ns", "subsystem %s nsid %u: added, back-end %u nsid %u, blocks of %u bytes",
		  s->nqn, fe_ns_id, be->id, be_ns_id, ns_block_size);
	*ret = ns;
	return DOCA_SUCCESS;
}

static void free_ns(struct doca_sta_ns_handle *ns)
{
	sta_debug("ns", "subsystem %s nsid %u: removed", ns->subsys->nqn, ns->fe_nsid);
	ns->be->num_namespaces--;
	ns->subsys->num_namespaces--;
	sta_task_end_refs(&ns->tasks);
	free(ns);
}

static void take_out(struct doca_sta_ns_handle *ns, void (*done)(struct sta_fence *fence))
{
	sta_debug("ns", "subsystem %s nsid %u: hidden from hosts, waits for commands in flight",
		  ns->subsys->nqn, ns->fe_nsid);
	ns->is_leaving = true;
	atomic_store_explicit(&ns->subsys->ns[ns->fe_nsid - 1], NULL, memory_order_release);
	ns->fence.ns = ns;
	ns->fence.done = done;
	sta_fence_post(ns->subsys->sta, &ns->fence);
}

static bool is_ns_of(const struct doca_sta_subs_handle *s, const struct doca_sta_ns_handle *ns)
{
	return s && ns && ns->subsys == s;
}

static void wake_waiter(struct sta_fence *fence)
{
	struct doca_sta_ns_handle *ns = util_container_of(fence, struct doca_sta_ns_handle, fence);

	sem_post(ns->has_left);
}

doca_error_t doca_sta_subsystem_rm_ns(struct doca_sta_subs_handle *s, struct doca_sta_ns_handle *ns)
{
	sem_t has_left;

	if (!is_ns_of(s, ns))
		return DOCA_ERROR_INVALID_VALUE;
	if (ns->is_leaving)
		return DOCA_ERROR_BAD_STATE;
	sem_init(&has_left, 0, 0);
	ns->has_left = &has_left;
	take_out(ns, wake_waiter);
	if (s->sta->num_eus) {
		while (sem_wait(&has_left) && errno == EINTR)
			;
	}
	sem_destroy(&has_left);
	free_ns(ns);
	return DOCA_SUCCESS;
}

static void on_left(void *sta, struct sta_msg *msg)
{
	struct doca_sta_ns_handle *ns = util_container_of(msg, struct doca_sta_ns_handle, left_msg);
	struct sta_task *task = ns->task;

	(void)sta;
	free_ns(ns);
	task->result = DOCA_SUCCESS;
	sta_task_finish(task);
}

static void tell_control(struct sta_fence *fence)
{
	struct doca_sta_ns_handle *ns = util_container_of(fence, struct doca_sta_ns_handle, fence);

	sta_post(ns->subsys->sta, &ns->left_msg);
}

static doca_error_t submit_rm_ns(struct sta_task *task)
{
	struct doca_sta_ns_handle *ns = task->ns;

	if (!ns || ns->is_leaving)
		return DOCA_ERROR_BAD_STATE;
	ns->task = task;
	ns->left_msg.fn = on_left;
	take_out(ns, tell_control);
	return DOCA_SUCCESS;
}

static const struct sta_task_kind rm_ns_kind = {submit_rm_ns};

doca_error_t doca_sta_subsystem_task_rm_ns_set_conf(
	struct doca_sta *sta, doca_sta_task_completion_cb_t task_completion_cb,
	doca_sta_task_completion_cb_t task_error_cb)
{
	if (!sta)
		return DOCA_ERROR_INVALID_VALUE;
	return sta_task_set_conf(&sta->ctx, task_completion_cb, task_error_cb, MAX_CONTROL_TASKS,
				 &sta->rm_ns_cbs, &sta->rm_ns_pool);
}

doca_error_t doca_sta_subsystem_task_rm_ns_alloc_init(struct doca_sta_subs_handle *s,
						      struct doca_sta_ns_handle *ns,
						      union doca_data user_data,
						      struct doca_sta_producer_task_send **ret)
{
	struct sta_task *task;
	doca_error_t err;

	if (!is_ns_of(s, ns) || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	if (ns->is_leaving)
		return DOCA_ERROR_BAD_STATE;
	err = sta_task_alloc(s->sta->rm_ns_pool, &s->sta->rm_ns_cbs, &rm_ns_kind, user_data, &task);
	if (err != DOCA_SUCCESS)
		return err;
	task->ns = ns;
	sta_task_refer(task, &ns->tasks);
	*ret = sta_task_public(task);
	return DOCA_SUCCESS;
}

void sta_ns_count(struct doca_sta_ns_handle *ns, unsigned int eu_idx, const struct sta_capsule *cap,
		  uint8_t opcode, sta_status_t status)
{
	struct sta_ns_stats *stats = &ns->eu[eu_idx].stats;
	/* A command that failed counts, its data does not. */
	uint64_t bytes = status ? 0 : cap->data_bytes;

	if (status)
		sta_count(&stats->errors, 1);
	switch (opcode) {
	case nvme_cmd_read:
		sta_count(&stats->reads, 1);
		sta_count(&stats->read_bytes, bytes);
		break;
	case nvme_cmd_write:
		sta_count(&stats->writes, 1);
		sta_count(&stats->written_bytes, bytes);
		break;
	case nvme_cmd_compare:
		sta_count(&stats->compares, 1);
		sta_count(&stats->compared_bytes, bytes);
		break;
	default:
		sta_count(&stats->other_commands, 1);
	}
}
