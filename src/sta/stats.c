/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution units and counters as the API shows them. Every EU of ours does the work of all three
 * kinds; it is shown as a completion handler, since it owns connected QPs.
 */
#include "sta/io.h"
#include "sta/sta.h"

#include <string.h>

#define ENTRY(name) {#name, NULL},

static const struct doca_sta_eu_ctr_entry eu_names[] = {STA_EU_COUNTERS(ENTRY)};
static const struct doca_sta_eu_ctr_entry beq_names[] = {STA_BEQ_COUNTERS(ENTRY)};
static const struct doca_sta_eu_ctr_entry ns_names[] = {STA_NS_COUNTERS(ENTRY)};

/* A counter structure is an array of 64-bit values in the order of its names. */
static void fill(struct doca_sta_eu_ctr_entry *entries, const struct doca_sta_eu_ctr_entry *names,
		 const void *values, uint16_t num)
{
	const uint64_t *val = values;

	for (uint16_t i = 0; i < num; i++)
		entries[i] = (struct doca_sta_eu_ctr_entry){names[i].name, &val[i]};
}

doca_error_t doca_sta_get_eu_handle(const struct doca_sta *sta,
				    struct doca_sta_eu_handle **eu_handle_arr, uint32_t *arr_size)
{
	if (!sta || !eu_handle_arr || !arr_size)
		return DOCA_ERROR_INVALID_VALUE;
	if (!sta_is_running(sta))
		return DOCA_ERROR_BAD_STATE;
	if (*arr_size < sta->num_eus)
		return DOCA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; i < sta->num_eus; i++)
		eu_handle_arr[i] = &sta->eus[i];
	*arr_size = sta->num_eus;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_get_eu_stats(struct doca_sta_eu_handle *h,
				   const struct doca_sta_eu_ctr_entry **entries,
				   uint16_t *num_entries)
{
	if (!h || !entries || !num_entries)
		return DOCA_ERROR_INVALID_VALUE;
	fill(h->entries, eu_names, &h->eu.stats, STA_NUM_EU_COUNTERS);
	*entries = h->entries;
	*num_entries = STA_NUM_EU_COUNTERS;
	return DOCA_SUCCESS;
}

static void reset_on_eu(void *owner, struct sta_msg *msg)
{
	struct sta_eu *eu = owner;

	(void)msg;
#define RESET(name) sta_count_set(&eu->stats.name, 0);
	STA_EU_COUNTERS(RESET)
	eu->pool.waited = 0;
	atomic_store(&eu->is_resetting, false);
}

doca_error_t doca_sta_eu_reset_stats_handle(struct doca_sta_eu_handle *h)
{
	if (!h)
		return DOCA_ERROR_INVALID_VALUE;
	/* The counters are the EU's own; one reset on its way does for all. */
	if (!atomic_exchange(&h->eu.is_resetting, true)) {
		h->eu.reset_msg.fn = reset_on_eu;
		sta_eu_post(&h->eu, &h->eu.reset_msg);
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_eu_reset_stats_type(struct doca_sta *sta, enum dpa_sta_eu_type eu_type)
{
	if (!sta || eu_type < DOCA_STA_EU_COMP || eu_type > DOCA_STA_EU_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	if (!sta_is_running(sta))
		return DOCA_ERROR_BAD_STATE;
	if (eu_type != DOCA_STA_EU_COMP && eu_type != DOCA_STA_EU_MAX)
		return DOCA_SUCCESS;
	for (uint32_t i = 0; i < sta->num_eus; i++)
		(void)doca_sta_eu_reset_stats_handle(&sta->eus[i]);
	return DOCA_SUCCESS;
}

/* With the lock held. */
static void unlist(struct doca_sta_eu_handle *h)
{
	struct doca_sta_qp_handle *qp;

	while ((qp = h->listed)) {
		h->listed = qp->next_listed;
		sta_qp_put(qp);
	}
}

void sta_stats_forget_qps(struct doca_sta *sta)
{
	pthread_mutex_lock(&sta->lock);
	for (uint32_t i = 0; i < sta->num_eus; i++)
		unlist(&sta->eus[i]);
	pthread_mutex_unlock(&sta->lock);
}

/* The threads of the QPs may destroy them while the application looks at the list: it keeps them.
 */
static void list(struct doca_sta_eu_handle *h, struct doca_sta_qp_handle **arr)
{
	unlist(h);
	for (struct doca_sta_qp_handle *qp = h->eu.qps; qp; qp = qp->next_of_eu) {
		sta_qp_get(qp);
		qp->next_listed = h->listed;
		h->listed = qp;
		*arr++ = qp;
	}
}

doca_error_t doca_sta_get_eu_connect_qp_stats(struct doca_sta_eu_handle *h,
					      struct doca_sta_qp_handle **arr, uint16_t *arr_size)
{
	struct doca_sta *sta;
	doca_error_t err = DOCA_SUCCESS;
	uint16_t n = 0;

	if (!h || !arr_size)
		return DOCA_ERROR_INVALID_VALUE;
	sta = h->eu.sta;
	pthread_mutex_lock(&sta->lock);
	for (struct doca_sta_qp_handle *qp = h->eu.qps; qp; qp = qp->next_of_eu)
		n++;
	if (arr && n > *arr_size)
		err = DOCA_ERROR_INVALID_VALUE;
	else if (arr)
		list(h, arr);
	pthread_mutex_unlock(&sta->lock);
	if (err == DOCA_SUCCESS)
		*arr_size = n;
	return err;
}

doca_error_t doca_sta_get_be_queue_stats(struct doca_sta_be_handle *be,
					 struct doca_sta_be_q_handle *beq,
					 const struct doca_sta_eu_ctr_entry **entries,
					 uint16_t *num_entries)
{
	if (!be || !beq || beq->be != be || !entries || !num_entries)
		return DOCA_ERROR_INVALID_VALUE;
	fill(beq->entries, beq_names, &beq->stats, STA_NUM_BEQ_COUNTERS);
	*entries = beq->entries;
	*num_entries = STA_NUM_BEQ_COUNTERS;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_get_ns_stats(struct doca_sta_subs_handle *subsys,
				   struct doca_sta_ns_handle *ns,
				   const struct doca_sta_eu_ctr_entry **entries,
				   uint16_t *num_entries)
{
	if (!subsys || !ns || ns->subsys != subsys || !entries || !num_entries)
		return DOCA_ERROR_INVALID_VALUE;
#define ADD_UP(name) ns->total.name += sta_count_read(&ns->eu[i].stats.name);
	memset(&ns->total, 0, sizeof(ns->total));
	for (uint32_t i = 0; i < STA_MAX_EUS; i++) {
		STA_NS_COUNTERS(ADD_UP)
	}
	fill(ns->entries, ns_names, &ns->total, STA_NUM_NS_COUNTERS);
	*entries = ns->entries;
	*num_entries = STA_NUM_NS_COUNTERS;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_get_eu_name(const struct doca_sta_eu_handle *h, const char **name)
{
	if (!h || !name)
		return DOCA_ERROR_INVALID_VALUE;
	*name = h->eu.name;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_get_eu_type(const struct doca_sta_eu_handle *h, enum dpa_sta_eu_type *type)
{
	if (!h || !type)
		return DOCA_ERROR_INVALID_VALUE;
	*type = DOCA_STA_EU_COMP;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_get_eu_id(const struct doca_sta_eu_handle *h, uint16_t *eu_id)
{
	if (!h || !eu_id)
		return DOCA_ERROR_INVALID_VALUE;
	*eu_id = (uint16_t)h->eu.idx;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_get_eu_port(const struct doca_sta_eu_handle *h, uint16_t *port)
{
	if (!h || !port)
		return DOCA_ERROR_INVALID_VALUE;
	/* Not bound to a port: it serves QPs of all devices. */
	*port = 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_get_eu_state(struct doca_sta_eu_handle *h, enum dpa_sta_eu_state *state)
{
	if (!h || !state)
		return DOCA_ERROR_INVALID_VALUE;
	*state = atomic_load(&h->eu.state);
	return DOCA_SUCCESS;
}
