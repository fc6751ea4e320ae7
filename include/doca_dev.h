/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Devices: listing, properties, opening.
 *
 * A device here is an RDMA device that verbs lists, hardware or soft. The elements of a list
 * die with doca_devinfo_destroy_list(); an open device, and what doca_dev_as_devinfo() gave for
 * it, live until its last doca_dev_close().
 *
 * Representors, by which a DPU names the functions that its host sees, do not exist in software: no
 * device here has any. Listing them gives DOCA_ERROR_NOT_SUPPORTED, every capability for them is 0,
 * and because no struct doca_devinfo_rep or struct doca_dev_rep exists, whatever takes one gives
 * DOCA_ERROR_INVALID_VALUE.
 *
 * Thread: any; a list and its elements must not be used while another thread destroys the list.
 */
#ifndef DOCA_DEV_H
#define DOCA_DEV_H

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;
struct doca_devinfo_rep;
struct doca_dev;
struct doca_dev_rep;

/** Minimum buffer bytes: vuid. */
#define DOCA_DEVINFO_VUID_SIZE 128
/** Minimum buffer bytes: ipv4 addr. */
#define DOCA_DEVINFO_IPV4_ADDR_SIZE 4
/** Minimum buffer bytes: ipv6 addr. */
#define DOCA_DEVINFO_IPV6_ADDR_SIZE 16
/** Minimum buffer bytes: mac addr. */
#define DOCA_DEVINFO_MAC_ADDR_SIZE 6
/** Minimum buffer bytes: iface name. */
#define DOCA_DEVINFO_IFACE_NAME_SIZE 256
/** Minimum buffer bytes: ibdev name. */
#define DOCA_DEVINFO_IBDEV_NAME_SIZE 64
/** Minimum buffer bytes: pci addr as dddd:bb:dd.f with NUL. */
#define DOCA_DEVINFO_PCI_ADDR_SIZE 13
/** Minimum buffer bytes: pci bdf as bb:dd.f with NUL. */
#define DOCA_DEVINFO_PCI_BDF_SIZE 8
/** Minimum buffer bytes: rep vuid. */
#define DOCA_DEVINFO_REP_VUID_SIZE 128
/** Minimum buffer bytes: rep pci addr as dddd:bb:dd.f with NUL. */
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE 13
/** Minimum buffer bytes: rep pci bdf as bb:dd.f with NUL. */
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE 8

/** Which representors to list. */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0, /**< every representor */
	DOCA_DEVINFO_REP_FILTER_NET = 2, /**< network representors */
	DOCA_DEVINFO_REP_FILTER_EMULATED = 4, /**< representors of emulated devices */
};

/**
 * doca_devinfo_create_list() - list the devices
 * @dev_list: where the array is put; to be given to doca_devinfo_destroy_list()
 * @nb_devs: where its length is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_NOT_FOUND: there is no device
 */
DOCA_STABLE
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

/**
 * doca_devinfo_destroy_list() - destroy a list; its elements become invalid
 * @dev_list: from doca_devinfo_create_list()
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * doca_devinfo_rep_create_list() - list the representors of a device
 * @dev: the device
 * @filter: of enum doca_devinfo_rep_filter
 * @dev_list_rep: where the array is put
 * @nb_devs_rep: where its length is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not a filter
 * - DOCA_ERROR_NOT_SUPPORTED: always besides; the device has no representors
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep);

/**
 * doca_devinfo_rep_destroy_list() - destroy a list of representors; its elements become invalid
 * @dev_list_rep: from doca_devinfo_rep_create_list()
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no such list
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/**
 * doca_dev_open() - open a device
 * @devinfo: the device
 * @dev: where the open device is put; the same one for everybody who opens it, to be closed as
 *   often as it was opened
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NO_MEMORY: allocation failed, or no protection domain
 * - DOCA_ERROR_NOT_CONNECTED: the device cannot be opened
 * - DOCA_ERROR_INITIALIZATION: too many devices are open
 * - DOCA_ERROR_NOT_SUPPORTED: the element is of doca_dev_as_devinfo() of a device that
 *   doca_rdma_bridge_open_dev_from_pd() made
 */
DOCA_STABLE
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * doca_dev_close() - close a device
 * @dev: the device; invalid after the last close
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_IN_USE: an object that uses the device is left; nothing changed
 */
DOCA_STABLE
doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * doca_dev_accelerate_resource_reclaim() - make a device give back what was freed
 * @dev: the device
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NOT_SUPPORTED: always besides; what is freed goes back to the driver at once
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

/**
 * doca_dev_rep_open() - open a representor
 * @devinfo: the representor
 * @dev_rep: where the open representor is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no representor
 */
DOCA_STABLE
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

/**
 * doca_dev_rep_close() - close a representor
 * @dev: the representor
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no representor
 */
DOCA_STABLE
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/**
 * doca_dev_as_devinfo() - an open device as a list element
 * @dev: the device
 *
 * Return: the element, valid until the last close; NULL for NULL.
 */
DOCA_STABLE
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/**
 * doca_dev_rep_as_devinfo() - an open representor as a list element
 * @dev_rep: the representor
 *
 * Return: NULL, always; there is no representor.
 */
DOCA_STABLE
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/**
 * doca_devinfo_get_pci_addr_str() - the PCI address
 * @devinfo: the device
 * @pci_addr_str: room for DOCA_DEVINFO_PCI_ADDR_SIZE bytes; dddd:bb:dd.f
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_SUPPORTED: the device is no PCI function, as a soft device
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str);

/**
 * doca_devinfo_is_equal_pci_addr() - has the device this PCI address?
 * @devinfo: the device
 * @pci_addr_str: dddd:bb:dd.f or bb:dd.f
 * @is_equal: where 1 or 0 is put; always 0 for a device that is no PCI function
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not an address
 */
DOCA_STABLE
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
					    const char *pci_addr_str, uint8_t *is_equal);

/**
 * doca_devinfo_get_ipv4_addr() - the first IPv4 address
 * @devinfo: the device
 * @ipv4_addr: room for the address, network byte order
 * @size: of the room, DOCA_DEVINFO_IPV4_ADDR_SIZE or more
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not room enough
 * - DOCA_ERROR_NOT_FOUND: it has none
 * - DOCA_ERROR_OPERATING_SYSTEM: the device or a system call failed
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr,
					uint32_t size);

/**
 * doca_devinfo_get_ipv6_addr() - the first IPv6 address
 * @devinfo: the device
 * @ipv6_addr: room for the address, network byte order
 * @size: of the room, DOCA_DEVINFO_IPV6_ADDR_SIZE or more
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not room enough
 * - DOCA_ERROR_NOT_FOUND: it has none
 * - DOCA_ERROR_OPERATING_SYSTEM: the device or a system call failed
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr,
					uint32_t size);

/**
 * doca_devinfo_get_mac_addr() - the Ethernet address
 * @devinfo: the device
 * @mac_addr: room for the address
 * @size: of the room, DOCA_DEVINFO_MAC_ADDR_SIZE or more
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not room enough
 * - DOCA_ERROR_NOT_SUPPORTED: it is not on Ethernet
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr,
				       uint32_t size);

/**
 * doca_devinfo_get_iface_name() - the network interface
 * @devinfo: the device
 * @iface_name: room for the name
 * @size: of the room, DOCA_DEVINFO_IFACE_NAME_SIZE or more
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not room enough
 * - DOCA_ERROR_NOT_FOUND: it has none
 * - DOCA_ERROR_OPERATING_SYSTEM: the device or a system call failed
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
					 uint32_t size);

/**
 * doca_devinfo_get_ibdev_name() - the name that verbs has for the device, such as mlx5_0 or
 * sr_lo
 * @devinfo: the device
 * @ibdev_name: room for the name
 * @size: of the room, DOCA_DEVINFO_IBDEV_NAME_SIZE or more
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or not room enough
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
					 uint32_t size);

/**
 * doca_devinfo_get_lid() - the local identifier of an InfiniBand port
 * @devinfo: the device
 * @lid: where it is put, host byte order
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_DRIVER: the device does not answer
 * - DOCA_ERROR_NOT_SUPPORTED: it is not on InfiniBand
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/**
 * doca_devinfo_get_active_rate() - the rate of the port
 * @devinfo: the device
 * @active_rate: where it is put, in bits a second; 0 if the device names none
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo,
					  uint64_t *active_rate);

/**
 * doca_devinfo_get_vhca_id() - the device's identifier at its firmware
 * @devinfo: the device
 * @vhca_id: where it is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_DRIVER: always besides; verbs does not tell it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id);

/**
 * doca_devinfo_cap_is_hotplug_manager_supported() - can the device plug emulated devices?
 * @devinfo: the device
 * @is_hotplug_manager: where 0 is put: no device here can
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
							   uint8_t *is_hotplug_manager);

/**
 * doca_devinfo_cap_is_notification_moderation_supported() - can the device hold notifications
 * back?
 * @devinfo: the device
 * @is_notification_moderation_supported: where 0 is put: no device here can
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_notification_moderation_supported);

/**
 * doca_devinfo_rep_cap_is_filter_all_supported() - can all representors be listed?
 * @devinfo: the device
 * @filter_all_supported: where 0 is put: no device here can
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_all_supported);

/**
 * doca_devinfo_rep_cap_is_filter_net_supported() - can network representors be listed?
 * @devinfo: the device
 * @filter_net_supported: where 0 is put: no device here can
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_net_supported);

/**
 * doca_devinfo_rep_cap_is_filter_emulated_supported() - can representors of emulated devices be
 * listed?
 * @devinfo: the device
 * @filter_emulated_supported: where 0 is put: no device here can
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
							       uint8_t *filter_emulated_supported);

/**
 * doca_devinfo_cap_is_accelerate_resource_reclaim_supported() - may
 * doca_dev_accelerate_resource_reclaim() be used?
 * @devinfo: the device
 * @is_accelerate_resource_reclaim: where 0 is put: no device here can
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_accelerate_resource_reclaim);

/**
 * doca_devinfo_rep_get_vuid() - the unique identifier of a representor
 * @devinfo_rep: the representor
 * @rep_vuid: room for the text
 * @size: of the room, DOCA_DEVINFO_REP_VUID_SIZE or more
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no representor
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
				       uint32_t size);

/**
 * doca_devinfo_rep_get_pci_addr_str() - the PCI address of what a representor stands for
 * @devinfo_rep: the representor
 * @pci_addr_str: room for DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes; dddd:bb:dd.f
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no representor
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
					       char *pci_addr_str);

/**
 * doca_devinfo_rep_get_pci_func_type() - the kind of function that a representor stands for
 * @devinfo_rep: the representor
 * @pci_func_type: where the kind is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no representor
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
						enum doca_pci_func_type *pci_func_type);

/**
 * doca_devinfo_rep_get_is_hotplug() - does a representor stand for a function that was plugged?
 * @devinfo_rep: the representor
 * @is_hotplug: where 1 or 0 is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no representor
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep,
					     uint8_t *is_hotplug);

/**
 * doca_devinfo_rep_get_iface_name() - the network interface of a representor
 * @devinfo_rep: the representor
 * @iface_name: room for the name
 * @size: of the room, DOCA_DEVINFO_IFACE_NAME_SIZE or more
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no representor
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep,
					     char *iface_name, uint32_t size);

/**
 * doca_devinfo_rep_get_vhca_id() - the identifier at its firmware of what a representor stands
 * for
 * @devinfo_rep: the representor
 * @vhca_id: where it is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no representor
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep,
					  uint16_t *vhca_id);

/**
 * doca_devinfo_rep_is_equal_pci_addr() - has what a representor stands for this PCI address?
 * @devinfo_rep: the representor
 * @pci_addr_str: dddd:bb:dd.f or bb:dd.f
 * @is_equal: where 1 or 0 is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: always; there is no representor
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
						const char *pci_addr_str, uint8_t *is_equal);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEV_H */
