/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process has cost so far: CPU time, and instructions where the machine counts them
 * (perf_event_open; often not in a virtual machine, nor for an unprivileged user).
 */
#ifndef BENCH_COST_H
#define BENCH_COST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define COST_THREADS_MAX 64

struct cost_meter {
	pid_t pid; /* 0: nothing is known of that process */
	int fds[COST_THREADS_MAX]; /* one counter a thread */
	unsigned int num_fds;
	bool is_user_only; /* the kernel's share may not be counted */
	int error; /* why there is no counter, 0 when there is one */
};

struct cost {
	uint64_t cpu_ns;
	uint64_t instructions;
};

/* Begin to count what the threads that @pid has now do. @pid 0: a meter that shows nothing. */
void cost_open(struct cost_meter *meter, pid_t pid);
struct cost cost_read(const struct cost_meter *meter);
bool cost_has_instructions(const struct cost_meter *meter);
void cost_close(struct cost_meter *meter);

#endif
