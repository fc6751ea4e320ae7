/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One NVMe controller through VFIO: its configuration space as far as bus mastering goes, BAR 0,
 * resets, and the two interrupts by which the kernel tells us of trouble. It is polled otherwise:
 * no MSI-X vector is ever enabled.
 */
#include "nvme/vfio/priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "nvme/pci.h"
#include "nvme/spec.h"
#include "util/barrier.h"

/* The controller's registers and its first doorbells: NVMe over PCIe Transport 1.0, 3.1. */
#define BAR_BYTES_MIN (NV_DOORBELL_BASE + 4096u)

struct nv_drive {
	struct nv_vfio *vfio;
	struct nv_vfio_group *group;
	char bdf[NV_PCI_BDF_TEXT];
	int fd;
	int event_fds[NV_DRIVE_EVENTS];
	uint64_t config_offset; /* of the configuration space in fd */
	volatile uint8_t *bar;
	size_t bar_bytes;
};

/* ---- registers ---------------------------------------------------------------------------- */

static uint32_t bar_read32(void *arg, uint32_t off)
{
	const struct nv_drive *drive = arg;
	uint32_t value;

	if (off > drive->bar_bytes - sizeof(value))
		return UINT32_MAX;
	value = le32toh(*(volatile uint32_t *)(drive->bar + off));
	util_to_device();
	return value;
}

static void bar_write32(void *arg, uint32_t off, uint32_t value)
{
	const struct nv_drive *drive = arg;

	if (off > drive->bar_bytes - sizeof(value))
		return;
	util_to_device();
	*(volatile uint32_t *)(drive->bar + off) = htole32(value);
}

static volatile uint32_t *bar_doorbell(void *arg, uint32_t off)
{
	const struct nv_drive *drive = arg;

	if (off < NV_DOORBELL_BASE || off > drive->bar_bytes - sizeof(uint32_t))
		return NULL;
	return (volatile uint32_t *)(drive->bar + off);
}

void nv_drive_bar(struct nv_drive *drive, struct nv_bar *ret)
{
	static const struct nv_bar_ops ops = {
		.read32 = bar_read32,
		.write32 = bar_write32,
		.doorbell = bar_doorbell,
	};

	ret->ops = &ops;
	ret->arg = drive;
}

/* ---- bring-up ----------------------------------------------------------------------------- */

static int failed(struct nv_err *err, const struct nv_drive *drive, const char *what)
{
	int rc = -errno;

	return nv_err(err, rc, "%s: %s: %s", drive->bdf, what, strerror(-rc));
}

static int region_info(const struct nv_drive *drive, unsigned int index,
		       struct vfio_region_info *info)
{
	memset(info, 0, sizeof(*info));
	info->argsz = sizeof(*info);
	info->index = index;
	return ioctl(drive->fd, VFIO_DEVICE_GET_REGION_INFO, info);
}

static int bar_map(struct nv_drive *drive, struct nv_err *err)
{
	struct vfio_region_info info;
	void *bar;

	if (region_info(drive, VFIO_PCI_BAR0_REGION_INDEX, &info))
		return failed(err, drive, "BAR 0");
	if (!(info.flags & VFIO_REGION_INFO_FLAG_MMAP) || info.size < BAR_BYTES_MIN)
		return nv_err(err, -EOPNOTSUPP, "%s: BAR 0 of %" PRIu64 " bytes cannot be mapped",
			      drive->bdf, (uint64_t)info.size);
	bar = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, drive->fd,
		   (off_t)info.offset);
	if (bar == MAP_FAILED)
		return failed(err, drive, "mapping BAR 0");
	drive->bar = bar;
	drive->bar_bytes = info.size;
	return 0;
}

/* Memory space on; bus mastering as asked; the old interrupt pin off in any case. */
static int command_set(const struct nv_drive *drive, bool bus_master)
{
	off_t offset = (off_t)(drive->config_offset + PCI_COMMAND);
	uint16_t command;

	if (pread(drive->fd, &command, sizeof(command), offset) != sizeof(command))
		return -1;
	command = le16toh(command);
	command |= PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_DISABLE;
	command &= (uint16_t)~PCI_COMMAND_MASTER;
	command |= bus_master ? PCI_COMMAND_MASTER : 0;
	command = htole16(command);
	return pwrite(drive->fd, &command, sizeof(command), offset) == sizeof(command) ? 0 : -1;
}

/* Not every kernel and drive has both; without, nothing is heard of it. */
static int watch(struct nv_drive *drive, enum nv_drive_event event, unsigned int index,
		 struct nv_err *err)
{
	struct vfio_irq_info info = {.argsz = sizeof(info), .index = index};
	union {
		struct vfio_irq_set set;
		char room[sizeof(struct vfio_irq_set) + sizeof(int)];
	} irq = {.set = {.argsz = sizeof(irq),
			 .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
			 .index = index,
			 .count = 1}};
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return failed(err, drive, "eventfd");
	drive->event_fds[event] = fd;
	if (ioctl(drive->fd, VFIO_DEVICE_GET_IRQ_INFO, &info) || !info.count)
		return 0;
	memcpy(irq.set.data, &fd, sizeof(fd));
	return ioctl(drive->fd, VFIO_DEVICE_SET_IRQS, &irq.set)
		       ? failed(err, drive, "asking to be told of errors")
		       : 0;
}

static int set_up(struct nv_drive *drive, struct nv_err *err)
{
	struct vfio_device_info device = {.argsz = sizeof(device)};
	struct vfio_region_info config;
	int rc;

	if (ioctl(drive->fd, VFIO_DEVICE_GET_INFO, &device))
		return failed(err, drive, "VFIO device info");
	if (region_info(drive, VFIO_PCI_CONFIG_REGION_INDEX, &config))
		return failed(err, drive, "configuration space");
	drive->config_offset = config.offset;
	/* Whatever had it before may have left it running: reset first, DMA after that. */
	if (device.flags & VFIO_DEVICE_FLAGS_RESET && ioctl(drive->fd, VFIO_DEVICE_RESET) &&
	    errno != ENOTTY)
		return failed(err, drive, "function reset");
	if (command_set(drive, true))
		return failed(err, drive, "bus mastering");
	rc = bar_map(drive, err);
	if (!rc)
		rc = watch(drive, NV_DRIVE_WANTED, VFIO_PCI_REQ_IRQ_INDEX, err);
	return rc ? rc : watch(drive, NV_DRIVE_ERROR, VFIO_PCI_ERR_IRQ_INDEX, err);
}

int nv_drive_open(struct nv_vfio *vfio, const char *bdf, struct nv_drive **ret, struct nv_err *err)
{
	struct nv_drive *drive = calloc(1, sizeof(*drive));
	int rc;

	if (!drive)
		return nv_err(err, -ENOMEM, "out of memory");
	drive->vfio = vfio;
	for (int i = 0; i < NV_DRIVE_EVENTS; i++)
		drive->event_fds[i] = -1;
	if (!nv_pci_parse(bdf, drive->bdf)) {
		free(drive);
		return nv_err(err, -EINVAL,
			      "\"%.40s\" is no PCI address: one looks like 0000:01:00.0", bdf);
	}
	rc = nv_vfio_get_device(vfio, drive->bdf, &drive->fd, &drive->group, err);
	if (rc) {
		free(drive);
		return rc;
	}
	rc = set_up(drive, err);
	if (rc) {
		nv_drive_close(drive);
		return rc;
	}
	*ret = drive;
	return 0;
}

void nv_drive_close(struct nv_drive *drive)
{
	if (!drive)
		return;
	if (drive->bar)
		munmap((void *)(uintptr_t)drive->bar, drive->bar_bytes);
	nv_drive_cut(drive);
	nv_vfio_put_device(drive->vfio, drive->fd, drive->group);
	for (int i = 0; i < NV_DRIVE_EVENTS; i++)
		if (drive->event_fds[i] >= 0)
			close(drive->event_fds[i]);
	free(drive);
}

const char *nv_drive_bdf(const struct nv_drive *drive)
{
	return drive->bdf;
}

int nv_drive_event_fd(const struct nv_drive *drive, enum nv_drive_event event)
{
	return drive->event_fds[event];
}

void nv_drive_cut(struct nv_drive *drive)
{
	(void)command_set(drive, false);
}
