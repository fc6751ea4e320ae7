/* SPDX-License-Identifier: Apache-2.0 */
/* doca_sta_stats.h: execution units, and the counters of these, back-end queues and namespaces. */
#include "ctl.h"

#include <stdlib.h>

#include <doca_sta_be.h>
#include <doca_sta_io_qp.h>
#include <doca_sta_stats.h>
#include <doca_sta_subsystem.h>

static void test_execution_units(void **state)
{
	struct ctl *f = *state;
	const struct doca_sta_eu_ctr_entry *entries;
	struct doca_sta_eu_handle *eus[2];
	enum dpa_sta_eu_state eu_state;
	enum dpa_sta_eu_type type;
	uint32_t num_eus = 2;
	uint16_t num, id, port;
	const char *name;

	assert_int_equal(doca_sta_get_eu_handle(f->sta, eus, &num_eus), DOCA_ERROR_BAD_STATE);
	ctl_configure(f);
	ctl_start(f);
	num_eus = 1;
	ASSERT_INVALID(doca_sta_get_eu_handle(f->sta, eus, &num_eus));
	num_eus = 2;
	ASSERT_GOOD(doca_sta_get_eu_handle(f->sta, eus, &num_eus));
	assert_int_equal(num_eus, 2);
	for (uint16_t i = 0; i < 2; i++) {
		ASSERT_GOOD(doca_sta_get_eu_id(eus[i], &id));
		assert_int_equal(id, i);
		ASSERT_GOOD(doca_sta_get_eu_name(eus[i], &name));
		assert_string_equal(name, i ? "sta-eu1" : "sta-eu0");
		ASSERT_GOOD(doca_sta_get_eu_state(eus[i], &eu_state));
		assert_int_equal(eu_state, DOCA_STA_EU_STATE_STARTED);
		ASSERT_GOOD(doca_sta_get_eu_type(eus[i], &type));
		assert_int_equal(type, DOCA_STA_EU_COMP);
		ASSERT_GOOD(doca_sta_get_eu_port(eus[i], &port));
		assert_int_equal(port, 0);
	}
	ASSERT_GOOD(doca_sta_get_eu_stats(eus[0], &entries, &num));
	assert_int_equal(num, STA_NUM_EU_COUNTERS);
	assert_string_equal(entries[0].name, "capsules");
	assert_ptr_equal(entries[0].val, &eus[0]->eu.stats.capsules);
	assert_string_equal(entries[num - 1].name, "sleeps");
	/* Only the EU itself touches its counters: the reset is on its way, and comes. */
	PROGRESS_UNTIL(f, __atomic_load_n(entries[num - 1].val, __ATOMIC_RELAXED) > 0);
	ASSERT_GOOD(doca_sta_eu_reset_stats_type(f->sta, DOCA_STA_EU_MAX));
	PROGRESS_UNTIL(f, !atomic_load(&eus[0]->eu.is_resetting));
	ASSERT_GOOD(doca_sta_eu_reset_stats_handle(eus[1]));
	PROGRESS_UNTIL(f, !atomic_load(&eus[1]->eu.is_resetting));
	num = 1;
	ASSERT_GOOD(doca_sta_get_eu_connect_qp_stats(eus[0], NULL, &num));
	assert_int_equal(num, 0);
}

static void test_back_end_queues(void **state)
{
	struct ctl *f = *state;
	const struct doca_sta_eu_ctr_entry *entries;
	struct doca_sta_be_q_handle *q;
	struct doca_sta_be_handle *other;
	uint16_t num;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_GOOD(doca_sta_be_create(f->sta, &other));
	q = ctl_add_queue(f);
	ASSERT_INVALID(doca_sta_get_be_queue_stats(other, q, &entries, &num));
	ASSERT_INVALID(doca_sta_get_be_queue_stats(f->be, NULL, &entries, &num));
	ASSERT_INVALID(doca_sta_get_be_queue_stats(f->be, q, NULL, &num));
	ASSERT_INVALID(doca_sta_get_be_queue_stats(f->be, q, &entries, NULL));
	ASSERT_GOOD(doca_sta_get_be_queue_stats(f->be, q, &entries, &num));
	assert_int_equal(num, STA_NUM_BEQ_COUNTERS);
	for (uint16_t i = 0; i < num; i++)
		assert_true(*entries[i].val == 0);
	ASSERT_GOOD(doca_sta_be_destroy(other));
}

static void test_namespaces(void **state)
{
	struct ctl *f = *state;
	const struct doca_sta_eu_ctr_entry *entries;
	struct doca_sta_subs_handle *s, *other;
	struct doca_sta_ns_handle *ns;
	uint16_t num;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "o", &other));
	ASSERT_GOOD(doca_sta_subsystem_add_ns(s, 1, 512, 1, f->be, &ns));
	ASSERT_INVALID(doca_sta_get_ns_stats(other, ns, &entries, &num));
	ASSERT_INVALID(doca_sta_get_ns_stats(s, NULL, &entries, &num));
	ASSERT_INVALID(doca_sta_get_ns_stats(s, ns, NULL, &num));
	ASSERT_INVALID(doca_sta_get_ns_stats(s, ns, &entries, NULL));
	ASSERT_GOOD(doca_sta_get_ns_stats(s, ns, &entries, &num));
	assert_int_equal(num, STA_NUM_NS_COUNTERS);
	assert_string_equal(entries[0].name, "reads");
	assert_true(*entries[0].val == 0);
	ASSERT_GOOD(doca_sta_subsystem_rm_ns(s, ns));
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
	ASSERT_GOOD(doca_sta_subsystem_destroy(other));
}

static struct doca_sta_qp_handle *connect_one(struct ctl *f)
{
	struct doca_sta_qp_handle *qp;

	ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), NULL, 0, NULL, &qp));
	return qp;
}

/* A list of queue pairs can be read when these are gone, until there is another. */
static void test_listed_queue_pairs(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qps[2], *listed[2] = {NULL}, *next;
	struct doca_sta_eu_handle *eu;
	uint32_t num_eus = 1, qpns[2], qpn;
	uint16_t num = 1, group;

	setenv("SOFTSTA_EUS", "1", 1);
	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_get_eu_handle(f->sta, &eu, &num_eus));
	ctl_start_io(f);
	for (int i = 0; i < 2; i++) {
		qps[i] = connect_one(f);
		ASSERT_GOOD(doca_sta_io_qp_get_id(qps[i], &qpns[i]));
	}
	ASSERT_INVALID(doca_sta_get_eu_connect_qp_stats(eu, listed, &num));
	assert_null(listed[0]);
	num = 2;
	ASSERT_GOOD(doca_sta_get_eu_connect_qp_stats(eu, listed, &num));
	assert_int_equal(num, 2);
	for (int i = 0; i < 2; i++)
		ASSERT_GOOD(doca_sta_io_qp_destroy(f->io, qps[i]));
	PROGRESS_UNTIL(f, atomic_load(&f->sta->num_qps) == 0);
	next = connect_one(f);
	for (int i = 0; i < 2; i++) {
		assert_ptr_not_equal(listed[i], next);
		ASSERT_GOOD(doca_sta_io_qp_get_id(listed[i], &qpn));
		assert_true(qpn == qpns[0] || qpn == qpns[1]);
		ASSERT_GOOD(doca_sta_io_qp_get_group_id(listed[i], &group));
		assert_int_equal(group, 0);
	}
	/* Asking for the number alone makes no list. */
	ASSERT_GOOD(doca_sta_get_eu_connect_qp_stats(eu, NULL, &num));
	assert_int_equal(num, 1);
	ASSERT_GOOD(doca_sta_io_qp_get_id(listed[0], &qpn));
	ASSERT_GOOD(doca_sta_get_eu_connect_qp_stats(eu, listed, &num));
	assert_ptr_equal(listed[0], next);
	/* The one that stays listed goes with the EU. */
	ctl_stop_io(f);
	ASSERT_GOOD(doca_sta_io_qp_get_id(next, &qpn));
}

static void test_no_pointers(void **state)
{
	struct ctl *f = *state;
	const struct doca_sta_eu_ctr_entry *entries;
	struct doca_sta_eu_handle *eu;
	enum dpa_sta_eu_state eu_state;
	enum dpa_sta_eu_type type;
	const char *name;
	uint32_t num_eus = CTL_EUS;
	struct doca_sta_eu_handle *eus[CTL_EUS];
	uint16_t n;

	ctl_configure(f);
	ASSERT_INVALID(doca_sta_eu_reset_stats_type(NULL, DOCA_STA_EU_MAX));
	assert_int_equal(doca_sta_eu_reset_stats_type(f->sta, DOCA_STA_EU_MAX),
			 DOCA_ERROR_BAD_STATE);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_get_eu_handle(f->sta, eus, &num_eus));
	eu = eus[0];
	ASSERT_INVALID(doca_sta_get_eu_stats(NULL, &entries, &n));
	ASSERT_INVALID(doca_sta_get_eu_stats(eu, NULL, &n));
	ASSERT_INVALID(doca_sta_get_eu_stats(eu, &entries, NULL));
	ASSERT_INVALID(doca_sta_eu_reset_stats_handle(NULL));
	ASSERT_INVALID(doca_sta_get_eu_connect_qp_stats(NULL, NULL, &n));
	ASSERT_INVALID(doca_sta_get_eu_connect_qp_stats(eu, NULL, NULL));
	ASSERT_INVALID(doca_sta_get_be_queue_stats(NULL, NULL, &entries, &n));
	ASSERT_INVALID(doca_sta_get_ns_stats(NULL, NULL, &entries, &n));
	ASSERT_INVALID(doca_sta_get_eu_name(NULL, &name));
	ASSERT_INVALID(doca_sta_get_eu_name(eu, NULL));
	ASSERT_INVALID(doca_sta_get_eu_type(NULL, &type));
	ASSERT_INVALID(doca_sta_get_eu_type(eu, NULL));
	ASSERT_INVALID(doca_sta_get_eu_id(NULL, &n));
	ASSERT_INVALID(doca_sta_get_eu_id(eu, NULL));
	ASSERT_INVALID(doca_sta_get_eu_port(NULL, &n));
	ASSERT_INVALID(doca_sta_get_eu_port(eu, NULL));
	ASSERT_INVALID(doca_sta_get_eu_state(NULL, &eu_state));
	ASSERT_INVALID(doca_sta_get_eu_state(eu, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_execution_units), CTL_TEST(test_back_end_queues),
		CTL_TEST(test_namespaces),	CTL_TEST(test_listed_queue_pairs),
		CTL_TEST(test_no_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
