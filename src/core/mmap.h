/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libraries need of a memory map: that it is started and stays so while they use it. The range
 * itself is public (doca_mmap_get_memrange()).
 */
#ifndef CORE_MMAP_H
#define CORE_MMAP_H

#include <doca_mmap.h>
#include <stdbool.h>

#include "core/export.h"

struct ibv_pd;

/*
 * Use the map's range: returns it and counts a user; until the matching put, stop and destroy of
 * the map give DOCA_ERROR_NOT_PERMITTED. access: the doca_access_flag bits that the user needs.
 * DOCA_ERROR_BAD_STATE when the map is not started, NOT_FOUND when dev (may be NULL: any) was not
 * added to it, NOT_PERMITTED when the permissions do not include access, or the map is one from an
 * export. Any thread.
 */
CORE_EXPORT doca_error_t doca_priv_mmap_get(struct doca_mmap *mmap, const struct doca_dev *dev,
					    uint32_t access, void **addr, size_t *len);
CORE_EXPORT void doca_priv_mmap_put(struct doca_mmap *mmap);

/*
 * The key of the map's memory in a protection domain of one of its devices; of a map from an export
 * the exporter's remote key. Valid until the map stops. Any thread. DOCA_ERROR_INVALID_VALUE when
 * the map is not started, NOT_FOUND when none of its devices has that domain, OPERATING_SYSTEM when
 * the memory cannot be registered.
 */
CORE_EXPORT doca_error_t doca_priv_mmap_get_mkey(const struct doca_mmap *mmap,
						 const struct ibv_pd *pd, uint32_t *mkey);

#endif /* CORE_MMAP_H */
