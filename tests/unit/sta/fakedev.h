/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs devices and their connection manager, all made up: every object is counted, and the N-th
 * call that may fail fails. Connections carry nothing; a QP that is put in error flushes what was
 * posted. On top of them are the real devices and maps of core.
 */
#ifndef TEST_STA_FAKEDEV_H
#define TEST_STA_FAKEDEV_H

#include <stdbool.h>

#include <rdma/rdma_cma.h>

#include <doca_dev.h>
#include <doca_mmap.h>

enum {
	FAKEDEV_DEVICES = 17, /* one more than a doca_sta takes */
};

struct fakedev {
	struct ibv_context verbs[FAKEDEV_DEVICES];
	struct ibv_device devices[FAKEDEV_DEVICES];
	struct ibv_device_attr attr;
	unsigned int num_calls; /* that could have failed */
	unsigned int fail_at; /* the call, from 1; 0: none */
	const char *refused; /* calls of this name fail; NULL: none */
	bool (*fails)(void); /* asked at each call; may be NULL */
	int err; /* why a call fails; 0: ENOMEM */
	bool is_pd_stuck; /* protection domains cannot be given back */
	int num_live; /* objects, the application's memory included */
	unsigned int num_accepted, num_rejected, num_disconnected;
};

extern struct fakedev fakedev;

/* All as new, no fault planned. */
void fakedev_reset(void);
/* Opens one of the devices, which are all alike; for doca_dev_close(). */
struct doca_dev *fakedev_open(unsigned int n);
/* A started map on the device; for doca_mmap_destroy(). */
struct doca_mmap *fakedev_map(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions);
/* A connection request on the first device; one live object until it is destroyed. It
 * may fail, as all calls of the device may. */
struct rdma_cm_id *fakedev_request(void);

/* An allocator like the application's. */
void *fakedev_zmalloc(size_t size, size_t align, uint64_t *phys);
void fakedev_free(void *buf);
uint64_t fakedev_vtophys(const void *buf, uint32_t size);

#endif
