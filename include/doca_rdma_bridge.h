/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bridge between DOCA objects and verbs objects.
 *
 * Thread: any.
 */
#ifndef DOCA_RDMA_BRIDGE_H
#define DOCA_RDMA_BRIDGE_H

#include <doca_compat.h>
#include <doca_error.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_dev;
struct doca_mmap;
struct ibv_pd;

/**
 * doca_rdma_bridge_get_dev_pd() - the protection domain of a device
 * @dev: the device
 * @pd: where the protection domain is put; the device's, as long as it is open
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd);

/**
 * doca_rdma_bridge_open_dev_from_pd() - make a device of a protection domain of the application's
 * @pd: the protection domain; stays the caller's, with its verbs context, and both outlive the
 *   device
 * @dev: where the device is put; the same one for everybody who names the domain, to be given to
 *   doca_dev_close() as often as it was opened
 *
 * Its element (doca_dev_as_devinfo()) cannot be opened: that gives DOCA_ERROR_NOT_SUPPORTED.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_INITIALIZATION: too many devices are open
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev);

/**
 * doca_rdma_bridge_get_buf_mkey() - the key of a buffer's memory
 * @buf: the buffer
 * @dev: a device of its map
 * @mkey: where the key is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_SUPPORTED: always besides; there are no struct doca_buf here
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev,
					   uint32_t *mkey);

/**
 * doca_rdma_bridge_get_mmap_mkey_from_pd() - the key of a map's memory in a protection domain
 * @mmap: the map, started
 * @pd: the protection domain of one of its devices
 * @mkey: where the key is put; valid until the map stops. For a map from an export it is the
 *   remote key that an RDMA request to the exporter needs, for any other the local key
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a map that is not started
 * - DOCA_ERROR_NOT_FOUND: the map has no device with it
 * - DOCA_ERROR_OPERATING_SYSTEM: the memory could not be registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd,
						    uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_RDMA_BRIDGE_H */
