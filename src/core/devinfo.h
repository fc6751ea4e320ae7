/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One device as a list shows it. dev.c makes and destroys these, devinfo.c answers questions about
 * them; inside core only.
 */
#ifndef CORE_DEVINFO_H
#define CORE_DEVINFO_H

#include <doca_dev.h>
#include <infiniband/verbs.h>

/*
 * Life: an element of a list, or embedded in an open device; a copy of the names, so that either
 * outlives the other. Constant once made.
 */
struct doca_devinfo {
	struct ibv_device *ibdev; /* valid as long as the list or the open device is */
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	char sysfs_path[IBV_SYSFS_PATH_MAX]; /* nothing is there for a soft device */
};

#endif /* CORE_DEVINFO_H */
