/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of devices, and the devices that are open: a verbs context with one protection domain
 * each, shared by all who opened it, or that of a protection domain of the application's. Questions
 * about a device are in devinfo.c.
 */
#include "core/dev.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/devinfo.h"
#include "core/limits.h"
#include "util/list.h"

/* Owner: the application; behind the pointer array that it sees. */
struct core_dev_list {
	struct ibv_device **ibdevs; /* what verbs gave, keeps the elements' ibdev valid */
	struct doca_devinfo *infos;
	struct doca_devinfo *elements[]; /* NULL at the end; &elements[0] is the application's */
};

/*
 * Lock: devs_lock guards the list and both counts; the rest is constant while open.
 * Life: from the first open to the last close.
 */
struct doca_dev {
	struct util_list node;
	struct doca_devinfo info;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	bool is_bridged; /* verbs and pd are the application's: doca_priv_dev_open_from_pd() */
	unsigned int opens;
	unsigned int holds;
};

static pthread_mutex_t devs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct util_list devs = {&devs, &devs};
static unsigned int num_devs;

static void devinfo_init(struct doca_devinfo *info, struct ibv_device *ibdev)
{
	info->ibdev = ibdev;
	strncpy(info->name, ibv_get_device_name(ibdev), sizeof(info->name) - 1);
	memcpy(info->sysfs_path, ibdev->ibdev_path, sizeof(info->sysfs_path) - 1);
}

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	struct core_dev_list *list;
	struct ibv_device **ibdevs;
	int n;

	if (!dev_list || !nb_devs)
		return DOCA_ERROR_INVALID_VALUE;
	ibdevs = ibv_get_device_list(&n);
	if (!ibdevs)
		return DOCA_ERROR_NOT_FOUND;
	if (n <= 0) {
		ibv_free_device_list(ibdevs);
		return DOCA_ERROR_NOT_FOUND;
	}
	list = calloc(1, sizeof(*list) + ((size_t)n + 1) * sizeof(list->elements[0]));
	if (!list)
		goto err_free_ibdevs;
	list->infos = calloc((size_t)n, sizeof(*list->infos));
	if (!list->infos)
		goto err_free_list;
	list->ibdevs = ibdevs;
	for (int i = 0; i < n; i++) {
		devinfo_init(&list->infos[i], ibdevs[i]);
		list->elements[i] = &list->infos[i];
	}
	*dev_list = list->elements;
	*nb_devs = (uint32_t)n;
	return DOCA_SUCCESS;

err_free_list:
	free(list);
err_free_ibdevs:
	ibv_free_device_list(ibdevs);
	return DOCA_ERROR_NO_MEMORY;
}

doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	struct core_dev_list *list;

	if (!dev_list)
		return DOCA_ERROR_INVALID_VALUE;
	list = util_container_of(dev_list, struct core_dev_list, elements);
	ibv_free_device_list(list->ibdevs);
	free(list->infos);
	free(list);
	return DOCA_SUCCESS;
}

/* With the lock held. */
static struct doca_dev *dev_find(const struct doca_devinfo *info)
{
	struct doca_dev *dev;

	util_list_for_each(&devs, dev, node) {
		if (!dev->is_bridged && !strcmp(dev->info.name, info->name))
			return dev;
	}
	return NULL;
}

/* With the lock held. */
static bool dev_is_bridged_info(const struct doca_devinfo *info)
{
	struct doca_dev *dev;

	util_list_for_each(&devs, dev, node) {
		if (dev->is_bridged && &dev->info == info)
			return true;
	}
	return false;
}

/* With the lock held. */
static struct doca_dev *dev_find_bridged(const struct ibv_pd *pd)
{
	struct doca_dev *dev;

	util_list_for_each(&devs, dev, node) {
		if (dev->is_bridged && dev->pd == pd)
			return dev;
	}
	return NULL;
}

/* With the lock held. */
static doca_error_t dev_open_first(const struct doca_devinfo *info, struct doca_dev **ret)
{
	struct doca_dev *dev;
	doca_error_t result = DOCA_ERROR_NOT_CONNECTED;

	if (num_devs >= CORE_MAX_OPEN_DEVS)
		return DOCA_ERROR_INITIALIZATION;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return DOCA_ERROR_NO_MEMORY;
	dev->verbs = ibv_open_device(info->ibdev);
	if (!dev->verbs)
		goto err_free_dev;
	dev->pd = ibv_alloc_pd(dev->verbs);
	if (!dev->pd) {
		result = DOCA_ERROR_NO_MEMORY;
		goto err_close_verbs;
	}
	dev->info = *info;
	dev->info.ibdev = dev->verbs->device;
	util_list_add_tail(&devs, &dev->node);
	num_devs++;
	*ret = dev;
	return DOCA_SUCCESS;

err_close_verbs:
	ibv_close_device(dev->verbs);
err_free_dev:
	free(dev);
	return result;
}

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	doca_error_t result = DOCA_SUCCESS;
	struct doca_dev *d;

	if (!devinfo || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&devs_lock);
	d = dev_find(devinfo);
	if (dev_is_bridged_info(devinfo))
		result = DOCA_ERROR_NOT_SUPPORTED;
	else if (!d)
		result = dev_open_first(devinfo, &d);
	if (result == DOCA_SUCCESS) {
		d->opens++;
		*dev = d;
	}
	pthread_mutex_unlock(&devs_lock);
	return result;
}

/* With the lock held. */
static doca_error_t dev_bridge_first(struct ibv_pd *pd, struct doca_dev **ret)
{
	struct doca_dev *dev;

	if (num_devs >= CORE_MAX_OPEN_DEVS)
		return DOCA_ERROR_INITIALIZATION;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return DOCA_ERROR_NO_MEMORY;
	devinfo_init(&dev->info, pd->context->device);
	dev->verbs = pd->context;
	dev->pd = pd;
	dev->is_bridged = true;
	util_list_add_tail(&devs, &dev->node);
	num_devs++;
	*ret = dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_priv_dev_open_from_pd(struct ibv_pd *pd, struct doca_dev **dev)
{
	doca_error_t result = DOCA_SUCCESS;
	struct doca_dev *d;

	pthread_mutex_lock(&devs_lock);
	d = dev_find_bridged(pd);
	if (!d)
		result = dev_bridge_first(pd, &d);
	if (result == DOCA_SUCCESS) {
		d->opens++;
		*dev = d;
	}
	pthread_mutex_unlock(&devs_lock);
	return result;
}

/* With the lock held. */
static doca_error_t dev_close_last(struct doca_dev *dev)
{
	if (dev->holds)
		return DOCA_ERROR_IN_USE;
	if (!dev->is_bridged) {
		if (ibv_dealloc_pd(dev->pd))
			return DOCA_ERROR_IN_USE;
		ibv_close_device(dev->verbs);
	}
	util_list_del(&dev->node);
	num_devs--;
	free(dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!dev)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&devs_lock);
	if (dev->opens > 1)
		dev->opens--;
	else
		result = dev_close_last(dev);
	pthread_mutex_unlock(&devs_lock);
	return result;
}

doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev)
{
	/* What is freed goes back to the driver at once. */
	return dev ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
	/* The API's type is not const; nothing that takes it writes to it. */
	return dev ? (struct doca_devinfo *)&dev->info : NULL;
}

struct ibv_context *doca_priv_dev_get_verbs(const struct doca_dev *dev)
{
	return dev->verbs;
}

struct ibv_pd *doca_priv_dev_get_pd(const struct doca_dev *dev)
{
	return dev->pd;
}

const char *doca_priv_dev_get_name(const struct doca_dev *dev)
{
	return dev->info.name;
}

void doca_priv_dev_hold(struct doca_dev *dev)
{
	pthread_mutex_lock(&devs_lock);
	dev->holds++;
	pthread_mutex_unlock(&devs_lock);
}

void doca_priv_dev_release(struct doca_dev *dev)
{
	pthread_mutex_lock(&devs_lock);
	dev->holds--;
	pthread_mutex_unlock(&devs_lock);
}
