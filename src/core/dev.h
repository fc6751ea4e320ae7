/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libraries need of an open device: its verbs objects, and a hold that keeps it from being
 * closed under them.
 */
#ifndef CORE_DEV_H
#define CORE_DEV_H

#include <doca_dev.h>

#include "core/export.h"

struct ibv_context;
struct ibv_pd;

/*
 * Never NULL for an open device; both belong to it. A rdma_cm_id's verbs is another context of the
 * same device as a rule: compare devices by name (doca_priv_dev_get_name()).
 */
CORE_EXPORT struct ibv_context *doca_priv_dev_get_verbs(const struct doca_dev *dev);
CORE_EXPORT struct ibv_pd *doca_priv_dev_get_pd(const struct doca_dev *dev);

/*
 * A device around a protection domain of the application's, which has to outlive it; the same one
 * for everybody who names that domain. Closed by doca_dev_close(). DOCA_ERROR_NO_MEMORY, or
 * INITIALIZATION when too many devices are open.
 */
CORE_EXPORT doca_error_t doca_priv_dev_open_from_pd(struct ibv_pd *pd, struct doca_dev **dev);

/* The verbs device name ("mlx5_0", "sr_lo"); valid as long as the device or list element is. */
CORE_EXPORT const char *doca_priv_dev_get_name(const struct doca_dev *dev);
CORE_EXPORT const char *doca_priv_devinfo_get_name(const struct doca_devinfo *devinfo);

/*
 * A hold: the last doca_dev_close() gives DOCA_ERROR_IN_USE while there is one. Any thread. Taken
 * by whatever has verbs objects on the device.
 */
CORE_EXPORT void doca_priv_dev_hold(struct doca_dev *dev);
CORE_EXPORT void doca_priv_dev_release(struct doca_dev *dev);

#endif /* CORE_DEV_H */
