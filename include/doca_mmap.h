/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory maps: memory of the application that devices may access.
 *
 * create -> add devices, set one memory range and permissions -> start -> use -> stop ->
 * destroy. A stopped map may be configured again.
 *
 * A started map may be exported: described in a few bytes that travel to a peer by whatever way the
 * application has. The peer makes a map from them. Such a map has no memory of its own: its range
 * and its key (doca_rdma_bridge.h) are what the peer puts into RDMA requests. It counts as started,
 * refuses every change, and is of no use once its source has stopped.
 *
 * Thread: one at a time for each map while it is configured, started, stopped and destroyed. A map
 * that is started may be used, exported and asked by any thread.
 */
#ifndef DOCA_MMAP_H
#define DOCA_MMAP_H

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_mmap;
struct doca_dpa;

/** A map as a DPA program names it. */
typedef uint32_t doca_dpa_dev_mmap_t;

/**
 * doca_mmap_memrange_free_cb_t() - the memory of a map is not used any more
 * @addr: start of the range
 * @len: its bytes
 * @cookie: given to doca_mmap_set_free_cb()
 */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len, void *cookie);

/**
 * doca_mmap_create() - create a map
 * @mmap: where the map is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 */
DOCA_STABLE
doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/**
 * doca_mmap_destroy() - stop and destroy a map
 * @mmap: the map
 *
 * Exports end with it. Calls the free callback if the map was ever started.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NOT_PERMITTED: a back-end queue still uses the map, or its device does not let go of
 *   the memory; nothing changed
 */
DOCA_STABLE
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * doca_mmap_start() - let the devices access the memory
 * @mmap: the map, with a range and at least one device
 *
 * Registers nothing yet: the first key or export on a device makes the memory region.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, no range, or no device
 * - DOCA_ERROR_NOT_PERMITTED: started already, or made from an export
 */
DOCA_STABLE
doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/**
 * doca_mmap_stop() - end all access; the map may be configured again
 * @mmap: the map
 *
 * Exports and keys end with it: what peers still ask for by them fails.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NOT_PERMITTED: not started, made from an export, a back-end queue still uses the
 *   map, or its device does not let go of the memory
 */
DOCA_STABLE
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/**
 * doca_mmap_add_dev() - add a device
 * @mmap: the map, not started
 * @dev: the device; stays open until it is removed or the map destroyed
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_PERMITTED: started, or made from an export
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or more than doca_mmap_get_max_num_devices()
 * - DOCA_ERROR_ALREADY_EXIST: was added before
 */
DOCA_STABLE
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * doca_mmap_rm_dev() - remove a device
 * @mmap: the map, not started
 * @dev: the device
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_FOUND: it was not added
 * - DOCA_ERROR_NOT_PERMITTED: started, or made from an export
 */
DOCA_STABLE
doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * doca_mmap_export_pci() - describe a map to the other side of the PCI bus
 * @mmap: the map, started, with a PCI permission
 * @dev: one of its devices
 * @export_desc: where the description is put; the map's, until it is stopped
 * @export_desc_len: where its bytes are put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_FOUND: not a device of the map
 * - DOCA_ERROR_NOT_PERMITTED: not started, made from an export, or lacks the permission
 * - DOCA_ERROR_NOT_SUPPORTED: always besides; no device here reaches another side
 */
DOCA_STABLE
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
				  const void **export_desc, size_t *export_desc_len);

/**
 * doca_mmap_export_rdma() - describe a map to an RDMA peer
 * @mmap: the map, started, with an RDMA permission
 * @dev: one of its devices
 * @export_desc: where the description is put; the map's, until it is stopped, the same one every
 *   time
 * @export_desc_len: where its bytes are put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_FOUND: not a device of the map
 * - DOCA_ERROR_NOT_PERMITTED: not started, made from an export, or lacks the permission
 * - DOCA_ERROR_NO_MEMORY: memory, or what the device can register, is used up
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot register memory of this kind, such as a dmabuf
 * - DOCA_ERROR_DRIVER: the device refused to register the memory
 */
DOCA_STABLE
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
				   const void **export_desc, size_t *export_desc_len);

/**
 * doca_mmap_dev_get_dpa_handle() - the map as a DPA program names it
 * @mmap: the map, started
 * @dev: one of its devices
 * @dpa_mmap_handle: where the handle is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_FOUND: not a device of the map
 * - DOCA_ERROR_NOT_PERMITTED: not started, or made from an export
 * - DOCA_ERROR_NOT_SUPPORTED: always besides; there is no DPA
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *dpa_mmap_handle);

/**
 * doca_mmap_create_from_export() - make a map of memory that somebody else described
 * @user_data: the application's word, or NULL
 * @export_desc: the description; copied, and checked as bytes from a stranger
 * @export_desc_len: its bytes
 * @dev: the device that reaches the memory; stays open until the map is destroyed
 * @mmap: where the map is put; of no use when its source has stopped
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not a description
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_NOT_SUPPORTED: a description of a later release
 */
DOCA_STABLE
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev,
					  struct doca_mmap **mmap);

/**
 * doca_mmap_set_memrange() - set the memory
 * @mmap: the map, not started
 * @addr: start of the range; stays the caller's
 * @len: its bytes
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, no bytes, or past the end of the address space
 * - DOCA_ERROR_BAD_STATE: started, or made from an export
 * - DOCA_ERROR_NOT_PERMITTED: set before, and not stopped since
 */
DOCA_STABLE
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/**
 * doca_mmap_set_dmabuf_memrange() - set the memory, of a dmabuf
 * @mmap: the map, not started
 * @dmabuf_fd: the dmabuf; stays the caller's, who may close it after the call
 * @addr: where the range is mapped; for what a CPU does with it
 * @dmabuf_offset: start of the range in the dmabuf, in bytes; for what a device does with it
 * @len: bytes
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, no bytes, past the end of the address space or of
 * the dmabuf, or not a dmabuf
 * - DOCA_ERROR_NO_MEMORY: file descriptors are used up
 * - DOCA_ERROR_BAD_STATE: started, or made from an export
 * - DOCA_ERROR_NOT_PERMITTED: set before, and not stopped since
 */
DOCA_STABLE
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len);

/**
 * doca_mmap_set_dpa_memrange() - set the memory, of a DPA
 * @mmap: the map, not started
 * @dpa: the DPA
 * @dpa_addr: start of the range in its memory
 * @len: bytes
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, no bytes, or past the end of the address space
 * - DOCA_ERROR_BAD_STATE: started, or made from an export
 * - DOCA_ERROR_NOT_PERMITTED: set before, and not stopped since
 * - DOCA_ERROR_NOT_SUPPORTED: always besides; there is no DPA
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa,
					uint64_t dpa_addr, size_t len);

/**
 * doca_mmap_get_memrange() - the memory
 * @mmap: the map
 * @addr: where the start of the range is put; in the address space of the peer if the map was made
 *   from an export
 * @len: where its bytes are put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: it has no range
 */
DOCA_STABLE
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/**
 * doca_mmap_set_free_cb() - set a callback for the end of the map
 * @mmap: the map, not started
 * @free_cb: the callback
 * @opaque: passed to it
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL map or callback
 * - DOCA_ERROR_BAD_STATE: started, or made from an export
 */
DOCA_STABLE
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb,
				   void *opaque);

/**
 * doca_mmap_get_user_data() - get the application's word on a map
 * @mmap: the map
 * @user_data: where it is put; zero if it was never set
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

/**
 * doca_mmap_get_max_num_devices() - limit of doca_mmap_add_dev()
 * @mmap: the map
 * @max_num_devices: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices);

/**
 * doca_mmap_get_num_bufs() - how many buffers refer to a map
 * @mmap: the map
 * @num_bufs: where the number is put
 *
 * There are no struct doca_buf here. What refers to a map is a back-end queue: once for each ring
 * and each doorbell that is in it. doca_mmap_stop() and doca_mmap_destroy() need the number to be
 * 0.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/**
 * doca_mmap_get_exported() - was the map exported since it started?
 * @mmap: the map
 * @exported: where 1 or 0 is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

/**
 * doca_mmap_get_from_export() - was the map made from an export?
 * @mmap: the map
 * @from_export: where 1 or 0 is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export);

/**
 * doca_mmap_set_max_num_devices() - set the limit of doca_mmap_add_dev()
 * @mmap: the map, never started
 * @max_num_devices: at least 1, no less than it has, and at most 1024
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, or out of range
 * - DOCA_ERROR_NOT_PERMITTED: was started before, or made from an export
 */
DOCA_STABLE
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/**
 * doca_mmap_set_permissions() - say who may access the memory
 * @mmap: the map, not started
 * @access_mask: of enum doca_access_flag; one of the two PCI flags at most. Local reading only,
 *   if this is never called
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, or not a mask
 * - DOCA_ERROR_BAD_STATE: started, or made from an export
 */
DOCA_STABLE
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/**
 * doca_mmap_set_user_data() - set the application's word on a map
 * @mmap: the map, not started
 * @user_data: kept, not used
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_BAD_STATE: started, or made from an export
 */
DOCA_STABLE
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/**
 * doca_mmap_cap_is_export_pci_supported() - may doca_mmap_export_pci() be used?
 * @devinfo: the device
 * @mmap_export: where 0 is put: no device here can
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
						   uint8_t *mmap_export);

/**
 * doca_mmap_cap_is_create_from_export_pci_supported() - may doca_mmap_create_from_export() be
 * used for memory across the PCI bus?
 * @devinfo: the device
 * @from_export: where 0 is put: no device here can
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *from_export);

/**
 * doca_mmap_enable_thread_safety() - let threads use a started map at the same time
 * @mmap: the map, never started
 *
 * Threads may do so here in any case, so this changes nothing. In particular back-end queues stay
 * counted, and a map that one of them uses cannot be destroyed.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NOT_PERMITTED: was started before, or made from an export
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_MMAP_H */
