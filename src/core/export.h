/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks what our other shared libraries may use (doca_priv_*, version node SOFTSTA_PRIVATE).
 */
#ifndef CORE_EXPORT_H
#define CORE_EXPORT_H

#define CORE_EXPORT __attribute__((visibility("default")))

#endif /* CORE_EXPORT_H */
