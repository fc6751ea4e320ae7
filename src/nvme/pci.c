/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs of PCI: Documentation/ABI/testing/sysfs-bus-pci of Linux.
 */
#include "nvme/pci.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES "bus/pci/devices"
#define DRIVERS "bus/pci/drivers"

static const char *mounted(const char *sysfs)
{
	return sysfs ? sysfs : "/sys";
}

bool nv_pci_parse(const char *text, char bdf[NV_PCI_BDF_TEXT])
{
	unsigned int domain = 0, bus, slot, function;
	int end = 0;

	if (text[strspn(text, "0123456789abcdefABCDEF:.")])
		return false;
	if (sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) != 4 ||
	    text[end]) {
		domain = 0;
		end = 0;
		if (sscanf(text, "%2x:%2x.%1x%n", &bus, &slot, &function, &end) != 3 || text[end])
			return false;
	}
	if (slot > 31 || function > 7)
		return false;
	snprintf(bdf, NV_PCI_BDF_TEXT, "%04x:%02x:%02x.%x", domain, bus & 0xff, slot, function);
	return true;
}

/* The text of a small file without its line feed; "" if there is none. */
static void read_text(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, bytes - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

static unsigned long read_number(const char *sysfs, const char *bdf, const char *name)
{
	char path[PATH_MAX], text[32];

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", mounted(sysfs), bdf, name);
	read_text(path, text, sizeof(text));
	return strtoul(text, NULL, 0);
}

/* The last part of where a link leads; "" if there is no link. */
static void read_link(const char *sysfs, const char *bdf, const char *name, char *last,
		      size_t bytes)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", mounted(sysfs), bdf, name);
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = '\0';
	slash = strrchr(target, '/');
	snprintf(last, bytes, "%.*s", (int)bytes - 1, slash ? slash + 1 : target);
}

static void read_function(const char *sysfs, const char *bdf, struct nv_pci *ret)
{
	char group[16];

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->bdf, sizeof(ret->bdf), "%.16s", bdf);
	ret->vendor = (uint16_t)read_number(sysfs, bdf, "vendor");
	ret->device = (uint16_t)read_number(sysfs, bdf, "device");
	ret->class_code = (uint32_t)read_number(sysfs, bdf, "class");
	ret->numa_node = (int)read_number(sysfs, bdf, "numa_node");
	read_link(sysfs, bdf, "driver", ret->driver, sizeof(ret->driver));
	read_link(sysfs, bdf, "iommu_group", group, sizeof(group));
	ret->iommu_group = group[0] ? (int)strtol(group, NULL, 10) : -1;
}

int nv_pci_read(const char *sysfs, const char *bdf, struct nv_pci *ret, struct nv_err *err)
{
	char path[PATH_MAX], name[NV_PCI_BDF_TEXT];

	if (!nv_pci_parse(bdf, name))
		return nv_err(err, -EINVAL,
			      "\"%.40s\" is no PCI address: one looks like 0000:01:00.0", bdf);
	snprintf(path, sizeof(path), "%s/" DEVICES "/%s", mounted(sysfs), name);
	if (access(path, F_OK))
		return nv_err(err, -ENODEV, "%s: there is no such PCI device", name);
	read_function(sysfs, name, ret);
	return 0;
}

static int by_address(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name); /* of one width, so this is their order */
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Functions in @dir below sysfs by their addresses; -errno. */
static int scan(const char *sysfs, const char *dir, struct dirent ***entries, struct nv_err *err)
{
	char path[PATH_MAX];
	int n;

	snprintf(path, sizeof(path), "%s/%s", mounted(sysfs), dir);
	n = scandir(path, entries, is_visible, by_address);
	return n < 0 ? nv_err(err, -errno, "%s: %s", path, strerror(errno)) : n;
}

static void scan_free(struct dirent **entries, int n)
{
	while (n > 0)
		free(entries[--n]);
	free(entries);
}

int nv_pci_list(const char *sysfs, struct nv_pci *list, size_t max, struct nv_err *err)
{
	struct dirent **entries = NULL;
	struct nv_pci pci;
	size_t count = 0;
	int i, n;

	n = scan(sysfs, DEVICES, &entries, err);
	if (n == -ENOENT) /* a machine without PCI */
		return 0;
	for (i = 0; i < n; i++) {
		read_function(sysfs, entries[i]->d_name, &pci);
		if (pci.class_code != NV_PCI_CLASS_NVME)
			continue;
		if (count < max)
			list[count] = pci;
		count++;
	}
	scan_free(entries, n);
	return n < 0 ? n : (int)count;
}

bool nv_pci_group_blocker(const char *sysfs, const struct nv_pci *pci, struct nv_pci *ret)
{
	struct dirent **entries = NULL;
	bool is_blocked = false;
	char dir[64];
	int i, n;

	snprintf(dir, sizeof(dir), "kernel/iommu_groups/%d/devices", pci->iommu_group);
	n = scan(sysfs, dir, &entries, NULL);
	for (i = 0; i < n && !is_blocked; i++) {
		read_function(sysfs, entries[i]->d_name, ret);
		is_blocked = strcmp(ret->bdf, pci->bdf) && ret->driver[0] &&
			     strcmp(ret->driver, "vfio-pci") && strcmp(ret->driver, "pcieport");
	}
	scan_free(entries, n);
	return is_blocked;
}

/* ---- binding ------------------------------------------------------------------------------ */

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	/* An empty line takes a name away again. */
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static int write_of(const char *sysfs, const char *bdf, const char *name, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", mounted(sysfs), bdf, name);
	return write_text(path, text);
}

static int failed(struct nv_err *err, int rc, const char *bdf, const char *what)
{
	if (rc == -EACCES || rc == -EPERM)
		return nv_err(err, -EACCES, "%s: %s: only root may do that", bdf, what);
	return nv_err(err, rc, "%s: %s: %s", bdf, what, strerror(-rc));
}

int nv_pci_bind(const char *sysfs, const struct nv_pci *pci, const char *driver, struct nv_err *err)
{
	char path[PATH_MAX];
	struct nv_pci now;
	int rc;

	if (driver && !strcmp(pci->driver, driver))
		return 0;
	snprintf(path, sizeof(path), "%s/" DRIVERS "/%s", mounted(sysfs), driver ? driver : "");
	if (access(path, F_OK))
		return nv_err(err, -ENOENT, "there is no driver %s: try \"modprobe %s\"", driver,
			      driver);
	/* From here on no other driver takes it, not even one that is loaded later. */
	rc = write_of(sysfs, pci->bdf, "driver_override", driver ? driver : "\n");
	if (rc)
		return failed(err, rc, pci->bdf, "driver_override");
	if (pci->driver[0]) {
		rc = write_of(sysfs, pci->bdf, "driver/unbind", pci->bdf);
		if (rc && rc != -ENOENT)
			return failed(err, rc, pci->bdf, "taking it from its driver");
	}
	snprintf(path, sizeof(path), "%s/bus/pci/drivers_probe", mounted(sysfs));
	rc = write_text(path, pci->bdf);
	if (rc)
		return failed(err, rc, pci->bdf, "giving it to its driver");
	read_function(sysfs, pci->bdf, &now);
	if (driver && strcmp(now.driver, driver))
		return nv_err(err, -EBUSY,
			      "%s: the driver %s has not taken it (see the kernel's"
			      " log)",
			      pci->bdf, driver);
	return 0;
}
