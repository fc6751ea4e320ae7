/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time by the process's CPU clock, instructions by one hardware counter a thread. See cost.h.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cost.h"

static int open_counter(pid_t tid, bool is_user_only)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = is_user_only,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void add_thread(struct cost_meter *meter, pid_t tid)
{
	int fd = open_counter(tid, meter->is_user_only);

	if (fd < 0 && (errno == EACCES || errno == EPERM) && !meter->num_fds) {
		meter->is_user_only = true;
		fd = open_counter(tid, true);
	}
	if (fd < 0)
		meter->error = errno;
	else
		meter->fds[meter->num_fds++] = fd;
}

void cost_open(struct cost_meter *meter, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	memset(meter, 0, sizeof(*meter));
	meter->pid = pid;
	if (!pid)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir) {
		meter->error = errno;
		return;
	}
	while ((entry = readdir(dir)) && !meter->error && meter->num_fds < COST_THREADS_MAX)
		if (entry->d_name[0] != '.')
			add_thread(meter, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(dir);
}

bool cost_has_instructions(const struct cost_meter *meter)
{
	return meter->num_fds > 0 && !meter->error;
}

struct cost cost_read(const struct cost_meter *meter)
{
	struct cost cost = {0};
	struct timespec ts;
	clockid_t clock;
	unsigned int i;
	uint64_t value;

	if (!meter->pid)
		return cost;
	if (clock_getcpuclockid(meter->pid, &clock) == 0 && clock_gettime(clock, &ts) == 0)
		cost.cpu_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	for (i = 0; i < meter->num_fds; i++)
		if (read(meter->fds[i], &value, sizeof(value)) == sizeof(value))
			cost.instructions += value;
	return cost;
}

void cost_close(struct cost_meter *meter)
{
	while (meter->num_fds > 0)
		close(meter->fds[--meter->num_fds]);
}
