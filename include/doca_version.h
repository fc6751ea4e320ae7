/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The version of the API that these headers describe, and the one of the library in use.
 */
#ifndef DOCA_VERSION_H
#define DOCA_VERSION_H

#include <doca_compat.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DOCA_VERSION_MAJOR  3
#define DOCA_VERSION_MINOR  0
#define DOCA_VERSION_PATCH  58
#define DOCA_VERSION_STRING "3.0.0058"

/** A version as one number, to the patch. */
#define DOCA_VERSION_CALC_EXACT(major, minor, patch) \
	(((size_t)(major) << 24) | ((size_t)(minor) << 16) | (size_t)(patch))

/** A version as one number, in the form that the comparisons below use. */
#define DOCA_VERSION_CALC(major, minor, patch) \
	(((size_t)(major) << 24) | ((size_t)(minor) << 16) | ((size_t)(patch)*1000))

/** This version, encoded either way. */
#define DOCA_VERSION_EXACT \
	DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
#define DOCA_VERSION_OFFICIAL \
	DOCA_VERSION_CALC(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)

/** Is the named version the one of these headers? */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) == DOCA_VERSION_OFFICIAL)

/** Is the named version the one of these headers or an older one? */
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) <= DOCA_VERSION_OFFICIAL)

/**
 * doca_version_runtime() - version of the API that the library in use implements
 *
 * Return: a constant string, in the form of DOCA_VERSION_STRING.
 */
DOCA_EXPERIMENTAL
const char *doca_version_runtime(void);

/**
 * doca_version() - version of the headers that the caller was compiled with
 *
 * Return: a constant string, DOCA_VERSION_STRING.
 */
static inline const char *doca_version(void)
{
	return DOCA_VERSION_STRING;
}

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERSION_H */
