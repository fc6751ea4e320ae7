/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory regions: keys, bounds and rights. The table belongs to a device; lanes look keys up while
 * they move data, any thread registers and deregisters.
 *
 * lkey and rkey of a region are the same number: its index in the table above an 8-bit tag that
 * changes with every use of the index, so a key that outlived its region matches nothing.
 */
#ifndef ROCE_MR_H
#define ROCE_MR_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roce_mr_table;

struct roce_mr_table *roce_mr_table_create(void);
void roce_mr_table_destroy(struct roce_mr_table *table);

/*
 * Registers [addr, addr + length) to be named as [iova, iova + length).
 * Errors: -EINVAL for a range that wraps or rights that contradict (remote write without local
 * write), -EOPNOTSUPP for on-demand paging, -ENOMEM when memory or the table is full.
 */
int roce_mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		struct ibv_mr **mr);

/* Afterwards no lane touches the memory any more. */
int roce_mr_dereg(struct ibv_mr *mr);

/*
 * Where the bytes named [iova, iova + length) of key are, length not 0; NULL when no region of this
 * PD has the key, the range is not wholly inside, or a right is missing. access: 0 for a local
 * read, else one of IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE.
 */
void *roce_mr_map(struct roce_mr_table *table, const struct ibv_pd *pd, uint32_t key, uint64_t iova,
		  uint64_t length, int access);

/*
 * Ends the remote uses of key, local ones go on: send with invalidate arrived, or a local
 * invalidate ran. -EACCES: no such key in this PD, or it was never open to remote use.
 */
int roce_mr_invalidate(struct roce_mr_table *table, const struct ibv_pd *pd, uint32_t key);

#endif
