/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Back-ends and their queues, control path. A queue belongs to one EU; every EU has a route to
 * one queue of each back-end, its own if it has one.
 *
 * Removing a queue: routes away from it -> a fence through all EUs, after which no command is on
 * its way to it -> its EU drains and closes it -> the task ends.
 */
#include "sta/be.h"

#include <stdlib.h>

#include <doca_softsta.h>
#include <doca_sta_be.h>

#include "core/error.h"
#include "core/mmap.h"
#include "sta/log.h"
#include "sta/sta.h"

#define MAX_CONTROL_TASKS 256u
#define DOORBELL_BYTES	  4u

enum {
	MAP_SQ,
	MAP_SQ_DOORBELL,
	MAP_CQ,
	MAP_CQ_DOORBELL,
};

doca_error_t doca_sta_be_create(struct doca_sta *sta, struct doca_sta_be_handle **ret)
{
	struct doca_sta_be_handle *be;

	if (!sta || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	if (sta->num_backends == STA_MAX_BACKENDS)
		return DOCA_ERROR_NO_MEMORY;
	be = calloc(1, sizeof(*be));
	if (!be)
		return DOCA_ERROR_NO_MEMORY;
	be->sta = sta;
	util_list_init(&be->queues);
	util_list_add_tail(&sta->backends, &be->node);
	sta->num_backends++;
	be->id = sta->next_backend_id++;
	sta_debug("be", "back-end %u: created", be->id);
	*ret = be;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_be_destroy(struct doca_sta_be_handle *be)
{
	if (!be)
		return DOCA_ERROR_INVALID_VALUE;
	if (be->num_queues || be->num_namespaces)
		return DOCA_ERROR_IN_USE;
	util_list_del(&be->node);
	be->sta->num_backends--;
	sta_debug("be", "back-end %u: destroyed", be->id);
	free(be);
	return DOCA_SUCCESS;
}

/* The queue that @eu is to use: its own, or else the n-th of all. */
static struct doca_sta_be_q_handle *choose_queue(struct doca_sta_be_handle *be, struct sta_eu *eu)
{
	struct doca_sta_be_q_handle *beq, *nth = NULL;
	uint32_t num = 0, i = 0;

	util_list_for_each(&be->queues, beq, node) {
		if (beq->is_leaving)
			continue;
		if (beq->eu == eu)
			return beq;
		num++;
	}
	util_list_for_each(&be->queues, beq, node) {
		if (!beq->is_leaving && i++ == eu->idx % num)
			nth = beq;
	}
	return nth;
}

static void reroute(struct doca_sta_be_handle *be)
{
	struct doca_sta *sta = be->sta;

	for (uint32_t i = 0; i < sta->num_eus; i++)
		atomic_store_explicit(&be->route[i], choose_queue(be, &sta->eus[i].eu),
				      memory_order_release);
}

static void put_maps(struct doca_sta_be_q_handle *beq)
{
	for (int i = 0; i < 4; i++) {
		if (beq->maps[i])
			doca_priv_mmap_put(beq->maps[i]);
		beq->maps[i] = NULL;
	}
}

static doca_error_t get_maps(struct doca_sta_be_q_handle *beq, struct doca_mmap *const maps[4],
			     struct sta_area ranges[4])
{
	struct doca_dev *dev = beq->be->sta->control_dev;
	doca_error_t err;

	for (int i = 0; i < 4; i++) {
		err = doca_priv_mmap_get(maps[i], dev, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
					 &ranges[i].addr, &ranges[i].len);
		if (err != DOCA_SUCCESS) {
			put_maps(beq);
			return err;
		}
		beq->maps[i] = maps[i];
	}
	return DOCA_SUCCESS;
}

static bool is_doorbell_inside(const struct sta_area *r, uint16_t offset)
{
	return r->len >= DOORBELL_BYTES && offset <= r->len - DOORBELL_BYTES &&
	       ((uintptr_t)r->addr + offset) % DOORBELL_BYTES == 0;
}

static bool is_overlap(const struct sta_area *a, const struct sta_area *b)
{
	uintptr_t at = (uintptr_t)a->addr, other = (uintptr_t)b->addr;

	return at < other + b->len && other < at + a->len;
}

static bool has_in_common(const struct doca_sta_be_q_handle *a,
			  const struct doca_sta_be_q_handle *b)
{
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 4; j++) {
			if (is_overlap(&a->areas[i], &b->areas[j]))
				return true;
		}
	}
	return false;
}

/* Two writers of a ring or doorbell would lose each other's commands. */
static doca_error_t check_areas(const struct doca_sta_be_q_handle *beq)
{
	const struct doca_sta_be_q_handle *other;
	const struct doca_sta_be_handle *be;

	for (int i = 1; i < 4; i++) {
		for (int j = 0; j < i; j++) {
			if (is_overlap(&beq->areas[i], &beq->areas[j]))
				return DOCA_ERROR_INVALID_VALUE;
		}
	}
	util_list_for_each(&beq->be->sta->backends, be, node) {
		util_list_for_each(&be->queues, other, node) {
			if (has_in_common(beq, other))
				return DOCA_ERROR_ALREADY_EXIST;
		}
	}
	return DOCA_SUCCESS;
}

static doca_error_t init_queue(struct doca_sta_be_q_handle *beq, const struct sta_area r[4],
			       uint16_t sq_db_offset, uint16_t cq_db_offset)
{
	struct sta_nvq_mem mem = {.sq = r[MAP_SQ].addr, .cq = r[MAP_CQ].addr};
	size_t entries = r[MAP_SQ].len / STA_SQE_BYTES;
	doca_error_t err;

	if (r[MAP_SQ].len % STA_SQE_BYTES || r[MAP_CQ].len != entries * STA_CQE_BYTES ||
	    entries > STA_MAX_BEQ_ENTRIES || (uintptr_t)mem.sq % 8 || (uintptr_t)mem.cq % 8)
		return DOCA_ERROR_INVALID_VALUE;
	if (!is_doorbell_inside(&r[MAP_SQ_DOORBELL], sq_db_offset) ||
	    !is_doorbell_inside(&r[MAP_CQ_DOORBELL], cq_db_offset))
		return DOCA_ERROR_INVALID_VALUE;
	mem.entries = (uint32_t)entries;
	mem.sq_doorbell = (void *)((uint8_t *)r[MAP_SQ_DOORBELL].addr + sq_db_offset);
	mem.cq_doorbell = (void *)((uint8_t *)r[MAP_CQ_DOORBELL].addr + cq_db_offset);
	beq->areas[MAP_SQ] = r[MAP_SQ];
	beq->areas[MAP_CQ] = r[MAP_CQ];
	beq->areas[MAP_SQ_DOORBELL] =
		(struct sta_area){(void *)(uintptr_t)mem.sq_doorbell, DOORBELL_BYTES};
	beq->areas[MAP_CQ_DOORBELL] =
		(struct sta_area){(void *)(uintptr_t)mem.cq_doorbell, DOORBELL_BYTES};
	err = check_areas(beq);
	if (err != DOCA_SUCCESS)
		return err;
	return doca_priv_error_from_errno(sta_nvq_init(&beq->q, &mem));
}

static void free_queue(struct doca_sta_be_q_handle *beq)
{
	sta_debug("be", "back-end %u queue %u: gone", beq->be->id, beq->id);
	util_list_del(&beq->node);
	beq->be->num_queues--;
	doca_priv_queue_companion_put(beq->q.sq_doorbell);
	sta_nvq_fini(&beq->q);
	put_maps(beq);
	sta_task_end_refs(&beq->tasks);
	free(beq);
}

static void on_timeout(void *sta, struct sta_msg *msg)
{
	sta_event_be_timeout(sta, util_container_of(msg, struct doca_sta_be_q_handle, timeout_msg));
}

static void on_closed(void *sta, struct sta_msg *msg)
{
	struct doca_sta_be_q_handle *beq =
		util_container_of(msg, struct doca_sta_be_q_handle, closed_msg);
	struct sta_task *task = beq->close_task;

	(void)sta;
	free_queue(beq);
	task->result = DOCA_SUCCESS;
	sta_task_finish(task);
}

/* On an EU: no command is on its way to the queue any more. */
static void on_fence_passed(struct sta_fence *fence)
{
	struct doca_sta_be_q_handle *beq =
		util_container_of(fence, struct doca_sta_be_q_handle, fence);

	sta_eu_post(beq->eu, &beq->close_msg);
}

static void place_queue(struct doca_sta_be_q_handle *beq)
{
	struct doca_sta_be_handle *be = beq->be;
	struct doca_sta *sta = be->sta;

	beq->eu = &sta->eus[be->next_eu++ % sta->num_eus].eu;
	beq->eu_id = beq->eu->idx;
	beq->queue_entries = beq->q.entries;
	beq->wait_tail = &beq->wait;
	util_list_init(&beq->tasks);
	beq->add_msg.fn = sta_beq_on_add;
	beq->close_msg.fn = sta_beq_on_close;
	beq->halt_msg.fn = sta_beq_on_halt;
	beq->closed_msg.fn = on_closed;
	beq->timeout_msg.fn = on_timeout;
	beq->fence.done = on_fence_passed;
	doca_priv_queue_companion_get(beq->q.sq_doorbell, &beq->companion);
	util_list_add_tail(&be->queues, &beq->node);
	be->num_queues++;
	beq->id = be->next_queue_id++;
	sta_debug("be", "back-end %u queue %u: added, %u entries, eu %u", be->id, beq->id,
		  beq->q.entries, beq->eu->idx);
	/* The EU has the queue before anybody can send commands there. */
	sta_eu_post(beq->eu, &beq->add_msg);
	reroute(be);
}

doca_error_t doca_sta_be_add_queue(struct doca_sta_be_handle *be, struct doca_mmap *sq,
				   struct doca_mmap *sq_db_reg, uint16_t sq_db_offset,
				   struct doca_mmap *cq, struct doca_mmap *cq_db_reg,
				   uint16_t cq_db_offset, struct doca_sta_be_q_handle **ret)
{
	struct doca_mmap *const maps[4] = {
		[MAP_SQ] = sq,
		[MAP_SQ_DOORBELL] = sq_db_reg,
		[MAP_CQ] = cq,
		[MAP_CQ_DOORBELL] = cq_db_reg,
	};
	struct sta_area ranges[4];
	struct doca_sta_be_q_handle *beq;
	doca_error_t err;

	if (!be || !sq || !sq_db_reg || !cq || !cq_db_reg || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	if (!sta_is_running(be->sta))
		return DOCA_ERROR_BAD_STATE;
	if (be->num_queues == STA_MAX_QUEUES_PER_BE)
		return DOCA_ERROR_NO_MEMORY;
	beq = calloc(1, sizeof(*beq));
	if (!beq)
		return DOCA_ERROR_NO_MEMORY;
	beq->be = be;
	err = get_maps(beq, maps, ranges);
	if (err != DOCA_SUCCESS)
		goto err_free;
	err = init_queue(beq, ranges, sq_db_offset, cq_db_offset);
	if (err != DOCA_SUCCESS)
		goto err_put_maps;
	place_queue(beq);
	*ret = beq;
	return DOCA_SUCCESS;

err_put_maps:
	put_maps(beq);
err_free:
	free(beq);
	return err;
}

void sta_be_drop_queues(struct doca_sta *sta)
{
	struct doca_sta_be_q_handle *beq, *next;
	struct doca_sta_be_handle *be;

	util_list_for_each(&sta->backends, be, node) {
		util_list_for_each_safe(&be->queues, beq, next, node)
			free_queue(beq);
		for (uint32_t i = 0; i < STA_MAX_EUS; i++)
			atomic_store(&be->route[i], NULL);
	}
}

doca_error_t doca_softsta_be_queue_halted(struct doca_sta_be_q_handle *beq)
{
	if (!beq)
		return DOCA_ERROR_INVALID_VALUE;
	if (beq->is_leaving || beq->is_halt_posted || !sta_is_running(beq->be->sta))
		return DOCA_ERROR_BAD_STATE;
	sta_debug("be", "back-end %u queue %u: its controller has stopped", beq->be->id, beq->id);
	beq->is_halt_posted = true;
	sta_eu_post(beq->eu, &beq->halt_msg);
	return DOCA_SUCCESS;
}

static doca_error_t submit_destroy(struct sta_task *task)
{
	struct doca_sta_be_q_handle *beq = task->beq;

	if (!beq || beq->is_leaving)
		return DOCA_ERROR_BAD_STATE;
	sta_debug("be", "back-end %u queue %u: closing", beq->be->id, beq->id);
	beq->is_leaving = true;
	beq->close_task = task;
	reroute(beq->be);
	sta_fence_post(beq->be->sta, &beq->fence);
	return DOCA_SUCCESS;
}

static const struct sta_task_kind destroy_kind = {submit_destroy};

doca_error_t doca_sta_be_task_destroy_queue_set_conf(
	struct doca_sta *sta, doca_sta_task_completion_cb_t task_completion_cb,
	doca_sta_task_completion_cb_t task_error_cb)
{
	if (!sta)
		return DOCA_ERROR_INVALID_VALUE;
	return sta_task_set_conf(&sta->ctx, task_completion_cb, task_error_cb, MAX_CONTROL_TASKS,
				 &sta->destroy_queue_cbs, &sta->destroy_queue_pool);
}

doca_error_t doca_sta_be_destroy_queue_task_alloc_init(struct doca_sta_be_q_handle *beq,
						       union doca_data user_data,
						       struct doca_sta_producer_task_send **ret)
{
	struct sta_task *task;
	struct doca_sta *sta;
	doca_error_t err;

	if (!beq || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	if (beq->is_leaving)
		return DOCA_ERROR_BAD_STATE;
	sta = beq->be->sta;
	err = sta_task_alloc(sta->destroy_queue_pool, &sta->destroy_queue_cbs, &destroy_kind,
			     user_data, &task);
	if (err != DOCA_SUCCESS)
		return err;
	task->beq = beq;
	sta_task_refer(task, &beq->tasks);
	*ret = sta_task_public(task);
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_get_be_queue_mapping_info(const struct doca_sta_be_q_handle *const_beq,
						const struct doca_sta_eu_ctr_entry **entries,
						uint16_t *num_entries)
{
	struct doca_sta_be_q_handle *beq = (struct doca_sta_be_q_handle *)(uintptr_t)const_beq;

	if (!beq || !entries || !num_entries)
		return DOCA_ERROR_INVALID_VALUE;
	beq->mapping[0] = (struct doca_sta_eu_ctr_entry){"eu_id", &beq->eu_id};
	beq->mapping[1] = (struct doca_sta_eu_ctr_entry){"entries", &beq->queue_entries};
	*entries = beq->mapping;
	*num_entries = 2;
	return DOCA_SUCCESS;
}
