/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of a device: its names, and what verbs, sysfs and the network interface beneath it
 * say. A soft device has no PCI function.
 */
#include "core/devinfo.h"

#include <dirent.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/dev.h"

#define PCI_DOMAIN_CHARS 5 /* "0000:" */

const char *doca_priv_devinfo_get_name(const struct doca_devinfo *devinfo)
{
	return devinfo->name;
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
					 uint32_t size)
{
	if (!devinfo || !ibdev_name || size < DOCA_DEVINFO_IBDEV_NAME_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(ibdev_name, devinfo->name, sizeof(devinfo->name));
	return DOCA_SUCCESS;
}

/* The PCI function is the last part of what <sysfs>/device links to. False if there is none. */
static bool devinfo_read_pci_addr(const struct doca_devinfo *devinfo,
				  char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE])
{
	char path[IBV_SYSFS_PATH_MAX + 8];
	char target[256];
	unsigned int domain, bus, dev, func;
	const char *last;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/device", devinfo->sysfs_path);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	last = last ? last + 1 : target;
	if (sscanf(last, "%4x:%2x:%2x.%1x", &domain, &bus, &dev, &func) != 4)
		return false;
	snprintf(pci_addr, DOCA_DEVINFO_PCI_ADDR_SIZE, "%04x:%02x:%02x.%x", domain & 0xffff,
		 bus & 0xff, dev & 0xff, func & 0xf);
	return true;
}

doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];

	if (!devinfo || !pci_addr_str)
		return DOCA_ERROR_INVALID_VALUE;
	if (!devinfo_read_pci_addr(devinfo, pci_addr))
		return DOCA_ERROR_NOT_SUPPORTED;
	memcpy(pci_addr_str, pci_addr, sizeof(pci_addr));
	return DOCA_SUCCESS;
}

/* Is it dddd:bb:dd.f or bb:dd.f, and nothing behind it? */
static bool pci_addr_is_valid(const char *text)
{
	unsigned int v;
	int end = 0;

	if (strlen(text) == DOCA_DEVINFO_PCI_ADDR_SIZE - 1) {
		if (sscanf(text, "%4x:%n", &v, &end) != 1 || end != PCI_DOMAIN_CHARS)
			return false;
		text += PCI_DOMAIN_CHARS;
	}
	end = 0;
	return strlen(text) == DOCA_DEVINFO_PCI_BDF_SIZE - 1 &&
	       sscanf(text, "%2x:%2x.%1x%n", &v, &v, &v, &end) == 3 &&
	       end == DOCA_DEVINFO_PCI_BDF_SIZE - 1;
}

doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
					    const char *pci_addr_str, uint8_t *is_equal)
{
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	const char *own = pci_addr;

	if (!devinfo || !pci_addr_str || !is_equal || !pci_addr_is_valid(pci_addr_str))
		return DOCA_ERROR_INVALID_VALUE;
	if (!devinfo_read_pci_addr(devinfo, pci_addr)) {
		/* No PCI function: equal to no address, so that a search goes on. */
		*is_equal = 0;
		return DOCA_SUCCESS;
	}
	if (strlen(pci_addr_str) < DOCA_DEVINFO_PCI_ADDR_SIZE - 1)
		own += PCI_DOMAIN_CHARS;
	*is_equal = !strcasecmp(own, pci_addr_str);
	return DOCA_SUCCESS;
}

/* The port's attributes, and its GIDs as far as there is room. Every device here has port 1. */
static doca_error_t devinfo_query_port(const struct doca_devinfo *devinfo,
				       struct ibv_port_attr *attr, struct ibv_gid_entry *gids,
				       int max_gids, int *num_gids)
{
	struct ibv_context *verbs = ibv_open_device(devinfo->ibdev);
	doca_error_t result = DOCA_SUCCESS;

	if (!verbs)
		return DOCA_ERROR_DRIVER;
	*num_gids = 0;
	if (ibv_query_port(verbs, 1, attr)) {
		result = DOCA_ERROR_DRIVER;
		goto out_close;
	}
	for (int i = 0; i < attr->gid_tbl_len && *num_gids < max_gids; i++) {
		/* An empty row is an error. */
		if (!ibv_query_gid_ex(verbs, 1, (uint32_t)i, &gids[*num_gids], 0))
			(*num_gids)++;
	}
out_close:
	ibv_close_device(verbs);
	return result;
}

/* A GID is an IPv6 address, or an IPv4 one in its mapped form. */
static bool gid_is_ipv4(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid->raw);
}

#define DEVINFO_MAX_GIDS 64

static doca_error_t devinfo_get_gid(const struct doca_devinfo *devinfo, bool is_ipv4,
				    union ibv_gid *gid)
{
	struct ibv_gid_entry gids[DEVINFO_MAX_GIDS];
	struct ibv_port_attr attr;
	doca_error_t result;
	int n;

	result = devinfo_query_port(devinfo, &attr, gids, DEVINFO_MAX_GIDS, &n);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_OPERATING_SYSTEM;
	for (int i = 0; i < n; i++) {
		if (gid_is_ipv4(&gids[i].gid) == is_ipv4) {
			*gid = gids[i].gid;
			return DOCA_SUCCESS;
		}
	}
	return DOCA_ERROR_NOT_FOUND;
}

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr,
					uint32_t size)
{
	union ibv_gid gid;
	doca_error_t result;

	if (!devinfo || !ipv4_addr || size < DOCA_DEVINFO_IPV4_ADDR_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	result = devinfo_get_gid(devinfo, true, &gid);
	if (result == DOCA_SUCCESS)
		memcpy(ipv4_addr, gid.raw + 12, DOCA_DEVINFO_IPV4_ADDR_SIZE);
	return result;
}

doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr,
					uint32_t size)
{
	union ibv_gid gid;
	doca_error_t result;

	if (!devinfo || !ipv6_addr || size < DOCA_DEVINFO_IPV6_ADDR_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	result = devinfo_get_gid(devinfo, false, &gid);
	if (result == DOCA_SUCCESS)
		memcpy(ipv6_addr, gid.raw, DOCA_DEVINFO_IPV6_ADDR_SIZE);
	return result;
}

/* The interface that sysfs names below a hardware device. */
static bool devinfo_iface_from_sysfs(const struct doca_devinfo *devinfo, char name[IF_NAMESIZE])
{
	char path[IBV_SYSFS_PATH_MAX + 16];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/device/net", devinfo->sysfs_path);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= IF_NAMESIZE)
			continue;
		memcpy(name, entry->d_name, strlen(entry->d_name) + 1);
		found = true;
	}
	closedir(dir);
	return found;
}

/*
 * The interface of the device's first GID that has one. Not the one with the device's address: a
 * soft device on the loopback interface may have 127.0.0.2, which is nobody's.
 */
static doca_error_t devinfo_iface_from_gids(const struct doca_devinfo *devinfo,
					    char name[IF_NAMESIZE])
{
	struct ibv_gid_entry gids[DEVINFO_MAX_GIDS];
	struct ibv_port_attr attr;
	int n;

	if (devinfo_query_port(devinfo, &attr, gids, DEVINFO_MAX_GIDS, &n) != DOCA_SUCCESS)
		return DOCA_ERROR_OPERATING_SYSTEM;
	for (int i = 0; i < n; i++)
		if (gids[i].ndev_ifindex && if_indextoname(gids[i].ndev_ifindex, name))
			return DOCA_SUCCESS;
	return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t devinfo_get_iface(const struct doca_devinfo *devinfo, char name[IF_NAMESIZE])
{
	if (devinfo_iface_from_sysfs(devinfo, name))
		return DOCA_SUCCESS;
	return devinfo_iface_from_gids(devinfo, name);
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
					 uint32_t size)
{
	char name[IF_NAMESIZE];
	doca_error_t result;

	if (!devinfo || !iface_name || size < DOCA_DEVINFO_IFACE_NAME_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	result = devinfo_get_iface(devinfo, name);
	if (result == DOCA_SUCCESS)
		memcpy(iface_name, name, sizeof(name));
	return result;
}

doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr,
				       uint32_t size)
{
	doca_error_t result = DOCA_ERROR_NOT_SUPPORTED;
	char name[IF_NAMESIZE];
	struct ifaddrs *addrs;

	if (!devinfo || !mac_addr || size < DOCA_DEVINFO_MAC_ADDR_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	if (devinfo_get_iface(devinfo, name) != DOCA_SUCCESS || getifaddrs(&addrs))
		return DOCA_ERROR_NOT_SUPPORTED;
	for (struct ifaddrs *a = addrs; a; a = a->ifa_next) {
		const struct sockaddr_ll *ll = (const struct sockaddr_ll *)a->ifa_addr;

		if (!ll || ll->sll_family != AF_PACKET || strcmp(a->ifa_name, name))
			continue;
		if (ll->sll_hatype == ARPHRD_ETHER || ll->sll_hatype == ARPHRD_LOOPBACK) {
			memcpy(mac_addr, ll->sll_addr, DOCA_DEVINFO_MAC_ADDR_SIZE);
			result = DOCA_SUCCESS;
		}
		break;
	}
	freeifaddrs(addrs);
	return result;
}

doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid)
{
	struct ibv_port_attr attr;
	doca_error_t result;
	int n;

	if (!devinfo || !lid)
		return DOCA_ERROR_INVALID_VALUE;
	result = devinfo_query_port(devinfo, &attr, NULL, 0, &n);
	if (result != DOCA_SUCCESS)
		return result;
	if (attr.link_layer != IBV_LINK_LAYER_INFINIBAND)
		return DOCA_ERROR_NOT_SUPPORTED;
	*lid = attr.lid;
	return DOCA_SUCCESS;
}

/* ibv_port_attr.active_speed and .active_width are bit masks with one bit set (IBA 14.2.5.6). */
static uint64_t port_rate_bps(const struct ibv_port_attr *attr)
{
	static const uint64_t lane_mbps[] = {2500, 5000, 10000, 10000, 14062, 25781, 50000, 100000};
	static const unsigned int lanes[] = {1, 4, 8, 12, 2};
	int speed = __builtin_ffs(attr->active_speed) - 1;
	int width = __builtin_ffs(attr->active_width) - 1;

	if (speed < 0 || speed >= (int)(sizeof(lane_mbps) / sizeof(lane_mbps[0])) || width < 0 ||
	    width >= (int)(sizeof(lanes) / sizeof(lanes[0])))
		return 0;
	return lane_mbps[speed] * lanes[width] * 1000000;
}

doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, uint64_t *active_rate)
{
	struct ibv_port_attr attr;
	doca_error_t result;
	int n;

	if (!devinfo || !active_rate)
		return DOCA_ERROR_INVALID_VALUE;
	result = devinfo_query_port(devinfo, &attr, NULL, 0, &n);
	if (result == DOCA_SUCCESS)
		*active_rate = port_rate_bps(&attr);
	return result;
}

doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo,
						     uint32_t *num_comp_vectors)
{
	struct ibv_context *verbs;

	if (!devinfo || !num_comp_vectors)
		return DOCA_ERROR_INVALID_VALUE;
	verbs = ibv_open_device(devinfo->ibdev);
	if (!verbs)
		return DOCA_ERROR_DRIVER;
	*num_comp_vectors = verbs->num_comp_vectors > 0 ? (uint32_t)verbs->num_comp_vectors : 0;
	ibv_close_device(verbs);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id)
{
	/* Verbs has no word for it. */
	return devinfo && vhca_id ? DOCA_ERROR_DRIVER : DOCA_ERROR_INVALID_VALUE;
}

/* What no device here can do: the question has an answer, and it is no. */
static doca_error_t devinfo_cannot(const struct doca_devinfo *devinfo, uint8_t *is_supported)
{
	if (!devinfo || !is_supported)
		return DOCA_ERROR_INVALID_VALUE;
	*is_supported = 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
							   uint8_t *is_hotplug_manager)
{
	return devinfo_cannot(devinfo, is_hotplug_manager);
}

doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_notification_moderation_supported)
{
	return devinfo_cannot(devinfo, is_notification_moderation_supported);
}

doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_accelerate_resource_reclaim)
{
	return devinfo_cannot(devinfo, is_accelerate_resource_reclaim);
}

doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_all_supported)
{
	return devinfo_cannot(devinfo, filter_all_supported);
}

doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_net_supported)
{
	return devinfo_cannot(devinfo, filter_net_supported);
}

doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
							       uint8_t *filter_emulated_supported)
{
	return devinfo_cannot(devinfo, filter_emulated_supported);
}

doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
						   uint8_t *mmap_export)
{
	return devinfo_cannot(devinfo, mmap_export);
}

doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *from_export)
{
	return devinfo_cannot(devinfo, from_export);
}
