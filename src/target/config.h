/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the target is told to do, before anything of it exists. The command line (options.c) and
 * SPDK's JSON format (config_json.c) both fill a struct tgt_config through the functions below, so
 * there is one set of checks. Nothing here opens a file or an address.
 */
#ifndef TGT_CONFIG_H
#define TGT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/err.h"
#include "target/limits.h"
#include "target/nqn.h"
#include "target/parse.h"

enum tgt_bdev_kind {
	TGT_BDEV_DRIVE, /* NVMe controller bound to vfio-pci, with all its namespaces */
	TGT_BDEV_FILE, /* file or block device */
	TGT_BDEV_RAM,
	TGT_BDEV_NULL,
};

enum tgt_layer_kind {
	TGT_LAYER_DELAY,
	TGT_LAYER_ERROR, /* fails when told to */
};

/* A test engine on a disk. */
struct tgt_layer_conf {
	enum tgt_layer_kind kind;
	uint64_t read_ns, write_ns; /* DELAY: of a Read, and of all else */
};

enum {
	TGT_MAX_LAYERS = 4,
};

struct tgt_bdev_conf {
	char name[64];
	enum tgt_bdev_kind kind;
	char *path; /* FILE; DRIVE: its PCI address */
	uint64_t size_bytes; /* RAM, NULL; FILE: create or grow it, 0: as it is; DRIVE: 0 */
	uint32_t block_bytes; /* 512 or 4096; FILE: 0, as the device; DRIVE: 0, as the namespace */
	bool read_only;
	bool has_uuid;
	uint8_t uuid[16];
	struct tgt_layer_conf layers[TGT_MAX_LAYERS]; /* the lowest first */
	size_t n_layers;
};

enum {
	TGT_EVERY_NAMESPACE = 0, /* as be_nsid */
	TGT_ONLY_NAMESPACE = 1, /* of a bdev that is no drive */
};

struct tgt_ns_conf {
	uint32_t nsid; /* 0 where be_nsid is TGT_EVERY_NAMESPACE: the lowest that are free */
	size_t bdev; /* index */
	uint32_t be_nsid; /* which of the bdev's namespaces */
	bool has_uuid, has_nguid;
	uint8_t uuid[16];
	uint8_t nguid[16];
	uint8_t eui64[8];
};

struct tgt_subsys_conf {
	char nqn[TGT_NQN_TEXT];
	char serial[21]; /* "" for the default, here and below */
	char model[41];
	bool allow_any_host;
	uint16_t min_cntlid, max_cntlid;
	uint32_t max_namespaces;
	struct tgt_ns_conf *ns;
	size_t n_ns;
	char (*hosts)[TGT_NQN_TEXT];
	size_t n_hosts;
	union tgt_sockaddr *listeners;
	size_t n_listeners;
};

struct tgt_config {
	struct tgt_bdev_conf *bdevs;
	size_t n_bdevs;
	struct tgt_subsys_conf *subsystems;
	size_t n_subsystems;
	/* Wishes that lower what the data path offers; 0: none. */
	uint32_t max_io_bytes;
	uint16_t io_queue_entries;
	uint16_t max_io_queues;
	uint32_t in_capsule_bytes;
	bool has_in_capsule_bytes; /* 0 is a value */
	/* Set by who loads it: an address that does not exist (yet) is no error. */
	bool waits_for_addresses;
	/* The control socket: a path, the caller's; "none" for none, NULL for the usual one. */
	const char *rpc_socket;
};

void tgt_config_init(struct tgt_config *config);
void tgt_config_fini(struct tgt_config *config);

/*
 * The functions below return 0 or a negative errno with the reason in @err, which names the thing
 * but not the option or method it came from. Nothing is changed on failure.
 */

/**
 * tgt_config_add_bdev() - @bdev is copied, its path too. Name free, block size 512 or 4096 (0 of a
 * file, too), size a multiple of it; a drive has neither, and its PCI address no other bdev.
 */
int tgt_config_add_bdev(struct tgt_config *config, const struct tgt_bdev_conf *bdev,
			struct tgt_err *err);

/**
 * tgt_config_add_layer() - put a test engine on the bdev @base, which is called @name from then on.
 * It is no drive and no namespace yet; one engine that fails is enough.
 */
int tgt_config_add_layer(struct tgt_config *config, const char *base, const char *name,
			 const struct tgt_layer_conf *layer, struct tgt_err *err);

/** tgt_config_find_bdev() - index by name, -1 if none. */
long tgt_config_find_bdev(const struct tgt_config *config, const char *name);

/**
 * tgt_config_find_disk() - index of the bdev behind the name of a disk, -1 if none. A drive's
 * namespaces have their own names: namespace 2 of "Nvme0" is "Nvme0n2", as in SPDK.
 */
long tgt_config_find_disk(const struct tgt_config *config, const char *name, uint32_t *be_nsid);

/**
 * tgt_config_add_subsys() - a subsystem without hosts, listeners and namespaces.
 * @subsys: valid until the next call; fields other than nqn may be set by the caller
 */
int tgt_config_add_subsys(struct tgt_config *config, const char *nqn,
			  struct tgt_subsys_conf **subsys, struct tgt_err *err);

struct tgt_subsys_conf *tgt_config_find_subsys(const struct tgt_config *config, const char *nqn);

/**
 * tgt_config_add_ns() - @ns->nsid 0 takes the lowest free id, which is written back; not so for
 * every namespace of a drive, whose number is not known yet. Its identifiers are those of no other
 * namespace of the subsystem.
 */
int tgt_config_add_ns(struct tgt_config *config, struct tgt_subsys_conf *subsys,
		      struct tgt_ns_conf *ns, struct tgt_err *err);

int tgt_config_add_host(struct tgt_subsys_conf *subsys, const char *hostnqn, struct tgt_err *err);

int tgt_config_add_listener(struct tgt_subsys_conf *subsys, const union tgt_sockaddr *addr,
			    struct tgt_err *err);

/**
 * tgt_config_load_json() - add what a file in SPDK's configuration format says.
 * @warn: called with one line for every method and parameter that has no effect here
 *
 * An error names file, method and field.
 */
int tgt_config_load_json(struct tgt_config *config, const char *path,
			 void (*warn)(const char *line), struct tgt_err *err);

/** tgt_config_parse_json() - the same for a text, which messages call @path. */
int tgt_config_parse_json(struct tgt_config *config, const char *path, const char *text,
			  size_t bytes, void (*warn)(const char *line), struct tgt_err *err);

/** tgt_config_check() - is there something to serve, and is it complete? */
int tgt_config_check(const struct tgt_config *config, struct tgt_err *err);

#endif
