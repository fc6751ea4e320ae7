/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What softsta has and DOCA has not: companions of soft queue pairs, and the end of a controller.
 *
 * A controller that lives in the same process cannot see a store to its doorbell. It attaches a
 * companion to the queue's submission doorbell address before the queue is given to
 * doca_sta_be_add_queue(); the execution unit (EU) that owns the queue then calls it. A queue
 * without a companion (a real drive's) needs nothing of this.
 *
 * Thread: attach and detach on any; the functions of a companion run on the EU's thread only, so a
 * soft queue needs no lock.
 */
#ifndef DOCA_SOFTSTA_H
#define DOCA_SOFTSTA_H

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sta_be_q_handle;

/** The controller's side of a queue pair. Both are called on the thread of the owning EU. */
struct doca_softsta_queue_ops {
	/** Submission tail or completion head doorbell was stored: look at both. */
	void (*doorbell)(void *arg);
	/**
	 * Go on with what is outstanding. Returns how many completion entries it posted.
	 * Called while commands are outstanding, and when the companion's fd is readable; it
	 * must make the fd unreadable again when nothing is left to do.
	 */
	unsigned (*poll)(void *arg);
};

/**
 * doca_softsta_queue_attach() - give a queue pair its companion
 * @sq_doorbell: address of the submission queue's tail doorbell; the key, never dereferenced
 * @ops: both functions; has to stay valid until detached
 * @fd: readable when poll() has something to do, or -1: then poll() is called again and again while
 *   commands are outstanding. Stays the caller's.
 * @arg: passed to the functions
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL pointer or function, or fd below -1
 * - DOCA_ERROR_ALREADY_EXIST: that doorbell has a companion
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or too many companions in this process
 */
DOCA_EXPERIMENTAL
doca_error_t doca_softsta_queue_attach(const volatile void *sq_doorbell,
				       const struct doca_softsta_queue_ops *ops, int fd, void *arg);

/**
 * doca_softsta_queue_detach() - take the companion away
 * @sq_doorbell: the address it was attached to
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NOT_FOUND: nothing is attached there
 * - DOCA_ERROR_IN_USE: a back-end queue uses it still; destroy that queue first
 */
DOCA_EXPERIMENTAL
doca_error_t doca_softsta_queue_detach(const volatile void *sq_doorbell);

/**
 * doca_softsta_be_queue_halted() - the controller behind a back-end queue has stopped for good
 * @queue: the queue
 *
 * Commands that a controller has not completed hold their memory, which it may write to at any
 * time; so a queue is destroyed only when they are done, or have all timed out. Whoever has reset
 * the controller, or cut it off from memory, says so here. Then what is in flight goes back to the
 * hosts with Internal Path Error, which they repeat, as do commands for this queue from now on; its
 * doorbells are left alone. What is left is to destroy it, which waits for nothing then. Another
 * queue of the back-end may be added before or after; one with the same doorbells, after.
 *
 * Thread: that of the STA context. Takes effect before the queue's destroy task ends.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_BAD_STATE: said already, the queue is being destroyed, or STA does not run
 */
DOCA_EXPERIMENTAL
doca_error_t doca_softsta_be_queue_halted(struct doca_sta_be_q_handle *queue);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SOFTSTA_H */
