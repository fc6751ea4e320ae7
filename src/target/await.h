/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that do not exist yet. A target that is started at boot may be there before its
 * network is; the addresses of a configuration are then waited for, before anything is opened,
 * since RDMA devices are looked at once.
 */
#ifndef TGT_AWAIT_H
#define TGT_AWAIT_H

#include <stdbool.h>

#include "target/config.h"

/** tgt_addr_exists() - has this machine the address? Wildcards always exist. */
bool tgt_addr_exists(const union tgt_sockaddr *addr);

/**
 * tgt_await_addresses() - wait until every address of @config exists, or until one does and
 * @grace_ms have passed. Each that is missing is logged once.
 *
 * Return: false when @stop_fd became readable before.
 */
bool tgt_await_addresses(const struct tgt_config *config, int stop_fd, unsigned int grace_ms);

#endif
