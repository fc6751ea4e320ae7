/* SPDX-License-Identifier: Apache-2.0 */
/* doca_sta_mem.h: the application's allocator. */
#include "ctl.h"

#include <doca_sta_io_qp.h>
#include <doca_sta_mem.h>

static void test_register(void **state)
{
	struct ctl *f = *state;

	ASSERT_INVALID(doca_sta_mem_allocator_register(NULL, fakedev_zmalloc, fakedev_free,
						       fakedev_vtophys));
	ASSERT_INVALID(
		doca_sta_mem_allocator_register(f->sta, NULL, fakedev_free, fakedev_vtophys));
	ASSERT_INVALID(
		doca_sta_mem_allocator_register(f->sta, fakedev_zmalloc, NULL, fakedev_vtophys));
	ASSERT_INVALID(
		doca_sta_mem_allocator_register(f->sta, fakedev_zmalloc, fakedev_free, NULL));
	ASSERT_GOOD(doca_sta_mem_allocator_register(f->sta, fakedev_zmalloc, fakedev_free,
						    fakedev_vtophys));
	ctl_configure(f);
	ctl_start(f);
	assert_int_equal(doca_sta_mem_allocator_register(f->sta, fakedev_zmalloc, fakedev_free,
							 fakedev_vtophys),
			 DOCA_ERROR_BAD_STATE);
}

/* What the header promises an allocator: who asks, for what, and that all comes back. */
static struct {
	unsigned int num_live;
	bool is_blind; /* knows no physical address */
} mem;

static void *allocate(size_t size, size_t align, uint64_t *phys_addr)
{
	assert_true(size > 0);
	assert_int_equal(align & (align - 1), 0);
	mem.num_live++;
	return fakedev_zmalloc(size, align, phys_addr);
}

static void release(void *buf)
{
	assert_non_null(buf);
	mem.num_live--;
	fakedev_free(buf);
}

static uint64_t address_of(const void *buf, uint32_t size)
{
	assert_true(size > 0);
	return mem.is_blind ? DOCA_STA_VTOPHYS_ERROR : fakedev_vtophys(buf, size);
}

static void test_is_used(void **state)
{
	struct doca_sta_qp_handle *qp;
	struct ctl *f = *state;

	ctl_configure(f);
	ASSERT_GOOD(doca_sta_mem_allocator_register(f->sta, allocate, release, address_of));
	ctl_start(f);
	ctl_start_io(f);
	assert_int_equal(mem.num_live, 0);
	/* A controller could not reach the memory: no connection, and it all goes back. */
	mem.is_blind = true;
	assert_int_equal(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), NULL, 0, NULL,
						&qp),
			 DOCA_ERROR_DRIVER);
	assert_int_equal(mem.num_live, 0);
	mem.is_blind = false;
	ASSERT_GOOD(doca_sta_io_qp_connect(f->io, f->dev, fakedev_request(), NULL, 0, NULL, &qp));
	assert_true(mem.num_live > 0);
	ctl_stop_io(f);
	ASSERT_GOOD(doca_ctx_stop(doca_sta_as_ctx(f->sta)));
	assert_int_equal(mem.num_live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTL_TEST(test_register),
		CTL_TEST(test_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
