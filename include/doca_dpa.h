/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DPA contexts. Nothing of the DPA programming interface exists in software; the header is here
 * for the types that other headers name.
 */
#ifndef DOCA_DPA_H
#define DOCA_DPA_H

#include <doca_compat.h>
#include <doca_error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dpa;

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_H */
