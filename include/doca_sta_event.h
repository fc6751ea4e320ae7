/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events: faults that the engine reports.
 *
 * Register callbacks while the context is IDLE. An event object is valid during its callback
 * only; the getters copy out of it. The handles that it gives are to be used during the callback,
 * too: what they stand for may be destroyed later, or by another thread at any time. The getters
 * say what they are good for then.
 *
 * Thread: transport errors arrive on the thread of the doca_sta_io that made the connection,
 * the others on that of the doca_sta.
 */
#ifndef DOCA_STA_EVENT_H
#define DOCA_STA_EVENT_H

#include <doca_error.h>
#include <doca_sta_compat.h>
#include <doca_sta_handle.h>
#include <doca_types.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sta;
struct doca_sta_io;
struct dev_sta_event;
struct doca_sta_event_transport_err;
struct doca_sta_event_be_timeout;
struct doca_sta_event_eu_err;
struct doca_sta_event_cqe_notify;

/** Why a completion was reported. */
enum doca_sta_cqe_notify_type {
	DOCA_STA_CQE_NOTIF_NVME_OF_VALIDATION_ERR =
		0, /**< incoming NVMe-oF capsule failed validation */
	DOCA_STA_CQE_NOTIF_NVME_COMP_ERR =
		1, /**< back-end PCIe NVMe command completed with an error */
};

/**
 * doca_sta_event_transport_err_cb_t() - a connection has failed
 * @event: valid during the callback
 * @user_data: given at the registration
 */
typedef void (*doca_sta_event_transport_err_cb_t)(const struct doca_sta_event_transport_err *event,
						  union doca_data user_data);

/**
 * doca_sta_event_be_timeout_cb_t() - a back-end queue did not complete a command in time
 * @event: valid during the callback
 * @user_data: given at the registration
 */
typedef void (*doca_sta_event_be_timeout_cb_t)(const struct doca_sta_event_be_timeout *event,
					       union doca_data user_data);

/**
 * doca_sta_event_eu_err_cb_t() - an EU has lost something that it needs, and goes on without
 * @event: valid during the callback
 * @user_data: given at the registration
 */
typedef void (*doca_sta_event_eu_err_cb_t)(const struct doca_sta_event_eu_err *event,
					   union doca_data user_data);

/**
 * doca_sta_event_cqe_notify_cb_t() - a command was completed with an error by the engine or a
 * back-end
 * @event: valid during the callback
 * @user_data: given at the registration
 */
typedef void (*doca_sta_event_cqe_notify_cb_t)(const struct doca_sta_event_cqe_notify *event,
					       union doca_data user_data);

/**
 * doca_sta_event_transport_err_get_qp_handle() - whose connection failed
 * @event: the event
 * @qp_handle: where the queue pair is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_transport_err_get_qp_handle(
	const struct doca_sta_event_transport_err *event,
	const struct doca_sta_qp_handle **qp_handle);

/**
 * doca_sta_event_transport_err_get_operation() - what failed
 * @event: the event
 * @operation: where the operation (enum ibv_wc_opcode) is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_transport_err_get_operation(
	const struct doca_sta_event_transport_err *event, uint32_t *operation);

/**
 * doca_sta_event_transport_err_get_syndrome() - how it failed
 * @event: the event
 * @syndrome: where the status (enum ibv_wc_status) is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_transport_err_get_syndrome(
	const struct doca_sta_event_transport_err *event, uint32_t *syndrome);

/**
 * doca_sta_event_transport_err_get_vendor_syndrome() - how it failed, in the device's own words
 * @event: the event
 * @vendor_syndrome: where the device's code is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_transport_err_get_vendor_syndrome(
	const struct doca_sta_event_transport_err *event, uint32_t *vendor_syndrome);

/**
 * doca_sta_io_event_transport_err_register_cb() - set the callback for failed connections
 * @sta_io: the I/O context, IDLE
 * @event_cb: the callback
 * @user_data: passed to it
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_event_transport_err_register_cb(struct doca_sta_io *sta_io,
							 doca_sta_event_transport_err_cb_t event_cb,
							 union doca_data user_data);

/**
 * doca_sta_event_be_timeout_register_cb() - set the callback for back-ends that do not answer
 * @sta: the object, IDLE
 * @event_cb: the callback
 * @user_data: passed to it
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_be_timeout_register_cb(struct doca_sta *sta,
						   doca_sta_event_be_timeout_cb_t event_cb,
						   union doca_data user_data);

/**
 * doca_sta_event_be_timeout_get_be_handle() - which back-end it was
 * @event: the event
 * @be_handle: where the back-end is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_be_timeout_get_be_handle(const struct doca_sta_event_be_timeout *event,
						     const struct doca_sta_be_handle **be_handle);

/**
 * doca_sta_event_be_timeout_get_be_queue_handle() - which of its queues it was
 * @event: the event
 * @be_queue_handle: where the queue is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_be_timeout_get_be_queue_handle(
	const struct doca_sta_event_be_timeout *event,
	const struct doca_sta_be_q_handle **be_queue_handle);

/**
 * doca_sta_event_eu_err_register_cb() - set the callback for errors of EUs
 * @sta: the object, IDLE
 * @event_cb: the callback
 * @user_data: passed to it
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_eu_err_register_cb(struct doca_sta *sta,
					       doca_sta_event_eu_err_cb_t event_cb,
					       union doca_data user_data);

/**
 * doca_sta_event_eu_err_is_fatal_error() - is the whole doca_sta down?
 * @event: the event
 * @is_fatal_error: where the answer is put
 *
 * Errors of an EU in software are not: it goes on without what it has lost.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_eu_err_is_fatal_error(const struct doca_sta_event_eu_err *event,
						  bool *is_fatal_error);

/**
 * doca_sta_event_eu_err_get_eu_handle() - which EU it was
 * @event: the event; of an error that is not fatal
 * @eu_handle: where the EU is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_eu_err_get_eu_handle(const struct doca_sta_event_eu_err *event,
						 const struct doca_sta_eu_handle **eu_handle);

/**
 * doca_sta_event_cqe_notify_register_cb() - set the callback for commands that were completed
 * with an error
 * @sta: the object, IDLE
 * @event_cb: the callback
 * @user_data: passed to it
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_cqe_notify_register_cb(struct doca_sta *sta,
						   doca_sta_event_cqe_notify_cb_t event_cb,
						   union doca_data user_data);

/**
 * doca_sta_event_cqe_notify_get_cqe_notify_type() - why it was reported
 * @event: the event
 * @cqe_error_type: where the reason is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_cqe_notify_get_cqe_notify_type(
	const struct doca_sta_event_cqe_notify *event,
	enum doca_sta_cqe_notify_type *cqe_error_type);

/**
 * doca_sta_event_cqe_notify_get_cqe() - the completion
 * @event: the event
 * @cqe: where its 16 bytes are copied
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_cqe_notify_get_cqe(const struct doca_sta_event_cqe_notify *event,
					       doca_sta_nvme_completion_t cqe);

/**
 * doca_sta_event_cqe_notify_get_subsystem_handle() - for which subsystem the command was
 * @event: the event
 * @subs_handle: where the subsystem is put; it lives, for this thread is who destroys it
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_FOUND: the queue pair had no subsystem, or it is destroyed by now
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_cqe_notify_get_subsystem_handle(
	const struct doca_sta_event_cqe_notify *event,
	const struct doca_sta_subs_handle **subs_handle);

/**
 * doca_sta_event_cqe_notify_get_qp_handle() - where the command came from
 * @event: the event
 * @qp_handle: where the queue pair is put
 *
 * The queue pair is another thread's, which may have destroyed it. Until the callback returns the
 * handle is good for its id, port, group and index (doca_sta_io_qp.h) all the same, and to be
 * compared with others: no new queue pair has the same.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_cqe_notify_get_qp_handle(const struct doca_sta_event_cqe_notify *event,
						     const struct doca_sta_qp_handle **qp_handle);

/**
 * doca_sta_event_cqe_notify_get_capsule_params() - what the command was
 * @event: the event
 * @opcode: where its opcode is put
 * @cid: where its command identifier is put
 * @nsid: where the low 16 bits of its namespace identifier are put
 * @lba: where its starting block is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_cqe_notify_get_capsule_params(
	const struct doca_sta_event_cqe_notify *event, uint8_t *opcode, uint16_t *cid,
	uint16_t *nsid, uint64_t *lba);

/**
 * doca_sta_event_cqe_notify_get_param_err_location() - which field of the command was wrong
 * @event: the event
 * @pel: where the location (NVMe's parameter error location) is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_event_cqe_notify_get_param_err_location(
	const struct doca_sta_event_cqe_notify *event, uint16_t *pel);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_EVENT_H */
