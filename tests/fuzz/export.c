/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the description of a memory map that a peer exported: it is refused, or it is a
 * range that an address space can have, with a permission that a peer can have; and nothing is
 * left.
 */
#include <doca_mmap.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/dev.h"
#include "core/mmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A map only holds its device. */
struct doca_dev {
	int holds;
};

struct ibv_pd *doca_priv_dev_get_pd(const struct doca_dev *dev)
{
	(void)dev;
	return NULL;
}

void doca_priv_dev_hold(struct doca_dev *dev)
{
	dev->holds++;
}

void doca_priv_dev_release(struct doca_dev *dev)
{
	dev->holds--;
}

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

static void check_map(struct doca_mmap *mmap, struct doca_dev *dev)
{
	uint8_t is_from_export;
	uint32_t key;
	void *addr;
	size_t len;

	check(dev->holds == 1);
	check(doca_mmap_get_from_export(mmap, &is_from_export) == DOCA_SUCCESS && is_from_export);
	check(doca_mmap_get_memrange(mmap, &addr, &len) == DOCA_SUCCESS);
	check(len && (uintptr_t)addr <= UINTPTR_MAX - len);
	check(doca_priv_mmap_get_mkey(mmap, NULL, &key) == DOCA_SUCCESS);
	/* There is no memory of ours behind it, whatever it says. */
	check(doca_priv_mmap_get(mmap, NULL, 0, &addr, &len) == DOCA_ERROR_NOT_PERMITTED);
	check(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct doca_dev dev = {0};
	struct doca_mmap *mmap;
	doca_error_t result;

	result = doca_mmap_create_from_export(NULL, data, size, &dev, &mmap);
	if (result == DOCA_SUCCESS)
		check_map(mmap, &dev);
	else
		check(result == DOCA_ERROR_INVALID_VALUE || result == DOCA_ERROR_NOT_SUPPORTED);
	check(dev.holds == 0);
	return 0;
}
