/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI functions out of a sysfs made here: addresses, lists, groups, and what binding writes.
 */
#include "fixture.h"

#include "nvme/pci.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char sysfs[64];

/* ---- a machine ---------------------------------------------------------------------------- */

static void make_dirs(const char *path)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s/%s", sysfs, path);
	for (char *p = part + strlen(sysfs) + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			if (mkdir(part, 0755))
				assert_int_equal(errno, EEXIST);
			*p = '/';
		}
	if (mkdir(part, 0755))
		assert_int_equal(errno, EEXIST);
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", sysfs, dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void point(const char *dir, const char *name, const char *to)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", sysfs, dir, name);
	(void)unlink(path);
	assert_int_equal(symlink(to, path), 0);
}

static const char *get(const char *dir, const char *name)
{
	static char text[128];
	char path[PATH_MAX];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s/%s", sysfs, dir, name);
	file = fopen(path, "r");
	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	return text;
}

static void add_function(const char *bdf, const char *class_code, const char *driver, int group)
{
	char dir[128], to[128], devices[64];

	snprintf(dir, sizeof(dir), "bus/pci/devices/%s", bdf);
	make_dirs(dir);
	put(dir, "vendor", "0x1b36\n");
	put(dir, "device", "0x0010\n");
	put(dir, "class", class_code);
	put(dir, "numa_node", "-1\n");
	put(dir, "driver_override", "(null)\n");
	if (driver) {
		snprintf(to, sizeof(to), "bus/pci/drivers/%s", driver);
		make_dirs(to);
		put(to, "unbind", "");
		snprintf(to, sizeof(to), "../../drivers/%s", driver);
		point(dir, "driver", to);
	}
	if (group < 0)
		return;
	snprintf(devices, sizeof(devices), "kernel/iommu_groups/%d/devices", group);
	make_dirs(devices);
	snprintf(to, sizeof(to), "../../../kernel/iommu_groups/%d", group);
	point(dir, "iommu_group", to);
	snprintf(to, sizeof(to), "../../../../bus/pci/devices/%s", bdf);
	point(devices, bdf, to);
}

static int setup(void **state)
{
	(void)state;
	snprintf(sysfs, sizeof(sysfs), "%s", "/tmp/softsta-pci.XXXXXX");
	assert_non_null(mkdtemp(sysfs));
	make_dirs("bus/pci/devices");
	make_dirs("bus/pci/drivers");
	put("bus/pci", "drivers_probe", "");
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(sysfs, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void addresses(void **state)
{
	static const struct {
		const char *text, *bdf;
	} good[] = {
		{"0000:01:00.0", "0000:01:00.0"}, {"01:00.0", "0000:01:00.0"},
		{"0000:AB:1f.7", "0000:ab:1f.7"}, {"10000:e1:00.0", "10000:e1:00.0"},
		{"1:2.3", "0000:01:02.3"},
	};
	static const char *const bad[] = {
		"",
		"0000:01:00",
		"01:00.8",
		"01:20.0",
		"0000:01:00.0 ",
		" 01:00.0",
		"+1:00.0",
		"0x1:00.0",
		"nvme0",
		"0000:01:00.0.0",
		"0000:1000:00.0",
		"123456789:01:00.0",
		"01:00.0\n",
		"0000:01:00.00",
	};
	char bdf[NV_PCI_BDF_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(nv_pci_parse(good[i].text, bdf));
		assert_string_equal(bdf, good[i].bdf);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(nv_pci_parse(bad[i], bdf));
}

static void a_function_is_read(void **state)
{
	struct nv_err err;
	struct nv_pci pci;

	(void)state;
	add_function("0000:01:00.0", "0x010802\n", "nvme", 7);
	assert_int_equal(nv_pci_read(sysfs, "01:00.0", &pci, &err), 0);
	assert_string_equal(pci.bdf, "0000:01:00.0");
	assert_int_equal(pci.vendor, 0x1b36);
	assert_int_equal(pci.device, 0x10);
	assert_int_equal(pci.class_code, NV_PCI_CLASS_NVME);
	assert_string_equal(pci.driver, "nvme");
	assert_int_equal(pci.iommu_group, 7);
	assert_int_equal(pci.numa_node, -1);
	add_function("0000:02:00.0", "0x010802\n", NULL, -1);
	assert_int_equal(nv_pci_read(sysfs, "0000:02:00.0", &pci, &err), 0);
	assert_string_equal(pci.driver, "");
	assert_int_equal(pci.iommu_group, -1);
	assert_int_equal(nv_pci_read(sysfs, "0000:03:00.0", &pci, &err), -ENODEV);
	assert_non_null(strstr(err.text, "0000:03:00.0"));
	assert_int_equal(nv_pci_read(sysfs, "nvme0n1", &pci, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nvme0n1"));
}

static void drives_are_listed_in_order(void **state)
{
	struct nv_pci list[2];
	struct nv_err err;

	(void)state;
	assert_int_equal(nv_pci_list(sysfs, list, 2, &err), 0);
	add_function("0000:05:00.0", "0x010802\n", "nvme", 1);
	add_function("0000:01:00.0", "0x010802\n", "vfio-pci", 2);
	add_function("0000:02:00.0", "0x020000\n", "mlx5_core", 3);
	add_function("0000:03:00.0", "0x010800\n", "other", 3);
	add_function("0000:04:00.0", "0x010802\n", NULL, 4);
	assert_int_equal(nv_pci_list(sysfs, list, 2, &err), 3);
	assert_string_equal(list[0].bdf, "0000:01:00.0");
	assert_string_equal(list[1].bdf, "0000:04:00.0");
	assert_int_equal(nv_pci_list("/nonexistent", list, 2, &err), 0);
}

static void a_group_with_another_driver_is_not_free(void **state)
{
	struct nv_pci pci, other;

	(void)state;
	add_function("0000:01:00.0", "0x010802\n", "vfio-pci", 9);
	add_function("0000:00:1c.0", "0x060400\n", "pcieport", 9);
	add_function("0000:01:00.1", "0x010802\n", NULL, 9);
	assert_int_equal(nv_pci_read(sysfs, "01:00.0", &pci, NULL), 0);
	assert_false(nv_pci_group_blocker(sysfs, &pci, &other));
	add_function("0000:01:00.2", "0x020000\n", "e1000e", 9);
	assert_true(nv_pci_group_blocker(sysfs, &pci, &other));
	assert_string_equal(other.bdf, "0000:01:00.2");
	assert_string_equal(other.driver, "e1000e");
}

static void binding_writes_what_the_kernel_wants(void **state)
{
	struct nv_err err;
	struct nv_pci pci;

	(void)state;
	add_function("0000:01:00.0", "0x010802\n", "nvme", 1);
	assert_int_equal(nv_pci_read(sysfs, "01:00.0", &pci, &err), 0);
	assert_int_equal(nv_pci_bind(sysfs, &pci, "vfio-pci", &err), -ENOENT);
	assert_non_null(strstr(err.text, "modprobe vfio-pci"));
	assert_string_equal(get("bus/pci/drivers/nvme", "unbind"), "");

	/* Nobody here takes the function over, as with a driver that refuses it. */
	make_dirs("bus/pci/drivers/vfio-pci");
	assert_int_equal(nv_pci_bind(sysfs, &pci, "vfio-pci", &err), -EBUSY);
	assert_string_equal(get("bus/pci/devices/0000:01:00.0", "driver_override"), "vfio-pci");
	assert_string_equal(get("bus/pci/drivers/nvme", "unbind"), "0000:01:00.0");
	assert_string_equal(get("bus/pci", "drivers_probe"), "0000:01:00.0");

	/* It has it already: nothing is touched. */
	add_function("0000:02:00.0", "0x010802\n", "vfio-pci", 2);
	assert_int_equal(nv_pci_read(sysfs, "02:00.0", &pci, &err), 0);
	assert_int_equal(nv_pci_bind(sysfs, &pci, "vfio-pci", &err), 0);
	assert_string_equal(get("bus/pci/devices/0000:02:00.0", "driver_override"), "(null)\n");
	/* Back to whom the kernel chooses. */
	assert_int_equal(nv_pci_bind(sysfs, &pci, NULL, &err), 0);
	assert_string_equal(get("bus/pci/devices/0000:02:00.0", "driver_override"), "\n");
	assert_string_equal(get("bus/pci/drivers/vfio-pci", "unbind"), "0000:02:00.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test_setup_teardown(a_function_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(drives_are_listed_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(a_group_with_another_driver_is_not_free, setup,
						teardown),
		cmocka_unit_test_setup_teardown(binding_writes_what_the_kernel_wants, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
