/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a drive; see drive.h. */
#include "drive.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *drive_sysfs(void)
{
	static char path[MACHINE_PATH];

	return machine_path(path, "/sys");
}

/*
 * The block device of a namespace's directory below its controller: "nvme0n1", or "nvme0c1n1" for a
 * path to it (native multipath), whose block device is "nvme0n1". False: it is something else.
 */
static bool block_name(const char *entry, char name[MACHINE_NAME])
{
	unsigned int subsystem, controller, ns;
	int end = 0;

	if (sscanf(entry, "nvme%un%u%n", &subsystem, &ns, &end) == 2 && !entry[end]) {
		snprintf(name, MACHINE_NAME, "%.60s", entry);
		return true;
	}
	end = 0;
	if (sscanf(entry, "nvme%uc%un%u%n", &subsystem, &controller, &ns, &end) != 3 || entry[end])
		return false;
	snprintf(name, MACHINE_NAME, "nvme%un%u", subsystem, ns);
	return true;
}

static void find_blocks(struct drive *d, const char *controller_dir)
{
	DIR *dir = opendir(controller_dir);
	struct dirent *entry;

	while (dir && d->n_blocks < DRIVE_MAX_BLOCKS && (entry = readdir(dir)))
		d->n_blocks += block_name(entry->d_name, d->blocks[d->n_blocks]);
	if (dir)
		closedir(dir);
}

/* Below the function is "nvme", and in it the controller's directory. */
static void find_controller(struct drive *d)
{
	char path[MACHINE_PATH];
	struct dirent *entry;
	DIR *dir = opendir(machine_path(path, "/sys/bus/pci/devices/%s/nvme", d->pci.bdf));

	while (dir && (entry = readdir(dir))) {
		char controller[MACHINE_PATH], file[MACHINE_PATH + 16];

		if (strncmp(entry->d_name, "nvme", 4))
			continue;
		snprintf(d->kernel_name, sizeof(d->kernel_name), "%.60s", entry->d_name);
		machine_path(controller, "/sys/bus/pci/devices/%s/nvme/%.60s", d->pci.bdf,
			     entry->d_name);
		snprintf(file, sizeof(file), "%s/model", controller);
		machine_read(file, d->model, sizeof(d->model));
		snprintf(file, sizeof(file), "%s/serial", controller);
		machine_read(file, d->serial, sizeof(d->serial));
		find_blocks(d, controller);
		break;
	}
	if (dir)
		closedir(dir);
}

/* Programs that have the drive open by one of its names in /dev. */
static void find_openers(struct drive *d)
{
	char names[DRIVE_MAX_BLOCKS + 1][MACHINE_NAME + 16];
	const char *paths[DRIVE_MAX_BLOCKS + 1];
	size_t i, n = d->n_blocks;

	for (i = 0; i < d->n_blocks; i++)
		snprintf(names[i], sizeof(names[i]), "/dev/%s", d->blocks[i]);
	if (!strcmp(d->pci.driver, "vfio-pci") && d->pci.iommu_group >= 0)
		snprintf(names[n++], sizeof(names[0]), "/dev/vfio/%d", d->pci.iommu_group);
	for (i = 0; i < n; i++)
		paths[i] = names[i];
	if (n)
		machine_openers_of(paths, n, &d->uses);
}

void drive_describe(struct drive *d)
{
	struct nv_pci other;
	size_t i;

	find_controller(d);
	for (i = 0; i < d->n_blocks; i++)
		machine_uses_of(d->blocks[i], &d->uses);
	find_openers(d);
	if (d->pci.iommu_group >= 0 && nv_pci_group_blocker(drive_sysfs(), &d->pci, &other))
		snprintf(d->blocker, sizeof(d->blocker), "%s (driver %s)", other.bdf, other.driver);
}

const char *drive_why_not(const struct drive *d, char *text, size_t bytes)
{
	const struct machine_use *worst = machine_worst(&d->uses);

	if (worst)
		snprintf(text, bytes, "%s", worst->text);
	else if (d->pci.iommu_group < 0)
		snprintf(text, bytes, "no IOMMU");
	else if (d->blocker[0])
		snprintf(text, bytes, "%s is in its IOMMU group %d", d->blocker,
			 d->pci.iommu_group);
	else
		return NULL;
	return text;
}
