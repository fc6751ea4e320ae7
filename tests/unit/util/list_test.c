/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "util/list.h"

struct item {
	int value;
	struct util_list node;
};

static void assert_values(struct util_list *head, const int *values, size_t n)
{
	struct item *it;
	size_t i = 0;

	util_list_for_each(head, it, node) {
		assert_true(i < n);
		assert_int_equal(it->value, values[i++]);
	}
	assert_int_equal(i, n);
}

static void add_delete_pop(void **state)
{
	struct item items[4] = {{.value = 0}, {.value = 1}, {.value = 2}, {.value = 3}};
	struct util_list head;

	(void)state;
	util_list_init(&head);
	assert_true(util_list_is_empty(&head));
	assert_null(util_list_pop(&head, struct item, node));
	util_list_add_tail(&head, &items[1].node);
	util_list_add_tail(&head, &items[2].node);
	util_list_add_head(&head, &items[0].node);
	util_list_add_tail(&head, &items[3].node);
	assert_values(&head, (int[]){0, 1, 2, 3}, 4);
	assert_int_equal(util_list_first(&head, struct item, node)->value, 0);
	assert_int_equal(util_list_last(&head, struct item, node)->value, 3);
	util_list_del(&items[2].node);
	util_list_del(&items[2].node);
	assert_values(&head, (int[]){0, 1, 3}, 3);
	assert_int_equal(util_list_pop(&head, struct item, node)->value, 0);
	assert_values(&head, (int[]){1, 3}, 2);
}

static void delete_while_walking(void **state)
{
	struct item items[5];
	struct item *it, *next;
	struct util_list head;

	(void)state;
	util_list_init(&head);
	for (int i = 0; i < 5; i++) {
		items[i].value = i;
		util_list_add_tail(&head, &items[i].node);
	}
	util_list_for_each_safe(&head, it, next, node) {
		if (it->value % 2 == 0)
			util_list_del(&it->node);
	}
	assert_values(&head, (int[]){1, 3}, 2);
}

static void splice(void **state)
{
	struct item items[4] = {{.value = 0}, {.value = 1}, {.value = 2}, {.value = 3}};
	struct util_list a, b;

	(void)state;
	util_list_init(&a);
	util_list_init(&b);
	util_list_splice_tail(&a, &b);
	assert_true(util_list_is_empty(&a));
	util_list_add_tail(&a, &items[0].node);
	for (int i = 1; i < 4; i++)
		util_list_add_tail(&b, &items[i].node);
	util_list_splice_tail(&a, &b);
	assert_true(util_list_is_empty(&b));
	assert_values(&a, (int[]){0, 1, 2, 3}, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_delete_pop),
		cmocka_unit_test(delete_while_walking),
		cmocka_unit_test(splice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
