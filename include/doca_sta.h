/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Storage target acceleration: the control object.
 *
 * One doca_sta per program serves NVMe subsystems over RDMA. It is made on a control device,
 * network devices are added, then it is configured as a context (doca_sta_as_ctx()), connected
 * to a progress engine and started. Subsystems (doca_sta_subsystem.h), back-ends
 * (doca_sta_be.h) and I/O contexts (doca_sta_io.h) are created while it is RUNNING. Control
 * tasks and events come back through its progress engine.
 *
 * Capability getters may be used right after doca_sta_create(); those without an object at any
 * time.
 *
 * Thread: the one that progresses the object's engine.
 */
#ifndef DOCA_STA_H
#define DOCA_STA_H

#include <doca_compat.h>
#include <doca_dpa.h>
#include <doca_error.h>
#include <doca_sta_compat.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;
struct doca_dev;
struct doca_pe;
struct doca_sta;

/**
 * doca_sta_cap_is_supported() - can this device be the control device of a doca_sta?
 * @devinfo: the device
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * doca_sta_create() - create the control object
 * @dev: control device; stays open until doca_sta_destroy()
 * @sta: where the object is put
 *
 * The object is IDLE and owned by the caller.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_PERMITTED: the process may not use the device (its node in /dev/infiniband)
 * - DOCA_ERROR_DRIVER: the device does not answer
 * - DOCA_ERROR_NOT_SUPPORTED: doca_sta_cap_is_supported() says no
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_create(struct doca_dev *dev, struct doca_sta **sta);

/**
 * doca_sta_destroy() - destroy the control object
 * @sta: the object; its context IDLE, its subsystems, back-ends and I/O contexts destroyed
 *   before
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_DRIVER: a device does not let go of its protection domain; the object is still
 *   there, and the call may be repeated
 * - DOCA_ERROR_IN_USE: an I/O context, a subsystem or a back-end is left
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_destroy(struct doca_sta *sta);

/**
 * doca_sta_add_dev() - add a device that hosts connect over
 * @sta: the object, IDLE
 * @dev: stays open until doca_sta_destroy()
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 * - DOCA_ERROR_ALREADY_EXIST: was added before
 * - DOCA_ERROR_NO_MEMORY: more than doca_sta_get_max_devs()
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no reliable connections
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_add_dev(struct doca_sta *sta, struct doca_dev *dev);

/**
 * doca_sta_set_max_sta_io() - say how many I/O contexts there will be
 * @sta: the object, IDLE
 * @max_io_num: 1 to doca_sta_get_max_io_threads(), which is also the default
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL, or out of range
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_set_max_sta_io(struct doca_sta *sta, uint16_t max_io_num);

/**
 * doca_sta_get_max_sta_io() - how many I/O contexts there may be
 * @sta: the object
 * @max_io_num: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_sta_io(const struct doca_sta *sta, uint16_t *max_io_num);

/**
 * doca_sta_as_ctx() - the control object as a context
 * @sta: the object
 *
 * Return: the context, part of the object; NULL for NULL.
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sta_as_ctx(struct doca_sta *sta);

/**
 * doca_sta_get_max_devs() - limit of doca_sta_add_dev()
 * @max_devs: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_devs(uint32_t *max_devs);

/**
 * doca_sta_get_max_num_eus_available() - how many execution units (EUs) the object has once it
 * runs
 * @sta: the object, in any state
 * @max_eus: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_num_eus_available(const struct doca_sta *sta, uint32_t *max_eus);

/**
 * doca_sta_get_max_num_connected_qp_per_eu() - how many connections one EU serves
 * @sta: the object, in any state
 * @max_connected_qps: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_num_connected_qp_per_eu(const struct doca_sta *sta,
						      uint32_t *max_connected_qps);

/**
 * doca_sta_get_max_subsys() - limit of subsystems
 * @max_subsys: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_subsys(uint32_t *max_subsys);

/**
 * doca_sta_get_max_ns_per_subs() - limit of namespaces in one subsystem; the largest namespace
 * identifier as well
 * @max_ns_per_subsys: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_ns_per_subs(uint32_t *max_ns_per_subsys);

/**
 * doca_sta_get_max_qps() - limit of connections in all
 * @max_qps: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_qps(uint32_t *max_qps);

/**
 * doca_sta_get_max_io_threads() - limit of I/O contexts
 * @max_io_threads: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_io_threads(uint32_t *max_io_threads);

/**
 * doca_sta_get_max_io_size() - the most that one command transfers
 * @max_io_size: where the number of bytes is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_io_size(uint32_t *max_io_size);

/**
 * doca_sta_get_max_io_num_per_dev() - how many commands one EU holds at once
 * @sta: the object, in any state
 * @max_ios: where the number is put; in spite of the function's name it counts for an EU
 *
 * Commands that are with the application count as well: of the non-offload callback's so many can
 * be open for each EU, and no more. What hosts send beyond that waits.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_io_num_per_dev(const struct doca_sta *sta, uint32_t *max_ios);

/**
 * doca_sta_get_max_io_queue_size() - the most entries that an I/O queue of a host may have
 * @sta: the object, in any state
 * @max_io_queue_size: where the number is put; a count, not zero-based
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_io_queue_size(const struct doca_sta *sta,
					    uint32_t *max_io_queue_size);

/**
 * doca_sta_get_min_ioccsz() - the smallest command capsule that may be announced
 * @ioccsz: where the number is put, in bytes (Identify Controller counts units of 16)
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_min_ioccsz(uint32_t *ioccsz);

/**
 * doca_sta_get_max_ioccsz() - the largest command capsule that may be announced: 64 bytes and
 * the in-capsule data
 * @ioccsz: where the number is put, in bytes (Identify Controller counts units of 16)
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_ioccsz(uint32_t *ioccsz);

/**
 * doca_sta_get_min_iorcsz() - the smallest response capsule that may be announced
 * @iorcsz: where the number is put, in bytes (Identify Controller counts units of 16)
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_min_iorcsz(uint32_t *iorcsz);

/**
 * doca_sta_get_max_iorcsz() - the largest response capsule that may be announced
 * @iorcsz: where the number is put, in bytes (Identify Controller counts units of 16)
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_iorcsz(uint32_t *iorcsz);

/**
 * doca_sta_get_max_icdoff() - the largest in-capsule data offset that may be announced
 * @icdoff: where the number is put, in bytes (Identify Controller counts units of 16)
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_icdoff(uint32_t *icdoff);

/**
 * doca_sta_get_max_be() - limit of back-ends
 * @max_be: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_be(uint32_t *max_be);

/**
 * doca_sta_get_max_qs_per_be() - limit of queue pairs in one back-end
 * @max_qs_per_be: where the number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_get_max_qs_per_be(uint32_t *max_qs_per_be);

/**
 * doca_sta_is_logical_block_size_supported() - may a namespace have this block size?
 * @size: bytes
 *
 * Return: true if so.
 */
DOCA_EXPERIMENTAL
bool doca_sta_is_logical_block_size_supported(uint32_t size);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_H */
