/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Communication channel producers. The channel to a DPU does not exist in software; the header
 * is here so that programs which include it for historical reasons build.
 */
#ifndef DOCA_COMCH_PRODUCER_H
#define DOCA_COMCH_PRODUCER_H

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_comch_producer;
struct doca_comch_producer_task_send;

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_PRODUCER_H */
