/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every number that bounds what the driver and the soft controller allocate or wait for.
 */
#ifndef NV_LIMITS_H
#define NV_LIMITS_H

/* Driver. */
#define NV_ADMIN_ENTRIES	   32 /* admin queue, power of two, at most 4096 */
#define NV_ADMIN_TIMEOUT_MS	   10000 /* one admin command */
#define NV_SHUTDOWN_TIMEOUT_MS	   5000 /* when RTD3E does not say more */
#define NV_SHUTDOWN_TIMEOUT_MAX_MS 60000
#define NV_MAX_IO_QUEUES	   128

/* Memory. */
#define NV_POOL_MAX_ALLOC_BYTES (1u << 30) /* one allocation */

/* Soft controller. */
#define NV_SOFT_MDTS_BYTES	  (1u << 20) /* largest transfer, announced as MDTS = 8 */
#define NV_SOFT_MAX_ENTRIES	  1024 /* CAP.MQES + 1 */
#define NV_SOFT_MAX_NS		  64
#define NV_SOFT_MAX_AER		  4
#define NV_SOFT_MAX_REGIONS	  4096 /* memory ranges known to one nv_soft_mem */
#define NV_SOFT_ERROR_LOG_ENTRIES 64
#define NV_SOFT_DSM_MAX_RANGES	  256
#define NV_SOFT_BOUNCE_BYTES	  (128u << 10) /* per queue, for Compare and Verify */

/* Stores. */
#define NV_STORE_DELAY_MAX_NS 3600000000000 /* an hour */
#define NV_STORE_MAX_FAULTS   16

#endif
