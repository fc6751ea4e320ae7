/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs devices in use: protection domain, completion channels and queues for each EU, and the
 * registration of the EUs' staging memory. All with the STA's lock held, on threads of the
 * application; what an EU has to know is sent to it.
 */
#include "sta/sta.h"

#include <stdlib.h>

#include "sta/log.h"
#include "sta/status.h"

/* Staging slots of an EU for each QP that it has at a time, up to a maximum. */
static const struct {
	uint32_t per_qp, max;
} slot_plan[STA_SLOT_CLASSES] = {
	[STA_SLOT_PAGE] = {4, 4096},
	[STA_SLOT_SMALL] = {96, 1024},
	[STA_SLOT_MEDIUM] = {16, 128},
	[STA_SLOT_LARGE] = {8, 32},
};

doca_error_t sta_vdev_get(struct doca_sta *sta, struct ibv_context *verbs, struct sta_vdev **vdev)
{
	struct ibv_device_attr attr;
	struct sta_vdev *v;
	int err;

	for (uint32_t i = 0; i < sta->num_vdevs; i++) {
		if (sta->vdevs[i].verbs == verbs) {
			*vdev = &sta->vdevs[i];
			return DOCA_SUCCESS;
		}
	}
	if (sta->num_vdevs == STA_MAX_DEVS)
		return DOCA_ERROR_NO_MEMORY;
	err = ibv_query_device(verbs, &attr);
	if (err)
		return sta_error_from_device(err);
	v = &sta->vdevs[sta->num_vdevs];
	*v = (struct sta_vdev){
		.verbs = verbs,
		.idx = sta->num_vdevs,
		.max_wr = (uint32_t)attr.max_qp_wr,
		.max_cqe = (uint32_t)attr.max_cqe,
	};
	v->pd = ibv_alloc_pd(verbs);
	if (!v->pd)
		return DOCA_ERROR_NO_MEMORY;
	sta->num_vdevs++;
	*vdev = v;
	return DOCA_SUCCESS;
}

static struct sta_cq *create_cq(struct sta_vdev *vdev, struct sta_eu *eu)
{
	uint32_t entries = vdev->max_cqe < STA_CQ_ENTRIES ? vdev->max_cqe : STA_CQ_ENTRIES;
	struct sta_vdev_eu *ve = &vdev->eu[eu->idx];
	struct sta_cq *cq;

	if (!ve->channel)
		ve->channel = ibv_create_comp_channel(vdev->verbs);
	if (!ve->channel)
		return NULL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->channel = ve->channel;
	cq->cq = ibv_create_cq(vdev->verbs, (int)entries, cq, ve->channel, 0);
	if (!cq->cq) {
		free(cq);
		return NULL;
	}
	cq->room = (uint32_t)cq->cq->cqe;
	cq->add_msg.fn = sta_eu_on_add_cq;
	cq->next_of_vdev = ve->cqs;
	ve->cqs = cq;
	sta_eu_post(eu, &cq->add_msg);
	return cq;
}

doca_error_t sta_vdev_take_cq(struct sta_vdev *vdev, struct sta_eu *eu, uint32_t need,
			      struct sta_cq **ret)
{
	struct sta_cq *cq = vdev->eu[eu->idx].cqs;

	if (need > vdev->max_cqe)
		return DOCA_ERROR_NO_MEMORY;
	while (cq && (cq->is_lost || cq->room < need))
		cq = cq->next_of_vdev;
	if (!cq)
		cq = create_cq(vdev, eu);
	if (!cq || cq->room < need)
		return DOCA_ERROR_NO_MEMORY;
	cq->room -= need;
	*ret = cq;
	return DOCA_SUCCESS;
}

static doca_error_t register_region(struct sta_vdev *vdev, struct sta_region *region)
{
	if (region->mr[vdev->idx])
		return DOCA_SUCCESS;
	region->mr[vdev->idx] =
		ibv_reg_mr(vdev->pd, region->data, region->bytes, IBV_ACCESS_LOCAL_WRITE);
	return region->mr[vdev->idx] ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static doca_error_t grow(struct doca_sta *sta, struct sta_vdev *vdev, struct sta_eu *eu,
			 enum sta_slot_class class)
{
	uint32_t have = eu->num_slots[class], max = slot_plan[class].max;
	uint32_t want = util_min((eu->num_qps + 1) * slot_plan[class].per_qp, max);
	struct sta_region *region;
	doca_error_t err;
	uint32_t more;

	if (want <= have)
		return DOCA_SUCCESS;
	/* Doubled each time: a region takes a place in the tables of devices and controllers. */
	more = util_max(want - have, have);
	more = util_min(more, max - have);
	err = sta_region_create(&sta->mem, class, more, &region);
	if (err == DOCA_SUCCESS) {
		err = register_region(vdev, region);
		if (err != DOCA_SUCCESS)
			sta_region_destroy(region);
	}
	/* With fewer slots commands wait longer; without any they would wait for ever. */
	if (err != DOCA_SUCCESS)
		return have ? DOCA_SUCCESS : err;
	region->next = eu->regions;
	eu->regions = region;
	eu->num_slots[class] += more;
	region->add_msg.fn = sta_eu_on_add_region;
	sta_debug("eu", "eu %u: %u more staging slots of %u bytes", eu->idx, more,
		  sta_slot_bytes(class));
	return DOCA_SUCCESS;
}

static void destroy_region(struct doca_sta *sta, struct sta_region *region)
{
	for (uint32_t i = 0; i < sta->num_vdevs; i++) {
		if (region->mr[i])
			(void)ibv_dereg_mr(region->mr[i]);
	}
	sta_region_destroy(region);
}

/* Regions that the EU has not been told of. */
static void take_back(struct doca_sta *sta, struct sta_eu *eu, const struct sta_region *old)
{
	struct sta_region *region;

	while ((region = eu->regions) != old) {
		eu->regions = region->next;
		eu->num_slots[region->class] -= region->num_slots;
		destroy_region(sta, region);
	}
}

doca_error_t sta_vdev_add_memory(struct doca_sta *sta, struct sta_vdev *vdev, struct sta_eu *eu)
{
	struct sta_region *old = eu->regions;
	doca_error_t err = DOCA_SUCCESS;

	for (struct sta_region *r = old; r && err == DOCA_SUCCESS; r = r->next)
		err = register_region(vdev, r);
	for (int class = 0; class < STA_SLOT_CLASSES && err == DOCA_SUCCESS; class ++)
		err = grow(sta, vdev, eu, (enum sta_slot_class) class);
	/* Memory of another device is registered there when a QP of that device uses this EU. */
	for (struct sta_region *r = eu->regions; r != old; r = r->next) {
		for (uint32_t i = 0; i < sta->num_vdevs && err == DOCA_SUCCESS; i++) {
			if (sta->vdevs[i].eu[eu->idx].cqs)
				err = register_region(&sta->vdevs[i], r);
		}
	}
	if (err != DOCA_SUCCESS) {
		take_back(sta, eu, old);
		return err;
	}
	for (struct sta_region *r = eu->regions; r != old; r = r->next)
		sta_eu_post(eu, &r->add_msg);
	return DOCA_SUCCESS;
}

static void destroy_regions(struct doca_sta *sta, struct sta_eu *eu)
{
	struct sta_region *region;

	while ((region = eu->regions)) {
		eu->regions = region->next;
		destroy_region(sta, region);
	}
	for (int class = 0; class < STA_SLOT_CLASSES; class ++)
		eu->num_slots[class] = 0;
}

static void destroy_cqs(struct sta_vdev_eu *ve)
{
	struct sta_cq *cq;

	while ((cq = ve->cqs)) {
		ve->cqs = cq->next_of_vdev;
		(void)ibv_destroy_cq(cq->cq);
		free(cq);
	}
	if (ve->channel)
		(void)ibv_destroy_comp_channel(ve->channel);
	ve->channel = NULL;
}

void sta_vdev_destroy_all(struct doca_sta *sta)
{
	for (uint32_t e = 0; e < sta->num_eus; e++)
		destroy_regions(sta, &sta->eus[e].eu);
	for (uint32_t i = 0; i < sta->num_vdevs; i++) {
		for (uint32_t e = 0; e < sta->num_eus; e++)
			destroy_cqs(&sta->vdevs[i].eu[e]);
	}
	(void)sta_vdev_drop_domains(sta);
}

bool sta_vdev_drop_domains(struct doca_sta *sta)
{
	uint32_t num_left = 0;

	for (uint32_t i = 0; i < sta->num_vdevs; i++) {
		if (!ibv_dealloc_pd(sta->vdevs[i].pd))
			continue;
		sta->vdevs[num_left] = sta->vdevs[i];
		sta->vdevs[num_left].idx = num_left;
		num_left++;
	}
	sta->num_vdevs = num_left;
	return num_left == 0;
}
