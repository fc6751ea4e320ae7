/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of the API that this library implements.
 */
#include <doca_version.h>

const char *doca_version_runtime(void)
{
	return DOCA_VERSION_STRING;
}
