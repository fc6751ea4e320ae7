/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One VFIO container with a type 1 IOMMU (linux/vfio.h). The groups in it share one address space,
 * whose only content is the pool's memory. The kernel sets the IOMMU up with the first group and
 * throws it away with the last.
 */
#include "nvme/vfio/priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "nvme/pci.h"
#include "util/log.h"

#define LOG_SOURCE "nvme.vfio"

struct nv_vfio_group {
	struct nv_vfio_group *next;
	int number;
	int fd;
	unsigned int n_devices;
};

struct nv_vfio {
	struct nv_pool *pool;
	int fd; /* -1: no group */
	struct nv_vfio_group *groups;
	struct nv_err map_err; /* why the last mapping failed */
};

int nv_vfio_create(struct nv_pool *pool, struct nv_vfio **ret)
{
	struct nv_vfio *vfio = calloc(1, sizeof(*vfio));

	if (!vfio)
		return -ENOMEM;
	vfio->pool = pool;
	vfio->fd = -1;
	*ret = vfio;
	return 0;
}

void nv_vfio_destroy(struct nv_vfio *vfio)
{
	if (!vfio)
		return;
	assert(!vfio->groups);
	free(vfio);
}

/* ---- memory ------------------------------------------------------------------------------- */

static int map_failed(struct nv_vfio *vfio, int rc, const void *addr, size_t bytes)
{
	switch (rc) {
	case -ENOMEM:
		return nv_err(&vfio->map_err, rc,
			      "%zu KiB of memory cannot be pinned: raise the limit of locked"
			      " memory (ulimit -l, LimitMEMLOCK=)",
			      bytes >> 10);
	case -EINVAL:
		return nv_err(&vfio->map_err, rc,
			      "the IOMMU cannot address the memory at 0x%" PRIxPTR,
			      (uintptr_t)addr);
	default:
		return nv_err(&vfio->map_err, rc, "the IOMMU does not take the memory: %s",
			      strerror(-rc));
	}
}

static int map(void *arg, void *addr, size_t bytes)
{
	struct nv_vfio *vfio = arg;
	struct vfio_iommu_type1_dma_map dma = {
		.argsz = sizeof(dma),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)addr,
		.iova = (uintptr_t)addr,
		.size = bytes,
	};

	if (!ioctl(vfio->fd, VFIO_IOMMU_MAP_DMA, &dma))
		return 0;
	map_failed(vfio, -errno, addr, bytes);
	util_log(UTIL_LOG_ERROR, LOG_SOURCE, "%s", vfio->map_err.text);
	return -errno;
}

static void unmap(void *arg, void *addr, size_t bytes)
{
	struct nv_vfio *vfio = arg;
	struct vfio_iommu_type1_dma_unmap dma = {
		.argsz = sizeof(dma),
		.iova = (uintptr_t)addr,
		.size = bytes,
	};

	if (ioctl(vfio->fd, VFIO_IOMMU_UNMAP_DMA, &dma))
		util_log(UTIL_LOG_ERROR, LOG_SOURCE, "unmapping memory: %s", strerror(errno));
}

/* ---- container and groups ----------------------------------------------------------------- */

static int container_open(struct nv_vfio *vfio, struct nv_err *err)
{
	vfio->fd = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	if (vfio->fd < 0 && (errno == ENOENT || errno == ENODEV))
		return nv_err(err, -EOPNOTSUPP,
			      "there is no VFIO (/dev/vfio/vfio): try \"modprobe vfio-pci\"");
	if (vfio->fd < 0)
		return nv_err(err, -errno, "/dev/vfio/vfio: %s", strerror(errno));
	if (ioctl(vfio->fd, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
	    ioctl(vfio->fd, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) != 1)
		return nv_err(
			err, -EOPNOTSUPP,
			"this kernel's VFIO has no type 1 IOMMU: try \"modprobe vfio_iommu_type1\"");
	return 0;
}

static void container_close(struct nv_vfio *vfio)
{
	if (vfio->fd >= 0)
		close(vfio->fd);
	vfio->fd = -1;
}

static int group_open_failed(const char *path, int rc, struct nv_err *err)
{
	switch (rc) {
	case -EACCES:
	case -EPERM:
		return nv_err(err, -EACCES,
			      "%s: may not be opened by this user: give it to the user, or run"
			      " as root",
			      path);
	case -EBUSY:
		return nv_err(err, rc,
			      "%s: another program has the drive, or one of its IOMMU"
			      " group",
			      path);
	default:
		return nv_err(err, rc, "%s: %s", path, strerror(-rc));
	}
}

static int group_open(struct nv_vfio_group *group, struct nv_err *err)
{
	struct vfio_group_status status = {.argsz = sizeof(status)};
	char path[32];

	snprintf(path, sizeof(path), "/dev/vfio/%d", group->number);
	group->fd = open(path, O_RDWR | O_CLOEXEC);
	if (group->fd < 0)
		return group_open_failed(path, -errno, err);
	if (ioctl(group->fd, VFIO_GROUP_GET_STATUS, &status))
		return nv_err(err, -errno, "%s: %s", path, strerror(errno));
	if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE))
		return nv_err(err, -EBUSY,
			      "IOMMU group %d is not viable: a device of it has another driver"
			      " than vfio-pci",
			      group->number);
	return 0;
}

/* The container's first group brings the IOMMU, and the pool's memory into it. */
static int group_join(struct nv_vfio *vfio, struct nv_vfio_group *group, struct nv_err *err)
{
	const struct nv_pool_mapper mapper = {.map = map, .unmap = unmap, .arg = vfio};
	int rc;

	if (ioctl(group->fd, VFIO_GROUP_SET_CONTAINER, &vfio->fd))
		return nv_err(err, -errno, "IOMMU group %d: %s", group->number, strerror(errno));
	if (vfio->groups)
		return 0;
	if (ioctl(vfio->fd, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
		return nv_err(err, -errno, "VFIO: the IOMMU cannot be used: %s", strerror(errno));
	rc = nv_pool_set_mapper(vfio->pool, &mapper);
	return rc ? nv_err(err, rc, "%s", vfio->map_err.text) : 0;
}

/* It must have left vfio->groups, or never have been there. */
static void group_leave(struct nv_vfio *vfio, struct nv_vfio_group *group)
{
	if (group->fd >= 0)
		close(group->fd);
	free(group);
	if (!vfio->groups)
		container_close(vfio);
}

static int group_get(struct nv_vfio *vfio, int number, struct nv_vfio_group **ret,
		     struct nv_err *err)
{
	struct nv_vfio_group *group;
	int rc = 0;

	for (group = vfio->groups; group; group = group->next)
		if (group->number == number)
			break;
	if (group) {
		*ret = group;
		return 0;
	}
	group = calloc(1, sizeof(*group));
	if (!group)
		return nv_err(err, -ENOMEM, "out of memory");
	group->number = number;
	group->fd = -1;
	if (vfio->fd < 0)
		rc = container_open(vfio, err);
	if (!rc)
		rc = group_open(group, err);
	if (!rc)
		rc = group_join(vfio, group, err);
	if (rc) {
		group_leave(vfio, group);
		return rc;
	}
	group->next = vfio->groups;
	vfio->groups = group;
	*ret = group;
	return 0;
}

static void group_put(struct nv_vfio *vfio, struct nv_vfio_group *group)
{
	struct nv_vfio_group **link = &vfio->groups;

	if (group->n_devices)
		return;
	while (*link != group)
		link = &(*link)->next;
	/* With the last group the kernel drops the address space; the pool has to know before. */
	if (vfio->groups == group && !group->next)
		(void)nv_pool_set_mapper(vfio->pool, NULL);
	*link = group->next;
	group_leave(vfio, group);
}

/* ---- devices ------------------------------------------------------------------------------ */

/* Everything that can be said before VFIO is asked, whose errors do not name the cause. */
static int check_function(const char *bdf, struct nv_pci *pci, struct nv_err *err)
{
	struct nv_pci other;
	int rc = nv_pci_read(NULL, bdf, pci, err);

	if (rc)
		return rc;
	if (pci->class_code != NV_PCI_CLASS_NVME)
		return nv_err(err, -ENODEV, "%s: is no NVMe controller (class 0x%06x)", pci->bdf,
			      pci->class_code);
	if (strcmp(pci->driver, "vfio-pci"))
		return nv_err(err, -EBUSY,
			      "%s: has %s%s, and vfio-pci is needed: \"stactl drive bind %s\"",
			      pci->bdf, pci->driver[0] ? "the driver " : "no driver", pci->driver,
			      pci->bdf);
	if (pci->iommu_group < 0)
		return nv_err(err, -EOPNOTSUPP,
			      "%s: there is no IOMMU (intel_iommu=on or amd_iommu=on on the"
			      " kernel's command line, and in the firmware)",
			      pci->bdf);
	if (nv_pci_group_blocker(NULL, pci, &other))
		return nv_err(err, -EBUSY,
			      "%s: shares IOMMU group %d with %s, which has the driver %s and"
			      " would have to be bound to vfio-pci, too",
			      pci->bdf, pci->iommu_group, other.bdf, other.driver);
	return 0;
}

int nv_vfio_get_device(struct nv_vfio *vfio, const char *bdf, int *ret_fd,
		       struct nv_vfio_group **ret_group, struct nv_err *err)
{
	struct nv_vfio_group *group = NULL;
	struct nv_pci pci;
	int rc, fd;

	rc = check_function(bdf, &pci, err);
	if (rc)
		return rc;
	rc = group_get(vfio, pci.iommu_group, &group, err);
	if (rc)
		return rc;
	fd = ioctl(group->fd, VFIO_GROUP_GET_DEVICE_FD, pci.bdf);
	if (fd < 0) {
		rc = nv_err(err, -errno, "%s: VFIO does not give it: %s", pci.bdf, strerror(errno));
		group_put(vfio, group);
		return rc;
	}
	group->n_devices++;
	*ret_fd = fd;
	*ret_group = group;
	return 0;
}

void nv_vfio_put_device(struct nv_vfio *vfio, int fd, struct nv_vfio_group *group)
{
	close(fd);
	group->n_devices--;
	group_put(vfio, group);
}
