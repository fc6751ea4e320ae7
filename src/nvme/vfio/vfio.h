/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe drives through VFIO: a drive that somebody has bound to vfio-pci becomes a BAR for the
 * driver (bar.h), and the pool's memory (pool.h) becomes reachable for it, and nothing else does.
 *
 *   nv_vfio      one VFIO container: an IOMMU address space that all drives share (container.c)
 *   nv_drive     one PCI function in it: registers, resets, what the kernel says of it (drive.c)
 *
 * Nothing is bound or unbound here (pci.h helps with that), no root is needed: what decides is who
 * may open the group's node below /dev/vfio and how much memory may be locked.
 *
 * Threads: one at a time for all of it. Registers of a drive may be used on any thread.
 */
#ifndef NV_VFIO_H
#define NV_VFIO_H

#include <stdbool.h>

#include "nvme/bar.h"
#include "nvme/err.h"
#include "nvme/pool.h"

struct nv_vfio;
struct nv_drive;

/* An empty container for the memory of @pool, which must outlive it. 0 or -ENOMEM. */
int nv_vfio_create(struct nv_pool *pool, struct nv_vfio **ret);

/* NULL is fine. All drives must be closed. */
void nv_vfio_destroy(struct nv_vfio *vfio);

/*
 * Take the NVMe controller at PCI address @bdf ("0000:01:00.0" or "01:00.0"), reset it, and let it
 * reach the pool's memory. With the first drive the pool's memory is pinned.
 *
 * 0, or with the cause and, where there is one, the remedy in @err:
 * -EINVAL: that is no PCI address. -ENODEV: nothing there, or no NVMe controller. -EBUSY: bound to
 * another driver, somebody else uses it, or a device of its IOMMU group is in the way.
 * -EOPNOTSUPP: no VFIO, no IOMMU, or a BAR that cannot be mapped. -EACCES: the group's node may not
 * be opened. -ENOMEM: the memory cannot be pinned (RLIMIT_MEMLOCK). Others: as the kernel says.
 */
int nv_drive_open(struct nv_vfio *vfio, const char *bdf, struct nv_drive **ret, struct nv_err *err);

/* Stop its DMA and give it back. NULL is fine. Nobody uses its registers any more. */
void nv_drive_close(struct nv_drive *drive);

/* The register seam. All ones are read after the drive was lost. */
void nv_drive_bar(struct nv_drive *drive, struct nv_bar *ret);

/* The normalised PCI address, valid as long as the drive is open. */
const char *nv_drive_bdf(const struct nv_drive *drive);

/* What the kernel has to say of a drive. */
enum nv_drive_event {
	NV_DRIVE_WANTED, /* it wants the drive back: hot unplug, unbind. It waits until it is closed
			  */
	NV_DRIVE_ERROR, /* PCIe reports an error of the drive that only a reset mends */
	NV_DRIVE_EVENTS
};

/* For epoll: readable from the event on until the drive is closed. */
int nv_drive_event_fd(const struct nv_drive *drive, enum nv_drive_event event);

/* Take bus mastering from it: whatever state it is in, it reaches no memory any more. */
void nv_drive_cut(struct nv_drive *drive);

#endif
