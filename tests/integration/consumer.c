/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of somebody else's, as small as can be. tests/integration/consumer builds it against an
 * installation, by pkg-config alone.
 */
#include <doca_argp.h>
#include <doca_dev.h>
#include <doca_log.h>
#include <doca_pe.h>
#include <doca_rdma_bridge.h>
#include <doca_softsta.h>
#include <doca_sta.h>
#include <doca_version.h>
#include <infiniband/verbs.h>
#include <stdio.h>

DOCA_LOG_REGISTER(CONSUMER);

/* --device: opened by doca_argp; ours to close. */
static doca_error_t show_device(void *value, void *config)
{
	struct doca_argp_device_ctx *device = value;
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	doca_error_t result;

	(void)config;
	result = doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(device->dev), name, sizeof(name));
	if (result == DOCA_SUCCESS)
		printf("device %s, arguments %s\n", name, device->devargs ? device->devargs : "-");
	return result == DOCA_SUCCESS ? doca_dev_close(device->dev) : result;
}

static doca_error_t read_arguments(int argc, char **argv)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_init(NULL, NULL);

	if (result == DOCA_SUCCESS)
		result = doca_argp_param_create(&param);
	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, "d");
	doca_argp_param_set_long_name(param, "device");
	doca_argp_param_set_description(param, "A device to open");
	doca_argp_param_set_callback(param, show_device);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_DEVICE);
	result = doca_argp_register_param(param);
	if (result == DOCA_SUCCESS)
		result = doca_argp_start(argc, argv);
	doca_argp_destroy();
	return result;
}

int main(int argc, char **argv)
{
	struct ibv_device **devices;
	struct doca_pe *pe;
	uint32_t max = 0;
	int num = 0;

	if (doca_log_backend_create_standard() != DOCA_SUCCESS ||
	    read_arguments(argc, argv) != DOCA_SUCCESS || doca_pe_create(&pe) != DOCA_SUCCESS)
		return 1;
	doca_sta_get_max_qps(&max);
	devices = ibv_get_device_list(&num);
	for (int i = 0; i < num; i++)
		puts(ibv_get_device_name(devices[i]));
	if (devices)
		ibv_free_device_list(devices);
	DOCA_LOG_INFO("library %s", doca_version_runtime());
	return doca_pe_destroy(pe) == DOCA_SUCCESS ? 0 : 1;
}
