/* SPDX-License-Identifier: Apache-2.0 */
/* doca_sta_subsystem.h: subsystems, and how namespaces come and go. */
#include "ctl.h"

#include <string.h>

#include <doca_sta_be.h>
#include <doca_sta_subsystem.h>

enum {
	BLOCK = 512
};

static const union doca_data none;

static void test_subsystems(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_subs_handle *a, *b;
	char nqn[STA_MAX_NQN_BYTES + 2];

	memset(nqn, 'n', sizeof(nqn));
	nqn[STA_MAX_NQN_BYTES + 1] = '\0';
	ASSERT_INVALID(doca_sta_subsystem_create(f->sta, nqn, &a));
	ASSERT_INVALID(doca_sta_subsystem_create(f->sta, "", &a));
	nqn[STA_MAX_NQN_BYTES] = '\0';
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, nqn, &a));
	assert_int_equal(doca_sta_subsystem_create(f->sta, nqn, &b), DOCA_ERROR_ALREADY_EXIST);
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "b", &b));
	assert_int_equal(doca_sta_destroy(f->sta), DOCA_ERROR_IN_USE);
	ASSERT_INVALID(doca_sta_subsystem_add_dev(a, f->dev));
	ASSERT_GOOD(doca_sta_add_dev(f->sta, f->dev));
	ASSERT_GOOD(doca_sta_subsystem_add_dev(a, f->dev));
	assert_int_equal(doca_sta_subsystem_add_dev(a, f->dev), DOCA_ERROR_ALREADY_EXIST);
	ASSERT_GOOD(doca_sta_subsystem_destroy(a));
	ASSERT_GOOD(doca_sta_subsystem_destroy(b));
}

static void test_tasks_are_configured_while_idle(void **state)
{
	struct ctl *f = *state;

	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_set_conf(NULL, ctl_on_done, ctl_on_failed));
	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_set_conf(f->sta, NULL, ctl_on_failed));
	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_set_conf(f->sta, ctl_on_done, NULL));
	ASSERT_GOOD(doca_sta_subsystem_task_rm_ns_set_conf(f->sta, ctl_on_done, ctl_on_failed));
	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_subsystem_task_rm_ns_set_conf(f->sta, ctl_on_done, ctl_on_failed),
			 DOCA_ERROR_BAD_STATE);
}

static void test_namespaces(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task, *again;
	struct doca_sta_subs_handle *s, *other;
	struct doca_sta_ns_handle *ns, *ns2;
	union doca_data self = {.ptr = f};

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "o", &other));
	ASSERT_INVALID(doca_sta_subsystem_add_ns(s, 0, BLOCK, 1, f->be, &ns));
	ASSERT_INVALID(
		doca_sta_subsystem_add_ns(s, STA_MAX_NS_PER_SUBSYS + 1, BLOCK, 1, f->be, &ns));
	assert_int_equal(doca_sta_subsystem_add_ns(s, 1, 520, 1, f->be, &ns),
			 DOCA_ERROR_NOT_SUPPORTED);
	ASSERT_GOOD(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, &ns));
	assert_int_equal(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, &ns2),
			 DOCA_ERROR_ALREADY_EXIST);
	ASSERT_GOOD(doca_sta_subsystem_add_ns(s, 2, BLOCK, 1, f->be, &ns2));
	assert_int_equal(doca_sta_subsystem_destroy(s), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_sta_be_destroy(f->be), DOCA_ERROR_IN_USE);
	ASSERT_INVALID(doca_sta_subsystem_rm_ns(other, ns));
	/* by task */
	ASSERT_GOOD(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &task));
	ASSERT_GOOD(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &again));
	ctl_submit(task);
	assert_int_equal(doca_task_submit(doca_sta_producer_send_task_as_task(again)),
			 DOCA_ERROR_BAD_STATE);
	doca_task_free(doca_sta_producer_send_task_as_task(again));
	assert_int_equal(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &again),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sta_subsystem_rm_ns(s, ns), DOCA_ERROR_BAD_STATE);
	PROGRESS_UNTIL(f, f->num_done == 1);
	/* and waiting */
	ASSERT_GOOD(doca_sta_subsystem_rm_ns(s, ns2));
	ASSERT_GOOD(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, &ns));
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	assert_int_equal(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &task),
			 DOCA_ERROR_BAD_STATE);
	/* With no EU left there is nobody to wait for. */
	ASSERT_GOOD(doca_sta_subsystem_rm_ns(s, ns));
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
	ASSERT_GOOD(doca_sta_subsystem_destroy(other));
}

static void on_done_again(struct doca_sta_producer_task_send *task, union doca_data user_data)
{
	struct doca_task *t = doca_sta_producer_send_task_as_task(task);
	struct ctl *f = user_data.ptr;

	f->num_done++;
	assert_int_equal(doca_task_submit(t), DOCA_ERROR_BAD_STATE);
	/* Kept. */
}

/* Tasks outlive their namespace, whoever has removed it. */
static void test_tasks_without_a_namespace(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *tasks[4];
	struct doca_sta_subs_handle *s;
	struct doca_sta_ns_handle *ns;
	union doca_data self = {.ptr = f};

	ctl_configure(f);
	ASSERT_GOOD(doca_sta_subsystem_task_rm_ns_set_conf(f->sta, on_done_again, ctl_on_failed));
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	ASSERT_GOOD(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, &ns));
	for (int i = 0; i < 3; i++)
		ASSERT_GOOD(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &tasks[i]));
	/* One that goes before, out of the middle. */
	doca_task_free(doca_sta_producer_send_task_as_task(tasks[1]));
	ctl_submit(tasks[0]);
	PROGRESS_UNTIL(f, f->num_done == 1);
	ASSERT_GOOD(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, &ns));
	ASSERT_GOOD(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &tasks[1]));
	ASSERT_GOOD(doca_sta_subsystem_task_rm_ns_alloc_init(s, ns, self, &tasks[3]));
	ASSERT_GOOD(doca_sta_subsystem_rm_ns(s, ns));
	/* The next one of this identifier is not theirs. */
	ASSERT_GOOD(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, &ns));
	for (int i = 0; i < 4; i++) {
		struct doca_task *t = doca_sta_producer_send_task_as_task(tasks[i]);

		assert_int_equal(doca_task_submit(t), DOCA_ERROR_BAD_STATE);
		assert_int_equal(doca_task_try_submit(t), DOCA_ERROR_BAD_STATE);
		doca_task_free(t);
	}
	ASSERT_GOOD(doca_sta_subsystem_rm_ns(s, ns));
	assert_int_equal(f->num_done, 1);
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
}

static void test_no_pointers(void **state)
{
	struct ctl *f = *state;
	struct doca_sta_producer_task_send *task;
	struct doca_sta_subs_handle *s;
	struct doca_sta_ns_handle *ns;

	ctl_configure(f);
	ctl_start(f);
	ASSERT_GOOD(doca_sta_be_create(f->sta, &f->be));
	ASSERT_INVALID(doca_sta_subsystem_destroy(NULL));
	ASSERT_INVALID(doca_sta_subsystem_create(NULL, "s", &s));
	ASSERT_INVALID(doca_sta_subsystem_create(f->sta, NULL, &s));
	ASSERT_INVALID(doca_sta_subsystem_create(f->sta, "s", NULL));
	ASSERT_GOOD(doca_sta_subsystem_create(f->sta, "s", &s));
	ASSERT_INVALID(doca_sta_subsystem_add_dev(NULL, f->dev));
	ASSERT_INVALID(doca_sta_subsystem_add_dev(s, NULL));
	ASSERT_INVALID(doca_sta_subsystem_add_ns(NULL, 1, BLOCK, 1, f->be, &ns));
	ASSERT_INVALID(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, NULL, &ns));
	ASSERT_INVALID(doca_sta_subsystem_add_ns(s, 1, BLOCK, 1, f->be, NULL));
	ASSERT_INVALID(doca_sta_subsystem_rm_ns(s, NULL));
	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_alloc_init(NULL, NULL, none, &task));
	ASSERT_INVALID(doca_sta_subsystem_task_rm_ns_alloc_init(s, NULL, none, &task));
	ASSERT_GOOD(doca_sta_subsystem_destroy(s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_subsystems),  CTL_TEST(test_tasks_are_configured_while_idle),
		CTL_TEST(test_namespaces),  CTL_TEST(test_tasks_without_a_namespace),
		CTL_TEST(test_no_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
