/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caps_api DEVICE: what doca_caps --json has to say of version, devices and the limits on DEVICE,
 * by the API and verbs alone: "PATH VALUE" a line, the path with dots and numbers from 0.
 */
#include <arpa/inet.h>
#include <doca_dev.h>
#include <doca_sta.h>
#include <doca_version.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* @result has to be DOCA_SUCCESS. */
static void must(const char *what, doca_error_t result)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "caps_api: %s: %s\n", what, doca_error_get_name(result));
	exit(EXIT_FAILURE);
}

static void say(uint32_t device, const char *key, doca_error_t result, const char *text)
{
	printf("devices.%u.%s %s\n", device, key, result == DOCA_SUCCESS ? text : "null");
}

static void say_addresses(uint32_t device, const struct doca_devinfo *devinfo)
{
	char text[INET6_ADDRSTRLEN] = "";
	uint8_t address[16] = {0};
	doca_error_t result = doca_devinfo_get_ipv4_addr(devinfo, address, sizeof(address));

	inet_ntop(AF_INET, address, text, sizeof(text));
	say(device, "ipv4_addr", result, text);
	result = doca_devinfo_get_ipv6_addr(devinfo, address, sizeof(address));
	inet_ntop(AF_INET6, address, text, sizeof(text));
	say(device, "ipv6_addr", result, text);
	result = doca_devinfo_get_mac_addr(devinfo, address, sizeof(address));
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", address[0], address[1],
		 address[2], address[3], address[4], address[5]);
	say(device, "mac_addr", result, text);
}

static void say_gids(uint32_t device, struct ibv_context *verbs, const struct ibv_port_attr *attr)
{
	struct ibv_gid_entry entries[64];
	ssize_t count = ibv_query_gid_table(verbs, entries, 64, 0);

	printf("devices.%u.gid_table_size %d\n", device, attr->gid_tbl_len);
	for (ssize_t i = 0; i < count; i++) {
		char text[INET6_ADDRSTRLEN];

		inet_ntop(AF_INET6, entries[i].gid.raw, text, sizeof(text));
		printf("devices.%u.gids.%zd.gid %s\n", device, i, text);
		printf("devices.%u.gids.%zd.index %u\n", device, i, entries[i].gid_index);
		printf("devices.%u.gids.%zd.type RoCE v2\n", device, i);
	}
}

static void say_port(uint32_t device, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *verbs = NULL;
	struct ibv_port_attr attr;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			verbs = ibv_open_device(list[i]);
	if (!verbs || ibv_query_port(verbs, 1, &attr))
		exit(EXIT_FAILURE);
	printf("devices.%u.link_state %s\n", device,
	       attr.state == IBV_PORT_ACTIVE ? "active" : "down");
	printf("devices.%u.link_layer Ethernet\n", device);
	printf("devices.%u.active_mtu_bytes %d\n", device, 128 << attr.active_mtu);
	printf("devices.%u.max_mtu_bytes %d\n", device, 128 << attr.max_mtu);
	say_gids(device, verbs, &attr);
	ibv_close_device(verbs);
	ibv_free_device_list(list);
}

static void say_device(uint32_t device, const struct doca_devinfo *devinfo)
{
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	doca_error_t supported = doca_sta_cap_is_supported(devinfo);
	uint64_t rate;

	must("ibdev", doca_devinfo_get_ibdev_name(devinfo, ibdev, sizeof(ibdev)));
	say(device, "ibdev_name", DOCA_SUCCESS, ibdev);
	say(device, "iface_name", doca_devinfo_get_iface_name(devinfo, iface, sizeof(iface)),
	    iface);
	say(device, "pci_addr", doca_devinfo_get_pci_addr_str(devinfo, pci), pci);
	say_addresses(device, devinfo);
	say_port(device, ibdev);
	must("rate", doca_devinfo_get_active_rate(devinfo, &rate));
	printf("devices.%u.active_rate_bits_per_s %" PRIu64 "\n", device, rate);
	printf("devices.%u.sta.is_supported %s\n", device, supported ? "false" : "true");
	say(device, "sta.error", !supported, doca_error_get_name(supported));
}

static void say_limit(const char *name, doca_error_t result, uint32_t value)
{
	must(name, result);
	printf("caps.capabilities.%s.value %u\n", name, value);
	printf("caps.capabilities.%s.error null\n", name);
}

#define SAY(name)                                                  \
	do {                                                       \
		uint32_t value;                                    \
		doca_error_t result = doca_sta_get_##name(&value); \
		say_limit(#name, result, value);                   \
	} while (0)
#define SAY_OF(sta, type, name)                                         \
	do {                                                            \
		type value;                                             \
		doca_error_t result = doca_sta_get_##name(sta, &value); \
		say_limit(#name, result, value);                        \
	} while (0)

static void say_limits(struct doca_devinfo *devinfo)
{
	struct doca_dev *dev;
	struct doca_sta *sta;

	must("open", doca_dev_open(devinfo, &dev));
	must("create", doca_sta_create(dev, &sta));
	SAY(max_devs);
	SAY(max_subsys);
	SAY(max_ns_per_subs);
	SAY(max_qps);
	SAY(max_io_threads);
	SAY(max_io_size);
	SAY(min_ioccsz);
	SAY(max_ioccsz);
	SAY(min_iorcsz);
	SAY(max_iorcsz);
	SAY(max_icdoff);
	SAY(max_be);
	SAY(max_qs_per_be);
	SAY_OF(sta, uint16_t, max_sta_io);
	SAY_OF(sta, uint32_t, max_num_eus_available);
	SAY_OF(sta, uint32_t, max_num_connected_qp_per_eu);
	SAY_OF(sta, uint32_t, max_io_num_per_dev);
	SAY_OF(sta, uint32_t, max_io_queue_size);
	must("destroy", doca_sta_destroy(sta));
	must("close", doca_dev_close(dev));
}

int main(int argc, char **argv)
{
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t count;

	if (argc != 2)
		return EXIT_FAILURE;
	printf("version.runtime %s\n", doca_version_runtime());
	printf("version.headers %s\n", DOCA_VERSION_STRING);
	must("list", doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count; i++) {
		say_device(i, list[i]);
		must("ibdev", doca_devinfo_get_ibdev_name(list[i], ibdev, sizeof(ibdev)));
		if (!strcmp(ibdev, argv[1]))
			say_limits(list[i]);
	}
	must("free", doca_devinfo_destroy_list(list));
	return EXIT_SUCCESS;
}
