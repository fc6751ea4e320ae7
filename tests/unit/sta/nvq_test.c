/* SPDX-License-Identifier: Apache-2.0 */
/* The host's half of an NVMe queue pair; the test is the controller, straight on the rings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sta/nvq.h"

enum {
	ENTRIES = 8
};

struct fixture {
	struct sta_nvq q;
	struct sta_sqe sq[ENTRIES];
	struct sta_cqe cq[ENTRIES];
	uint32_t sq_doorbell, cq_doorbell;
	uint32_t head, cq_tail; /* the controller's */
	uint16_t phase;
	int cookies[4 * ENTRIES];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sta_nvq_mem mem;

	if (!f)
		return -1;
	mem = (struct sta_nvq_mem){f->sq, f->cq, &f->sq_doorbell, &f->cq_doorbell, ENTRIES};
	f->phase = 1;
	*state = f;
	return sta_nvq_init(&f->q, &mem);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	sta_nvq_fini(&f->q);
	free(f);
	return 0;
}

static void push(struct fixture *f, int n, uint64_t now_ns)
{
	struct sta_sqe sqe = {.opcode = 2, .cid = 0xffff, .cdw10 = htole32((uint32_t)n)};

	sta_nvq_push(&f->q, &sqe, &f->cookies[n], now_ns);
}

/* The controller takes the next command; its number. */
static uint32_t fetch(struct fixture *f, uint16_t *cid)
{
	const struct sta_sqe *sqe = &f->sq[f->head];

	assert_int_not_equal(f->head, le32toh(f->sq_doorbell));
	f->head = (f->head + 1) % ENTRIES;
	*cid = le16toh(sqe->cid);
	return le32toh(sqe->cdw10);
}

static void complete(struct fixture *f, uint16_t cid, uint16_t status)
{
	f->cq[f->cq_tail] = (struct sta_cqe){.dw0 = htole32(cid + 100u),
					     .dw1 = htole32(cid + 200u),
					     .cid = htole16(cid),
					     .status = htole16((uint16_t)(status << 1 | f->phase))};
	f->cq_tail = (f->cq_tail + 1) % ENTRIES;
	if (!f->cq_tail)
		f->phase ^= 1;
}

static void test_bad_sizes(void **state)
{
	static const uint32_t bad[] = {0, 1, 3, 12, 65537, 131072};
	struct sta_nvq_mem mem = {0};
	struct sta_nvq q;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		mem.entries = bad[i];
		assert_int_equal(sta_nvq_init(&q, &mem), -EINVAL);
	}
}

static void test_depth(void **state)
{
	struct sta_nvq_mem mem = {.entries = 65536};
	struct sta_nvq q;

	(void)state;
	assert_int_equal(sta_nvq_init(&q, &mem), 0);
	assert_int_equal(q.depth, 1023);
	sta_nvq_fini(&q);
	mem.entries = 2;
	assert_int_equal(sta_nvq_init(&q, &mem), 0);
	assert_int_equal(q.depth, 1); /* one entry less than the ring: full is not empty */
	sta_nvq_fini(&q);
}

static void test_one_doorbell_for_many(void **state)
{
	struct fixture *f = *state;
	uint16_t cid;

	assert_false(sta_nvq_ring(&f->q));
	push(f, 0, 0);
	push(f, 1, 0);
	assert_int_equal(f->sq_doorbell, 0); /* not known before the ring */
	assert_true(sta_nvq_ring(&f->q));
	assert_int_equal(le32toh(f->sq_doorbell), 2);
	assert_false(sta_nvq_ring(&f->q));
	assert_int_equal(fetch(f, &cid), 0);
	assert_int_equal(fetch(f, &cid), 1);
}

/* Many times around both rings, completions in another order than commands. */
static void test_around_the_rings(void **state)
{
	struct fixture *f = *state;
	struct sta_nvq_cpl cpl;
	uint16_t cids[ENTRIES];
	uint32_t numbers[ENTRIES];

	for (int round = 0; round < 50; round++) {
		int n = 1 + round % (ENTRIES - 1);
		unsigned int seen = 0;

		for (int i = 0; i < n; i++)
			push(f, i, 0);
		assert_int_equal(sta_nvq_is_full(&f->q), n == ENTRIES - 1);
		assert_true(sta_nvq_ring(&f->q));
		for (int i = 0; i < n; i++) {
			numbers[i] = fetch(f, &cids[i]);
			for (int j = 0; j < i; j++)
				assert_int_not_equal(cids[i], cids[j]);
		}
		for (int i = n; i-- > 0;)
			complete(f, cids[i], (uint16_t)i);
		for (int i = n; i-- > 0;) {
			assert_true(sta_nvq_poll(&f->q, &cpl));
			assert_ptr_equal(cpl.cookie, &f->cookies[numbers[i]]);
			assert_int_equal(cpl.status >> 1, i);
			assert_int_equal(cpl.dw0, cids[i] + 100);
			assert_int_equal(cpl.dw1, cids[i] + 200);
			seen |= 1u << numbers[i];
		}
		assert_int_equal(seen, (1u << n) - 1);
		assert_false(sta_nvq_poll(&f->q, &cpl));
		assert_true(sta_nvq_ack(&f->q));
		assert_int_equal(le32toh(f->cq_doorbell), f->cq_tail);
		assert_false(sta_nvq_ack(&f->q));
		assert_int_equal(f->q.num_inflight, 0);
	}
}

static void test_bad_completions(void **state)
{
	struct fixture *f = *state;
	struct sta_nvq_cpl cpl;
	uint16_t cid;

	push(f, 3, 0);
	sta_nvq_ring(&f->q);
	fetch(f, &cid);
	complete(f, 0xffff, 0); /* no such identifier */
	complete(f, (uint16_t)(cid ^ 1), 0); /* not in flight */
	assert_false(sta_nvq_poll(&f->q, &cpl));
	complete(f, cid, 0);
	complete(f, cid, 0); /* twice */
	assert_true(sta_nvq_poll(&f->q, &cpl));
	assert_ptr_equal(cpl.cookie, &f->cookies[3]);
	assert_false(sta_nvq_poll(&f->q, &cpl));
	assert_int_equal(f->q.bad_cqes, 3);
	assert_int_equal(f->q.num_inflight, 0);
	assert_true(sta_nvq_ack(&f->q)); /* their entries go back all the same */
}

/* A completion that comes again, when its entry has another command by then. */
static void test_repeated_after_reuse(void **state)
{
	struct fixture *f = *state;
	struct sta_nvq_cpl cpl;
	uint16_t first, cid, bad = 0;

	push(f, 0, 0);
	sta_nvq_ring(&f->q);
	fetch(f, &first);
	complete(f, first, 0);
	assert_true(sta_nvq_poll(&f->q, &cpl));
	for (int i = 1; i < 40; i++) {
		push(f, i % ENTRIES, 0);
		sta_nvq_ring(&f->q);
		fetch(f, &cid);
		assert_int_not_equal(cid, first);
		assert_int_not_equal(cid, 0xffff);
		complete(f, first, 0); /* the old one again */
		assert_false(sta_nvq_poll(&f->q, &cpl));
		assert_int_equal(f->q.bad_cqes, ++bad);
		complete(f, cid, 0);
		assert_true(sta_nvq_poll(&f->q, &cpl));
		assert_ptr_equal(cpl.cookie, &f->cookies[i % ENTRIES]);
	}
	assert_int_equal(f->q.num_inflight, 0);
}

/* No identifier of 64 K is taken for a command that is not in flight under exactly it. */
static void test_every_identifier(void **state)
{
	struct fixture *f = *state;
	struct sta_nvq_cpl cpl;
	uint16_t cids[ENTRIES - 1];
	uint64_t bad = 0;

	for (int i = 0; i < ENTRIES - 1; i++)
		push(f, i, 0);
	sta_nvq_ring(&f->q);
	for (int i = 0; i < ENTRIES - 1; i++)
		fetch(f, &cids[i]);
	for (uint32_t cid = 0; cid <= UINT16_MAX; cid++) {
		bool is_known = false;

		for (int i = 0; i < ENTRIES - 1; i++)
			is_known |= cids[i] == cid;
		complete(f, (uint16_t)cid, 0);
		assert_int_equal(sta_nvq_poll(&f->q, &cpl), is_known);
		bad += !is_known;
	}
	assert_int_equal(f->q.bad_cqes, bad);
	assert_int_equal(f->q.num_inflight, 0);
}

/* An entry with the old phase tag is not there, and nothing behind it either. */
static void test_wrong_phase(void **state)
{
	struct fixture *f = *state;
	struct sta_nvq_cpl cpl;
	uint16_t cids[2];

	for (int i = 0; i < 2; i++)
		push(f, i, 0);
	sta_nvq_ring(&f->q);
	for (int i = 0; i < 2; i++)
		fetch(f, &cids[i]);
	f->phase ^= 1;
	complete(f, cids[0], 0);
	f->phase ^= 1;
	complete(f, cids[1], 0);
	assert_false(sta_nvq_poll(&f->q, &cpl));
	assert_false(sta_nvq_ack(&f->q));
	assert_int_equal(f->q.bad_cqes, 0);
	/* Put right, both are taken. */
	f->cq[0].status ^= htole16(1);
	assert_true(sta_nvq_poll(&f->q, &cpl));
	assert_ptr_equal(cpl.cookie, &f->cookies[0]);
	assert_true(sta_nvq_poll(&f->q, &cpl));
	assert_ptr_equal(cpl.cookie, &f->cookies[1]);
}

static void test_late(void **state)
{
	struct fixture *f = *state;
	struct sta_nvq_cpl cpl;
	uint16_t cids[2];
	uint32_t at = 0;

	push(f, 0, 100);
	push(f, 1, 140);
	sta_nvq_ring(&f->q);
	fetch(f, &cids[0]);
	fetch(f, &cids[1]);
	assert_null(sta_nvq_next_late(&f->q, 149, 50, &at));
	at = 0;
	assert_ptr_equal(sta_nvq_next_late(&f->q, 150, 50, &at), &f->cookies[0]);
	assert_null(sta_nvq_next_late(&f->q, 150, 50, &at));
	assert_false(sta_nvq_all_late(&f->q));
	at = 0; /* each is reported once */
	assert_ptr_equal(sta_nvq_next_late(&f->q, 1000, 50, &at), &f->cookies[1]);
	assert_null(sta_nvq_next_late(&f->q, 1000, 50, &at));
	assert_true(sta_nvq_all_late(&f->q));
	/* It is still in flight, and may come back. */
	complete(f, cids[0], 0);
	assert_true(sta_nvq_poll(&f->q, &cpl));
	assert_ptr_equal(cpl.cookie, &f->cookies[0]);
	assert_ptr_equal(sta_nvq_reclaim(&f->q), &f->cookies[1]);
	assert_null(sta_nvq_reclaim(&f->q));
	assert_int_equal(f->q.num_inflight, 0);
	/* The identifier's next command is a new one. */
	push(f, 2, 1000);
	at = 0;
	assert_null(sta_nvq_next_late(&f->q, 1001, 50, &at));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_sizes),
		cmocka_unit_test(test_depth),
		TEST(test_one_doorbell_for_many),
		TEST(test_around_the_rings),
		TEST(test_bad_completions),
		TEST(test_repeated_after_reuse),
		TEST(test_every_identifier),
		TEST(test_wrong_phase),
		TEST(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
