/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The register seam: all that the driver ever sees of a controller's BAR 0. A VFIO-mapped drive
 * and the soft controller each fill this table; the driver does not know which it talks to.
 *
 * Queues are rung in one of two ways. The driver itself writes doorbells with write32(), so that
 * a controller which lives in this process notices at once. Whoever drives an I/O queue by its raw
 * memory stores to the address that doorbell() gives; a controller that cannot see such a store
 * has its companion called afterwards (soft/soft.h).
 */
#ifndef NV_BAR_H
#define NV_BAR_H

#include <stdint.h>

struct nv_bar_ops {
	/* Read the 32-bit register at byte offset @off. All ones if the device is gone. */
	uint32_t (*read32)(void *arg, uint32_t off);

	/*
	 * Write the 32-bit register at @off, doorbells included. Memory written before the call is
	 * visible to the controller before the register is: barriers belong in here.
	 */
	void (*write32)(void *arg, uint32_t off, uint32_t val);

	/* Address of the doorbell register at @off, NULL if there is none. */
	volatile uint32_t *(*doorbell)(void *arg, uint32_t off);
};

struct nv_bar {
	const struct nv_bar_ops *ops;
	void *arg;
};

static inline uint32_t nv_bar_read32(const struct nv_bar *bar, uint32_t off)
{
	return bar->ops->read32(bar->arg, off);
}

static inline void nv_bar_write32(const struct nv_bar *bar, uint32_t off, uint32_t val)
{
	bar->ops->write32(bar->arg, off, val);
}

/* 64-bit registers may be accessed as two halves, low one first (PCIe Transport 1.0, 3.1). */
static inline uint64_t nv_bar_read64(const struct nv_bar *bar, uint32_t off)
{
	uint64_t low = nv_bar_read32(bar, off);

	return low | (uint64_t)nv_bar_read32(bar, off + 4) << 32;
}

static inline void nv_bar_write64(const struct nv_bar *bar, uint32_t off, uint64_t val)
{
	nv_bar_write32(bar, off, (uint32_t)val);
	nv_bar_write32(bar, off + 4, (uint32_t)(val >> 32));
}

#endif
