/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver against controllers that do not do what they should (a fake BAR), and against the
 * soft one: bring-up, information, queues, shutdown.
 */
#include "fixture.h"

#include <errno.h>
#include <string.h>

/* ---- a controller made of a few registers ------------------------------------------------- */

struct fake {
	uint64_t cap;
	uint32_t cc;
	uint32_t csts;
	bool gone;
	bool never_ready; /* EN 1 does not set RDY */
	bool never_stops; /* EN 0 does not clear RDY */
	bool fails_on_start; /* CFS instead of RDY */
	uint32_t doorbells[64];
	unsigned int live_allocations;
};

static uint32_t fake_read32(void *arg, uint32_t off)
{
	struct fake *fake = arg;

	if (fake->gone)
		return UINT32_MAX;
	switch (off) {
	case NVME_REG_CAP:
		return (uint32_t)fake->cap;
	case NVME_REG_CAP + 4:
		return (uint32_t)(fake->cap >> 32);
	case NVME_REG_VS:
		return 0x00010300;
	case NVME_REG_CC:
		return fake->cc;
	case NVME_REG_CSTS:
		return fake->csts;
	default:
		return 0;
	}
}

static void fake_write32(void *arg, uint32_t off, uint32_t val)
{
	struct fake *fake = arg;

	if (off != NVME_REG_CC)
		return; /* a deaf controller: doorbells do nothing */
	fake->cc = val;
	if (!NVME_CC_EN(val) && !fake->never_stops)
		fake->csts = 0;
	if (NVME_CC_EN(val) && fake->fails_on_start)
		fake->csts |= 2;
	else if (NVME_CC_EN(val) && !fake->never_ready)
		fake->csts |= 1;
	if (NVME_CC_SHN(val))
		fake->csts |= NVME_CSTS_SHST_CMPLT << NVME_CSTS_SHST_SHIFT;
}

static volatile uint32_t *fake_doorbell(void *arg, uint32_t off)
{
	struct fake *fake = arg;

	return &fake->doorbells[(off - NV_DOORBELL_BASE) / 4 % 64];
}

static void *fake_zmalloc(void *arg, size_t size, size_t align, uint64_t *phys)
{
	struct fake *fake = arg;
	void *ptr = aligned_alloc(align, (size + align - 1) / align * align);

	assert_non_null(ptr);
	memset(ptr, 0, size);
	fake->live_allocations++;
	*phys = (uintptr_t)ptr;
	return ptr;
}

static void fake_free(void *arg, void *ptr)
{
	struct fake *fake = arg;

	if (ptr)
		fake->live_allocations--;
	free(ptr);
}

static int fake_vtophys(void *arg, const void *ptr, size_t len, uint64_t *ret_phys)
{
	(void)arg;
	(void)len;
	*ret_phys = (uintptr_t)ptr;
	return 0;
}

static const struct nv_bar_ops fake_bar_ops = {fake_read32, fake_write32, fake_doorbell};
static const struct nv_mem_ops fake_mem_ops = {fake_zmalloc, fake_free, fake_vtophys};

/* CAP.TO = 1: half a second. */
#define FAKE_CAP \
	(63ull | 1ull << NVME_CAP_TO_SHIFT | (uint64_t)NVME_CAP_CSS_NVM << NVME_CAP_CSS_SHIFT)

/* Creation must fail with @rc, within CAP.TO and a little, and say @text. */
static void expect_failure(struct fake *fake, int rc, const char *text)
{
	const struct nv_bar bar = {&fake_bar_ops, fake};
	const struct nv_mem mem = {&fake_mem_ops, fake};
	const struct nv_ctrl_opts opts = {.admin_timeout_ms = 200};
	uint64_t start = util_now_ns();
	struct nv_ctrl *ctrl = NULL;
	struct nv_err err = {0};

	assert_int_equal(nv_ctrl_create(&bar, &mem, &opts, &ctrl, &err), rc);
	assert_null(ctrl);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" does not say \"%s\"", err.text, text);
	/* Create and the reset of its clean-up wait once each at most. */
	assert_true(util_now_ns() - start < 1600 * UTIL_NS_PER_MS);
}

static void controller_that_is_gone(void **state)
{
	struct fake fake = {.cap = FAKE_CAP, .gone = true};

	(void)state;
	expect_failure(&fake, -ENODEV, "all ones");
	assert_int_equal(fake.live_allocations, 0);
}

static void controller_that_never_gets_ready(void **state)
{
	struct fake fake = {.cap = FAKE_CAP, .never_ready = true};

	(void)state;
	expect_failure(&fake, -ETIMEDOUT, "its start within 500 ms (CAP.TO)");
	assert_int_equal(fake.live_allocations, 0);
	assert_false(NVME_CC_EN(fake.cc));
}

static void controller_that_never_stops(void **state)
{
	struct fake fake = {.cap = FAKE_CAP, .cc = 1, .csts = 1, .never_stops = true};

	(void)state;
	expect_failure(&fake, -ETIMEDOUT, "its reset within 500 ms (CAP.TO)");
}

static void controller_with_fatal_status(void **state)
{
	struct fake fake = {.cap = FAKE_CAP, .fails_on_start = true};

	(void)state;
	expect_failure(&fake, -EIO, "CSTS.CFS");
	assert_int_equal(fake.live_allocations, 0);
}

static void controller_that_does_not_answer_commands(void **state)
{
	struct fake fake = {.cap = FAKE_CAP};

	(void)state;
	expect_failure(&fake, -ETIMEDOUT, "Identify Controller failed");
	assert_int_equal(fake.live_allocations, 0); /* its reset worked, so memory is ours again */
	assert_false(NVME_CC_EN(fake.cc));
}

static void controller_left_enabled_by_somebody_else(void **state)
{
	struct fake fake = {.cap = FAKE_CAP, .cc = 0x00460001, .csts = 1, .never_ready = true};

	(void)state;
	/* The reset works, the new start does not. */
	expect_failure(&fake, -ETIMEDOUT, "its start");
}

static void controllers_that_cannot_do_what_we_need(void **state)
{
	struct fake no_nvm = {.cap = FAKE_CAP & ~(0xffull << NVME_CAP_CSS_SHIFT)};
	struct fake big_pages = {.cap = FAKE_CAP | 1ull << NVME_CAP_MPSMIN_SHIFT};
	struct fake tiny = {.cap = FAKE_CAP & ~63ull};

	(void)state;
	expect_failure(&no_nvm, -EPROTO, "no NVM command set");
	expect_failure(&big_pages, -EPROTO, "4 KiB");
	expect_failure(&tiny, -EPROTO, "one entry");
}

/* ---- on the soft controller --------------------------------------------------------------- */

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig_init(rig, make_ram(2048, 4096), 16);
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	rig_fini(*state);
	free(*state);
	return 0;
}

static void information_is_right(void **state)
{
	struct rig *rig = *state;
	const struct nv_ctrl_info *info = nv_ctrl_info(rig->ctrl);
	static const uint8_t zero[16];
	struct nv_ns_info ns;
	uint32_t ids[4];

	assert_string_equal(info->serial, "TEST0001");
	assert_string_equal(info->model, "softsta");
	assert_int_equal(strncmp(info->subnqn, "nqn.2014-08.org.nvmexpress:uuid:", 32), 0);
	assert_int_equal(strlen(info->subnqn), 68);
	assert_int_equal(info->version, 0x10400);
	assert_int_equal(info->mdts_bytes, NV_SOFT_MDTS_BYTES);
	assert_int_equal(info->max_entries, NV_SOFT_MAX_ENTRIES);
	assert_int_equal(info->max_io_queues, NV_MAX_IO_QUEUES);
	assert_false(info->volatile_write_cache);
	assert_true(info->oncs & NVME_CTRL_ONCS_VERIFY);

	assert_int_equal(nv_ctrl_active_ns(rig->ctrl, 0, ids, 4), 1);
	assert_int_equal(ids[0], 1);
	assert_int_equal(nv_ctrl_active_ns(rig->ctrl, 1, ids, 4), 0);
	assert_int_equal(nv_ctrl_active_ns(rig->ctrl, NV_NSID_ALL, ids, 4), -EIO);

	assert_int_equal(nv_ctrl_ns_info(rig->ctrl, 1, &ns), 0);
	assert_int_equal(ns.nsze, 2048);
	assert_int_equal(ns.block_bytes, 4096);
	assert_false(ns.write_protected);
	assert_memory_not_equal(ns.nguid, zero, 16);
	assert_memory_not_equal(ns.eui64, zero, 8);
	assert_memory_not_equal(ns.uuid, zero, 16);
	assert_int_equal(nv_ctrl_ns_info(rig->ctrl, 2, &ns), -ENOENT);
	assert_int_equal(nv_ctrl_ns_info(rig->ctrl, 0, &ns), -ENOENT);
	assert_int_equal(nv_ctrl_ns_info(rig->ctrl, 4711, &ns), -ENOENT);
}

/* The same configuration gives the same identifiers, another namespace other ones. */
static void identifiers_are_stable_and_distinct(void **state)
{
	struct rig *rig = *state;
	struct nv_ns_info first, again;
	struct rig other;

	assert_int_equal(nv_ctrl_ns_info(rig->ctrl, 1, &first), 0);
	rig_init(&other, make_ram(64, 512), 4);
	assert_int_equal(nv_ctrl_ns_info(other.ctrl, 1, &again), 0);
	rig_fini(&other);
	assert_memory_equal(first.nguid, again.nguid, 16);
	assert_memory_equal(first.uuid, again.uuid, 16);
	assert_memory_equal(first.eui64, again.eui64, 8);
}

static void queue_entries_are_rounded_and_bounded(void **state)
{
	struct rig *rig = *state;
	struct nv_queue *queue;
	struct nv_err err;

	assert_int_equal(nv_queue_create(rig->ctrl, 1, &queue, &err), -EINVAL);
	assert_int_equal(nv_queue_create(rig->ctrl, 100, &queue, &err), 0);
	assert_int_equal(queue->entries, 64);
	assert_int_equal(queue->qid, 2);
	nv_queue_destroy(queue);
	assert_int_equal(nv_queue_create(rig->ctrl, 65535, &queue, &err), 0);
	assert_int_equal(queue->entries, NV_SOFT_MAX_ENTRIES);
	assert_int_equal(queue->qid, 2);
	nv_queue_destroy(queue);
	nv_queue_destroy(NULL);
}

static void queues_run_out_with_a_clear_word(void **state)
{
	struct rig *rig = *state;
	struct nv_queue *queue;
	struct nv_err err = {0};
	unsigned int made = 1;

	while (!nv_queue_create(rig->ctrl, 2, &queue, &err)) {
		assert_int_equal(queue->qid, ++made);
		/* Each pair has its doorbells in one cache line of its own. */
		assert_int_equal((uintptr_t)queue->sq_tail_doorbell / 64,
				 (uintptr_t)queue->cq_head_doorbell / 64);
		assert_int_equal((uintptr_t)queue->sq_tail_doorbell % 64, 0);
	}
	assert_int_equal(made, NV_MAX_IO_QUEUES);
	assert_non_null(strstr(err.text, "no I/O queue left"));
	/* The others are left for nv_ctrl_destroy(). */
}

static void granted_queues_are_as_asked(void **state)
{
	struct rig *rig = *state;
	const struct nv_ctrl_opts opts = {.io_queues = 3, .admin_entries = 2};
	struct nv_err err;

	nv_queue_destroy(rig->queue);
	nv_ctrl_destroy(rig->ctrl);
	rig->queue = NULL;
	assert_int_equal(nv_ctrl_create(&rig->bar, &rig->allocator, &opts, &rig->ctrl, &err), 0);
	assert_int_equal(nv_ctrl_info(rig->ctrl)->max_io_queues, 3);
}

static void bad_options_are_refused(void **state)
{
	struct rig *rig = *state;
	const uint16_t bad[] = {1, 3, 100, 8192};
	struct nv_ctrl *ctrl;
	struct nv_err err;

	for (size_t i = 0; i < UTIL_ARRAY_SIZE(bad); i++) {
		struct nv_ctrl_opts opts = {.admin_entries = bad[i]};

		assert_int_equal(nv_ctrl_create(&rig->bar, &rig->allocator, &opts, &ctrl, &err),
				 -EINVAL);
	}
	nv_ctrl_destroy(NULL);
}

/* A controller that is reset below the driver: it does not wait for what cannot come. */
static void reset_behind_our_back_is_noticed(void **state)
{
	struct rig *rig = *state;
	uint64_t start_ns = util_now_ns();
	uint8_t buf[NV_IDENTIFY_BYTES];
	struct nv_queue *queue;
	struct nv_err err = {0};

	nv_bar_write32(&rig->bar, NVME_REG_CC, 0);
	assert_int_equal(nv_ctrl_identify(rig->ctrl, NVME_IDENTIFY_CNS_CTRL, 0, buf), -EIO);
	assert_true(util_now_ns() - start_ns < NV_ADMIN_TIMEOUT_MS * UTIL_NS_PER_MS / 2);
	assert_int_equal(nv_ctrl_identify(rig->ctrl, NVME_IDENTIFY_CNS_CTRL, 0, buf), -EIO);
	assert_int_equal(nv_queue_create(rig->ctrl, 4, &queue, &err), -EIO);
}

static void companion_exists_only_with_its_queue(void **state)
{
	struct rig *rig = *state;
	struct nv_soft_companion companion;

	assert_int_equal(nv_soft_companion(rig->soft, 0, &companion), -ENOENT);
	assert_int_equal(nv_soft_companion(rig->soft, 2, &companion), -ENOENT);
	assert_int_equal(nv_soft_companion(rig->soft, 65535, &companion), -ENOENT);
	assert_int_equal(nv_soft_companion(rig->soft, 1, &companion), 0);
	assert_true(companion.fd >= 0);
	nv_queue_destroy(rig->queue);
	rig->queue = NULL;
	assert_int_equal(nv_soft_companion(rig->soft, 1, &companion), -ENOENT);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controller_that_is_gone),
		cmocka_unit_test(controller_that_never_gets_ready),
		cmocka_unit_test(controller_that_never_stops),
		cmocka_unit_test(controller_with_fatal_status),
		cmocka_unit_test(controller_that_does_not_answer_commands),
		cmocka_unit_test(controller_left_enabled_by_somebody_else),
		cmocka_unit_test(controllers_that_cannot_do_what_we_need),
		T(information_is_right),
		T(identifiers_are_stable_and_distinct),
		T(queue_entries_are_rounded_and_bounded),
		T(queues_run_out_with_a_clear_word),
		T(granted_queues_are_as_asked),
		T(bad_options_are_refused),
		T(reset_behind_our_back_is_noticed),
		T(companion_exists_only_with_its_queue),
	};

	return cmocka_run_group_tests_name("nvme/drv", tests, NULL, NULL);
}
