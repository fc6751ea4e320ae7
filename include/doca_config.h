/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Build-wide switches of the API.
 */
#ifndef DOCA_CONFIG_H
#define DOCA_CONFIG_H

#include <doca_build_config.h>

/** Versioned structures (DOCA_STRUCT_*) and the includes that they need; host code only. */
#define DOCA_COMPAT_HELPERS
#ifdef DOCA_DPA_DEVICE
#undef DOCA_COMPAT_HELPERS
#endif

#endif /* DOCA_CONFIG_H */
