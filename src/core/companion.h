/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's side of <doca_softsta.h>: finding the companion of a queue pair by its doorbell.
 * libdoca_sta gets one for every back-end queue and calls it without asking what it is: a queue
 * without a companion gets functions that do nothing.
 */
#ifndef CORE_COMPANION_H
#define CORE_COMPANION_H

#include <doca_softsta.h>

#include "core/export.h"

/* A copy; valid between get and put. ops is never NULL, fd is -1 if there is nothing to sleep on.
 */
struct core_companion {
	const struct doca_softsta_queue_ops *ops;
	int fd;
	void *arg;
};

/* Any thread. Each get is undone by one put; in between the companion cannot be detached. */
CORE_EXPORT void doca_priv_queue_companion_get(const volatile void *sq_doorbell,
					       struct core_companion *companion);
CORE_EXPORT void doca_priv_queue_companion_put(const volatile void *sq_doorbell);

#endif /* CORE_COMPANION_H */
