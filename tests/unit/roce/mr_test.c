/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory regions: keys, bounds to the byte, rights, invalidation, reuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "roce/lane.h"
#include "roce/mr.h"
#include "roce/ops.h"

#define ALL_RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

/* A device without sockets, one context and two protection domains. */
struct fixture {
	struct roce_device dev;
	struct ibv_context *ctx;
	struct roce_pd pd, other_pd;
	char memory[4096];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dev.mrs = roce_mr_table_create();
	f->dev.lane = roce_lane_create(&f->dev);
	f->ctx = roce_context_create(&f->dev);
	f->pd.ibpd.context = f->other_pd.ibpd.context = f->ctx;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	roce_context_put(f->ctx);
	roce_lane_destroy(f->dev.lane);
	roce_mr_table_destroy(f->dev.mrs);
	free(f);
	return 0;
}

static struct ibv_mr *reg(struct fixture *f, size_t offset, size_t length, unsigned int access)
{
	struct ibv_mr *mr;

	assert_int_equal(roce_mr_reg(&f->pd.ibpd, f->memory + offset, length,
				     (uintptr_t)f->memory + offset, access, &mr),
			 0);
	return mr;
}

static void *map(struct fixture *f, const struct ibv_mr *mr, size_t offset, size_t length,
		 int access)
{
	return roce_mr_map(f->dev.mrs, &f->pd.ibpd, mr->rkey, (uintptr_t)f->memory + offset, length,
			   access);
}

static void test_bounds(void **state)
{
	struct fixture *f = *state;
	struct ibv_mr *mr = reg(f, 100, 50, ALL_RIGHTS);

	assert_ptr_equal(map(f, mr, 100, 50, 0), f->memory + 100);
	assert_ptr_equal(map(f, mr, 149, 1, 0), f->memory + 149);
	assert_null(map(f, mr, 99, 1, 0));
	assert_null(map(f, mr, 99, 51, 0));
	assert_null(map(f, mr, 100, 51, 0));
	assert_null(map(f, mr, 150, 1, 0));
	assert_null(map(f, mr, 149, 2, 0));
	/* A length that wraps the address space is not inside either. */
	assert_null(map(f, mr, 149, SIZE_MAX, 0));
	roce_mr_dereg(mr);
}

static void test_iova(void **state)
{
	struct fixture *f = *state;
	struct ibv_mr *mr;

	assert_int_equal(roce_mr_reg(&f->pd.ibpd, f->memory, 64, 0x10000, ALL_RIGHTS, &mr), 0);
	assert_ptr_equal(roce_mr_map(f->dev.mrs, &f->pd.ibpd, mr->lkey, 0x10010, 8, 0),
			 f->memory + 0x10);
	assert_null(roce_mr_map(f->dev.mrs, &f->pd.ibpd, mr->lkey, (uintptr_t)f->memory, 8, 0));
	roce_mr_dereg(mr);
	assert_int_equal(roce_mr_reg(&f->pd.ibpd, f->memory, 64, 7777,
				     ALL_RIGHTS | IBV_ACCESS_ZERO_BASED, &mr),
			 0);
	assert_ptr_equal(roce_mr_map(f->dev.mrs, &f->pd.ibpd, mr->lkey, 63, 1, 0), f->memory + 63);
	roce_mr_dereg(mr);
}

static void test_rights(void **state)
{
	static const int uses[] = {0, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ,
				   IBV_ACCESS_REMOTE_WRITE};
	static const struct {
		unsigned int access;
		bool allowed[4]; /* in the order of uses */
	} rows[] = {
		{0, {true, false, false, false}},
		{IBV_ACCESS_LOCAL_WRITE, {true, true, false, false}},
		{IBV_ACCESS_REMOTE_READ, {true, false, true, false}},
		{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, {true, true, false, true}},
		{ALL_RIGHTS, {true, true, true, true}},
	};
	struct fixture *f = *state;

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		struct ibv_mr *mr = reg(f, 0, 10, rows[r].access);

		for (size_t u = 0; u < 4; u++)
			assert_int_equal(map(f, mr, 0, 10, uses[u]) != NULL, rows[r].allowed[u]);
		roce_mr_dereg(mr);
	}
}

static void test_refused_registrations(void **state)
{
	struct fixture *f = *state;
	struct ibv_mr *mr;

	assert_int_equal(roce_mr_reg(&f->pd.ibpd, f->memory, 8, 0, IBV_ACCESS_REMOTE_WRITE, &mr),
			 -EINVAL);
	assert_int_equal(roce_mr_reg(&f->pd.ibpd, f->memory, 8, 0, IBV_ACCESS_ON_DEMAND, &mr),
			 -EOPNOTSUPP);
	assert_int_equal(roce_mr_reg(&f->pd.ibpd, f->memory, 8, UINT64_MAX - 3, 0, &mr), -EINVAL);
	assert_int_equal(roce_mr_reg(&f->pd.ibpd, f->memory, SIZE_MAX / 2, 0, 0, &mr), -EINVAL);
	assert_int_equal(atomic_load(&f->pd.users), 0);
}

static void test_other_pd(void **state)
{
	struct fixture *f = *state;
	struct ibv_mr *mr = reg(f, 0, 10, ALL_RIGHTS);

	assert_null(
		roce_mr_map(f->dev.mrs, &f->other_pd.ibpd, mr->rkey, (uintptr_t)f->memory, 1, 0));
	assert_int_equal(roce_mr_invalidate(f->dev.mrs, &f->other_pd.ibpd, mr->rkey), -EACCES);
	assert_non_null(map(f, mr, 0, 1, IBV_ACCESS_REMOTE_READ));
	roce_mr_dereg(mr);
}

static void test_invalidate(void **state)
{
	struct fixture *f = *state;
	struct ibv_mr *mr = reg(f, 0, 10, ALL_RIGHTS);
	struct ibv_mr *local = reg(f, 0, 10, IBV_ACCESS_LOCAL_WRITE);

	assert_int_equal(roce_mr_invalidate(f->dev.mrs, &f->pd.ibpd, mr->rkey), 0);
	assert_null(map(f, mr, 0, 1, IBV_ACCESS_REMOTE_READ));
	assert_null(map(f, mr, 0, 1, IBV_ACCESS_REMOTE_WRITE));
	assert_non_null(map(f, mr, 0, 1, IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(roce_mr_invalidate(f->dev.mrs, &f->pd.ibpd, local->rkey), -EACCES);
	assert_int_equal(roce_mr_invalidate(f->dev.mrs, &f->pd.ibpd, 0xabcdef01), -EACCES);
	roce_mr_dereg(mr);
	roce_mr_dereg(local);
}

static void test_old_key_matches_nothing(void **state)
{
	struct fixture *f = *state;
	struct ibv_mr *mr = reg(f, 0, 10, ALL_RIGHTS);
	struct ibv_mr old = *mr;
	uint32_t epoch = f->dev.lane->mr_epoch;

	roce_mr_dereg(mr);
	assert_int_not_equal(f->dev.lane->mr_epoch, epoch);
	assert_null(map(f, &old, 0, 1, 0));
	mr = reg(f, 0, 10, ALL_RIGHTS);
	assert_int_equal(mr->handle, old.handle); /* the slot is used again ... */
	assert_null(map(f, &old, 0, 1, 0)); /* ... under another key */
	assert_non_null(map(f, mr, 0, 1, 0));
	roce_mr_dereg(mr);
}

static void test_many(void **state)
{
	enum {
		COUNT = 1000
	};
	struct fixture *f = *state;
	struct ibv_mr *mrs[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		mrs[i] = reg(f, i, 2, ALL_RIGHTS);
	assert_int_equal(atomic_load(&f->pd.users), COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_not_equal(mrs[i]->lkey, 0);
		assert_int_equal(mrs[i]->lkey, mrs[i]->rkey);
		assert_ptr_equal(map(f, mrs[i], i, 2, 0), f->memory + i);
		assert_null(map(f, mrs[i], i + 1, 2, 0));
	}
	for (size_t i = 0; i < COUNT; i++)
		roce_mr_dereg(mrs[i]);
	assert_int_equal(atomic_load(&f->pd.users), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bounds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_iova, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rights, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused_registrations, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_pd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_invalidate, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_old_key_matches_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
