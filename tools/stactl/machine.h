/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine as /sys, /proc and /dev show it, and who uses a block device. Reads only. Everything
 * may stand below another root, for tests.
 */
#ifndef STACTL_MACHINE_H
#define STACTL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#define MACHINE_PATH 512
#define MACHINE_NAME 64

/* How a device is used, from the harmless to the worst. */
enum machine_use_kind {
	MACHINE_FREE,
	MACHINE_OPEN, /* some program has it open: known by pid, or not at all */
	MACHINE_HELD, /* part of another block device: LVM, RAID, dm-crypt, ... */
	MACHINE_SWAP,
	MACHINE_MOUNTED,
	MACHINE_ROOT, /* the root file system is on it */
};

struct machine_use {
	enum machine_use_kind kind;
	char text[256]; /* "/dev/nvme0n1p2 is mounted at /srv" */
};

/* The first reasons that are found, at most. */
#define MACHINE_MAX_USES 8

struct machine_uses {
	struct machine_use list[MACHINE_MAX_USES];
	size_t n;
};

/** machine_set_root() - "" for this machine. */
void machine_set_root(const char *dir);

/** machine_path() - @fmt below the root. Return: @path. */
const char *machine_path(char path[MACHINE_PATH], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** machine_read() - first line of a file below the root, without blanks at its end; "" if none. */
void machine_read(const char *path, char *text, size_t bytes);

/**
 * machine_uses_of() - who uses the block device @name ("nvme0n1") and its partitions: mounts, swap
 * and what is stacked on them. Added to @uses.
 */
void machine_uses_of(const char *name, struct machine_uses *uses);

/** machine_openers_of() - programs that have one of the files @paths open, as far as one may see.
 */
void machine_openers_of(const char *const *paths, size_t n, struct machine_uses *uses);

/** machine_worst() - the use that weighs most, NULL if there is none. */
const struct machine_use *machine_worst(const struct machine_uses *uses);

/** machine_add_use() - dropped if there are too many, unless it is the worst so far. */
void machine_add_use(struct machine_uses *uses, enum machine_use_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
