/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of devices. Names and addresses are what doca_dev.h gives; port and GIDs, which it does
 * not give, come from verbs, through the protection domain of the open device. The port is number
 * 1, as for all of DOCA here.
 */
#include "caps.h"

#include <arpa/inet.h>
#include <doca_rdma_bridge.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PORT 1

/* ---- list and search ---- */

int caps_devs_get(struct caps_devs *devs, struct caps_error *error)
{
	*devs = (struct caps_devs){0};
	error->code = doca_devinfo_create_list(&devs->list, &devs->count);
	if (error->code == DOCA_SUCCESS || error->code == DOCA_ERROR_NOT_FOUND)
		return 0;
	snprintf(error->text, sizeof(error->text), "the devices cannot be listed: %s",
		 doca_error_get_descr(error->code));
	return -1;
}

void caps_devs_put(struct caps_devs *devs)
{
	if (devs->list)
		(void)doca_devinfo_destroy_list(devs->list);
	*devs = (struct caps_devs){0};
}

/* Both are empty if there is none. */
static void get_names(const struct doca_devinfo *devinfo, char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE],
		      char iface[DOCA_DEVINFO_IFACE_NAME_SIZE])
{
	if (doca_devinfo_get_ibdev_name(devinfo, ibdev, DOCA_DEVINFO_IBDEV_NAME_SIZE))
		ibdev[0] = '\0';
	if (doca_devinfo_get_iface_name(devinfo, iface, DOCA_DEVINFO_IFACE_NAME_SIZE))
		iface[0] = '\0';
}

/* Append ", NAME (INTERFACE)", as far as there is room. */
static void append_name(char *text, size_t size, const struct doca_devinfo *devinfo)
{
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	size_t used = strlen(text);

	get_names(devinfo, ibdev, iface);
	snprintf(text + used, size - used, iface[0] ? "%s%s (%s)" : "%s%s", used ? ", " : "", ibdev,
		 iface);
}

static void no_such_device(const struct caps_devs *devs, const char *name, struct caps_error *error)
{
	char names[sizeof(error->text) - 200] = "";

	error->code = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < devs->count; i++)
		append_name(names, sizeof(names), devs->list[i]);
	snprintf(error->text, sizeof(error->text), "no device '%.100s'; there %s %s", name,
		 devs->count > 1 ? "are" : "is", devs->count ? names : "none, see softroce(7)");
}

struct doca_devinfo *caps_devs_find(const struct caps_devs *devs, const char *name,
				    struct caps_error *error)
{
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	char names[sizeof(error->text) - 200] = "";
	struct doca_devinfo *found = NULL;
	unsigned int matches = 0;

	for (uint32_t i = 0; i < devs->count; i++) {
		struct doca_devinfo *devinfo = devs->list[i];
		uint8_t is_pci = 0;

		get_names(devinfo, ibdev, iface);
		if (!strcmp(ibdev, name))
			return devinfo;
		/* What is no PCI address is an error, and leaves is_pci alone. */
		(void)doca_devinfo_is_equal_pci_addr(devinfo, name, &is_pci);
		if (!is_pci && (!iface[0] || strcmp(iface, name) != 0))
			continue;
		found = devinfo;
		matches++;
		append_name(names, sizeof(names), devinfo);
	}
	if (!matches)
		no_such_device(devs, name, error);
	if (matches < 2)
		return found;
	error->code = DOCA_ERROR_INVALID_VALUE;
	snprintf(error->text, sizeof(error->text), "'%.100s' has several devices, name one: %s",
		 name, names);
	return NULL;
}

/* ---- properties ---- */

/* A string, or null if the call before gave an error. */
static void add_text(struct json_object *object, const char *key, doca_error_t result,
		     const char *text)
{
	json_object_object_add(object, key,
			       result == DOCA_SUCCESS ? json_object_new_string(text) : NULL);
}

static void add_names(struct json_object *object, const struct doca_devinfo *devinfo)
{
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	doca_error_t result = doca_devinfo_get_pci_addr_str(devinfo, pci);

	add_text(object, "pci_addr", result, pci);
	result = doca_devinfo_get_ibdev_name(devinfo, ibdev, sizeof(ibdev));
	add_text(object, "ibdev_name", result, ibdev);
	result = doca_devinfo_get_iface_name(devinfo, iface, sizeof(iface));
	add_text(object, "iface_name", result, iface);
}

static void add_addresses(struct json_object *object, const struct doca_devinfo *devinfo)
{
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE] = {0}, ip[DOCA_DEVINFO_IPV6_ADDR_SIZE];
	char text[INET6_ADDRSTRLEN] = "";
	doca_error_t result = doca_devinfo_get_mac_addr(devinfo, mac, sizeof(mac));

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	add_text(object, "mac_addr", result, text);
	result = doca_devinfo_get_ipv4_addr(devinfo, ip, sizeof(ip));
	if (result == DOCA_SUCCESS)
		inet_ntop(AF_INET, ip, text, sizeof(text));
	add_text(object, "ipv4_addr", result, text);
	result = doca_devinfo_get_ipv6_addr(devinfo, ip, sizeof(ip));
	if (result == DOCA_SUCCESS)
		inet_ntop(AF_INET6, ip, text, sizeof(text));
	add_text(object, "ipv6_addr", result, text);
}

/* ---- port and GIDs ---- */

static const char *state_name(enum ibv_port_state state)
{
	static const char *const names[] = {
		[IBV_PORT_NOP] = "nop",	      [IBV_PORT_DOWN] = "down",
		[IBV_PORT_INIT] = "init",     [IBV_PORT_ARMED] = "armed",
		[IBV_PORT_ACTIVE] = "active", [IBV_PORT_ACTIVE_DEFER] = "active-defer",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

static const char *link_layer_name(uint8_t link_layer)
{
	if (link_layer == IBV_LINK_LAYER_ETHERNET)
		return "Ethernet";
	/* Drivers older than the field leave it alone. */
	return link_layer == IBV_LINK_LAYER_INFINIBAND || link_layer == IBV_LINK_LAYER_UNSPECIFIED
		       ? "InfiniBand"
		       : "unknown";
}

static int mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << mtu : 0;
}

static const char *gid_type_name(uint32_t type)
{
	static const char *const names[] = {
		[IBV_GID_TYPE_IB] = "InfiniBand",
		[IBV_GID_TYPE_ROCE_V1] = "RoCE v1",
		[IBV_GID_TYPE_ROCE_V2] = "RoCE v2",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}

/* The entries that are in use. */
static struct json_object *read_gids(struct ibv_context *verbs, int table_size)
{
	struct json_object *gids = json_object_new_array();

	for (int i = 0; i < table_size; i++) {
		struct json_object *gid;
		struct ibv_gid_entry entry;
		char text[INET6_ADDRSTRLEN];

		if (ibv_query_gid_ex(verbs, PORT, (uint32_t)i, &entry, 0))
			continue;
		inet_ntop(AF_INET6, entry.gid.raw, text, sizeof(text));
		gid = json_object_new_object();
		json_object_object_add(gid, "index", json_object_new_int(i));
		json_object_object_add(gid, "gid", json_object_new_string(text));
		json_object_object_add(gid, "type",
				       json_object_new_string(gid_type_name(entry.gid_type)));
		json_object_array_add(gids, gid);
	}
	return gids;
}

/* All of it null if the device cannot be opened, or does not answer. */
static void add_port(struct json_object *object, struct doca_devinfo *devinfo)
{
	struct json_object *state = NULL, *layer = NULL, *active = NULL, *max = NULL, *size = NULL,
			   *gids = NULL;
	struct doca_dev *dev = NULL;
	struct ibv_port_attr attr;
	struct ibv_pd *pd;

	if (doca_dev_open(devinfo, &dev) == DOCA_SUCCESS &&
	    doca_rdma_bridge_get_dev_pd(dev, &pd) == DOCA_SUCCESS &&
	    !ibv_query_port(pd->context, PORT, &attr)) {
		state = json_object_new_string(state_name(attr.state));
		layer = json_object_new_string(link_layer_name(attr.link_layer));
		active = json_object_new_int(mtu_bytes(attr.active_mtu));
		max = json_object_new_int(mtu_bytes(attr.max_mtu));
		size = json_object_new_int(attr.gid_tbl_len);
		gids = read_gids(pd->context, attr.gid_tbl_len);
	}
	json_object_object_add(object, "link_state", state);
	json_object_object_add(object, "link_layer", layer);
	json_object_object_add(object, "active_mtu_bytes", active);
	json_object_object_add(object, "max_mtu_bytes", max);
	json_object_object_add(object, "gid_table_size", size);
	json_object_object_add(object, "gids", gids);
	if (dev)
		(void)doca_dev_close(dev);
}

static void add_rate(struct json_object *object, const struct doca_devinfo *devinfo)
{
	struct json_object *rate = NULL;
	uint64_t bits_per_s;

	if (doca_devinfo_get_active_rate(devinfo, &bits_per_s) == DOCA_SUCCESS && bits_per_s)
		rate = json_object_new_uint64(bits_per_s);
	json_object_object_add(object, "active_rate_bits_per_s", rate);
}

struct json_object *caps_devinfo_describe(struct doca_devinfo *devinfo)
{
	struct json_object *object = json_object_new_object();

	add_names(object, devinfo);
	add_addresses(object, devinfo);
	add_port(object, devinfo);
	add_rate(object, devinfo);
	json_object_object_add(object, "sta", caps_sta_support(devinfo));
	return object;
}
