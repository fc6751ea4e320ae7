/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queue pairs: NVMe I/O queues over RDMA connections.
 *
 * The application listens with librdmacm, serves admin queues itself, and gives the rdma_cm_id
 * of an I/O queue's connection request to doca_sta_io_qp_connect() (or doca_sta_io_qp_alloc()
 * and doca_sta_io_qp_accept()). The library owns that id from then on, whatever the call
 * returned. The queue's first capsule, Fabrics Connect, arrives by the non-offload callback;
 * before it answers, the application binds the subsystem and sets the queue size.
 *
 * Thread: the one of the doca_sta_io.
 */
#ifndef DOCA_STA_IO_QP_H
#define DOCA_STA_IO_QP_H

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_sta_handle.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rdma_cm_id;
struct doca_dev;
struct doca_sta_io;
union doca_data;

/**
 * doca_sta_io_qp_alloc() - make a queue pair that has no connection yet
 * @sta_io: the I/O context, RUNNING
 * @dev: a device of the doca_sta
 * @qp_handle: where the handle is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a device that is not the doca_sta's
 * - DOCA_ERROR_BAD_STATE: not RUNNING
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or more than doca_sta_get_max_qps()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_alloc(struct doca_sta_io *sta_io, const struct doca_dev *dev,
				  struct doca_sta_qp_handle **qp_handle);

/**
 * doca_sta_io_qp_accept() - accept a connection request for a queue pair
 * @sta_io: the I/O context that made it
 * @qp_handle: from doca_sta_io_qp_alloc(), not connected
 * @dev: the device that the request came in on
 * @cm_id: of the connection request; the library's from here on, whatever the result
 * @priv_data: private data of the answer, the NVMe accept record
 * @priv_size: its bytes
 * @subs_handle: subsystem to bind, or NULL: doca_sta_io_qp_add_subsystem() later
 *
 * On failure the request has been rejected; the queue pair is still there, to be destroyed.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, private data too long, a queue pair or device
 *   that does not belong, or a device that is not the request's
 * - DOCA_ERROR_BAD_STATE: not RUNNING, or the queue pair has a connection
 * - DOCA_ERROR_ALREADY_EXIST: a subsystem is given, and one is bound
 * - DOCA_ERROR_NO_MEMORY: memory or room on the EUs is used up
 * - DOCA_ERROR_NOT_PERMITTED: the process may not use the device (its node in /dev/infiniband)
 * - DOCA_ERROR_DRIVER: the device refused, or the allocator has no address for what it gave
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_accept(struct doca_sta_io *sta_io, struct doca_sta_qp_handle *qp_handle,
				   const struct doca_dev *dev, struct rdma_cm_id *cm_id,
				   const void *priv_data, uint32_t priv_size,
				   struct doca_sta_subs_handle *subs_handle);

/**
 * doca_sta_io_qp_connect() - make a queue pair and accept a connection request for it
 * @sta_io: the I/O context, RUNNING
 * @dev: the device that the request came in on
 * @cm_id: of the connection request; the library's from here on, whatever the result
 * @priv_data: private data of the answer, the NVMe accept record
 * @priv_size: its bytes
 * @subs_handle: subsystem to bind, or NULL: doca_sta_io_qp_add_subsystem() later
 * @qp_handle: where the handle is put
 *
 * doca_sta_io_qp_alloc() and doca_sta_io_qp_accept() in one; on failure there is no queue pair.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: as doca_sta_io_qp_alloc() and doca_sta_io_qp_accept()
 * - DOCA_ERROR_BAD_STATE: not RUNNING
 * - DOCA_ERROR_NO_MEMORY: memory, queue pairs, or room on the EUs is used up
 * - DOCA_ERROR_NOT_PERMITTED: the process may not use the device
 * - DOCA_ERROR_DRIVER: as doca_sta_io_qp_accept()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_connect(struct doca_sta_io *sta_io, const struct doca_dev *dev,
				    struct rdma_cm_id *cm_id, const void *priv_data,
				    uint32_t priv_size, struct doca_sta_subs_handle *subs_handle,
				    struct doca_sta_qp_handle **qp_handle);

/**
 * doca_sta_io_qp_connect_set_sq_size() - set the queue size that the host asked for in Fabrics
 * Connect
 * @sta_io: the I/O context that made the queue pair
 * @qp_handle: the queue pair
 * @sq_size: entries, a count (SQSIZE of the command plus one)
 *
 * Called before Connect is answered.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, a queue pair that is not of this I/O context, or
 *   a size out of range
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_connect_set_sq_size(struct doca_sta_io *sta_io,
						struct doca_sta_qp_handle *qp_handle,
						uint16_t sq_size);

/**
 * doca_sta_io_qp_connect_established() - the connection is up
 * @sta_io: the I/O context that made the queue pair
 * @qp_handle: the queue pair
 *
 * Called on the connection manager's ESTABLISHED event. Capsules that came before it are kept
 * and served from here on.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a queue pair that is not of this I/O context
 * - DOCA_ERROR_BAD_STATE: it has no connection, or is being disconnected
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_connect_established(struct doca_sta_io *sta_io,
						struct doca_sta_qp_handle *qp_handle);

/**
 * doca_sta_io_qp_destroy() - destroy a queue pair
 * @sta_io: the I/O context that made it
 * @qp_handle: the queue pair; the handle is invalid afterwards
 *
 * A connection that is still up is broken off. The rdma_cm_id is destroyed when the connection has
 * drained, which may be after the return: until then it may have events, so what its context points
 * to has to stay, or the context be cleared before. Tasks about the queue pair may be submitted and
 * freed still.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a queue pair that is not of this I/O context
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_destroy(struct doca_sta_io *sta_io,
				    struct doca_sta_qp_handle *qp_handle);

/**
 * doca_sta_io_qp_add_subsystem() - bind a queue pair to the subsystem that the host named in
 * Fabrics Connect
 * @sta_io: the I/O context that made the queue pair
 * @subs_handle: the subsystem
 * @qp_handle: the queue pair
 *
 * Called before Connect is answered. From then on the engine executes commands for the
 * subsystem's namespaces.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, a queue pair that is not of this I/O context, or
 *   a subsystem of another doca_sta
 * - DOCA_ERROR_ALREADY_EXIST: it is bound
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_add_subsystem(struct doca_sta_io *sta_io,
					  struct doca_sta_subs_handle *subs_handle,
					  struct doca_sta_qp_handle *qp_handle);

/**
 * doca_sta_io_qp_get_id() - the queue pair's number
 * @qp_handle: the queue pair
 * @qp_id: where the RDMA queue pair number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: it has no connection yet
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_get_id(struct doca_sta_qp_handle *qp_handle, uint32_t *qp_id);

/**
 * doca_sta_io_qp_get_port_id() - the device port that a queue pair is connected over
 * @qp_handle: the queue pair
 * @port_id: where the port number is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_get_port_id(struct doca_sta_qp_handle *qp_handle, uint16_t *port_id);

/**
 * doca_sta_io_qp_get_group_id() - the completion group: the EU that serves a queue pair
 * @qp_handle: the queue pair
 * @group_id: where the EU's id is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_get_group_id(struct doca_sta_qp_handle *qp_handle, uint16_t *group_id);

/**
 * doca_sta_io_qp_get_index_in_group() - the place of a queue pair in its completion group
 * @qp_handle: the queue pair
 * @qp_idx: where the index is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_get_index_in_group(struct doca_sta_qp_handle *qp_handle,
					       uint16_t *qp_idx);

/**
 * doca_sta_io_qp_set_user_data() - set the application's word on a queue pair
 * @sta_io: the I/O context that made it
 * @qp_handle: the queue pair
 * @user_data: kept, not used
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a queue pair that is not of this I/O context
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_set_user_data(struct doca_sta_io *sta_io,
					  struct doca_sta_qp_handle *qp_handle,
					  union doca_data user_data);

/**
 * doca_sta_io_qp_get_user_data() - get the application's word on a queue pair
 * @qp_handle: the queue pair
 * @user_data: where it is put; zero if it was never set
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sta_io_qp_get_user_data(const struct doca_sta_qp_handle *qp_handle,
					  union doca_data *user_data);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_STA_IO_QP_H */
