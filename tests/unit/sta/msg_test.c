/* SPDX-License-Identifier: Apache-2.0 */
/* The mailbox: order, and several posters against one owner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "sta/msg.h"

enum {
	POSTERS = 3,
	MESSAGES = 20000,
};

struct numbered {
	struct sta_msg msg;
	uint32_t poster, number;
};

struct owner {
	uint32_t next[POSTERS]; /* number expected of each */
	struct sta_msg *repost;
	struct sta_mbox *box;
};

static void on_msg(void *owner, struct sta_msg *msg)
{
	struct numbered *n = util_container_of(msg, struct numbered, msg);
	struct owner *o = owner;

	assert_int_equal(n->number, o->next[n->poster]);
	o->next[n->poster]++;
	if (o->repost) {
		sta_mbox_post(o->box, o->repost);
		o->repost = NULL;
	}
}

static void test_order(void **state)
{
	struct numbered m[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
	struct sta_mbox box = {0};
	struct owner owner = {0};

	(void)state;
	assert_true(sta_mbox_is_empty(&box));
	assert_null(sta_mbox_take(&box));
	assert_int_equal(sta_mbox_run(&box, &owner), 0);
	for (int i = 0; i < 3; i++) {
		m[i].msg.fn = on_msg;
		/* Only the first may have to wake somebody. */
		assert_int_equal(sta_mbox_post(&box, &m[i].msg), i == 0);
	}
	assert_false(sta_mbox_is_empty(&box));
	assert_int_equal(sta_mbox_run(&box, &owner), 3);
	assert_int_equal(owner.next[0], 3);
	assert_true(sta_mbox_is_empty(&box));
}

/* A function may post its own message again: it is run with the next batch. */
static void test_post_while_running(void **state)
{
	struct numbered m[2] = {{.number = 0}, {.number = 1}};
	struct sta_mbox box = {0};
	struct owner owner = {.repost = &m[0].msg, .box = &box};

	(void)state;
	m[0].msg.fn = on_msg;
	m[1].msg.fn = on_msg;
	sta_mbox_post(&box, &m[0].msg);
	sta_mbox_post(&box, &m[1].msg);
	assert_int_equal(sta_mbox_run(&box, &owner), 2);
	m[0].number = 2;
	assert_int_equal(sta_mbox_run(&box, &owner), 1);
	assert_int_equal(owner.next[0], 3);
}

static struct numbered messages[POSTERS][MESSAGES];
static struct sta_mbox shared;

static void *post_all(void *arg)
{
	struct numbered *mine = arg;

	for (int i = 0; i < MESSAGES; i++)
		sta_mbox_post(&shared, &mine[i].msg);
	return NULL;
}

static void test_several_posters(void **state)
{
	struct owner owner = {0};
	pthread_t threads[POSTERS];
	unsigned int total = 0;

	(void)state;
	for (uint32_t p = 0; p < POSTERS; p++) {
		for (uint32_t i = 0; i < MESSAGES; i++)
			messages[p][i] = (struct numbered){{NULL, on_msg}, p, i};
		assert_int_equal(pthread_create(&threads[p], NULL, post_all, messages[p]), 0);
	}
	while (total < POSTERS * MESSAGES) {
		unsigned int n = sta_mbox_run(&shared, &owner);

		total += n;
		if (!n)
			sched_yield();
	}
	for (int p = 0; p < POSTERS; p++) {
		pthread_join(threads[p], NULL);
		assert_int_equal(owner.next[p], MESSAGES);
	}
	assert_true(sta_mbox_is_empty(&shared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_post_while_running),
		cmocka_unit_test(test_several_posters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
