/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The result codes of every function of the API.
 *
 * DOCA_ERROR_IN_PROGRESS and DOCA_ERROR_AGAIN are not success: DOCA_IS_ERROR() is true for
 * them, so a caller that expects them tests for them first.
 */
#ifndef DOCA_ERROR_H
#define DOCA_ERROR_H

#include <doca_common_defines.h>
#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

enum doca_error {
	DOCA_SUCCESS = 0, /**< no error */
	DOCA_ERROR_UNKNOWN = 1, /**< unspecified failure */
	DOCA_ERROR_NOT_PERMITTED = 2, /**< operation forbidden */
	DOCA_ERROR_IN_USE = 3, /**< resource busy or still referenced */
	DOCA_ERROR_NOT_SUPPORTED = 4, /**< feature or operation unsupported */
	DOCA_ERROR_AGAIN = 5, /**< temporarily unavailable, retry */
	DOCA_ERROR_INVALID_VALUE = 6, /**< bad argument */
	DOCA_ERROR_NO_MEMORY = 7, /**< allocation failed or capacity used up */
	DOCA_ERROR_INITIALIZATION = 8, /**< resource could not be initialised */
	DOCA_ERROR_TIME_OUT = 9, /**< timer expired */
	DOCA_ERROR_SHUTDOWN = 10, /**< shut down in process or done */
	DOCA_ERROR_CONNECTION_RESET = 11, /**< peer reset the connection */
	DOCA_ERROR_CONNECTION_ABORTED = 12, /**< connection aborted */
	DOCA_ERROR_CONNECTION_INPROGRESS = 13, /**< connection not finished yet */
	DOCA_ERROR_NOT_CONNECTED = 14, /**< not connected */
	DOCA_ERROR_NO_LOCK = 15, /**< lock not obtained */
	DOCA_ERROR_NOT_FOUND = 16, /**< no such item */
	DOCA_ERROR_IO_FAILED = 17, /**< input/output failure */
	DOCA_ERROR_BAD_STATE = 18, /**< object in wrong state for the call */
	DOCA_ERROR_UNSUPPORTED_VERSION = 19, /**< version not supported */
	DOCA_ERROR_OPERATING_SYSTEM = 20, /**< system call failed */
	DOCA_ERROR_DRIVER = 21, /**< device driver call failed */
	DOCA_ERROR_UNEXPECTED = 22, /**< internal unforeseen condition */
	DOCA_ERROR_ALREADY_EXIST = 23, /**< duplicate */
	DOCA_ERROR_FULL = 24, /**< container full */
	DOCA_ERROR_EMPTY = 25, /**< container empty */
	DOCA_ERROR_IN_PROGRESS = 26, /**< asynchronous operation has begun, not finished */
	DOCA_ERROR_TOO_BIG = 27, /**< exceeds a size limit */
	DOCA_ERROR_AUTHENTICATION = 28, /**< authentication failed */
	DOCA_ERROR_BAD_CONFIG = 29, /**< configuration invalid */
	DOCA_ERROR_SKIPPED = 30, /**< valid request, but deliberately not executed */
	DOCA_ERROR_DEVICE_FATAL_ERROR = 31, /**< device hit an unrecoverable error */
};

typedef enum doca_error doca_error_t;

/** True for every code but DOCA_SUCCESS. */
#define DOCA_IS_ERROR(r) doca_unlikely((r) != DOCA_SUCCESS)

/** Keep the first error: @t goes into @r only while @r is still success. */
#define DOCA_ERROR_PROPAGATE(r, t)       \
	do {                             \
		if ((r) == DOCA_SUCCESS) \
			(r) = (t);       \
	} while (0)

/**
 * doca_error_get_name() - the enumerator of a code
 * @error: any value
 *
 * Return: a constant string, such as "DOCA_ERROR_IN_USE"; "unrecognized error code" for what is
 * none.
 */
DOCA_STABLE
const char *doca_error_get_name(doca_error_t error);

/**
 * doca_error_get_descr() - what a code means
 * @error: any value
 *
 * Return: a constant string; "unrecognized error code" for what is none.
 */
DOCA_STABLE
const char *doca_error_get_descr(doca_error_t error);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERROR_H */
