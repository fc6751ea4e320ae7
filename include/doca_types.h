/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Types that several parts of the API share.
 */
#ifndef DOCA_TYPES_H
#define DOCA_TYPES_H

#include <linux/types.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** GID bytes. */
#define DOCA_GID_BYTE_LENGTH 16

/** Who may access memory, and how. LOCAL_READ_ONLY is the absence of the others. */
enum doca_access_flag {
	DOCA_ACCESS_FLAG_LOCAL_READ_ONLY = 0, /**< local device reads */
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE = 1, /**< local device reads and writes */
	DOCA_ACCESS_FLAG_RDMA_READ = 2, /**< remote RDMA read */
	DOCA_ACCESS_FLAG_RDMA_WRITE = 4, /**< remote RDMA write */
	DOCA_ACCESS_FLAG_RDMA_ATOMIC = 8, /**< remote RDMA atomics */
	DOCA_ACCESS_FLAG_PCI_READ_ONLY = 16, /**< other PCI side reads */
	DOCA_ACCESS_FLAG_PCI_READ_WRITE = 32, /**< other PCI side reads and writes */
	DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING = 64, /**< PCI relaxed ordering for this memory */
};

/** Kind of a PCI function. */
enum doca_pci_func_type {
	DOCA_PCI_FUNC_TYPE_PF = 0, /**< PF */
	DOCA_PCI_FUNC_TYPE_VF = 1, /**< VF */
	DOCA_PCI_FUNC_TYPE_SF = 2, /**< SF */
};

/** Where GPU memory is and who sees it. */
enum doca_gpu_mem_type {
	DOCA_GPU_MEM_TYPE_GPU = 0, /**< GPU memory, GPU only */
	DOCA_GPU_MEM_TYPE_GPU_CPU = 1, /**< GPU memory mapped to CPU */
	DOCA_GPU_MEM_TYPE_CPU_GPU = 2, /**< CPU memory mapped to GPU */
};

/** How packets are sent at a given time. */
enum doca_eth_wait_on_time_type {
	DOCA_ETH_WAIT_ON_TIME_TYPE_NONE = 0, /**< no send scheduling */
	DOCA_ETH_WAIT_ON_TIME_TYPE_NATIVE = 1, /**< send scheduling in hardware */
	DOCA_ETH_WAIT_ON_TIME_TYPE_DPDK = 2, /**< send scheduling in software */
};

/** Path MTU of a connection. */
enum doca_mtu_size {
	DOCA_MTU_SIZE_256_BYTES = 0, /**< 256 B */
	DOCA_MTU_SIZE_512_BYTES = 1, /**< 512 B */
	DOCA_MTU_SIZE_1K_BYTES = 2, /**< 1 KiB */
	DOCA_MTU_SIZE_2K_BYTES = 3, /**< 2 KiB */
	DOCA_MTU_SIZE_4K_BYTES = 4, /**< 4 KiB */
	DOCA_MTU_SIZE_RAW_ETHERNET = 5, /**< reserved */
};

/** A word of the application's that the library keeps and hands back. */
union doca_data {
	void *ptr;
	uint64_t u64;
};

/** A list of pieces of memory. */
struct doca_gather_list {
	void *addr;
	uint64_t len;
	struct doca_gather_list *next;
};

/** What a thread waits on: a file descriptor. */
typedef int doca_event_handle_t;

/** What a progress engine notifies by. */
typedef doca_event_handle_t doca_notification_handle_t;

/** A 16-bit integer in network byte order. */
typedef __be16 doca_be16_t;

/** A 32-bit integer in network byte order. */
typedef __be32 doca_be32_t;

/** A 64-bit integer in network byte order. */
typedef __be64 doca_be64_t;

/** The notification handle that no progress engine has. */
#define doca_event_invalid_handle -1

#ifdef __cplusplus
}
#endif

#endif /* DOCA_TYPES_H */
