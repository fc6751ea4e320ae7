/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory seam: where queue memory and buffers come from that a controller reads and writes.
 * For a drive it is pinned memory mapped in its IOMMU; for the soft controller it is ordinary
 * memory that the controller was told about (soft/soft.h).
 */
#ifndef NV_MEM_H
#define NV_MEM_H

#include <stddef.h>
#include <stdint.h>

struct nv_mem_ops {
	/*
	 * Zeroed memory of @size bytes, aligned to @align (power of two), contiguous on the
	 * controller's side. Sets *@phys, which may be NULL. Returns NULL when there is none.
	 */
	void *(*zmalloc)(void *arg, size_t size, size_t align, uint64_t *phys);

	/* Give back what zmalloc returned; NULL is fine. The controller must be done with it. */
	void (*free)(void *arg, void *ptr);

	/*
	 * The controller's address of @len bytes at @ptr into *@ret_phys. -EFAULT if the controller
	 * cannot reach all of them in one piece.
	 */
	int (*vtophys)(void *arg, const void *ptr, size_t len, uint64_t *ret_phys);
};

struct nv_mem {
	const struct nv_mem_ops *ops;
	void *arg;
};

static inline void *nv_mem_zmalloc(const struct nv_mem *mem, size_t size, size_t align,
				   uint64_t *phys)
{
	return mem->ops->zmalloc(mem->arg, size, align, phys);
}

static inline void nv_mem_free(const struct nv_mem *mem, void *ptr)
{
	mem->ops->free(mem->arg, ptr);
}

static inline int nv_mem_vtophys(const struct nv_mem *mem, const void *ptr, size_t len,
				 uint64_t *ret_phys)
{
	return mem->ops->vtophys(mem->arg, ptr, len, ret_phys);
}

#endif
