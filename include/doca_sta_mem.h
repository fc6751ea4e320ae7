/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory for the engine from the application's own allocator.
 */
#ifndef DOCA_STA_MEM_H
#define DOCA_STA_MEM_H

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sta;

/** Failure result of the virtual-to-physical callback. */
#define DOCA_STA_VTOPHYS_ERROR 0xFFFFFFFFFFFFFFFFULL

typedef void *(*doca_sta_zmalloc_cb_t)(size_t size, size_t align, uint64_t *phys_addr);

typedef void (*doca_sta_free_cb_t)(void *buf);

typedef uint64_t (*doca_sta_vtophys_cb_t)(const void *buf, uint32_t size);

DOCA_EXPERIMENTAL
doca_error_t doca_sta_mem_allocator_register(const struct doca_sta *sta,
					     doca_sta_zmalloc_cb_t alloc_cb,
					     doca_sta_free_cb_t free_cb,
					     doca_sta_vtophys_cb_t vtophys_cb);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_MEM_H */
