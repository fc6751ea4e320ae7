/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces of the soft controller and the identifiers of everything that needs one: never zero,
 * never different after a restart, because they are made from the configuration.
 */
#include "nvme/soft/priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a, 64 bit: spreads configuration text over an identifier; nothing secret about it. */
static uint64_t hash(uint64_t seed, const void *data, size_t len)
{
	const uint8_t *byte = data;
	uint64_t h = 0xcbf29ce484222325u ^ seed;

	for (size_t i = 0; i < len; i++)
		h = (h ^ byte[i]) * 0x100000001b3u;
	/* FNV leaves the high bits poor for short input. */
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

enum id_kind {
	ID_NGUID = 1,
	ID_EUI64,
	ID_UUID,
	ID_SUBSYS
};

static void derive(const struct nv_soft *soft, enum id_kind kind, uint32_t nsid, uint8_t *id,
		   size_t len)
{
	for (size_t pos = 0; pos < len; pos += 8) {
		uint64_t seed = (uint64_t)kind << 56 | (uint64_t)pos << 48 | nsid;
		uint64_t word = htobe64(hash(seed, soft->serial, strlen(soft->serial)));

		memcpy(id + pos, &word, 8);
	}
}

/* RFC 9562: version 8 (vendor's own), variant 10b. */
static void make_uuid(uint8_t *uuid)
{
	uuid[6] = (uuid[6] & 0x0f) | 0x80;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

void nv_soft_default_subnqn(struct nv_soft *soft)
{
	uint8_t u[16];

	derive(soft, ID_SUBSYS, 0, u, sizeof(u));
	make_uuid(u);
	/* The form of NQN for those who own no domain name: Base 2.0, 4.5. */
	snprintf(soft->subnqn, sizeof(soft->subnqn),
		 "nqn.2014-08.org.nvmexpress:uuid:%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		 "%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
}

static bool is_zero(const uint8_t *id, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (id[i])
			return false;
	return true;
}

static void set_ids(const struct nv_soft *soft, struct nv_soft_ns *ns,
		    const struct nv_soft_ns_conf *conf)
{
	memcpy(ns->nguid, conf->nguid, sizeof(ns->nguid));
	memcpy(ns->eui64, conf->eui64, sizeof(ns->eui64));
	memcpy(ns->uuid, conf->uuid, sizeof(ns->uuid));
	if (is_zero(ns->nguid, sizeof(ns->nguid)))
		derive(soft, ID_NGUID, conf->nsid, ns->nguid, sizeof(ns->nguid));
	if (is_zero(ns->eui64, sizeof(ns->eui64))) {
		derive(soft, ID_EUI64, conf->nsid, ns->eui64, sizeof(ns->eui64));
		ns->eui64[0] = (ns->eui64[0] & ~1u) | 2u; /* locally administered, one device */
	}
	if (is_zero(ns->uuid, sizeof(ns->uuid))) {
		derive(soft, ID_UUID, conf->nsid, ns->uuid, sizeof(ns->uuid));
		make_uuid(ns->uuid);
	}
}

static bool has_queue(const struct nv_soft *soft)
{
	for (unsigned int qid = 1; qid <= NV_MAX_IO_QUEUES; qid++)
		if (soft->queues[qid])
			return true;
	return false;
}

int nv_soft_add_ns(struct nv_soft *soft, const struct nv_soft_ns_conf *conf, struct nv_store *store,
		   struct nv_err *err)
{
	struct nv_soft_ns *ns;

	if (conf->nsid == 0 || conf->nsid > NV_SOFT_MAX_NS)
		return nv_err(err, -EINVAL, "namespace id %u is not in 1..%u", conf->nsid,
			      NV_SOFT_MAX_NS);
	if (store->block_bytes != 512 && store->block_bytes != 4096)
		return nv_err(err, -EINVAL, "block size %u is neither 512 nor 4096",
			      store->block_bytes);
	if (store->size_bytes == 0 || store->size_bytes % store->block_bytes)
		return nv_err(err, -EINVAL, "namespace %u: size is not a multiple of its block",
			      conf->nsid);
	ns = &soft->ns[conf->nsid - 1];
	if (ns->store)
		return nv_err(err, -EEXIST, "namespace %u exists already", conf->nsid);
	if (has_queue(soft))
		return nv_err(err, -EBUSY, "namespaces are added before I/O queues are created");
	ns->store = store;
	ns->block_shift = store->block_bytes == 512 ? 9 : 12;
	ns->blocks = store->size_bytes >> ns->block_shift;
	set_ids(soft, ns, conf);
	return 0;
}

static bool check_size(struct nv_soft_ns *ns)
{
	uint64_t bytes = 0;
	uint64_t blocks;

	if (!ns->store || ns->store->ops->size(ns->store, &bytes))
		return false;
	blocks = bytes >> ns->block_shift;
	if (!blocks || blocks == ns->blocks)
		return false;
	__atomic_store_n(&ns->blocks, blocks, __ATOMIC_RELAXED);
	return true;
}

unsigned int nv_soft_check_sizes(struct nv_soft *soft)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < NV_SOFT_MAX_NS; i++) {
		if (!check_size(&soft->ns[i]))
			continue;
		soft->changed_ns |= 1ull << i;
		count++;
	}
	if (count) {
		soft->ns_event_due = true;
		nv_soft_send_event(soft);
	}
	return count;
}

uint32_t nv_soft_top_nsid(const struct nv_soft *soft)
{
	uint32_t top = NV_SOFT_MAX_NS;

	while (top && !soft->ns[top - 1].store)
		top--;
	return top;
}

bool nv_soft_has_write_cache(const struct nv_soft *soft)
{
	for (unsigned int i = 0; i < NV_SOFT_MAX_NS; i++)
		if (soft->ns[i].store && soft->ns[i].store->volatile_cache)
			return true;
	return false;
}
