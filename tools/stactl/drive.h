/* SPDX-License-Identifier: Apache-2.0 */
/* An NVMe drive of this machine: its PCI function, what the kernel's driver knows, who uses it. */
#ifndef STACTL_DRIVE_H
#define STACTL_DRIVE_H

#include "machine.h"
#include "nvme/pci.h"

#define DRIVE_MAX_BLOCKS 32

struct drive {
	struct nv_pci pci;
	char kernel_name[MACHINE_NAME]; /* "nvme0" while the kernel drives it; "" below alike */
	char model[MACHINE_NAME];
	char serial[MACHINE_NAME];
	char blocks[DRIVE_MAX_BLOCKS][MACHINE_NAME]; /* "nvme0n1" */
	size_t n_blocks;
	struct machine_uses uses;
	char blocker[NV_PCI_BDF_TEXT + NV_PCI_NAME_TEXT + 32]; /* who hinders its IOMMU group */
};

/** drive_sysfs() - where sysfs is, for nv_pci_*(). */
const char *drive_sysfs(void);

/** drive_describe() - fill in what is not in drive->pci. */
void drive_describe(struct drive *drive);

/** drive_why_not() - NULL if softsta can have the drive, else the reason in @text. */
const char *drive_why_not(const struct drive *drive, char *text, size_t bytes);

#endif
