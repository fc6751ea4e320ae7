/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order between this CPU and a device. Order among threads is the business of C's atomics.
 */
#ifndef UTIL_BARRIER_H
#define UTIL_BARRIER_H

/* What was stored to memory before is seen by a device that sees a register store after it. */
static inline void util_to_device(void)
{
#if defined(__aarch64__)
	/* A register is device memory: a barrier among CPUs alone does not order it. */
	__asm__ volatile("dmb osh" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

#endif
