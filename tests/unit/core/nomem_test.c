/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libdoca_common, and libdoca_rdma on it, do when memory, descriptors or the device below give
 * out: at every place, one after the other, of every function that allocates. The call fails with
 * an error that its header names, nothing leaks, nothing crashes, and the next call works.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <doca_dev.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_rdma_bridge.h>
#include <doca_softsta.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "core/dev.h"
#include "core/log.h"
#include "core/mmap.h"
#include "fail.h"
#include "fake_ctx.h"

/* --- a device that fails when it is told to ------------------------------------------------ */

static struct ibv_device device = {.name = "fake"};
static struct ibv_device *device_list[] = {&device, NULL};
static struct ibv_context context = {.device = &device};
static struct ibv_pd domain = {.context = &context};
static struct ibv_mr region;
static int open_verbs; /* objects that are left */

struct ibv_device **ibv_get_device_list(int *n)
{
	if (fail_now())
		return NULL;
	*n = 1;
	open_verbs++;
	return device_list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	(void)list;
	open_verbs--;
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	(void)d;
	if (fail_now())
		return NULL;
	open_verbs++;
	return &context;
}

int ibv_close_device(struct ibv_context *c)
{
	(void)c;
	open_verbs--;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	(void)c;
	if (fail_now())
		return NULL;
	open_verbs++;
	return &domain;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	open_verbs--;
	return 0;
}

/* In parentheses: the header has a macro of this name. */
struct ibv_mr *(ibv_reg_mr)(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	(void)pd;
	(void)addr;
	(void)length;
	(void)access;
	if (fail_now()) {
		errno = ENOMEM;
		return NULL;
	}
	open_verbs++;
	return &region;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)iova;
	return (ibv_reg_mr)(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	(void)mr;
	open_verbs--;
	return 0;
}

/* --- attempts ------------------------------------------------------------------------------ */

/* The error of the attempt that failed last, for those who want to see it. */
static doca_error_t last_error;

static bool worked(doca_error_t result)
{
	if (result != DOCA_SUCCESS)
		last_error = result;
	return result == DOCA_SUCCESS;
}

/* All failures of one attempt; after them, and after the success, nothing is left. */
static int all_failures(bool (*attempt)(void *arg), void *arg)
{
	long live = fail_live_allocations();
	int n = fail_each(attempt, arg);

	assert_int_equal(fail_live_allocations(), live);
	assert_int_equal(open_verbs, 0);
	return n;
}

/* The next allocation fails. */
#define ASSERT_WITHOUT_MEMORY(call, error)        \
	do {                                      \
		fail_allocation(1);               \
		assert_int_equal(call, error);    \
		assert_true(fail_has_happened()); \
		fail_allocation(0);               \
	} while (0)

static bool make_pe(void *arg)
{
	struct doca_pe *pe;

	(void)arg;
	if (!worked(doca_pe_create(&pe)))
		return false;
	assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);
	return true;
}

static void a_progress_engine(void **state)
{
	struct doca_pe *pe;

	(void)state;
	/* The engine and its descriptor. */
	assert_int_equal(all_failures(make_pe, NULL), 2);
	ASSERT_WITHOUT_MEMORY(doca_pe_create(&pe), DOCA_ERROR_NO_MEMORY);
}

static bool open_device(struct doca_dev **dev)
{
	struct doca_devinfo **list;
	uint32_t n;
	bool is_open;

	if (!worked(doca_devinfo_create_list(&list, &n)))
		return false;
	is_open = worked(doca_dev_open(list[0], dev));
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
	return is_open;
}

static bool list_and_open(void *arg)
{
	struct doca_dev *dev;

	(void)arg;
	if (!open_device(&dev))
		return false;
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	return true;
}

static bool open_from_pd(void *arg)
{
	struct doca_dev *dev;

	(void)arg;
	if (!worked(doca_rdma_bridge_open_dev_from_pd(&domain, &dev)))
		return false;
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	return true;
}

static void devices(void **state)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t n;

	(void)state;
	/* The list three times (verbs', ours and the elements), and the device three times. */
	assert_int_equal(all_failures(list_and_open, NULL), 6);
	assert_int_equal(all_failures(open_from_pd, NULL), 1);
	ASSERT_WITHOUT_MEMORY(doca_rdma_bridge_open_dev_from_pd(&domain, &dev),
			      DOCA_ERROR_NO_MEMORY);
	fail_allocation(2);
	assert_int_equal(doca_devinfo_create_list(&list, &n), DOCA_ERROR_NO_MEMORY);
	fail_allocation(0);
}

static bool configure(struct doca_mmap *mmap, struct doca_dev *dev)
{
	static char memory[64];

	return worked(doca_mmap_add_dev(mmap, dev)) &&
	       worked(doca_mmap_set_memrange(mmap, memory, sizeof(memory))) &&
	       worked(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ));
}

/* Everything that a map can allocate, the peer's one included. */
static bool export_and_import(void *dev)
{
	struct doca_mmap *mmap, *peer;
	const void *desc;
	bool is_good;
	size_t len;

	if (!worked(doca_mmap_create(&mmap)))
		return false;
	is_good = configure(mmap, dev) && worked(doca_mmap_start(mmap)) &&
		  worked(doca_mmap_export_rdma(mmap, dev, &desc, &len)) &&
		  worked(doca_mmap_create_from_export(NULL, desc, len, dev, &peer));
	if (is_good)
		assert_int_equal(doca_mmap_destroy(peer), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	return is_good;
}

static void memory_maps(void **state)
{
	struct doca_mmap *mmap, *peer;
	struct doca_dev *dev;
	const void *desc;
	size_t len;
	long live;

	(void)state;
	assert_true(open_device(&dev));
	/* The map, its device, the region, the description; the peer's map and its device. */
	live = fail_live_allocations();
	assert_int_equal(fail_each(export_and_import, dev), 6);
	assert_int_equal(fail_live_allocations(), live);

	ASSERT_WITHOUT_MEMORY(doca_mmap_create(&mmap), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	ASSERT_WITHOUT_MEMORY(doca_mmap_add_dev(mmap, dev), DOCA_ERROR_NO_MEMORY);
	assert_true(configure(mmap, dev));
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	ASSERT_WITHOUT_MEMORY(doca_mmap_export_rdma(mmap, dev, &desc, &len), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_mmap_export_rdma(mmap, dev, &desc, &len), DOCA_SUCCESS);
	ASSERT_WITHOUT_MEMORY(doca_mmap_create_from_export(NULL, desc, len, dev, &peer),
			      DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	assert_int_equal(open_verbs, 0);
}

static void release_nothing(struct doca_task_batch *batch)
{
	(void)batch;
}

/* A library's context from its making to its end. The engine is there already. */
static bool life_of_a_context(void *pe)
{
	static const struct core_task_batch_ops ops = {.release = release_nothing};
	struct doca_task *tasks[2] = {NULL, NULL};
	struct doca_task_batch *batch = NULL;
	struct fake_ctx ctx = {0};
	bool is_good;

	doca_priv_ctx_init(&ctx.base, &fake_ctx_ops);
	if (!worked(doca_priv_task_pool_create(&ctx.base, &fake_task_ops, sizeof(struct fake_task),
					       2, &ctx.tasks)))
		return false;
	assert_int_equal(doca_pe_connect_ctx(pe, &ctx.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&ctx.base), DOCA_SUCCESS);
	is_good = worked(doca_priv_task_alloc(ctx.tasks, (union doca_data){0}, &tasks[0])) &&
		  worked(doca_priv_task_alloc(ctx.tasks, (union doca_data){0}, &tasks[1])) &&
		  worked(doca_priv_task_batch_alloc(&ctx.base, &ops, sizeof(*batch), 1,
						    (union doca_data){0}, &batch));
	/* The stop needs no memory: it must work whatever is used up. */
	doca_task_free(tasks[0]);
	doca_task_free(tasks[1]);
	doca_task_batch_free(batch);
	assert_int_equal(doca_ctx_stop(&ctx.base), DOCA_SUCCESS);
	assert_int_equal(doca_priv_ctx_fini(&ctx.base), DOCA_SUCCESS);
	doca_priv_task_pool_destroy(ctx.tasks);
	return is_good;
}

static void contexts_and_tasks(void **state)
{
	struct doca_pe *pe;

	(void)state;
	assert_int_equal(doca_pe_create(&pe), DOCA_SUCCESS);
	/* The pool, two tasks and a batch. */
	assert_int_equal(all_failures(life_of_a_context, pe), 4);
	assert_int_equal(last_error, DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);
}

static void no_doorbell(void *arg)
{
	(void)arg;
}

static unsigned no_poll(void *arg)
{
	(void)arg;
	return 0;
}

static const struct doca_softsta_queue_ops no_ops = {.doorbell = no_doorbell, .poll = no_poll};

static bool attach(void *doorbell)
{
	if (!worked(doca_softsta_queue_attach(doorbell, &no_ops, -1, NULL)))
		return false;
	assert_int_equal(doca_softsta_queue_detach(doorbell), DOCA_SUCCESS);
	return true;
}

static void companions(void **state)
{
	uint32_t doorbell;

	(void)state;
	assert_int_equal(all_failures(attach, &doorbell), 1);
	ASSERT_WITHOUT_MEMORY(doca_softsta_queue_attach(&doorbell, &no_ops, -1, NULL),
			      DOCA_ERROR_NO_MEMORY);
}

/* --- logging; back-ends stay --------------------------------------------------------------- */

static char app_text[256], sdk_text[256];

static void drop(char *buf)
{
	(void)buf;
}

static bool make_backend(void *arg)
{
	struct doca_log_backend *b;

	(void)arg;
	return worked(doca_log_backend_create_with_buf(app_text, sizeof(app_text), drop, &b));
}

static bool make_backend_sdk(void *arg)
{
	struct doca_log_backend *b;

	(void)arg;
	return worked(doca_log_backend_create_with_buf_sdk(sdk_text, sizeof(sdk_text), drop, &b));
}

static bool make_backend_syslog(void *arg)
{
	struct doca_log_backend *b;

	(void)arg;
	if (!worked(doca_log_backend_create_with_syslog("softsta", &b)))
		return false;
	assert_int_equal(doca_log_backend_set_level_lower_limit(b, DOCA_LOG_LEVEL_DISABLE),
			 DOCA_SUCCESS);
	return true;
}

static bool log_once(void *arg)
{
	struct doca_logger **list;
	uint32_t n;
	int source;
	bool is_good;

	(void)arg;
	if (!worked(doca_log_register_source("nomem", &source)))
		return false;
	is_good = worked(doca_log(DOCA_LOG_LEVEL_ERROR, source, "f", 1, "g", "a %s", "message")) &&
		  worked(doca_logger_create_list(NULL, 0, &list, &n));
	if (is_good)
		assert_int_equal(doca_logger_destroy_list(list), DOCA_SUCCESS);
	assert_int_equal(doca_log_unregister_source(source), DOCA_SUCCESS);
	return is_good;
}

/* The libraries have nobody to tell: a message is lost, that is all. */
static bool log_of_a_library(void *arg)
{
	(void)arg;
	memset(sdk_text, 0, sizeof(sdk_text));
	doca_priv_log(DOCA_LOG_LEVEL_ERROR, "nomem.lib", "a %s", "message");
	return memmem(sdk_text, sizeof(sdk_text), "a message", strlen("a message"));
}

static void logging(void **state)
{
	struct doca_logger **list;
	int source;
	uint32_t n;

	(void)state;
	assert_int_equal(fail_each(make_backend, NULL), 1);
	assert_int_equal(fail_each(make_backend_sdk, NULL), 1);
	assert_int_equal(fail_each(make_backend_syslog, NULL), 2);
	assert_int_equal(last_error, DOCA_ERROR_NO_MEMORY);
	/* The source, the text and the line; the list. */
	assert_int_equal(all_failures(log_once, NULL), 4);
	assert_int_equal(last_error, DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_log_register_source("nomem", &source), DOCA_SUCCESS);
	ASSERT_WITHOUT_MEMORY(doca_log(DOCA_LOG_LEVEL_ERROR, source, "f", 1, "g", "text"),
			      DOCA_ERROR_NO_MEMORY);
	ASSERT_WITHOUT_MEMORY(doca_logger_create_list(NULL, 0, &list, &n), DOCA_ERROR_NO_MEMORY);
	/* What nobody sees is not even formatted. */
	fail_allocation(1);
	assert_int_equal(doca_log(DOCA_LOG_LEVEL_TRACE, source, "f", 1, "g", "%d", 1),
			 DOCA_SUCCESS);
	assert_false(fail_has_happened());
	fail_allocation(0);
	assert_int_equal(doca_log_unregister_source(source), DOCA_SUCCESS);
	/* Its logger is made once and stays; without it the message is shown all the same. */
	assert_true(log_of_a_library(NULL));
	assert_int_equal(all_failures(log_of_a_library, NULL), 2);
	fail_allocation(1);
	doca_priv_log(DOCA_LOG_LEVEL_TRACE, "nomem.lib", "%d", 1);
	assert_false(fail_has_happened());
	fail_allocation(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_progress_engine), cmocka_unit_test(devices),
		cmocka_unit_test(memory_maps),	     cmocka_unit_test(contexts_and_tasks),
		cmocka_unit_test(companions),	     cmocka_unit_test(logging),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
