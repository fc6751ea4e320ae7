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

/**
 * doca_sta_zmalloc_cb_t() - allocate memory for the engine
 * @size: bytes
 * @align: 0 or a power of two; at least a cache line in any case
 * @phys_addr: where the physical address is put; may be NULL
 *
 * The memory is zeroed and stays where it is. Called on any thread.
 *
 * Return: the memory, or NULL.
 */
typedef void *(*doca_sta_zmalloc_cb_t)(size_t size, size_t align, uint64_t *phys_addr);

/**
 * doca_sta_free_cb_t() - free what doca_sta_zmalloc_cb_t gave
 * @buf: the memory
 */
typedef void (*doca_sta_free_cb_t)(void *buf);

/**
 * doca_sta_vtophys_cb_t() - the address that a controller uses for memory of the engine
 * @buf: inside memory that doca_sta_zmalloc_cb_t gave
 * @size: bytes, for all of which the address has to be valid
 *
 * Return: the address, or DOCA_STA_VTOPHYS_ERROR.
 */
typedef uint64_t (*doca_sta_vtophys_cb_t)(const void *buf, uint32_t size);

/**
 * doca_sta_mem_allocator_register() - give the engine an allocator
 * @sta: the object, IDLE
 * @alloc_cb: allocate
 * @free_cb: free
 * @vtophys_cb: address for a controller
 *
 * Without one the engine takes the process's memory and a virtual address stands for itself,
 * which is right for a controller in the same process only.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_mem_allocator_register(const struct doca_sta *sta,
					     doca_sta_zmalloc_cb_t alloc_cb,
					     doca_sta_free_cb_t free_cb,
					     doca_sta_vtophys_cb_t vtophys_cb);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_MEM_H */
