/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of src/nvme share: a soft controller with a driver on it and one I/O queue pair,
 * commands sent through that pair, and temporary files.
 */
#ifndef NV_TEST_FIXTURE_H
#define NV_TEST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "nvme/drv.h"
#include "nvme/limits.h"
#include "nvme/soft/priv.h"

struct rig {
	struct nv_soft_mem *mem;
	struct nv_mem allocator;
	struct nv_soft *soft;
	struct nv_bar bar;
	struct nv_ctrl *ctrl;
	struct nv_queue *queue;
	struct nv_soft_companion companion;
	uint16_t next_cid;
};

/* Controller with @store as namespace 1 and a queue of @entries. Takes over the store. */
void rig_init(struct rig *rig, struct nv_store *store, uint16_t entries);
void rig_fini(struct rig *rig);

/* Memory that the controller may touch, zeroed and page aligned. */
void *rig_alloc(struct rig *rig, size_t bytes);
void rig_free(struct rig *rig, void *ptr);

/* A ram store of @blocks blocks. */
struct nv_store *make_ram(uint64_t blocks, uint32_t block_bytes);

/* A read or write of @blocks at @slba with PRPs for @buf (lists are put into @list, which has
 * room for two pages). */
struct nv_sqe make_rw(uint8_t opcode, uint64_t slba, uint32_t blocks, uint32_t block_bytes,
		      void *buf, uint64_t *list);

/* PRP1 and PRP2 for @bytes at @buf. */
void set_prps(struct nv_sqe *sqe, void *buf, uint32_t bytes, uint64_t *list);

/* Send one command and wait for it; returns its status. */
uint16_t run(struct rig *rig, struct nv_sqe sqe);

/* Wait (bounded) until a completion is there. */
struct nv_cqe wait_cqe(struct rig *rig);

/* One admin command through the driver; its status. */
uint16_t admin(struct rig *rig, struct nv_sqe cmd, void *data, size_t bytes, uint32_t *dw0);

/* Path of a fresh file name in a directory of this test run; the directory goes at exit. The
 * last four names are valid. */
const char *temp_path(const char *name);

/* How many pages of a file or device wait for write-back; negative where the kernel cannot tell. */
int dirty_pages(const char *path);

#define MEDIA(code) NV_SC(NVME_SCT_MEDIA, code)

#endif
