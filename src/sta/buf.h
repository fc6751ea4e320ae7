/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging memory: data between the network and a back-end lies in slots of a few sizes, each with
 * its physical addresses in a ready PRP list. Memory comes in regions from the application's
 * allocator; a pool shares their slots out among its users, the QPs of an EU. Who finds none waits,
 * each user in a queue of its own, so that one who does not give slots back is in nobody's way.
 *
 * A region is made by the control thread, a pool belongs to one EU and has no lock.
 */
#ifndef STA_BUF_H
#define STA_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>
#include <doca_sta_mem.h>

#include "sta/limits.h"
#include "sta/msg.h"
#include "util/list.h"

struct ibv_mr;

/* The allocator; every function is always set. */
struct sta_mem_ops {
	doca_sta_zmalloc_cb_t zmalloc;
	doca_sta_free_cb_t free;
	doca_sta_vtophys_cb_t vtophys;
};

/* Ordinary memory, whose "physical" address is its virtual one (controllers in this process). */
extern const struct sta_mem_ops sta_mem_default;

enum sta_slot_class {
	STA_SLOT_PAGE, /* reserved: only commands on the non-offload path take these */
	STA_SLOT_SMALL,
	STA_SLOT_MEDIUM,
	STA_SLOT_LARGE, /* the largest I/O */
	STA_SLOT_CLASSES,
};

struct sta_region;
struct sta_buf_user;

struct sta_slot {
	struct sta_buf_user *user; /* who holds it */
	struct sta_slot *next; /* free list of the pool */
	struct sta_region *region;
	uint8_t *data; /* page aligned */
	uint64_t phys; /* of the first page */
	uint64_t *prp_list; /* of the second page and on */
	uint64_t prp_list_phys; /* list never crosses a page */
};

struct sta_region {
	struct sta_region *next; /* of its owner */
	const struct sta_mem_ops *ops;
	enum sta_slot_class class;
	uint32_t num_slots;
	size_t bytes;
	uint8_t *data;
	uint64_t *lists;
	struct sta_msg add_msg;
	struct ibv_mr *mr[STA_MAX_DEVS]; /* by verbs device; set before the EU may use it */
	struct sta_slot slots[];
};

/* NO_MEMORY; DRIVER when the allocator has no physical address for what it gave. */
doca_error_t sta_region_create(const struct sta_mem_ops *ops, enum sta_slot_class class,
			       uint32_t num_slots, struct sta_region **region);
/* Memory registrations have to be gone. */
void sta_region_destroy(struct sta_region *region);

/* Bytes of a slot of @class. */
uint32_t sta_slot_bytes(enum sta_slot_class class);

/* PRP1 and PRP2 (host order) for the first @bytes of @slot. */
void sta_slot_prps(const struct sta_slot *slot, uint32_t bytes, uint64_t *prp1, uint64_t *prp2);

/* A place in its user's queue for a slot; inside the object that waits. */
struct sta_buf_wait {
	struct sta_buf_wait *next;
	struct sta_slot *slot; /* set when granted */
	enum sta_slot_class class;
};

/* Of one user, in one size. */
struct sta_buf_share {
	uint32_t num_held; /* slots of the size */
	bool is_blocked;
	struct sta_buf_wait *head, **tail; /* FIFO of those whom the size would fit */
	struct util_list node; /* in ready or blocked of the size, when somebody waits */
};

struct sta_buf_user {
	struct sta_buf_share shares[STA_SLOT_CLASSES];
	bool is_member;
};

struct sta_buf_class {
	struct sta_slot *free;
	uint32_t num_free, num_slots;
	uint32_t num_holders; /* members who hold at least one */
	struct util_list ready; /* shares that get a slot as soon as there is one, in turn */
	struct util_list blocked; /* that hold too much at the moment */
};

struct sta_pool {
	struct sta_buf_class classes[STA_SLOT_CLASSES];
	uint32_t num_users;
	uint32_t num_blocked;
	uint64_t waited; /* times somebody had to */
};

void sta_pool_init(struct sta_pool *pool);
void sta_pool_add(struct sta_pool *pool, struct sta_region *region);

/* Makes @user one of those who share. */
void sta_pool_join(struct sta_pool *pool, struct sta_buf_user *user);
/* @user waits for nothing any more. */
void sta_pool_forget(struct sta_pool *pool, struct sta_buf_user *user);
/* It wants nothing more. It may put what it holds later. */
void sta_pool_leave(struct sta_pool *pool, struct sta_buf_user *user);

/*
 * Gives @user a slot for @bytes (at most STA_MAX_IO_BYTES) at once, in w->slot, and returns true;
 * or queues @w and returns false: sta_pool_next_granted() returns it when its turn has come.
 * @is_reserved: may use the page slots, and for what fits a page only those.
 */
bool sta_pool_get(struct sta_pool *pool, struct sta_buf_user *user, uint32_t bytes,
		  bool is_reserved, struct sta_buf_wait *w);
void sta_pool_put(struct sta_pool *pool, struct sta_slot *slot);
/* The next waiter that got its slot, or NULL. Call until NULL after slots were put. */
struct sta_buf_wait *sta_pool_next_granted(struct sta_pool *pool);

#endif
