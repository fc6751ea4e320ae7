/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and descriptions of the error codes, and the one conversion from errno.
 */
#include "core/error.h"

#include <errno.h>

#include "util/compiler.h"

#define ERROR_ROW(code, text) [DOCA_##code] = {"DOCA_" #code, text}

static const struct {
	const char *name;
	const char *descr;
} error_table[] = {
	ERROR_ROW(SUCCESS, "success"),
	ERROR_ROW(ERROR_UNKNOWN, "unspecified failure"),
	ERROR_ROW(ERROR_NOT_PERMITTED, "operation not permitted"),
	ERROR_ROW(ERROR_IN_USE, "resource is in use"),
	ERROR_ROW(ERROR_NOT_SUPPORTED, "operation not supported"),
	ERROR_ROW(ERROR_AGAIN, "temporarily unavailable, try again"),
	ERROR_ROW(ERROR_INVALID_VALUE, "invalid argument"),
	ERROR_ROW(ERROR_NO_MEMORY, "out of memory or capacity"),
	ERROR_ROW(ERROR_INITIALIZATION, "resource could not be initialised"),
	ERROR_ROW(ERROR_TIME_OUT, "timed out"),
	ERROR_ROW(ERROR_SHUTDOWN, "shut down or shutting down"),
	ERROR_ROW(ERROR_CONNECTION_RESET, "connection reset by the peer"),
	ERROR_ROW(ERROR_CONNECTION_ABORTED, "connection aborted"),
	ERROR_ROW(ERROR_CONNECTION_INPROGRESS, "connection not yet established"),
	ERROR_ROW(ERROR_NOT_CONNECTED, "not connected"),
	ERROR_ROW(ERROR_NO_LOCK, "lock could not be taken"),
	ERROR_ROW(ERROR_NOT_FOUND, "not found"),
	ERROR_ROW(ERROR_IO_FAILED, "input or output failed"),
	ERROR_ROW(ERROR_BAD_STATE, "object is in the wrong state for this"),
	ERROR_ROW(ERROR_UNSUPPORTED_VERSION, "version not supported"),
	ERROR_ROW(ERROR_OPERATING_SYSTEM, "operating system call failed"),
	ERROR_ROW(ERROR_DRIVER, "device driver call failed"),
	ERROR_ROW(ERROR_UNEXPECTED, "unexpected internal condition"),
	ERROR_ROW(ERROR_ALREADY_EXIST, "exists already"),
	ERROR_ROW(ERROR_FULL, "full"),
	ERROR_ROW(ERROR_EMPTY, "empty"),
	ERROR_ROW(ERROR_IN_PROGRESS, "begun, not finished yet"),
	ERROR_ROW(ERROR_TOO_BIG, "exceeds a size limit"),
	ERROR_ROW(ERROR_AUTHENTICATION, "authentication failed"),
	ERROR_ROW(ERROR_BAD_CONFIG, "configuration is invalid"),
	ERROR_ROW(ERROR_SKIPPED, "valid, but not executed on purpose"),
	ERROR_ROW(ERROR_DEVICE_FATAL_ERROR, "device failed beyond recovery"),
};

static const char error_unknown[] = "unrecognized error code";

const char *doca_error_get_name(doca_error_t error)
{
	if ((size_t)error >= UTIL_ARRAY_SIZE(error_table))
		return error_unknown;
	return error_table[error].name;
}

const char *doca_error_get_descr(doca_error_t error)
{
	if ((size_t)error >= UTIL_ARRAY_SIZE(error_table))
		return error_unknown;
	return error_table[error].descr;
}

doca_error_t doca_priv_error_from_errno(int err)
{
	switch (err < 0 ? -err : err) {
	case 0:
		return DOCA_SUCCESS;
	case EINVAL:
		return DOCA_ERROR_INVALID_VALUE;
	case ENOMEM:
		return DOCA_ERROR_NO_MEMORY;
	case EAGAIN:
		return DOCA_ERROR_AGAIN;
	case EPERM:
	case EACCES:
		return DOCA_ERROR_NOT_PERMITTED;
	case EBUSY:
	case EADDRINUSE:
		return DOCA_ERROR_IN_USE;
	case EOPNOTSUPP:
	case ENOSYS:
		return DOCA_ERROR_NOT_SUPPORTED;
	case ENOENT:
	case ENODEV:
		return DOCA_ERROR_NOT_FOUND;
	case EEXIST:
		return DOCA_ERROR_ALREADY_EXIST;
	case ETIMEDOUT:
		return DOCA_ERROR_TIME_OUT;
	case ECONNRESET:
		return DOCA_ERROR_CONNECTION_RESET;
	case ECONNABORTED:
		return DOCA_ERROR_CONNECTION_ABORTED;
	case EINPROGRESS:
		return DOCA_ERROR_IN_PROGRESS;
	case ENOTCONN:
		return DOCA_ERROR_NOT_CONNECTED;
	case EIO:
		return DOCA_ERROR_IO_FAILED;
	case E2BIG:
	case EMSGSIZE:
		return DOCA_ERROR_TOO_BIG;
	default:
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
}
