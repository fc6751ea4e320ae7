/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Architecture the package was built for. Included by doca_config.h only.
 */
#ifndef DOCA_BUILD_CONFIG_H
#define DOCA_BUILD_CONFIG_H

#define DOCA_ARCH_HOST
#if defined(__aarch64__)
#define DOCA_ARCH_ARM
#else
#define DOCA_ARCH_X86
#endif

#endif /* DOCA_BUILD_CONFIG_H */
