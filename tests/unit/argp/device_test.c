/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters that are devices and representors, over two devices that this file makes up: fake0 is
 * the PCI function 0000:03:00.0 with the interface eth7 and the representors pf0vf0 and pf0vf1;
 * fake1 is no PCI function and has none. Every open one is counted.
 */
#include "fixture.h"

#include <doca_dev.h>
#include <stdio.h>
#include <string.h>

struct doca_devinfo {
	const char *ibdev;
	const char *iface;
	const char *pci;
};

struct doca_devinfo_rep {
	const char *vuid;
	const char *iface;
	const char *pci;
};

struct doca_dev {
	int opens;
};

struct doca_dev_rep {
	int opens;
};

static struct doca_devinfo infos[2] = {
	{"fake0", "eth7", "0000:03:00.0"},
	{"fake1", "", ""},
};
static struct doca_devinfo_rep rep_infos[2] = {
	{"VUID0", "pf0vf0", "0000:03:00.2"},
	{"VUID1", "pf0vf1", "0000:03:00.3"},
};
static struct doca_devinfo *info_list[] = {&infos[0], &infos[1], NULL};
static struct doca_devinfo_rep *rep_list[] = {&rep_infos[0], &rep_infos[1], NULL};
static struct doca_dev devs[2];
static struct doca_dev_rep reps[2];
static int open_lists;
static doca_error_t list_answer, open_answer, rep_answer;

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	if (list_answer != DOCA_SUCCESS)
		return list_answer;
	open_lists++;
	*dev_list = info_list;
	*nb_devs = 2;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	assert_ptr_equal(dev_list, info_list);
	open_lists--;
	return DOCA_SUCCESS;
}

/* As in core: an error for what is no address, with and without the domain. */
static doca_error_t is_equal_pci(const char *own, const char *pci_addr_str, uint8_t *is_equal)
{
	if (strlen(pci_addr_str) != 12 && strlen(pci_addr_str) != 7)
		return DOCA_ERROR_INVALID_VALUE;
	*is_equal = *own && !strcmp(own + (strlen(pci_addr_str) == 7 ? 5 : 0), pci_addr_str);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
					    const char *pci_addr_str, uint8_t *is_equal)
{
	return is_equal_pci(devinfo->pci, pci_addr_str, is_equal);
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
					 uint32_t size)
{
	snprintf(ibdev_name, size, "%s", devinfo->ibdev);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
					 uint32_t size)
{
	if (!*devinfo->iface)
		return DOCA_ERROR_NOT_FOUND;
	snprintf(iface_name, size, "%s", devinfo->iface);
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	if (open_answer != DOCA_SUCCESS)
		return open_answer;
	*dev = &devs[devinfo - infos];
	(*dev)->opens++;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
	dev->opens--;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep)
{
	assert_int_equal(filter, DOCA_DEVINFO_REP_FILTER_ALL);
	if (dev != &devs[0])
		return DOCA_ERROR_NOT_SUPPORTED;
	open_lists++;
	*dev_list_rep = rep_list;
	*nb_devs_rep = 2;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
	assert_ptr_equal(dev_list_rep, rep_list);
	open_lists--;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
						const char *pci_addr_str, uint8_t *is_equal)
{
	return is_equal_pci(devinfo_rep->pci, pci_addr_str, is_equal);
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
				       uint32_t size)
{
	snprintf(rep_vuid, size, "%s", devinfo_rep->vuid);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep,
					     char *iface_name, uint32_t size)
{
	snprintf(iface_name, size, "%s", devinfo_rep->iface);
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep)
{
	if (rep_answer != DOCA_SUCCESS)
		return rep_answer;
	*dev_rep = &reps[devinfo - rep_infos];
	(*dev_rep)->opens++;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
	dev->opens--;
	return DOCA_SUCCESS;
}

/* The program. */

static struct doca_argp_device_ctx *got;
static struct doca_argp_device_rep_ctx *got_rep;

static doca_error_t took_device(void *value, void *program_config)
{
	assert_ptr_equal(program_config, &config);
	got = value;
	return answer;
}

static doca_error_t took_rep(void *value, void *program_config)
{
	assert_ptr_equal(program_config, &config);
	got_rep = value;
	return answer;
}

static int device_setup(void **state)
{
	struct doca_argp_param *param;

	memset(devs, 0, sizeof(devs));
	memset(reps, 0, sizeof(reps));
	list_answer = open_answer = rep_answer = DOCA_SUCCESS;
	got = NULL;
	got_rep = NULL;
	setup(state);
	param = new_param("d", "device", DOCA_ARGP_TYPE_DEVICE);
	doca_argp_param_set_callback(param, took_device);
	doca_argp_param_set_multiplicity(param);
	assert_success(doca_argp_register_param(param));
	param = new_param("r", "rep", DOCA_ARGP_TYPE_DEVICE_REP);
	doca_argp_param_set_callback(param, took_rep);
	assert_success(doca_argp_register_param(param));
	return 0;
}

static int device_teardown(void **state)
{
	assert_int_equal(open_lists, 0);
	return teardown(state);
}

static void a_device_by_each_of_its_names(void **state)
{
	static const struct {
		const char *name;
		int index;
	} names[] = {
		{"pci/0000:03:00.0", 0}, {"pci/03:00.0", 0}, {"0000:03:00.0", 0}, {"03:00.0", 0},
		{"ibdev/fake0", 0},	 {"fake0", 0},	     {"ibdev/fake1", 1},  {"fake1", 1},
		{"iface/eth7", 0},	 {"eth7", 0},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_success(START("--device", names[i].name));
		assert_ptr_equal(got->dev, &devs[names[i].index]);
		assert_null(got->devargs);
		assert_int_equal(devs[names[i].index].opens, 1); /* and it stays so */
		device_teardown(state);
		device_setup(state);
	}
}

static void a_device_with_arguments(void **state)
{
	(void)state;
	assert_success(START("-d", "pci/03:00.0,dv_flow_en=2,x=1"));
	assert_string_equal(got->devargs, "dv_flow_en=2,x=1");
}

static void several_devices(void **state)
{
	(void)state;
	assert_success(START("-d", "fake0", "-d", "fake1", "-d", "fake1"));
	assert_ptr_equal(got->dev, &devs[1]);
	assert_int_equal(devs[0].opens, 1);
	assert_int_equal(devs[1].opens, 2);
}

static void a_device_of_a_file(void **state)
{
	(void)state;
	assert_success(START("-j", file_of("{\"doca_program_flags\": {\"device\": \"fake1,a\"}}")));
	assert_ptr_equal(got->dev, &devs[1]);
	assert_string_equal(got->devargs, "a");
}

static void a_device_that_there_is_not(void **state)
{
	static const struct {
		const char *name;
		const char *said;
	} names[] = {
		{"pci/03:00.1", "--device: there is no device pci/03:00.1\n"},
		{"pci/fake0", "--device: there is no device pci/fake0\n"},
		{"ibdev/eth7", "--device: there is no device ibdev/eth7\n"},
		{"iface/fake0", "--device: there is no device iface/fake0\n"},
		{"fake2,a", "--device: there is no device fake2\n"},
		{"", "--device: \"\" names no device\n"},
		{",a", "--device: \",a\" names no device\n"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_invalid(START("--device", names[i].name));
		assert_string_equal(said, names[i].said);
		assert_null(got);
		device_teardown(state);
		device_setup(state);
	}
	list_answer = DOCA_ERROR_NOT_FOUND;
	assert_invalid(START("--device", "fake0"));
	assert_string_equal(said, "--device: there is no device fake0\n");
}

static void a_device_that_cannot_be_opened(void **state)
{
	open_answer = DOCA_ERROR_NOT_CONNECTED;
	assert_int_equal(START("-d", "fake0"), DOCA_ERROR_NOT_CONNECTED);
	assert_non_null(strstr(said, "--device: device fake0 cannot be opened: "));
	assert_null(got);
	device_teardown(state);
	device_setup(state);
	list_answer = DOCA_ERROR_NO_MEMORY;
	assert_int_equal(START("-d", "fake0"), DOCA_ERROR_NO_MEMORY);
}

static void a_device_that_is_refused_is_closed(void **state)
{
	(void)state;
	answer = DOCA_ERROR_FULL;
	assert_int_equal(START("-d", "fake0"), DOCA_ERROR_FULL);
	assert_non_null(got);
	assert_int_equal(devs[0].opens, 0);
}

static void no_device_is_opened_for_a_wrong_line(void **state)
{
	(void)state;
	assert_invalid(START("-d", "fake0", "-r", "fake0"));
	assert_string_equal(said, "--rep: \"fake0\" names no representor\n");
	assert_int_equal(devs[0].opens, 0);
}

/* doca_argp_register_dev_open_callback() */

static doca_error_t open_callback(struct doca_devinfo *devinfo, void *usr_ctx,
				  struct doca_dev **dev)
{
	assert_ptr_equal(usr_ctx, &open_answer);
	assert_ptr_equal(devinfo, &infos[0]);
	*dev = &devs[1];
	devs[1].opens++;
	return answer;
}

static void the_program_opens_it(void **state)
{
	(void)state;
	assert_success(doca_argp_register_dev_open_callback(open_callback, &open_answer));
	assert_success(START("-d", "fake0,a"));
	assert_ptr_equal(got->dev, &devs[1]);
	assert_string_equal(got->devargs, "a");
	assert_int_equal(devs[0].opens, 0);
}

static void the_program_fails_to_open_it(void **state)
{
	(void)state;
	assert_success(doca_argp_register_dev_open_callback(open_callback, &open_answer));
	answer = DOCA_ERROR_DRIVER;
	assert_int_equal(START("-d", "fake0"), DOCA_ERROR_DRIVER);
	assert_null(got);
}

/* Representors. */

static void a_representor_by_each_of_its_names(void **state)
{
	static const char *const names[] = {"fake0,pf0vf1", "fake0,VUID1", "fake0,03:00.3",
					    "pci/03:00.0,0000:03:00.3"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_success(START("--rep", names[i]));
		assert_ptr_equal(got_rep->dev_rep, &reps[1]);
		assert_ptr_equal(got_rep->dev_ctx.dev, &devs[0]);
		assert_null(got_rep->dev_ctx.devargs);
		assert_int_equal(devs[0].opens, 1);
		assert_int_equal(reps[1].opens, 1);
		device_teardown(state);
		device_setup(state);
	}
	assert_success(START("-r", "fake0,pf0vf0,x=1,y"));
	assert_ptr_equal(got_rep->dev_rep, &reps[0]);
	assert_string_equal(got_rep->dev_ctx.devargs, "x=1,y");
}

static void a_representor_that_there_is_not(void **state)
{
	assert_invalid(START("-r", "fake0,pf0vf2"));
	assert_string_equal(said, "--rep: the device has no representor pf0vf2\n");
	assert_int_equal(devs[0].opens, 0);
	device_teardown(state);
	device_setup(state);
	assert_int_equal(START("-r", "fake1,pf0vf0"), DOCA_ERROR_NOT_SUPPORTED);
	assert_non_null(strstr(said, "--rep: the device lists no representors: "));
	assert_int_equal(devs[1].opens, 0);
	device_teardown(state);
	device_setup(state);
	assert_invalid(START("-r", "fake0,,x"));
	assert_string_equal(said, "--rep: \"fake0,,x\" names no representor\n");
	device_teardown(state);
	device_setup(state);
	assert_invalid(START("-r", "fake2,pf0vf0"));
	assert_string_equal(said, "--rep: there is no device fake2\n");
}

static void a_representor_that_cannot_be_opened_or_is_refused(void **state)
{
	rep_answer = DOCA_ERROR_NO_MEMORY;
	assert_int_equal(START("-r", "fake0,pf0vf0"), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(devs[0].opens, 0);
	device_teardown(state);
	device_setup(state);
	answer = DOCA_ERROR_FULL;
	assert_int_equal(START("-r", "fake0,pf0vf0"), DOCA_ERROR_FULL);
	assert_non_null(got_rep);
	assert_int_equal(reps[0].opens, 0);
	assert_int_equal(devs[0].opens, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, device_setup, device_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_device_by_each_of_its_names),
		TEST(a_device_with_arguments),
		TEST(several_devices),
		TEST(a_device_of_a_file),
		TEST(a_device_that_there_is_not),
		TEST(a_device_that_cannot_be_opened),
		TEST(a_device_that_is_refused_is_closed),
		TEST(no_device_is_opened_for_a_wrong_line),
		TEST(the_program_opens_it),
		TEST(the_program_fails_to_open_it),
		TEST(a_representor_by_each_of_its_names),
		TEST(a_representor_that_there_is_not),
		TEST(a_representor_that_cannot_be_opened_or_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
