/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory maps. Devices, memory regions and dmabufs are stand-ins: a device counts its holds and is
 * its own protection domain, a region counts itself, a dmabuf is a memfd that fstatfs() lies about.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/dev.h"
#include "core/mmap.h"
#include "util/byteorder.h"

struct doca_dev {
	struct ibv_pd pd;
	int holds;
};

static int open_mrs;
static int reg_errno; /* what the next registration fails with */
static int last_access, last_fd;
static bool is_dereg_refused;

struct ibv_pd *doca_priv_dev_get_pd(const struct doca_dev *dev)
{
	return (struct ibv_pd *)&dev->pd;
}

static struct ibv_mr *reg(struct ibv_pd *pd, int access, int fd)
{
	struct ibv_mr *mr;

	if (reg_errno) {
		errno = reg_errno;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	assert_non_null(mr);
	mr->pd = pd;
	mr->lkey = 0x1100 + (uint32_t)open_mrs;
	mr->rkey = 0x2200 + (uint32_t)open_mrs;
	last_access = access;
	last_fd = fd;
	open_mrs++;
	return mr;
}

/* In parentheses: the header has a macro of this name. */
struct ibv_mr *(ibv_reg_mr)(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	(void)addr;
	(void)length;
	return reg(pd, access, -1);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	assert_true(iova == (uintptr_t)addr);
	return (ibv_reg_mr)(pd, addr, length, (int)access);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)iova;
	assert_int_equal(offset, 4096);
	assert_int_equal(length, 64);
	return reg(pd, access, fd);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	if (is_dereg_refused)
		return EBUSY;
	open_mrs--;
	free(mr);
	return 0;
}

static int dmabuf_fd = -1;

int fstatfs(int fd, struct statfs *fs)
{
	memset(fs, 0, sizeof(*fs));
	if (fcntl(fd, F_GETFD) < 0)
		return -1;
	fs->f_type = fd == dmabuf_fd ? DMA_BUF_MAGIC : TMPFS_MAGIC;
	return 0;
}

void doca_priv_dev_hold(struct doca_dev *dev)
{
	dev->holds++;
}

void doca_priv_dev_release(struct doca_dev *dev)
{
	dev->holds--;
}

static struct doca_dev devs[3];
static char memory[64];
static int frees;

static void count_free(void *addr, size_t len, void *cookie)
{
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, sizeof(memory));
	assert_ptr_equal(cookie, devs);
	frees++;
}

static int setup(void **state)
{
	frees = 0;
	reg_errno = 0;
	is_dereg_refused = false;
	return doca_mmap_create((struct doca_mmap **)state);
}

static int teardown(void **state)
{
	assert_int_equal(doca_mmap_destroy(*state), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++)
		assert_int_equal(devs[i].holds, 0);
	assert_int_equal(open_mrs, 0);
	return 0;
}

/* There is none: any address stands for it. */
#define ANY_DPA ((struct doca_dpa *)devs)

static void configure(struct doca_mmap *mmap)
{
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[0]), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
			 DOCA_SUCCESS);
}

static void configure_start_stop_and_again(void **state)
{
	struct doca_mmap *mmap = *state;
	void *addr;
	size_t len;

	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
	configure(mmap);
	assert_int_equal(devs[0].holds, 1);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, sizeof(memory));
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 32), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
}

static void start_needs_a_range_and_a_device(void **state)
{
	struct doca_mmap *mmap = *state;

	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 1), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[0]), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
}

static void nothing_is_set_while_started(void **state)
{
	struct doca_mmap *mmap = *state;

	configure(mmap);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[1]), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_rm_dev(mmap, &devs[0]), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_permissions(mmap, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_free_cb(mmap, count_free, NULL), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_user_data(mmap, (union doca_data){0}), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 4), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_dpa_memrange(mmap, ANY_DPA, 0, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_enable_thread_safety(mmap), DOCA_ERROR_NOT_PERMITTED);
	/* Of these also after the stop. */
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 4), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_enable_thread_safety(mmap), DOCA_ERROR_NOT_PERMITTED);
}

static void devices(void **state)
{
	struct doca_mmap *mmap = *state;
	uint32_t max;

	assert_int_equal(doca_mmap_get_max_num_devices(mmap, &max), DOCA_SUCCESS);
	assert_true(max >= 2);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 1025), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 2), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[0]), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[0]), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[1]), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[2]), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_rm_dev(mmap, &devs[0]), DOCA_SUCCESS);
	assert_int_equal(devs[0].holds, 0);
	assert_int_equal(doca_mmap_rm_dev(mmap, &devs[0]), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[2]), DOCA_SUCCESS);
}

static void ranges(void **state)
{
	struct doca_mmap *mmap = *state;

	assert_int_equal(doca_mmap_set_memrange(mmap, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 1), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 1), DOCA_ERROR_NOT_PERMITTED);
}

static void permissions(void **state)
{
	struct doca_mmap *mmap = *state;

	assert_int_equal(doca_mmap_set_permissions(mmap, 128), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_ONLY |
								 DOCA_ACCESS_FLAG_PCI_READ_WRITE),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(mmap,
						   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
							   DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING),
			 DOCA_SUCCESS);
}

static void the_free_callback_runs_for_a_map_that_was_started(void **state)
{
	struct doca_mmap *mmap;

	(void)state;
	for (int was_started = 0; was_started < 2; was_started++) {
		frees = 0;
		assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
		configure(mmap);
		assert_int_equal(doca_mmap_set_free_cb(mmap, count_free, devs), DOCA_SUCCESS);
		if (was_started)
			assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
		assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
		assert_int_equal(frees, was_started);
	}
}

static void a_user_keeps_it_started(void **state)
{
	struct doca_mmap *mmap = *state;
	uint32_t num;
	void *addr;
	size_t len;

	configure(mmap);
	assert_int_equal(doca_priv_mmap_get(mmap, NULL, 0, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_priv_mmap_get(mmap, &devs[1], 0, &addr, &len), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_priv_mmap_get(mmap, &devs[0], DOCA_ACCESS_FLAG_RDMA_READ, &addr,
					    &len),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_priv_mmap_get(mmap, &devs[0], DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
					    &addr, &len),
			 DOCA_SUCCESS);
	assert_ptr_equal(addr, memory);
	assert_int_equal(doca_mmap_get_num_bufs(mmap, &num), DOCA_SUCCESS);
	assert_int_equal(num, 1);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	doca_priv_mmap_put(mmap);
	assert_int_equal(doca_mmap_get_num_bufs(mmap, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
}

#define GETS 20000

static void *get_and_put(void *arg)
{
	const void *desc;
	uint32_t key;
	void *addr;
	size_t len;

	for (int i = 0; i < GETS; i++) {
		if (doca_priv_mmap_get(arg, NULL, 0, &addr, &len) != DOCA_SUCCESS ||
		    doca_mmap_export_rdma(arg, &devs[0], &desc, &len) != DOCA_SUCCESS ||
		    doca_priv_mmap_get_mkey(arg, &devs[0].pd, &key) != DOCA_SUCCESS)
			return arg;
		doca_priv_mmap_put(arg);
	}
	return NULL;
}

static void threads_use_a_started_map_at_once(void **state)
{
	struct doca_mmap *mmap = *state;
	pthread_t threads[2];
	uint32_t num;
	void *failed;

	configure(mmap);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_enable_thread_safety(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, get_and_put, mmap), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(doca_mmap_get_num_bufs(mmap, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
	assert_int_equal(open_mrs, 1);
}

/* The peer's side: its map is made of bytes only. */
static void export_to_a_peer(void **state)
{
	struct doca_mmap *mmap = *state, *peer;
	union doca_data data = {.u64 = 9};
	const void *desc, *again;
	size_t len, again_len;
	uint8_t flag;
	uint32_t key;
	void *addr;

	configure(mmap);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ |
								 DOCA_ACCESS_FLAG_RDMA_WRITE),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_exported(mmap, &flag), DOCA_SUCCESS);
	assert_int_equal(flag, 0);
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &desc, &len), DOCA_SUCCESS);
	assert_int_equal(last_access,
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE);
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &again, &again_len), DOCA_SUCCESS);
	assert_ptr_equal(desc, again);
	assert_int_equal(open_mrs, 1);
	assert_int_equal(doca_mmap_get_exported(mmap, &flag), DOCA_SUCCESS);
	assert_int_equal(flag, 1);

	assert_int_equal(doca_mmap_create_from_export(&data, desc, len, &devs[1], &peer),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_from_export(peer, &flag), DOCA_SUCCESS);
	assert_int_equal(flag, 1);
	assert_int_equal(doca_mmap_get_from_export(mmap, &flag), DOCA_SUCCESS);
	assert_int_equal(flag, 0);
	assert_int_equal(doca_mmap_get_memrange(peer, &addr, &len), DOCA_SUCCESS);
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, sizeof(memory));
	assert_int_equal(doca_mmap_get_user_data(peer, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 9);
	/* A local key where the memory is, the remote one where it is not. */
	assert_int_equal(doca_priv_mmap_get_mkey(mmap, &devs[0].pd, &key), DOCA_SUCCESS);
	assert_int_equal(key, 0x1100);
	assert_int_equal(doca_priv_mmap_get_mkey(peer, &devs[1].pd, &key), DOCA_SUCCESS);
	assert_int_equal(key, 0x2200);
	assert_int_equal(doca_priv_mmap_get_mkey(peer, &devs[0].pd, &key), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(open_mrs, 1);
	assert_int_equal(doca_mmap_destroy(peer), DOCA_SUCCESS);

	/* The stop ends it all, and the map can be another one. */
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(open_mrs, 0);
	assert_int_equal(doca_mmap_get_exported(mmap, &flag), DOCA_SUCCESS);
	assert_int_equal(flag, 0);
	assert_int_equal(doca_priv_mmap_get_mkey(mmap, &devs[0].pd, &key),
			 DOCA_ERROR_INVALID_VALUE);
}

static void a_map_from_an_export_cannot_be_changed(void **state)
{
	struct doca_mmap *mmap = *state, *peer;
	const void *desc;
	uint32_t handle;
	void *addr;
	size_t len;

	configure(mmap);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, len, &devs[0], &peer),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(peer), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(peer), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_add_dev(peer, &devs[1]), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_rm_dev(peer, &devs[0]), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_memrange(peer, memory, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_permissions(peer, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_free_cb(peer, count_free, NULL), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_user_data(peer, (union doca_data){0}), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_max_num_devices(peer, 4), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_enable_thread_safety(peer), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export_rdma(peer, &devs[0], &desc, &len),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export_pci(peer, &devs[0], &desc, &len),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(peer, &devs[0], &handle),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_priv_mmap_get(peer, NULL, 0, &addr, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(peer), DOCA_SUCCESS);
}

static void what_an_export_needs(void **state)
{
	struct doca_mmap *mmap = *state;
	const void *desc;
	uint32_t key;
	size_t len;

	configure(mmap);
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &desc, &len),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export_pci(mmap, &devs[0], &desc, &len),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[1], &desc, &len), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_export_pci(mmap, &devs[1], &desc, &len), DOCA_ERROR_NOT_FOUND);
	/* Local access is no permission for a peer. */
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &desc, &len),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export_pci(mmap, &devs[0], &desc, &len),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);

	assert_int_equal(doca_mmap_set_permissions(mmap,
						   DOCA_ACCESS_FLAG_RDMA_ATOMIC |
							   DOCA_ACCESS_FLAG_PCI_READ_ONLY |
							   DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(mmap, &devs[0], &desc, &len),
			 DOCA_ERROR_NOT_SUPPORTED);
	reg_errno = EPERM;
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &desc, &len), DOCA_ERROR_DRIVER);
	assert_int_equal(doca_priv_mmap_get_mkey(mmap, &devs[0].pd, &key),
			 DOCA_ERROR_OPERATING_SYSTEM);
	reg_errno = ENOMEM;
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &desc, &len), DOCA_ERROR_NO_MEMORY);
	reg_errno = EOPNOTSUPP;
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &desc, &len),
			 DOCA_ERROR_NOT_SUPPORTED);
	reg_errno = 0;
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &desc, &len), DOCA_SUCCESS);
	assert_int_equal(last_access, IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE |
					      IBV_ACCESS_RELAXED_ORDERING);
	/* A region that the device keeps keeps the map. */
	is_dereg_refused = true;
	assert_int_equal(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	is_dereg_refused = false;
}

/* Where the fields are: docs and other releases depend on it. */
static void put_description(uint8_t desc[32])
{
	util_put_le32(desc, 0x50414d44);
	util_put_le16(desc + 4, 1);
	util_put_le16(desc + 6, 1);
	util_put_le64(desc + 8, 0x10000);
	util_put_le64(desc + 16, 0x2000);
	util_put_le32(desc + 24, 0x1234);
	util_put_le32(desc + 28, DOCA_ACCESS_FLAG_RDMA_READ);
}

static void a_description_is_not_trusted(void **state)
{
	static const struct {
		int at;
		uint64_t value;
	} bad[] = {
		{0, 0x50414d45}, /* no description */
		{4, 0x00020001}, /* an unknown kind */
		{16, 0}, /* empty */
		{16, UINT64_MAX}, /* past the end of the addresses */
		{28, 0}, /* without a permission */
		{28, 1}, /* with one that is none of a peer */
	};
	struct doca_mmap *mmap;
	uint8_t desc[33] = {0};

	(void)state;
	put_description(desc);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, 32, &devs[0], &mmap),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	for (size_t len = 0; len < sizeof(desc) + 1; len++) {
		if (len != 32)
			assert_int_equal(doca_mmap_create_from_export(NULL, desc, len, &devs[0],
								      &mmap),
					 DOCA_ERROR_INVALID_VALUE);
	}
	util_put_le16(desc + 4, 2);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, 32, &devs[0], &mmap),
			 DOCA_ERROR_NOT_SUPPORTED);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_description(desc);
		if (bad[i].at == 16)
			util_put_le64(desc + 16, bad[i].value);
		else
			util_put_le32(desc + bad[i].at, (uint32_t)bad[i].value);
		assert_int_equal(doca_mmap_create_from_export(NULL, desc, 32, &devs[0], &mmap),
				 DOCA_ERROR_INVALID_VALUE);
	}
	assert_int_equal(devs[0].holds, 0);
}

static void a_dmabuf(void **state)
{
	struct doca_mmap *mmap = *state;
	struct rlimit limit, none;
	const void *desc;
	int other;
	size_t len;

	dmabuf_fd = memfd_create("dmabuf", MFD_CLOEXEC);
	other = memfd_create("other", MFD_CLOEXEC);
	assert_int_equal(ftruncate(dmabuf_fd, 8192), 0);
	assert_int_equal(ftruncate(other, 8192), 0);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, other, memory, 4096, 64),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, -1, memory, 4096, 64),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, dmabuf_fd, memory, 8192 - 63, 64),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, dmabuf_fd, memory, SIZE_MAX, 64),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, dmabuf_fd, memory, 4096, 64),
			 DOCA_ERROR_NO_MEMORY);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);

	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, dmabuf_fd, memory, 4096, 64),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, dmabuf_fd, memory, 4096, 64),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_add_dev(mmap, &devs[0]), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, dmabuf_fd, memory, 4096, 64),
			 DOCA_ERROR_BAD_STATE);
	/* The caller's descriptor may go: the map has its own until it gets another range. */
	close(dmabuf_fd);
	assert_int_equal(doca_mmap_export_rdma(mmap, &devs[0], &desc, &len), DOCA_SUCCESS);
	assert_int_not_equal(last_fd, dmabuf_fd);
	assert_true(fcntl(last_fd, F_GETFD) >= 0);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 64), DOCA_SUCCESS);
	assert_int_equal(fcntl(last_fd, F_GETFD), -1);
	close(other);
	dmabuf_fd = -1;
}

static void there_is_no_dpa(void **state)
{
	struct doca_mmap *mmap = *state;
	doca_dpa_dev_mmap_t handle;

	assert_int_equal(doca_mmap_set_dpa_memrange(mmap, ANY_DPA, 4096, 1),
			 DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_mmap_set_dpa_memrange(mmap, NULL, 0, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dpa_memrange(mmap, ANY_DPA, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dpa_memrange(mmap, ANY_DPA, UINT64_MAX, 1),
			 DOCA_ERROR_INVALID_VALUE);
	configure(mmap);
	assert_int_equal(doca_mmap_set_dpa_memrange(mmap, ANY_DPA, 4096, 1),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(mmap, &devs[0], &handle),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(mmap, &devs[1], &handle),
			 DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(mmap, &devs[0], &handle),
			 DOCA_ERROR_NOT_SUPPORTED);
}

static void user_data(void **state)
{
	struct doca_mmap *mmap = *state;
	union doca_data data;

	assert_int_equal(doca_mmap_set_user_data(mmap, (union doca_data){.u64 = 3}), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_user_data(mmap, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 3);
}

static void null_is_invalid(void **state)
{
	struct doca_mmap *mmap = *state;
	union doca_data data = {0};
	uint32_t max;
	void *addr;
	size_t len;

	assert_int_equal(doca_mmap_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_add_dev(NULL, &devs[0]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_add_dev(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_rm_dev(NULL, &devs[0]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_rm_dev(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(NULL, memory, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_memrange(NULL, &addr, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_memrange(mmap, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_free_cb(NULL, count_free, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_free_cb(mmap, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_user_data(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_max_num_devices(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_max_num_devices(NULL, &max), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_max_num_devices(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void null_is_invalid_for_exports(void **state)
{
	struct doca_mmap *mmap = *state;
	uint8_t desc[32], flag;
	const void *out;
	uint32_t n;
	size_t len;

	put_description(desc);
	assert_int_equal(doca_mmap_export_rdma(NULL, devs, &out, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_rdma(mmap, NULL, &out, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_rdma(mmap, devs, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_rdma(mmap, devs, &out, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_pci(NULL, devs, &out, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_pci(mmap, NULL, &out, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_pci(mmap, devs, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_pci(mmap, devs, &out, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_create_from_export(NULL, NULL, 32, devs, &mmap),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, 32, NULL, &mmap),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, 32, devs, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_exported(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_exported(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_from_export(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_from_export(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_num_bufs(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_num_bufs(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_enable_thread_safety(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(NULL, 0, memory, 0, 1),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, 0, NULL, 0, 1),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, 0, memory, 0, 0),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dpa_memrange(NULL, ANY_DPA, 0, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(NULL, devs, &n), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(mmap, NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(mmap, devs, NULL), DOCA_ERROR_INVALID_VALUE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(configure_start_stop_and_again),
		TEST(start_needs_a_range_and_a_device),
		TEST(nothing_is_set_while_started),
		TEST(devices),
		TEST(ranges),
		TEST(permissions),
		TEST(the_free_callback_runs_for_a_map_that_was_started),
		TEST(a_user_keeps_it_started),
		TEST(threads_use_a_started_map_at_once),
		TEST(export_to_a_peer),
		TEST(a_map_from_an_export_cannot_be_changed),
		TEST(what_an_export_needs),
		TEST(a_description_is_not_trusted),
		TEST(a_dmabuf),
		TEST(there_is_no_dpa),
		TEST(user_data),
		TEST(null_is_invalid),
		TEST(null_is_invalid_for_exports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
