/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verbs device, its connection manager and core's view of it, all made up: every object is
 * counted, and the N-th call that may fail fails. Connections carry nothing; a QP that is put in
 * error flushes what was posted.
 */
#ifndef TEST_STA_FAKEDEV_H
#define TEST_STA_FAKEDEV_H

#include <rdma/rdma_cma.h>

#include <doca_dev.h>
#include <doca_mmap.h>

struct fakedev {
	struct ibv_context verbs;
	struct ibv_device device;
	struct ibv_device_attr attr;
	unsigned int num_calls; /* that could have failed */
	unsigned int fail_at; /* the call, from 1; 0: none */
	int num_live; /* objects, the application's memory included */
	unsigned int num_accepted, num_rejected, num_disconnected;
};

extern struct fakedev fakedev;

/* All as new, no fault planned. */
void fakedev_reset(void);
struct doca_dev *fakedev_dev(void);
/* The description of a device of this name; the device's own is FAKEDEV_NAME. */
#define FAKEDEV_NAME "fake0"
const struct doca_devinfo *fakedev_devinfo(const char *name);
/* A connection request; one live object until it is destroyed. */
struct rdma_cm_id *fakedev_request(void);

/* An allocator like the application's. */
void *fakedev_zmalloc(size_t size, size_t align, uint64_t *phys);
void fakedev_free(void *buf);
uint64_t fakedev_vtophys(const void *buf, uint32_t size);

/* A started map over @len bytes at @addr; not destroyed, only forgotten. */
struct fakedev_map {
	void *addr;
	size_t len;
	int num_users;
};

static inline struct doca_mmap *fakedev_mmap(struct fakedev_map *map)
{
	return (struct doca_mmap *)map;
}

#endif
