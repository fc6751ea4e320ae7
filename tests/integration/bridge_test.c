/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doca_rdma_bridge.h, and what it makes of exported memory maps: two processes over sr_lo, one
 * describes its memory, the other makes a map of the description and reads and writes by its key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_rdma_bridge.h>
#include <string.h>
#include <sys/socket.h>

#include "verbs_pair.h"

#define MEMORY_BYTES 8192
#define MAX_DESC     256

/* --- the side that has the memory ---------------------------------------------------------- */

static struct doca_mmap *make_map(struct doca_dev *dev, void *memory)
{
	struct doca_mmap *mmap;

	CHECK(doca_mmap_create(&mmap) == DOCA_SUCCESS);
	CHECK(doca_mmap_add_dev(mmap, dev) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_memrange(mmap, memory, MEMORY_BYTES) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ |
						      DOCA_ACCESS_FLAG_RDMA_WRITE) == DOCA_SUCCESS);
	CHECK(doca_mmap_start(mmap) == DOCA_SUCCESS);
	return mmap;
}

static void exporter(struct verbs_side *side)
{
	static uint8_t memory[MEMORY_BYTES];
	struct doca_mmap *mmap;
	struct doca_dev *dev;
	const void *desc;
	size_t len;

	CHECK(doca_rdma_bridge_open_dev_from_pd(side->pd, &dev) == DOCA_SUCCESS);
	mmap = make_map(dev, memory);
	verbs_fill(memory, MEMORY_BYTES, 1);
	CHECK(doca_mmap_export_rdma(mmap, dev, &desc, &len) == DOCA_SUCCESS);
	CHECK(len <= MAX_DESC);
	CHECK(send(side->sock, &len, sizeof(len), 0) == sizeof(len));
	CHECK(send(side->sock, desc, len, 0) == (ssize_t)len);
	verbs_barrier(side); /* the peer has read and written */
	CHECK(verbs_is_filled(memory, MEMORY_BYTES, 2));
	CHECK(doca_mmap_stop(mmap) == DOCA_SUCCESS);
	verbs_barrier(side); /* it may try again */
	verbs_barrier(side); /* and has */
	CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
}

/* --- the side that has the description ----------------------------------------------------- */

static void access_by_key(struct verbs_side *side, enum ibv_wr_opcode opcode, uint64_t addr,
			  uint32_t key, struct ibv_wc *wc)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)side->buf,
		.length = MEMORY_BYTES,
		.lkey = side->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = opcode,
					 .wr.rdma = {.remote_addr = addr, .rkey = key},
				 };

	CHECK(ibv_post_send(side->qp, &wr, &bad) == 0);
	verbs_wait(side, wc);
}

static void importer(struct verbs_side *side)
{
	uint8_t desc[MAX_DESC];
	struct doca_mmap *mmap;
	struct doca_dev *dev;
	struct ibv_wc wc;
	uint32_t key;
	void *addr;
	size_t len;

	CHECK(recv(side->sock, &len, sizeof(len), MSG_WAITALL) == sizeof(len) && len <= MAX_DESC);
	CHECK(recv(side->sock, desc, len, MSG_WAITALL) == (ssize_t)len);
	CHECK(doca_rdma_bridge_open_dev_from_pd(side->pd, &dev) == DOCA_SUCCESS);
	CHECK(doca_mmap_create_from_export(NULL, desc, len, dev, &mmap) == DOCA_SUCCESS);
	CHECK(doca_mmap_get_memrange(mmap, &addr, &len) == DOCA_SUCCESS && len == MEMORY_BYTES);
	CHECK(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, side->pd, &key) == DOCA_SUCCESS);

	access_by_key(side, IBV_WR_RDMA_READ, (uintptr_t)addr, key, &wc);
	CHECK(wc.status == IBV_WC_SUCCESS && verbs_is_filled(side->buf, MEMORY_BYTES, 1));
	verbs_fill(side->buf, MEMORY_BYTES, 2);
	access_by_key(side, IBV_WR_RDMA_WRITE, (uintptr_t)addr, key, &wc);
	CHECK(wc.status == IBV_WC_SUCCESS);
	verbs_barrier(side);
	verbs_barrier(side); /* the source has stopped */
	access_by_key(side, IBV_WR_RDMA_READ, (uintptr_t)addr, key, &wc);
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR);
	verbs_barrier(side);
	CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
}

static void a_peer_uses_an_export_until_it_stops(void **state)
{
	(void)state;
	assert_true(verbs_pair_run(exporter, importer, NULL));
}

/* --- without a peer ------------------------------------------------------------------------ */

static int setup(void **state)
{
	static struct doca_dev *dev;
	struct doca_devinfo **list;
	uint32_t n;

	assert_int_equal(doca_devinfo_create_list(&list, &n), DOCA_SUCCESS);
	assert_int_equal(doca_dev_open(list[0], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
	*state = dev;
	return 0;
}

static int teardown(void **state)
{
	return doca_dev_close(*state);
}

static void the_key_of_local_memory(void **state)
{
	static uint8_t memory[MEMORY_BYTES];
	struct doca_dev *dev = *state;
	struct doca_mmap *mmap = make_map(dev, memory);
	struct ibv_pd *pd, *other;
	uint32_t key, again;

	assert_int_equal(doca_rdma_bridge_get_dev_pd(dev, &pd), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, &key), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, &again), DOCA_SUCCESS);
	assert_int_equal(key, again);
	other = ibv_alloc_pd(pd->context);
	assert_non_null(other);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, other, &key),
			 DOCA_ERROR_NOT_FOUND);
	assert_int_equal(ibv_dealloc_pd(other), 0);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, &key),
			 DOCA_ERROR_INVALID_VALUE);

	/* More than any device registers. */
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, SIZE_MAX / 4), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, &key),
			 DOCA_ERROR_OPERATING_SYSTEM);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

/* As many as may be open, and one more. */
static void devices_of_domains_are_bounded(void **state)
{
	static struct doca_dev *devs[1024];
	static struct ibv_pd *pds[1024];
	struct doca_dev *dev = *state, *more;
	doca_error_t result = DOCA_SUCCESS;
	struct ibv_pd *pd;
	int n = 0;

	assert_int_equal(doca_rdma_bridge_get_dev_pd(dev, &pd), DOCA_SUCCESS);
	while (result == DOCA_SUCCESS) {
		assert_true(n < 1024);
		pds[n] = ibv_alloc_pd(pd->context);
		assert_non_null(pds[n]);
		result = doca_rdma_bridge_open_dev_from_pd(pds[n], &devs[n]);
		n++;
	}
	n--;
	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(pds[n], &more),
			 DOCA_ERROR_INITIALIZATION);
	/* What is open already is no further one. */
	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(pds[0], &more), DOCA_SUCCESS);
	assert_ptr_equal(more, devs[0]);
	assert_int_equal(doca_dev_close(more), DOCA_SUCCESS);
	assert_int_equal(ibv_dealloc_pd(pds[n]), 0);
	while (n--) {
		assert_int_equal(doca_dev_close(devs[n]), DOCA_SUCCESS);
		assert_int_equal(ibv_dealloc_pd(pds[n]), 0);
	}
}

static void null_is_invalid(void **state)
{
	static uint8_t memory[MEMORY_BYTES];
	struct doca_dev *dev = *state, *out;
	struct doca_mmap *mmap = make_map(dev, memory);
	/* There is none: any address stands for it. */
	const struct doca_buf *buf = (const struct doca_buf *)memory;
	struct ibv_pd *pd;
	uint32_t key;

	assert_int_equal(doca_rdma_bridge_get_dev_pd(NULL, &pd), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_dev_pd(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_dev_pd(dev, &pd), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(NULL, &out), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(pd, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(buf, dev, &key), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(NULL, dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(buf, NULL, &key), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(buf, dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(NULL, pd, &key),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, NULL, &key),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_uses_an_export_until_it_stops),
		cmocka_unit_test_setup_teardown(the_key_of_local_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(devices_of_domains_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(null_is_invalid, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
