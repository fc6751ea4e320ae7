/* SPDX-License-Identifier: Apache-2.0 */
/**
 * API stability marks, and the helpers for versioned structures.
 *
 * A function marked DOCA_EXPERIMENTAL may change between releases: using one warns at compile
 * time unless DOCA_ALLOW_EXPERIMENTAL_API is defined before the first include. The same holds
 * for DOCA_DEPRECATED and DOCA_ALLOW_DEPRECATED_API.
 */
#ifndef DOCA_COMPAT_H
#define DOCA_COMPAT_H

#include <doca_config.h>

#define DOCA_USED   __attribute__((used))
#define DOCA_STABLE __attribute__((visibility("default"))) DOCA_USED

#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_EXPERIMENTAL __attribute__((section(".text.experimental"))) DOCA_STABLE
#else
#define DOCA_EXPERIMENTAL                                               \
	__attribute__((deprecated("Symbol is defined as experimental"), \
		       section(".text.experimental"))) DOCA_STABLE
#endif

#ifdef DOCA_ALLOW_DEPRECATED_API
#define DOCA_DEPRECATED __attribute__((section(".text.deprecated"))) DOCA_STABLE
#else
#define DOCA_DEPRECATED                                               \
	__attribute__((deprecated("Symbol is defined as deprecated"), \
		       section(".text.deprecated"))) DOCA_STABLE
#endif

#ifdef DOCA_COMPAT_HELPERS
/* Here and not above: doca_version.h needs the marks. */
#include <doca_version.h>
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A versioned structure begins with DOCA_STRUCT_START and is stamped with the version of the
 * headers that it was compiled against, by an initialiser or by one of the constructors.
 */
#define DOCA_STRUCT_START	   size_t __doca_api_version
#define DOCA_STRUCT_GET_VERSION(x) ((x)->__doca_api_version)
#define DOCA_STRUCT_CTOR(x)                                  \
	do {                                                 \
		(x).__doca_api_version = DOCA_VERSION_EXACT; \
	} while (0)
#define DOCA_STRUCT_PTR_CTOR(x) DOCA_STRUCT_CTOR(*(x))
#define DOCA_STRUCT_MEMSET_CTOR(x)          \
	do {                                \
		memset(&(x), 0, sizeof(x)); \
		DOCA_STRUCT_CTOR(x);        \
	} while (0)
#define DOCA_STRUCT_PTR_MEMSET_CTOR(x) DOCA_STRUCT_MEMSET_CTOR(*(x))
#define DOCA_STRUCT_CTOR_LIST_START    .__doca_api_version = DOCA_VERSION_EXACT
#define DOCA_STRUCT_DEF(st, name)      struct st name = {DOCA_STRUCT_CTOR_LIST_START}
#endif

#endif /* DOCA_COMPAT_H */
