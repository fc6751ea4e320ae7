/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI functions as sysfs shows them: which there are, who drives them, who shares their IOMMU
 * group, and taking them from one driver to another. Reads and writes files, nothing else.
 *
 * @sysfs is where sysfs is mounted; NULL stands for /sys. Tests have their own.
 */
#ifndef NV_PCI_H
#define NV_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvme/err.h"

#define NV_PCI_BDF_TEXT	 17 /* "0000:01:00.0", with a domain of up to 8 digits */
#define NV_PCI_NAME_TEXT 64

struct nv_pci {
	char bdf[NV_PCI_BDF_TEXT];
	uint16_t vendor, device;
	uint32_t class_code; /* base class, subclass, interface: 0x010802 is NVMe */
	char driver[NV_PCI_NAME_TEXT]; /* "" if none */
	int iommu_group; /* -1: no IOMMU */
	int numa_node; /* -1: unknown */
};

#define NV_PCI_CLASS_NVME 0x010802u /* PCI Code and ID Assignment 1.11, 1.2 */

/* "dddd:bb:dd.f" or "bb:dd.f", hexadecimal, into lower case with the domain. False: neither. */
bool nv_pci_parse(const char *text, char bdf[NV_PCI_BDF_TEXT]);

/* -EINVAL: no PCI address. -ENODEV: nothing there. */
int nv_pci_read(const char *sysfs, const char *bdf, struct nv_pci *ret, struct nv_err *err);

/*
 * NVMe controllers in the order of their addresses, at most @max of them into @list. Returns how
 * many there are, which may be more, or -errno.
 */
int nv_pci_list(const char *sysfs, struct nv_pci *list, size_t max, struct nv_err *err);

/*
 * The first function beside @pci in its IOMMU group that hinders user space: it has a driver that
 * is neither vfio-pci nor a bridge's. False if there is none.
 */
bool nv_pci_group_blocker(const char *sysfs, const struct nv_pci *pci, struct nv_pci *ret);

/*
 * Give the function to @driver, taking it from the one that has it: "vfio-pci", or NULL for
 * whichever the kernel would choose. The driver must be loaded. What runs on it ends: ask
 * somebody first whether it is in use.
 *
 * -EACCES: not permitted (root). -ENOENT: no such driver. -EBUSY: it has not taken the function.
 */
int nv_pci_bind(const char *sysfs, const struct nv_pci *pci, const char *driver,
		struct nv_err *err);

#endif
