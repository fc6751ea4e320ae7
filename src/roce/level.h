/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An eventfd that is readable as long as a queue is not empty: what a program polls, or sleeps on,
 * for events. The lock of the queue is held for set and clear, so neither of them can block, and an
 * entry that is taken back without being fetched leaves nothing readable behind.
 */
#ifndef ROCE_LEVEL_H
#define ROCE_LEVEL_H

/* An fd, or -errno. */
int roce_level_open(void);
/* An entry was added. Each time, for who waits for edges. */
void roce_level_set(int fd);
/* The last entry was removed. */
void roce_level_clear(int fd);
/* Until fd is readable: 0, -EAGAIN at once if it is non-blocking, -EINTR. The lock is not held. */
int roce_level_wait(int fd);

#endif
