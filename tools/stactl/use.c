/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who uses a block device; see machine.h. A device is used by what is mounted from it or from one
 * of its partitions, as swap, and by the devices that are stacked on it (its holders in sysfs),
 * whose own uses count as well.
 */
#include "machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* dm-crypt on LVM on RAID on a partition, and as much again. */
#define MAX_DEPTH 8

/* The block device that is asked about, and the one on it that is looked at. */
struct walk {
	struct machine_uses *uses;
	int depth;
};

static void walk_device(const struct walk *walk, const char *name);

/* ---- /proc -------------------------------------------------------------------------------- */

/* "/srv/my\040disk" as the kernel writes it in mountinfo and swaps: octal for blanks. In place. */
static void unescape(char *text)
{
	char *out = text;

	while (*text) {
		if (text[0] == '\\' && isdigit((unsigned char)text[1]) &&
		    isdigit((unsigned char)text[2]) && isdigit((unsigned char)text[3])) {
			*out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
					(text[3] - '0'));
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

/* Does @source, "/dev/nvme0n1p1" or a link to it, mean the device @name? */
static bool means_device(const char *source, const char *name)
{
	char path[MACHINE_PATH], real[PATH_MAX];
	const char *slash;

	if (source[0] != '/')
		return false;
	if (!realpath(machine_path(path, "%.200s", source), real))
		snprintf(real, sizeof(real), "%s", source);
	slash = strrchr(real, '/');
	return !strcmp(slash + 1, name) && strstr(real, "/dev/");
}

/* proc(5): "36 35 98:0 /root /mount/point options fields - type source superblock-options" */
static void check_mount(const struct walk *walk, const char *name, const char *number, char *line)
{
	char *fields[6], *save = NULL, *separator = strstr(line, " - "), *source = NULL;
	bool is_root;
	size_t i;

	if (!separator)
		return;
	*separator = '\0';
	if (strtok_r(separator + 3, " \n", &save))
		source = strtok_r(NULL, " \n", &save);
	save = NULL;
	for (i = 0; i < 6; i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!fields[i])
			return;
	}
	if (source)
		unescape(source);
	/* A file system of several devices, as btrfs, has a number of its own. */
	if (strcmp(fields[2], number) && !(source && means_device(source, name)))
		return;
	unescape(fields[4]);
	is_root = !strcmp(fields[4], "/");
	machine_add_use(walk->uses, is_root ? MACHINE_ROOT : MACHINE_MOUNTED,
			is_root ? "/dev/%.60s holds the root file system (%.100s)"
				: "/dev/%.60s is mounted at %.150s",
			name, fields[4]);
}

static void check_mounts(const struct walk *walk, const char *name, const char *number)
{
	char path[MACHINE_PATH], *line = NULL;
	FILE *f = fopen(machine_path(path, "/proc/self/mountinfo"), "re");
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		check_mount(walk, name, number, line);
	free(line);
	if (f)
		fclose(f);
}

static void check_swaps(const struct walk *walk, const char *name)
{
	char path[MACHINE_PATH], *line = NULL;
	FILE *f = fopen(machine_path(path, "/proc/swaps"), "re");
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0) {
		line[strcspn(line, " \t\n")] = '\0';
		unescape(line);
		if (means_device(line, name))
			machine_add_use(walk->uses, MACHINE_SWAP, "/dev/%.60s is swap space", name);
	}
	free(line);
	if (f)
		fclose(f);
}

/* ---- sysfs -------------------------------------------------------------------------------- */

static void add_holder(const struct walk *walk, const char *name, const char *holder)
{
	char path[MACHINE_PATH], label[MACHINE_NAME], uuid[MACHINE_NAME];
	const char *what = "another block device";

	machine_read(machine_path(path, "/sys/class/block/%.60s/dm/name", holder), label,
		     sizeof(label));
	machine_read(machine_path(path, "/sys/class/block/%.60s/dm/uuid", holder), uuid,
		     sizeof(uuid));
	if (!strncmp(uuid, "LVM-", 4))
		what = "LVM";
	else if (!strncmp(uuid, "CRYPT-", 6))
		what = "dm-crypt";
	else if (!strncmp(holder, "dm-", 3))
		what = "device mapper";
	else if (!strncmp(holder, "md", 2))
		what = "RAID";
	machine_add_use(walk->uses, MACHINE_HELD, "/dev/%.60s is part of %s (%s%s%.60s)", name,
			what, label, label[0] ? ", " : "", holder);
}

static void check_holders(const struct walk *walk, const char *name)
{
	char path[MACHINE_PATH];
	struct dirent *entry;
	DIR *dir = opendir(machine_path(path, "/sys/class/block/%.60s/holders", name));

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		add_holder(walk, name, entry->d_name);
		walk_device(&(struct walk){walk->uses, walk->depth + 1}, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void check_partitions(const struct walk *walk, const char *name)
{
	char path[MACHINE_PATH];
	struct dirent *entry;
	DIR *dir = opendir(machine_path(path, "/sys/class/block/%.60s", name));

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    !access(machine_path(path, "/sys/class/block/%.60s/%.60s/partition", name,
					 entry->d_name),
			    F_OK))
			walk_device(&(struct walk){walk->uses, walk->depth + 1}, entry->d_name);
	if (dir)
		closedir(dir);
}

static void walk_device(const struct walk *walk, const char *name)
{
	char path[MACHINE_PATH], number[MACHINE_NAME];

	if (walk->depth > MAX_DEPTH)
		return;
	machine_read(machine_path(path, "/sys/class/block/%.60s/dev", name), number,
		     sizeof(number));
	check_mounts(walk, name, number);
	check_swaps(walk, name);
	check_holders(walk, name);
	check_partitions(walk, name);
}

void machine_uses_of(const char *name, struct machine_uses *uses)
{
	walk_device(&(struct walk){uses, 0}, name);
}

/* ---- programs ----------------------------------------------------------------------------- */

static bool is_among(const char *path, const char *const *paths, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(path, paths[i]))
			return true;
	return false;
}

static void check_process(const char *pid, const char *const *paths, size_t n,
			  struct machine_uses *uses)
{
	char path[MACHINE_PATH], target[PATH_MAX], name[MACHINE_NAME];
	struct dirent *entry;
	DIR *dir = opendir(machine_path(path, "/proc/%.20s/fd", pid));
	ssize_t len;

	while (dir && (entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		if (!is_among(target, paths, n))
			continue;
		machine_read(machine_path(path, "/proc/%.20s/comm", pid), name, sizeof(name));
		machine_add_use(uses, MACHINE_OPEN, "%.60s is open in %s (process %s)", target,
				name, pid);
		break;
	}
	if (dir)
		closedir(dir);
}

void machine_openers_of(const char *const *paths, size_t n, struct machine_uses *uses)
{
	char path[MACHINE_PATH];
	struct dirent *entry;
	DIR *dir = opendir(machine_path(path, "/proc"));

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    strtol(entry->d_name, NULL, 10) != (long)getpid())
			check_process(entry->d_name, paths, n, uses);
	if (dir)
		closedir(dir);
}
