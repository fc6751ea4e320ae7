/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices and their properties, over a libibverbs of two devices that this file makes up: fake_eth0
 * has a PCI function and is on the loopback interface, fake_ib0 is InfiniBand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/dev.h"
#include "core/limits.h"
#include "group.h"

/* Two with properties; the others have a name only. */
static struct ibv_device fake_devices[CORE_MAX_OPEN_DEVS + 1];
static unsigned int num_fakes;
static unsigned int open_contexts, open_pds, open_lists;
static bool fail_open, fail_pd, is_pd_busy, fail_query;

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(num_fakes + 1, sizeof(struct ibv_device *));

	assert_non_null(list);
	for (unsigned int i = 0; i < num_fakes; i++)
		list[i] = &fake_devices[i];
	*n = (int)num_fakes;
	open_lists++;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	open_lists--;
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context = fail_open ? NULL : calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	context->device = device;
	context->num_comp_vectors = 5;
	open_contexts++;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	open_contexts--;
	free(context);
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = fail_pd ? NULL : calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->context = context;
	open_pds++;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	if (is_pd_busy)
		return EBUSY;
	open_pds--;
	free(pd);
	return 0;
}

/* In parentheses: the header has macros of these names. */
int(ibv_query_port)(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)compat;

	if (fail_query || port != 1)
		return EIO;
	attr->gid_tbl_len = 3;
	attr->lid = 77;
	attr->active_speed = 4; /* QDR: 10 Gb/s a lane */
	attr->active_width = 2; /* 4 lanes */
	attr->link_layer = context->device == &fake_devices[0] ? IBV_LINK_LAYER_ETHERNET
							       : IBV_LINK_LAYER_INFINIBAND;
	return 0;
}

/*
 * fake_eth0: an empty row, 127.0.0.9 and ::1 on the loopback interface, which need not have the
 * first. fake_ib0: rows that are on no interface. The others: empty rows.
 */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_bytes)
{
	if (port != 1 || flags || entry_bytes != sizeof(*entry))
		return EINVAL;
	if (index == 0 || context->device > &fake_devices[1])
		return ENODATA;
	*entry = (struct ibv_gid_entry){.gid_index = index, .port_num = port};
	if (context->device != &fake_devices[0]) {
		entry->gid.raw[0] = 0x20;
		entry->gid.raw[15] = (uint8_t)index;
		return 0;
	}
	entry->ndev_ifindex = if_nametoindex("lo");
	if (index == 1)
		memcpy(entry->gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\11", 16);
	else
		entry->gid.raw[15] = 1;
	return 0;
}

static char sysfs[] = "/tmp/dev_test.XXXXXX";

static int group_setup(void **state)
{
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(sysfs));
	snprintf(path, sizeof(path), "%s/device", sysfs);
	assert_int_equal(symlink("../../../0000:3b:00.1", path), 0);
	snprintf(fake_devices[0].name, sizeof(fake_devices[0].name), "fake_eth0");
	snprintf(fake_devices[0].ibdev_path, sizeof(fake_devices[0].ibdev_path), "%s", sysfs);
	snprintf(fake_devices[1].name, sizeof(fake_devices[1].name), "fake_ib0");
	snprintf(fake_devices[1].ibdev_path, sizeof(fake_devices[1].ibdev_path), "/nonexistent");
	for (unsigned int i = 2; i < CORE_MAX_OPEN_DEVS + 1; i++)
		snprintf(fake_devices[i].name, sizeof(fake_devices[i].name), "fake_%u", i);
	return 0;
}

static int group_teardown(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/device", sysfs);
	unlink(path);
	rmdir(sysfs);
	return 0;
}

struct fixture {
	struct doca_devinfo **list;
	uint32_t num;
};

static int setup(void **state)
{
	static struct fixture f;

	num_fakes = 2;
	fail_open = fail_pd = is_pd_busy = fail_query = false;
	assert_int_equal(doca_devinfo_create_list(&f.list, &f.num), DOCA_SUCCESS);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->list)
		assert_int_equal(doca_devinfo_destroy_list(f->list), DOCA_SUCCESS);
	assert_int_equal(open_lists, 0);
	assert_int_equal(open_contexts, 0);
	assert_int_equal(open_pds, 0);
	return 0;
}

static void the_list_has_every_device(void **state)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct fixture *f = *state;

	assert_int_equal(f->num, 2);
	assert_int_equal(doca_devinfo_get_ibdev_name(f->list[1], name, sizeof(name)), DOCA_SUCCESS);
	assert_string_equal(name, "fake_ib0");
	assert_string_equal(doca_priv_devinfo_get_name(f->list[0]), "fake_eth0");
	assert_int_equal(doca_devinfo_get_ibdev_name(f->list[1], name, sizeof(name) - 1),
			 DOCA_ERROR_INVALID_VALUE);
}

static void no_device_is_not_found(void **state)
{
	struct doca_devinfo **list;
	uint32_t num;

	(void)state;
	num_fakes = 0;
	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_devinfo_create_list(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_create_list(&list, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void everybody_opens_the_same_device(void **state)
{
	struct fixture *f = *state;
	struct doca_dev *a, *b;

	assert_int_equal(doca_dev_open(f->list[0], &a), DOCA_SUCCESS);
	assert_int_equal(doca_dev_open(f->list[0], &b), DOCA_SUCCESS);
	assert_ptr_equal(a, b);
	assert_int_equal(open_contexts, 1);
	assert_int_equal(doca_dev_close(a), DOCA_SUCCESS);
	assert_int_equal(open_contexts, 1);
	assert_int_equal(doca_dev_close(b), DOCA_SUCCESS);
	assert_int_equal(open_contexts, 0);
	assert_int_equal(doca_dev_close(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void an_open_device_outlives_the_list(void **state)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct fixture *f = *state;
	struct doca_dev *dev, *again;

	assert_int_equal(doca_dev_open(f->list[1], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_destroy_list(f->list), DOCA_SUCCESS);
	f->list = NULL;
	assert_int_equal(doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(dev), name, sizeof(name)),
			 DOCA_SUCCESS);
	assert_string_equal(name, "fake_ib0");
	assert_string_equal(doca_priv_dev_get_name(dev), "fake_ib0");
	assert_int_equal(doca_dev_open(doca_dev_as_devinfo(dev), &again), DOCA_SUCCESS);
	assert_ptr_equal(again, dev);
	assert_ptr_equal(doca_priv_dev_get_pd(dev)->context, doca_priv_dev_get_verbs(dev));
	assert_null(doca_dev_as_devinfo(NULL));
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

static void open_fails_without_traces(void **state)
{
	struct fixture *f = *state;
	struct doca_dev *dev;

	assert_int_equal(doca_dev_open(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_open(f->list[0], NULL), DOCA_ERROR_INVALID_VALUE);
	fail_open = true;
	assert_int_equal(doca_dev_open(f->list[0], &dev), DOCA_ERROR_NOT_CONNECTED);
	fail_open = false;
	fail_pd = true;
	assert_int_equal(doca_dev_open(f->list[0], &dev), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(open_contexts, 0);
}

static void a_device_in_use_stays_open(void **state)
{
	struct fixture *f = *state;
	struct doca_dev *dev;

	assert_int_equal(doca_dev_open(f->list[0], &dev), DOCA_SUCCESS);
	doca_priv_dev_hold(dev);
	assert_int_equal(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	doca_priv_dev_release(dev);
	is_pd_busy = true;
	assert_int_equal(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	is_pd_busy = false;
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

static void open_devices_are_bounded(void **state)
{
	static struct doca_dev *open[CORE_MAX_OPEN_DEVS];
	struct ibv_context *verbs;
	struct doca_devinfo **list;
	struct doca_dev *dev;
	struct ibv_pd *pd;
	uint32_t num;

	(void)state;
	num_fakes = CORE_MAX_OPEN_DEVS + 1;
	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	for (uint32_t i = 0; i < CORE_MAX_OPEN_DEVS; i++)
		assert_int_equal(doca_dev_open(list[i], &open[i]), DOCA_SUCCESS);
	assert_int_equal(doca_dev_open(list[num - 1], &dev), DOCA_ERROR_INITIALIZATION);
	verbs = ibv_open_device(&fake_devices[0]);
	pd = ibv_alloc_pd(verbs);
	assert_int_equal(doca_priv_dev_open_from_pd(pd, &dev), DOCA_ERROR_INITIALIZATION);
	ibv_dealloc_pd(pd);
	ibv_close_device(verbs);
	/* One that is open already is no further one. */
	assert_int_equal(doca_dev_open(list[7], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	for (uint32_t i = 0; i < CORE_MAX_OPEN_DEVS; i++)
		assert_int_equal(doca_dev_close(open[i]), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
}

static void a_device_from_a_protection_domain(void **state)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_dev *dev, *again, *own;
	struct fixture *f = *state;
	struct ibv_context *verbs = ibv_open_device(&fake_devices[1]);
	struct ibv_pd *pd = ibv_alloc_pd(verbs);

	assert_int_equal(doca_priv_dev_open_from_pd(pd, &dev), DOCA_SUCCESS);
	assert_int_equal(doca_priv_dev_open_from_pd(pd, &again), DOCA_SUCCESS);
	assert_ptr_equal(again, dev);
	assert_ptr_equal(doca_priv_dev_get_pd(dev), pd);
	assert_ptr_equal(doca_priv_dev_get_verbs(dev), verbs);
	assert_int_equal(doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(dev), name, sizeof(name)),
			 DOCA_SUCCESS);
	assert_string_equal(name, "fake_ib0");

	/* It is not the device that the list opens, and cannot be opened by its own element. */
	assert_int_equal(doca_dev_open(doca_dev_as_devinfo(dev), &own), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_dev_open(f->list[1], &own), DOCA_SUCCESS);
	assert_ptr_not_equal(own, dev);
	assert_int_equal(doca_dev_close(own), DOCA_SUCCESS);

	doca_priv_dev_hold(dev);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	doca_priv_dev_release(dev);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	/* The application's objects are left to it. */
	assert_int_equal(open_pds, 1);
	ibv_dealloc_pd(pd);
	ibv_close_device(verbs);
}

static void pci_addresses(void **state)
{
	static const char *const malformed[] = {
		"",	   "3b:00",	   "3b:00.1x",	   "zz:00.1", "0000:3b:00.",
		"3b-00.1", "0000-3b:00.1", "00000:3b:00.1"};
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct fixture *f = *state;
	uint8_t is_equal;

	assert_int_equal(doca_devinfo_get_pci_addr_str(f->list[0], addr), DOCA_SUCCESS);
	assert_string_equal(addr, "0000:3b:00.1");
	assert_int_equal(doca_devinfo_is_equal_pci_addr(f->list[0], "0000:3B:00.1", &is_equal),
			 DOCA_SUCCESS);
	assert_int_equal(is_equal, 1);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(f->list[0], "3b:00.1", &is_equal),
			 DOCA_SUCCESS);
	assert_int_equal(is_equal, 1);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(f->list[0], "3b:00.0", &is_equal),
			 DOCA_SUCCESS);
	assert_int_equal(is_equal, 0);
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		assert_int_equal(doca_devinfo_is_equal_pci_addr(f->list[0], malformed[i],
								&is_equal),
				 DOCA_ERROR_INVALID_VALUE);
}

static void a_device_that_is_no_pci_function(void **state)
{
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct fixture *f = *state;
	uint8_t is_equal = 1;

	assert_int_equal(doca_devinfo_get_pci_addr_str(f->list[1], addr), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(f->list[1], "3b:00.1", &is_equal),
			 DOCA_SUCCESS);
	assert_int_equal(is_equal, 0);
}

static void addresses_and_interface(void **state)
{
	uint8_t ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE], ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
	static const uint8_t zero_mac[DOCA_DEVINFO_MAC_ADDR_SIZE];
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE];
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	struct fixture *f = *state;

	assert_int_equal(doca_devinfo_get_ipv4_addr(f->list[0], ipv4, sizeof(ipv4)), DOCA_SUCCESS);
	assert_memory_equal(ipv4, "\x7f\0\0\11", 4);
	assert_int_equal(doca_devinfo_get_ipv6_addr(f->list[0], ipv6, sizeof(ipv6)), DOCA_SUCCESS);
	assert_memory_equal(ipv6, &in6addr_loopback, 16);
	assert_int_equal(doca_devinfo_get_iface_name(f->list[0], iface, sizeof(iface)),
			 DOCA_SUCCESS);
	assert_string_equal(iface, "lo");
	assert_int_equal(doca_devinfo_get_mac_addr(f->list[0], mac, sizeof(mac)), DOCA_SUCCESS);
	assert_memory_equal(mac, zero_mac, sizeof(mac));

	assert_int_equal(doca_devinfo_get_ipv4_addr(f->list[1], ipv4, sizeof(ipv4)),
			 DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_devinfo_get_iface_name(f->list[1], iface, sizeof(iface)),
			 DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_devinfo_get_mac_addr(f->list[1], mac, sizeof(mac)),
			 DOCA_ERROR_NOT_SUPPORTED);

	fail_query = true;
	assert_int_equal(doca_devinfo_get_ipv4_addr(f->list[0], ipv4, sizeof(ipv4)),
			 DOCA_ERROR_OPERATING_SYSTEM);
	assert_int_equal(doca_devinfo_get_ipv6_addr(f->list[0], ipv6, sizeof(ipv6)),
			 DOCA_ERROR_OPERATING_SYSTEM);
	assert_int_equal(doca_devinfo_get_iface_name(f->list[0], iface, sizeof(iface)),
			 DOCA_ERROR_OPERATING_SYSTEM);
}

static void a_device_without_addresses(void **state)
{
	uint8_t ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE], ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
	struct doca_devinfo **list;
	uint32_t num;

	(void)state;
	num_fakes = 3;
	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_get_ipv4_addr(list[2], ipv4, sizeof(ipv4)),
			 DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_devinfo_get_ipv6_addr(list[2], ipv6, sizeof(ipv6)),
			 DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
}

static void the_interface_that_sysfs_names(void **state)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE], link[64], real[80], net[160];
	struct fixture *f = *state;

	/* <sysfs>/device is a link: give it something to lead to. */
	snprintf(link, sizeof(link), "%s/device", sysfs);
	snprintf(real, sizeof(real), "%s/0000:3b:00.1", sysfs);
	snprintf(net, sizeof(net), "%s/net", real);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(mkdir(real, 0700), 0);
	assert_int_equal(symlink(real, link), 0);
	assert_int_equal(mkdir(net, 0700), 0);
	strncat(net, "/ens1f1np1", sizeof(net) - strlen(net) - 1);
	assert_int_equal(mkdir(net, 0700), 0);
	assert_int_equal(doca_devinfo_get_iface_name(f->list[0], iface, sizeof(iface)),
			 DOCA_SUCCESS);
	assert_string_equal(iface, "ens1f1np1");
	rmdir(net);
	snprintf(net, sizeof(net), "%s/net", real);
	rmdir(net);
	rmdir(real);
}

static void lid_and_rate(void **state)
{
	struct fixture *f = *state;
	uint64_t rate;
	uint16_t lid;

	assert_int_equal(doca_devinfo_get_lid(f->list[0], &lid), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_devinfo_get_lid(f->list[1], &lid), DOCA_SUCCESS);
	assert_int_equal(lid, 77);
	assert_int_equal(doca_devinfo_get_active_rate(f->list[0], &rate), DOCA_SUCCESS);
	assert_true(rate == UINT64_C(40000000000));
	fail_query = true;
	assert_int_equal(doca_devinfo_get_lid(f->list[1], &lid), DOCA_ERROR_DRIVER);
	assert_int_equal(doca_devinfo_get_active_rate(f->list[0], &rate), DOCA_ERROR_DRIVER);
}

static void null_and_little_room_are_invalid(void **state)
{
	uint8_t b[DOCA_DEVINFO_IFACE_NAME_SIZE];
	struct fixture *f = *state;
	struct doca_devinfo *d = f->list[0];
	char *s = (char *)b;

	assert_int_equal(doca_devinfo_get_ibdev_name(NULL, s, 64), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_pci_addr_str(NULL, s), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_pci_addr_str(d, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(d, NULL, b), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(d, "3b:00.1", NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_ipv4_addr(d, b, 3), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_ipv6_addr(d, b, 15), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_mac_addr(d, b, 5), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_iface_name(d, s, 255), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_lid(d, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_active_rate(NULL, (uint64_t[1]){0}),
			 DOCA_ERROR_INVALID_VALUE);
}

/* A capability that no device has: the answer is 0, and is given. */
#define ASSERT_CANNOT(cap, error_of_null)                                  \
	do {                                                               \
		uint8_t answer_ = 1;                                       \
                                                                           \
		assert_int_equal(cap(f->list[0], &answer_), DOCA_SUCCESS); \
		assert_int_equal(answer_, 0);                              \
		assert_int_equal(cap(f->list[0], NULL), error_of_null);    \
		assert_int_equal(cap(NULL, &answer_), error_of_null);      \
	} while (0)

static void what_no_device_here_can_do(void **state)
{
	struct fixture *f = *state;

	ASSERT_CANNOT(doca_devinfo_cap_is_hotplug_manager_supported, DOCA_ERROR_INVALID_VALUE);
	ASSERT_CANNOT(doca_devinfo_cap_is_notification_moderation_supported,
		      DOCA_ERROR_INVALID_VALUE);
	ASSERT_CANNOT(doca_devinfo_cap_is_accelerate_resource_reclaim_supported,
		      DOCA_ERROR_INVALID_VALUE);
	ASSERT_CANNOT(doca_devinfo_rep_cap_is_filter_all_supported, DOCA_ERROR_INVALID_VALUE);
	ASSERT_CANNOT(doca_devinfo_rep_cap_is_filter_net_supported, DOCA_ERROR_INVALID_VALUE);
	ASSERT_CANNOT(doca_devinfo_rep_cap_is_filter_emulated_supported, DOCA_ERROR_INVALID_VALUE);
	ASSERT_CANNOT(doca_mmap_cap_is_export_pci_supported, DOCA_ERROR_INVALID_VALUE);
	ASSERT_CANNOT(doca_mmap_cap_is_create_from_export_pci_supported, DOCA_ERROR_INVALID_VALUE);
}

static void reclaim_and_firmware(void **state)
{
	struct fixture *f = *state;
	struct doca_dev *dev;
	uint16_t id;

	assert_int_equal(doca_dev_open(f->list[0], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_dev_accelerate_resource_reclaim(dev), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_dev_accelerate_resource_reclaim(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_get_vhca_id(f->list[0], &id), DOCA_ERROR_DRIVER);
	assert_int_equal(doca_devinfo_get_vhca_id(NULL, &id), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_vhca_id(f->list[0], NULL), DOCA_ERROR_INVALID_VALUE);
}

static void completion_vectors(void **state)
{
	struct fixture *f = *state;
	uint32_t n;

	assert_int_equal(doca_ctx_cap_get_num_completion_vectors(f->list[0], &n), DOCA_SUCCESS);
	assert_int_equal(n, 5);
	assert_int_equal(doca_ctx_cap_get_num_completion_vectors(NULL, &n),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_cap_get_num_completion_vectors(f->list[0], NULL),
			 DOCA_ERROR_INVALID_VALUE);
	fail_open = true;
	assert_int_equal(doca_ctx_cap_get_num_completion_vectors(f->list[0], &n),
			 DOCA_ERROR_DRIVER);
}

static void a_device_has_no_representors(void **state)
{
	static const int filters[] = {DOCA_DEVINFO_REP_FILTER_ALL, DOCA_DEVINFO_REP_FILTER_NET,
				      DOCA_DEVINFO_REP_FILTER_EMULATED};
	struct fixture *f = *state;
	struct doca_devinfo_rep **list;
	struct doca_dev *dev;
	uint32_t num;

	assert_int_equal(doca_dev_open(f->list[0], &dev), DOCA_SUCCESS);
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		assert_int_equal(doca_devinfo_rep_create_list(dev, filters[i], &list, &num),
				 DOCA_ERROR_NOT_SUPPORTED);
		assert_int_equal(doca_devinfo_rep_create_list(NULL, filters[i], &list, &num),
				 DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_devinfo_rep_create_list(dev, filters[i], NULL, &num),
				 DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_devinfo_rep_create_list(dev, filters[i], &list, NULL),
				 DOCA_ERROR_INVALID_VALUE);
	}
	assert_int_equal(doca_devinfo_rep_create_list(dev, 1, &list, &num),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

/* No list, element or open representor exists: any address stands for one. */
static void whatever_takes_a_representor_refuses(void **state)
{
	struct doca_devinfo_rep *rep = (struct doca_devinfo_rep *)state;
	struct doca_dev_rep *open = (struct doca_dev_rep *)state;
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE];
	enum doca_pci_func_type type;
	uint8_t byte;
	uint16_t id;

	assert_int_equal(doca_devinfo_rep_destroy_list(&rep), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_rep_open(rep, &open), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_rep_close(open), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_dev_rep_as_devinfo(open));
	assert_int_equal(doca_devinfo_rep_get_vuid(rep, text, sizeof(text)),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_get_pci_addr_str(rep, text), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_get_pci_func_type(rep, &type), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_get_is_hotplug(rep, &byte), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_get_iface_name(rep, text, sizeof(text)),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_get_vhca_id(rep, &id), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_is_equal_pci_addr(rep, "3b:00.1", &byte),
			 DOCA_ERROR_INVALID_VALUE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_list_has_every_device),
		TEST(no_device_is_not_found),
		TEST(everybody_opens_the_same_device),
		TEST(an_open_device_outlives_the_list),
		TEST(open_fails_without_traces),
		TEST(a_device_in_use_stays_open),
		TEST(open_devices_are_bounded),
		TEST(a_device_from_a_protection_domain),
		TEST(pci_addresses),
		TEST(a_device_that_is_no_pci_function),
		TEST(addresses_and_interface),
		TEST(a_device_without_addresses),
		TEST(the_interface_that_sysfs_names),
		TEST(lid_and_rate),
		TEST(null_and_little_room_are_invalid),
		TEST(what_no_device_here_can_do),
		TEST(reclaim_and_firmware),
		TEST(completion_vectors),
		TEST(a_device_has_no_representors),
		TEST(whatever_takes_a_representor_refuses),
	};

	return group_run(tests, group_setup, group_teardown);
}
