/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intrusive doubly linked circular list. A head and a link have the same type; a link that is in no
 * list points to itself, so it may be deleted twice. Not thread safe.
 */
#ifndef UTIL_LIST_H
#define UTIL_LIST_H

#include <stdbool.h>

#include "util/compiler.h"

struct util_list {
	struct util_list *next;
	struct util_list *prev;
};

/* Makes an empty head, or a link that is in no list. */
static inline void util_list_init(struct util_list *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool util_list_is_empty(const struct util_list *head)
{
	return head->next == head;
}

static inline void util_list_insert_(struct util_list *l, struct util_list *prev)
{
	l->next = prev->next;
	l->prev = prev;
	prev->next->prev = l;
	prev->next = l;
}

static inline void util_list_add_head(struct util_list *head, struct util_list *l)
{
	util_list_insert_(l, head);
}

static inline void util_list_add_tail(struct util_list *head, struct util_list *l)
{
	util_list_insert_(l, head->prev);
}

static inline void util_list_del(struct util_list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	util_list_init(l);
}

/* Moves everything in from to the tail of head; from is empty then. */
static inline void util_list_splice_tail(struct util_list *head, struct util_list *from)
{
	if (util_list_is_empty(from))
		return;
	from->next->prev = head->prev;
	head->prev->next = from->next;
	from->prev->next = head;
	head->prev = from->prev;
	util_list_init(from);
}

#define util_list_entry(l, type, member) util_container_of(l, type, member)

/* The first or last element; the list must not be empty. */
#define util_list_first(head, type, member) util_list_entry((head)->next, type, member)
#define util_list_last(head, type, member)  util_list_entry((head)->prev, type, member)

/* Removes and returns the first element, or NULL. */
#define util_list_pop(head, type, member)                       \
	((type *)(util_list_is_empty(head) ? NULL : ({          \
		struct util_list *util_l_ = (head)->next;       \
		util_list_del(util_l_);                         \
		(void *)util_list_entry(util_l_, type, member); \
	})))

/* The _safe form allows the loop's body to delete the element that it is at. */
#define util_list_for_each(head, it, member)                                                     \
	for (it = util_list_entry((head)->next, __typeof__(*it), member); &it->member != (head); \
	     it = util_list_entry(it->member.next, __typeof__(*it), member))
#define util_list_for_each_safe(head, it, tmp, member)                       \
	for (it = util_list_entry((head)->next, __typeof__(*it), member),    \
	    tmp = util_list_entry(it->member.next, __typeof__(*it), member); \
	     &it->member != (head);                                          \
	     it = tmp, tmp = util_list_entry(it->member.next, __typeof__(*it), member))

#endif /* UTIL_LIST_H */
