/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doca_sta_event.h: what is registered, and what is in an event: each getter gives its field, and
 * wants both pointers.
 */
#include "ctl.h"

#include <doca_sta_be.h>
#include <doca_sta_io.h>
#include <doca_sta_io_qp.h>
#include <doca_sta_subsystem.h>

/* Handles are only handed through: any address stands for one. */
static char handles[2];

static const union doca_data none;

static void on_timeout(const struct doca_sta_event_be_timeout *event, union doca_data user_data)
{
	(void)event;
	(void)user_data;
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

static void test_register(void **state)
{
	struct ctl *f = *state;

	ASSERT_INVALID(doca_sta_event_be_timeout_register_cb(NULL, on_timeout, none));
	ASSERT_INVALID(doca_sta_event_be_timeout_register_cb(f->sta, NULL, none));
	ASSERT_GOOD(doca_sta_event_be_timeout_register_cb(f->sta, on_timeout, none));
	ASSERT_INVALID(doca_sta_event_eu_err_register_cb(NULL, on_eu_error, none));
	ASSERT_INVALID(doca_sta_event_eu_err_register_cb(f->sta, NULL, none));
	ASSERT_GOOD(doca_sta_event_eu_err_register_cb(f->sta, on_eu_error, none));
	ASSERT_INVALID(doca_sta_event_cqe_notify_register_cb(NULL, on_cqe, none));
	ASSERT_INVALID(doca_sta_event_cqe_notify_register_cb(f->sta, NULL, none));
	ASSERT_GOOD(doca_sta_event_cqe_notify_register_cb(f->sta, on_cqe, none));
	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_event_be_timeout_register_cb(f->sta, on_timeout, none),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_event_eu_err_register_cb(f->sta, on_eu_error, none),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_event_cqe_notify_register_cb(f->sta, on_cqe, none),
			 DOCA_ERROR_BAD_STATE);
}

static void test_register_of_an_io_context(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_io *io;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_io_create(f->sta, &io));
	ASSERT_INVALID(doca_sta_io_event_transport_err_register_cb(NULL, on_transport_error, none));
	ASSERT_INVALID(doca_sta_io_event_transport_err_register_cb(io, NULL, none));
	ASSERT_GOOD(doca_sta_io_event_transport_err_register_cb(io, on_transport_error, none));
	ASSERT_GOOD(doca_sta_io_destroy(io));
	ctl_start_io(f);
	assert_int_equal(doca_sta_io_event_transport_err_register_cb(f->io, on_transport_error,
								     none),
			 DOCA_ERROR_BAD_STATE);
	ctl_stop_io(f);
}

/* What was not told by then is forgotten with the queues that it is about. */
static void test_stop_with_time_outs_to_tell(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_be_q_handle *a, *b;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	a = ctl_add_queue(f);
	b = ctl_add_queue(f);
	sta_post(f->sta, &a->timeout_msg);
	PROGRESS_UNTIL(f, f->num_timeouts == 1);
	sta_post(f->sta, &a->timeout_msg);
	sta_post(f->sta, &b->timeout_msg);
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	ctl_start(f);
	(void)doca_pe_progress(f->pe);
	assert_int_equal(f->num_timeouts, 1);
}

static void test_transport_error(void **state)
{
	const struct doca_sta_event_transport_err event = {
		.qp = (const struct doca_sta_qp_handle *)&handles[0],
		.operation = 1,
		.syndrome = 2,
		.vendor_syndrome = 3,
	};
	const struct doca_sta_qp_handle *qp;
	uint32_t v;

	(void)state;
	ASSERT_GOOD(doca_sta_event_transport_err_get_qp_handle(&event, &qp));
	assert_ptr_equal(qp, &handles[0]);
	ASSERT_INVALID(doca_sta_event_transport_err_get_qp_handle(NULL, &qp));
	ASSERT_INVALID(doca_sta_event_transport_err_get_qp_handle(&event, NULL));
	ASSERT_GOOD(doca_sta_event_transport_err_get_operation(&event, &v));
	assert_int_equal(v, 1);
	ASSERT_INVALID(doca_sta_event_transport_err_get_operation(NULL, &v));
	ASSERT_INVALID(doca_sta_event_transport_err_get_operation(&event, NULL));
	ASSERT_GOOD(doca_sta_event_transport_err_get_syndrome(&event, &v));
	assert_int_equal(v, 2);
	ASSERT_INVALID(doca_sta_event_transport_err_get_syndrome(NULL, &v));
	ASSERT_INVALID(doca_sta_event_transport_err_get_syndrome(&event, NULL));
	ASSERT_GOOD(doca_sta_event_transport_err_get_vendor_syndrome(&event, &v));
	assert_int_equal(v, 3);
	ASSERT_INVALID(doca_sta_event_transport_err_get_vendor_syndrome(NULL, &v));
	ASSERT_INVALID(doca_sta_event_transport_err_get_vendor_syndrome(&event, NULL));
}

static void test_back_end_timeout(void **state)
{
	const struct doca_sta_event_be_timeout event = {
		.be = (const struct doca_sta_be_handle *)&handles[0],
		.beq = (const struct doca_sta_be_q_handle *)&handles[1],
	};
	const struct doca_sta_be_q_handle *queue;
	const struct doca_sta_be_handle *be;

	(void)state;
	ASSERT_GOOD(doca_sta_event_be_timeout_get_be_handle(&event, &be));
	assert_ptr_equal(be, &handles[0]);
	ASSERT_INVALID(doca_sta_event_be_timeout_get_be_handle(NULL, &be));
	ASSERT_INVALID(doca_sta_event_be_timeout_get_be_handle(&event, NULL));
	ASSERT_GOOD(doca_sta_event_be_timeout_get_be_queue_handle(&event, &queue));
	assert_ptr_equal(queue, &handles[1]);
	ASSERT_INVALID(doca_sta_event_be_timeout_get_be_queue_handle(NULL, &queue));
	ASSERT_INVALID(doca_sta_event_be_timeout_get_be_queue_handle(&event, NULL));
}

static void test_eu_error(void **state)
{
	const struct doca_sta_event_eu_err event = {
		.is_fatal = true,
		.eu = (const struct doca_sta_eu_handle *)&handles[0],
	};
	const struct doca_sta_eu_handle *eu;
	bool is_fatal = false;

	(void)state;
	ASSERT_GOOD(doca_sta_event_eu_err_is_fatal_error(&event, &is_fatal));
	assert_true(is_fatal);
	ASSERT_INVALID(doca_sta_event_eu_err_is_fatal_error(NULL, &is_fatal));
	ASSERT_INVALID(doca_sta_event_eu_err_is_fatal_error(&event, NULL));
	ASSERT_GOOD(doca_sta_event_eu_err_get_eu_handle(&event, &eu));
	assert_ptr_equal(eu, &handles[0]);
	ASSERT_INVALID(doca_sta_event_eu_err_get_eu_handle(NULL, &eu));
	ASSERT_INVALID(doca_sta_event_eu_err_get_eu_handle(&event, NULL));
}

static const struct doca_sta_event_cqe_notify cqe_event = {
	.type = DOCA_STA_CQE_NOTIF_NVME_COMP_ERR,
	.subsys = (const struct doca_sta_subs_handle *)&handles[0],
	.qp = (struct doca_sta_qp_handle *)&handles[1],
	.cqe = {.dw0 = 1, .sqid = 2, .cid = 3, .status = 4},
	.opcode = 5,
	.cid = 6,
	.nsid = 7,
	.err_byte = 8,
	.lba = 9,
};

static void test_completion(void **state)
{
	const struct doca_sta_event_cqe_notify *event = &cqe_event, no_subsystem = {0};
	const struct doca_sta_subs_handle *subsys;
	const struct doca_sta_qp_handle *qp;
	enum doca_sta_cqe_notify_type type;
	doca_sta_nvme_completion_t cqe;
	uint16_t byte;

	(void)state;
	ASSERT_GOOD(doca_sta_event_cqe_notify_get_cqe_notify_type(event, &type));
	assert_int_equal(type, DOCA_STA_CQE_NOTIF_NVME_COMP_ERR);
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_cqe_notify_type(NULL, &type));
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_cqe_notify_type(event, NULL));
	ASSERT_GOOD(doca_sta_event_cqe_notify_get_cqe(event, cqe));
	assert_memory_equal(cqe, &cqe_event.cqe, sizeof(cqe));
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_cqe(NULL, cqe));
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_cqe(event, NULL));
	ASSERT_GOOD(doca_sta_event_cqe_notify_get_subsystem_handle(event, &subsys));
	assert_ptr_equal(subsys, &handles[0]);
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_subsystem_handle(NULL, &subsys));
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_subsystem_handle(event, NULL));
	assert_int_equal(doca_sta_event_cqe_notify_get_subsystem_handle(&no_subsystem, &subsys),
			 DOCA_ERROR_NOT_FOUND);
	ASSERT_GOOD(doca_sta_event_cqe_notify_get_qp_handle(event, &qp));
	assert_ptr_equal(qp, &handles[1]);
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_qp_handle(NULL, &qp));
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_qp_handle(event, NULL));
	ASSERT_GOOD(doca_sta_event_cqe_notify_get_param_err_location(event, &byte));
	assert_int_equal(byte, 8);
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_param_err_location(NULL, &byte));
	ASSERT_INVALID(doca_sta_event_cqe_notify_get_param_err_location(event, NULL));
}

/* What the callback was told. */
static struct {
	unsigned int num;
	const struct doca_sta_qp_handle *qp;
	const struct doca_sta_subs_handle *subsys;
	doca_error_t err;
	uint32_t qpn;
	uint16_t group;
} told;

static void on_told(const struct doca_sta_event_cqe_notify *event, union doca_data user_data)
{
	struct doca_sta_qp_handle *qp;

	(void)user_data;
	told.num++;
	ASSERT_GOOD(doca_sta_event_cqe_notify_get_qp_handle(event, &told.qp));
	qp = (struct doca_sta_qp_handle *)(uintptr_t)told.qp;
	ASSERT_GOOD(doca_sta_io_qp_get_id(qp, &told.qpn));
	ASSERT_GOOD(doca_sta_io_qp_get_group_id(qp, &told.group));
	told.subsys = NULL;
	told.err = doca_sta_event_cqe_notify_get_subsystem_handle(event, &told.subsys);
}

/* As the EU does it. */
static void tell(struct doca_sta_qp_handle *qp)
{
	const struct sta_req req = {.qp = qp};

	sta_event_cqe_notify(qp->eu, &req, DOCA_STA_CQE_NOTIF_NVME_COMP_ERR);
}

/* The thread of the IO context is through with the queue pair before that of STA hears of it. */
static void test_completion_of_what_is_gone(void **state)
{
	struct ctl *f = *state;
	struct doca_pe *sta_pe = f->pe;
	struct doca_sta_qp_handle *qp, *next;
	struct doca_sta_subs_handle *s;
	uint32_t qpn;

	ASSERT_GOOD(doca_sta_event_cqe_notify_register_cb(f->sta, on_told, none));
	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	ASSERT_GOOD(doca_pe_create(&f->pe));
	ctl_start_io(f);
	ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), NULL, 0, s, &qp));
	ASSERT_GOOD(doca_sta_io_qp_get_id(qp, &qpn));
	tell(qp);
	while (doca_pe_progress(sta_pe))
		;
	assert_int_equal(told.num, 1);
	ASSERT_GOOD(told.err);
	assert_ptr_equal(told.subsys, s);
	tell(qp);
	ASSERT_GOOD(doca_sta_io_qp_destroy(f->io, qp));
	PROGRESS_UNTIL(f, atomic_load(&f->sta->num_qps) == 0);
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
	/* No other goes by its name meanwhile. */
	ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), NULL, 0, NULL, &next));
	assert_ptr_not_equal(next, qp);
	while (doca_pe_progress(sta_pe))
		;
	assert_int_equal(told.num, 2);
	assert_ptr_equal(told.qp, qp);
	assert_int_equal(told.qpn, qpn);
	assert_int_equal(told.err, DOCA_ERROR_NOT_FOUND);
	/* Nobody hears of this one. */
	tell(next);
	ctl_stop_io(f);
	ASSERT_GOOD(doca_pe_destroy(f->pe));
	f->pe = sta_pe;
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	assert_int_equal(told.num, 2);
}

static void test_command_of_a_completion(void **state)
{
	const struct doca_sta_event_cqe_notify *event = &cqe_event;
	uint16_t cid, nsid;
	uint8_t opcode;
	uint64_t lba;

	(void)state;
	ASSERT_GOOD(
		doca_sta_event_cqe_notify_get_capsule_params(event, &opcode, &cid, &nsid, &lba));
	assert_int_equal(opcode, 5);
	assert_int_equal(cid, 6);
	assert_int_equal(nsid, 7);
	assert_int_equal(lba, 9);
	ASSERT_INVALID(
		doca_sta_event_cqe_notify_get_capsule_params(NULL, &opcode, &cid, &nsid, &lba));
	ASSERT_INVALID(
		doca_sta_event_cqe_notify_get_capsule_params(event, NULL, &cid, &nsid, &lba));
	ASSERT_INVALID(
		doca_sta_event_cqe_notify_get_capsule_params(event, &opcode, NULL, &nsid, &lba));
	ASSERT_INVALID(
		doca_sta_event_cqe_notify_get_capsule_params(event, &opcode, &cid, NULL, &lba));
	ASSERT_INVALID(
		doca_sta_event_cqe_notify_get_capsule_params(event, &opcode, &cid, &nsid, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_register),
		CTL_TEST(test_register_of_an_io_context),
		CTL_TEST(test_stop_with_time_outs_to_tell),
		cmocka_unit_test(test_transport_error),
		cmocka_unit_test(test_back_end_timeout),
		cmocka_unit_test(test_eu_error),
		cmocka_unit_test(test_completion),
		CTL_TEST(test_completion_of_what_is_gone),
		cmocka_unit_test(test_command_of_a_completion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
