/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of the control socket; each is a struct tgt_rpc_method's run(). */
#ifndef TGT_RPC_METHODS_H
#define TGT_RPC_METHODS_H

#include "target/rpc/dispatch.h"

/** tgt_rpc_methods() - all of them, for @server. */
void tgt_rpc_methods(struct tgt_server *server, struct tgt_rpc_table *table);

/* methods_bdev.c */
int tgt_rpc_bdev_get_bdevs(const struct tgt_rpc_call *call, json_object **result);
int tgt_rpc_bdev_nvme_get_controllers(const struct tgt_rpc_call *call, json_object **result);
int tgt_rpc_bdev_nvme_reset_controller(const struct tgt_rpc_call *call, json_object **result);

/* methods_error.c */
int tgt_rpc_bdev_error_inject_error(const struct tgt_rpc_call *call, json_object **result);

/* methods_nvmf.c */
int tgt_rpc_nvmf_get_subsystems(const struct tgt_rpc_call *call, json_object **result);
int tgt_rpc_nvmf_subsystem_get_controllers(const struct tgt_rpc_call *call, json_object **result);

/* methods_stats.c */
int tgt_rpc_sta_get_stats(const struct tgt_rpc_call *call, json_object **result);

/* methods_log.c */
int tgt_rpc_log_set_level(const struct tgt_rpc_call *call, json_object **result);
int tgt_rpc_log_get_level(const struct tgt_rpc_call *call, json_object **result);

#endif
