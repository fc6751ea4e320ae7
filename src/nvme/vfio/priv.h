/* SPDX-License-Identifier: Apache-2.0 */
/* Between container.c and drive.c. */
#ifndef NV_VFIO_PRIV_H
#define NV_VFIO_PRIV_H

#include "nvme/vfio/vfio.h"

struct nv_vfio_group;

/*
 * The device's fd, its group joined to the container. *@ret_group is a reference for
 * nv_vfio_put_device(). -errno with the cause in @err.
 */
int nv_vfio_get_device(struct nv_vfio *vfio, const char *bdf, int *ret_fd,
		       struct nv_vfio_group **ret_group, struct nv_err *err);

/* Closes the fd; a group without devices leaves the container. */
void nv_vfio_put_device(struct nv_vfio *vfio, int fd, struct nv_vfio_group *group);

#endif
