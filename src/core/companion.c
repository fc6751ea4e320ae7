/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of companions by doorbell address. Control path only: the engine copies what it needs
 * when it gets a queue.
 */
#include "core/companion.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/limits.h"
#include "util/list.h"

/* Lock: companions_lock. Life: from attach to detach. */
struct core_companion_entry {
	struct util_list node;
	const volatile void *sq_doorbell;
	struct core_companion companion;
	unsigned int users;
};

static pthread_mutex_t companions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct util_list companions = {&companions, &companions};
static unsigned int num_companions;

static void no_doorbell(void *arg)
{
	(void)arg;
}

static unsigned no_poll(void *arg)
{
	(void)arg;
	return 0;
}

static const struct doca_softsta_queue_ops no_companion_ops = {
	.doorbell = no_doorbell,
	.poll = no_poll,
};

/* With the lock held. */
static struct core_companion_entry *companion_find(const volatile void *sq_doorbell)
{
	struct core_companion_entry *e;

	util_list_for_each(&companions, e, node) {
		if (e->sq_doorbell == sq_doorbell)
			return e;
	}
	return NULL;
}

doca_error_t doca_softsta_queue_attach(const volatile void *sq_doorbell,
				       const struct doca_softsta_queue_ops *ops, int fd, void *arg)
{
	struct core_companion_entry *e;
	doca_error_t result = DOCA_SUCCESS;

	if (!sq_doorbell || !ops || !ops->doorbell || !ops->poll || fd < -1)
		return DOCA_ERROR_INVALID_VALUE;
	e = calloc(1, sizeof(*e));
	if (!e)
		return DOCA_ERROR_NO_MEMORY;
	e->sq_doorbell = sq_doorbell;
	e->companion = (struct core_companion){.ops = ops, .fd = fd, .arg = arg};

	pthread_mutex_lock(&companions_lock);
	if (companion_find(sq_doorbell)) {
		result = DOCA_ERROR_ALREADY_EXIST;
	} else if (num_companions >= CORE_MAX_COMPANIONS) {
		result = DOCA_ERROR_NO_MEMORY;
	} else {
		util_list_add_tail(&companions, &e->node);
		num_companions++;
		e = NULL;
	}
	pthread_mutex_unlock(&companions_lock);
	free(e);
	return result;
}

doca_error_t doca_softsta_queue_detach(const volatile void *sq_doorbell)
{
	struct core_companion_entry *e;
	doca_error_t result = DOCA_SUCCESS;

	if (!sq_doorbell)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&companions_lock);
	e = companion_find(sq_doorbell);
	if (!e) {
		result = DOCA_ERROR_NOT_FOUND;
	} else if (e->users) {
		result = DOCA_ERROR_IN_USE;
	} else {
		util_list_del(&e->node);
		num_companions--;
		free(e);
	}
	pthread_mutex_unlock(&companions_lock);
	return result;
}

void doca_priv_queue_companion_get(const volatile void *sq_doorbell,
				   struct core_companion *companion)
{
	struct core_companion_entry *e;

	*companion = (struct core_companion){.ops = &no_companion_ops, .fd = -1};
	pthread_mutex_lock(&companions_lock);
	e = companion_find(sq_doorbell);
	if (e) {
		e->users++;
		*companion = e->companion;
	}
	pthread_mutex_unlock(&companions_lock);
}

void doca_priv_queue_companion_put(const volatile void *sq_doorbell)
{
	struct core_companion_entry *e;

	pthread_mutex_lock(&companions_lock);
	e = companion_find(sq_doorbell);
	if (e && e->users)
		e->users--;
	pthread_mutex_unlock(&companions_lock);
}
