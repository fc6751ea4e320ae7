/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Representors stand on a DPU for the functions that a host sees. No device here has any, so no
 * list of them, no element and no open one exists that a caller could hand in.
 */
#include <doca_dev.h>

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep)
{
	if (!dev || !dev_list_rep || !nb_devs_rep ||
	    (filter != DOCA_DEVINFO_REP_FILTER_ALL && filter != DOCA_DEVINFO_REP_FILTER_NET &&
	     filter != DOCA_DEVINFO_REP_FILTER_EMULATED))
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
	(void)dev_list_rep;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep)
{
	(void)devinfo;
	(void)dev_rep;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
	(void)dev;
	return DOCA_ERROR_INVALID_VALUE;
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep)
{
	(void)dev_rep;
	return NULL;
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
				       uint32_t size)
{
	(void)devinfo_rep;
	(void)rep_vuid;
	(void)size;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
					       char *pci_addr_str)
{
	(void)devinfo_rep;
	(void)pci_addr_str;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
						enum doca_pci_func_type *pci_func_type)
{
	(void)devinfo_rep;
	(void)pci_func_type;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep,
					     uint8_t *is_hotplug)
{
	(void)devinfo_rep;
	(void)is_hotplug;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep,
					     char *iface_name, uint32_t size)
{
	(void)devinfo_rep;
	(void)iface_name;
	(void)size;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep,
					  uint16_t *vhca_id)
{
	(void)devinfo_rep;
	(void)vhca_id;
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
						const char *pci_addr_str, uint8_t *is_equal)
{
	(void)devinfo_rep;
	(void)pci_addr_str;
	(void)is_equal;
	return DOCA_ERROR_INVALID_VALUE;
}
