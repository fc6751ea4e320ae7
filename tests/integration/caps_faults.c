/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that no soft device is, for doca_caps: linked into it, what stands here comes before the
 * libraries' own. CAPS_FAULT says which:
 *
 *   weak    verbs has one scatter-gather entry, too few for STA
 *   closed  verbs does not let the device be opened
 *   silent  verbs does not tell of the port
 *   pci     the device is a PCI function
 *   shared  every device is on the interface lo
 *   broken  the devices cannot be listed
 */
#include <dlfcn.h>
#include <doca_dev.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCI_ADDR "0000:03:00.1"

static bool is_fault(const char *name)
{
	const char *fault = getenv("CAPS_FAULT");

	return fault && !strcmp(fault, name);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	int (*next)(struct ibv_context *, struct ibv_device_attr *) =
		(int (*)(struct ibv_context *, struct ibv_device_attr *))dlsym(RTLD_NEXT, __func__);
	int rc = next(context, attr);

	if (is_fault("weak"))
		attr->max_sge = 1;
	return rc;
}

static int query_port_silent(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
			     size_t bytes)
{
	(void)context;
	(void)port;
	(void)attr;
	(void)bytes;
	return EIO;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *(*next)(struct ibv_device *) =
		(struct ibv_context * (*)(struct ibv_device *)) dlsym(RTLD_NEXT, __func__);
	struct ibv_context *context;

	if (is_fault("closed")) {
		errno = EACCES;
		return NULL;
	}
	context = next(device);
	if (context && is_fault("silent"))
		verbs_get_ctx(context)->query_port = query_port_silent;
	return context;
}

doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
	(void)devinfo;
	if (!is_fault("pci"))
		return DOCA_ERROR_NOT_SUPPORTED;
	memcpy(pci_addr_str, PCI_ADDR, sizeof(PCI_ADDR));
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
					    const char *pci_addr_str, uint8_t *is_equal)
{
	(void)devinfo;
	*is_equal = is_fault("pci") && !strcmp(pci_addr_str, PCI_ADDR);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
					 uint32_t size)
{
	doca_error_t (*next)(const struct doca_devinfo *, char *, uint32_t) =
		(doca_error_t(*)(const struct doca_devinfo *, char *, uint32_t))dlsym(RTLD_NEXT,
										      __func__);

	if (!is_fault("shared"))
		return next(devinfo, iface_name, size);
	snprintf(iface_name, size, "lo");
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	doca_error_t (*next)(struct doca_devinfo ***, uint32_t *) =
		(doca_error_t(*)(struct doca_devinfo ***, uint32_t *))dlsym(RTLD_NEXT, __func__);

	return is_fault("broken") ? DOCA_ERROR_NO_MEMORY : next(dev_list, nb_devs);
}
