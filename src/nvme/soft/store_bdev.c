/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says of a block device: its volatile cache, the sizes that it likes, and what it
 * can do without data being sent. From sysfs (Documentation/ABI/stable/sysfs-block).
 */
#include "nvme/soft/store_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 512

/* The first line of queue/@name, without its end. False: there is none. */
static bool read_line(const char *queue, const char *name, char *line, size_t room)
{
	char path[PATH_BYTES];
	FILE *file;
	bool ok;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", queue, name) >= sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	ok = fgets(line, (int)room, file) != NULL;
	fclose(file);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

/* 0 where there is no number, or none that fits. */
static uint32_t read_number(const char *queue, const char *name)
{
	char line[32];
	uint64_t value;

	if (!read_line(queue, name, line, sizeof(line)) || sscanf(line, "%" SCNu64, &value) != 1)
		return 0;
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* A number that may be larger than what we ask: is it more than nothing? */
static bool is_positive(const char *queue, const char *name)
{
	char line[32];
	uint64_t value;

	return read_line(queue, name, line, sizeof(line)) &&
	       sscanf(line, "%" SCNu64, &value) == 1 && value > 0;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void nv_store_bdev_read(const char *sysfs, unsigned int major, unsigned int minor,
			struct nv_store_bdev *ret)
{
	char queue[PATH_BYTES];
	char line[32];

	*ret = (struct nv_store_bdev){.has_write_cache = true};
	/* A partition has the queue of its disk, one level up. */
	snprintf(queue, sizeof(queue), "%s/dev/block/%u:%u/queue", sysfs, major, minor);
	if (access(queue, F_OK))
		snprintf(queue, sizeof(queue), "%s/dev/block/%u:%u/../queue", sysfs, major, minor);
	/* Whoever does not say that it has none may have one. */
	if (read_line(queue, "write_cache", line, sizeof(line)))
		ret->has_write_cache = strcmp(line, "write through") != 0;
	ret->can_zero = is_positive(queue, "write_zeroes_max_bytes");
	ret->sizes.write_bytes = larger(read_number(queue, "physical_block_size"),
					read_number(queue, "minimum_io_size"));
	ret->sizes.optimal_bytes = read_number(queue, "optimal_io_size");
	ret->sizes.discard_bytes = read_number(queue, "discard_granularity");
	ret->sizes.boundary_bytes = read_number(queue, "chunk_sectors") * 512;
}
