/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way by which threads hand things to each other in libdoca_sta: an intrusive mailbox.
 * Any thread posts, the owner takes everything at once and in order. It is never full, so no
 * hand-over can fail; what limits it is the number of objects that carry a message.
 *
 * A message belongs to the box from post until its function is called by the owner.
 * Two posts by one thread are taken in the order of the posts.
 */
#ifndef STA_MSG_H
#define STA_MSG_H

#include <stdbool.h>
#include <stddef.h>

#include "util/compiler.h"

struct sta_msg {
	struct sta_msg *next;
	/* Called on the owner's thread, with the owner's object. */
	void (*fn)(void *owner, struct sta_msg *msg);
};

struct sta_mbox {
	struct sta_msg *head; /* newest first; shared, atomic */
};

/* True when the box was empty, that is when the owner may have to be woken. */
static inline bool sta_mbox_post(struct sta_mbox *box, struct sta_msg *msg)
{
	struct sta_msg *old = __atomic_load_n(&box->head, __ATOMIC_RELAXED);

	do {
		msg->next = old;
	} while (!__atomic_compare_exchange_n(&box->head, &old, msg, true, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return old == NULL;
}

static inline bool sta_mbox_is_empty(const struct sta_mbox *box)
{
	return __atomic_load_n(&box->head, __ATOMIC_SEQ_CST) == NULL;
}

/* Takes all messages, oldest first. */
static inline struct sta_msg *sta_mbox_take(struct sta_mbox *box)
{
	struct sta_msg *msg, *next, *list = NULL;

	if (!__atomic_load_n(&box->head, __ATOMIC_RELAXED))
		return NULL;
	/* acquires what the posters released */
	for (msg = __atomic_exchange_n(&box->head, NULL, __ATOMIC_ACQUIRE); msg; msg = next) {
		next = msg->next;
		msg->next = list;
		list = msg;
	}
	return list;
}

/* Runs all messages that are there; returns their number. */
static inline unsigned int sta_mbox_run(struct sta_mbox *box, void *owner)
{
	struct sta_msg *msg, *next;
	unsigned int n = 0;

	for (msg = sta_mbox_take(box); msg; msg = next, n++) {
		next = msg->next;
		msg->fn(owner, msg);
	}
	return n;
}

#endif
