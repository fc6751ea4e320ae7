/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main thread's event loop: file descriptors with a function each, and one deadline. Idle
 * means asleep in epoll_wait().
 */
#ifndef TGT_LOOP_H
#define TGT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct tgt_loop {
	int epoll_fd;
};

/* One watched descriptor. Memory is the owner's; it must stay until tgt_loop_remove(). */
struct tgt_loop_source {
	int fd;
	void (*ready)(void *arg);
	void *arg;
};

/** tgt_loop_init() - 0 or a negative errno. */
int tgt_loop_init(struct tgt_loop *loop);
void tgt_loop_fini(struct tgt_loop *loop);

/** tgt_loop_add() - call source->ready whenever source->fd is readable. 0 or a negative errno. */
int tgt_loop_add(struct tgt_loop *loop, struct tgt_loop_source *source);

/**
 * tgt_loop_watch() - from now on call it when it is readable, writable, both or neither. An end of
 * the other side calls it whatever is watched.
 */
void tgt_loop_watch(struct tgt_loop *loop, struct tgt_loop_source *source, bool readable,
		    bool writable);

/** tgt_loop_remove() - before the descriptor is closed. Only outside of ready functions. */
void tgt_loop_remove(struct tgt_loop *loop, struct tgt_loop_source *source);

/**
 * tgt_loop_wait() - sleep until something is readable or @deadline_ms (UINT64_MAX: never) of
 * tgt_loop_now_ms() is reached, and call the ready functions.
 * @now_ms: set to the time of waking up, before any ready function runs
 *
 * Return: 0 or a negative errno.
 */
int tgt_loop_wait(struct tgt_loop *loop, uint64_t deadline_ms, uint64_t *now_ms);

uint64_t tgt_loop_now_ms(void);

/** tgt_fd_nonblock() - for descriptors that libraries opened. 0 or a negative errno. */
int tgt_fd_nonblock(int fd);

#endif
