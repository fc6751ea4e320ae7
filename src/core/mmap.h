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

/*
 * Use the map's range: returns it and counts a user; until the matching put, stop and destroy of
 * the map give DOCA_ERROR_NOT_PERMITTED. access: the doca_access_flag bits that the user needs.
 * DOCA_ERROR_BAD_STATE when the map is not started, NOT_FOUND when dev (may be NULL: any) was not
 * added to it, NOT_PERMITTED when the permissions do not include access.
 */
CORE_EXPORT doca_error_t doca_priv_mmap_get(struct doca_mmap *mmap, const struct doca_dev *dev,
					    uint32_t access, void **addr, size_t *len);
CORE_EXPORT void doca_priv_mmap_put(struct doca_mmap *mmap);

#endif /* CORE_MMAP_H */
