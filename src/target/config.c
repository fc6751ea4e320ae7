/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration in memory and the checks on it; see config.h. */
#include "target/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tgt_config_init(struct tgt_config *config)
{
	memset(config, 0, sizeof(*config));
}

void tgt_config_fini(struct tgt_config *config)
{
	size_t i;

	for (i = 0; i < config->n_bdevs; i++)
		free(config->bdevs[i].path);
	for (i = 0; i < config->n_subsystems; i++) {
		free(config->subsystems[i].ns);
		free(config->subsystems[i].hosts);
		free(config->subsystems[i].listeners);
	}
	free(config->bdevs);
	free(config->subsystems);
	tgt_config_init(config);
}

/* A new zeroed item at the end of a counted array, NULL when memory is out. */
static void *append(void *array, size_t *n, size_t item_bytes)
{
	void **p = array;
	char *bigger = reallocarray(*p, *n + 1, item_bytes);

	if (!bigger)
		return NULL;
	*p = bigger;
	return memset(bigger + (*n)++ * item_bytes, 0, item_bytes);
}

static int no_memory(struct tgt_err *err)
{
	return tgt_err_set(err, -ENOMEM, "out of memory");
}

long tgt_config_find_bdev(const struct tgt_config *config, const char *name)
{
	size_t i;

	for (i = 0; i < config->n_bdevs; i++)
		if (!strcmp(config->bdevs[i].name, name))
			return (long)i;
	return -1;
}

static bool is_number(const char *text, uint32_t *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*number = (uint32_t)value;
	return *text >= '1' && *text <= '9' && !*end && value < UINT32_MAX;
}

long tgt_config_find_disk(const struct tgt_config *config, const char *name, uint32_t *be_nsid)
{
	long found = tgt_config_find_bdev(config, name);
	const char *n = strrchr(name, 'n');
	size_t i;

	*be_nsid = TGT_ONLY_NAMESPACE;
	if (found >= 0)
		return config->bdevs[found].kind == TGT_BDEV_DRIVE ? -1 : found;
	if (!n || !is_number(n + 1, be_nsid))
		return -1;
	for (i = 0; i < config->n_bdevs; i++) {
		const struct tgt_bdev_conf *bdev = &config->bdevs[i];

		if (bdev->kind == TGT_BDEV_DRIVE && strlen(bdev->name) == (size_t)(n - name) &&
		    !strncmp(bdev->name, name, (size_t)(n - name)))
			return (long)i;
	}
	return -1;
}

static int drive_check(const struct tgt_config *config, const struct tgt_bdev_conf *drive,
		       struct tgt_err *err)
{
	size_t i;

	if (!drive->path || drive->block_bytes || drive->size_bytes)
		return tgt_err_set(err, -EINVAL,
				   "drive \"%s\": it has a PCI address, and a size by itself",
				   drive->name);
	for (i = 0; i < config->n_bdevs; i++)
		if (config->bdevs[i].kind == TGT_BDEV_DRIVE &&
		    !strcmp(config->bdevs[i].path, drive->path))
			return tgt_err_set(err, -EEXIST, "drive %s is named already: \"%s\"",
					   drive->path, config->bdevs[i].name);
	return 0;
}

static int bdev_check(const struct tgt_config *config, const struct tgt_bdev_conf *bdev,
		      struct tgt_err *err)
{
	if (!bdev->name[0])
		return tgt_err_set(err, -EINVAL, "a bdev needs a name");
	if (tgt_config_find_bdev(config, bdev->name) >= 0)
		return tgt_err_set(err, -EEXIST, "bdev \"%s\" exists already", bdev->name);
	if (config->n_bdevs >= TGT_MAX_BDEVS)
		return tgt_err_set(err, -ENOSPC, "more than %d bdevs", TGT_MAX_BDEVS);
	if (bdev->kind == TGT_BDEV_DRIVE)
		return drive_check(config, bdev, err);
	if (bdev->block_bytes != 512 && bdev->block_bytes != 4096 &&
	    (bdev->block_bytes || bdev->kind != TGT_BDEV_FILE))
		return tgt_err_set(err, -EINVAL, "bdev \"%s\": block size %u is not 512 or 4096",
				   bdev->name, bdev->block_bytes);
	if (bdev->kind == TGT_BDEV_FILE ? !bdev->path : !bdev->size_bytes)
		return tgt_err_set(err, -EINVAL, "bdev \"%s\": no %s", bdev->name,
				   bdev->kind == TGT_BDEV_FILE ? "file name" : "size");
	if (bdev->block_bytes && bdev->size_bytes % bdev->block_bytes)
		return tgt_err_set(err, -EINVAL,
				   "bdev \"%s\": %llu bytes are no multiple of its %u-byte blocks",
				   bdev->name, (unsigned long long)bdev->size_bytes,
				   bdev->block_bytes);
	return 0;
}

int tgt_config_add_bdev(struct tgt_config *config, const struct tgt_bdev_conf *bdev,
			struct tgt_err *err)
{
	struct tgt_bdev_conf *copy;
	char *path = NULL;
	int rc = bdev_check(config, bdev, err);

	if (rc)
		return rc;
	if (bdev->path) {
		path = strdup(bdev->path);
		if (!path)
			return no_memory(err);
	}
	copy = append(&config->bdevs, &config->n_bdevs, sizeof(*copy));
	if (!copy) {
		free(path);
		return no_memory(err);
	}
	*copy = *bdev;
	copy->path = path;
	return 0;
}

struct tgt_subsys_conf *tgt_config_find_subsys(const struct tgt_config *config, const char *nqn)
{
	size_t i;

	for (i = 0; i < config->n_subsystems; i++)
		if (!strcmp(config->subsystems[i].nqn, nqn))
			return &config->subsystems[i];
	return NULL;
}

int tgt_config_add_subsys(struct tgt_config *config, const char *nqn,
			  struct tgt_subsys_conf **subsys, struct tgt_err *err)
{
	const char *why = tgt_nqn_check(nqn);
	struct tgt_subsys_conf *added;
	char quoted[TGT_QUOTE_TEXT];

	tgt_quote(nqn, 4 * TGT_NQN_TEXT, quoted);
	if (why)
		return tgt_err_set(err, -EINVAL, "NQN \"%.80s\" %s", quoted, why);
	if (tgt_nqn_is_discovery(nqn))
		return tgt_err_set(err, -EINVAL,
				   "the discovery subsystem is always there and takes no"
				   " configuration");
	if (tgt_config_find_subsys(config, nqn))
		return tgt_err_set(err, -EEXIST, "subsystem %s exists already", nqn);
	if (config->n_subsystems >= TGT_MAX_SUBSYSTEMS - 1)
		return tgt_err_set(err, -ENOSPC, "more than %d subsystems", TGT_MAX_SUBSYSTEMS - 1);
	added = append(&config->subsystems, &config->n_subsystems, sizeof(*added));
	if (!added)
		return no_memory(err);
	snprintf(added->nqn, sizeof(added->nqn), "%s", nqn);
	*subsys = added;
	return 0;
}

static bool nsid_is_used(const struct tgt_subsys_conf *subsys, uint32_t nsid)
{
	size_t i;

	for (i = 0; i < subsys->n_ns; i++)
		if (subsys->ns[i].nsid == nsid)
			return true;
	return false;
}

static bool disk_is_used(const struct tgt_config *config, size_t bdev, uint32_t be_nsid)
{
	size_t s, i;

	for (s = 0; s < config->n_subsystems; s++)
		for (i = 0; i < config->subsystems[s].n_ns; i++) {
			const struct tgt_ns_conf *ns = &config->subsystems[s].ns[i];

			if (ns->bdev == bdev &&
			    (ns->be_nsid == be_nsid || be_nsid == TGT_EVERY_NAMESPACE ||
			     ns->be_nsid == TGT_EVERY_NAMESPACE))
				return true;
		}
	return false;
}

static bool has_layer(const struct tgt_bdev_conf *bdev, enum tgt_layer_kind kind)
{
	for (size_t i = 0; i < bdev->n_layers; i++)
		if (bdev->layers[i].kind == kind)
			return true;
	return false;
}

int tgt_config_add_layer(struct tgt_config *config, const char *base, const char *name,
			 const struct tgt_layer_conf *layer, struct tgt_err *err)
{
	struct tgt_bdev_conf *bdev;
	uint32_t be_nsid;
	long i = tgt_config_find_disk(config, base, &be_nsid);

	if (i < 0)
		return tgt_err_set(err, -ENOENT, "no bdev \"%.64s\" was created", base);
	bdev = &config->bdevs[i];
	if (bdev->kind == TGT_BDEV_DRIVE)
		return tgt_err_set(err, -ENOTSUP, "\"%.64s\" is a drive, which takes no engine",
				   base);
	if (disk_is_used(config, (size_t)i, TGT_ONLY_NAMESPACE))
		return tgt_err_set(err, -EBUSY, "bdev \"%.64s\" is a namespace already", base);
	if (!name[0] || strlen(name) >= sizeof(bdev->name))
		return tgt_err_set(err, -EINVAL, "the name \"%.80s\" is empty or longer than %zu",
				   name, sizeof(bdev->name) - 1);
	if (tgt_config_find_bdev(config, name) >= 0)
		return tgt_err_set(err, -EEXIST, "bdev \"%s\" exists already", name);
	if (bdev->n_layers == TGT_MAX_LAYERS ||
	    (layer->kind == TGT_LAYER_ERROR && has_layer(bdev, layer->kind)))
		return tgt_err_set(err, -ENOSPC, "bdev \"%.64s\" has engines enough", base);
	bdev->layers[bdev->n_layers++] = *layer;
	snprintf(bdev->name, sizeof(bdev->name), "%s", name);
	return 0;
}

/* NULL: it gets one of its own. */
static const uint8_t *uuid_of(const struct tgt_config *config, const struct tgt_ns_conf *ns)
{
	const struct tgt_bdev_conf *bdev = &config->bdevs[ns->bdev];

	if (ns->has_uuid)
		return ns->uuid;
	return bdev->has_uuid ? bdev->uuid : NULL;
}

static const uint8_t *nguid_of(const struct tgt_config *config, const struct tgt_ns_conf *ns)
{
	return ns->has_nguid ? ns->nguid : uuid_of(config, ns);
}

static const uint8_t *eui64_of(const struct tgt_ns_conf *ns)
{
	static const uint8_t none[sizeof(ns->eui64)];

	return memcmp(ns->eui64, none, sizeof(none)) ? ns->eui64 : NULL;
}

static bool is_same(const uint8_t *a, const uint8_t *b, size_t bytes)
{
	return a && b && !memcmp(a, b, bytes);
}

/* What hosts would take for one disk with two paths, whose data they would mix up. */
static int check_identity(const struct tgt_config *config, const struct tgt_subsys_conf *subsys,
			  const struct tgt_ns_conf *ns, struct tgt_err *err)
{
	const struct tgt_ns_conf *other;
	const char *what = NULL;
	size_t i;

	for (i = 0; i < subsys->n_ns; i++) {
		other = &subsys->ns[i];
		if (is_same(uuid_of(config, ns), uuid_of(config, other), sizeof(ns->uuid)))
			what = "uuid";
		else if (is_same(nguid_of(config, ns), nguid_of(config, other), sizeof(ns->nguid)))
			what = "nguid";
		else if (is_same(eui64_of(ns), eui64_of(other), sizeof(ns->eui64)))
			what = "eui64";
		if (what)
			return tgt_err_set(err, -EEXIST,
					   "namespaces %u (bdev \"%.64s\") and %u (bdev \"%.64s\")"
					   " have the same %s",
					   other->nsid, config->bdevs[other->bdev].name, ns->nsid,
					   config->bdevs[ns->bdev].name, what);
	}
	return 0;
}

int tgt_config_add_ns(struct tgt_config *config, struct tgt_subsys_conf *subsys,
		      struct tgt_ns_conf *ns, struct tgt_err *err)
{
	uint32_t max = subsys->max_namespaces ? subsys->max_namespaces : TGT_MAX_NAMESPACES;
	struct tgt_ns_conf *added;
	int rc;

	if (disk_is_used(config, ns->bdev, ns->be_nsid))
		return tgt_err_set(err, -EEXIST, "bdev \"%s\" is a namespace already",
				   config->bdevs[ns->bdev].name);
	if (!ns->nsid && ns->be_nsid != TGT_EVERY_NAMESPACE)
		for (ns->nsid = 1; nsid_is_used(subsys, ns->nsid);)
			ns->nsid++;
	if (ns->nsid > max)
		return tgt_err_set(err, -ERANGE, "namespace id %u is above the maximum of %u",
				   ns->nsid, max);
	if (ns->nsid && nsid_is_used(subsys, ns->nsid))
		return tgt_err_set(err, -EEXIST, "namespace id %u is in use", ns->nsid);
	rc = check_identity(config, subsys, ns, err);
	if (rc)
		return rc;
	added = append(&subsys->ns, &subsys->n_ns, sizeof(*added));
	if (!added)
		return no_memory(err);
	*added = *ns;
	return 0;
}

int tgt_config_add_host(struct tgt_subsys_conf *subsys, const char *hostnqn, struct tgt_err *err)
{
	const char *why = tgt_nqn_check(hostnqn);
	char quoted[TGT_QUOTE_TEXT];
	char(*added)[TGT_NQN_TEXT];

	if (why)
		return tgt_err_set(err, -EINVAL, "host NQN \"%.80s\" %s",
				   tgt_quote(hostnqn, 4 * TGT_NQN_TEXT, quoted), why);
	if (subsys->n_hosts >= TGT_MAX_HOSTS_PER_SUBSYSTEM)
		return tgt_err_set(err, -ENOSPC, "more than %d hosts", TGT_MAX_HOSTS_PER_SUBSYSTEM);
	added = append(&subsys->hosts, &subsys->n_hosts, sizeof(*added));
	if (!added)
		return no_memory(err);
	snprintf(*added, sizeof(*added), "%s", hostnqn);
	return 0;
}

int tgt_config_add_listener(struct tgt_subsys_conf *subsys, const union tgt_sockaddr *addr,
			    struct tgt_err *err)
{
	union tgt_sockaddr *added;

	if (subsys->n_listeners >= TGT_MAX_PORTS)
		return tgt_err_set(err, -ENOSPC, "more than %d listen addresses", TGT_MAX_PORTS);
	added = append(&subsys->listeners, &subsys->n_listeners, sizeof(*added));
	if (!added)
		return no_memory(err);
	*added = *addr;
	return 0;
}

int tgt_config_check(const struct tgt_config *config, struct tgt_err *err)
{
	size_t i, listeners = 0;

	if (!config->n_subsystems)
		return tgt_err_set(err, -EINVAL, "nothing to export");
	for (i = 0; i < config->n_subsystems; i++)
		listeners += config->subsystems[i].n_listeners;
	if (!listeners)
		return tgt_err_set(err, -EINVAL, "no subsystem has a listener");
	return 0;
}
