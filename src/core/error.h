/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion from errno to doca_error_t. Names and descriptions of the codes are public
 * (<doca_error.h>).
 */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

#include <doca_error.h>

#include "core/export.h"

/*
 * The DOCA code for an errno value; its sign does not matter, 0 is DOCA_SUCCESS. What has no near
 * relative becomes DOCA_ERROR_OPERATING_SYSTEM.
 */
CORE_EXPORT doca_error_t doca_priv_error_from_errno(int err);

#endif /* CORE_ERROR_H */
