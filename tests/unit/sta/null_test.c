/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NULL where the headers of STA want a pointer: DOCA_ERROR_INVALID_VALUE, header by header, in the
 * order in which they declare the functions.
 */
#include "ctl.h"

#include <doca_sta.h>
#include <doca_sta_be.h>
#include <doca_sta_event.h>
#include <doca_sta_io.h>
#include <doca_sta_io_non_offload.h>
#include <doca_sta_io_qp.h>
#include <doca_sta_stats.h>
#include <doca_sta_subsystem.h>

#define ASSERT_INVALID(call) assert_int_equal(call, DOCA_ERROR_INVALID_VALUE)

static const union doca_data none;

static void test_sta(void **state)
{
	struct ctl *f = *state;
	uint32_t n;
	uint16_t n16;

	ASSERT_INVALID(doca_sta_cap_is_supported(NULL));
	ASSERT_INVALID(doca_sta_add_dev(NULL, fakedev_dev()));
	ASSERT_INVALID(doca_sta_add_dev(f->sta, NULL));
	ASSERT_INVALID(doca_sta_get_max_sta_io(NULL, &n16));
	ASSERT_INVALID(doca_sta_get_max_sta_io(f->sta, NULL));
	ASSERT_INVALID(doca_sta_get_max_num_connected_qp_per_eu(NULL, &n));
	ASSERT_INVALID(doca_sta_get_max_num_connected_qp_per_eu(f->sta, NULL));
	ASSERT_INVALID(doca_sta_get_max_subsys(NULL));
	ASSERT_INVALID(doca_sta_get_max_ns_per_subs(NULL));
	ASSERT_INVALID(doca_sta_get_max_qps(NULL));
	ASSERT_INVALID(doca_sta_get_max_io_threads(NULL));
	ASSERT_INVALID(doca_sta_get_max_io_size(NULL));
	ASSERT_INVALID(doca_sta_get_max_io_num_per_dev(NULL, &n));
	ASSERT_INVALID(doca_sta_get_max_io_num_per_dev(f->sta, NULL));
	ASSERT_INVALID(doca_sta_get_max_io_queue_size(NULL, &n));
	ASSERT_INVALID(doca_sta_get_max_io_queue_size(f->sta, NULL));
	ASSERT_INVALID(doca_sta_get_min_ioccsz(NULL));
	ASSERT_INVALID(doca_sta_get_max_ioccsz(NULL));
	ASSERT_INVALID(doca_sta_get_min_iorcsz(NULL));
	ASSERT_INVALID(doca_sta_get_max_iorcsz(NULL));
	ASSERT_INVALID(doca_sta_get_max_icdoff(NULL));
	ASSERT_INVALID(doca_sta_get_max_be(NULL));
	ASSERT_INVALID(doca_sta_get_max_qs_per_be(NULL));
}

static void test_be(void **state)
{
	struct ctl *f = *state;
	const struct doca_sta_eu_ctr_entry *entries;
	struct doca_sta_producer_task_send *task;
	struct doca_sta_be_handle *be;
	uint16_t n;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_INVALID(doca_sta_be_create(NULL, &be));
	ASSERT_INVALID(doca_sta_be_create(f->sta, NULL));
	ASSERT_INVALID(doca_sta_be_destroy(NULL));
	ASSERT_INVALID(doca_sta_be_destroy_queue_task_alloc_init(NULL, none, &task));
	ASSERT_INVALID(doca_sta_get_be_queue_mapping_info(NULL, &entries, &n));
}

static void test_subsystem(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	struct doca_sta_subs_handle *s;

	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_set_conf(NULL, ctl_on_done, ctl_on_failed));
	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_set_conf(f->sta, NULL, ctl_on_failed));
	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_set_conf(f->sta, ctl_on_done, NULL));
	ctl_configure(f);
	ctl_start(f);
	ASSERT_INVALID(doca_sta_subsystem_destroy(NULL));
	assert_int_equal(doca_sta_subsystem_create(f->sta, "s", &s), DOCA_SUCCESS);
	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_alloc_init(NULL, NULL, none, &task));
	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_alloc_init(s, NULL, none, &task));
	assert_int_equal(doca_sta_subsystem_destroy(s), DOCA_SUCCESS);
}

static void on_transport_error(const struct doca_sta_event_transport_err *event,
			       union doca_data user_data)
{
	(void)event;
	(void)user_data;
}

static void on_eu_error(const struct doca_sta_event_eu_err *event, union doca_data user_data)
{
	(void)event;
	(void)user_data;
}

static void on_cqe(const struct doca_sta_event_cqe_notify *event, union doca_data user_data)
{
	(void)event;
	(void)user_data;
}

/* What is registered; the getters of events are in event_test.c. */
static void test_event(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_io *io;

	ASSERT_INVALID(doca_sta_event_eu_err_register_cb(NULL, on_eu_error, none));
	ASSERT_INVALID(doca_sta_event_eu_err_register_cb(f->sta, NULL, none));
	ASSERT_INVALID(doca_sta_event_cqe_notify_register_cb(NULL, on_cqe, none));
	ASSERT_INVALID(doca_sta_event_cqe_notify_register_cb(f->sta, NULL, none));
	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_io_create(f->sta, &io), DOCA_SUCCESS);
	ASSERT_INVALID(doca_sta_io_event_transport_err_register_cb(NULL, on_transport_error, none));
	ASSERT_INVALID(doca_sta_io_event_transport_err_register_cb(io, NULL, none));
	assert_int_equal(doca_sta_io_destroy(io), DOCA_SUCCESS);
}

static void test_io(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	uint8_t completion[DOCA_STA_COMPLETION_SIZE] = {0};
	struct doca_sta_io *io;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_INVALID(doca_sta_io_create(NULL, &io));
	ASSERT_INVALID(doca_sta_io_create(f->sta, NULL));
	ASSERT_INVALID(doca_sta_io_destroy(NULL));
	assert_int_equal(doca_sta_io_create(f->sta, &io), DOCA_SUCCESS);
	ASSERT_INVALID(doca_sta_io_task_disconnect_set_conf(NULL, ctl_on_done, ctl_on_failed));
	ASSERT_INVALID(doca_sta_io_task_disconnect_set_conf(io, NULL, ctl_on_failed));
	ASSERT_INVALID(doca_sta_io_task_disconnect_set_conf(io, ctl_on_done, NULL));
	ASSERT_INVALID(doca_sta_io_task_disconnect_alloc_init(NULL, none, NULL, &task));
	ASSERT_INVALID(doca_sta_io_non_offload_register_cb(NULL, ctl_on_command, none));
	ASSERT_INVALID(doca_sta_io_non_offload_register_cb(io, NULL, none));
	ASSERT_INVALID(doca_sta_io_task_non_offload_set_rdma_write_send_conf(NULL, ctl_on_done,
									     ctl_on_failed));
	ASSERT_INVALID(
		doca_sta_io_task_non_offload_set_rdma_write_send_conf(io, ctl_on_done, NULL));
	ASSERT_INVALID(
		doca_sta_io_task_non_offload_set_rdma_read_conf(NULL, ctl_on_done, ctl_on_failed));
	ASSERT_INVALID(doca_sta_io_task_non_offload_set_rdma_read_conf(io, NULL, ctl_on_failed));
	ASSERT_INVALID(doca_sta_io_task_non_offload_rdma_write_send_alloc_init(
		NULL, none, NULL, completion, none, &task));
	ASSERT_INVALID(
		doca_sta_io_task_non_offload_rdma_read_alloc_init(NULL, none, NULL, none, &task));
	assert_int_equal(doca_sta_io_destroy(io), DOCA_SUCCESS);
}

static void test_io_qp(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_qp_handle *qp;
	union doca_data data;
	uint32_t id;
	uint16_t n;

	ctl_configure(f);
	ctl_start(f);
	ctl_start_io(f);
	assert_int_equal(doca_sta_io_qp_alloc(f->io, fakedev_dev(), &qp), DOCA_SUCCESS);
	/* The connection is taken over all the same: no object is left at the end. */
	ASSERT_INVALID(doca_sta_io_qp_accept(f->io, NULL, fakedev_dev(), fakedev_request(), NULL, 0,
					     NULL));
	ASSERT_INVALID(doca_sta_io_qp_accept(f->io, qp, fakedev_dev(), NULL, NULL, 0, NULL));
	ASSERT_INVALID(
		doca_sta_io_qp_connect(NULL, fakedev_dev(), fakedev_request(), NULL, 0, NULL, &qp));
	ASSERT_INVALID(doca_sta_io_qp_connect(f->io, fakedev_dev(), NULL, NULL, 0, NULL, &qp));
	ASSERT_INVALID(doca_sta_io_qp_connect_established(f->io, NULL));
	ASSERT_INVALID(doca_sta_io_qp_add_subsystem(f->io, NULL, qp));
	ASSERT_INVALID(doca_sta_io_qp_get_id(NULL, &id));
	ASSERT_INVALID(doca_sta_io_qp_get_id(qp, NULL));
	ASSERT_INVALID(doca_sta_io_qp_get_port_id(NULL, &n));
	ASSERT_INVALID(doca_sta_io_qp_get_port_id(qp, NULL));
	ASSERT_INVALID(doca_sta_io_qp_get_group_id(NULL, &n));
	ASSERT_INVALID(doca_sta_io_qp_get_group_id(qp, NULL));
	ASSERT_INVALID(doca_sta_io_qp_get_index_in_group(NULL, &n));
	ASSERT_INVALID(doca_sta_io_qp_get_index_in_group(qp, NULL));
	ASSERT_INVALID(doca_sta_io_qp_set_user_data(f->io, NULL, none));
	ASSERT_INVALID(doca_sta_io_qp_get_user_data(NULL, &data));
	ASSERT_INVALID(doca_sta_io_qp_get_user_data(qp, NULL));
	assert_int_equal(doca_sta_io_qp_destroy(f->io, qp), DOCA_SUCCESS);
	ctl_stop_io(f);
}

static void test_stats(void **state)
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
	assert_int_equal(doca_sta_get_eu_handle(f->sta, eus, &num_eus), DOCA_SUCCESS);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, ctl_setup, ctl_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sta), TEST(test_be),	  TEST(test_subsystem), TEST(test_event),
		TEST(test_io),	TEST(test_io_qp), TEST(test_stats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
