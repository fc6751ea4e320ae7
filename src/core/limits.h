/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every number that bounds what libdoca_common keeps.
 */
#ifndef CORE_LIMITS_H
#define CORE_LIMITS_H

/* Log back-ends of each of the two worlds, application and SDK. They live as long as the process.
 */
#define CORE_MAX_LOG_BACKENDS 32
/* Registered log sources; one for each file that logs. */
#define CORE_MAX_LOG_SOURCES 4096
/* Devices of one memory map, unless doca_mmap_set_max_num_devices() says otherwise. */
#define CORE_DEFAULT_MMAP_DEVS 16
#define CORE_MAX_MMAP_DEVS     1024
/* Tasks of one batch: DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128. */
#define CORE_MAX_BATCH_TASKS 128
/* Devices that are open at once. */
#define CORE_MAX_OPEN_DEVS 256
/* Queue pairs with a companion in this process. */
#define CORE_MAX_COMPANIONS 65536

#endif /* CORE_LIMITS_H */
